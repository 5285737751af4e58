/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two contexts on two threads take about as long concurrently as one after the other, and neither context is favoured.
 * Other programs disturb the times, so one good attempt of several suffices.
 */

#include <pthread.h>
#include <stdatomic.h>

#include <collet/collet.h>
#include <collet/ops.h>
#include <collet/ops.h>
#include <collet/ops.h>

#include "common/test.h"

#define ATTEMPTS 10
#define ROUNDS 9
#define LONGEST 1.3   /* largest concurrent time, relative to the time of one caller after the other */
#define SMALLEST 0.35 /* smallest share of the calls of either context */
#define WINDOW 0.3    /* seconds in which calls are counted */

typedef struct caller {
    collet_context *cx;
    collet_array *narrow, *wide, *sum, *signal, *spectrum, *a, *c, *u, *s, *v, *info;
    int64_t series;
} caller;

static _Atomic int stop;

/* ---- Calls ----------------------------------------------------------------------------------- */

static collet_array *make(caller *c, collet_dtype dtype, int32_t ndim, int64_t m, int64_t n)
{
    collet_array *array = NULL;
    assert_int_equal(COLLET_OK,
                     collet_array_create(c->cx, &array, dtype, ndim, (const int64_t[]){m, n}));
    return array;
}

static void begin_caller(caller *c, collet_runtime *rt)
{
    *c = (caller){.cx = NULL};
    assert_int_equal(COLLET_OK, collet_context_create(rt, &c->cx, NULL));
    c->narrow = make(c, COLLET_F32, 1, 1 << 14, 0);
    c->wide = make(c, COLLET_F32, 1, 1 << 18, 0);
    c->sum = make(c, COLLET_F32, 0, 0, 0);
    c->signal = make(c, COLLET_C64, 1, 1 << 14, 0);
    c->spectrum = make(c, COLLET_C64, 1, 1 << 14, 0);
    c->a = make(c, COLLET_F64, 2, 64, 64);
    c->c = make(c, COLLET_F64, 2, 64, 64);
    c->u = make(c, COLLET_F64, 2, 64, 64);
    c->v = make(c, COLLET_F64, 2, 64, 64);
    c->s = make(c, COLLET_F64, 1, 64, 0);
    c->info = make(c, COLLET_I32, 0, 0, 0);
    const collet_scalar zero = {.dtype = COLLET_F64};
    collet_array *const filled[] = {c->narrow, c->wide, c->signal};
    for (int i = 0; i < 3; i++)
        assert_int_equal(COLLET_OK, collet_op_fill(c->cx, filled[i], &zero));
    assert_int_equal(COLLET_OK, collet_op_normal(c->cx, c->a, 1, 0));
}

static void end_caller(caller *c)
{
    collet_array *const all[] = {c->narrow, c->wide, c->sum, c->signal, c->spectrum, c->a,
                                 c->c,      c->u,    c->s,   c->v,      c->info};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        collet_array_destroy(all[i]);
    collet_context_destroy(c->cx);
}

/* Small and large calls of several kinds. */
static void call_series(caller *c)
{
    collet_status status = COLLET_OK;
    for (int i = 0; i < 10; i++)
        status |= collet_op_tanh(c->cx, c->narrow, c->narrow);
    for (int i = 0; i < 2; i++)
        status |= collet_op_tanh(c->cx, c->wide, c->wide) |
                  collet_op_sum(c->cx, c->sum, c->wide, NULL, 0, 0) |
                  collet_op_fft(c->cx, c->spectrum, c->signal, 1, 0) |
                  collet_op_matmul(c->cx, c->c, c->a, c->a);
    status |= collet_op_svd(c->cx, c->u, c->s, c->v, c->info, c->a);
    assert_int_equal(COLLET_OK, status);
    c->series++;
}

static void *call_until_stopped(void *argument)
{
    caller *c = argument;
    while (!atomic_load(&stop))
        call_series(c);
    return NULL;
}

static void *call_some(void *argument)
{
    for (int i = 0; i < 4; i++)
        call_series(argument);
    return NULL;
}

/* ---- Attempts -------------------------------------------------------------------------------- */

static void run_together(caller *two, void *(*body)(void *), double seconds)
{
    pthread_t threads[2];
    atomic_store(&stop, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, body, &two[i]));
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The concurrent time divided by the time of one caller after the other: the median of the rounds. */
static double time_together(caller *two)
{
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double begin = test_seconds(CLOCK_MONOTONIC);
        call_some(&two[0]);
        call_some(&two[1]);
        double between = test_seconds(CLOCK_MONOTONIC);
        run_together(two, call_some, 0);
        ratios[i] = (test_seconds(CLOCK_MONOTONIC) - between) / (between - begin);
    }
    qsort(ratios, ROUNDS, sizeof *ratios, by_value);
    return ratios[ROUNDS / 2];
}

/* Two callers run series of calls for a while. Returns the share of all completed series that the slower caller
 * completed. */
static double smaller_share(caller *two)
{
    two[0].series = two[1].series = 0;
    run_together(two, call_until_stopped, WINDOW);
    int64_t smaller = two[0].series < two[1].series ? two[0].series : two[1].series;
    int64_t sum = two[0].series + two[1].series;
    return sum > 0 ? (double)smaller / (double)sum : 0;
}

TEST(test_two_contexts)
{
    collet_runtime *rt = NULL;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS "/cpu_openmp.so",
                                      .backend = "cpu_openmp"};
    caller two[2];
    double ratio = 0, share = 0;
    assert_int_equal(COLLET_OK, collet_runtime_create(&rt, &options, NULL));
    for (int i = 0; i < 2; i++)
        begin_caller(&two[i], rt);
    call_some(&two[0]);
    for (int i = 0; i < ATTEMPTS && !(ratio > 0 && ratio <= LONGEST); i++)
        ratio = time_together(two);
    for (int i = 0; i < ATTEMPTS && share < SMALLEST; i++)
        share = smaller_share(two);
    print_message("together %.2f of the time of one after the other, the smaller share %.2f\n",
                  ratio, share);
    assert_true(ratio <= LONGEST);
    assert_true(share >= SMALLEST);
    for (int i = 0; i < 2; i++)
        end_caller(&two[i]);
    collet_runtime_destroy(rt);
}
