/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes between the host and a device with memory of its own: in pieces through page-locked memory,
 * one piece copied by the processor while the one before is under way. Drivers do the same for
 * ordinary memory, but keep the caller, and the queue behind it, until all is there.
 */
#include "staging.h"

#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* Fewer bytes a driver keeps for itself before it returns. */
#define LEAST ((uint64_t)64 << 10)

uint64_t jit_staging_size(const collet_host *host, const char *setting, uint64_t otherwise)
{
    const char *set = host->config(host, setting);
    if (!set)
        return otherwise;
    return strcmp(set, "off") ? strtoull(set, NULL, 10) : 0;
}

/* Under the staging's lock. 0: there is no page-locked memory to have. */
static int ready(collet_queue *q, jit_staging *s)
{
    const jit_base *b = jit_base_of(jit_queue_of(q)->device);
    for (uint32_t i = 0; i < 2 && !s->none; i++) {
        if (s->pieces[i].address)
            continue;
        s->none = !jit_pinned_take(q, b->staging, &s->pieces[i]);
        if (s->none)
            b->host->log(b->host, COLLET_LOG_WARNING,
                         "%s: no %llu bytes of page-locked memory: transfers are the driver's",
                         this_backend.name, (unsigned long long)b->staging);
    }
    return !s->none;
}

static int stages(collet_device *d, collet_queue *q, const void *address, uint64_t bytes)
{
    return jit_base_of(d)->staging && bytes > LEAST && !jit_pinned(d, address) &&
           ready(q, &jit_queue_of(q)->staging);
}

static uint64_t least(uint64_t a, uint64_t b)
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
        n = least(size, bytes - at);
        jit_queue_await(q, p->ticket);
        memcpy(p->address, source + at, n);
        status = jit_write(d, q, b, offset + at, p->address, n, 1, err);
        p->ticket = jit_queue_of(q)->submitted;
        /* Bytes are on their way already. */
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
    collet_status status = stages(d, q, source, bytes)
                               ? write_pieces(d, q, b, offset, source, bytes, err)
                               : jit_write(d, q, b, offset, source, bytes, 0, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Piece number k of the read, into the memory that the one before the last has left. */
static collet_status ask(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                         uint64_t bytes, uint64_t k, collet_error *err)
{
    uint64_t size = jit_base_of(d)->staging, at = k * size;
    jit_piece *p = &jit_queue_of(q)->staging.pieces[k & 1];
    if (at >= bytes)
        return COLLET_OK;
    collet_status status =
        jit_read(d, q, b, offset + at, p->address, least(size, bytes - at), 1, err);
    p->ticket = jit_queue_of(q)->submitted;
    return status;
}

static collet_status read_pieces(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, unsigned char *target, uint64_t bytes,
                                 collet_error *err)
{
    uint64_t size = jit_base_of(d)->staging;
    collet_status status = ask(d, q, b, offset, bytes, 0, err);
    for (uint64_t k = 0, at = 0; at < bytes && status == COLLET_OK; k++, at += size) {
        const jit_piece *p = &jit_queue_of(q)->staging.pieces[k & 1];
        status = ask(d, q, b, offset, bytes, k + 1, err);
        jit_queue_await(q, p->ticket);
        memcpy(target + at, p->address, least(size, bytes - at));
    }
    return status;
}

collet_status jit_buffer_read(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                              void *target, uint64_t bytes, collet_error *err)
{
    jit_staging *s = &jit_queue_of(q)->staging;
    pthread_mutex_lock(&s->lock);
    collet_status status = stages(d, q, target, bytes)
                               ? read_pieces(d, q, b, offset, target, bytes, err)
                               : jit_read(d, q, b, offset, target, bytes, 0, err);
    pthread_mutex_unlock(&s->lock);
    /* What failed before it is the reason, and is still reported by the queue's wait. */
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
        jit_pinned_give(q, &s->pieces[i]);
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
