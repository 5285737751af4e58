/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c, tests/layers/test_validated.c */
#include "object.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define BUCKETS 4096
#define KIND_BITS 3
#define KIND_MASK 7

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static object *table[BUCKETS];
static uint64_t last;

void object_lock(void)
{
    pthread_mutex_lock(&lock);
}

void object_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static object **bucket(uint64_t id)
{
    return &table[(id >> KIND_BITS) % BUCKETS];
}

void *object_add(object *o, object_kind kind)
{
    pthread_mutex_lock(&lock);
    o->id = ++last << KIND_BITS | kind;
    o->next = *bucket(o->id);
    *bucket(o->id) = o;
    pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)o->id;
}

object *object_get(const void *handle, object_kind kind)
{
    uint64_t id = (uintptr_t)handle;
    if ((id & KIND_MASK) != kind)
        return NULL;
    pthread_mutex_lock(&lock);
    object *o = *bucket(id);
    while (o && o->id != id)
        o = o->next;
    if (o)
        o->users++;
    pthread_mutex_unlock(&lock);
    return o;
}

object *object_first(object_kind kind)
{
    object *o = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; !o && i < BUCKETS; i++)
        for (o = table[i]; o && (o->id & KIND_MASK) != kind;)
            o = o->next;
    if (o)
        o->users++;
    pthread_mutex_unlock(&lock);
    return o;
}

void object_put(object *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&lock);
    int unused = --o->users == 0 && o->gone;
    pthread_mutex_unlock(&lock);
    if (unused)
        free(o);
}

int object_remove(object *o)
{
    pthread_mutex_lock(&lock);
    int alone = o->users == 1;
    if (alone) {
        object **at = bucket(o->id);
        while (*at != o)
            at = &(*at)->next;
        *at = o->next;
        o->gone = 1;
    }
    pthread_mutex_unlock(&lock);
    return alone;
}

int object_write_begin(object *o)
{
    pthread_mutex_lock(&lock);
    int alone = o->users == 1;
    o->writers += (uint32_t)alone;
    pthread_mutex_unlock(&lock);
    return alone;
}

int object_read_allowed(const object *o)
{
    pthread_mutex_lock(&lock);
    int allowed = !o->writers;
    pthread_mutex_unlock(&lock);
    return allowed;
}

void object_write_end(object *o)
{
    pthread_mutex_lock(&lock);
    o->writers--;
    pthread_mutex_unlock(&lock);
}

const char *object_unknown(const void *handle, object_kind kind)
{
    static const char *const names[KIND_MASK + 1] = {"", "a device", "a queue", "a buffer",
                                                     "a stamp"};
    uint64_t id = (uintptr_t)handle;
    pthread_mutex_lock(&lock);
    int existed = id >> KIND_BITS && id >> KIND_BITS <= last;
    pthread_mutex_unlock(&lock);
    if (!handle)
        return "NULL";
    if (!existed || !names[id & KIND_MASK] || !*names[id & KIND_MASK])
        return "not a handle of this layer";
    return (id & KIND_MASK) == kind ? "destroyed before" : names[id & KIND_MASK];
}
