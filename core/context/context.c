/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_errors.c, tests/core/test_threads.c, tests/core/test_storage.c */
#include "context.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/floating.h>

#include "device/device_info.h"
#include "device/open.h"
#include "end.h"
#include "life.h"
#include "timeline/order.h"
#include "timeline/origins.h"
#include "timeline/span.h"
#include "util/cgroup.h"
#include "util/host_memory.h"
#include "util/memory_limit.h"
#include "util/struct.h"
#include "util/text.h"

/* The number of the calling thread; no other thread ever has the same number. */
static uint64_t thread_number(void)
{
    static _Atomic uint64_t last;
    static _Thread_local uint64_t own;
    if (!own)
        own = atomic_fetch_add(&last, 1) + 1;
    return own;
}

/* The entry of the calling thread, or of a thread that has ended and had the same pthread_t; NULL:
 * none. */
static thread_error *error_entry(const collet_context *cx)
{
    pthread_t self = pthread_self();
    thread_error *e = atomic_load_explicit(&cx->errors, memory_order_acquire);
    while (e && !pthread_equal(e->thread, self))
        e = e->next;
    return e;
}

/* The entry of the calling thread; NULL: the thread has made no call. */
static thread_error *error_find(const collet_context *cx)
{
    thread_error *e = error_entry(cx);
    return e && e->number == thread_number() ? e : NULL;
}

collet_error *context_error(collet_context *cx)
{
    thread_error *e = error_entry(cx);
    if (e && e->number != thread_number()) {
        e->number = thread_number();
        e->error.status = COLLET_OK;
        e->error.text[0] = '\0';
    }
    if (e)
        return &e->error;
    e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->thread = pthread_self();
    e->number = thread_number();
    e->next = atomic_load(&cx->errors);
    while (!atomic_compare_exchange_weak(&cx->errors, &e->next, e))
        ;
    return &e->error;
}

static void errors_free(collet_context *cx)
{
    thread_error *e = atomic_load(&cx->errors);
    while (e != &cx->creator) {
        thread_error *next = e->next;
        free(e);
        e = next;
    }
}

collet_status context_fail(collet_context *cx, collet_status status, const char *format, ...)
{
    collet_error *err = cx ? context_error(cx) : NULL;
    if (cx && !runtime_alive(cx->runtime))
        return runtime_forked(err);
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        err->status = status;
        text_message(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
    }
    return cx ? runtime_stop(cx->runtime, status) : status;
}

collet_status context_check(collet_context *cx)
{
    collet_error *err = cx ? context_error(cx) : NULL;
    if (!err)
        return cx ? COLLET_NO_MEMORY : COLLET_INVALID;
    return runtime_alive(cx->runtime) ? COLLET_OK : runtime_forked(err);
}

static collet_error *object_error(void *context)
{
    return context_error(context);
}

#define SCRATCH_ALIGNMENT 256

collet_status collet_context_create(collet_runtime *runtime, collet_context **out,
                                    collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, runtime);
    COLLET_FLOATING_SCOPE;
    if (!out || !runtime)
        return collet_fail(err, COLLET_INVALID, "collet_context_create: runtime or out is NULL");
    if (!runtime_alive(runtime))
        return runtime_forked(err);
    collet_context *cx = calloc(1, sizeof *cx);
    if (!cx)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a context");
    cx->runtime = runtime;
    cx->creator.thread = pthread_self();
    cx->creator.number = thread_number();
    atomic_init(&cx->errors, &cx->creator);
    cx->last_backend = "";
    const char *fallback = config_text(runtime->config, CONFIG_FALLBACK);
    cx->fallback = strcmp(fallback, "auto") ? config_boolean(runtime->config, CONFIG_FALLBACK) : -1;
    collet_status status =
        selection_parse(runtime, config_text(runtime->config, CONFIG_BACKEND), &cx->selection, err);
    if (status != COLLET_OK) {
        free(cx);
        return status;
    }
    runtime_retain(runtime);
    if (programs_checked())
        programs_add("context", cx, object_error);
    *out = cx;
    return COLLET_OK;
}

static void scratch_free(lane *l)
{
    if (l->block) {
        l->block->writer = (use){l->queue, atomic_load(&l->queue->submitted)};
        block_free(l->block);
    } else {
        device *d = l->queue->device;
        queue_wait(l->queue);
        if (queue_lost(l->queue, atomic_load(&l->queue->submitted)))
            block_outlive(d, free, l->scratch);
        else
            free(l->scratch);
    }
    l->block = NULL;
    l->scratch = NULL;
    l->scratch_bytes = 0;
}

static void lane_trim(lane *l)
{
    queue_wait(l->queue);
    scratch_free(l);
}

static void lane_close(lane *l)
{
    if (!l->queue)
        return;
    lane_trim(l);
    queue_return(l->queue);
}

