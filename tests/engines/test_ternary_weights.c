/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of packed weights: contents, sharing and refusals. */

#include "common/fixture.h"
#include "engines/ternary_engine.h"

static uint64_t bytes_in_use(void)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "host"));
    return stats.current;
}

/* Codes (rows, columns) packed by the kernel. */
static collet_array *packed(const collet_array *codes)
{
    const int64_t *shape = collet_array_shape(codes);
    collet_array *info = array_for(cx, COLLET_I32, 0, NULL);
    collet_array *bytes = array_for(
        cx, COLLET_U8, 2, SHAPE(shape[0], collet_ternary_bytes(COLLET_TERNARY_T2, shape[1])));
    assert_ok(cx, collet_op_ternary_pack(cx, bytes, info, codes, NULL, COLLET_TERNARY_T2));
    assert_int_equal(number_in(cx, info), 0);
    collet_array_destroy(info);
    return bytes;
}

/* ---- Making ---------------------------------------------------------------------------------- */

TEST(from_codes)
{
    static const float scales[] = {1.5f, -2, 0.25f}, others[] = {7, 8, 9};
    uint64_t before = bytes_in_use();
    collet_array *codes = random_codes(cx, 3, 300, 1), *bytes = packed(codes);
    collet_array *scale = array_of(cx, COLLET_F32, 1, SHAPE(3), scales);
    collet_ternary_weights *w = NULL, *plain = NULL;
    assert_done(collet_ternary_weights_from_codes(cx, &w, codes, scale, &failure));
    assert_done(collet_ternary_weights_from_codes(cx, &plain, codes, NULL, &failure));
    /* The scales are a copy. */
    assert_ok(cx, collet_array_write(cx, scale, others, sizeof others));
    collet_array_destroy(codes);
    collet_array_destroy(scale);
    assert_int_equal(collet_ternary_weights_rows(w), 3);
    assert_int_equal(collet_ternary_weights_columns(w), 300);
    assert_int_equal(collet_array_shape(collet_ternary_weights_bytes(w))[1], 128);
    assert_same(bytes, collet_ternary_weights_bytes(w));
    assert_same(bytes, collet_ternary_weights_bytes(plain));
    assert_floats(cx, collet_ternary_weights_scale(w), scales);
    assert_null(collet_ternary_weights_scale(plain));
    collet_array_destroy(bytes);
    collet_ternary_weights_destroy(plain);
    collet_ternary_weights_destroy(w);
    collet_ternary_weights_destroy(NULL);
    assert_int_equal(bytes_in_use(), before);
}

TEST(from_numbers)
{
    OWNED(collet_array) *numbers = random_floats(cx, 5, 70, 2),
                        *info = array_for(cx, COLLET_I32, 0, NULL);
    OWNED(collet_array) *codes = array_for(cx, COLLET_I8, 2, SHAPE(5, 70));
    OWNED(collet_array) *scale = array_for(cx, COLLET_F32, 1, SHAPE(5));
    for (uint32_t mode = COLLET_TERNARY_THRESHOLD; mode <= COLLET_TERNARY_ABSMEAN; mode++) {
        const collet_ternary_quantize_params params = {
            .struct_size = sizeof params, .mode = mode, .threshold = mode ? 0 : 0.75f};
        OWNED(collet_ternary_weights) *w = NULL;
        assert_done(collet_ternary_weights_quantize(cx, &w, numbers, &params, NULL, &failure));
        assert_ok(cx, collet_op_ternary_quantize(cx, codes, scale, info, numbers, &params));
        OWNED(collet_array) *bytes = packed(codes);
        assert_same(bytes, collet_ternary_weights_bytes(w));
        if (mode == COLLET_TERNARY_ABSMEAN)
            assert_same(scale, collet_ternary_weights_scale(w));
        else
            assert_null(collet_ternary_weights_scale(w));
    }
}

/* Shorter parameters of an older caller, on the heap, where a sanitizer detects reads past the end.
 */
