/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs larger than the caches, which cpu_openmp writes with non-temporal stores: every
 * elementwise op gives the same bits as in parts that fit the caches, at any alignment, with
 * special arguments among others. And inputs whose columns are reduced in wide tiles, with a
 * partial last one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#define KERNEL_PLUGIN "cpu_openmp"
#include "common/kernel_call.h"

#define PART 30011
#define MOST_BYTES ((int64_t)256 << 20)

typedef struct memory {
    char *whole, *parts, *a, *b; /* `bytes` each */
    int64_t bytes;               /* more than the largest cache */
} memory;

static memory m;

static int open_memory(void **state)
{
    /* In KiB, as sysfs reports it; the plugin's default is 8 MiB. */
    long long cache = 8 << 10;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
    if (file && fscanf(file, "%lldK", &cache) != 1)
        cache = 8 << 10;
    if (file)
        fclose(file);
    m.bytes = (cache << 10) + (1 << 20);
    if (m.bytes <= MOST_BYTES) {
        m.whole = malloc((size_t)m.bytes + 64);
        m.parts = malloc((size_t)m.bytes + 64);
        m.a = malloc((size_t)m.bytes + 64);
        m.b = malloc((size_t)m.bytes + 64);
        if (!m.whole || !m.parts || !m.a || !m.b)
            return -1;
    }
    return open_plugin(state);
}

static int close_memory(void **state)
{
    free(m.whole);
    free(m.parts);
    free(m.a);
    free(m.b);
    return close_plugin(state);
}

/* Numbers between 1/2 and 2, with occasional ones that the fast path does not support. */
static double number(int64_t i)
{
    static const double odd[] = {0,          -0.0, -3, 1e-320, 1e7, 300, -800, (double)INFINITY,
                                 (double)NAN};
    if (i % 70001 == 0)
        return odd[i / 70001 % 9];
    return 0.5 + (double)(i * 48271 % 65521) / 43681;
}

static void fill_numbers(char *at, collet_dtype dtype, int64_t n, int64_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        double x = number(i + seed);
        if (dtype == COLLET_F32)
            ((float *)(void *)at)[i] = (float)x;
        else
            ((double *)(void *)at)[i] = x;
    }
}

typedef struct operation {
    uint32_t op, inputs;
} operation;

/* `repeated`: the input that is a single number; 0: none. */
static void run_part(const operation *o, collet_dtype dtype, char *out, int64_t first, int64_t n,
                     uint32_t repeated)
{
    int64_t size = dtype == COLLET_F32 ? 4 : 8, adjacent, none = 0;
    const collet_axpy_params axpy = {sizeof axpy, 0, {.value.f64 = 1.7, .dtype = COLLET_F64}};
    int has = o->op == COLLET_OP_AXPY;
    collet_operand operands[3] = {dense(out + first * size, dtype, 1, &n, &adjacent)};
    for (uint32_t k = 1; k <= o->inputs; k++) {
        char *in = (k == 1 ? m.a : m.b) + (repeated == k ? 5 : first) * size;
        operands[k] = dense(in, dtype, 1, &n, &adjacent);
        if (repeated == k)
            operands[k].strides = &none;
    }
    assert_int_equal(COLLET_OK, call_status(o->op, 1, 1 + o->inputs, operands, has ? &axpy : NULL,
                                            has ? sizeof axpy : 0));
}

static void compare(const operation *o, collet_dtype dtype, uint32_t repeated)
{
    int64_t size = dtype == COLLET_F32 ? 4 : 8, n = m.bytes / size - 7;
    int64_t start = 3 - repeated;
    run_part(o, dtype, m.whole, start, n, repeated);
    for (int64_t i = 0; i < n; i += PART)
        run_part(o, dtype, m.parts, start + i, n - i < PART ? n - i : PART, repeated);
    int64_t i = start, end = start + n;
    if (memcmp(m.whole + i * size, m.parts + i * size, (size_t)(n * size)) == 0)
        return;
    while (i < end && memcmp(m.whole + i * size, m.parts + i * size, (size_t)size) == 0)
        i++;
    fail_msg("op %u, %d bytes, input %u repeated: element %lld differs", o->op, (int)size, repeated,
             (long long)i);
}

