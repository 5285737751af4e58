/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_against.c */
#include "report.h"
#include "bench/base/modes.h"

#include "bench/ops/inputs.h"
#include "common/sampler.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8
#define FAR_SLOWER 1.5        /* times the best reference: left out after a round */
#define AGREEMENT 1e-3        /* relative, of the outputs' magnitude */
#define SETTLE_MILLISECONDS 5 /* until the threads of the last call are idle or stopped */

typedef struct against_job {
    bench_session *session;
    const char *choice;
    bench_floor floor;
    cJSON *list;
    int result;
    int32_t compared;
} against_job;

/* Products, decompositions and transforms of libraries, and ops bound by memory. */
static const struct {
    const char *op, *dtype, *shape, *axis; /* as on the command line; axis NULL: not given */
} cases[] = {
    {"matmul", "f32", "256x256x256", NULL},
    {"matmul", "f32", "512x512x512", NULL},
    {"matmul", "f32", "1024x1024x1024", NULL},
    {"matmul", "f32", "2048x2048x2048", NULL},
    {"matmul", "f32", "4096x4096x4096", NULL},
    {"matmul", "f64", "256x256x256", NULL},
    {"matmul", "f64", "512x512x512", NULL},
    {"matmul", "f64", "1024x1024x1024", NULL},
    {"matmul", "f64", "2048x2048x2048", NULL},
    {"matmul", "f64", "4096x4096x4096", NULL},
    {"matmul", "f:bb", "1024x1024x1024", NULL},
    {"matmul", "f:bb", "2048x2048x2048", NULL},
    {"matmul", "i:aa", "1024x1024x1024", NULL},
    {"matmul", "i:aa", "2048x2048x2048", NULL},
    {"lu", "f64", "1000x1000", NULL},
    {"solve", "f64", "1000x1", NULL},
    {"solve", "f64", "1000x100", NULL},
    {"qr", "f64", "1000x1000", NULL},
    {"svd", "f64", "1000x1000", NULL},
    {"eigh", "f64", "1000", NULL},
    {"cholesky", "f64", "1000", NULL},
    {"eigh", "f64", "1000000x3", NULL},
    {"fft", "c64", "1048576", NULL},
    {"fft", "c128", "1048576", NULL},
    {"fft", "c64", "255255", NULL},
    {"fft", "c128", "255255", NULL},
    {"fft", "c64", "512x512", NULL},
    {"fft", "c128", "512x512", NULL},
    {"fft", "c64", "128x128x128", NULL},
    {"fft", "c128", "128x128x128", NULL},
    {"add", "f32", "64M", NULL},
    {"exp", "f32", "64M", NULL},
    {"log", "f32", "64M", NULL},
    {"sqrt", "f32", "64M", NULL},
    {"sum", "f32", "8192x8192", "0"},
    {"sum", "f32", "8192x8192", "1"},
    {"transpose", "f32", "8192x8192", NULL},
};

#define CASES (sizeof cases / sizeof *cases)

/* ---- References ------------------------------------------------------------------------------ */

/* Threads for a library: the machine's number, or the number in the name of a variant without a
 * variable; 0 if that number is not smaller. */
static int32_t threads_of(const reference_library *library, const char *value, int32_t machine)
{
    int32_t threads = value && !library->variable ? (int32_t)strtol(value, NULL, 10) : 0;
    return threads == 0 ? machine : threads < machine ? threads : 0;
}

/* The level of x86-64 that the setting `isa` limits Collet to; 4: none. */
static int32_t level_limit(const collet_runtime *runtime)
{
    const char *isa = bench_setting(runtime, "isa"), *level = strrchr(isa, 'v');
    return level && level[1] >= '2' && level[1] <= '4' ? level[1] - '0' : 4;
}

/* Each variant of a library that fits, of its usual file (NULL) or of another. */
static void start_variants(const against_job *job, against_result *r, size_t index,
                           const char *file)
{
    const reference_library *library = &reference_libraries[index];
    int32_t limit = level_limit(job->session->runtime);
    for (size_t v = 0; v < REFERENCE_VARIANTS && library->variants[v].fits; v++) {
        const reference_variant *variant = &library->variants[v];
        int32_t threads = threads_of(library, variant->value, job->session->machine.threads);
        if (threads && reference_variant_fits(variant, limit) && r->count < AGAINST_REFERENCES)
            reference_start(&r->references[r->count++], index, v, file, r->layout, threads);
    }
}

static void start_references(const against_job *job, against_result *r)
{
    const bench_options *o = job->session->options;
    for (size_t i = 0; i < reference_library_count; i++) {
        if (!reference_library_offers(&reference_libraries[i], r->layout))
            continue;
        start_variants(job, r, i, NULL);
        for (int32_t k = 0; k < o->build_count && reference_libraries[i].has_builds; k++)
            start_variants(job, r, i, o->builds[k]);
    }
}

