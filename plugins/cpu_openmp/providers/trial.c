/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu_openmp/runtime/team.h"

/* ---- Elements -------------------------------------------------------------------------------- */

static const int64_t out_bytes[TRIAL_TYPES] = {4, 8, 4, 4};

double trial_number(int64_t i, int64_t j, int64_t seed)
{
    return (double)((i * 7 + j * 13 + i * j * 3 + seed) % 9 - 4);
}

/* int8 uses its whole range: some instructions add pairs of products in 16 bits. */
static double element(trial_type type, int64_t i, int64_t j, int64_t seed)
{
    if (type == TRIAL_I8)
        return (double)((i * 37 + j * 101 + i * j * 7 + seed * 11) % 256 - 128);
    return trial_number(i, j, seed);
}

static void put(void *at, trial_type type, int64_t index, double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (type == TRIAL_F32)
        ((float *)at)[index] = narrow;
    else if (type == TRIAL_F64)
        ((double *)at)[index] = value;
    else if (type == TRIAL_BF16)
        ((uint16_t *)at)[index] = (uint16_t)(bits >> 16); /* exact for small whole numbers */
    else
        ((int8_t *)at)[index] = (int8_t)value;
}

static double result(const void *at, trial_type type, int64_t index)
{
    if (type == TRIAL_F64)
        return ((const double *)at)[index];
    return type == TRIAL_I8 ? ((const int32_t *)at)[index] : (double)((const float *)at)[index];
}

/* rows x columns elements, row-major or transposed. */
static blas_matrix fill(void *at, trial_type type, int64_t rows, int64_t columns, int64_t seed,
                        int transposed)
{
    int64_t stride = transposed ? rows : columns;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            put(at, type, transposed ? j * stride + i : i * stride + j, element(type, i, j, seed));
    return (blas_matrix){at, stride, transposed};
}

static int is_right(const blas_matrix *c, trial_type type, int64_t i, int64_t j, int64_t inner)
{
    double sum = 0.0;
    for (int64_t k = 0; k < inner; k++)
        sum += element(type, i, k, 1) * element(type, k, j, 2);
    return result(c->at, type, i * c->stride + j) == sum;
}

/* ---- Right ----------------------------------------------------------------------------------- */

/* Extents that end in the middle of every kernel's tiles. */
#define ROWS 67
#define COLUMNS 45
#define INNER 129

static const char *check(trial_product product, void *context, trial_type type, char *room)
{
    for (int form = 0; form < 4; form++) {
        blas_matrix a = fill(room, type, ROWS, INNER, 1, form & 1);
        blas_matrix b = fill(room + 8 * ROWS * INNER, type, INNER, COLUMNS, 2, form >> 1);
        blas_matrix c = {room + 8 * (ROWS + COLUMNS) * INNER, COLUMNS, 0};
        if (!product(context, type, &c, &a, &b, ROWS, COLUMNS, INNER))
            return "it declines a product of matrices";
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < COLUMNS; j++)
                if (!is_right(&c, type, i, j, INNER))
                    return "its products of matrices are wrong";
    }
    return NULL;
}

/* ---- Fast ------------------------------------------------------------------------------------ */

#define SIZE 384        /* larger than caches of a core, small enough to be tried often */
#define MOST_THREADS 16 /* what there is to compare shows on them */
/* With a second trial of each library long enough for a processor that was idle to come up to its
 * clock: what is remembered until the next boot must not be what the first milliseconds gave. */
#define SECONDS 0.015
#define LEAST_TIMES 3
#define ROOM (3 * 8 * SIZE * SIZE)

typedef struct race {
    trial_product product;
    void *context;
    trial_type type;
    char *room[MOST_THREADS];
    double best[MOST_THREADS]; /* seconds of a product */
} race;

static blas_matrix place(const race *r, int64_t item, int64_t which)
{
    return (blas_matrix){r->room[item] + which * 8 * SIZE * SIZE, SIZE, 0};
}

static void prepare(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    race *r = argument;
    (void)thread;
    for (int64_t item = begin; item < end; item++) {
        r->best[item] = INFINITY;
        fill(place(r, item, 0).at, r->type, SIZE, SIZE, 1, 0);
        fill(place(r, item, 1).at, r->type, SIZE, SIZE, 2, 0);
        memset(place(r, item, 2).at, 0, (size_t)(out_bytes[r->type] * SIZE * SIZE));
    }
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void multiply(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    race *r = argument;
    (void)thread;
    for (int64_t item = begin; item < end; item++) {
        blas_matrix a = place(r, item, 0), b = place(r, item, 1), c = place(r, item, 2);
        double start = seconds(CLOCK_THREAD_CPUTIME_ID);
        (void)r->product(r->context, r->type, &c, &a, &b, SIZE, SIZE, SIZE);
        r->best[item] = fmin(r->best[item], seconds(CLOCK_THREAD_CPUTIME_ID) - start);
    }
}

static const char *run_race(race *r, int32_t threads, double *gflops)
{
    double start = seconds(CLOCK_MONOTONIC);
    *gflops = 0.0;
    team_run(threads, threads, 1, prepare, r);
    for (int times = 0; times < LEAST_TIMES || seconds(CLOCK_MONOTONIC) - start < SECONDS; times++)
        team_run(threads, threads, 1, multiply, r);
    for (int32_t item = 0; item < threads; item++) {
        blas_matrix c = place(r, item, 2);
        for (int64_t i = 0; i < SIZE; i += 13)
            if (!is_right(&c, r->type, i, (i * 29 + 5) % SIZE, SIZE))
                return "its larger products of matrices are wrong";
        *gflops += 2e-9 * (double)SIZE * SIZE * SIZE / r->best[item];
    }
    return NULL;
}

const char *trial_run(trial_product product, void *context, trial_type type, int32_t threads,
                      double *gflops)
{
    race r = {.product = product, .context = context, .type = type};
    const char *why = NULL;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    for (int32_t i = 0; i < threads; i++) {
        r.room[i] = aligned_alloc(64, ROOM);
        why = r.room[i] ? why : "no memory to try it";
    }
    why = why ? why : check(product, context, type, r.room[0]);
    why = why ? why : run_race(&r, threads, gflops);
    for (int32_t i = 0; i < threads; i++)
        free(r.room[i]);
    return why;
}
