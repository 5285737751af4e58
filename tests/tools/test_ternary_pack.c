/* SPDX-License-Identifier: Apache-2.0 */
/* collet-ternary on valid input: known bytes, every dtype and format, round trips, networks. */

#include "directory.h"
#include "json_expect.h"
#include "safetensors_files.h"
#include "ternary_runs.h"
#include "io/utf8.h"

#define ROWS 5
#define COLUMNS 512
#define CORPUS COLLET_TEST_CORPUS "/gguf/"

static int8_t codes[ROWS * COLUMNS];

static int set_up(void **state)
{
    directory = io_make_directory();
    for (int i = 0; i < ROWS * COLUMNS; i++)
        codes[i] = (int8_t)((i * 7 + i / 11) % 3 - 1);
    ternary_npy(directory, "codes.npy", "|i1", ROWS, COLUMNS, codes);
    return 0;
}

static cJSON *info_of(const char *name)
{
    tool_result result = TERNARY(directory, "info", name, "--json");
    return parsed(&result, 0);
}

static const cJSON *layer_of(const cJSON *info, int index)
{
    return cJSON_GetArrayItem(member(info, "layers"), index);
}

/* ---- Tests --------------------------------------------------------------------------------- */

/* The bit planes are 10010001 (+1) and 01001000 (-1), first weight leftmost. In the file the first
 * weight is the lowest bit. */
TEST(test_known_bytes)
{
    static const int8_t eight[8] = {1, -1, 0, 1, -1, 0, 0, 1};
    static const uint8_t planes[2] = {0x89, 0x12}, rotor[2] = {0x86, 0x81};
    static const float numbers[7] = {.9f, .5f, .2f, 0, -.2f, -.5f, -.9f};
    static const int8_t quantized[7] = {1, 1, 0, 0, 0, -1, -1};

    ternary_npy(directory, "8.npy", "|i1", 8, -1, eight);
    RUN_OK(directory, "pack", "8.npy", "-o", "8.t2", "--format", "planes");
    RUN_OK(directory, "unpack", "8.t2", "--bytes", "-o", "bytes.npy");
    ternary_expect(directory, "bytes.npy", "|u1", 1, 2, planes);
    RUN_OK(directory, "pack", "8.npy", "-o", "8.t2", "--format", "rotor");
    RUN_OK(directory, "unpack", "8.t2", "--bytes", "-o", "bytes.npy");
    ternary_expect(directory, "bytes.npy", "|u1", 1, 2, rotor);
    RUN_OK(directory, "unpack", "8.t2", "-o", "back.npy");
    ternary_expect(directory, "back.npy", "|i1", 1, 8, eight);
    ternary_npy(directory, "7.npy", "<f4", 7, -1, numbers);
    RUN_OK(directory, "pack", "7.npy", "-o", "7.t2"); /* the default, 0.3 */
    RUN_OK(directory, "unpack", "7.t2", "-o", "back.npy");
    ternary_expect(directory, "back.npy", "|i1", 1, 7, quantized);
}

TEST(test_formats)
{
    static const char *const formats[] = {"t2", "planes", "rotor", "tq2_0", "tq1_0"};
    static const double bits[] = {2, 2, 2, 2.0625, 1.6875};

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int minus = 0, plus = 0;
        RUN_OK(directory, "pack", "codes.npy", "-o", "w.t2", "--format", formats[i]);
        RUN_OK(directory, "unpack", "w.t2", "-o", "back.npy");
        ternary_expect(directory, "back.npy", "|i1", ROWS, COLUMNS, codes);
        OWNED(cJSON) *info = info_of("w.t2");
        const cJSON *layer = layer_of(info, 0), *memory = member(info, "memory");
        for (int k = 0; k < ROWS * COLUMNS; k++) {
            minus += codes[k] == -1;
            plus += codes[k] == 1;
        }
        assert_string_equal(text_of(layer, "name"), "codes");
        assert_string_equal(text_of(layer, "type"), formats[i]);
        assert_true(number_of(layer, "bits_per_weight") == bits[i]);
        assert_int_equal((int)number_of(layer, "minus"), minus);
        assert_int_equal((int)number_of(layer, "plus"), plus);
        assert_int_equal((int)number_of(layer, "zero"), ROWS * COLUMNS - plus - minus);
        assert_int_equal((int)number_of(layer, "invalid"), 0);
        assert_true(number_of(memory, "packed") == bits[i] / 8 * ROWS * COLUMNS);
        assert_true(number_of(memory, "int8") == ROWS * COLUMNS);
        assert_true(number_of(memory, "fp16") == 2 * ROWS * COLUMNS);
        assert_true(number_of(memory, "fp32") == 4 * ROWS * COLUMNS);
    }
}

