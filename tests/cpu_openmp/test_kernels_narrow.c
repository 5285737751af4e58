/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of narrow types by the kernels of every level that this CPU supports, also by kernels
 * that cpu_openmp does not select because the CPU has better instructions.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "shared/host/util/half.h"
#include "cpu_openmp/linalg/kernel_narrow.h"

extern const narrow_kernels narrow_v2, narrow_v3, narrow_v4, narrow_v4_vnni, narrow_v4_bf16;

/* Larger than every block, with partial tiles and groups. */
enum { ROWS = 401, COLUMNS = 37, INNER = 1099 };

static uint16_t a[ROWS * INNER], b[INNER * COLUMNS];
static uint32_t c[ROWS * COLUMNS];
static double a_values[ROWS * INNER], b_values[INNER * COLUMNS];
static void *scratch;

static double value(const void *from, collet_dtype dtype, int64_t i)
{
    if (dtype == COLLET_I8)
        return ((const int8_t *)from)[i];
    uint16_t bits = ((const uint16_t *)from)[i];
    return dtype == COLLET_F16 ? cpu_f16_to(bits) : cpu_bf16_to(bits);
}

/* Multiples of 1/8 below 4: products and sums are exact in f32, so all kernels give the same bits.
 */
static void fill(void *to, double *values, collet_dtype dtype, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t x = i * 7919 % 1009 % 63 - 31;
        if (dtype == COLLET_I8)
            ((int8_t *)to)[i] = (int8_t)(i * 7919 % 1009 % 256 - 128);
        else
            ((uint16_t *)to)[i] = dtype == COLLET_F16 ? cpu_f16_from((double)x / 8.0)
                                                      : cpu_bf16_from((double)x / 8.0);
        values[i] = value(to, dtype, i);
    }
}

static uint32_t rounded(double sum, collet_dtype to)
{
    float f = (float)sum;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return to == COLLET_I32   ? (uint32_t)(int64_t)sum
           : to == COLLET_F16 ? cpu_f16_from(sum)
           : to == COLLET_F32 ? bits
                              : cpu_bf16_from(sum);
}

static void check(const char *level, const narrow_kernels *kernels, collet_dtype from,
                  collet_dtype to, int transposed)
{
    gemm_matrix left = {(char *)a, transposed ? 1 : INNER, transposed ? ROWS : 1};
    gemm_matrix right = {(char *)b, transposed ? 1 : COLUMNS, transposed ? INNER : 1};
    gemm_matrix out = {(char *)c, COLUMNS, 1};
    int narrow = to == COLLET_F16 || to == COLLET_BF16;
    fill(a, a_values, from, ROWS * INNER);
    fill(b, b_values, from, INNER * COLUMNS);
    memset(c, 0xff, sizeof c);
    kernels->product(&out, to, &left, &right, from, ROWS, COLUMNS, INNER, scratch);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLUMNS; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < INNER; k++)
                sum += a_values[i * left.row + k * left.column] *
                       b_values[k * right.row + j * right.column];
            int64_t at = i * COLUMNS + j;
            uint32_t got = narrow ? ((const uint16_t *)(const void *)c)[at] : c[at];
            if (got != rounded(sum, to))
                fail_msg("%s, dtypes %d to %d%s: [%d,%d] is 0x%x, not 0x%x", level, (int)from,
                         (int)to, transposed ? ", transposed" : "", (int)i, (int)j, got,
                         rounded(sum, to));
        }
    }
}

static void check_level(const char *level, const narrow_kernels *kernels)
{
    scratch = aligned_alloc(64, (kernels->scratch_bytes + 63) / 64 * 64);
    assert_non_null(scratch);
    for (int transposed = 0; transposed < 2; transposed++) {
        check(level, kernels, COLLET_I8, COLLET_I32, transposed);
        check(level, kernels, COLLET_BF16, COLLET_F32, transposed);
        check(level, kernels, COLLET_BF16, COLLET_BF16, transposed);
        check(level, kernels, COLLET_F16, COLLET_F32, transposed);
        check(level, kernels, COLLET_F16, COLLET_F16, transposed);
    }
    free(scratch);
}

static void test_every_level(void **state)
{
    (void)state;
    if (__builtin_cpu_supports("sse4.2"))
        check_level("v2", &narrow_v2);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        check_level("v3", &narrow_v3);
    int v4 = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq");
    if (v4)
        check_level("v4", &narrow_v4);
    if (v4 && __builtin_cpu_supports("avx512vnni"))
        check_level("v4 with VNNI", &narrow_v4_vnni);
    if (v4 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16"))
        check_level("v4 with BF16", &narrow_v4_bf16);
}

/* The bf16 instruction flushes subnormal factors to 0; the kernel must not. */
static void test_subnormal_factor(void **state)
{
    (void)state;
    uint16_t smallest[2] = {1, 0}, large[2] = {0x7f00, 0};
    float out = 0.0f;
    gemm_matrix x = {(char *)smallest, 1, 1}, y = {(char *)large, 1, 1}, z = {(char *)&out, 1, 1};
    const narrow_kernels *best =
        __builtin_cpu_supports("avx512bf16") ? &narrow_v4_bf16 : &narrow_v2;
    assert_true(best->any_subnormal_bf16(smallest, 2) && !best->any_subnormal_bf16(large, 2));
    scratch = aligned_alloc(64, (best->scratch_bytes + 63) / 64 * 64);
    assert_non_null(scratch);
    best->product(&z, COLLET_F32, &x, &y, COLLET_BF16, 1, 1, 1, scratch);
    free(scratch);
    assert_true(out == 0x1p-6f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_level),
        cmocka_unit_test(test_subnormal_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
