/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer that makes commands of any backend with queues fail after they were enqueued. The layer does
 * not pass a failing command, or the commands skipped after it, to the backend; a later wait reports
 * the failure. So a queue of this layer counts its own commands, and keeps the backend's mark of each.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <collet/plugin.h>

#include "control.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#define TABLES 8

static struct over {
    const collet_plugin *below;
    collet_plugin table;
} tables[TABLES];
static int table_count;

struct collet_device {
    const collet_host *host;
    const collet_plugin *of;
    collet_device *below;
    late_control *control;
};

struct collet_queue {
    collet_queue *below;
    uint64_t number;
    pthread_mutex_t lock; /* of the members below */
    uint64_t count, room, failed;
    uint64_t *marks; /* the backend's mark after each command; marks[0]: before the first */
};

/* ---- Commands ---------------------------------------------------------------------------- */

/* Whether the next command must be skipped. */
static int skipped(collet_device *d, const collet_queue *q, int is_wait)
{
    int mode = atomic_load(&d->control->after_failure);
    return q->failed && (is_wait ? mode == LATE_SKIPS : mode != LATE_GOES_ON);
}

/* Counts a command. */
static void counted(const collet_device *d, collet_queue *q, int fails)
{
    pthread_mutex_lock(&q->lock);
    uint64_t mark = d->of->queue_mark(d->below, q->below);
    if (++q->count >= q->room) {
        uint64_t room = 2 * q->room;
        uint64_t *marks = realloc(q->marks, room * sizeof *marks);
        if (!marks)
            abort();
        q->marks = marks;
        q->room = room;
    }
    q->marks[q->count] = mark;
    if (fails && !q->failed)
        q->failed = q->count;
    pthread_mutex_unlock(&q->lock);
}

/* Whether a kernel or a write must not reach the backend. */
static int taken(collet_device *d, collet_queue *q)
{
    int skips = skipped(d, q, 0);
    int fails = !d->control->fails ? 0 : d->control->fails(d->control, q->number, q->count + 1);
    if (skips || fails)
        counted(d, q, fails);
    return skips || fails;
}

static uint64_t mark_at(collet_queue *q, uint64_t value)
{
    pthread_mutex_lock(&q->lock);
    uint64_t mark = q->marks[value];
    pthread_mutex_unlock(&q->lock);
    return mark;
}

/* ---- Queues ------------------------------------------------------------------------------ */

static collet_status queue_create(collet_device *d, collet_queue **out, collet_error *err)
{
    collet_queue *q = calloc(1, sizeof *q);
    uint64_t *marks = calloc(64, sizeof *marks);
    collet_status status = COLLET_NO_MEMORY;
    if (q && marks)
        status = d->of->queue_create(d->below, &q->below, err);
    else
        d->host->fail(err, status, "no memory for a queue");
    if (status != COLLET_OK) {
        free(q);
        free(marks);
        return status;
    }
    pthread_mutex_init(&q->lock, NULL);
    q->number = atomic_fetch_add(&d->control->queues, 1) + 1;
    q->marks = marks;
    q->room = 64;
    q->marks[0] = d->of->queue_mark(d->below, q->below);
    *out = q;
    return COLLET_OK;
}

static void queue_destroy(collet_device *d, collet_queue *q)
{
    if (!q)
        return;
    d->of->queue_destroy(d->below, q->below);
    pthread_mutex_destroy(&q->lock);
    free(q->marks);
    free(q);
}

static uint64_t queue_mark(collet_device *d, collet_queue *q)
{
    return q->count;
}

static collet_status queue_wait(collet_device *d, collet_queue *q, uint64_t value,
                                int64_t nanoseconds, collet_error *err)
{
    collet_status status =
        d->of->queue_wait(d->below, q->below, mark_at(q, value), nanoseconds, err);
    pthread_mutex_lock(&q->lock);
    int failed = q->failed && q->failed <= value;
    pthread_mutex_unlock(&q->lock);
    return status == COLLET_OK && failed
               ? d->host->fail(err, COLLET_FAILED, "the test lets a command fail")
               : status;
}

static collet_status queue_after(collet_device *d, collet_queue *q, collet_queue *other,
                                 uint64_t value, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (!skipped(d, q, 1))
        status = d->of->queue_after(d->below, q->below, other->below, mark_at(other, value), err);
    if (status == COLLET_OK)
        counted(d, q, 0);
    return status;
}

/* ---- Memory ------------------------------------------------------------------------------ */

