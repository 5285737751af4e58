/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_programs.c */
#include "written.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Storages that wrap host memory. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static storage *first;

#define CHUNK 16384

/* Copies memory that the program may have unmapped. 0: it cannot be read. The kernel reads the bytes as the
 * processor would, so memory of drivers is readable, too. If a filter of system calls (seccomp) forbids the copy,
 * unmapped memory ends the process. */
static int copy(void *to, const void *from, size_t bytes)
{
    const struct iovec source = {(void *)(uintptr_t)from, bytes}, target = {to, bytes};
    ssize_t copied = process_vm_writev(getpid(), &source, 1, &target, 1, 0);
    if (copied < 0 && errno != EFAULT) {
        memcpy(to, from, bytes);
        return 1;
    }
    return copied == (ssize_t)bytes;
}

/* 0: the memory cannot be read. A change of a single word always gives another hash: every step is
 * a bijection. */
static int hash(const void *memory, uint64_t bytes, uint64_t *out)
{
    uint64_t words[CHUNK / sizeof(uint64_t)], h = 0;
    const char *at = memory;
    for (uint64_t left = bytes; left;) {
        size_t part = left < CHUNK ? (size_t)left : CHUNK;
        words[(part - 1) / sizeof *words] = 0; /* part of a word */
        if (!copy(words, at, part))
            return 0;
        for (size_t i = 0; i < (part + sizeof *words - 1) / sizeof *words; i++) {
            h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
            h ^= h >> 32;
        }
        at += part;
        left -= part;
    }
    *out = h;
    return 1;
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

/* Whether the host's bytes cannot change legally: nobody may write them, and no enqueued work writes them. */
static int fixed(const storage *s)
{
    return (s->wrapped || s->acquired > 0) && s->acquired != STORAGE_WRITER && !s->writing &&
           s->host.memory && copies_valid_in(s, 0) && !s->host.writer.queue &&
           !atomic_load(&s->shared);
}

/* Several storages may wrap the same bytes. While one of these views is open for writing, the bytes may change, so no
 * storage over them is noted. `noted` is set before the bytes are read: a write that begins meanwhile
 * clears it. */
static int note_wrapped(storage *s, int now)
{
    const char *begin = s->host.memory;
    pthread_mutex_lock(&lock);
    s->open = !now;
    for (storage *o = first; o; o = o->next_wrapped) {
        const char *other = o->host.memory;
        if (o == s || other >= begin + s->bytes || begin >= other + o->bytes)
            continue;
        if (s->open)
            atomic_store(&o->noted, 0);
        else if (o->open)
            now = 0;
    }
    atomic_store(&s->noted, now);
    pthread_mutex_unlock(&lock);
    return now;
}

void written_note(storage *s)
{
    int now = fixed(s);
    if (now && atomic_load(&s->noted)) /* nobody was allowed to write since then */
        return;
    if (s->wrapped)
        now = note_wrapped(s, now);
    else
        atomic_store(&s->noted, now);
    if (now && !hash(s->host.memory, s->bytes, &s->hash))
        s->hash = 0; /* written_check reports it */
}

static collet_status name_fault(storage *s, int readable, collet_error *err)
{
    char place[512];
    if (s->acquired && readable)
        return programs_fault(err,
                              "the program has written the %" PRIu64
                              " bytes at %p, which it acquired with COLLET_READ alone",
                              s->bytes, s->host.memory);
    programs_place(place, sizeof place, &s->made);
    if (readable)
        return programs_fault(err,
                              "the program has written the %" PRIu64
                              " bytes at %p, which %s wraps, without collet_array_acquire",
                              s->bytes, s->host.memory, place);
    return programs_fault(err,
                          "the %" PRIu64
                          " bytes at %p, which %s wraps, cannot be read: free or unmap memory only "
                          "after the arrays over it are destroyed",
                          s->bytes, s->host.memory, place);
}

collet_status written_check(storage *s, collet_error *err)
{
    uint64_t h = 0;
    if (!atomic_load(&s->noted) || !fixed(s))
        return COLLET_OK;
    int readable = hash(s->host.memory, s->bytes, &h);
    if ((readable && h == s->hash) || !atomic_load(&s->noted)) /* another storage over the bytes is being written */
        return COLLET_OK;
    if (readable)
        atomic_store(&s->noted, 0); /* reports each write once */
    return name_fault(s, readable, err);
}
