/* SPDX-License-Identifier: Apache-2.0 */
/* The served device: its buffers, and calls of its functions, one at a time if it supports only one
 * thread.
 * Tests: tests/worker/test_worker.c */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "serve.h"

void serve_enter(server *s)
{
    if (s->properties.threads == COLLET_THREADS_ONE)
        pthread_mutex_lock(&s->calls);
}

void serve_leave(server *s)
{
    if (s->properties.threads == COLLET_THREADS_ONE)
        pthread_mutex_unlock(&s->calls);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

void *serve_buffer(server *s, uint64_t wire)
{
    pthread_mutex_lock(&s->lock);
    void *handle = wire && wire <= s->buffer_count ? s->buffers[wire - 1].handle : NULL;
    pthread_mutex_unlock(&s->lock);
    return handle;
}

/* Stores a buffer and sets *id to the first free number. */
static bool buffer_add(server *s, served_buffer buffer, uint64_t *id)
{
    pthread_mutex_lock(&s->lock);
    for (*id = 0; *id < s->buffer_count && s->buffers[*id].handle; ++*id)
        continue;
    if (*id == s->buffer_count) {
        uint64_t count = s->buffer_count ? 2 * s->buffer_count : 64;
        served_buffer *grown = realloc(s->buffers, count * sizeof *grown);
        if (grown) {
            memset(grown + *id, 0, (count - *id) * sizeof *grown);
            s->buffers = grown;
            s->buffer_count = count;
        }
    }
    bool there = *id < s->buffer_count;
    if (there)
        s->buffers[*id] = buffer;
    pthread_mutex_unlock(&s->lock);
    return there;
}

static void buffer_end(server *s, served_buffer b)
{
    if (s->properties.memory == COLLET_MEMORY_HOST) {
        munmap(b.handle, b.bytes);
        return;
    }
    serve_enter(s);
    s->plugin->buffer_free(s->device, b.handle);
    serve_leave(s);
}

collet_status serve_buffer_alloc(server *s, uint64_t bytes, int fd, uint64_t *id, collet_error *err)
{
    served_buffer b = {.bytes = bytes};
    if (s->properties.memory == COLLET_MEMORY_HOST) {
        b.handle = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (b.handle == MAP_FAILED)
            return collet_fail(err, COLLET_REFUSED, "the worker cannot hold %llu bytes",
                               (unsigned long long)bytes);
    } else {
        collet_buffer *made = NULL;
        serve_enter(s);
        collet_status status = s->plugin->buffer_alloc(s->device, &made, bytes, err);
        serve_leave(s);
        if (status != COLLET_OK)
            return status;
        b.handle = made;
    }
    if (buffer_add(s, b, id))
        return COLLET_OK;
    buffer_end(s, b);
    return collet_fail(err, COLLET_REFUSED, "the worker has no memory for a buffer");
}

void serve_buffer_free(server *s, uint64_t id)
{
    served_buffer b = {.handle = NULL};
    pthread_mutex_lock(&s->lock);
    if (id < s->buffer_count) {
        b = s->buffers[id];
        s->buffers[id].handle = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    if (b.handle)
        buffer_end(s, b);
}
