/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ternary family: sizes, known values, and the messages for invalid calls. backend-check tests
 * what each kernel computes.
 */
#include <math.h>
#include <sys/mman.h>

#include <collet/ops/ternary.h>

#include "common/fixture.h"
#include "common/ternary_support.h"

static collet_array *info_array(void)
{
    return array_for(cx, COLLET_I32, 0, NULL);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static void bytes_of_rows(void **state)
{
    static const struct {
        uint32_t format;
        int64_t weights, bytes;
    } rows[] = {
        {COLLET_TERNARY_T2, 0, 0},
        {COLLET_TERNARY_T2, 1, 64},
        {COLLET_TERNARY_T2, 256, 64},
        {COLLET_TERNARY_T2, 257, 128},
        {COLLET_TERNARY_PLANES, 0, 0},
        {COLLET_TERNARY_PLANES, 1, 2},
        {COLLET_TERNARY_PLANES, 8, 2},
        {COLLET_TERNARY_PLANES, 9, 4},
        {COLLET_TERNARY_ROTOR, 0, 0},
        {COLLET_TERNARY_ROTOR, 1, 1},
        {COLLET_TERNARY_ROTOR, 4, 1},
        {COLLET_TERNARY_ROTOR, 5, 2},
        {COLLET_TERNARY_TQ2_0, 0, 0},
        {COLLET_TERNARY_TQ2_0, 255, -1},
        {COLLET_TERNARY_TQ2_0, 256, 66},
        {COLLET_TERNARY_TQ2_0, 512, 132},
        {COLLET_TERNARY_TQ1_0, 256, 54},
        {COLLET_TERNARY_TQ1_0, 257, -1},
        {COLLET_TERNARY_FORMATS, 256, -1},
        {UINT32_MAX, 0, -1},
        {COLLET_TERNARY_T2, -1, -1},
        {COLLET_TERNARY_TQ1_0, -256, -1},
        {COLLET_TERNARY_T2, INT64_MAX, INT64_MAX / 4 + 1},
        {COLLET_TERNARY_PLANES, INT64_MAX, INT64_MAX / 4 + 1},
        {COLLET_TERNARY_ROTOR, INT64_MAX, INT64_MAX / 4 + 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t got = collet_ternary_bytes(rows[i].format, rows[i].weights);
        if (got != rows[i].bytes)
            fail_msg("%lld weights in format %u: %lld bytes, not %lld", (long long)rows[i].weights,
                     rows[i].format, (long long)got, (long long)rows[i].bytes);
    }
}

/* ---- Known values ---------------------------------------------------------------------------- */

static const int8_t eight[] = {1, -1, 0, 1, -1, 0, 0, 1};

static void pack_eight(uint32_t format, const unsigned char *expected, int64_t bytes)
{
    collet_array *codes = array_of(cx, COLLET_I8, 1, SHAPE(8), eight), *info = info_array();
    collet_array *packed = array_for(cx, COLLET_U8, 1, &bytes);
    assert_int_equal(collet_ternary_bytes(format, 8), bytes);
    assert_ok(cx, collet_op_ternary_pack(cx, packed, info, codes, NULL, format));
    assert_int_equal(number_in(cx, info), 0);
    assert_bytes(cx, packed, expected);
    collet_array_destroy(packed);
    collet_array_destroy(info);
    collet_array_destroy(codes);
}

/* Planes 10010001 and 01001000, the first weight leftmost; two bytes in rotor. */
static void eight_weights(void **state)
{
    unsigned char t2[64];
    (void)state;
    memset(t2, 0x55, sizeof t2);
    for (int i = 0; i < 8; i++)
        t2[i] = (unsigned char)(0x54 | (eight[i] + 1));
    pack_eight(COLLET_TERNARY_PLANES, (const unsigned char[]){0x89, 0x12}, 2);
    pack_eight(COLLET_TERNARY_ROTOR, (const unsigned char[]){0x86, 0x81}, 2);
    pack_eight(COLLET_TERNARY_T2, t2, 64);
}

static collet_array *packed_t2(const int8_t *codes, int64_t count)
{
    int64_t bytes = collet_ternary_bytes(COLLET_TERNARY_T2, count);
    collet_array *source = array_of(cx, COLLET_I8, 1, &count, codes), *info = info_array();
    collet_array *packed = array_for(cx, COLLET_U8, 1, &bytes);
    assert_ok(cx, collet_op_ternary_pack(cx, packed, info, source, NULL, COLLET_TERNARY_T2));
    collet_array_destroy(source);
    collet_array_destroy(info);
    return packed;
}

static void assert_dot(collet_array *a, collet_array *b, int32_t expected)
{
    collet_array *out = info_array();
    assert_ok(cx, collet_op_ternary_dot(cx, out, a, b));
    assert_int_equal(number_in(cx, out), expected);
    collet_array_destroy(out);
}

static void dots(void **state)
{
    static const int8_t a[] = {1, -1, 0}, b[] = {1, 1, 1};
    const int64_t count = 10000000;
    int8_t *ones = malloc((size_t)count);
    (void)state;
    assert_non_null(ones);
    memset(ones, 1, (size_t)count);
    collet_array *x = packed_t2(a, 3), *y = packed_t2(b, 3), *z = packed_t2(ones, count);
    assert_dot(x, y, 0);
    assert_dot(x, x, 2);
    assert_dot(z, z, (int32_t)count);
    collet_array_destroy(x);
    collet_array_destroy(y);
    collet_array_destroy(z);
    free(ones);
}

static void quantized_at_a_threshold(void **state)
{
    static const float weights[] = {.9f, .5f, .2f, 0, -.2f, -.5f, -.9f};
    static const int8_t expected[] = {1, 1, 0, 0, 0, -1, -1};
    const collet_ternary_quantize_params params = {.struct_size = sizeof params, .threshold = 0.3f};
    (void)state;
    collet_array *in = array_of(cx, COLLET_F32, 1, SHAPE(7), weights), *info = info_array();
    collet_array *codes = array_for(cx, COLLET_I8, 1, SHAPE(7));
    assert_ok(cx, collet_op_ternary_quantize(cx, codes, NULL, info, in, &params));
    assert_bytes(cx, codes, expected);
    assert_int_equal(number_in(cx, info), 0);
    collet_array_destroy(codes);
    collet_array_destroy(info);
    collet_array_destroy(in);
}

/* The eight weights, the third with both bits set. */
static void one_code_of_11(void **state)
{
    static const struct {
        uint32_t format;
        int64_t bytes;
        unsigned char values[2];
    } rows[] = {{COLLET_TERNARY_PLANES, 2, {0x8d, 0x16}}, {COLLET_TERNARY_ROTOR, 2, {0xb6, 0x81}}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        collet_array *bytes = array_of(cx, COLLET_U8, 1, &rows[i].bytes, rows[i].values);
        collet_array *codes = array_for(cx, COLLET_I8, 1, SHAPE(8)), *info = info_array();
        assert_ok(cx, collet_op_ternary_unpack(cx, codes, NULL, info, bytes, rows[i].format));
        assert_int_equal(number_in(cx, info), 1);
        assert_bytes(cx, codes, eight);
        collet_array_destroy(bytes);
        collet_array_destroy(codes);
        collet_array_destroy(info);
    }
}

/* ---- Bytes packed by another implementation -------------------------------------------------- */

static void *file_of(const char *name, size_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/ternary/%s", COLLET_TEST_DATA, name);
    FILE *file = fopen(path, "rbe");
    char *content = malloc(bytes);
    assert_non_null(file);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, bytes, file), bytes);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    return content;
}

