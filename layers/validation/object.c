/* SPDX-License-Identifier: Apache-2.0 */
#include "object.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define BUCKETS 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static object *table[BUCKETS];
static uint64_t last;

static object **bucket(uint64_t id)
{
    return &table[(id >> 2) % BUCKETS];
}

void *object_add(object *o, object_kind kind)
{
    pthread_mutex_lock(&lock);
    o->id = ++last << 2 | kind;
    o->next = *bucket(o->id);
    *bucket(o->id) = o;
    pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)o->id;
}

object *object_get(const void *handle, object_kind kind)
{
    uint64_t id = (uintptr_t)handle;
    if ((id & 3) != kind)
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
        for (o = table[i]; o && (o->id & 3) != kind;)
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
    static const char *const names[] = {"", "a device", "a queue", "a buffer"};
    uint64_t id = (uintptr_t)handle;
    pthread_mutex_lock(&lock);
    int existed = id >> 2 && id >> 2 <= last;
    pthread_mutex_unlock(&lock);
    if (!handle)
        return "NULL";
    if (!existed || !(id & 3))
        return "no handle of this layer";
    return (id & 3) == kind ? "destroyed before" : names[id & 3];
}
