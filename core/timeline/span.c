/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_trace.c, tests/core/test_timing.c */
#include "span.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

#define PENDING_MAX 4096 /* above this number, waits for the oldest span, because stamps are objects of the device */

/* A span whose times are not read yet. */
typedef struct pending {
    block *first, *last;
    use done;
    const char *category;
    char name[COLLET_MAX_NAME];
    struct pending *next;
    char detail[];
} pending;

struct spans {
    /* Guards the members below. No thread waits or frees while it holds the lock, because deleters of the
     * program may call libcore. */
    pthread_mutex_t lock;
    pending *oldest, **end;
    uint32_t count;
    block *origin; /* a stamp; `time` is its time by trace_now */
    int64_t time;
};

static trace *trace_of(const device *d)
{
    return d->owner->runtime->trace;
}

static struct spans *spans_of(device *d)
{
    struct spans *known = atomic_load(&d->spans);
    if (known)
        return known;
    struct spans *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    pthread_mutex_init(&made->lock, NULL);
    made->end = &made->oldest;
    if (atomic_compare_exchange_strong(&d->spans, &known, made)) {
        trace_name(trace_of(d), (trace_row){(int32_t)d->ordinal, 0}, d->name);
        return made;
    }
    pthread_mutex_destroy(&made->lock);
    free(made);
    return known;
}

static trace_row row_of(queue *q)
{
    trace_row row = {(int32_t)q->device->ordinal, q->number};
    char name[32];
    if (!atomic_exchange(&q->traced, 1)) {
        snprintf(name, sizeof name, "queue %" PRIu32, q->number);
        trace_name(trace_of(q->device), row, name);
    }
    return row;
}

static void write_span(queue *q, const char *category, const char *name, const char *detail,
                       const char *clock, int64_t begin, int64_t end)
{
    trace_write(trace_of(q->device), &(trace_event){.category = category,
                                                    .name = name,
                                                    .device = q->device->name,
                                                    .detail = detail,
                                                    .clock = clock,
                                                    .begin = begin,
                                                    .end = end,
                                                    .row = row_of(q)});
}

/* ---- Stamps ------------------------------------------------------------------------------ */