static void round_trip(uint32_t format, const char *name, int64_t bytes)
{
    void *codes = file_of("codes.bin", 4 * 512), *scale = file_of("scale.bin", 4 * sizeof(float));
    void *packed = file_of(name, (size_t)(4 * bytes));
    collet_array *code_array = array_of(cx, COLLET_I8, 2, SHAPE(4, 512), codes);
    collet_array *scale_array = array_of(cx, COLLET_F32, 1, SHAPE(4), scale), *info = info_array();
    collet_array *out = array_for(cx, COLLET_U8, 2, SHAPE(4, bytes));
    collet_array *back = array_for(cx, COLLET_I8, 2, SHAPE(4, 512));
    collet_array *scales = array_for(cx, COLLET_F32, 2, SHAPE(4, 2));
    float got[8];
    assert_ok(cx, collet_op_ternary_pack(cx, out, info, code_array, scale_array, format));
    assert_int_equal(number_in(cx, info), 0);
    assert_bytes(cx, out, packed);
    assert_ok(cx, collet_op_ternary_unpack(cx, back, scales, info, out, format));
    assert_int_equal(number_in(cx, info), 0);
    assert_bytes(cx, back, codes);
    assert_ok(cx, collet_array_read(cx, scales, got, sizeof got));
    for (int i = 0; i < 8; i++)
        assert_memory_equal(&got[i], (const float *)scale + i / 2, sizeof *got);
    collet_array *all[] = {code_array, scale_array, info, out, back, scales};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        collet_array_destroy(all[i]);
    free(codes);
    free(scale);
    free(packed);
}

