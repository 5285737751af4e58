/* SPDX-License-Identifier: Apache-2.0 */
#include "blas_trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "team.h"

/* Matrices of small whole numbers: every sum of their products is exact in both types, in any
 * order, so a right product is right to the bit. */
static double number(int64_t i, int64_t j, int64_t seed)
{
    return (double)((i * 7 + j * 13 + i * j * 3 + seed) % 9 - 4);
}

static void put(void *at, int wide, int64_t index, double value)
{
    if (wide)
        ((double *)at)[index] = value;
    else
        ((float *)at)[index] = (float)value;
}

static double get(const void *at, int wide, int64_t index)
{
    return wide ? ((const double *)at)[index] : (double)((const float *)at)[index];
}

/* rows x columns of number(), row-major or transposed. */
static blas_matrix fill(void *at, int wide, int64_t rows, int64_t columns, int64_t seed,
                        int transposed)
{
    int64_t stride = transposed ? rows : columns;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            put(at, wide, transposed ? j * stride + i : i * stride + j, number(i, j, seed));
    return (blas_matrix){at, stride, transposed};
}

static int element_is_right(const blas_matrix *c, int wide, int64_t i, int64_t j, int64_t inner)
{
    double sum = 0.0;
    for (int64_t k = 0; k < inner; k++)
        sum += number(i, k, 1) * number(k, j, 2);
    return get(c->at, wide, i * c->stride + j) == sum;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* Extents that end in the middle of every kernel's tiles. */
#define ROWS 67
#define COLUMNS 45
#define INNER 129

static int products_are_right(const blas *b, int wide, double *room)
{
    for (int form = 0; form < 4; form++) {
        blas_matrix a = fill(room, wide, ROWS, INNER, 1, form & 1);
        blas_matrix x = fill(room + ROWS * INNER, wide, INNER, COLUMNS, 2, form >> 1);
        blas_matrix c = {room + (ROWS + COLUMNS) * INNER, COLUMNS, 0};
        blas_product(b, wide, &c, &a, &x, ROWS, COLUMNS, INNER);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < COLUMNS; j++)
                if (!element_is_right(&c, wide, i, j, INNER))
                    return 0;
    }
    return 1;
}

/* ---- A solution ------------------------------------------------------------------------------ */

#define ORDER 150

static int solution_is_right(blas *b, int wide, int32_t threads, double *room)
{
    static int pivots[ORDER];
    const blas_lapack *lapack = blas_lapack_of(b, wide);
    double *right = room + ORDER * ORDER, worst = 0.0;
    int n = ORDER, one = 1, info = 0;
    if (!lapack)
        return 1;
    /* Solved for x = 1, 2, ..., with a large diagonal: no digits are lost to the problem itself. */
    for (int64_t i = 0; i < ORDER; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < ORDER; j++) {
            double a = number(i, j, 1) + (i == j ? 4.0 * ORDER : 0.0);
            put(room, wide, j * ORDER + i, a);
            sum += a * (double)(j + 1);
        }
        put(right, wide, i, sum);
    }
    blas_use use;
    blas_enter(b, &use, threads);
    lapack->getrf(&n, &n, room, &n, pivots, &info);
    if (info == 0)
        lapack->getrs("N", &n, &one, room, &n, pivots, right, &n, &info, 1);
    blas_leave(b, &use);
    for (int64_t i = 0; i < ORDER; i++)
        worst = fmax(worst, fabs(get(right, wide, i) - (double)(i + 1)));
    return info == 0 && worst < (wide ? 1e-9 : 1e-2);
}

/* ---- Speed ----------------------------------------------------------------------------------- */

#define SIZE 384        /* fits the second cache with room, so that the kernel is what is timed */
#define MOST_THREADS 16 /* of the trial: what there is to compare shows on them */
#define SECONDS 0.01
#define LEAST_TIMES 3

typedef struct race {
    const blas *b;
    int wide;
    void *room[MOST_THREADS];
    double best[MOST_THREADS]; /* seconds of a product */
} race;