/* The same weights in f2, f4, f8, GGUF BF16 and the opposite byte order give the same codes. */
TEST(test_dtypes)
{
    float f4[ROWS * COLUMNS];
    double f8[ROWS * COLUMNS];
    uint64_t swapped[ROWS * COLUMNS];
    uint16_t f2[ROWS * COLUMNS], bf16[ROWS * COLUMNS];

    for (int i = 0; i < ROWS * COLUMNS; i++) {
        f8[i] = codes[i] * 0.5;
        f4[i] = (float)f8[i];
        memcpy(&swapped[i], &f8[i], 8);
        swapped[i] = __builtin_bswap64(swapped[i]);
        f2[i] = codes[i] == 0 ? 0 : codes[i] == 1 ? 0x3800 : 0xB800;
        bf16[i] = codes[i] == 0 ? 0 : codes[i] == 1 ? 0x3F00 : 0xBF00;
    }
    ternary_npy(directory, "f2.npy", "<f2", ROWS, COLUMNS, f2);
    ternary_npy(directory, "f4.npy", "<f4", ROWS, COLUMNS, f4);
    ternary_npy(directory, "f8.npy", "<f8", ROWS, COLUMNS, f8);
    ternary_npy(directory, "f8b.npy", ">f8", ROWS, COLUMNS, swapped);
    ternary_write_gguf(directory, "bf16.gguf", 30, ROWS, COLUMNS, bf16, sizeof bf16);
    ternary_write_gguf(directory, "f16.gguf", 1, ROWS, COLUMNS, f2, sizeof f2);
    ternary_write_gguf(directory, "i8.gguf", 24, ROWS, COLUMNS, codes, sizeof codes);
    static const char *const names[] = {"f2.npy",      "f4.npy",     "f8.npy",   "f8b.npy",
                                        "bf16.gguf:w", "f16.gguf:w", "i8.gguf:w"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        RUN_OK(directory, "pack", names[i], "-o", "w.t2");
        RUN_OK(directory, "unpack", "w.t2", "-o", "back.npy");
        ternary_expect(directory, "back.npy", "|i1", ROWS, COLUMNS, codes);
    }
    /* Weights that are already ternary keep their scale. */
    RUN_OK(directory, "pack", "f4.npy", "-o", "w.t2", "--absmean");
    RUN_OK(directory, "unpack", "w.t2", "-o", "back.npy", "--values");
    OWNED(io_bytes) bytes = {0};
    npy_array back = ternary_load(directory, "back.npy", &bytes);
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            float value;
            memcpy(&value, back.data + 4 * (r * COLUMNS + c), 4);
            assert_true(value == f4[r * COLUMNS + c]);
        }
    }
}

/* Fails unless the layer's codes times its scales are these numbers. */
static void expect_values(const char *name, const float *values)
{
    RUN_OK(directory, "unpack", name, "-o", "back.npy", "--values");
    ternary_expect(directory, "back.npy", "<f4", ROWS, COLUMNS, values);
}

/* Ternary weights as BitNet converters write them, with one scale or a scale for each row, are kept
 * exactly. This holds for .npy and GGUF files, and for unpacked weights. An explicit threshold turns
 * weights into zeros, with a warning. */
