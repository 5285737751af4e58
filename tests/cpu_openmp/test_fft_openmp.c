/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of cpu_openmp's Fourier transforms that backend-check does not test: the same bits on
 * any number of threads and with concurrent callers, and trim.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <malloc.h>
#include <pthread.h>

#define KERNEL_PLUGIN "cpu_openmp"
#include "common/kernel_call.h"

enum { LENGTH = 3 * 5 * 7 * 11 * 13, PRIME = 4099, SIDE = 48, LINES = 33 };
enum { DEEP = 20, HIGH = 16, LONG = 36, VOLUME = DEEP * HIGH * LONG };

typedef struct results {
    double line[2 * LENGTH], prime[2 * PRIME], plane[2 * SIDE * SIDE], batch[2 * LINES * 100];
    float half[LENGTH + 1], volume[2 * VOLUME];
} results;

static double input[2 * 2 * LENGTH];
static float narrow[2 * LENGTH];

static void make_input(void)
{
    for (int64_t i = 0; i < 4 * LENGTH; i++)
        input[i] = (double)(i * 7919 % 100003) / 50000.0 - 1.0;
    for (int64_t i = 0; i < 2 * LENGTH; i++)
        narrow[i] = (float)input[i];
}

static void compute(results *out)
{
    const collet_fft_params one = {.struct_size = sizeof one, .last_axes = 1};
    const collet_fft_params back = {.struct_size = sizeof back, .last_axes = 2, .inverse = 1};
    const collet_fft_params deep = {.struct_size = sizeof deep, .last_axes = 3};
    CALL_WITH(FFT, 1, &one, sizeof one, ARRAY(out->line, C128, LENGTH), ARRAY(input, C128, LENGTH));
    CALL_WITH(FFT, 1, &one, sizeof one, ARRAY(out->prime, C128, PRIME), ARRAY(input, C128, PRIME));
    CALL_WITH(FFT, 1, &back, sizeof back, ARRAY(out->plane, C128, SIDE, SIDE),
              ARRAY(input, C128, SIDE, SIDE));
    CALL_WITH(FFT, 1, &one, sizeof one, ARRAY(out->batch, C128, LINES, 100),
              ARRAY(input, C128, LINES, 100));
    CALL_WITH(FFT, 1, &one, sizeof one, ARRAY(out->half, C64, LENGTH / 2 + 1),
              ARRAY(narrow, F32, LENGTH));
    CALL_WITH(FFT, 1, &deep, sizeof deep, ARRAY(out->volume, C64, DEEP, HIGH, LONG),
              ARRAY(narrow, C64, DEEP, HIGH, LONG));
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void reopen(int32_t threads)
{
    collet_error err;
    plugin->device_close(device);
    host_threads = threads;
    assert_int_equal(COLLET_OK, host_open(0, &device, &err));
}

static void test_same_bits_on_any_number_of_threads(void **state)
{
    static results one, more;
    (void)state;
    compute(&one);
    for (int32_t threads = 2; threads <= 7; threads += 5) {
        reopen(threads);
        memset(&more, 0, sizeof more);
        compute(&more);
        assert_memory_equal(&one, &more, sizeof one);
    }
    reopen(1);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

#define ROUNDS 40

static void *compute_often(void *argument)
{
    const results *expected = argument;
    results *got = malloc(sizeof *got);
    int *wrong = calloc(1, sizeof *wrong);
    for (int i = 0; i < ROUNDS && got && wrong; i++) {
        memset(got, 0, sizeof *got);
        compute(got);
        *wrong += memcmp(got, expected, sizeof *got) != 0;
    }
    free(got);
    return wrong;
}

/* While another thread trims. */
static void test_two_threads_at_once(void **state)
{
    static results expected;
    pthread_t others[2];
    (void)state;
    compute(&expected);
    reopen(2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(0, pthread_create(&others[i], NULL, compute_often, &expected));
    for (int i = 0; i < ROUNDS; i++)
        trim(device);
    for (int i = 0; i < 2; i++) {
        void *wrong = NULL;
        assert_int_equal(0, pthread_join(others[i], &wrong));
        assert_non_null(wrong);
        assert_int_equal(0, *(int *)wrong);
        free(wrong);
    }
    reopen(1);
}

static void test_trim_gives_plans_back(void **state)
{
    static results r;
    (void)state;
    trim(device);
    size_t before = mallinfo2().uordblks;
    if (before == 0)
        skip(); /* a sanitizer's malloc */
    compute(&r);
    size_t with_plans = mallinfo2().uordblks;
    compute(&r);
    /* Allocating and freeing workspaces changes the total by a few bytes. */
    assert_true(mallinfo2().uordblks < with_plans + 1000);
    assert_true(with_plans > before + 50000);
    trim(device);
    assert_true(mallinfo2().uordblks < before + 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_two_threads_at_once),
        cmocka_unit_test(test_trim_gives_plans_back),
    };
    make_input();
    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
