/* SPDX-License-Identifier: Apache-2.0 */
/* The reference kernels of array and linalg on hand-computed numbers, and the table of rows. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "common/kernel_call.h"

/* ---- array ------------------------------------------------------------------------------- */

static void test_elementwise(void **state)
{
    (void)state;
    double a[6] = {1, 2, 3, 4, 5, 6}, b[2] = {10, 100}, c[6];
    const int64_t shape[] = {2, 3}, reversed[] = {-3, -1}, repeated[] = {1, 0};
    collet_operand backwards = {a, 5 * sizeof *a, COLLET_F64, 2, shape, reversed};
    collet_operand columns = {b, 0, COLLET_F64, 2, shape, repeated};
    CALL(ADD, 1, ARRAY(c, F64, 2, 3), backwards, columns);
    EXPECT(c, 6, 0, 16, 15, 14, 103, 102, 101);
    CALL(SUB, 1, ARRAY(a, F64, 6), ARRAY(a, F64, 6), ARRAY(a, F64, 6));
    EXPECT(a, 6, 0, 0, 0, 0, 0, 0, 0);
    CALL(MUL, 1, ARRAY(c, F64, 0), ARRAY(a, F64, 0), ARRAY(a, F64, 0));
    float x[4] = {1, -1, 0, 6}, y[4] = {0, 0, 0, 3}, z[4];
    CALL(DIV, 1, ARRAY(z, F32, 4), ARRAY(x, F32, 4), ARRAY(y, F32, 4));
    EXPECT(((double[]){(double)z[0], (double)z[1], (double)z[2], (double)z[3]}), 4, 0, INFINITY,
           -INFINITY, NAN, 2);
}

static void test_functions_at_their_edges(void **state)
{
    (void)state;
    double x[5] = {0, -INFINITY, 1000, NAN, 1}, y[5];
    CALL(EXP, 1, ARRAY(y, F64, 5), ARRAY(x, F64, 5));
    EXPECT(y, 5, 0, 1, 0, INFINITY, NAN, 2.718281828459045);
    double l[5] = {0, -1, INFINITY, NAN, 1};
    CALL(LOG, 1, ARRAY(y, F64, 5), ARRAY(l, F64, 5));
    EXPECT(y, 5, 0, -INFINITY, NAN, INFINITY, NAN, 0);
    double s[5] = {-0.0, -1, INFINITY, 2, 4};
    CALL(SQRT, 1, ARRAY(y, F64, 5), ARRAY(s, F64, 5));
    EXPECT(y, 5, 0, 0, NAN, INFINITY, 1.4142135623730951, 2);
    assert_true(signbit(y[0]));
    float f[2] = {88.0f, 89.0f}, g[2];
    CALL(EXP, 1, ARRAY(g, F32, 2), ARRAY(f, F32, 2));
    assert_true(g[0] == 1.6516363e38f && isinf(g[1]));
}

static void test_fill_converts(void **state)
{
    (void)state;
    int8_t small[3] = {0};
    collet_fill_params params = {.struct_size = sizeof params,
                                 .value = {.value.f64 = -300.7, .dtype = COLLET_F64}};
    CALL_WITH(FILL, 1, &params, sizeof params, ARRAY(small, I8, 3));
    assert_int_equal(-128, small[2]);
    collet_c64 z[2] = {{9, 9}, {9, 9}};
    CALL_WITH(FILL, 1, &params, sizeof params, ARRAY(z, C64, 2));
    assert_true(z[1].re == -300.7f && z[1].im == 0.0f);
    params.value = (collet_scalar){.value.c128 = {1, 2}, .dtype = COLLET_C128};
    CALL_WITH(FILL, 1, &params, sizeof params, ARRAY(z, C64, 2));
    assert_true(z[0].re == 1.0f && z[0].im == 2.0f);
}

static void test_copy_to_integers(void **state)
{
    (void)state;
    double x[6] = {NAN, -1.9, 1.9, 1e30, -INFINITY, 127.5};
    int8_t a[6];
    uint64_t u[6];
    int64_t l[6];
    CALL(COPY, 1, ARRAY(a, I8, 6), ARRAY(x, F64, 6));
    CALL(COPY, 1, ARRAY(u, U64, 6), ARRAY(x, F64, 6));
    CALL(COPY, 1, ARRAY(l, I64, 6), ARRAY(x, F64, 6));
    const int8_t want_a[6] = {0, -1, 1, 127, -128, 127};
    const uint64_t want_u[6] = {0, 0, 1, UINT64_MAX, 0, 127};
    const int64_t want_l[6] = {0, -1, 1, INT64_MAX, INT64_MIN, 127};
    assert_memory_equal(want_a, a, sizeof a);
    assert_memory_equal(want_u, u, sizeof u);
    assert_memory_equal(want_l, l, sizeof l);
    int64_t wide[4] = {INT64_MIN, -1, 255, INT64_MAX};
    uint8_t narrow[4];
    CALL(COPY, 1, ARRAY(narrow, U8, 4), ARRAY(wide, I64, 4));
    assert_memory_equal(((uint8_t[]){0, 0, 255, 255}), narrow, 4);
}