TEST(from_numbers_with_short_blocks)
{
    OWNED(collet_array) *numbers = random_floats(cx, 5, 70, 2);
    const collet_ternary_quantize_params full[] = {
        {.struct_size = sizeof *full, .mode = COLLET_TERNARY_THRESHOLD},
        {.struct_size = sizeof *full, .mode = COLLET_TERNARY_ABSMEAN}};
    const uint32_t sizes[] = {4, 8};
    for (int i = 0; i < 2; i++) {
        FREED(collet_ternary_quantize_params) *block = malloc(sizes[i]);
        OWNED(collet_ternary_weights) *w = NULL, *expected = NULL;
        assert_non_null(block);
        memcpy(block, (const uint32_t[]){sizes[i], COLLET_TERNARY_ABSMEAN}, sizes[i]);
        assert_done(collet_ternary_weights_quantize(cx, &w, numbers, block, NULL, &failure));
        assert_done(
            collet_ternary_weights_quantize(cx, &expected, numbers, &full[i], NULL, &failure));
        assert_same(collet_ternary_weights_bytes(expected), collet_ternary_weights_bytes(w));
        if (i == 1)
            assert_same(collet_ternary_weights_scale(expected), collet_ternary_weights_scale(w));
        else
            assert_null(collet_ternary_weights_scale(w));
    }
}

/* The bytes are shared and reference-counted. */
TEST(the_callers_rounding_changes_nothing)
{
    const collet_ternary_quantize_params params = {.struct_size = sizeof params,
                                                   .mode = COLLET_TERNARY_ABSMEAN};
    OWNED(collet_array) *numbers = random_floats(cx, 50, 70, 2);
    collet_ternary_weights *w[2];
    assert_done(collet_ternary_weights_quantize(cx, &w[0], numbers, &params, NULL, &failure));
    unusual_floating();
    collet_status status =
        collet_ternary_weights_quantize(cx, &w[1], numbers, &params, NULL, &failure);
    usual_floating();
    assert_done(status);
    assert_same(collet_ternary_weights_scale(w[0]), collet_ternary_weights_scale(w[1]));
    assert_same(collet_ternary_weights_bytes(w[0]), collet_ternary_weights_bytes(w[1]));
    collet_ternary_weights_destroy(w[0]);
    collet_ternary_weights_destroy(w[1]);
}

TEST(from_bytes)
{
    collet_array *codes = random_codes(cx, 40, 1000, 3), *bytes = packed(codes);
    collet_array *copy = packed(codes);
    collet_ternary_weights *w = NULL;
    uint64_t before = bytes_in_use();
    assert_done(collet_ternary_weights_from_bytes(cx, &w, bytes, 1000, NULL, NULL, &failure));
    assert_int_equal(bytes_in_use(), before);
    collet_array_destroy(bytes);
    assert_int_equal(bytes_in_use(), before);
    assert_int_equal(collet_ternary_weights_columns(w), 1000);
    assert_same(copy, collet_ternary_weights_bytes(w));
    collet_ternary_weights_destroy(w);
    assert_true(bytes_in_use() < before);
    collet_array_destroy(copy);
    collet_array_destroy(codes);
}

/* Rows with gaps: the same weights as from a contiguous copy, and invalid codes are found. */
static void strided_rows(const collet_array *rows, int64_t columns)
{
    OWNED(collet_array) *copy = array_for(cx, COLLET_U8, 2, collet_array_shape(rows));
    OWNED(collet_ternary_weights) *w = NULL;
    assert_ok(cx, collet_op_copy(cx, copy, rows));
    assert_done(collet_ternary_weights_from_bytes(cx, &w, rows, columns, NULL, NULL, &failure));
    assert_same(copy, collet_ternary_weights_bytes(w));
}

