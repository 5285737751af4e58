/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <collet/collet.h>

/*
 * Segment s holds FIRST << s entries, so segments are never reallocated, an index finds its entry
 * by one bit scan, and readers need nothing but the count that the writer published last.
 */
#define FIRST 16u
#define SEGMENTS 32

struct record_list {
    pthread_mutex_t mutex; /* writers */
    _Atomic size_t count;
    record_entry *segment[SEGMENTS];
};

static record_entry *entry_slot(const record_list *list, size_t index, size_t *segment)
{
    size_t scaled = index / FIRST + 1;
    size_t s = (size_t)(63 - __builtin_clzll((unsigned long long)scaled));
    size_t first = FIRST * (((size_t)1 << s) - 1);
    *segment = s;
    return s < SEGMENTS && list->segment[s] ? &list->segment[s][index - first] : NULL;
}

collet_status record_list_create(record_list **out, collet_error *err)
{
    record_list *list = calloc(1, sizeof *list);
    if (!list)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the list of records");
    if (pthread_mutex_init(&list->mutex, NULL)) {
        free(list);
        return collet_fail(err, COLLET_NO_MEMORY, "no mutex for the list of records");
    }
    *out = list;
    return COLLET_OK;
}

void record_list_free(record_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < atomic_load(&list->count); i++) {
        size_t segment;
        free((char *)entry_slot(list, i, &segment)->path);
    }
    for (size_t s = 0; s < SEGMENTS; s++)
        free(list->segment[s]);
    pthread_mutex_destroy(&list->mutex);
    free(list);
}

/* The four strings of an entry in one allocation, which `path` points to. */
static int entry_copy(record_entry *out, const record_entry *in)
{
    const char *text[4] = {in->path, in->stage, in->code, in->reason};
    size_t length[4], total = 0;
    for (int i = 0; i < 4; i++) {
        text[i] = text[i] ? text[i] : "";
        length[i] = strlen(text[i]) + 1;
        total += length[i];
    }
    char *p = malloc(total);
    if (!p)
        return 0;
    const char **target[4] = {&out->path, &out->stage, &out->code, &out->reason};
    out->accepted = in->accepted;
    out->milliseconds = in->milliseconds;
    for (int i = 0; i < 4; i++) {
        *target[i] = memcpy(p, text[i], length[i]);
        p += length[i];
    }
    return 1;
}

double record_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

collet_status record_add(record_list *list, const record_entry *entry, collet_error *err)
{
    record_entry copy;
    if (!entry_copy(&copy, entry))
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a record");
    pthread_mutex_lock(&list->mutex);
    size_t index = atomic_load_explicit(&list->count, memory_order_relaxed), s;
    record_entry *slot = entry_slot(list, index, &s);
    if (!slot && s < SEGMENTS) {
        list->segment[s] = calloc((size_t)FIRST << s, sizeof(record_entry));
        slot = entry_slot(list, index, &s);
    }
    if (slot) {
        *slot = copy;
        atomic_store_explicit(&list->count, index + 1, memory_order_release);
    }
    pthread_mutex_unlock(&list->mutex);
    if (!slot) {
        free((char *)copy.path);
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a record");
    }
    return COLLET_OK;
}

size_t record_count(const record_list *list)
{
    return atomic_load_explicit(&list->count, memory_order_acquire);
}

const record_entry *record_at(const record_list *list, size_t index)
{
    size_t segment;
    return index < record_count(list) ? entry_slot(list, index, &segment) : NULL;
}
