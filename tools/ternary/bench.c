/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that Rotor's document measures, and larger products. */
#include "commands.h"
#include "report.h"
#include "session.h"

#include "common/interrupt.h"
#include "common/json_add.h"
#include "common/progress.h"
#include "common/stats.h"

#include <collet/ternary.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARRAYS 8
#define WARM_UP 3

/* The network of that document. */
#define INPUTS 512
#define HIDDEN 256
#define OUTPUTS 10
#define BATCH 32

/* Operands, made anew for each case. */
typedef struct bench_bodies {
    ternary_session *session;
    collet_array *arrays[MOST_ARRAYS];
    collet_ternary_weights *weights[2];
    collet_ternary_network *network;
    uint64_t random;
    collet_error error; /* of the engine; COLLET_OK while a failure is the context's */
} bench_bodies;

typedef struct bench_case {
    const char *name;
    const char *kind; /* weights and activations */
    int64_t size;
    uint32_t activations;
    collet_status (*make)(bench_bodies *b, const struct bench_case *c);
    collet_status (*call)(bench_bodies *b, const struct bench_case *c);
} bench_case;

/* ---- Numbers ------------------------------------------------------------------------------- */

static uint64_t next_random(bench_bodies *b)
{
    b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return b->random >> 33;
}

/* Array `index` of shape (rows, columns); columns < 0: (rows); rows < 0: no axes. */
static collet_status make_empty(bench_bodies *b, int index, collet_dtype dtype, int64_t rows,
                                int64_t columns)
{
    const int64_t shape[2] = {rows, columns};

    return collet_array_create(b->session->context, &b->arrays[index], dtype,
                               rows < 0      ? 0
                               : columns < 0 ? 1
                                             : 2,
                               shape);
}

/* Array `index`: codes that are rarely 0, or numbers between -1 and 1. */
static collet_status make_random(bench_bodies *b, int index, collet_dtype dtype, int64_t rows,
                                 int64_t columns)
{
    collet_context *context = b->session->context;
    int64_t count = rows * (columns < 0 ? 1 : columns);
    void *data;

    collet_status status = make_empty(b, index, dtype, rows, columns);
    if (status == COLLET_OK)
        status = collet_array_acquire(context, b->arrays[index], COLLET_WRITE, &data);
    if (status != COLLET_OK)
        return status;
    for (int64_t i = 0; i < count; i++) {
        if (dtype == COLLET_I8)
            ((int8_t *)data)[i] = (int8_t)(next_random(b) % 3) - 1;
        else
            ((float *)data)[i] = (float)next_random(b) / 0x1p30f - 1;
    }
    return collet_array_release(context, b->arrays[index]);
}

/* Packs the codes in array `from` into array `to`. */
static collet_status pack(bench_bodies *b, int to, int from, int info)
{
    const int64_t *shape = collet_array_shape(b->arrays[from]);
    int two = collet_array_ndim(b->arrays[from]) == 2;
    int64_t bytes = collet_ternary_bytes(COLLET_TERNARY_T2, shape[two]);

    collet_status status =
        b->arrays[to] ? (collet_status)COLLET_OK
                      : make_empty(b, to, COLLET_U8, two ? shape[0] : bytes, two ? bytes : -1);
    if (status == COLLET_OK && !b->arrays[info])
        status = make_empty(b, info, COLLET_I32, -1, -1);
    if (status != COLLET_OK)
        return status;
    return collet_ternary_pack(b->session->context, b->arrays[to], b->arrays[info], b->arrays[from],
                               NULL, COLLET_TERNARY_T2);
}

/* ---- Cases --------------------------------------------------------------------------------- */

enum { CODES, PACKED, INFO, OTHER, OTHER_PACKED, X, Y, SCALE };

static collet_status make_codes(bench_bodies *b, const bench_case *c)
{
    collet_status status = make_random(b, CODES, COLLET_I8, c->size, -1);

    if (status == COLLET_OK)
        status = make_empty(b, OTHER, COLLET_I8, c->size, -1);
    return status == COLLET_OK ? pack(b, PACKED, CODES, INFO) : status;
}