TEST(from_strided_rows)
{
    static const unsigned char none = 0xd5;
    OWNED(collet_array) *codes = random_codes(cx, 9, 512, 4), *bytes = packed(codes);
    OWNED(collet_array) *last = NULL, *byte = NULL;
    collet_array *left = NULL, *every_other = NULL, *reversed = NULL;
    collet_ternary_weights *w = NULL;
    assert_ok(cx, collet_array_slice(cx, bytes, &left, 1, 0, 64, 1));
    assert_ok(cx, collet_array_slice(cx, bytes, &every_other, 0, 0, 5, 2));
    assert_ok(cx, collet_array_slice(cx, bytes, &reversed, 0, 8, 9, -1));
    strided_rows(left, 256);
    strided_rows(every_other, 512);
    strided_rows(reversed, 512);
    assert_ok(cx, collet_array_slice(cx, bytes, &last, 0, 8, 1, 1));
    assert_ok(cx, collet_array_slice(cx, last, &byte, 1, 0, 1, 1));
    assert_ok(cx, collet_array_write(cx, byte, &none, 1));
    collet_array *all[] = {left, every_other, reversed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_outcome(
            collet_ternary_weights_from_bytes(cx, &w, all[i], i ? 512 : 256, NULL, NULL, &failure),
            COLLET_INVALID, "1 codes are 11 (binary), which is not a weight");
        collet_array_destroy(all[i]);
    }
}