/* Takes the stamp to which the times of the device are relative. */
static int has_origin(struct spans *s, queue *q)
{
    collet_error why;
    uint64_t ticket;
    block *made;
    pthread_mutex_lock(&s->lock);
    int has = s->origin != NULL;
    pthread_mutex_unlock(&s->lock);
    if (has)
        return 1;
    if (stamp_take(q, &made, &ticket, &why) != COLLET_OK)
        return 0;
    use_reach((use){q, ticket});
    int64_t time = trace_now();
    pthread_mutex_lock(&s->lock);
    if (!s->origin) {
        s->origin = made;
        s->time = time;
        made = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    block_free(made);
    return 1;
}

void span_start(span *s, queue *q)
{
    device *d = q->device;
    struct spans *all = spans_of(d);
    collet_error why;
    uint64_t ticket;
    s->first = NULL;
    if (all && !d->synchronous && d->extensions.timing && has_origin(all, q))
        (void)stamp_take(q, &s->first, &ticket, &why);
    s->begin = trace_now();
}

void span_drop(span *s)
{
    if (s->begin)
        block_free(s->first);
}

static pending *pending_new(span *s, queue *q, const char *category, const char *name,
                            const char *detail)
{
    collet_error why;
    size_t size = strlen(detail) + 1;
    pending *p = s->first ? malloc(sizeof *p + size) : NULL;
    if (!p)
        return NULL;
    *p = (pending){.first = s->first, .done = {q, 0}, .category = category};
    snprintf(p->name, sizeof p->name, "%s", name);
    memcpy(p->detail, detail, size);
    if (stamp_take(q, &p->last, &p->done.ticket, &why) == COLLET_OK)
        return p;
    free(p);
    return NULL;
}

static void append(struct spans *all, pending *p)
{
    pthread_mutex_lock(&all->lock);
    *all->end = p;
    all->end = &p->next;
    all->count++;
    pthread_mutex_unlock(&all->lock);
}

void span_end(span *s, queue *q, const char *category, const char *name, const char *detail,
              collet_status status)
{
    int64_t end = trace_now();
    if (status != COLLET_OK) {
        span_drop(s);
        return;
    }
    pending *p = pending_new(s, q, category, name, detail);
    if (p) {
        append(atomic_load(&q->device->spans), p);
        spans_read(q->device, 0);
        return;
    }
    span_drop(s);
    if (!q->device->synchronous) {
        queue_wait(q);
        end = trace_now();
    }
    write_span(q, category, name, detail, "host", s->begin, end);
}

void span_bytes(span *s, queue *q, const char *name, uint64_t bytes, collet_status status)
{
    char detail[32];
    snprintf(detail, sizeof detail, "%" PRIu64 " bytes", bytes);
    span_end(s, q, "transfer", name, detail, status);
}

void span_transfer_waited(queue *q, int64_t begin, const char *name, uint64_t bytes)
{
    char detail[32];
    int64_t end = trace_now();
    snprintf(detail, sizeof detail, "%" PRIu64 " bytes", bytes);
    write_span(q, "transfer", name, detail, "host", begin, end);
    spans_read(q->device, 0);
}

/* ---- Reading the times ------------------------------------------------------------------- */

/* Work that failed has no times. */
static void resolve(const struct spans *all, pending *p)
{
    collet_error why;
    int64_t begin, length;
    if (queue_failure_of(p->done.queue, p->done.ticket, &why) == COLLET_OK &&
        stamp_elapsed(all->origin, p->first, &begin, &why) == COLLET_OK &&
        stamp_elapsed(p->first, p->last, &length, &why) == COLLET_OK)
        write_span(p->done.queue, p->category, p->name, p->detail, "device", all->time + begin,
                   all->time + begin + length);
    block_free(p->first);
    block_free(p->last);
    free(p);
}

/* Takes the oldest span off the list if its work is done. Otherwise sets *wait to the work if it must be waited
 * for. */
static pending *take_oldest(struct spans *all, int every, use *wait)
{
    pthread_mutex_lock(&all->lock);
    pending *p = all->oldest;
    if (p && atomic_load(&p->done.queue->completed) < p->done.ticket) {
        if (every || all->count > PENDING_MAX)
            *wait = p->done;
        p = NULL;
    } else if (p) {
        all->oldest = p->next;
        if (!p->next)
            all->end = &all->oldest;
        all->count--;
    }
    pthread_mutex_unlock(&all->lock);
    return p;
}

void spans_read(device *d, int every)
{
    struct spans *all = atomic_load(&d->spans);
    while (all) {
        use wait = {NULL, 0};
        pending *p = take_oldest(all, every, &wait);
        if (p)
            resolve(all, p);
        else if (wait.queue)
            use_reach(wait);
        else
            return;
    }
}

void spans_destroy(device *d)
{
    struct spans *all = atomic_load(&d->spans);
    if (!all)
        return;
    spans_read(d, 1);
    block_free(all->origin);
    pthread_mutex_destroy(&all->lock);
    free(all);
    atomic_store(&d->spans, NULL);
}

static void destroy(device *d, void *stamp)
{
    d->extensions.timing->release(d->handle, stamp);
}

collet_status stamp_take(queue *q, block **out, uint64_t *ticket, collet_error *err)
{
    device *d = q->device;
    collet_stamp *made = NULL;
    *out = NULL;
    collet_status status = block_object(d, destroy, out, err);
    if (status == COLLET_OK && (status = queue_lock(q, err)) == COLLET_OK) {
        device_enter(d);
        status = device_leave(d, d->extensions.timing->stamp(d->handle, q->handle, &made, err));
        *ticket = queue_unlock(q);
    }
    if (status != COLLET_OK) {
        block_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->memory = made;
    block_used(*out, (use){q, *ticket}, COLLET_READ, NULL);
    return COLLET_OK;
}

collet_status stamp_elapsed(const block *first, const block *last, int64_t *nanoseconds,
                            collet_error *err)
{
    device *d = first->device;
    device_enter(d);
    return device_leave(
        d, d->extensions.timing->elapsed(d->handle, first->memory, last->memory, nanoseconds, err));
}