TEST(test_already_ternary)
{
    static const char *const names[] = {"w.npy", "w.gguf:w", "back.npy"};
    float values[ROWS * COLUMNS];

    for (int each = 0; each < 2; each++) {
        for (int i = 0; i < ROWS * COLUMNS; i++)
            values[i] =
                codes[i] ? 0.0243f * (float)codes[i] / (float)(each ? i / COLUMNS + 1 : 1) : 0;
        ternary_npy(directory, "w.npy", "<f4", ROWS, COLUMNS, values);
        ternary_write_gguf(directory, "w.gguf", 0, ROWS, COLUMNS, values, sizeof values);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            RUN_OK(directory, "pack", names[i], "-o", "w.t2");
            expect_values("w.t2", values);
            RUN_OK(directory, "pack", names[i], "-o", "w.t2", "--absmean", "--format", "planes");
            expect_values("w.t2", values);
        }
    }
    tool_result result = TERNARY(directory, "pack", "w.npy", "-o", "w.t2", "--threshold", "0.3");
    EXPECT_ERR(result, 0,
               "collet-ternary: warning: w.npy: 100 % of the 2560 codes are 0 with "
               "the threshold 0.3");
}

/* TQ2_0 of a GGUF file gives the same bytes as packing the codes, and its scale is kept. */
TEST(test_gguf_blocks)
{
    static const uint32_t types[] = {35, 34};
    static const char *const formats[] = {"tq2_0", "tq1_0"};
    io_bytes bytes;

    ternary_npy(directory, "scale.npy", "<f4", 1, -1, &(float){0.25f});
    for (int i = 0; i < 2; i++) {
        RUN_OK(directory, "pack", "codes.npy", "--scale", "scale.npy", "-o", "w.t2", "--format",
               formats[i]);
        RUN_OK(directory, "unpack", "w.t2", "-o", "bytes.npy", "--bytes");
        npy_array array = ternary_load(directory, "bytes.npy", &bytes);
        ternary_write_gguf(directory, "w.gguf", types[i], ROWS, COLUMNS, array.data, array.size);
        free(bytes.data);
        RUN_OK(directory, "unpack", "w.gguf:w", "-o", "back.npy");
        ternary_expect(directory, "back.npy", "|i1", ROWS, COLUMNS, codes);
        if (i) /* quantizes the values again */
            RUN_OK(directory, "pack", "w.gguf:w", "-o", "t2.t2", "--absmean");
        else
            RUN_OK(directory, "pack", "w.gguf:w", "-o", "t2.t2");
        RUN_OK(directory, "unpack", "t2.t2", "-o", "back.npy", "--values");
        npy_array values = ternary_load(directory, "back.npy", &bytes);
        for (int k = 0; k < ROWS * COLUMNS; k++) {
            float value;
            memcpy(&value, values.data + 4 * k, 4);
            assert_true(value == 0.25f * (float)codes[k]);
        }
        free(bytes.data);
    }
    tool_result result = ternary_tool(directory, 0, (const char *const[]){"info", "w.gguf", NULL});
    EXPECT_OUT(result, 0, "1 tensor\n  TQ1_0    5 x 512  w\n");
    OWNED(cJSON) *info = info_of("w.gguf:w");
    assert_string_equal(text_of(layer_of(info, 0), "type"), "tq1_0");
    assert_true(number_of(layer_of(info, 0), "plus") > 0);
}

/* Q2_0 in both layouts: codes and scales are kept. */
TEST(test_gguf_q2_0)
{
    static const double bits[] = {2.25, 2.125};
    static uint8_t blocks[ROWS * COLUMNS / 64 * 18];

    for (int layout = 0; layout < 2; layout++) {
        int weights = layout ? 128 : 64, size = 2 + weights / 4;
        memset(blocks, 0, sizeof blocks);
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            uint8_t *block = blocks + i / weights * size;
            block[1] = 0x34; /* 0.25 in f16 */
            block[2 + i % weights / 4] |= (uint8_t)((codes[i] + 1) << 2 * (i % 4));
        }
        ternary_write_gguf(directory, "w.gguf", 42, ROWS, COLUMNS, blocks,
                           (size_t)(ROWS * COLUMNS / weights * size));
        RUN_OK(directory, "unpack", "w.gguf:w", "-o", "back.npy");
        ternary_expect(directory, "back.npy", "|i1", ROWS, COLUMNS, codes);
        RUN_OK(directory, "pack", "w.gguf:w", "-o", "w.t2");
        float values[ROWS * COLUMNS];
        for (int i = 0; i < ROWS * COLUMNS; i++)
            values[i] = 0.25f * (float)codes[i];
        expect_values("w.t2", values);
        cJSON *info = info_of("w.gguf:w");
        assert_string_equal(text_of(layer_of(info, 0), "type"), layout ? "Q2_0/128" : "Q2_0/64");
        assert_true(number_of(layer_of(info, 0), "bits_per_weight") == bits[layout]);
        assert_true(number_of(layer_of(info, 0), "invalid") == 0);
        cJSON_Delete(info);
        tool_result result = TERNARY(directory, "info", "w.gguf");
        EXPECT_OUT(result, 0,
                   layout ? "1 tensor\n  Q2_0/128 5 x 512  w\n"
                          : "1 tensor\n  Q2_0/64  5 x 512  w\n");
    }
}