TEST(without_weights)
{
    static const int64_t shapes[][2] = {{0, 5}, {5, 0}, {0, 0}};
    for (size_t i = 0; i < 3; i++) {
        OWNED(collet_array) *codes = array_for(cx, COLLET_I8, 2, shapes[i]);
        OWNED(collet_ternary_weights) *w = NULL, *again = NULL;
        assert_done(collet_ternary_weights_from_codes(cx, &w, codes, NULL, &failure));
        assert_int_equal(collet_ternary_weights_rows(w), shapes[i][0]);
        assert_int_equal(collet_ternary_weights_columns(w), shapes[i][1]);
        assert_done(collet_ternary_weights_from_bytes(cx, &again, collet_ternary_weights_bytes(w),
                                                      shapes[i][1], NULL, NULL, &failure));
        assert_int_equal(collet_ternary_weights_rows(again), shapes[i][0]);
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

static collet_ternary_weights *const untouched = (collet_ternary_weights *)(uintptr_t)16;

/* The call fails with this status and text and returns no handle. */
#define REFUSED(call, status, text)                                                                \
    do {                                                                                           \
        collet_ternary_weights *w = untouched;                                                     \
        uint64_t before = bytes_in_use();                                                          \
        assert_outcome(call, status);                                                              \
        assert_failure_has(text);                                                                  \
        assert_ptr_equal(w, untouched);                                                            \
        assert_int_equal(bytes_in_use(), before);                                                  \
    } while (0)

TEST(invalid_numbers)
{
    const collet_ternary_quantize_params params = {.struct_size = sizeof params, .mode = 1};
    const collet_ternary_quantize_params strange = {.struct_size = sizeof params, .mode = 7};
    float numbers[] = {1, NAN, -1, INFINITY, 0, 2};
    OWNED(collet_array) *a = array_of(cx, COLLET_F32, 2, SHAPE(2, 3), numbers);
    OWNED(collet_array) *row = array_of(cx, COLLET_F32, 1, SHAPE(6), numbers);
    OWNED(collet_array) *whole = array_for(cx, COLLET_I32, 2, SHAPE(2, 3));
    REFUSED(collet_ternary_weights_quantize(cx, &w, a, &params, NULL, &failure), COLLET_INVALID,
            "2 weights are not finite; no weights were packed");
    REFUSED(collet_ternary_weights_quantize(cx, &w, whole, &params, NULL, &failure), COLLET_DTYPE,
            "collet_ternary_weights_quantize: weights are i32; they must be f32, f64, f16 or bf16");
    REFUSED(collet_ternary_weights_quantize(cx, &w, row, &params, NULL, &failure), COLLET_SHAPE,
            "1 axes");
    REFUSED(collet_ternary_weights_quantize(cx, &w, NULL, &params, NULL, &failure), COLLET_INVALID,
            "NULL");
    REFUSED(collet_ternary_weights_quantize(cx, &w, a, NULL, NULL, &failure), COLLET_INVALID,
            "2 weights are not finite");
    REFUSED(collet_ternary_weights_quantize(cx, &w, a, &strange, NULL, &failure), COLLET_INVALID,
            "mode is 7");
    assert_outcome(collet_ternary_weights_quantize(cx, NULL, a, &params, NULL, &failure),
                   COLLET_INVALID);
    assert_int_equal(collet_ternary_weights_quantize(NULL, NULL, a, &params, NULL, &failure),
                     COLLET_INVALID);
}

TEST(invalid_codes)
{
    static const int8_t values[] = {1, 2, -1, -128, 0, 3};
    static const float one = 1;
    OWNED(collet_array) *a = array_of(cx, COLLET_I8, 2, SHAPE(2, 3), values);
    OWNED(collet_array) *good = random_codes(cx, 2, 3, 1), *scale = floats(cx, 3, 1);
    OWNED(collet_array) *wide = array_for(cx, COLLET_F64, 1, SHAPE(2));
    OWNED(collet_array) *alone = array_of(cx, COLLET_F32, 0, NULL, &one);
    OWNED(collet_array) *numbers = array_for(cx, COLLET_F32, 2, SHAPE(2, 3));
    REFUSED(collet_ternary_weights_from_codes(cx, &w, a, NULL, &failure), COLLET_INVALID,
            "3 codes are not -1, 0 or 1");
    REFUSED(collet_ternary_weights_from_codes(cx, &w, numbers, NULL, &failure), COLLET_DTYPE,
            "collet_ternary_weights_from_codes: codes are f32; they must be i8");
    REFUSED(collet_ternary_weights_from_codes(cx, &w, good, scale, &failure), COLLET_SHAPE,
            "there are 3 scales for 2 rows");
    REFUSED(collet_ternary_weights_from_codes(cx, &w, good, wide, &failure), COLLET_DTYPE,
            "the scales are f64; they must be f32");
    REFUSED(collet_ternary_weights_from_codes(cx, &w, good, alone, &failure), COLLET_SHAPE,
            "1 scales");
    REFUSED(collet_ternary_weights_from_codes(cx, &w, scale, NULL, &failure), COLLET_SHAPE,
            "codes have 1 axes; a matrix must have 2");
    REFUSED(collet_ternary_weights_from_codes(cx, &w, NULL, NULL, &failure), COLLET_INVALID,
            "NULL");
}

static void bytes_refused(int64_t rows, int64_t width, int64_t columns, int64_t at,
                          unsigned char value, const char *text)
{
    unsigned char *values = malloc((size_t)(rows * width));
    assert_non_null(values);
    memset(values, 0x55, (size_t)(rows * width));
    values[at] = value;
    OWNED(collet_array) *bytes = array_of(cx, COLLET_U8, 2, SHAPE(rows, width), values);
    REFUSED(collet_ternary_weights_from_bytes(cx, &w, bytes, columns, NULL, NULL, &failure),
            COLLET_INVALID, text);
    free(values);
}

TEST(invalid_bytes)
{
    OWNED(collet_array) *a = array_for(cx, COLLET_U8, 2, SHAPE(2, 64)),
                        *codes = random_codes(cx, 2, 64, 1);
    bytes_refused(3, 64, 256, 70, 0xf5, "2 codes are 11 (binary), which is not a weight");
    bytes_refused(17, 65536, 262144, 17 * 65536 - 1, 0xd5, "1 codes are 11");
    bytes_refused(17, 65536, 262144, 1000000, 0xd5, "1 codes are 11");
    bytes_refused(2, (1 << 20) + 64, (1 << 22) + 256, (2 << 20) + 127, 0xd5, "1 codes are 11");
    /* A nonzero weight in the padding after the last column, also in a row that is checked late. */
    bytes_refused(2, 128, 256 + 64, 64 + 128, 0x59,
                  "row 1 has the weight 1 in the padding after its 320 columns");
    bytes_refused(16390, 64, 1, 16389 * 64, 0x15,
                  "row 16389 has the weight -1 in the padding after its 1 columns");
    REFUSED(collet_ternary_weights_from_bytes(cx, &w, a, 257, NULL, NULL, &failure), COLLET_SHAPE,
            "rows have 64 bytes, but 257 columns take 128");
    REFUSED(collet_ternary_weights_from_bytes(cx, &w, a, -1, NULL, NULL, &failure), COLLET_SHAPE,
            "-1 columns");
    REFUSED(collet_ternary_weights_from_bytes(cx, &w, codes, 256, NULL, NULL, &failure),
            COLLET_DTYPE, "collet_ternary_weights_from_bytes: bytes are i8; they must be u8");
    REFUSED(collet_ternary_weights_from_bytes(cx, &w, NULL, 256, NULL, NULL, &failure),
            COLLET_INVALID, "NULL");
}

/* Messages name the arguments, not the kernels' operands. */
TEST(arrays_of_another_runtime)
{
    const collet_ternary_quantize_params params = {.struct_size = sizeof params, .mode = 1};
    OWNED(collet_runtime) *other = runtime_with(SCALAR_PLUGIN, NULL);
    OWNED(collet_context) *its = context_of(other);
    OWNED(collet_array) *codes = random_codes(its, 2, 256, 1),
                        *numbers = random_floats(its, 2, 256, 2);
    OWNED(collet_array) *bytes = array_for(its, COLLET_U8, 2, SHAPE(2, 64)),
                        *scale = floats(its, 2, 1);
    OWNED(collet_array) *good = random_codes(cx, 2, 256, 3);
    REFUSED(collet_ternary_weights_from_codes(cx, &w, codes, NULL, &failure), COLLET_INVALID,
            "codes belong to another runtime");
    REFUSED(collet_ternary_weights_from_codes(cx, &w, good, scale, &failure), COLLET_INVALID,
            "the scales belong to another runtime");
    REFUSED(collet_ternary_weights_quantize(cx, &w, numbers, &params, NULL, &failure),
            COLLET_INVALID, "weights belong to another runtime");
    REFUSED(collet_ternary_weights_from_bytes(cx, &w, bytes, 256, NULL, NULL, &failure),
            COLLET_INVALID, "bytes belong to another runtime");
}

/* For any number of columns, all padding is checked, and no column is treated as padding. */
TEST(padding_of_every_width)
{
    for (int64_t columns = 1; columns <= 512; columns++) {
        OWNED(collet_array) *codes = random_codes(cx, 3, columns, (uint32_t)columns),
                            *bytes = packed(codes);
        OWNED(collet_ternary_weights) *w = NULL;
        assert_done(
            collet_ternary_weights_from_bytes(cx, &w, bytes, columns, NULL, NULL, &failure));
    }
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

/* Checking 5 million weights reports its progress and can be cancelled at every report. */
TEST(checking_can_be_cancelled)
{
    enum { ROWS = 5, WIDTH = 1 << 18, COLUMNS = 4 * WIDTH - 7 };
    unsigned char *values = malloc((size_t)ROWS * WIDTH);
    watch all = {.allowed = -1};
    assert_non_null(values);
    memset(values, 0x55, (size_t)ROWS * WIDTH);
    OWNED(collet_array) *bytes = array_of(cx, COLLET_U8, 2, SHAPE(ROWS, WIDTH), values);
    free(values);
    collet_ternary_weights *whole = NULL;
    assert_done(collet_ternary_weights_from_bytes(
        cx, &whole, bytes, COLUMNS, NULL,
        &(collet_ternary_monitor){
            .struct_size = sizeof(collet_ternary_monitor), .progress = note, .user = &all},
        &failure));
    collet_ternary_weights_destroy(whole);
    assert_true(all.calls > 2);
    assert_true(all.last > 0 && all.fraction == 1);
    for (int64_t n = 0; n < all.calls; n++) {
        watch some = {.allowed = n};
        const collet_ternary_monitor monitor = {
            .struct_size = sizeof monitor, .progress = note, .user = &some};
        REFUSED(collet_ternary_weights_from_bytes(cx, &w, bytes, COLUMNS, NULL, &monitor, &failure),
                COLLET_CANCELLED, "cancelled");
        assert_int_equal(some.calls, n + 1);
    }
}

TEST_GROUP(set_up_scalar, tear_down)
