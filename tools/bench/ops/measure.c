/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include <collet/ops/array.h>

#include "measure.h"

#include "bench/base/heap.h"
#include "inputs.h"
#include "common/sampler.h"

#include <stdio.h>
#include <string.h>

/* Op and bandwidth are measured in turn, under the same load of the machine. */
#define ROUNDS 4
#define FLOOR_SHARE 0.25   /* of the time goes to the bandwidth */
#define CACHES_MIN 2       /* times the last cache: smaller operands may fit in it */
#define CHOOSE_SECONDS 1.0 /* at most, to find the fastest way of moving memory */
#define FEW 0.1            /* of the bytes: an op that writes less than this counts as reading */

/* ---- Arrays ------------------------------------------------------------------------------ */

static collet_status input_create(collet_context *cx, const bench_operand *o, uint32_t index,
                                  collet_array **out)
{
    void *data;
    const collet_scalar zero = {.dtype = COLLET_F32};
    collet_status status = collet_array_create(cx, out, o->dtype, o->ndim, o->shape);
    /* The backend's threads touch the memory first, as in a program; backends without `fill` skip
     * this. */
    if (status == COLLET_OK && collet_op_fill(cx, *out, &zero) == COLLET_OK)
        status = collet_finish(cx);
    if (status == COLLET_OK)
        status = collet_array_acquire(cx, *out, &data, COLLET_WRITE);
    if (status != COLLET_OK)
        return status;
    bench_input_fill(o, index, data);
    return collet_array_release(cx, *out);
}

collet_status bench_arrays_create(bench_arrays *a, collet_context *cx, const bench_layout *layout)
{
    collet_status status = COLLET_OK;
    *a = (bench_arrays){{NULL}};
    for (uint32_t i = 0; i < layout->count && status == COLLET_OK; i++) {
        const bench_operand *o = &layout->operands[i];
        if (o->make == 'o')
            status = collet_array_create(cx, &a->arrays[i], o->dtype, o->ndim, o->shape);
        else if (o->make != '-')
            status = input_create(cx, o, i, &a->arrays[i]);
    }
    return status;
}

void bench_arrays_free(bench_arrays *a)
{
    for (size_t i = 0; i < COLLET_MAX_OPERANDS; i++)
        collet_array_destroy(a->arrays[i]);
    *a = (bench_arrays){{NULL}};
}

/* ---- Calls ------------------------------------------------------------------------------- */

static collet_status enqueue(const bench_calls *o, int64_t calls)
{
    collet_status status = COLLET_OK;
    for (int64_t i = 0; i < calls && status == COLLET_OK; i++)
        status = collet_call(o->context, o->op, o->outs, o->ins, o->params);
    return status;
}

collet_status bench_calls_run(void *user, int64_t calls)
{
    const bench_calls *o = user;
    collet_status status = enqueue(o, calls);
    return status == COLLET_OK ? collet_finish(o->context) : status;
}

static int32_t has_kernel(const bench_session *s, const bench_layout *l, const char *choice)
{
    collet_backend_info backend;
    collet_dtype dtypes[COLLET_MAX_OPERANDS];
    if (!bench_session_backend(s, choice, &backend))
        return 1; /* with auto or a list the device is known after the call */
    for (uint32_t i = 0; i < l->count; i++)
        dtypes[i] = l->operands[i].make == '-' ? COLLET_DTYPE_NONE : l->operands[i].dtype;
    return collet_backend_has_kernel(s->runtime, choice, l->op.id, dtypes, l->count, NULL) ==
           COLLET_OK;
}

collet_status bench_calls_open(bench_calls *calls, const bench_session *session,
                               const bench_layout *l, const bench_arrays *arrays,
                               const char *choice, char error[COLLET_ERROR_TEXT])
{
    collet_context *cx = session->context;
    *calls = (bench_calls){cx, l->op.id, arrays->arrays,
                           (const collet_array *const *)(arrays->arrays + l->op.n_out),
                           l->op.params_size ? &l->params : NULL};
    collet_status status = collet_set_backend(cx, choice);
    if (status != COLLET_OK)
        snprintf(error, COLLET_ERROR_TEXT, "%s", collet_last_error(cx));
    if (status != COLLET_OK || has_kernel(session, l, choice))
        return status;
    snprintf(error, COLLET_ERROR_TEXT, "%s has no kernel for %s %s", choice, l->op.name,
             l->signature);
    return COLLET_UNSUPPORTED;
}

/* ---- Memory ------------------------------------------------------------------------------ */

typedef struct memory_state {
    int64_t arrays, device, resident;
} memory_state;