/* Packed weights of BitNet: the codes and the scale, or its reciprocal, are kept. */
TEST(test_bitnet)
{
    static const char *const classes[] = {"bitlinear", "autobitlinear"};
    static const float s = 0.25f;
    enum { FOURS = 4 }; /* rows: a multiple of 4 */
    static uint8_t packed[FOURS / 4 * COLUMNS];
    const safetensors_tensor two[] = {{"up.weight", "U8", "[1, 512]", packed, sizeof packed},
                                      {"up.weight_scale", "F32", "[1]", &s, 4}};

    safetensors_pack(packed, codes, FOURS, COLUMNS);
    safetensors_save(io_path(directory, "model.safetensors"), two, 2);
    for (int i = 0; i < 2; i++) {
        char config[100];
        float values[FOURS * COLUMNS];
        int n = snprintf(config, sizeof config,
                         "{\"quantization_config\": {\"linear_class\": \"%s\"}}", classes[i]);
        io_save(io_path(directory, "config.json"), config, (size_t)n);
        for (int k = 0; k < FOURS * COLUMNS; k++)
            values[k] = (i ? 0.25f : 4) * (float)codes[k];
        RUN_OK(directory, "pack", "model.safetensors:up.weight", "-o", "w.t2");
        RUN_OK(directory, "unpack", "w.t2", "-o", "back.npy", "--values");
        ternary_expect(directory, "back.npy", "<f4", FOURS, COLUMNS, values);
        RUN_OK(directory, "unpack", "model.safetensors:up.weight", "-o", "back.npy", "--values");
        ternary_expect(directory, "back.npy", "<f4", FOURS, COLUMNS, values);
    }
    tool_result result =
        TERNARY(directory, "unpack", "model.safetensors:up.weight", "--bytes", "-o", "none.npy");
    EXPECT_ERR(result, 1, "rows have no bytes of their own; write codes or values");
    result = TERNARY(directory, "info", "model.safetensors");
    EXPECT_OUT(result, 0,
               "safetensors, 2 tensors\n  BitNet   4 x 512  up.weight\n"
               "  F32      1  up.weight_scale\n");
    OWNED(cJSON) *info = info_of("model.safetensors:up.weight");
    assert_string_equal(text_of(layer_of(info, 0), "type"), "BitNet");
    assert_true(number_of(layer_of(info, 0), "bits_per_weight") == 2);
    assert_true(number_of(layer_of(info, 0), "invalid") == 0);
    cJSON_Delete(info);
    info = info_of("w.t2");
    assert_string_equal(text_of(layer_of(info, 0), "name"), "up.weight");
}

static void expect_listing(const char *name, const char *text)
{
    tool_result result = TERNARY(directory, "info", name);

    EXPECT_OUT(result, 0, text);
}

/* Text and JSON report the faults of invalid tensors. The other tensors of the file are listed
 * and read. */
