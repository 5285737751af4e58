/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl.c */
#include "tables.h"

#include <stdlib.h>

#include "queue.h"

#define TABLES 64
#define TABLES_BYTES ((uint64_t)256 << 20)
/* Backends copy the source of a write of at most this many bytes during the call, so it may be freed afterwards. */
#define PIECE ((uint64_t)64 << 10)

typedef struct request {
    collet_device *device;
    collet_queue *queue;
    uint64_t bytes;
    jit_table_fill fill;
    const void *context;
    collet_error *err;
    collet_status status; /* of the buffer and the writes */
} request;

plan_cache *jit_tables_create(void)
{
    return plan_cache_create(TABLES, TABLES_BYTES);
}

/* Frees a table after all queues have finished: commands of any queue may still use it. */
static void destroy(cached_plan *plan)
{
    jit_table *t = (jit_table *)plan;
    jit_queues_visit(t->device, jit_driver_of(t->device)->queue->drain);
    jit_driver_of(t->device)->plugin.buffer_free(t->device, t->buffer);
    free(t);
}

static collet_status write_all(const request *r, collet_buffer *buffer, const char *bytes)
{
    const collet_plugin *verbs = &jit_driver_of(r->device)->plugin;
    collet_status status = COLLET_OK;
    for (uint64_t at = 0; at < r->bytes && status == COLLET_OK; at += PIECE) {
        uint64_t left = r->bytes - at;
        status = verbs->buffer_write(r->device, r->queue, buffer, at, bytes + at,
                                     left < PIECE ? left : PIECE, r->err);
    }
    return status;
}

static cached_plan *make(const plan_key *key, void *context)
{
    request *r = context;
    const collet_plugin *verbs = &jit_driver_of(r->device)->plugin;
    jit_table *t = calloc(1, sizeof *t);
    char *bytes = malloc(r->bytes);
    (void)key;
    if (!t || !bytes || !r->fill(bytes, r->context))
        goto fail;
    r->status = verbs->buffer_alloc(r->device, &t->buffer, r->bytes, r->err);
    if (r->status != COLLET_OK)
        goto fail;
    r->status = write_all(r, t->buffer, bytes);
    if (r->status != COLLET_OK) {
        jit_queue_await(r->queue, jit_queue_of(r->queue)->submitted);
        verbs->buffer_free(r->device, t->buffer);
        goto fail;
    }
    free(bytes);
    t->head = (cached_plan){destroy, r->bytes};
    t->device = r->device;
    t->writer = r->queue;
    t->ticket = jit_queue_of(r->queue)->submitted;
    return &t->head;
fail:
    free(bytes);
    free(t);
    return NULL;
}

collet_status jit_table_take(collet_device *device, collet_queue *queue, const plan_key *key,
                             uint64_t bytes, jit_table_fill fill, const void *context,
                             jit_table **table, collet_error *err)
{
    plan_cache *cache = jit_base_of(device)->tables;
    request r = {device, queue, bytes, fill, context, err, COLLET_OK};
    cached_plan *plan = plan_cache_take(cache, key, make, &r);
    if (!plan && r.status != COLLET_OK)
        return r.status;
    if (!plan)
        return jit_host(device)->fail(err, COLLET_REFUSED,
                                      "out of memory for a table of %llu bytes",
                                      (unsigned long long)bytes);
    jit_table *t = (jit_table *)plan;
    collet_status status = COLLET_OK;
    if (t->writer != queue)
        status = jit_slots_of(queue)->order(queue, t->writer, t->ticket, err);
    if (status == COLLET_OK)
        *table = t;
    else
        plan_cache_give(cache, plan);
    return status;
}

void jit_table_give(jit_table *table)
{
    plan_cache_give(jit_base_of(table->device)->tables, &table->head);
}
