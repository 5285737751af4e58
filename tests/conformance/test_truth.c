/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the kit's values of elementwise functions with values by mpmath and Python's integers in
 * conformance/vectors. */

#include "common/test.h"
#include "array/truth.h"
#include "array/vectors.h"

typedef struct function {
    uint32_t op, inputs;
    const char *name, *result;
} function;

static const function functions[] = {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, ...)                                    \
    {COLLET_OP_##NAME, inputs, #name, #result},
#include <collet/ops/elementwise.def>
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* The error is relative to this magnitude. It is the magnitude that the limits of backends use, but at least the
 * smallest normal number. */
static long double scale_of(uint32_t op, const long double x[6], const long double y[2])
{
    long double size = fmaxl(hypotl(y[0], y[1]), 0x1p-1022L);
    if (op == COLLET_OP_LGAMMA)
        size = fmaxl(size, 1);
    if (op == COLLET_OP_LOGADDEXP)
        size = fmaxl(size, fmaxl(fabsl(x[0]), fabsl(x[1])));
    return size;
}

static bool agrees(long double got, long double expected, long double error)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : (double)got == (double)expected;
    return fabsl(got - expected) <= error;
}

TEST(real_functions_have_57_bits)
{
    int rows = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        long double x[6] = {0}, y[2] = {0};
        for (int64_t row = 0; vectors_row(functions[i].op, COLLET_F64, false, row, x, y);
             row++, rows++)
            if (!agrees(truth_near(functions[i].op, x), y[0],
                        y[0] == 0 ? 0x1p-1075L : scale_of(functions[i].op, x, y) * 0x1p-57L))
                fail_msg("%s(%.17Lg, %.17Lg) is %.20Lg, not %.20Lg", functions[i].name, x[0], x[1],
                         truth_near(functions[i].op, x), y[0]);
    }
    assert_true(rows > 10000);
}

TEST(complex_functions_have_their_signs)
{
    int rows = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        long double x[6] = {0}, y[2], got[2];
        for (int64_t row = 0; vectors_row(functions[i].op, COLLET_C128, false, row, x, y); row++) {
            if (!truth_complex(functions[i].op, x, got) ||
                (functions[i].op == COLLET_OP_POW && !(hypotl(x[2], x[3]) < 8)))
                continue;
            long double error = scale_of(functions[i].op, x, y) * 0x1p-54L;
            rows++;
            for (int p = 0; p < 2; p++)
                if (!agrees(got[p], y[p], error) ||
                    (y[p] == 0 && got[p] == 0 && signbit(y[p]) != signbit(got[p])))
                    fail_msg("%s(%.17Lg + %.17Lg i): part %d is %.20Lg, not %.20Lg",
                             functions[i].name, x[0], x[1], p, got[p], y[p]);
        }
    }
    assert_true(rows > 3000);
}

/* Writes one number of the dtype: a real number, or the real and the imaginary part. */
static void write_parts(collet_dtype dtype, const long double *x, unsigned char bytes[16])
{
    collet_dtype part = kit_part(dtype);
    for (size_t p = 0; p < (part == dtype ? 1 : 2); p++)
        kit_convert(part, x[p], bytes + p * collet_dtype_size(part));
}

static void check_exact_row(const function *f, collet_dtype dtype, const long double x[6],
                            const long double y[2])
{
    unsigned char in[3][16] = {{0}}, out[16] = {0}, expected[16] = {0};
    char *at[4] = {(char *)out, NULL, NULL, NULL};
    collet_dtype part = kit_part(dtype);
    collet_dtype to = !strcmp(f->result, "BOOL")      ? COLLET_BOOL
                      : !strcmp(f->result, "REAL")    ? part
                      : !strcmp(f->result, "COMPLEX") ? dtype + COLLET_C64 - COLLET_F32
                                                      : dtype;
    for (uint32_t k = 0, column = 0; k < f->inputs; k++) {
        bool condition = f->op == COLLET_OP_WHERE && k == 0;
        write_parts(condition ? COLLET_BOOL : dtype, x + column, in[k]);
        column += part != dtype && !condition ? 2 : 1;
        at[k + 1] = (char *)in[k];
    }
    write_parts(to, y, expected);
    truth_exact(f->op, dtype, at);
    for (size_t p = 0; p < (kit_part(to) == to ? 1 : 2); p++) {
        size_t size = collet_dtype_size(kit_part(to));
        if (memcmp(out + p * size, expected + p * size, size) &&
            !(isnan(y[p]) && isnan(kit_value(kit_part(to), out + p * size))))
            fail_msg("%s of %s(%.17Lg, %.17Lg, %.17Lg): part %zu is %.17Lg, not %.17Lg", f->name,
                     collet_dtype_name(dtype), x[0], x[1], x[2], p,
                     kit_value(kit_part(to), out + p * size), y[p]);
    }
}

TEST(exact_functions_have_the_bits)
{
    int rows = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        for (collet_dtype dtype = 1; dtype < COLLET_DTYPE_COUNT; dtype++) {
            long double x[6] = {0}, y[2];
            for (int64_t row = 0; vectors_row(functions[i].op, dtype, true, row, x, y);
                 row++, rows++)
                check_exact_row(&functions[i], dtype, x, y);
        }
    assert_true(rows > 10000);
}

TEST(every_function_has_stored_values)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        int64_t rows = 0;
        for (collet_dtype dtype = 1; dtype < COLLET_DTYPE_COUNT; dtype++)
            rows += vectors_count(functions[i].op, dtype);
        if (rows == 0)
            fail_msg("%s has no values in conformance/vectors: run make.py there",
                     functions[i].name);
    }
}
