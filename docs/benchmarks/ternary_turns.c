/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ternary_turns.c - products of ternary weights by Collet and by ggml (TQ2_0 weights, f32
 * activations that it quantizes to q8_K) in turn, in one process and on the same number of threads.
 * docs/benchmarks/ ternary_ggml.sh builds and runs this program; no build and no test runs it.
 *
 *   ternary_turns [THREADS [TURNS]]
 *
 * A turn calls each library for a tenth of a second. The program prints the median, over all turns,
 * of the turns' medians; the fastest call; and the median of the turns' ratios to ggml.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <collet/collet.h>
#include <collet/ops/ternary.h>

#include "ggml-cpu.h"
#include "ggml.h"

enum { GGML, W2A8, LINEAR, W2A2, SIDES, TURNS_MAX = 1000, CALLS_MAX = 100000 };

static const char *const names[] = {"ggml TQ2_0", "collet W2A8", "collet linear int8",
                                    "collet W2A2"};

typedef struct side {
    struct ggml_cgraph *graph;
    struct ggml_cplan plan;
    collet_context *cx;
    collet_array *y, *w, *x;
} side;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

static void give_up(const char *what)
{
    fprintf(stderr, "ternary_turns: %s\n", what);
    exit(1);
}

static void call(int which, side *s)
{
    collet_ternary_linear_params params = {.struct_size = sizeof params,
                                           .activations = COLLET_TERNARY_INT8};
    collet_status status = COLLET_OK;
    if (which == GGML)
        ggml_graph_compute(s->graph, &s->plan);
    else if (which == LINEAR)
        status = collet_op_ternary_linear(s->cx, s->y, s->w, s->x, NULL, NULL, &params);
    else
        status = collet_op_ternary_matmul(s->cx, s->y, s->w, s->x);
    if (status != COLLET_OK)
        give_up(collet_last_error(s->cx));
}

/* Calls for a tenth of a second and returns the median time of a call. *fastest: the shortest time
 * of all calls so far. */
static double measure(int which, side *s, double *fastest)
{
    static double times[CALLS_MAX];
    int n = 0;
    for (int i = 0; i < 3; i++)
        call(which, s);
    for (double begin = seconds(), now = begin, last; now - begin < 0.1 && n < CALLS_MAX; n++) {
        last = now;
        call(which, s);
        now = seconds();
        times[n] = now - last;
        *fastest = fmin(*fastest, times[n]);
    }
    return median(times, n);
}

/* An array of the elements at `data`; if `data` is NULL, without values. */
static collet_array *array_of(collet_context *cx, collet_dtype dtype, int64_t rows, int64_t columns,
                              const void *data)
{
    collet_array *a = NULL;
    int64_t shape[] = {rows, columns};
    collet_status status = data ? collet_array_from(cx, &a, dtype, 2, shape, data)
                                : collet_array_create(cx, &a, dtype, 2, shape);
    if (status != COLLET_OK)
        give_up(collet_last_error(cx));
    return a;
}

/* Activations are whole numbers with a maximum of 127 in each block of 256, so both libraries
 * quantize them exactly. */
static void make_sides(side sides[SIDES], collet_context *cx, struct ggml_context *g,
                       int64_t tokens, int64_t rows, int64_t columns, int threads)
{
    struct ggml_tensor *w = ggml_new_tensor_2d(g, GGML_TYPE_TQ2_0, columns, rows);
    struct ggml_tensor *x = ggml_new_tensor_2d(g, GGML_TYPE_F32, columns, tokens);
    float *weights = malloc((size_t)(rows * columns) * sizeof *weights);
    int8_t *codes = malloc((size_t)(rows * columns)), *a = malloc((size_t)(tokens * columns));
    int64_t bytes = collet_ternary_bytes(COLLET_TERNARY_T2, columns);
    collet_array *packed = array_of(cx, COLLET_U8, rows, bytes, NULL), *info = NULL, *c;
    collet_array *ternary = array_of(cx, COLLET_U8, tokens, bytes, NULL);
    for (int64_t i = 0; i < rows * columns; i++) {
        codes[i] = (int8_t)(rand() / 8 % 3 - 1);
        weights[i] = codes[i];
    }
    for (int64_t i = 0; i < tokens * columns; i++) {
        a[i] = (int8_t)(i % 256 ? rand() / 8 % 255 - 127 : 127);
        ((float *)x->data)[i] = a[i];
    }
    ggml_quantize_chunk(GGML_TYPE_TQ2_0, weights, w->data, 0, rows, columns, NULL);
    sides[GGML].graph = ggml_new_graph(g);
    ggml_build_forward_expand(sides[GGML].graph, ggml_mul_mat(g, w, x));
    sides[GGML].plan = ggml_graph_plan(sides[GGML].graph, threads, NULL);
    sides[GGML].plan.work_data = malloc(sides[GGML].plan.work_size + 64);
    c = array_of(cx, COLLET_I8, rows, columns, codes);
    if (collet_array_create(cx, &info, COLLET_I32, 0, NULL) != COLLET_OK ||
        collet_op_ternary_pack(cx, packed, info, c, NULL, COLLET_TERNARY_T2) != COLLET_OK)
        give_up(collet_last_error(cx));
    collet_array_destroy(c);
    c = array_of(cx, COLLET_I8, tokens, columns, codes);
    if (collet_op_ternary_pack(cx, ternary, info, c, NULL, COLLET_TERNARY_T2) != COLLET_OK)
        give_up(collet_last_error(cx));
    for (int i = W2A8; i < SIDES; i++) {
        sides[i].cx = cx;
        sides[i].w = packed;
        sides[i].y = array_of(cx, i == LINEAR ? COLLET_F32 : COLLET_I32, tokens, rows, NULL);
    }
    collet_array_destroy(c);
    collet_array_destroy(info);
    sides[W2A8].x = array_of(cx, COLLET_I8, tokens, columns, a);
    sides[LINEAR].x = array_of(cx, COLLET_F32, tokens, columns, x->data);
    sides[W2A2].x = ternary;
    free(weights);
    free(codes);
    free(a);
}