static void test_large_as_in_parts(void **state)
{
    static const operation operations[] = {
        {COLLET_OP_ADD, 2},  {COLLET_OP_SUB, 2},  {COLLET_OP_MUL, 2}, {COLLET_OP_DIV, 2},
        {COLLET_OP_AXPY, 2}, {COLLET_OP_NEG, 1},  {COLLET_OP_ABS, 1}, {COLLET_OP_EXP, 1},
        {COLLET_OP_LOG, 1},  {COLLET_OP_SQRT, 1}, {COLLET_OP_SIN, 1}, {COLLET_OP_COS, 1},
        {COLLET_OP_TANH, 1}};
    (void)state;
    if (!m.whole)
        skip();
    for (collet_dtype dtype = COLLET_F32; dtype <= COLLET_F64; dtype++) {
        int64_t n = m.bytes / (dtype == COLLET_F32 ? 4 : 8);
        fill_numbers(m.a, dtype, n, 0);
        fill_numbers(m.b, dtype, n, 1234567);
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
            for (uint32_t repeated = 0; repeated <= (operations[i].inputs == 2 ? 2u : 0u);
                 repeated++)
                compare(&operations[i], dtype, repeated);
    }
}

/* ---- Columns --------------------------------------------------------------------------------- */

#define ROWS ((int64_t)2101)
#define COLUMNS ((int64_t)4099)

/* Integers: sums are exact in any order. */
static int64_t whole(int64_t row, int64_t column)
{
    return (row * 48271 + column * 16807) % 65521 - 32000;
}

static void expect_columns(uint32_t op, const int64_t *expected, float *in, double *sums,
                           float *reduced)
{
    const collet_reduce_params rows = {sizeof rows, 1, 0, 0};
    const int64_t shape[] = {ROWS, COLUMNS}, width = COLUMNS;
    int64_t in_strides[2], out_stride;
    int wide = op == COLLET_OP_SUM;
    collet_operand operands[2] = {dense(wide ? (void *)sums : (void *)reduced,
                                        wide ? COLLET_F64 : COLLET_F32, 1, &width, &out_stride),
                                  dense(in, COLLET_F32, 2, shape, in_strides)};
    assert_int_equal(COLLET_OK, call_status(op, 1, 2, operands, &rows, sizeof rows));
    for (int64_t j = 0; j < COLUMNS; j++) {
        double got = wide ? sums[j] : (double)reduced[j];
        if (got != (double)expected[j])
            fail_msg("op %u: column %lld is %g, not %lld", op, (long long)j, got,
                     (long long)expected[j]);
    }
}

static void test_large_columns(void **state)
{
    float *in = malloc((size_t)(ROWS * COLUMNS) * sizeof *in),
          *reduced = malloc(COLUMNS * sizeof *reduced);
    double *sums = malloc(COLUMNS * sizeof *sums);
    int64_t *expected = calloc(3 * COLUMNS, sizeof *expected), *low = expected + COLUMNS,
            *high = low + COLUMNS;
    (void)state;
    assert_true(in && reduced && sums && expected);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLUMNS; j++) {
            int64_t x = whole(i, j);
            in[i * COLUMNS + j] = (float)x;
            expected[j] += x;
            low[j] = i == 0 || x < low[j] ? x : low[j];
            high[j] = i == 0 || x > high[j] ? x : high[j];
        }
    }
    expect_columns(COLLET_OP_SUM, expected, in, sums, reduced);
    expect_columns(COLLET_OP_MIN, low, in, sums, reduced);
    expect_columns(COLLET_OP_MAX, high, in, sums, reduced);
    free(in);
    free(reduced);
    free(sums);
    free(expected);
}

static void test_large_transpose(void **state)
{
    const collet_transpose_params swap = {sizeof swap, 2, {1, 0}};
    const int64_t from[] = {ROWS, COLUMNS}, to[] = {COLUMNS, ROWS};
    int64_t from_strides[2], to_strides[2];
    size_t bytes = (size_t)(ROWS * COLUMNS) * sizeof(int32_t);
    int32_t *in = malloc(bytes), *out = calloc(1, bytes);
    (void)state;
    assert_true(in && out);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        in[i] = (int32_t)i + 1;
    const collet_operand operands[2] = {dense(out, COLLET_I32, 2, to, to_strides),
                                        dense(in, COLLET_I32, 2, from, from_strides)};
    assert_int_equal(COLLET_OK,
                     call_status(COLLET_OP_TRANSPOSE, 1, 2, operands, &swap, sizeof swap));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            assert_int_equal(in[i * COLUMNS + j], out[j * ROWS + i]);
    free(in);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_as_in_parts),
                                       cmocka_unit_test(test_large_columns),
                                       cmocka_unit_test(test_large_transpose)};
    host_threads = 2;
    return cmocka_run_group_tests_name("large arrays on cpu_openmp", tests, open_memory,
                                       close_memory);
}
