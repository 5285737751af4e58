/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include <collet/ops/array.h>

#include "measure.h"

#include "bench/base/heap.h"
#include "inputs.h"
#include "bench/base/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOOR_SHARE 0.25   /* part of the time for measuring the bandwidth */
#define CACHES_MIN 2       /* smaller operands, in sizes of the last cache, may fit into the cache */
#define CHOOSE_SECONDS 1.0 /* longest time for finding the fastest way to move memory */
#define FEW 0.1            /* an op counts as only reading if it writes less than this share of all
                              bytes, and as only writing if it reads less */

/* ---- Arrays ------------------------------------------------------------------------------ */

static collet_status input_create(collet_context *cx, const bench_operand *o, uint32_t index,
                                  collet_array **out)
{
    void *data;
    const collet_scalar zero = {.dtype = COLLET_F32};
    collet_status status = collet_array_create(cx, out, o->dtype, o->ndim, o->shape);
    /* Lets the backend's threads be the first to touch the memory, as in a program, if the backend has
     * `fill`. */
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
        return 1; /* with auto or a list the device is known only after the call */
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

static int64_t bytes_in(collet_context *cx, const char *space)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    return collet_memory(cx, &stats, space) == COLLET_OK ? (int64_t)stats.current : 0;
}

static bench_memory memory_now(collet_context *cx, const char *choice)
{
    return (bench_memory){bytes_in(cx, "host"), bytes_in(cx, choice),
                          (int64_t)bench_heap_resident()};
}

/* Resets the peak of this process's memory to the present value (Linux 4.0). */
static void reset_peak(collet_context *cx, const char *choice)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
    collet_memory_reset_peak(cx, choice);
}

static int64_t peak_resident(void)
{
    char line[128];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return 1024 * (int64_t)kib;
}

static int64_t peak_device(collet_context *cx, const char *choice)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    return collet_memory(cx, &stats, choice) == COLLET_OK ? (int64_t)stats.peak : 0;
}

/* ---- Bandwidth --------------------------------------------------------------------------- */

/* Returns the kind of bandwidth that limits the op: reading, writing, or both (copying). */
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

/* Opens the measurement of bandwidth; NULL if the op is not compared with it. */
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

#define DEVICE_SAMPLES 64 /* largest number of samples */

/* Takes one sample. A call before the first timestamp keeps the device busy while the measured calls are enqueued. */
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