static void test_copy_rounds_once(void **state)
{
    (void)state;
    /* Just above the tie between 1 and the next f16: rounding to f32 first would make it a tie. */
    double x[7] = {1.0 + 0x1p-11 + 0x1p-40, 65519.99, 65520, 0x1p-25, 0x1.8p-25, -0.0, NAN};
    uint16_t h[7];
    CALL(COPY, 1, ARRAY(h, F16, 7), ARRAY(x, F64, 7));
    assert_memory_equal(((uint16_t[]){0x3c01, 0x7bff, 0x7c00, 0, 1, 0x8000, 0x7e00}), h, sizeof h);
    int64_t tie[2] = {(0x101ll << 54) + 1, 0x101ll << 54};
    uint16_t b[2];
    float back[2];
    CALL(COPY, 1, ARRAY(b, BF16, 2), ARRAY(tie, I64, 2));
    CALL(COPY, 1, ARRAY(back, F32, 2), ARRAY(b, BF16, 2));
    assert_true(back[0] == 0x1.02p62f && back[1] == 0x1p62f);
    collet_c128 z[2] = {{1, 2}, {3, 4}};
    collet_c64 swapped[2];
    const int64_t two = 2, backwards = -1;
    collet_operand reversed = {z, sizeof z[0], COLLET_C128, 1, &two, &backwards};
    CALL(COPY, 1, ARRAY(swapped, C64, 2), reversed);
    assert_true(swapped[0].re == 3 && swapped[0].im == 4 && swapped[1].im == 2);
}

static void test_transpose(void **state)
{
    (void)state;
    int32_t a[6] = {0, 1, 2, 3, 4, 5}, b[6];
    collet_transpose_params params = {sizeof params, 2, {1, 0}};
    CALL_WITH(TRANSPOSE, 1, &params, sizeof params, ARRAY(b, I32, 3, 2), ARRAY(a, I32, 2, 3));
    assert_memory_equal(((int32_t[]){0, 3, 1, 4, 2, 5}), b, sizeof b);
    int32_t cube[8] = {0, 1, 2, 3, 4, 5, 6, 7}, cycled[8];
    const collet_transpose_params cycle = {sizeof cycle, 3, {2, 0, 1}};
    CALL_WITH(TRANSPOSE, 1, &cycle, sizeof cycle, ARRAY(cycled, I32, 2, 2, 2),
              ARRAY(cube, I32, 2, 2, 2));
    assert_memory_equal(((int32_t[]){0, 2, 4, 6, 1, 3, 5, 7}), cycled, sizeof cycled);
    params.ndim = 0;
    CALL_WITH(TRANSPOSE, 1, &params, sizeof params, SCALAR(b, I32), SCALAR(a + 5, I32));
    assert_int_equal(5, b[0]);
}

static void test_sum(void **state)
{
    (void)state;
    double a[6] = {1e100, 1, 2, -1e100, 3, 4}, s[3];
    collet_reduce_params all = {.struct_size = sizeof all, .axes = 3};
    collet_reduce_params rows = {.struct_size = sizeof rows, .axes = 1};
    collet_reduce_params kept = {.struct_size = sizeof kept, .axes = 2, .keepdims = 1};
    CALL_WITH(SUM, 1, &all, sizeof all, SCALAR(s, F64), ARRAY(a, F64, 2, 3));
    EXPECT(s, 1, 0, 10);
    CALL_WITH(SUM, 1, &rows, sizeof rows, ARRAY(s, F64, 3), ARRAY(a, F64, 2, 3));
    EXPECT(s, 3, 0, 0, 4, 6);
    CALL_WITH(SUM, 1, &kept, sizeof kept, ARRAY(s, F64, 2, 1), ARRAY(a + 1, F64, 2, 1));
    EXPECT(s, 2, 0, 1, 2);
    CALL_WITH(SUM, 1, &rows, sizeof rows, ARRAY(s, F64, 3), ARRAY(a, F64, 0, 3));
    EXPECT(s, 3, 0, 0, 0, 0);
    a[0] = INFINITY;
    CALL_WITH(SUM, 1, &all, sizeof all, SCALAR(s, F64), ARRAY(a, F64, 2, 3));
    EXPECT(s, 1, 0, INFINITY);
    float big[3] = {16777216.0f, 1.0f, 1.0f}, total;
    CALL_WITH(SUM, 1, &rows, sizeof rows, SCALAR(&total, F32), ARRAY(big, F32, 3));
    assert_true(total == 16777218.0f);
}