static void blocks_of_gguf(void **state)
{
    (void)state;
    round_trip(COLLET_TERNARY_TQ1_0, "tq1_0.bin", 108);
    round_trip(COLLET_TERNARY_TQ2_0, "tq2_0.bin", 132);
}

/* Any byte is read as five digits, also bytes that packing never produces. */
static void bytes_that_packing_never_produces(void **state)
{
    void *bytes = file_of("any_tq1_0.bin", 5 * 54), *codes = file_of("any_codes.bin", 1280);
    collet_array *in = array_of(cx, COLLET_U8, 1, SHAPE(5 * 54), bytes), *info = info_array();
    collet_array *out = array_for(cx, COLLET_I8, 1, SHAPE(1280));
    (void)state;
    assert_ok(cx, collet_op_ternary_unpack(cx, out, NULL, info, in, COLLET_TERNARY_TQ1_0));
    assert_int_equal(number_in(cx, info), 0);
    assert_bytes(cx, out, codes);
    collet_array_destroy(in);
    collet_array_destroy(out);
    collet_array_destroy(info);
    free(bytes);
    free(codes);
}

/* ---- Invalid calls --------------------------------------------------------------------------- */

/* Arrays in inaccessible memory: the calls fail before they access it. */
static collet_array *untouchable(collet_dtype dtype, int32_t ndim, const int64_t *shape,
                                 const int64_t *strides)
{
    static char *memory;
    collet_array *a = NULL;
    const size_t size = (size_t)1 << 30;
    if (!memory)
        memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_ok(cx, collet_array_wrap(cx, &a, dtype, ndim, shape, strides, memory + size / 2, 0, NULL,
                                    NULL));
    return a;
}

static void fails(collet_status got, collet_status expected, const char *text)
{
    assert_status(cx, got, expected);
    assert_text_has(cx, text);
}

static void pack_fails(collet_array *bytes, collet_array *codes, collet_array *scale,
                       uint32_t format, collet_status status, const char *text)
{
    collet_array *info = info_array();
    fails(collet_op_ternary_pack(cx, bytes, info, codes, scale, format), status, text);
    collet_array_destroy(bytes);
    collet_array_destroy(codes);
    collet_array_destroy(scale);
    collet_array_destroy(info);
}

static void packing_that_does_not_fit(void **state)
{
    (void)state;
    pack_fails(untouchable(COLLET_U8, 1, SHAPE(66), NULL),
               untouchable(COLLET_I8, 1, SHAPE(300), NULL), NULL, COLLET_TERNARY_TQ2_0,
               COLLET_SHAPE, "ternary_pack: a row has 300 weights, but tq2_0 has blocks of 256");
    pack_fails(untouchable(COLLET_U8, 1, SHAPE(63), NULL),
               untouchable(COLLET_I8, 1, SHAPE(10), NULL), NULL, COLLET_TERNARY_T2, COLLET_SHAPE,
               "bytes (output 0) has rows of 63 bytes, codes (input 0) of 10 weights, which take "
               "64 bytes in t2");
    pack_fails(untouchable(COLLET_U8, 1, SHAPE(2), NULL),
               untouchable(COLLET_I8, 1, SHAPE(10), NULL), NULL, COLLET_TERNARY_PLANES,
               COLLET_SHAPE, "which take 4 bytes in planes");
    pack_fails(untouchable(COLLET_U8, 1, SHAPE(3), SHAPE(2)),
               untouchable(COLLET_I8, 1, SHAPE(10), NULL), NULL, COLLET_TERNARY_ROTOR,
               COLLET_INVALID, "the stride along the last axis of bytes (output 0) is 2");
    pack_fails(untouchable(COLLET_U8, 1, SHAPE(3), NULL),
               untouchable(COLLET_I8, 1, SHAPE(10), NULL), NULL, 5, COLLET_INVALID,
               "format is 5; it must be 0 (t2) to 4 (tq1_0)");
    pack_fails(untouchable(COLLET_U8, 2, SHAPE(2, 3), NULL),
               untouchable(COLLET_I8, 2, SHAPE(2, 10), NULL),
               untouchable(COLLET_F32, 1, SHAPE(2), NULL), COLLET_TERNARY_ROTOR, COLLET_INVALID,
               "the format rotor has no scales");
}

static void unpack_fails(collet_array *codes, collet_array *scale, collet_array *bytes,
                         uint32_t format, collet_status status, const char *text)
{
    collet_array *info = info_array();
    fails(collet_op_ternary_unpack(cx, codes, scale, info, bytes, format), status, text);
    collet_array_destroy(bytes);
    collet_array_destroy(codes);
    collet_array_destroy(scale);
    collet_array_destroy(info);
}