static int64_t bytes_in(collet_context *cx, const char *space)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    return collet_memory(cx, &stats, space) == COLLET_OK ? (int64_t)stats.current : 0;
}

static memory_state memory_now(collet_context *cx, const char *choice)
{
    return (memory_state){bytes_in(cx, "host"), bytes_in(cx, choice),
                          (int64_t)bench_heap_resident()};
}

/* ---- Bandwidth --------------------------------------------------------------------------- */

/* The bandwidth that bounds the op: mostly reading, mostly writing, or both. */
static stream_kind floor_kind(const bench_layout *l)
{
    double all = l->bytes_read + l->bytes_written;
    return l->bytes_written < FEW * all ? STREAM_READ
           : l->bytes_read < FEW * all  ? STREAM_WRITE
                                        : STREAM_COPY;
}

static int32_t is_bound_by_memory(const bench_session *s, const bench_layout *l, const char *choice)
{
    collet_backend_info backend;
    double bytes = l->bytes_read + l->bytes_written;
    return l->flops == 0 && !(bench_session_backend(s, choice, &backend) && backend.gpu) &&
           s->machine.last_cache_bytes && bytes >= CACHES_MIN * (double)s->machine.last_cache_bytes;
}

/* NULL: there is no comparison. */
static bench_bandwidth *open_floor(bench_floor *f, bench_session *s, const bench_layout *l,
                                   const char *choice)
{
    collet_error err;
    stream_kind kind = floor_kind(l);
    double seconds = s->options->seconds;
    if (!is_bound_by_memory(s, l, choice))
        return NULL;
    bench_session_show(s, "bandwidth: %s", bandwidth_kind_name(kind));
    if (!f->bandwidth.source &&
        bench_bandwidth_open(&f->bandwidth, &s->machine, 0, &err) != COLLET_OK) {
        tool_progress_end(&s->progress);
        fprintf(stderr, "backend-bench: %s: no comparison with it\n", err.text);
        return NULL;
    }
    if (!f->chosen[kind])
        bench_bandwidth_choose(&f->bandwidth, kind,
                               seconds < CHOOSE_SECONDS ? seconds : CHOOSE_SECONDS, NULL, NULL);
    f->chosen[kind] = 1;
    return &f->bandwidth;
}

double bench_share_of_median(const bench_result *r)
{
    return r->bytes / r->stats.median / bandwidth_median(&r->floor);
}

double bench_share_of_fastest(const bench_result *r)
{
    return r->bytes / r->stats.min / bandwidth_fastest(&r->floor);
}

/* ---- The device's clock ------------------------------------------------------------------ */

#define DEVICE_SAMPLES 64 /* at most */

/* One sample. A call before the first timestamp keeps the device at work while the others are
 * enqueued. */
static collet_status device_sample(const bench_calls *calls, const char *device, int64_t count,
                                   double *seconds, int32_t *clock)
{
    collet_timestamp *first = NULL, *last = NULL;
    int64_t nanoseconds = 0;
    collet_status status = enqueue(calls, 1);
    if (status == COLLET_OK)
        status = collet_timestamp_take(calls->context, &first, device);
    if (status == COLLET_OK)
        status = enqueue(calls, count);
    if (status == COLLET_OK)
        status = collet_timestamp_take(calls->context, &last, device);
    if (status == COLLET_OK)
        status = collet_timestamp_elapsed(calls->context, first, last, &nanoseconds, clock);
    collet_timestamp_destroy(first);
    collet_timestamp_destroy(last);
    *seconds = 1e-9 * (double)nanoseconds;
    return status;
}

/* Measures for as long as a round of the samples by the host's clock. */
static collet_status measure_device(bench_session *session, const bench_calls *calls,
                                    bench_result *r)
{
    double seconds[DEVICE_SAMPLES], end = tool_now() + session->options->seconds / ROUNDS;
    int64_t count = 0, each = r->stats.calls_per_sample;
    int32_t clock = COLLET_CLOCK_DEVICE;
    collet_backend_info backend;
    const char *device = bench_session_backend(session, r->choice, &backend)
                             ? r->choice
                             : collet_last_backend(calls->context);
    collet_status status = COLLET_OK;
    do {
        status = device_sample(calls, device, each, &seconds[count++], &clock);
    } while (status == COLLET_OK && clock == COLLET_CLOCK_DEVICE && count < DEVICE_SAMPLES &&
             tool_now() < end);
    if (status == COLLET_OK && clock == COLLET_CLOCK_DEVICE)
        tool_stats_of(seconds, count, each, &r->device);
    return status == COLLET_OK ? collet_finish(calls->context) : status;
}