TEST(test_gguf_odd_tensors)
{
    float values[2];

    expect_listing(
        CORPUS "odd_tensors",
        "gguf version 3, 7 tensors, 6 of them cannot be read\n"
        "  F32      -  none  (not read: the tensor has no axes; 1 or 2 are supported)\n"
        "  F32      0 x 4  empty  (not read: the tensor has no weights: an extent is 0)\n"
        "  F32      2 x 1 x 1 x 1 x 1  five  (not read: the tensor has more than 2 axes, rows ");
    expect_listing(CORPUS "odd_tensors", "  F32      2  w\n");
    RUN_OK(directory, "pack", CORPUS "odd_tensors:w", "--threshold", "1.5", "-o", "w.t2");
    RUN_OK(directory, "unpack", "w.t2", "--values", "-o", "w.npy");
    io_bytes bytes = io_load(io_path(directory, "w.npy"));
    memcpy(values, bytes.data + bytes.size - sizeof values, sizeof values);
    assert_true(values[0] == 0 && values[1] == 1);
    free(bytes.data);

    OWNED(cJSON) *info = info_of(CORPUS "odd_tensors");
    const cJSON *tensors = member(info, "tensors");
    assert_int_equal(cJSON_GetArraySize(tensors), 7);
    assert_string_equal(
        text_of(cJSON_GetArrayItem(tensors, 5), "fault"),
        "the tensor's data end after the end of the file, which is truncated or damaged");
    assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(tensors, 6), "fault"));
    assert_null(cJSON_GetObjectItem(info, "parts"));
}

TEST(test_gguf_listing)
{
    expect_listing(CORPUS "names", "  F32      2  größe.重み\n"
                                   "  F32      2  a\\x1b[2J\\xff\\xc2\\x9b\n");
    expect_listing(CORPUS "marks", "  F32      2  gpj.\\xe2\\x80\\xaetxe\n");
    expect_listing(CORPUS "namesakes",
                   "5 tensors, 3 of them cannot be read\n"
                   "  F32      2  v  (not read: another tensor of the file has this name)\n"
                   "  F32      2  w\n");
    expect_listing(CORPUS "alignment_u64", "1 tensor\n  F32      2  w\n");
    expect_listing(CORPUS "split", "gguf version 3, 1 tensor; part 2 of 3 of a split file\n");
    OWNED(cJSON) *info = info_of(CORPUS "split");
    assert_true(number_of(info, "part") == 2 && number_of(info, "parts") == 3);
}

/* A .t2 file stores scales separately: scales in the blocks of a layer without scale are ignored.
 */
TEST(test_block_scales)
{
    static const uint8_t two[2] = {0x00, 0x40}, x[COLUMNS] = {1, 1};
    float values[ROWS * COLUMNS];
    OWNED(io_bytes) bytes = {0};

    RUN_OK(directory, "pack", "codes.npy", "-o", "w.t2", "--format", "tq2_0");
    RUN_OK(directory, "unpack", "w.t2", "-o", "bytes.npy", "--bytes");
    npy_array rows = ternary_load(directory, "bytes.npy", &bytes);
    uint8_t *blocks = bytes.data + (rows.data - bytes.data);
    for (size_t at = 64; at < rows.size; at += 66)
        memcpy(blocks + at, two, sizeof two);
    ternary_t2_layer layer = {.format = COLLET_TERNARY_TQ2_0,
                              .rows = ROWS,
                              .columns = COLUMNS,
                              .activations = COLLET_TERNARY_F32};
    ternary_write_t2(directory, "two.t2", &layer, blocks, rows.size);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = codes[i];
    RUN_OK(directory, "unpack", "two.t2", "-o", "back.npy", "--values");
    ternary_expect(directory, "back.npy", "<f4", ROWS, COLUMNS, values);
    ternary_npy(directory, "x2.npy", "|i1", 1, COLUMNS, x);
    RUN_OK(directory, "run", "two.t2", "x2.npy", "-o", "y.npy");
    for (int r = 0; r < ROWS; r++)
        values[r] = (float)(codes[r * COLUMNS] + codes[r * COLUMNS + 1]);
    ternary_expect(directory, "y.npy", "<f4", 1, ROWS, values);
    /* In a GGUF file the blocks hold the only scales. */
    ternary_write_gguf(directory, "two.gguf", 35, ROWS, COLUMNS, blocks, rows.size);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = 2 * codes[i];
    RUN_OK(directory, "unpack", "two.gguf:w", "-o", "back.npy", "--values");
    ternary_expect(directory, "back.npy", "<f4", ROWS, COLUMNS, values);
}

/* ---- Networks ------------------------------------------------------------------------------ */

#define VECTORS 3