static void unpacking_that_does_not_fit(void **state)
{
    (void)state;
    unpack_fails(untouchable(COLLET_I8, 1, SHAPE(256), NULL),
                 untouchable(COLLET_F32, 1, SHAPE(2), NULL),
                 untouchable(COLLET_U8, 1, SHAPE(54), NULL), COLLET_TERNARY_TQ1_0, COLLET_SHAPE,
                 "scale (output 1) has 2 scales in a row; a row of 256 weights has 1 blocks");
    unpack_fails(untouchable(COLLET_I8, 1, SHAPE(256), NULL), NULL,
                 untouchable(COLLET_U8, 1, SHAPE(66), NULL), COLLET_TERNARY_TQ1_0, COLLET_SHAPE,
                 "bytes (input 0) has rows of 66 bytes, codes (output 0) of 256 weights, which "
                 "take 54 bytes in "
                 "tq1_0");
    unpack_fails(untouchable(COLLET_I8, 1, SHAPE(256), NULL),
                 untouchable(COLLET_F32, 1, SHAPE(1), NULL),
                 untouchable(COLLET_U8, 1, SHAPE(64), NULL), COLLET_TERNARY_T2, COLLET_INVALID,
                 "the format t2 has no scales");
    unpack_fails(untouchable(COLLET_I8, 1, SHAPE(256), NULL), NULL,
                 untouchable(COLLET_U8, 1, SHAPE(64), SHAPE(-1)), COLLET_TERNARY_T2, COLLET_INVALID,
                 "the stride along the last axis of bytes (input 0) is -1");
}

static void product_fails(collet_dtype y, collet_array *w, collet_array *x, collet_status status,
                          const char *text)
{
    collet_array *out = untouchable(y, 1, collet_array_shape(w), NULL);
    fails(collet_op_ternary_matmul(cx, out, w, x), status, text);
    collet_array_destroy(out);
    collet_array_destroy(w);
    collet_array_destroy(x);
}

static void products_that_do_not_fit(void **state)
{
    const int64_t most = (int64_t)1 << 24, long_row = (int64_t)1 << 29, longest = long_row - 64;
    collet_array *odd = untouchable(COLLET_U8, 1, SHAPE(63), NULL), *out = info_array();
    collet_array *long_one = untouchable(COLLET_U8, 1, &long_row, NULL);
    collet_array *one = untouchable(COLLET_U8, 1, &longest, NULL);
    collet_array *apart = untouchable(COLLET_U8, 1, &longest, SHAPE(2));
    (void)state;
    fails(collet_op_ternary_dot(cx, out, odd, odd), COLLET_SHAPE,
          "ternary_dot: a (input 0) has rows of 63 bytes; rows of t2 have a multiple of 64");
    fails(collet_op_ternary_dot(cx, out, long_one, long_one), COLLET_OVERFLOW,
          "sums over rows of 536870912 bytes may not fit in 32 bits; at most 536870848");
    /* Input 0 has the maximum length. */
    fails(collet_op_ternary_dot(cx, out, one, apart), COLLET_INVALID,
          "the stride along the last axis of b (input 1) is 2");
    collet_array_destroy(one);
    collet_array_destroy(apart);
    collet_array_destroy(odd);
    collet_array_destroy(long_one);
    collet_array_destroy(out);
    product_fails(COLLET_I32, untouchable(COLLET_U8, 2, SHAPE(3, 64), NULL),
                  untouchable(COLLET_U8, 1, SHAPE(128), NULL), COLLET_SHAPE,
                  "ternary_matmul: weights (input 0) has rows of 64 bytes, x (input 1) of 128");
    product_fails(
        COLLET_I32, untouchable(COLLET_U8, 2, SHAPE(3, 64), NULL),
        untouchable(COLLET_I8, 1, SHAPE(257), NULL), COLLET_SHAPE,
        "weights (input 0) has rows of 64 bytes, x (input 1) of 257 weights, which take 128 bytes");
    product_fails(COLLET_I32, untouchable(COLLET_U8, 2, SHAPE(3, 64), NULL),
                  untouchable(COLLET_U8, 1, SHAPE(64), SHAPE(3)), COLLET_INVALID,
                  "the stride along the last axis of x (input 1) is 3");
    product_fails(COLLET_F32, untouchable(COLLET_U8, 2, SHAPE(3, 64), SHAPE(1, 3)),
                  untouchable(COLLET_F32, 1, SHAPE(9), NULL), COLLET_INVALID,
                  "the stride along the last axis of weights (input 0) is 3");
    product_fails(COLLET_I32, untouchable(COLLET_U8, 2, SHAPE(1, most / 4), NULL),
                  untouchable(COLLET_I8, 1, &most, NULL), COLLET_OVERFLOW,
                  "sums over rows of 16777216 weights may not fit in 32 bits; at most 16777215");
}