static collet_status call_codes(bench_bodies *b, const bench_case *c)
{
    (void)c;
    collet_status status = pack(b, PACKED, CODES, INFO);
    if (status != COLLET_OK)
        return status;
    return collet_ternary_unpack(b->session->context, b->arrays[OTHER], NULL, b->arrays[INFO],
                                 b->arrays[PACKED], COLLET_TERNARY_T2);
}

static collet_status make_dot(bench_bodies *b, const bench_case *c)
{
    collet_status status = make_random(b, CODES, COLLET_I8, c->size, -1);

    if (status == COLLET_OK)
        status = make_random(b, OTHER, COLLET_I8, c->size, -1);
    if (status == COLLET_OK)
        status = pack(b, PACKED, CODES, INFO);
    if (status == COLLET_OK)
        status = pack(b, OTHER_PACKED, OTHER, INFO);
    return status == COLLET_OK ? make_empty(b, Y, COLLET_I32, -1, -1) : status;
}

static collet_status call_dot(bench_bodies *b, const bench_case *c)
{
    (void)c;
    return collet_ternary_dot(b->session->context, b->arrays[Y], b->arrays[PACKED],
                              b->arrays[OTHER_PACKED]);
}

static collet_status make_matvec(bench_bodies *b, const bench_case *c)
{
    int f32 = c->activations == COLLET_TERNARY_F32;
    collet_status status = make_random(b, CODES, COLLET_I8, c->size, c->size);

    if (status == COLLET_OK)
        status = pack(b, PACKED, CODES, INFO);
    if (status == COLLET_OK)
        status = make_random(b, X, f32 ? COLLET_F32 : COLLET_I8, c->size, -1);
    if (status == COLLET_OK && c->activations == COLLET_TERNARY_TERNARY)
        status = pack(b, OTHER_PACKED, X, INFO);
    return status == COLLET_OK ? make_empty(b, Y, f32 ? COLLET_F32 : COLLET_I32, c->size, -1)
                               : status;
}

static collet_status call_matvec(bench_bodies *b, const bench_case *c)
{
    return collet_ternary_matmul(
        b->session->context, b->arrays[Y], b->arrays[PACKED],
        b->arrays[c->activations == COLLET_TERNARY_TERNARY ? OTHER_PACKED : X]);
}

static collet_status make_layer(bench_bodies *b, int index, int64_t rows, int64_t columns)
{
    collet_array **codes = &b->arrays[index ? OTHER : CODES];
    collet_status status = make_random(b, index ? OTHER : CODES, COLLET_I8, rows, columns);

    return status == COLLET_OK
               ? collet_ternary_weights_from_codes(b->session->context, &b->weights[index], *codes,
                                                   NULL, &b->error)
               : status;
}

static collet_status make_network(bench_bodies *b, const bench_case *c)
{
    collet_status status = make_layer(b, 0, HIDDEN, INPUTS);

    if (status == COLLET_OK)
        status = make_layer(b, 1, OUTPUTS, HIDDEN);
    if (status == COLLET_OK)
        status = make_random(b, X, COLLET_F32, BATCH, INPUTS);
    if (status == COLLET_OK)
        status = make_empty(b, Y, COLLET_F32, BATCH, OUTPUTS);
    collet_ternary_layer layers[2];
    for (int i = 0; i < 2; i++)
        layers[i] = (collet_ternary_layer){.struct_size = sizeof layers[i],
                                           .activations = c->activations,
                                           .relu = i == 0,
                                           .weights = b->weights[i]};
    if (status != COLLET_OK)
        return status;
    return collet_ternary_network_create(b->session->context, &b->network, layers, 2, &b->error);
}