/* ---- linalg ------------------------------------------------------------------------------ */

static void test_matmul(void **state)
{
    (void)state;
    double a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {7, 8, 9, 10, 11, 12}, c[8];
    CALL(MATMUL, 1, ARRAY(c, F64, 2, 2), ARRAY(a, F64, 2, 3), ARRAY(b, F64, 3, 2));
    EXPECT(c, 4, 0, 58, 64, 139, 154);
    const int64_t square[] = {2, 2}, strides[] = {1, 2};
    collet_operand transposed = {a, 0, COLLET_F64, 2, square, strides};
    CALL(MATMUL, 1, ARRAY(c, F64, 2, 2), transposed, ARRAY(b, F64, 2, 2));
    EXPECT(c, 4, 0, 34, 38, 50, 56);
    const int64_t batch[] = {2, 2, 2}, same[] = {0, 2, 1};
    collet_operand repeated = {a, 0, COLLET_F64, 3, batch, same};
    double two[8] = {1, 0, 0, 1, 2, 0, 0, 2};
    CALL(MATMUL, 1, ARRAY(c, F64, 2, 2, 2), repeated, ARRAY(two, F64, 2, 2, 2));
    EXPECT(c, 8, 0, 1, 2, 3, 4, 2, 4, 6, 8);
    CALL(MATMUL, 1, ARRAY(c, F64, 2, 2), ARRAY(a, F64, 2, 0), ARRAY(b, F64, 0, 2));
    EXPECT(c, 4, 0, 0, 0, 0, 0);
    float x[3] = {1e8f, 1, -1e8f}, ones[3] = {1, 1, 1}, sum;
    CALL(MATMUL, 1, ARRAY(&sum, F32, 1, 1), ARRAY(x, F32, 1, 3), ARRAY(ones, F32, 3, 1));
    assert_true(sum == 1.0f);
}

/* 2048 + 1 + 1 = 2050 in f16 only if the sum is rounded once; bf16 has 8 significant bits. */
static void test_matmul_of_narrow_types(void **state)
{
    (void)state;
    uint16_t h[3] = {0x6800, 0x3c00, 0x3c00}, h_one[3] = {0x3c00, 0x3c00, 0x3c00}, half;
    CALL(MATMUL, 1, ARRAY(&half, F16, 1, 1), ARRAY(h, F16, 1, 3), ARRAY(h_one, F16, 3, 1));
    assert_int_equal(0x6801, half);
    uint16_t big[2] = {0x7bff, 0x7bff};
    CALL(MATMUL, 1, ARRAY(&half, F16, 1, 1), ARRAY(big, F16, 1, 2), ARRAY(h_one, F16, 2, 1));
    assert_int_equal(0x7c00, half);
    uint16_t b[2] = {0x4380, 0x3f80}, b_one[2] = {0x3f80, 0x3f80}, smallest = 1, rounded;
    float wide;
    CALL(MATMUL, 1, ARRAY(&wide, F32, 1, 1), ARRAY(b, BF16, 1, 2), ARRAY(b_one, BF16, 2, 1));
    assert_true(wide == 257.0f);
    CALL(MATMUL, 1, ARRAY(&rounded, BF16, 1, 1), ARRAY(b, BF16, 1, 2), ARRAY(b_one, BF16, 2, 1));
    assert_int_equal(0x4380, rounded);
    uint16_t large = 0x7f00;
    CALL(MATMUL, 1, ARRAY(&wide, F32, 1, 1), ARRAY(&smallest, BF16, 1, 1),
         ARRAY(&large, BF16, 1, 1));
    assert_true(wide == 0x1p-6f);
    int8_t x[4] = {-128, 127, 1, -2}, y[4] = {-128, -128, 3, 4};
    int32_t c[4];
    CALL(MATMUL, 1, ARRAY(c, I32, 2, 2), ARRAY(x, I8, 2, 2), ARRAY(y, I8, 2, 2));
    assert_int_equal(16384 + 381, c[0]);
    assert_int_equal(-134, c[2]);
    static int8_t lowest[131073];
    memset(lowest, -128, sizeof lowest);
    CALL(MATMUL, 1, ARRAY(c, I32, 1, 1), ARRAY(lowest, I8, 1, 131073),
         ARRAY(lowest, I8, 131073, 1));
    assert_int_equal(INT32_MIN + 16384, c[0]);
}