static const int8_t second[2 * ROWS] = {1, 0, -1, 1, 0, 0, 1, 1, 0, -1};
static const float bias[ROWS] = {1, -2, 3, -4, 5}, scale[ROWS] = {.5f, 1, 2, .25f, 1};

/* Computes layer 0, relu(scale * sum + bias), and then layer 1. Every number is exact. */
static void compute_network(int8_t x[VECTORS * COLUMNS], float y[VECTORS][2])
{
    for (int v = 0; v < VECTORS; v++) {
        float h[ROWS];
        for (int c = 0; c < COLUMNS; c++)
            x[v * COLUMNS + c] = (int8_t)((c * 5 + v * 3) % 9 - 4);
        for (int r = 0; r < ROWS; r++) {
            int sum = 0;
            for (int c = 0; c < COLUMNS; c++)
                sum += codes[r * COLUMNS + c] * x[v * COLUMNS + c];
            h[r] = scale[r] * (float)sum + bias[r];
            h[r] = h[r] < 0 ? 0 : h[r];
        }
        for (int o = 0; o < 2; o++) {
            y[v][o] = 0;
            for (int r = 0; r < ROWS; r++)
                y[v][o] += (float)second[o * ROWS + r] * h[r];
        }
    }
}

static void pack_network(const char *format)
{
    ternary_npy(directory, "second.npy", "|i1", 2, ROWS, second);
    ternary_npy(directory, "b.npy", "<f4", ROWS, -1, bias);
    ternary_npy(directory, "s.npy", "<f4", ROWS, -1, scale);
    RUN_OK(directory, "pack", "--activations", "f32", "codes.npy", "--bias", "b.npy", "--scale",
           "s.npy", "--relu", "second.npy", "-o", "model.t2", "--format", format);
}

/* Running model.t2 on the file X gives `values` with these axes. */
static void expect_run(const char *x, int32_t ndim, const int64_t *axes, const void *values,
                       size_t size)
{
    OWNED(io_bytes) bytes = {0};

    RUN_OK(directory, "run", "model.t2", x, "-o", "y.npy");
    npy_array y = ternary_load(directory, "y.npy", &bytes);
    assert_string_equal(y.descr, "<f4");
    assert_int_equal(y.ndim, ndim);
    assert_memory_equal(y.shape, axes, (size_t)ndim * sizeof *axes);
    assert_int_equal(y.size, size);
    assert_memory_equal(y.data, values, size);
}

TEST(test_network)
{
    static const char *const formats[] = {"t2", "rotor"};
    static const int64_t axes[] = {VECTORS, 2};
    int8_t x[VECTORS * COLUMNS];
    float expected[VECTORS][2];

    compute_network(x, expected);
    ternary_npy(directory, "x.npy", "|i1", VECTORS, COLUMNS, x);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        pack_network(formats[i]);
        expect_run("x.npy", 2, axes, expected, sizeof expected);
    }
    OWNED(cJSON) *info = info_of("model.t2");
    const cJSON *layer = layer_of(info, 0);
    assert_string_equal(text_of(layer, "activations"), "f32");
    assert_true(cJSON_IsTrue(member(layer, "relu")) && cJSON_IsTrue(member(layer, "bias")));
    assert_true(cJSON_IsFalse(member(layer_of(info, 1), "relu")));
}

/* All axes before the last are kept, even if there is no vector or only one vector. */
TEST(test_axes_of_vectors)
{
    static const int64_t four[] = {1, VECTORS, 1, 2}, none[] = {2, 0, 2}, one[] = {2};
    int8_t x[VECTORS * COLUMNS];
    float expected[VECTORS][2];

    compute_network(x, expected);
    pack_network("t2");
    ternary_npy_shaped(directory, "x4.npy", "|i1", "(1, 3, 1, 512)", VECTORS * COLUMNS, x);
    expect_run("x4.npy", 4, four, expected, sizeof expected);
    ternary_npy_shaped(directory, "x0.npy", "|i1", "(2, 0, 512)", 0, x);
    expect_run("x0.npy", 3, none, expected, 0);
    ternary_npy(directory, "x1.npy", "|i1", COLUMNS, -1, x);
    expect_run("x1.npy", 1, one, expected[0], sizeof expected[0]);
}

/* ---- The program --------------------------------------------------------------------------- */

