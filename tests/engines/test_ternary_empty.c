/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices without columns, on every built backend: even the maximum number of rows takes no time,
 * and `info` is 0.
 */

#include "common/fixture.h"
#include "common/ternary_support.h"
#include "engines/ternary_engine.h"

#define LARGE ((int64_t)1 << 26) /* LARGE x LARGE f32 elements have 2^54 bytes; the limit is 2^56 */

/* An i32 scalar with a value other than the expected value. */
static collet_array *other_info(void)
{
    static const int32_t other = 77;
    return array_of(cx, COLLET_I32, 0, NULL, &other);
}

static void quantized(int32_t ndim, const int64_t *shape)
{
    OWNED(collet_array) *in = array_for(cx, COLLET_F32, ndim, shape);
    OWNED(collet_array) *codes = array_for(cx, COLLET_I8, ndim, shape);
    for (uint32_t mode = COLLET_TERNARY_THRESHOLD; mode <= COLLET_TERNARY_ABSMEAN; mode++) {
        const collet_ternary_quantize_params params = {.struct_size = sizeof params, .mode = mode};
        OWNED(collet_array) *info = other_info();
        assert_ok(cx, collet_op_ternary_quantize(cx, codes, NULL, info, in, &params));
        assert_int_equal(number_in(cx, info), 0);
    }
}

/* Calls the ops on packed weights, with one scale per row, all equal. */
static void packed(int32_t ndim, const int64_t *shape, uint32_t format)
{
    const float one = 1;
    OWNED(collet_array) *codes = array_for(cx, COLLET_I8, ndim, shape), *info = other_info();
    OWNED(collet_array) *bytes = array_for(cx, COLLET_U8, ndim, shape);
    OWNED(collet_array) *scale = array_of(cx, COLLET_F32, 0, NULL, &one);
    assert_ok(cx, collet_op_ternary_pack(cx, bytes, info, codes,
                                         format == COLLET_TERNARY_TQ2_0 ? scale : NULL, format));
    assert_int_equal(number_in(cx, info), 0);
    collet_array_destroy(info);
    info = other_info();
    assert_ok(cx, collet_op_ternary_unpack(cx, codes, NULL, info, bytes, format));
    assert_int_equal(number_in(cx, info), 0);
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

/* 100 million weights in at most 25 MiB, by the memory counters. */

#define SIDE 10000
#define MOST ((uint64_t)25 << 20)

static collet_memory_stats memory(void)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "host"));
    return stats;
}

TEST_WITH(packed_from_codes, set_up_scalar, tear_down)
{
    collet_array *codes = array_for(cx, COLLET_I8, 2, SHAPE(SIDE, SIDE));
    const collet_scalar one = {.dtype = COLLET_F64, .value.f64 = -1};
    collet_ternary_weights *w = NULL;
    assert_ok(cx, collet_op_fill(cx, codes, &one));
    assert_done(collet_ternary_weights_from_codes(cx, &w, codes, NULL, &failure));
    collet_array_destroy(codes);
    assert_ok(cx, collet_trim(cx));
    print_message("%d x %d weights: %llu bytes\n", SIDE, SIDE,
                  (unsigned long long)memory().current);
    assert_true(memory().current <= MOST);
    assert_true(memory().current >= (uint64_t)SIDE * SIDE / 4);
    collet_ternary_weights_destroy(w);
    assert_int_equal(memory().current, 0);
}

/* Packed weights are checked a piece at a time. */
TEST_WITH(shared_from_bytes, set_up_scalar, tear_down)
{
    const int64_t width = collet_ternary_bytes(COLLET_TERNARY_T2, SIDE);
    collet_ternary_weights *w = NULL;
    unsigned char *values = malloc((size_t)(SIDE * width));
    assert_non_null(values);
    memset(values, 0x55, (size_t)(SIDE * width));
    collet_array *bytes = array_of(cx, COLLET_U8, 2, SHAPE(SIDE, width), values);
    free(values);
    uint64_t before = memory().peak;
    assert_done(collet_ternary_weights_from_bytes(cx, &w, bytes, SIDE, NULL, NULL, &failure));
    print_message("%llu more bytes to check them\n", (unsigned long long)(memory().peak - before));
    assert_true(memory().peak - before <= (uint64_t)8 << 20);
    collet_array_destroy(bytes);
    assert_true(memory().current <= MOST);
    collet_ternary_weights_destroy(w);
    assert_int_equal(memory().current, 0);
}
