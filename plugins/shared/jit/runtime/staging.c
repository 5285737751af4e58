/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers between the host and a device with its own memory, double-buffered through page-locked
 * pieces: the CPU copies one piece while the previous piece is transferred. Drivers do the same for
 * pageable memory, but block the caller, and the queue behind it, until the transfer is complete.
 * Tests: tests/cuda/test_cuda_staging.c */
#include "staging.h"

#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* Smaller transfers are direct: drivers buffer them themselves. */
#define STAGED_MIN ((uint64_t)64 << 10)

uint64_t jit_staging_size(const collet_host *host, const char *setting, uint64_t otherwise)
{
    const char *set = host->config(host, setting);
    if (!set)
        return otherwise;
    return strcmp(set, "off") ? strtoull(set, NULL, 10) : 0;
}

/* Allocates the pieces if needed. Returns 0 if no page-locked memory is available. The caller holds the staging's
 * lock. */
static int ready(collet_queue *q, jit_staging *s)
{
    const jit_base *b = jit_base_of(jit_queue_of(q)->device);
    for (uint32_t i = 0; i < 2 && !s->none; i++) {
        if (s->pieces[i].address)
            continue;
        s->none = !b->driver->memory->pinned_take(q, b->staging, &s->pieces[i]);
        if (s->none)
            b->host->log(b->host, COLLET_LOG_WARNING,
                         "%s: cannot allocate %llu bytes of page-locked memory: transfers use "
                         "pageable memory",
                         b->driver->plugin.name, (unsigned long long)b->staging);
    }
    return !s->none;
}

static int stages(collet_device *d, collet_queue *q, const void *address, uint64_t bytes)
{
    const jit_memory_slots *driver = jit_driver_of(d)->memory;
    return jit_base_of(d)->staging && bytes > STAGED_MIN &&
           !(driver->pinned && driver->pinned(d, address)) && ready(q, &jit_queue_of(q)->staging);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static collet_status write_pieces(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const unsigned char *source, uint64_t bytes,
                                  collet_error *err)
{
    jit_staging *s = &jit_queue_of(q)->staging;
    collet_status status = COLLET_OK;
    uint64_t size = jit_base_of(d)->staging, n;
    for (uint64_t at = 0; at < bytes && status == COLLET_OK; at += n) {
        jit_piece *p = &s->pieces[s->next++ & 1];
        n = min_u64(size, bytes - at);
        jit_queue_await(q, p->ticket);
        memcpy(p->address, source + at, n);
        status = jit_driver_of(d)->memory->write(d, q, b, offset + at, p->address, n, 1, err);
        p->ticket = jit_queue_of(q)->submitted;
        /* After the first piece, part of the transfer is already enqueued. */
        if (at)
            status = jit_after_first(status);
    }
    return status;
}

collet_status jit_buffer_write(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                               const void *source, uint64_t bytes, collet_error *err)
{
    jit_staging *s = &jit_queue_of(q)->staging;
    pthread_mutex_lock(&s->lock);
    collet_status status =
        stages(d, q, source, bytes)
            ? write_pieces(d, q, b, offset, source, bytes, err)
            : jit_driver_of(d)->memory->write(d, q, b, offset, source, bytes, 0, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Enqueues the read of part k of a transfer. It uses the page-locked piece that part k - 2 no longer needs. */
static collet_status enqueue_read(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, uint64_t bytes, uint64_t k, collet_error *err)
{
    uint64_t size = jit_base_of(d)->staging, at = k * size;
    jit_piece *p = &jit_queue_of(q)->staging.pieces[k & 1];
    if (at >= bytes)
        return COLLET_OK;
    collet_status status = jit_driver_of(d)->memory->read(d, q, b, offset + at, p->address,
                                                          min_u64(size, bytes - at), 1, err);
    p->ticket = jit_queue_of(q)->submitted;
    return status;
}

static collet_status read_pieces(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, unsigned char *target, uint64_t bytes,
                                 collet_error *err)
{
    uint64_t size = jit_base_of(d)->staging;
    collet_status status = enqueue_read(d, q, b, offset, bytes, 0, err);
    for (uint64_t k = 0, at = 0; at < bytes && status == COLLET_OK; k++, at += size) {
        const jit_piece *p = &jit_queue_of(q)->staging.pieces[k & 1];
        status = enqueue_read(d, q, b, offset, bytes, k + 1, err);
        jit_queue_await(q, p->ticket);
        memcpy(target + at, p->address, min_u64(size, bytes - at));
    }
    return status;
}

collet_status jit_buffer_read(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                              void *target, uint64_t bytes, collet_error *err)
{
    jit_staging *s = &jit_queue_of(q)->staging;
    pthread_mutex_lock(&s->lock);
    collet_status status =
        stages(d, q, target, bytes)
            ? read_pieces(d, q, b, offset, target, bytes, err)
            : jit_driver_of(d)->memory->read(d, q, b, offset, target, bytes, 0, err);
    pthread_mutex_unlock(&s->lock);
    /* If the queue had failed earlier, that failure is the cause, and the queue's wait reports it too. */
    collet_status failed = jit_queue_check(q, err);
    return failed == COLLET_OK ? jit_after_first(status) : failed;
}

static void release(collet_queue *q)
{
    jit_staging *s = &jit_queue_of(q)->staging;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < 2; i++) {
        if (!s->pieces[i].address)
            continue;
        jit_queue_await(q, s->pieces[i].ticket);
        jit_driver_of(jit_queue_of(q)->device)->memory->pinned_give(q, &s->pieces[i]);
        s->pieces[i] = (jit_piece){NULL, NULL, 0};
    }
    s->none = 0;
    pthread_mutex_unlock(&s->lock);
}

void jit_staging_release(collet_device *d)
{
    jit_base *b = jit_base_of(d);
    pthread_mutex_lock(&b->lock);
    for (collet_queue *queue = b->queues; queue; queue = jit_queue_of(queue)->next)
        release(queue);
    pthread_mutex_unlock(&b->lock);
}
