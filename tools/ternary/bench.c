/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that Rotor's document measures, and larger products.
 * Tests: tests/tools/test_ternary_errors.c */
#include "commands.h"
#include "options.h"
#include "report.h"
#include "session.h"

#include "common/arguments.h"
#include "common/interrupt.h"
#include "common/json_add.h"
#include "common/progress.h"
#include "common/stats.h"
#include "io/decimal.h"

#include <collet/ternary.h>
#include <collet/ops/ternary.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP 3

/* The network of that document. */
#define INPUTS 512
#define HIDDEN 256
#define OUTPUTS 10
#define BATCH 32

enum { CODES, PACKED, INFO, OTHER, OTHER_PACKED, X, Y, ARRAYS };

/* Operands, made anew for each case. */
typedef struct bench_bodies {
    collet_context *context;
    collet_array *arrays[ARRAYS];
    collet_ternary_weights *weights[2];
    collet_ternary_network *network;
    uint64_t random;
    collet_status status; /* after a failure the functions below do nothing */
    collet_error error;   /* of the engine; COLLET_OK while a failure is the context's */
} bench_bodies;

typedef struct bench_options {
    ternary_options common;
    const char *name; /* a part of the cases' names; NULL: all */
    double seconds;   /* of each measurement */
} bench_options;

typedef struct bench_case {
    const char *name;
    const char *kind; /* weights and activations */
    int64_t size;
    uint32_t activations;
    void (*make)(bench_bodies *b, const struct bench_case *c);
    void (*call)(bench_bodies *b, const struct bench_case *c);
} bench_case;

/* ---- Operands ------------------------------------------------------------------------------ */

static uint64_t next_random(bench_bodies *b)
{
    b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return b->random >> 33;
}

/* Array `index` of shape (rows, columns); columns < 0: (rows); rows < 0: no axes. */
static void make_empty(bench_bodies *b, int index, collet_dtype dtype, int64_t rows,
                       int64_t columns)
{
    const int64_t shape[2] = {rows, columns};
    int32_t ndim = rows < 0 ? 0 : columns < 0 ? 1 : 2;

    if (b->status == COLLET_OK)
        b->status = collet_array_create(b->context, &b->arrays[index], dtype, ndim, shape);
}

/* Array `index`: codes, each as frequent, or numbers between -1 and 1. */
static void make_random(bench_bodies *b, int index, collet_dtype dtype, int64_t rows,
                        int64_t columns)
{
    void *data;

    make_empty(b, index, dtype, rows, columns);
    if (b->status == COLLET_OK)
        b->status = collet_array_acquire(b->context, b->arrays[index], &data, COLLET_WRITE);
    if (b->status != COLLET_OK)
        return;
    for (int64_t i = 0; i < collet_array_size(b->arrays[index]); i++) {
        if (dtype == COLLET_I8)
            ((int8_t *)data)[i] = (int8_t)(next_random(b) % 3) - 1;
        else
            ((float *)data)[i] = (float)next_random(b) / 0x1p30f - 1;
    }
    b->status = collet_array_release(b->context, b->arrays[index]);
}

/* Packs the codes in array `from` into array `to`. */
static void pack(bench_bodies *b, int to, int from)
{
    if (b->status == COLLET_OK)
        b->status = collet_op_ternary_pack(b->context, b->arrays[to], b->arrays[INFO],
                                           b->arrays[from], NULL, COLLET_TERNARY_T2);
}

/* Packs the same codes into a new array of `rows` rows; rows < 0: a vector. */
static void make_packed(bench_bodies *b, int to, int from, int64_t rows, int64_t columns)
{
    int64_t bytes = collet_ternary_bytes(COLLET_TERNARY_T2, columns);

    make_empty(b, to, COLLET_U8, rows < 0 ? bytes : rows, rows < 0 ? -1 : bytes);
    if (!b->arrays[INFO])
        make_empty(b, INFO, COLLET_I32, -1, -1);
    pack(b, to, from);
}

/* ---- Cases --------------------------------------------------------------------------------- */

static void make_codes(bench_bodies *b, const bench_case *c)
{
    make_random(b, CODES, COLLET_I8, c->size, -1);
    make_empty(b, OTHER, COLLET_I8, c->size, -1);
    make_packed(b, PACKED, CODES, -1, c->size);
}

static void call_codes(bench_bodies *b, const bench_case *c)
{
    (void)c;
    pack(b, PACKED, CODES);
    if (b->status == COLLET_OK)
        b->status = collet_op_ternary_unpack(b->context, b->arrays[OTHER], NULL, b->arrays[INFO],
                                             b->arrays[PACKED], COLLET_TERNARY_T2);
}

static void make_dot(bench_bodies *b, const bench_case *c)
{
    make_random(b, CODES, COLLET_I8, c->size, -1);
    make_random(b, OTHER, COLLET_I8, c->size, -1);
    make_packed(b, PACKED, CODES, -1, c->size);
    make_packed(b, OTHER_PACKED, OTHER, -1, c->size);
    make_empty(b, Y, COLLET_I32, -1, -1);
}