void collet_context_destroy(collet_context *cx)
{
    PROGRAM_CONTEXT(, cx);
    COLLET_FLOATING_SCOPE;
    if (!cx)
        return;
    for (size_t i = 0; i < RUNTIME_DEVICES_MAX && runtime_alive(cx->runtime); i++)
        lane_close(&cx->lanes[i]);
    selection_clear(&cx->selection);
    errors_free(cx);
    runtime_release(cx->runtime);
    programs_free(cx);
}

collet_runtime *collet_context_runtime(const collet_context *cx)
{
    PROGRAM_CALL(NULL, NULL, cx);
    return cx->runtime;
}

const char *collet_last_error(const collet_context *cx)
{
    PROGRAM_CALL("", NULL, cx);
    const thread_error *e = cx ? error_find(cx) : NULL;
    return e ? e->error.text : "";
}

collet_status collet_last_status(const collet_context *cx)
{
    PROGRAM_CALL(COLLET_INVALID, NULL, cx);
    const thread_error *e = cx ? error_find(cx) : NULL;
    return e ? e->error.status : cx ? COLLET_OK : COLLET_INVALID;
}

collet_status collet_set_backend(collet_context *cx, const char *choice)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    selection s;
    collet_status status = context_check(cx);
    if (status == COLLET_OK && !choice)
        status = context_fail(cx, COLLET_INVALID, "collet_set_backend: the choice is NULL");
    if (status == COLLET_OK)
        status = selection_parse(cx->runtime, choice, &s, context_error(cx));
    if (status != COLLET_OK)
        return status;
    selection_clear(&cx->selection);
    cx->selection = s;
    return COLLET_OK;
}

const char *collet_get_backend(const collet_context *cx)
{
    PROGRAM_CONTEXT("", cx);
    return cx->selection.choice;
}

const char *collet_last_backend(const collet_context *cx)
{
    PROGRAM_CONTEXT("", cx);
    return cx->last_backend;
}

void collet_set_fallback(collet_context *cx, int32_t allowed)
{
    PROGRAM_CONTEXT(, cx);
    cx->fallback = allowed != 0;
}

int32_t collet_get_fallback(const collet_context *cx)
{
    PROGRAM_CONTEXT(0, cx);
    return cx ? cx->fallback : 0;
}

collet_status collet_finish(collet_context *cx)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    collet_status first = context_check(cx);
    if (first != COLLET_OK)
        return first;
    for (size_t i = 0; i < RUNTIME_DEVICES_MAX; i++) {
        collet_error err;
        lane *l = &cx->lanes[i];
        if (!l->queue)
            continue;
        uint64_t submitted = atomic_load(&l->queue->submitted);
        int shared = l->queue->device->max_queues != 0;
        collet_status derived = origins_outcome(&l->origins, 1, &err);
        collet_status status = queue_finish(l->queue, l->finished, shared ? l->enqueued : submitted,
                                            derived ? NULL : &err);
        if (derived != COLLET_OK)
            status = derived;
        l->finished = submitted;
        blocks_collect(l->queue->device, 1);
        spans_collect(l->queue->device);
        l->origins.count = 0;
        if (status != COLLET_OK && first == COLLET_OK) {
            first = status;
            collet_fail(context_error(cx), status, "%s: %.900s", l->queue->device->name, err.text);
        }
    }
    return runtime_stop(cx->runtime, first);
}

collet_status collet_context_counters(collet_context *cx, collet_counters *counters)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    if (!counters)
        return context_fail(cx, COLLET_INVALID, "collet_context_counters: counters is NULL");
    collet_counters full = cx->counters;
    full.bytes_to_device = cx->moved.bytes_to_device;
    full.bytes_to_host = cx->moved.bytes_to_host;
    full.bytes_direct = cx->moved.bytes_direct;
    return struct_out(counters, &full, sizeof full, "collet_counters", context_error(cx));
}

/* ---- Lanes ------------------------------------------------------------------------------- */

collet_status context_lane(collet_context *cx, device *d, lane **out, collet_error *err)
{
    lane *l = &cx->lanes[d->ordinal];
    *out = l;
    if (l->queue)
        return COLLET_OK;
    collet_status status = queue_take(d, &l->queue, err);
    if (status == COLLET_OK) {
        l->finished = l->enqueued = atomic_load(&l->queue->submitted);
        if (!d->synchronous && !atomic_exchange(&d->watched, 1))
            end_watch();
    }
    return status;
}

static collet_status scratch_create(device *d, uint64_t bytes, block **grown, void **memory,
                                    collet_error *err)
{
    *grown = NULL;
    if (d->space == 0) {
        *memory = aligned_alloc(SCRATCH_ALIGNMENT, bytes);
        return *memory ? COLLET_OK
                       : collet_fail(err, COLLET_REFUSED,
                                     "out of host memory for %" PRIu64 " bytes of scratch", bytes);
    }
    collet_status status = block_create(d, bytes, grown, err);
    if (status == COLLET_OK)
        *memory = (*grown)->memory;
    return status;
}