static blas_matrix place(const race *r, int64_t item, int64_t which)
{
    int64_t bytes = (int64_t)SIZE * SIZE * (r->wide ? 8 : 4);
    return (blas_matrix){(char *)r->room[item] + which * bytes, SIZE, 0};
}

static void prepare(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const race *r = argument;
    (void)thread;
    for (int64_t item = begin; item < end; item++) {
        fill(place(r, item, 0).at, r->wide, SIZE, SIZE, 1, 0);
        fill(place(r, item, 1).at, r->wide, SIZE, SIZE, 2, 0);
    }
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In time of the thread: others on the machine must not decide which core is the faster. */
static void multiply(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    race *r = argument;
    (void)thread;
    for (int64_t item = begin; item < end; item++) {
        blas_matrix a = place(r, item, 0), x = place(r, item, 1), c = place(r, item, 2);
        double start = seconds(CLOCK_THREAD_CPUTIME_ID);
        blas_product(r->b, r->wide, &c, &a, &x, SIZE, SIZE, SIZE);
        r->best[item] = fmin(r->best[item], seconds(CLOCK_THREAD_CPUTIME_ID) - start);
    }
}

/* 0.0: a product was wrong. */
static double race_gflops(race *r, int32_t threads)
{
    double start = seconds(CLOCK_MONOTONIC), gflops = 0.0;
    for (int32_t item = 0; item < threads; item++)
        r->best[item] = INFINITY;
    team_run(threads, threads, 1, prepare, r);
    for (int times = 0; times < LEAST_TIMES || seconds(CLOCK_MONOTONIC) - start < SECONDS; times++)
        team_run(threads, threads, 1, multiply, r);
    for (int32_t item = 0; item < threads; item++) {
        blas_matrix c = place(r, item, 2);
        for (int64_t i = 0; i < SIZE; i += 13)
            if (!element_is_right(&c, r->wide, i, (i * 29 + 5) % SIZE, SIZE))
                return 0.0;
        gflops += 2e-9 * (double)SIZE * SIZE * SIZE / r->best[item];
    }
    return gflops;
}

/* ---- The trial ------------------------------------------------------------------------------- */

void blas_describe(blas *b, blas_trial_result *result)
{
    result->fine = 1;
    (void)snprintf(result->config, sizeof result->config, "%s", blas_config(b));
    (void)snprintf(result->core, sizeof result->core, "%s", blas_core(b));
    blas_path(b, result->path, sizeof result->path);
}

static const char *judge(blas *b, int32_t threads, blas_trial_result *result)
{
    race r = {.b = b};
    const char *why = NULL;
    for (int32_t i = 0; i < threads; i++) {
        r.room[i] = aligned_alloc(64, 3 * sizeof(double) * SIZE * SIZE);
        why = r.room[i] ? why : "no memory to try it";
    }
    for (int wide = 0; wide < 2 && !why; wide++) {
        blas_use use;
        r.wide = wide;
        blas_enter(b, &use, 1);
        if (!products_are_right(b, wide, r.room[0]))
            why = "its products of matrices are wrong";
        else
            result->gflops[wide] = race_gflops(&r, threads);
        blas_leave(b, &use);
        if (!why && result->gflops[wide] == 0.0)
            why = "its larger products of matrices are wrong";
        if (!why && !solution_is_right(b, wide, threads, r.room[0]))
            why = "its solution of linear equations is wrong";
    }
    for (int32_t i = 0; i < threads; i++)
        free(r.room[i]);
    return why;
}

void blas_trial(void *argument, void *result)
{
    const blas_trial_case *tried = argument;
    blas_trial_result *found = result;
    int32_t threads = tried->threads < MOST_THREADS ? tried->threads : MOST_THREADS;
    const char *why = NULL;
    blas_settle(&tried->settings);
    blas *b = blas_open(&why);
    if (b) {
        blas_describe(b, found);
        why = judge(b, threads, found);
    }
    found->fine = !why;
    (void)snprintf(found->why, sizeof found->why, "%s", why ? why : "");
}