static void call_dot(bench_bodies *b, const bench_case *c)
{
    (void)c;
    b->status =
        collet_op_ternary_dot(b->context, b->arrays[Y], b->arrays[PACKED], b->arrays[OTHER_PACKED]);
}

static void make_matvec(bench_bodies *b, const bench_case *c)
{
    int f32 = c->activations == COLLET_TERNARY_F32;

    make_random(b, CODES, COLLET_I8, c->size, c->size);
    make_packed(b, PACKED, CODES, c->size, c->size);
    make_random(b, X, f32 ? COLLET_F32 : COLLET_I8, c->size, -1);
    if (c->activations == COLLET_TERNARY_TERNARY)
        make_packed(b, OTHER_PACKED, X, -1, c->size);
    make_empty(b, Y, f32 ? COLLET_F32 : COLLET_I32, c->size, -1);
}

static void call_matvec(bench_bodies *b, const bench_case *c)
{
    int x = c->activations == COLLET_TERNARY_TERNARY ? OTHER_PACKED : X;

    b->status = collet_op_ternary_matmul(b->context, b->arrays[Y], b->arrays[PACKED], b->arrays[x]);
}

static void make_network(bench_bodies *b, const bench_case *c)
{
    static const int64_t rows[2] = {HIDDEN, OUTPUTS}, columns[2] = {INPUTS, HIDDEN};
    static const int codes[2] = {CODES, OTHER};
    collet_ternary_layer layers[2];

    for (int i = 0; i < 2; i++) {
        make_random(b, codes[i], COLLET_I8, rows[i], columns[i]);
        if (b->status == COLLET_OK)
            b->status = collet_ternary_weights_from_codes(b->context, &b->weights[i],
                                                          b->arrays[codes[i]], NULL, &b->error);
        layers[i] = (collet_ternary_layer){.struct_size = sizeof layers[i],
                                           .activations = c->activations,
                                           .relu = i == 0,
                                           .weights = b->weights[i]};
    }
    make_random(b, X, COLLET_F32, BATCH, INPUTS);
    make_empty(b, Y, COLLET_F32, BATCH, OUTPUTS);
    if (b->status == COLLET_OK)
        b->status = collet_ternary_network_create(b->context, &b->network, layers, 2, &b->error);
}

static void call_network(bench_bodies *b, const bench_case *c)
{
    (void)c;
    b->status =
        collet_ternary_network_run(b->context, b->network, b->arrays[Y], b->arrays[X], &b->error);
}

#define NETWORK "network 512-256-10, batch 32"
static const bench_case cases[] = {
    {"pack and unpack, 1M weights", "t2", 1 << 20, 0, make_codes, call_codes},
    {"dot, 1M weights", "W2A2", 1 << 20, 0, make_dot, call_dot},
    {"matvec 2048 x 2048", "W2A2", 2048, COLLET_TERNARY_TERNARY, make_matvec, call_matvec},
    {"matvec 2048 x 2048", "W2A8", 2048, COLLET_TERNARY_INT8, make_matvec, call_matvec},
    {"matvec 2048 x 2048", "f32", 2048, COLLET_TERNARY_F32, make_matvec, call_matvec},
    {NETWORK, "ternary", 0, COLLET_TERNARY_TERNARY, make_network, call_network},
    {NETWORK, "int8", 0, COLLET_TERNARY_INT8, make_network, call_network},
    {NETWORK, "f32", 0, COLLET_TERNARY_F32, make_network, call_network},
    {"matvec 4096 x 4096", "W2A2", 4096, COLLET_TERNARY_TERNARY, make_matvec, call_matvec},
    {"matvec 4096 x 4096", "W2A8", 4096, COLLET_TERNARY_INT8, make_matvec, call_matvec},
    {"matvec 8192 x 8192", "W2A2", 8192, COLLET_TERNARY_TERNARY, make_matvec, call_matvec},
    {"matvec 8192 x 8192", "W2A8", 8192, COLLET_TERNARY_INT8, make_matvec, call_matvec},
};

/* ---- Measuring ----------------------------------------------------------------------------- */

static void call_once(bench_bodies *b, const bench_case *c)
{
    c->call(b, c);
    if (b->status == COLLET_OK)
        b->status = collet_finish(b->context);
}

/* Samples until the time is over, or a signal was noted. */
static void sample(bench_bodies *b, const bench_case *c, double seconds, double *samples,
                   tool_stats *stats)
{
    int64_t count = 0;

    c->make(b, c);
    for (int i = 0; i < WARM_UP && b->status == COLLET_OK && !tool_interrupt_signal(); i++)
        call_once(b, c);
    double began = tool_now(), now = began;
    while (b->status == COLLET_OK && count < TOOL_SAMPLES_MAX &&
           (count == 0 || (now - began < seconds && !tool_interrupt_signal()))) {
        double before = now;
        call_once(b, c);
        now = tool_now();
        samples[count++] = now - before;
    }
    if (b->status == COLLET_OK)
        tool_stats_of(samples, count, 1, stats);
}