/* File names may contain any bytes; names derived from them and printed text are valid text. */
TEST(test_names)
{
#define DIGITS_54 "123456789012345678901234567890123456789012345678901234"
    static const char *const files[] = {"\033[2J\xFF.npy", "x\xC3\xA9\xC3\xA9\xC3\xA9.npy",
                                        DIGITS_54 "\xC3\xA9.npy"};
    static const char *const names[] = {"?[2J?", "x\xC3\xA9\xC3\xA9\xC3\xA9", DIGITS_54};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ternary_npy(directory, files[i], "|i1", ROWS, COLUMNS, codes);
        RUN_OK(directory, "pack", files[i], "-o", "w\xFF\xC3.t2");
        tool_result result = TERNARY(directory, "info", "w\xFF\xC3.t2", "--json");
        for (size_t at = 0, n = strlen(result.out); at < n;) {
            size_t bytes = io_utf8_character(result.out + at, n - at);
            assert_true(bytes > 0 || result.out[at] == '\n' || result.out[at] == '\t');
            at += bytes > 0 ? bytes : 1;
        }
        OWNED(cJSON) *info = parsed(&result, 0);
        assert_string_equal(text_of(layer_of(info, 0), "name"), names[i]);
        assert_string_equal(text_of(info, "file"), "w\\xff\\xc3.t2");
    }
}

TEST(test_help)
{
    tool_result help = TOOL("collet-ternary", "--help");
    tool_result version = TOOL("collet-ternary", "--version");

    EXPECT_OUT(help, 0, "\n  pack  ");
    assert_null(strstr(help.out, "--absmean"));
    assert_contains(help.out, "Exit status");
    EXPECT_OUT(version, 0, COLLET_VERSION);
}

/* The help of a command lists exactly its own options and the common options. */
TEST(test_help_of_commands)
{
    static const struct {
        const char *command, *has, *lacks;
    } cases[] = {{"pack", "--absmean", "--labels"},
                 {"unpack", "--values", "--absmean"},
                 {"info", "--json", "FILE                    "},
                 {"run", "--labels", "--absmean"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const names[] = {"--help", "-h", "-?"};
        for (size_t k = 0; k < (WATCHED ? 1 : 3); k++) {
            tool_result help = TOOL("collet-ternary", cases[i].command, names[k]);
            char usage[60];
            tool_expect(&help, 0);
            snprintf(usage, sizeof usage, "Usage: collet-ternary %s ", cases[i].command);
            assert_contains(help.out, usage, cases[i].has, "--backend");
            assert_null(strstr(help.out, cases[i].lacks));
        }
    }
}

/* Rows of 64 weights take a block of 256; the padding is reported separately from the 2 bits. */
TEST(test_padding)
{
    static int8_t few[4 * 64];

    for (int i = 0; i < 4 * 64; i++)
        few[i] = (int8_t)(i % 3 - 1);
    ternary_npy(directory, "few.npy", "|i1", 4, 64, few);
    RUN_OK(directory, "pack", "few.npy", "-o", "few.t2");
    tool_result result = ternary_tool(directory, 0, (const char *const[]){"info", "few.t2", NULL});
    EXPECT_OUT(result, 0, "4 x 64 t2, 2 bits a weight + 6 of padding",
               "as packed here      256 B     1.00 x\n", "fp32                1 KiB     4.00 x\n",
               "192 B of what is packed here pads rows to whole blocks\n");
    ternary_npy(directory, "two.npy", "|i1", 4, 2, few);
    RUN_OK(directory, "pack", "two.npy", "-o", "two.t2");
    result = ternary_tool(directory, 0, (const char *const[]){"info", "two.t2", NULL});
    EXPECT_OUT(result, 0, "4 x 2 t2, 2 bits a weight + 254 of padding");
    OWNED(cJSON) *info = info_of("few.t2");
    assert_true(number_of(layer_of(info, 0), "bits_per_weight") == 2);
    assert_true(number_of(layer_of(info, 0), "padding_bits_per_weight") == 6);
    assert_true(number_of(member(info, "memory"), "packed") == 256);
    assert_true(number_of(member(info, "memory"), "padding") == 192);
}

TEST_GROUP(set_up, remove_directory)