collet_status lane_scratch(lane *l, uint64_t bytes, void **memory, collet_error *err)
{
    if (bytes > l->scratch_bytes) {
        uint64_t rounded = (bytes + SCRATCH_ALIGNMENT - 1) & ~(uint64_t)(SCRATCH_ALIGNMENT - 1);
        block *grown;
        if (rounded < bytes)
            return collet_fail(err, COLLET_REFUSED,
                               "%" PRIu64 " bytes of scratch do not fit in 64 bits when rounded up",
                               bytes);
        collet_status status = scratch_create(l->queue->device, rounded, &grown, memory, err);
        if (status != COLLET_OK)
            return status;
        scratch_free(l);
        l->block = grown;
        l->scratch = *memory;
        l->scratch_bytes = rounded;
    }
    *memory = l->scratch;
    return COLLET_OK;
}

/* ---- Memory ------------------------------------------------------------------------------ */

collet_status collet_trim(collet_context *cx)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    collet_status status = context_check(cx);
    for (size_t i = 0; status == COLLET_OK && i < RUNTIME_DEVICES_MAX; i++) {
        device *d = atomic_load(&cx->runtime->devices[i]);
        if (cx->lanes[i].queue)
            lane_trim(&cx->lanes[i]);
        if (!d || atomic_load(&d->state) != DEVICE_OPEN)
            continue;
        blocks_collect(d, 1);
        device_trim(d);
    }
    host_memory_trim();
    return status;
}

static collet_memory_stats host_memory(const collet_runtime *r)
{
    collet_memory_limit limit;
    memory_limit_read(CGROUP_ROOT, NULL, &limit);
    uint64_t current = atomic_load(&r->host_memory.current);
    return (collet_memory_stats){.current = current,
                                 .held = current + host_memory_kept(),
                                 .peak = atomic_load(&r->host_memory.peak),
                                 .total = limit.total,
                                 .available = limit.available};
}

static collet_status device_memory(device *d, collet_memory_stats *stats, collet_error *err)
{
    const collet_memory_extension *memory = d->extensions.memory;
    if (memory) {
        device_enter(d);
        return device_leave(d, memory->stats(d->handle, stats, err));
    }
    stats->current = stats->held = atomic_load(&d->memory.current);
    stats->peak = atomic_load(&d->memory.peak);
    stats->total = device_memory_bytes(d);
    return COLLET_OK;
}

collet_status context_device(collet_context *cx, const char *what, const char *name, device **out)
{
    *out = NULL;
    if (!name)
        return context_fail(cx, COLLET_INVALID,
                            "%s: the device is NULL; name \"host\" or one device", what);
    if (!strcmp(name, "host"))
        return COLLET_OK;
    return selection_device(cx->runtime, what, name,
                            "neither \"host\" nor one device; write host, NAME or NAME:DEVICE", out,
                            context_error(cx));
}

collet_status context_space(collet_context *cx, const char *what, const char *space, device **out)
{
    collet_status status = context_device(cx, what, space, out);
    if (*out && !(*out)->space)
        *out = NULL;
    return status;
}

collet_status context_first_device(collet_context *cx, const char *what, device **out)
{
    collet_error err = {COLLET_OK, ""};
    collet_status status = COLLET_OK;
    selection *s = &cx->selection;
    for (uint32_t k = 0; k < s->count || (s->automatic && selection_extend(cx->runtime, s)); k++)
        if ((status = device_open(s->devices[k], &err)) == COLLET_OK) {
            *out = s->devices[k];
            return COLLET_OK;
        }
    return context_fail(cx, status, "%s: %s", what, err.text);
}

collet_status collet_memory(collet_context *cx, collet_memory_stats *stats, const char *space)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    device *d;
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    if (!stats)
        return context_fail(cx, COLLET_INVALID, "collet_memory: stats is NULL");
    status = context_space(cx, "collet_memory", space, &d);
    if (status != COLLET_OK)
        return status;
    collet_memory_stats full = {.struct_size = sizeof full};
    if (d)
        blocks_collect(d, 1);
    if (d)
        status = device_memory(d, &full, context_error(cx));
    else
        full = host_memory(cx->runtime);
    return status == COLLET_OK
               ? struct_out(stats, &full, sizeof full, "collet_memory_stats", context_error(cx))
               : status;
}

collet_status collet_memory_reset_peak(collet_context *cx, const char *space)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    device *d;
    collet_status status = context_check(cx);
    if (status == COLLET_OK)
        status = context_space(cx, "collet_memory_reset_peak", space, &d);
    if (status != COLLET_OK)
        return status;
    if (d && d->extensions.memory) {
        device_enter(d);
        d->extensions.memory->reset_peak(d->handle);
        return device_leave(d, COLLET_OK);
    }
    memory_count_reset_peak(d ? &d->memory : &cx->runtime->host_memory);
    return COLLET_OK;
}