/* ---- Measuring --------------------------------------------------------------------------- */

static collet_status sample(bench_session *session, const bench_layout *l, const char *choice,
                            tool_sampler *s, bench_bandwidth *floor)
{
    stream_kind kind = floor_kind(l);
    double seconds = session->options->seconds;
    double share = floor ? FLOOR_SHARE : 0;
    collet_status status = COLLET_OK;
    if (floor)
        bench_bandwidth_begin(floor);
    for (int32_t round = 0; round < ROUNDS && status == COLLET_OK; round++) {
        bench_session_show(session, "%s %s: %s, round %d of %d", l->row->name, l->signature, choice,
                           (int)round + 1, ROUNDS);
        status = tool_sampler_run(s, seconds * (1 - share) / ROUNDS);
        if (floor)
            bench_bandwidth_more(floor, kind, seconds * share / ROUNDS);
    }
    if (floor)
        bench_bandwidth_end(floor, kind);
    return status;
}

double bench_fair_seconds(const bench_result *r)
{
    return r->stats.median / r->busy.share;
}

/* Measures again on a busy machine; drops the samples of the row so far. */
static collet_status measure_busy(bench_session *session, const bench_layout *l, tool_sampler *s,
                                  bench_result *r)
{
    bench_busy busy;
    int32_t processes = session->options->busy;
    double processors = session->machine.allowed_cpus, threads = r->usage.used / r->usage.seconds;
    double share = processors / (threads + processes);
    r->busy = (bench_busy_stats){.threads = threads, .share = share < 1 ? share : 1};
    if (!bench_busy_start(&busy, processes)) {
        snprintf(r->error, sizeof r->error, "cannot start %d busy processes", (int)processes);
        return COLLET_FAILED;
    }
    bench_usage begin = bench_usage_now();
    s->count = 0;
    collet_status status = sample(session, l, r->choice, s, NULL);
    bench_usage end = bench_usage_now();
    bench_busy_stop(&busy);
    if (status != COLLET_OK) {
        snprintf(r->error, sizeof r->error, "%s", collet_last_error(session->context));
        return status;
    }
    r->busy.processes = processes;
    r->busy.usage = bench_usage_between(&begin, &end);
    tool_sampler_stats(s, &r->busy.stats);
    return COLLET_OK;
}

static collet_status measure_calls(bench_session *session, const bench_layout *layout,
                                   bench_calls *calls, bench_bandwidth *floor, bench_result *r)
{
    tool_sampler s;
    collet_context *cx = session->context;
    collet_status status = tool_sampler_create(&s, bench_calls_run, calls);
    if (status != COLLET_OK) {
        snprintf(r->error, sizeof r->error, "out of memory for the samples");
        return status;
    }
    bench_session_show(session, "%s %s: %s", layout->row->name, layout->signature, r->choice);
    bench_usage begin;
    status = tool_sampler_warm(&s, session->options->seconds);
    memory_state before = memory_now(cx, r->choice);
    begin = bench_usage_now();
    if (status == COLLET_OK)
        status = sample(session, layout, r->choice, &s, floor);
    if (status == COLLET_OK) {
        bench_usage end = bench_usage_now();
        r->usage = bench_usage_between(&begin, &end);
        memory_state after = memory_now(cx, r->choice);
        r->array_bytes_delta = after.arrays - before.arrays;
        r->device_bytes_delta = after.device - before.device;
        r->resident_bytes_delta = after.resident - before.resident;
        tool_sampler_stats(&s, &r->stats);
        if (floor)
            r->floor = floor->best[floor_kind(layout)];
        status = measure_device(session, calls, r);
    }
    if (status != COLLET_OK)
        snprintf(r->error, sizeof r->error, "%s", collet_last_error(cx));
    else if (session->options->busy)
        status = measure_busy(session, layout, &s, r);
    tool_sampler_clear(&s);
    return status;
}

void bench_measure(bench_session *session, const bench_layout *l, const bench_arrays *arrays,
                   const char *choice, bench_floor *floor, bench_result *r)
{
    bench_calls calls;
    *r = (bench_result){
        .choice = choice, .bytes = l->bytes_read + l->bytes_written, .flops = l->flops};
    strcpy(r->dtype, l->signature);
    r->status = bench_calls_open(&calls, session, l, arrays, choice, r->error);
    if (r->status == COLLET_OK)
        r->status = measure_calls(session, l, &calls, open_floor(floor, session, l, choice), r);
}