static collet_status buffer_alloc(collet_device *d, collet_buffer **out, uint64_t bytes,
                                  collet_error *err)
{
    return d->of->buffer_alloc(d->below, out, bytes, err);
}

static void buffer_free(collet_device *d, collet_buffer *b)
{
    d->of->buffer_free(d->below, b);
}

static collet_status buffer_write(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err)
{
    if (!q)
        return d->of->buffer_write(d->below, NULL, b, offset, source, bytes, err);
    if (taken(d, q))
        return COLLET_OK;
    collet_status status = d->of->buffer_write(d->below, q->below, b, offset, source, bytes, err);
    counted(d, q, 0);
    return status;
}

static collet_status buffer_read(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err)
{
    if (q && q->failed)
        return d->host->fail(err, COLLET_FAILED, "the test lets a command fail");
    return d->of->buffer_read(d->below, q ? q->below : NULL, b, offset, target, bytes, err);
}

/* ---- Kernels ----------------------------------------------------------------------------- */

static const collet_kernel_row *row_at(const collet_plugin *p, uint32_t k)
{
    const char *first = (const char *)p->kernels;
    return (const collet_kernel_row *)(const void *)(first + (size_t)k * p->kernel_size);
}

static const collet_kernel_row *row_of(const collet_device *d, const collet_kernel_call *call)
{
    uint32_t k = 0, op = call->op;
    while (row_at(d->of, k)->op != op || row_at(d->of, k)->sig != call->sig)
        k++;
    return row_at(d->of, k);
}

static collet_status run(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    if (!q)
        return row_of(d, call)->run(d->below, NULL, call);
    if (taken(d, q))
        return COLLET_OK;
    collet_status status = row_of(d, call)->run(d->below, q->below, call);
    counted(d, q, 0);
    return status;
}

static collet_status accepts(collet_device *d, const collet_kernel_call *call,
                             uint64_t *workspace_bytes)
{
    return row_of(d, call)->accepts(d->below, call, workspace_bytes);
}

/* ---- Devices ----------------------------------------------------------------------------- */

static collet_status device_open(const collet_plugin *self, collet_device **out,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    int i = 0;
    while (&tables[i].table != self)
        i++;
    collet_device *d = calloc(1, sizeof *d);
    if (!d)
        return host->fail(err, COLLET_NO_MEMORY, "no memory for a device");
    d->host = host;
    d->of = tables[i].below;
    d->control = (late_control *)(uintptr_t)strtoull(host->config(host, "late.control"), NULL, 16);
    collet_status status = d->of->device_open(d->of, &d->below, properties, host, index, name, err);
    if (status == COLLET_OK)
        *out = d;
    else
        free(d);
    return status;
}

static void device_close(collet_device *d)
{
    if (!d)
        return;
    d->of->device_close(d->below);
    free(d);
}

static int32_t device_supports(collet_device *d, uint32_t row)
{
    return d->of->device_supports(d->below, row);
}

static int fill(struct over *o, const collet_plugin *below)
{
    collet_kernel_row *rows = calloc(below->kernel_count + 1u, sizeof *rows);
    if (!rows)
        return 0;
    for (uint32_t k = 0; k < below->kernel_count; k++) {
        rows[k] = *row_at(below, k);
        rows[k].run = run;
        rows[k].accepts = rows[k].accepts ? accepts : NULL;
    }
    o->below = below;
    o->table = *below;
    o->table.kernels = rows;
    o->table.kernel_size = sizeof *rows;
    o->table.device_open = device_open;
    o->table.device_close = device_close;
    o->table.device_supports = below->device_supports ? device_supports : NULL;
    o->table.buffer_alloc = buffer_alloc;
    o->table.buffer_free = buffer_free;
    o->table.buffer_write = buffer_write;
    o->table.buffer_read = buffer_read;
    o->table.queue_create = queue_create;
    o->table.queue_destroy = queue_destroy;
    o->table.queue_mark = queue_mark;
    o->table.queue_wait = queue_wait;
    o->table.queue_after = queue_after;
    o->table.extension = NULL; /* no extension may bypass this layer */
    return 1;
}

/* Tests open their backends on one thread. */
const collet_plugin *collet_layer_entry(const collet_host *host, const collet_plugin *below,
                                        collet_error *err)
{
    int i = 0;
    while (i < table_count && tables[i].below != below)
        i++;
    if (i == TABLES || (i == table_count && !fill(&tables[i], below))) {
        host->fail(err, COLLET_NO_MEMORY, "no memory for a table over %s", below->name);
        return NULL;
    }
    table_count += i == table_count;
    return &tables[i].table;
}