/* ggml's results, Collet's sums and Collet's results of `linear` are the same numbers. */
static void compare(side sides[SIDES], int64_t tokens, int64_t rows)
{
    size_t n = (size_t)(tokens * rows);
    struct ggml_tensor *y = ggml_graph_node(sides[GGML].graph, -1);
    int32_t *sums = malloc(n * sizeof *sums);
    float *results = malloc(n * sizeof *results);
    for (int i = 0; i < SIDES; i++)
        call(i, &sides[i]);
    if (collet_array_read(sides[W2A8].cx, sides[W2A8].y, sums, n * sizeof *sums) != COLLET_OK ||
        collet_array_read(sides[W2A8].cx, sides[LINEAR].y, results, n * sizeof *results) !=
            COLLET_OK)
        give_up(collet_last_error(sides[W2A8].cx));
    for (size_t i = 0; i < n; i++) {
        float by_ggml = ((const float *)y->data)[i], expected = (float)sums[i];
        if (fabsf(by_ggml - expected) > 1.0f || fabsf(results[i] - expected) > 1.0f)
            give_up("the results differ");
    }
    free(sums);
    free(results);
}

static void measure_shape(collet_context *cx, int64_t tokens, int64_t rows, int64_t columns,
                          int threads, int turns)
{
    static double medians[SIDES][TURNS_MAX], ratios[SIDES][TURNS_MAX];
    double fastest[SIDES] = {INFINITY, INFINITY, INFINITY, INFINITY};
    side sides[SIDES] = {{0}};
    struct ggml_init_params memory = {
        .mem_size = (size_t)(rows * columns / 3 + tokens * (rows + columns) * 8) + (64u << 20)};
    struct ggml_context *g = ggml_init(memory);
    make_sides(sides, cx, g, tokens, rows, columns, threads);
    compare(sides, tokens, rows);
    for (int turn = 0; turn < turns; turn++) {
        for (int i = 0; i < SIDES; i++)
            medians[i][turn] = measure(i, &sides[i], &fastest[i]);
        for (int i = 0; i < SIDES; i++)
            ratios[i][turn] = medians[i][turn] / medians[GGML][turn];
    }
    for (int i = 0; i < SIDES; i++)
        printf("%3dx%dx%d  %-20s %10.1f us  fastest %8.1f us  %.3f\n", (int)tokens, (int)rows,
               (int)columns, names[i], 1e6 * median(medians[i], turns), 1e6 * fastest[i],
               median(ratios[i], turns));
    fflush(stdout);
    collet_array_destroy(sides[W2A8].w);
    for (int i = W2A8; i < SIDES; i++) {
        collet_array_destroy(sides[i].x);
        collet_array_destroy(sides[i].y);
    }
    free(sides[GGML].plan.work_data);
    ggml_free(g);
}

int main(int argc, char **argv)
{
    static const int64_t shapes[][3] = {
        {1, 2048, 2048}, {1, 4096, 4096}, {1, 8192, 8192}, {32, 4096, 4096}};
    int threads = argc > 1 ? atoi(argv[1]) : 2, turns = argc > 2 ? atoi(argv[2]) : 15;
    collet_error err = {0};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    char number[16];
    if (threads < 1 || turns < 1 || turns > TURNS_MAX)
        give_up("usage: ternary_turns [THREADS [TURNS]]");
    snprintf(number, sizeof number, "%d", threads);
    setenv("COLLET_NUM_THREADS", number, 1);
    if (collet_runtime_create(&runtime, NULL, &err) != COLLET_OK ||
        collet_context_create(runtime, &cx, &err) != COLLET_OK)
        give_up(err.text);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        measure_shape(cx, shapes[i][0], shapes[i][1], shapes[i][2], threads, turns);
    printf("Collet by %s\n", collet_last_backend(cx));
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return 0;
}
