/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices without columns, on every built backend: even the maximum number of rows takes no time,
 * and `info` is 0.
 */
#include <collet/ops/ternary.h>

#include "common/fixture.h"
#include "common/ternary_support.h"

#define LARGE ((int64_t)1 << 26) /* two of them have 2^54 bytes of f32: an array can have 2^56 */

/* An i32 scalar with a value other than the expected value. */
static collet_array *other_info(void)
{
    static const int32_t other = 77;
    return array_of(cx, COLLET_I32, 0, NULL, &other);
}

static void quantized(int32_t ndim, const int64_t *shape)
{
    collet_array *in = array_for(cx, COLLET_F32, ndim, shape);
    collet_array *codes = array_for(cx, COLLET_I8, ndim, shape);
    for (uint32_t mode = COLLET_TERNARY_THRESHOLD; mode <= COLLET_TERNARY_ABSMEAN; mode++) {
        const collet_ternary_quantize_params params = {.struct_size = sizeof params, .mode = mode};
        collet_array *info = other_info();
        assert_ok(cx, collet_op_ternary_quantize(cx, codes, NULL, info, in, &params));
        assert_int_equal(number_in(cx, info), 0);
        collet_array_destroy(info);
    }
    collet_array_destroy(in);
    collet_array_destroy(codes);
}

/* Calls the ops on packed weights, with one scale per row, all equal. */
static void packed(int32_t ndim, const int64_t *shape, uint32_t format)
{
    const float one = 1;
    collet_array *codes = array_for(cx, COLLET_I8, ndim, shape), *info = other_info();
    collet_array *bytes = array_for(cx, COLLET_U8, ndim, shape);
    collet_array *scale = array_of(cx, COLLET_F32, 0, NULL, &one);
    assert_ok(cx, collet_op_ternary_pack(cx, bytes, info, codes,
                                         format == COLLET_TERNARY_TQ2_0 ? scale : NULL, format));
    assert_int_equal(number_in(cx, info), 0);
    collet_array_destroy(info);
    info = other_info();
    assert_ok(cx, collet_op_ternary_unpack(cx, codes, NULL, info, bytes, format));
    assert_int_equal(number_in(cx, info), 0);
    collet_array_destroy(codes);
    collet_array_destroy(info);
    collet_array_destroy(bytes);
    collet_array_destroy(scale);
}

TEST(on_every_backend)
{
    static const char *const plugins[] = {SCALAR_PLUGIN, OPENMP_PLUGIN,
                                          COLLET_TEST_PLUGINS "/opencl.so:" SCALAR_PLUGIN};
    static const struct {
        int32_t ndim;
        int64_t shape[3];
    } rows[] = {{1, {0}}, {2, {LARGE, 0}}, {3, {LARGE, LARGE, 0}}, {3, {0, LARGE, 0}}};
    for (size_t k = 0; k < sizeof plugins / sizeof *plugins; k++) {
        open_shared(plugins[k], NULL, NULL);
        /* opencl may be missing or have no device. */
        if (k < 2 || collet_set_backend(cx, "opencl") == COLLET_OK)
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                quantized(rows[i].ndim, rows[i].shape);
                packed(rows[i].ndim, rows[i].shape, COLLET_TERNARY_T2);
                packed(rows[i].ndim, rows[i].shape, COLLET_TERNARY_PLANES);
                packed(rows[i].ndim, rows[i].shape, COLLET_TERNARY_TQ2_0);
            }
        else
            print_message("opencl: %s\n", collet_last_error(cx));
        close_shared();
    }
}

/* Each row still has a scale. */
TEST(scales_of_rows_without_weights)
{
    static const float zeros[5] = {0}, spoilt[5] = {7, 7, 7, 7, 7};
    static const char *const plugins[] = {SCALAR_PLUGIN, OPENMP_PLUGIN};
    const collet_ternary_quantize_params params = {.struct_size = sizeof params,
                                                   .mode = COLLET_TERNARY_ABSMEAN};
    for (size_t k = 0; k < 2; k++) {
        open_shared(plugins[k], NULL, NULL);
        collet_array *in = array_for(cx, COLLET_F32, 2, SHAPE(5, 0)), *info = other_info();
        collet_array *codes = array_for(cx, COLLET_I8, 2, SHAPE(5, 0));
        collet_array *scale = array_of(cx, COLLET_F32, 1, SHAPE(5), spoilt);
        assert_ok(cx, collet_op_ternary_quantize(cx, codes, scale, info, in, &params));
        assert_floats(cx, scale, zeros);
        assert_int_equal(number_in(cx, info), 0);
        collet_array *all[] = {in, info, codes, scale};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            collet_array_destroy(all[i]);
        close_shared();
    }
}