static void linear_fails(collet_array *w, collet_array *x, collet_ternary_linear_params params,
                         collet_status status, const char *text)
{
    collet_array *out = untouchable(COLLET_F32, 1, collet_array_shape(w), NULL);
    params.struct_size = sizeof params;
    fails(collet_op_ternary_linear(cx, out, w, x, NULL, NULL, &params), status, text);
    collet_array_destroy(out);
    collet_array_destroy(w);
    collet_array_destroy(x);
}

static void layers_that_do_not_fit(void **state)
{
    const int64_t most = (int64_t)1 << 24, wide[] = {1, most / 4};
    static const struct {
        collet_ternary_linear_params params;
        const char *text;
    } rows[] = {
        {{.activations = 3}, "ternary_linear: activations is 3"},
        {{.threshold = 0.5f}, "the threshold is 0.5, but this mode has none"},
        {{.activations = COLLET_TERNARY_F32, .threshold = 1},
         "the threshold is 1, but this mode has none"},
        {{.activations = COLLET_TERNARY_TERNARY, .threshold = -1}, "the threshold is -1"},
        {{.activations = COLLET_TERNARY_TERNARY, .threshold = INFINITY}, "the threshold is inf"},
        {{.activations = COLLET_TERNARY_TERNARY, .threshold = NAN}, "the threshold is "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        linear_fails(untouchable(COLLET_U8, 2, SHAPE(3, 64), NULL),
                     untouchable(COLLET_F32, 1, SHAPE(9), NULL), rows[i].params, COLLET_INVALID,
                     rows[i].text);
    linear_fails(untouchable(COLLET_U8, 2, SHAPE(3, 65), NULL),
                 untouchable(COLLET_F32, 1, SHAPE(9), NULL), rows[0].params, COLLET_INVALID,
                 "activations");
    const collet_ternary_linear_params int8 = {.activations = COLLET_TERNARY_INT8};
    linear_fails(untouchable(COLLET_U8, 2, SHAPE(3, 65), NULL),
                 untouchable(COLLET_F32, 1, SHAPE(9), NULL), int8, COLLET_SHAPE,
                 "weights (input 0) has rows of 65 bytes; rows of t2 have a multiple of 64");
    linear_fails(untouchable(COLLET_U8, 2, SHAPE(3, 64), NULL),
                 untouchable(COLLET_F32, 1, SHAPE(300), NULL), int8, COLLET_SHAPE,
                 "x (input 1) of 300 weights, which take 128 bytes in t2");
    linear_fails(untouchable(COLLET_U8, 2, wide, NULL), untouchable(COLLET_F32, 1, &most, NULL),
                 int8, COLLET_OVERFLOW, "rows of 16777216 weights");
}

static void quantizing_that_does_not_fit(void **state)
{
    static const struct {
        collet_ternary_quantize_params params;
        const char *text;
    } rows[] = {
        {{.mode = 2}, "ternary_quantize: mode is 2"},
        {{.threshold = -0.3f}, "the threshold is -0.3"},
        {{.threshold = NAN}, "it must be finite and not negative"},
        {{.mode = COLLET_TERNARY_ABSMEAN, .threshold = 0.25f},
         "the threshold is 0.25, but this mode has none"},
        {{.reserved = 1}, "ternary_quantize: a reserved field of its parameters is not 0"},
    };
    collet_array *in = untouchable(COLLET_F32, 1, SHAPE(9), NULL), *info = info_array();
    collet_array *codes = untouchable(COLLET_I8, 1, SHAPE(9), NULL);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        collet_ternary_quantize_params params = rows[i].params;
        params.struct_size = sizeof params;
        fails(collet_op_ternary_quantize(cx, codes, NULL, info, in, &params), COLLET_INVALID,
              rows[i].text);
    }
    collet_array_destroy(in);
    collet_array_destroy(codes);
    collet_array_destroy(info);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        TEST(bytes_of_rows),
        TEST(eight_weights),
        TEST(dots),
        TEST(quantized_at_a_threshold),
        TEST(one_code_of_11),
        TEST(blocks_of_gguf),
        TEST(bytes_that_packing_never_produces),
        TEST(packing_that_does_not_fit),
        TEST(unpacking_that_does_not_fit),
        TEST(products_that_do_not_fit),
        TEST(layers_that_do_not_fit),
        TEST(quantizing_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, set_up_scalar, tear_down);
}