static void test_vectors(void **state)
{
    (void)state;
    double a[6] = {1, 2, 3, 4, 5, 6}, x[3] = {1, 10, 100}, y[4], out;
    CALL(DOT, 1, SCALAR(&out, F64), ARRAY(a, F64, 3), ARRAY(x, F64, 3));
    EXPECT(&out, 1, 0, 321);
    CALL(DOT, 1, SCALAR(&out, F64), ARRAY(a, F64, 0), ARRAY(x, F64, 0));
    EXPECT(&out, 1, 0, 0);
    float big[3] = {1e8f, 1, -1e8f}, ones[3] = {1, 1, 1}, sum;
    CALL(DOT, 1, SCALAR(&sum, F32), ARRAY(big, F32, 3), ARRAY(ones, F32, 3));
    assert_true(sum == 1.0f);
    float far[2] = {1e30f, 1e30f}, back[2] = {1e30f, -1e30f};
    CALL(DOT, 1, SCALAR(&out, F64), ARRAY(far, F32, 2), ARRAY(back, F32, 2));
    EXPECT(&out, 1, 0, 0);
    CALL(MATVEC, 1, ARRAY(y, F64, 2), ARRAY(a, F64, 2, 3), ARRAY(x, F64, 3));
    EXPECT(y, 2, 0, 321, 654);
    const int64_t shape[] = {3, 2}, strides[] = {1, 3}, vectors[] = {2, 2}, same[] = {0, 1};
    collet_operand transposed = {a, 0, COLLET_F64, 2, shape, strides};
    CALL(MATVEC, 1, ARRAY(y, F64, 3), transposed, ARRAY(x, F64, 2));
    EXPECT(y, 3, 0, 41, 52, 63);
    const int64_t batch[] = {2, 2, 2}, blocks[] = {0, 2, 1};
    collet_operand repeated = {a, 0, COLLET_F64, 3, batch, blocks};
    collet_operand one = {x, 0, COLLET_F64, 2, vectors, same};
    CALL(MATVEC, 1, ARRAY(y, F64, 2, 2), repeated, one);
    EXPECT(y, 4, 0, 21, 43, 21, 43);
    CALL(MATVEC, 1, ARRAY(y, F64, 2), ARRAY(a, F64, 2, 0), ARRAY(x, F64, 0));
    EXPECT(y, 2, 0, 0, 0);
}

/* ---- The table --------------------------------------------------------------------------- */

static collet_dtype dtype_of(char letter)
{
#define LETTER(name, id, size, text, letter_, ...)                                                 \
    if (letter == letter_)                                                                         \
        return id;
    COLLET_DTYPE_LIST(LETTER)
#undef LETTER
    return COLLET_DTYPE_NONE;
}

static uint32_t rows_of(uint32_t op, uint64_t sig)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plugin->kernel_count; i++)
        count += plugin->kernels[i].op == op && plugin->kernels[i].sig == sig;
    return count;
}

/* Asserts one row for each expansion of a signature pattern ("*:=" ...), from operand `at` on. */
static uint32_t assert_rows(uint32_t op, const char *pattern, uint32_t at, uint64_t sig)
{
    uint32_t rows = 0;
    if (*pattern == ':')
        pattern++;
    if (*pattern == ' ' || *pattern == '\0') {
        if (rows_of(op, sig) != 1)
            fail_msg("op %u has %u rows for sig %#llx", op, rows_of(op, sig),
                     (unsigned long long)sig);
        return 1;
    }
    if (*pattern == '?') /* any dtypes: one row for all */
        return assert_rows(op, "", at, 0);
    if (*pattern != '*') {
        collet_dtype dtype = *pattern == '=' ? (collet_dtype)(sig & 31) : dtype_of(*pattern);
        return assert_rows(op, pattern + 1, at + 1, sig | COLLET_SIG_AT(at, dtype));
    }
#define REAL(NAME, id, bytes, text, letter, ...) letter,
    static const char reals[] = {COLLET_REAL_LIST(REAL) '\0'};
#undef REAL
    for (const char *real = reals; *real; real++)
        rows += assert_rows(op, pattern + 1, at + 1, sig | COLLET_SIG_AT(at, dtype_of(*real)));
    return rows;
}

static void test_every_signature_has_one_row(void **state)
{
    (void)state;
    uint32_t rows = 0;
#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, ...)                               \
    for (const char *p = sigs; p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL)                  \
        rows += assert_rows(id, p, 0, 0);
#include <collet/ops.def>
    assert_int_equal(rows, plugin->kernel_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_functions_at_their_edges),
        cmocka_unit_test(test_fill_converts),
        cmocka_unit_test(test_copy_to_integers),
        cmocka_unit_test(test_copy_rounds_once),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_matmul_of_narrow_types),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_every_signature_has_one_row),
    };
    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