/* Ranks by the fastest call, because other load on the machine affects it least. */
static void rank_references(against_result *r)
{
    r->best = -1;
    for (int32_t i = 0; i < r->count; i++)
        if (reference_stats(&r->references[i], &r->stats[i]) &&
            r->references[i].state != REFERENCE_DEAD &&
            (r->best < 0 || r->stats[i].min < r->stats[r->best].min))
            r->best = i;
}

static void leave_out_slow(against_result *r)
{
    rank_references(r);
    for (int32_t i = 0; i < r->count && r->best >= 0; i++)
        if (r->references[i].state == REFERENCE_RUNS &&
            r->stats[i].min > FAR_SLOWER * r->stats[r->best].min)
            r->references[i].state = REFERENCE_SLOW;
}

static void check_reference(reference_process *p, const bench_operand *o, const void *data)
{
    reference_digest own = reference_digest_of(o, data);
    double most = AGREEMENT * own.magnitude;
    if (fabs(own.magnitude - p->digest.magnitude) <= most &&
        fabs(own.signature - p->digest.signature) <= most)
        return;
    p->state = REFERENCE_DEAD;
    snprintf(p->text, sizeof p->text,
             "its result differs: magnitude %.6g, signature %.6g; Collet's %.6g, %.6g",
             p->digest.magnitude, p->digest.signature, own.magnitude, own.signature);
}

/* A library with a different result is not compared. */
static collet_status check_agreement(against_job *job, against_result *r,
                                     const bench_arrays *arrays)
{
    collet_status status = COLLET_OK;
    for (int32_t i = 0; i < r->count && status == COLLET_OK; i++) {
        reference_process *p = &r->references[i];
        if (p->state != REFERENCE_RUNS || p->same < 0)
            continue;
        const bench_operand *o = &r->layout->operands[p->same];
        size_t bytes = (size_t)bench_operand_size(o) * collet_dtype_size(o->dtype);
        void *data = malloc(bytes + 1);
        status =
            data ? collet_array_read(job->session->context, arrays->arrays[p->same], data, bytes)
                 : COLLET_NO_MEMORY;
        if (status == COLLET_OK)
            check_reference(p, o, data);
        free(data);
    }
    return status;
}

/* ---- Taking turns ---------------------------------------------------------------------------- */

static void settle(const against_job *job)
{
    if (job->session->machine.threads > 1)
        (void)poll(NULL, 0, SETTLE_MILLISECONDS);
}

/* "matmul f:ff, round 2 of 8: openblas Zen": seconds pass before a row is complete. */
static void show_progress(against_job *job, const against_result *r, int32_t round,
                          const reference_process *p)
{
    bench_session_show(job->session, "%s %s, round %d of %d: %s%s%s", r->layout->row->name,
                       r->layout->signature, (int)round + 1, ROUNDS,
                       p ? p->library->name : "Collet", p && p->value ? " " : "",
                       p && p->value ? p->value : "");
}

static collet_status take_turns(against_job *job, against_result *r, const bench_arrays *arrays,
                                tool_sampler *s)
{
    double seconds = job->session->options->seconds / ROUNDS;
    collet_status status = COLLET_OK;
    for (int32_t round = 0; round < ROUNDS && status == COLLET_OK; round++) {
        show_progress(job, r, round, NULL);
        settle(job);
        status = tool_sampler_turn(s, seconds);
        for (int32_t i = 0; i < r->count; i++) {
            if (r->references[i].state != REFERENCE_RUNS)
                continue;
            show_progress(job, r, round, &r->references[i]);
            settle(job);
            reference_sample(&r->references[i], seconds);
        }
        if (round == 0 && status == COLLET_OK) {
            status = check_agreement(job, r, arrays);
            leave_out_slow(r);
        }
    }
    return status;
}