/* Takes samples by the device's clock: at most DEVICE_SAMPLES, and none after the time of a round of samples has passed. */
static collet_status measure_device(bench_session *session, const bench_calls *calls,
                                    bench_result *r)
{
    double seconds[DEVICE_SAMPLES], end = tool_now() + session->options->seconds / BENCH_ROUNDS;
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

/* ---- Rounds ------------------------------------------------------------------------------ */

/* A row of the report (one backend) while it is measured. */
typedef struct turn {
    bench_result *result;
    bench_calls calls;
    tool_sampler sampler;
    bench_bandwidth *floor; /* NULL: no comparison */
} turn;

static collet_status fail(turn *t, collet_status status, const char *text)
{
    if (text != t->result->error)
        snprintf(t->result->error, sizeof t->result->error, "%s", text);
    return t->result->status = status;
}

static void add_usage(bench_usage *sum, const bench_usage *begin)
{
    bench_usage end = bench_usage_now(), more = bench_usage_between(begin, &end);
    *sum = (bench_usage){sum->seconds + more.seconds, sum->used + more.used,
                         sum->ticks + more.ticks, sum->stolen + more.stolen};
}

/* Notes the median of the samples from `from` on, and the mean difference of consecutive samples (the
 * interarrival jitter of RFC 3550, not smoothed). */
static void note_samples(const tool_sampler *s, int64_t from, double *scratch, bench_round *round)
{
    tool_stats stats;
    int64_t count = s->count - from;
    round->median = round->jitter = NAN;
    if (count <= 0)
        return;
    round->jitter = 0;
    memcpy(scratch, s->seconds + from, (size_t)count * sizeof *scratch);
    for (int64_t i = 1; i < count; i++)
        round->jitter += fabs(scratch[i] - scratch[i - 1]) / (double)((count - 1) * s->calls);
    tool_stats_of(scratch, count, s->calls, &stats);
    round->median = stats.median;
}

static void take_turn(bench_session *session, turn *t, int32_t round, double *scratch)
{
    collet_context *cx = session->context;
    bench_result *r = t->result;
    double budget = session->options->seconds * (t->floor ? 1 - FLOOR_SHARE : 1) / BENCH_ROUNDS;
    int64_t from = t->sampler.count;
    collet_status status = collet_set_backend(cx, r->choice);
    reset_peak(cx, r->choice);
    bench_memory before = memory_now(cx, r->choice);
    bench_usage begin = bench_usage_now();
    if (status == COLLET_OK)
        status = tool_sampler_turn(&t->sampler, budget);
    if (status != COLLET_OK) {
        fail(t, status, collet_last_error(cx));
        return;
    }
    add_usage(&r->usage, &begin);
    bench_memory after = memory_now(cx, r->choice);
    r->grown.arrays += after.arrays - before.arrays;
    r->grown.device += after.device - before.device;
    r->grown.resident += after.resident - before.resident;
    r->rounds[round] = (bench_round){.grown = r->grown,
                                     .peak_device = peak_device(cx, r->choice),
                                     .peak_resident = peak_resident()};
    note_samples(&t->sampler, from, scratch, &r->rounds[round]);
}

/* ---- Measuring --------------------------------------------------------------------------- */

static void open_turn(bench_session *session, const bench_layout *l, const bench_arrays *arrays,
                      bench_floor *floor, turn *t)
{
    bench_result *r = t->result;
    collet_status status = bench_calls_open(&t->calls, session, l, arrays, r->choice, r->error);
    if (status != COLLET_OK) {
        fail(t, status, r->error);
        return;
    }
    t->floor = open_floor(floor, session, l, r->choice);
    bench_session_show(session, "%s %s: %s", l->row->name, l->signature, r->choice);
    if (tool_sampler_create(&t->sampler, bench_calls_run, &t->calls) != COLLET_OK) {
        fail(t, COLLET_NO_MEMORY, "out of memory for the samples");
        return;
    }
    status = tool_sampler_warm(&t->sampler, session->options->seconds);
    if (status != COLLET_OK)
        fail(t, status, collet_last_error(session->context));
}

static void take_rounds(bench_session *session, const bench_layout *l, turn *turns, int32_t count,
                        double *scratch)
{
    stream_kind kind = floor_kind(l);
    bench_bandwidth *floor = NULL;
    for (int32_t i = 0; i < count; i++)
        floor = turns[i].floor ? turns[i].floor : floor;
    if (floor)
        bench_bandwidth_begin(floor);
    for (int32_t round = 0; round < BENCH_ROUNDS; round++) {
        for (int32_t i = 0; i < count; i++) {
            bench_session_show(session, "%s %s: %s, round %d of %d", l->row->name, l->signature,
                               turns[i].result->choice, (int)round + 1, BENCH_ROUNDS);
            if (turns[i].result->status == COLLET_OK)
                take_turn(session, &turns[i], round, scratch);
        }
        if (floor)
            bench_bandwidth_more(floor, kind,
                                 session->options->seconds * FLOOR_SHARE / BENCH_ROUNDS);
    }
    if (floor)
        bench_bandwidth_end(floor, kind);
}

double bench_fair_seconds(const bench_result *r)
{
    return r->stats.median / r->busy.share;
}

/* Measures again on a busy machine; drops the samples of the row so far. */
static collet_status measure_busy(bench_session *session, turn *t)
{
    bench_busy busy;
    bench_result *r = t->result;
    int32_t processes = session->options->busy;
    double processors = session->machine.allowed_cpus, threads = r->usage.used / r->usage.seconds;
    double share = processors / (threads + processes);
    collet_status status = COLLET_OK;
    r->busy = (bench_busy_stats){.threads = threads, .share = share < 1 ? share : 1};
    if (!bench_busy_start(&busy, processes)) {
        snprintf(r->error, sizeof r->error, "cannot start %d busy processes", (int)processes);
        return fail(t, COLLET_FAILED, r->error);
    }
    bench_usage begin = bench_usage_now();
    t->sampler.count = 0;
    for (int32_t round = 0; round < BENCH_ROUNDS && status == COLLET_OK; round++) {
        bench_session_show(session, "%s: %d busy processes, round %d of %d", r->choice,
                           (int)processes, (int)round + 1, BENCH_ROUNDS);
        status = tool_sampler_turn(&t->sampler, session->options->seconds / BENCH_ROUNDS);
    }
    add_usage(&r->busy.usage, &begin);
    bench_busy_stop(&busy);
    if (status != COLLET_OK)
        return fail(t, status, collet_last_error(session->context));
    r->busy.processes = processes;
    tool_sampler_stats(&t->sampler, &r->busy.stats);
    return COLLET_OK;
}

static void close_turn(bench_session *session, const bench_layout *l, turn *t)
{
    bench_result *r = t->result;
    if (r->status == COLLET_OK) {
        tool_sampler_stats(&t->sampler, &r->stats);
        if (t->floor)
            r->floor = t->floor->best[floor_kind(l)];
        collet_status status = collet_set_backend(session->context, r->choice);
        if (status == COLLET_OK)
            status = measure_device(session, &t->calls, r);
        if (status != COLLET_OK)
            fail(t, status, collet_last_error(session->context));
        else if (session->options->busy)
            measure_busy(session, t);
    }
    tool_sampler_clear(&t->sampler);
}

collet_status bench_measure(bench_session *session, const bench_layout *l,
                            const bench_arrays *arrays, bench_floor *floor, bench_result *results)
{
    int32_t count = session->choice_count;
    turn *turns = calloc((size_t)count, sizeof *turns);
    double *scratch = malloc(TOOL_SAMPLES_MAX * sizeof *scratch);
    collet_status status = turns && scratch ? COLLET_OK : COLLET_NO_MEMORY;
    for (int32_t i = 0; i < count && status == COLLET_OK; i++) {
        results[i] = (bench_result){.choice = session->choices[i],
                                    .bytes = l->bytes_read + l->bytes_written,
                                    .flops = l->flops};
        strcpy(results[i].dtype, l->signature);
        turns[i].result = &results[i];
        open_turn(session, l, arrays, floor, &turns[i]);
    }
    if (status == COLLET_OK)
        take_rounds(session, l, turns, count, scratch);
    for (int32_t i = 0; i < count && status == COLLET_OK; i++)
        close_turn(session, l, &turns[i]);
    free(turns);
    free(scratch);
    return status;
}