static void clear(bench_bodies *b)
{
    collet_ternary_network_destroy(b->network);
    collet_ternary_weights_destroy(b->weights[0]);
    collet_ternary_weights_destroy(b->weights[1]);
    for (int i = 0; i < ARRAYS; i++)
        collet_array_destroy(b->arrays[i]);
}

static int add_json(cJSON *list, const bench_case *c, const char *backend, const tool_stats *stats)
{
    cJSON *o = json_append_object(list);

    return o && json_add_text(o, "case", c->name) && json_add_text(o, "kind", c->kind) &&
           json_add_text(o, "backend", backend) &&
           json_add_number(o, "samples", (double)stats->samples) &&
           json_add_item(o, "seconds", tool_stats_json(stats));
}

static void print_row(const bench_case *c, const char *backend, const tool_stats *stats)
{
    printf("%-29s %-8s %-11s %10.4f %10.4f %10.4f %10.4f\n", c->name, c->kind, backend,
           1e3 * stats->median, 1e3 * stats->p95, 1e3 * stats->p99, 1e3 * stats->max);
    fflush(stdout);
}

static collet_status measure(ternary_session *session, const bench_case *c, double seconds,
                             double *samples, cJSON *list, collet_error *err)
{
    bench_bodies b = {.context = session->context, .random = 1};
    tool_stats stats;

    sample(&b, c, seconds, samples, &stats);
    collet_status status = b.status;
    if (status != COLLET_OK)
        collet_fail(err, status, "%s: %s", c->name,
                    b.error.status != COLLET_OK ? b.error.text
                                                : collet_last_error(session->context));
    else if (tool_interrupt_signal() != 0)
        status = collet_fail(err, COLLET_CANCELLED, "%s: stopped by a signal", c->name);
    if (status == COLLET_OK && !list)
        print_row(c, collet_last_backend(session->context), &stats);
    else if (status == COLLET_OK &&
             !add_json(list, c, collet_last_backend(session->context), &stats))
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory for the report");
    clear(&b);
    return status;
}

static collet_status measure_all(ternary_session *session, const bench_options *options,
                                 cJSON *list, collet_error *err)
{
    const char *requested = options->name ? options->name : "";
    double *samples = malloc(TOOL_SAMPLES_MAX * sizeof *samples);
    collet_status status = COLLET_OK;
    size_t measured = 0;

    if (!samples || (options->common.json && !list))
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory for samples");
    else if (!options->common.json)
        printf("%-29s %-8s %-11s %10s %10s %10s %10s\n", "", "", "backend", "median ms", "p95",
               "p99", "max");
    for (size_t i = 0; i < sizeof cases / sizeof *cases && status == COLLET_OK; i++) {
        if (!strstr(cases[i].name, requested))
            continue;
        measured++;
        status = measure(session, &cases[i], options->seconds, samples, list, err);
    }
    if (status == COLLET_OK && measured == 0)
        status = collet_fail(err, COLLET_NOT_FOUND, "bench: no case is called '%s'", requested);
    free(samples);
    return status;
}

static collet_status bench(const bench_options *options, collet_error *err)
{
    cJSON *root = options->common.json ? cJSON_CreateObject() : NULL;
    cJSON *list = root ? cJSON_AddArrayToObject(root, "cases") : NULL;
    ternary_session session;

    collet_status status = ternary_session_open(&session, &options->common, "", err);
    if (status == COLLET_OK)
        status = measure_all(&session, options, list, err);
    if (status == COLLET_OK && options->common.json)
        status = ternary_print_json(root, err);
    else
        cJSON_Delete(root);
    ternary_session_close(&session);
    return status;
}

/* ---- Command line -------------------------------------------------------------------------- */

enum { KEY_SECONDS = TERNARY_KEY_OWN };

static const struct argp_option argp_options[] = {
    {"seconds", KEY_SECONDS, "S", 0, "Time for each measurement (default: 0.5)", 6},
    TERNARY_OPTIONS,
    TERNARY_OPTION_JSON,
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    bench_options *options = state->input;

    switch (key) {
    case KEY_SECONDS:
        if (!io_decimal_parse(text, strlen(text), &options->seconds) || !(options->seconds > 0) ||
            options->seconds > 3600)
            tool_error(state, "--seconds: '%s' is not a time between 0 and 3600", text);
        return 0;
    case ARGP_KEY_ARG:
        ternary_take_argument(state, text, &options->name, 1);
        return 0;
    default:
        return ternary_parse_option(key, text, state, &options->common);
    }
}

static int run(const tool_command *self, int argc, char **argv)
{
    bench_options options = {.seconds = 0.5};
    collet_error err;

    ternary_parse(self, argc, argv, &options, &options.common);
    return ternary_finish(bench(&options, &err), &err, NULL);
}

const tool_command ternary_bench = {
    .name = "bench",
    .summary = "measure this machine",
    .argp = {.options = argp_options,
             .parser = parse,
             .args_doc = "[NAME]",
             .doc = "Measures this machine: all cases, or those with NAME in their name.",
             .children = tool_short_help},
    .run = run,
};
