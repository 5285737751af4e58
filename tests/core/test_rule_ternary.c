/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ternary family: sizes of rows, bytes packed by another implementation, and the messages for
 * invalid calls. backend-check tests the results of each kernel.
 */
#include <sys/mman.h>

#include "common/fixture.h"
#include "common/ternary_support.h"

static collet_array *info_array(void)
{
    return array_for(cx, COLLET_I32, 0, NULL);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

TEST(bytes_of_rows)
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
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t got = collet_ternary_bytes(rows[i].format, rows[i].weights);
        if (got != rows[i].bytes)
            fail_msg("%lld weights in format %u: %lld bytes, not %lld", (long long)rows[i].weights,
                     rows[i].format, (long long)got, (long long)rows[i].bytes);
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
    FREED(void) *codes = file_of("codes.bin", 4 * 512),
                *scale = file_of("scale.bin", 4 * sizeof(float));
    FREED(void) *packed = file_of(name, (size_t)(4 * bytes));
    OWNED(collet_array) *code_array = array_of(cx, COLLET_I8, 2, SHAPE(4, 512), codes);
    OWNED(collet_array) *scale_array = array_of(cx, COLLET_F32, 1, SHAPE(4), scale),
                        *info = info_array();
    OWNED(collet_array) *out = array_for(cx, COLLET_U8, 2, SHAPE(4, bytes));
    OWNED(collet_array) *back = array_for(cx, COLLET_I8, 2, SHAPE(4, 512));
    OWNED(collet_array) *scales = array_for(cx, COLLET_F32, 2, SHAPE(4, 2));
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
}

TEST(blocks_of_gguf)
{
    round_trip(COLLET_TERNARY_TQ1_0, "tq1_0.bin", 108);
    round_trip(COLLET_TERNARY_TQ2_0, "tq2_0.bin", 132);
}

/* Any byte is read as five digits, also bytes that packing never produces. */
TEST(bytes_that_packing_never_produces)
{
    FREED(void) *bytes = file_of("any_tq1_0.bin", 5 * 54), *codes = file_of("any_codes.bin", 1280);
    OWNED(collet_array) *in = array_of(cx, COLLET_U8, 1, SHAPE(5 * 54), bytes),
                        *info = info_array();
    OWNED(collet_array) *out = array_for(cx, COLLET_I8, 1, SHAPE(1280));
    assert_ok(cx, collet_op_ternary_unpack(cx, out, NULL, info, in, COLLET_TERNARY_TQ1_0));
    assert_int_equal(number_in(cx, info), 0);
    assert_bytes(cx, out, codes);
}

/* ---- Invalid calls --------------------------------------------------------------------------- */

typedef struct operand {
    collet_dtype dtype; /* none: absent */
    int32_t ndim;
    int64_t shape[2], stride; /* stride of the last axis; 0: the elements are adjacent */
} operand;