static collet_status call_network(bench_bodies *b, const bench_case *c)
{
    (void)c;
    return collet_ternary_network_run(b->session->context, b->network, b->arrays[Y], b->arrays[X],
                                      NULL);
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

static collet_status call_once(bench_bodies *b, const bench_case *c)
{
    collet_status status = c->call(b, c);

    return status == COLLET_OK ? collet_finish(b->session->context) : status;
}

/* Until the time is over, or a signal was noted. */
static collet_status sample(bench_bodies *b, const bench_case *c, double seconds, double *samples,
                            bench_stats *stats)
{
    collet_status status = c->make(b, c);
    int64_t count = 0;

    for (int i = 0; i < WARM_UP && status == COLLET_OK && !tool_interrupt_signal(); i++)
        status = call_once(b, c);
    double began = bench_now(), now = began;
    while (status == COLLET_OK && count < BENCH_SAMPLES_MAX &&
           (count == 0 || (now - began < seconds && !tool_interrupt_signal()))) {
        double before = now;
        status = call_once(b, c);
        now = bench_now();
        samples[count++] = now - before;
    }
    if (status == COLLET_OK)
        bench_stats_of(samples, count, 1, stats);
    return status;
}

static void clear(bench_bodies *b)
{
    collet_ternary_network_free(b->network);
    collet_ternary_weights_free(b->weights[0]);
    collet_ternary_weights_free(b->weights[1]);
    for (int i = 0; i < MOST_ARRAYS; i++)
        collet_array_free(b->arrays[i]);
}

static int add_json(cJSON *list, const bench_case *c, const char *backend, const bench_stats *stats)
{
    cJSON *o = json_append_object(list);

    return o && json_add_text(o, "case", c->name) && json_add_text(o, "kind", c->kind) &&
           json_add_text(o, "backend", backend) &&
           json_add_number(o, "samples", (double)stats->samples) &&
           json_add_item(o, "seconds", bench_stats_json(stats));
}

static void print_row(const bench_case *c, const char *backend, const bench_stats *stats)
{
    printf("%-29s %-8s %-11s %10.4f %10.4f %10.4f %10.4f\n", c->name, c->kind, backend,
           1e3 * stats->median, 1e3 * stats->p95, 1e3 * stats->p99, 1e3 * stats->max);
    fflush(stdout);
}

static collet_status measure(ternary_session *session, const bench_case *c, double seconds,
                             double *samples, cJSON *list, collet_error *err)
{
    bench_bodies b = {.session = session, .random = 1};
    bench_stats stats;

    collet_status status = sample(&b, c, seconds, samples, &stats);
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

static collet_status measure_all(ternary_session *session, const ternary_options *options,
                                 cJSON *list, collet_error *err)
{
    const char *wanted = options->n_arguments > 0 ? options->arguments[0] : "";
    double *samples = malloc(BENCH_SAMPLES_MAX * sizeof *samples);
    collet_status status = COLLET_OK;
    size_t measured = 0;

    if (!samples || (options->json && !list))
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory for samples");
    else if (!options->json)
        printf("%-29s %-8s %-11s %10s %10s %10s %10s\n", "", "", "backend", "median ms", "p95",
               "p99", "max");
    for (size_t i = 0; i < sizeof cases / sizeof *cases && status == COLLET_OK; i++) {
        if (!strstr(cases[i].name, wanted))
            continue;
        measured++;
        status = measure(session, &cases[i], options->seconds, samples, list, err);
    }
    if (status == COLLET_OK && measured == 0)
        status = collet_fail(err, COLLET_NOT_FOUND, "bench: no case is called '%s'", wanted);
    free(samples);
    return status;
}

collet_status ternary_bench(const ternary_options *options, collet_error *err)
{
    cJSON *root = options->json ? cJSON_CreateObject() : NULL;
    cJSON *list = root ? cJSON_AddArrayToObject(root, "cases") : NULL;
    ternary_session session;

    collet_status status = ternary_session_open(&session, options, "", err);
    if (status == COLLET_OK)
        status = measure_all(&session, options, list, err);
    if (status == COLLET_OK && options->json)
        status = ternary_print_json(root, err);
    else
        cJSON_Delete(root);
    ternary_session_close(&session);
    return status;
}
