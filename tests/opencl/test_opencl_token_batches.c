/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With more tokens than the backend converts at a time, the results match cpu_scalar, and scratch
 * does not grow with the number of tokens. Skipped if no driver has a device.
 */

#include "common/fixture.h"
#include "opencl_support.h"
#include "common/ternary_support.h"

#define ROWS 2

/* The activation kinds of ternary_linear; then ternary_matmul of f32, i8 and t2. */
enum { LINEAR_MOST = COLLET_TERNARY_F32, MATMUL_F32, MATMUL_I8, MATMUL_T2 };

static void multiply(uint32_t kind, collet_array *y, const collet_array *w, const collet_array *x)
{
    const collet_ternary_linear_params params = {.struct_size = sizeof params, .activations = kind};
    if (kind <= LINEAR_MOST)
        assert_ok(cx, collet_op_ternary_linear(cx, y, w, x, NULL, NULL, &params));
    else
        assert_ok(cx, collet_op_ternary_matmul(cx, y, w, x));
}

/* Tokens of small integers. If they are packed: any bytes without the invalid code 11 (binary). */
static collet_array *tokens_of(collet_dtype dtype, int64_t tokens, int64_t columns)
{
    collet_array *x = array_for(cx, dtype, 2, SHAPE(tokens, columns));
    size_t count = (size_t)(tokens * columns), size = collet_dtype_size(dtype);
    unsigned char *values = malloc(count * size);
    uint32_t state = 5;
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) {
        int32_t number = (int32_t)(next_number(&state) % 7) - 3;
        if (dtype == COLLET_F32)
            memcpy(values + 4 * i, &(float){(float)number}, 4);
        else
            values[i] = (unsigned char)(dtype == COLLET_I8 ? number : 0x55 + 0x11 * (number % 2));
    }
    assert_ok(cx, collet_array_write(cx, x, values, count * size));
    free(values);
    return x;
}

static uint64_t peak(void)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "opencl:0"));
    return stats.peak;
}

/* `scratch`: the limit, in bytes, of device memory beyond the arrays. */
static void run(uint32_t kind, collet_dtype dtype, int64_t tokens, int64_t columns,
                uint64_t scratch)
{
    collet_dtype to = kind < MATMUL_I8 ? COLLET_F32 : COLLET_I32;
    int64_t bytes = dtype == COLLET_U8 ? columns : collet_ternary_bytes(COLLET_TERNARY_T2, columns);
    open_shared(OPENCL_PLUGIN ":" SCALAR_PLUGIN, NULL, NULL);
    collet_array *x = tokens_of(dtype, tokens, columns), *reversed = NULL;
    collet_array *w = tokens_of(COLLET_U8, ROWS, bytes);
    collet_array *y = array_for(cx, to, 2, SHAPE(tokens, ROWS));
    void *got = malloc((size_t)(tokens * ROWS) * 4);
    assert_non_null(got);
    /* f32 is read in place only if contiguous. */
    if (dtype == COLLET_F32 && columns % 256 == 0)
        reversed = x;
    else
        assert_ok(cx, collet_array_slice(cx, x, &reversed, 0, tokens - 1, tokens, -1));
    assert_ok(cx, collet_set_backend(cx, "opencl:0"));
    multiply(kind, y, w, reversed);
    assert_ok(cx, collet_finish(cx));
    assert_string_equal(collet_last_backend(cx), "opencl");
    assert_in_range(peak(), 1,
                    scratch + (uint64_t)(collet_array_size(x) * (int64_t)collet_dtype_size(dtype) +
                                         collet_array_size(y) * 4));
    assert_ok(cx, collet_array_read(cx, y, got, (size_t)(tokens * ROWS) * 4));
    assert_ok(cx, collet_set_backend(cx, "cpu_scalar"));
    multiply(kind, y, w, reversed);
    assert_bytes(cx, y, got);
    if (reversed != x)
        collet_array_destroy(reversed);
    collet_array_destroy(x);
    collet_array_destroy(w);
    collet_array_destroy(y);
    free(got);
    close_shared();
}

TEST(many_tokens)
{
    const uint64_t some = (uint64_t)66 << 20, none = (uint64_t)1 << 20;
    run(COLLET_TERNARY_INT8, COLLET_F32, 300003, 1, some);
    run(COLLET_TERNARY_TERNARY, COLLET_F32, 300003, 2, some);
    run(COLLET_TERNARY_F32, COLLET_F32, 70001, 3, some);
    run(MATMUL_F32, COLLET_F32, 70001, 15, some);
    run(MATMUL_F32, COLLET_F32, 5000, 256, none);
    run(COLLET_TERNARY_F32, COLLET_F32, 5000, 256, none);
    run(MATMUL_I8, COLLET_I8, 300003, 1, some);
    run(MATMUL_T2, COLLET_U8, 300003, 64, some);
}

/* A single token exceeds the usual conversion chunk. */
TEST(long_tokens)
{
    run(MATMUL_F32, COLLET_F32, 2, 16800001, (uint64_t)80 << 20);
}

int main(void)
{
    setenv("POCL_DEVICES", "pthread", 1);
    if (!has_devices(1))
        return SKIPPED;
    return test_run();
}