#define ROW(dtype_, n) {.dtype = COLLET_##dtype_, .ndim = 1, .shape = {n}}
#define ROWS(dtype_, m, n) {.dtype = COLLET_##dtype_, .ndim = 2, .shape = {m, n}}
#define APART(dtype_, n, step) {.dtype = COLLET_##dtype_, .ndim = 1, .shape = {n}, .stride = step}
#define ROWS_APART(dtype_, m, n, step)                                                             \
    {.dtype = COLLET_##dtype_, .ndim = 2, .shape = {m, n}, .stride = step}
#define INFO {.dtype = COLLET_I32}
#define ABSENT {.dtype = COLLET_DTYPE_NONE}

typedef union params {
    uint32_t struct_size;
    collet_ternary_format_params format;
    collet_ternary_linear_params linear;
    collet_ternary_quantize_params quantize;
} params;

typedef struct invalid {
    uint32_t op, outputs;
    operand operands[6]; /* outputs first */
    collet_status status;
    const char *text;
    params given;
} invalid;

#define PACK(format_, status, text, bytes, codes, scale)                                           \
    {COLLET_OP_TERNARY_PACK, 2, {bytes, INFO, codes, scale}, status, text,                         \
     {.format = {sizeof(collet_ternary_format_params), format_}}}
#define UNPACK(format_, status, text, codes, scale, bytes)                                         \
    {COLLET_OP_TERNARY_UNPACK, 3, {codes, scale, INFO, bytes}, status, text,                       \
     {.format = {sizeof(collet_ternary_format_params), format_}}}
#define DOT(status, text, a, b) {COLLET_OP_TERNARY_DOT, 1, {INFO, a, b}, status, text, {0}}
#define MATMUL(status, text, y, w, x) {COLLET_OP_TERNARY_MATMUL, 1, {y, w, x}, status, text, {0}}
#define LINEAR(status, text, rows, bytes, weights, ...)                                            \
    {COLLET_OP_TERNARY_LINEAR, 1,                                                                  \
     {ROW(F32, rows), ROWS(U8, rows, bytes), ROW(F32, weights), ABSENT, ABSENT}, status, text,     \
     {.linear = {.struct_size = sizeof(collet_ternary_linear_params), __VA_ARGS__}}}
#define QUANTIZE(text, ...)                                                                        \
    {COLLET_OP_TERNARY_QUANTIZE, 3, {ROW(I8, 9), ABSENT, INFO, ROW(F32, 9)}, COLLET_INVALID, text, \
     {.quantize = {.struct_size = sizeof(collet_ternary_quantize_params), __VA_ARGS__}}}
#define INT8 .activations = COLLET_TERNARY_INT8
#define TERNARY .activations = COLLET_TERNARY_TERNARY
#define MOST ((int64_t)1 << 24)
#define LONG ((int64_t)1 << 29)

/* clang-format off: a table */
static const invalid calls[] = {
    PACK(COLLET_TERNARY_TQ2_0, COLLET_SHAPE,
         "ternary_pack: a row has 300 weights, but tq2_0 has blocks of 256",
         ROW(U8, 66), ROW(I8, 300), ABSENT),
    PACK(COLLET_TERNARY_T2, COLLET_SHAPE,
         "bytes (output 0) has rows of 63 bytes, codes (input 0) of 10 weights, which take 64 bytes in t2",
         ROW(U8, 63), ROW(I8, 10), ABSENT),
    PACK(COLLET_TERNARY_PLANES, COLLET_SHAPE, "which take 4 bytes in planes",
         ROW(U8, 2), ROW(I8, 10), ABSENT),
    PACK(COLLET_TERNARY_ROTOR, COLLET_INVALID, "the stride along the last axis of bytes (output 0) is 2",
         APART(U8, 3, 2), ROW(I8, 10), ABSENT),
    PACK(5, COLLET_INVALID, "format is 5; it must be 0 (t2) to 4 (tq1_0)",
         ROW(U8, 3), ROW(I8, 10), ABSENT),
    PACK(COLLET_TERNARY_ROTOR, COLLET_INVALID, "the format rotor has no scales",
         ROWS(U8, 2, 3), ROWS(I8, 2, 10), ROW(F32, 2)),
    UNPACK(COLLET_TERNARY_TQ1_0, COLLET_SHAPE,
           "scale (output 1) has 2 scales in a row; a row of 256 weights has 1 blocks",
           ROW(I8, 256), ROW(F32, 2), ROW(U8, 54)),
    UNPACK(COLLET_TERNARY_TQ1_0, COLLET_SHAPE,
           "bytes (input 0) has rows of 66 bytes, codes (output 0) of 256 weights, which take 54 bytes in tq1_0",
           ROW(I8, 256), ABSENT, ROW(U8, 66)),
    UNPACK(COLLET_TERNARY_T2, COLLET_INVALID, "the format t2 has no scales",
           ROW(I8, 256), ROW(F32, 1), ROW(U8, 64)),
    UNPACK(COLLET_TERNARY_T2, COLLET_INVALID, "the stride along the last axis of bytes (input 0) is -1",
           ROW(I8, 256), ABSENT, APART(U8, 64, -1)),
    DOT(COLLET_SHAPE, "ternary_dot: a (input 0) has rows of 63 bytes; rows of t2 have a multiple of 64",
        ROW(U8, 63), ROW(U8, 63)),
    DOT(COLLET_OVERFLOW, "sums over rows of 536870912 bytes may not fit in 32 bits; at most 536870848",
        ROW(U8, LONG), ROW(U8, LONG)),
    /* Input 0 has the maximum length. */
    DOT(COLLET_INVALID, "the stride along the last axis of b (input 1) is 2",
        ROW(U8, LONG - 64), APART(U8, LONG - 64, 2)),
    MATMUL(COLLET_SHAPE, "ternary_matmul: weights (input 0) has rows of 64 bytes, x (input 1) of 128",
           ROW(I32, 3), ROWS(U8, 3, 64), ROW(U8, 128)),
    MATMUL(COLLET_SHAPE, "weights (input 0) has rows of 64 bytes, x (input 1) of 257 weights, which take 128 bytes",
           ROW(I32, 3), ROWS(U8, 3, 64), ROW(I8, 257)),
    MATMUL(COLLET_INVALID, "the stride along the last axis of x (input 1) is 3",
           ROW(I32, 3), ROWS(U8, 3, 64), APART(U8, 64, 3)),
    MATMUL(COLLET_INVALID, "the stride along the last axis of weights (input 0) is 3",
           ROW(F32, 3), ROWS_APART(U8, 3, 64, 3), ROW(F32, 9)),
    MATMUL(COLLET_OVERFLOW, "sums over rows of 16777216 weights may not fit in 32 bits; at most 16777215",
           ROW(I32, 1), ROWS(U8, 1, MOST / 4), ROW(I8, MOST)),
    LINEAR(COLLET_INVALID, "ternary_linear: activations is 4", 3, 64, 9, .activations = 4),
    LINEAR(COLLET_INVALID, "activations", 3, 65, 9, .activations = 4),
    LINEAR(COLLET_INVALID, "the threshold is 0.5, but this mode has none", 3, 64, 9, .threshold = 0.5f),
    LINEAR(COLLET_INVALID, "the threshold is 1, but this mode has none",
           3, 64, 9, .activations = COLLET_TERNARY_F32, .threshold = 1),
    LINEAR(COLLET_INVALID, "the threshold is -1", 3, 64, 9, TERNARY, .threshold = -1),
    LINEAR(COLLET_INVALID, "the threshold is inf", 3, 64, 9, TERNARY, .threshold = INFINITY),
    LINEAR(COLLET_INVALID, "the threshold is ", 3, 64, 9, TERNARY, .threshold = NAN),
    LINEAR(COLLET_SHAPE, "weights (input 0) has rows of 65 bytes; rows of t2 have a multiple of 64",
           3, 65, 9, INT8),
    LINEAR(COLLET_SHAPE, "x (input 1) of 300 weights, which take 128 bytes in t2", 3, 64, 300, INT8),
    LINEAR(COLLET_OVERFLOW, "rows of 16777216 weights", 1, MOST / 4, MOST, INT8),
    LINEAR(COLLET_OVERFLOW, "rows of 16777216 weights", 1, MOST / 4, MOST, .activations = COLLET_TERNARY_INT4),
    QUANTIZE("ternary_quantize: mode is 2", .mode = 2),
    QUANTIZE("the threshold is -0.3", .threshold = -0.3f),
    QUANTIZE("it must be finite and not negative", .threshold = NAN),
    QUANTIZE("the threshold is 0.25, but this mode has none", .mode = COLLET_TERNARY_ABSMEAN, .threshold = 0.25f),
    QUANTIZE("ternary_quantize: a reserved field of its parameters is not 0", .reserved = 1),
};
/* clang-format on */

/* An array in inaccessible memory: the calls fail before they access it. NULL: absent. */
static collet_array *untouchable(const operand *o)
{
    static char *memory;
    const size_t size = (size_t)1 << 30;
    const int64_t strides[] = {o->ndim == 2 ? 1 : o->stride, o->stride};
    collet_array *a = NULL;
    if (!memory)
        memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    if (o->dtype != COLLET_DTYPE_NONE)
        assert_ok(cx, collet_array_wrap(cx, &a, o->dtype, o->ndim, o->shape,
                                        o->stride ? strides : NULL, memory + size / 2, 0, NULL, NULL));
    return a;
}

TEST(invalid_calls)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const invalid *c = &calls[i];
        collet_array *operands[6];
        for (size_t k = 0; k < 6; k++)
            operands[k] = untouchable(&c->operands[k]);
        collet_status status =
            collet_call(cx, c->op, operands, (const collet_array *const *)&operands[c->outputs],
                        c->given.struct_size ? &c->given : NULL);
        if (status != c->status)
            print_error("call %zu\n", i);
        assert_status(cx, status, c->status, c->text);
        for (size_t k = 0; k < 6; k++)
            collet_array_destroy(operands[k]);
    }
}

TEST_GROUP(set_up_scalar, tear_down)
