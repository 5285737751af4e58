/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_programs.c */
#include "written.h"

#include <inttypes.h>
#include <string.h>

/* Storages that wrap host memory. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static storage *first;

/* A changed word always gives another hash: every step is a bijection. */
static uint64_t hash(const void *memory, uint64_t bytes)
{
    const unsigned char *at = memory;
    uint64_t h = 0, word;
    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, at, bytes);
    return (h ^ word) * 0x9e3779b97f4a7c15u;
}

void written_begin(storage *s)
{
    s->made = programs_here();
    pthread_mutex_lock(&lock);
    s->next_wrapped = first;
    first = s;
    pthread_mutex_unlock(&lock);
    written_note(s);
}

void written_end(storage *s)
{
    pthread_mutex_lock(&lock);
    storage **link = &first;
    while (*link && *link != s)
        link = &(*link)->next_wrapped;
    if (*link)
        *link = s->next_wrapped;
    pthread_mutex_unlock(&lock);
}

/* The bytes of others that wrap the same memory are not known any more. */
static void forget_others(const storage *s)
{
    const char *begin = s->host.memory;
    pthread_mutex_lock(&lock);
    for (storage *o = first; o; o = o->next_wrapped) {
        const char *other = o->host.memory;
        if (o != s && other < begin + s->bytes && begin < other + o->bytes)
            atomic_store(&o->noted, 0);
    }
    pthread_mutex_unlock(&lock);
}

/* What work enqueued on a device writes later is not known. */
static int fixed(const storage *s)
{
    return (s->wrapped || s->acquired > 0) && s->acquired != STORAGE_WRITER && s->host.memory &&
           copies_valid_in(s, 0) && !s->host.writer.queue && !atomic_load(&s->shared);
}

void written_note(storage *s)
{
    int now = fixed(s);
    uint64_t h = now ? hash(s->host.memory, s->bytes) : 0;
    if (s->wrapped && (!now || !atomic_load(&s->noted) || h != s->hash))
        forget_others(s);
    s->hash = h;
    atomic_store(&s->noted, now);
}

collet_status written_check(storage *s, collet_error *err)
{
    char place[512];
    if (!atomic_load(&s->noted) || !fixed(s) || hash(s->host.memory, s->bytes) == s->hash)
        return COLLET_OK;
    atomic_store(&s->noted, 0);
    if (s->acquired)
        return programs_fault(err,
                              "the program has written the %" PRIu64
                              " bytes at %p, which it acquired with COLLET_READ alone",
                              s->bytes, s->host.memory);
    programs_place(place, sizeof place, &s->made);
    return programs_fault(err,
                          "the program has written the %" PRIu64
                          " bytes at %p, which %s wraps, without collet_array_acquire",
                          s->bytes, s->host.memory, place);
}