static void compare_with_libraries(against_job *job, against_result *r, const bench_arrays *arrays)
{
    bench_calls calls;
    tool_sampler s;
    r->own.status =
        bench_calls_open(&calls, job->session, r->layout, arrays, job->choice, r->own.error);
    if (r->own.status == COLLET_OK)
        r->own.status = tool_sampler_create(&s, bench_calls_run, &calls);
    if (r->own.status != COLLET_OK)
        return;
    start_references(job, r);
    r->own.status = take_turns(job, r, arrays, &s);
    if (r->own.status == COLLET_OK)
        tool_sampler_stats(&s, &r->own.stats);
    else
        snprintf(r->own.error, sizeof r->own.error, "%s", collet_last_error(calls.context));
    rank_references(r);
    tool_sampler_clear(&s);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int32_t has_reference(const bench_layout *l)
{
    for (size_t i = 0; i < reference_library_count; i++)
        if (reference_library_offers(&reference_libraries[i], l))
            return 1;
    return 0;
}

static void measure(against_job *job, against_result *r)
{
    bench_session *s = job->session;
    bench_arrays arrays;
    collet_status status = collet_set_backend(s->context, job->choice);
    collet_set_fallback(s->context, 1);
    if (status == COLLET_OK)
        status = bench_arrays_create(&arrays, s->context, r->layout);
    else
        arrays = (bench_arrays){{NULL}};
    if (status != COLLET_OK) {
        r->own.status = status;
        snprintf(r->own.error, sizeof r->own.error, "%s", collet_last_error(s->context));
    } else if (has_reference(r->layout)) {
        compare_with_libraries(job, r, &arrays);
    } else {
        bench_measure(s, r->layout, &arrays, job->choice, &job->floor, &r->own);
    }
    r->backend = collet_last_backend(s->context);
    bench_arrays_free(&arrays);
}

static int32_t compare(against_job *job, const bench_layout *layout)
{
    against_result *r = calloc(1, sizeof *r);
    int32_t fine = 1;
    if (!r)
        return 0;
    r->layout = layout;
    r->best = -1;
    r->own.choice = job->choice;
    r->own.bytes = layout->bytes_read + layout->bytes_written;
    r->own.flops = layout->flops;
    snprintf(r->own.dtype, sizeof r->own.dtype, "%s", layout->signature);
    measure(job, r);
    tool_progress_end(&job->session->progress);
    if (r->own.status != COLLET_OK) {
        bench_complain(r->own.status, r->own.error);
        job->result = BENCH_EXIT_FAILURE;
    } else if (r->best < 0 && !r->own.floor.strategy) {
        fprintf(stderr, "backend-bench: %s: nothing to compare with\n", layout->op.name);
        job->result = BENCH_EXIT_FAILURE;
    }
    if (job->list)
        fine = against_add(job->list, r);
    else
        against_print(job->session, r);
    for (int32_t i = 0; i < r->count; i++)
        reference_stop(&r->references[i]);
    free(r);
    return fine;
}

/* ---- Selection of cases ---------------------------------------------------------------------- */

static int32_t is_selected(const bench_options *o, const char *op)
{
    for (int32_t i = 0; i < o->case_count; i++)
        if (!strcmp(o->cases[i], op))
            return 1;
    return o->case_count == 0;
}

static int32_t is_known(const char *op)
{
    for (size_t i = 0; i < CASES; i++)
        if (!strcmp(cases[i].op, op))
            return 1;
    return 0;
}

/* Shape, axis and types of the command line override the table's. */
static int32_t run_case(against_job *job, size_t index, const char *dtype)
{
    bench_options options = *job->session->options;
    bench_case found;
    bench_layout layout;
    collet_error err;
    options.shape = options.shape ? options.shape : cases[index].shape;
    options.axis = options.axis ? options.axis : cases[index].axis;
    collet_status status = bench_case_find(job->session->runtime, cases[index].op, &found, &err);
    if (status == COLLET_OK)
        status = bench_layout_make(&layout, job->session->runtime, &found, &options, dtype, &err);
    if (status != COLLET_OK) {
        job->result = bench_complain(status, err.text);
        return 1;
    }
    return compare(job, &layout);
}

/* Given types or a shape, several rows of the table are the same call. */
static int32_t is_repeated(const bench_options *o, size_t index)
{
    int32_t earlier = 0;
    for (size_t i = 0; i < index; i++) {
        int32_t same_dtype = !strcmp(cases[i].dtype, cases[index].dtype);
        if (strcmp(cases[i].op, cases[index].op))
            continue;
        /* Given types use the shapes of the op's first type. */
        if ((o->shape && (o->dtype_count || same_dtype)) ||
            (o->dtype_count && !earlier && !same_dtype))
            return 1;
        earlier = 1;
    }
    return 0;
}

static int32_t run_all(against_job *job)
{
    const bench_options *o = job->session->options;
    int32_t fine = 1;
    for (size_t i = 0; i < CASES && fine; i++) {
        if (!is_selected(o, cases[i].op) || is_repeated(o, i))
            continue;
        for (int32_t k = 0; k < (o->dtype_count ? o->dtype_count : 1) && fine; k++)
            fine = run_case(job, i, o->dtype_count ? o->dtypes[k] : cases[i].dtype);
    }
    return fine;
}

static int run_mode(bench_session *s)
{
    const bench_options *o = s->options;
    against_job job = {.session = s, .choice = s->choice_count == 1 ? s->choices[0] : "auto"};
    char text[COLLET_ERROR_TEXT];
    if (o->backend_count)
        job.choice = s->choices[0];
    for (int32_t i = 0; i < o->case_count; i++) {
        if (!is_known(o->cases[i])) {
            snprintf(text, sizeof text, "against: it does not compare the op '%s'", o->cases[i]);
            return bench_complain(COLLET_NOT_FOUND, text);
        }
    }
    if ((o->shape || o->axis) && o->case_count != 1)
        return bench_complain(COLLET_INVALID, "against: a shape or an axis needs exactly one op");
    if (s->report && !(job.list = cJSON_AddArrayToObject(s->report, "results")))
        return bench_out_of_memory();
    int32_t fine = run_all(&job);
    bench_bandwidth_close(&job.floor.bandwidth);
    return fine ? job.result : bench_out_of_memory();
}

const bench_mode bench_mode_against = {
    .name = "against",
    .summary = "compare ops with libraries that have the same functions",
    .takes_ops = 1,
    .run = run_mode,
};
