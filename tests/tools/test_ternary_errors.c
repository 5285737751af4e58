/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet-ternary on bad input: each case has its own message and status, and leaves the directory
 * with the output of an earlier run unchanged.
 */

#include "directory.h"
#include "json_expect.h"
#include "safetensors_files.h"
#include "ternary_runs.h"

#include <signal.h>

#define K 256
#define CORPUS COLLET_TEST_CORPUS "/"

static const char former[] = "the output of an earlier run";

/* Rows of K numbers for valid files: codes, floats, vectors. */
static int8_t codes[4 * K];
static float floats[4 * K];

static int set_up(void **state)
{
    directory = io_make_directory();
    for (int i = 0; i < 4 * K; i++) {
        codes[i] = (int8_t)(i % 3 - 1);
        floats[i] = (float)codes[i];
    }
    io_save(io_path(directory, "out"), former, sizeof former);
    io_save(io_path(directory, "text"), former, sizeof former);
    ternary_npy(directory, "c.npy", "|i1", 4, K, codes);
    ternary_npy(directory, "f.npy", "<f4", 4, K, floats);
    ternary_npy(directory, "x.npy", "<f4", 2, K, floats);
    RUN_OK(directory, "pack", "c.npy", "-o", "good.t2");
    return 0;
}

/* The run fails with this status, prints `part`, and changes no files. */
static void check(int status, const char *part, const char *const *args)
{
    int before = io_count_entries(directory);
    tool_result result = ternary_tool(directory, 1, args);

    tool_expect(&result, status);
    assert_string_equal(result.out, "");
    assert_memory_equal(result.err, "collet-ternary", 14); /* and ": ", or the command */
    assert_contains(result.err, part);
    assert_int_equal(io_count_entries(directory), before);
    OWNED(io_bytes) bytes = io_load(io_path(directory, "out"));
    assert_int_equal(bytes.size, sizeof former);
    assert_memory_equal(bytes.data, former, sizeof former);
}

/* CHECK adds the output `-o out`. */
#define CHECK_PLAIN(part, ...) check(1, part, (const char *const[]){__VA_ARGS__, NULL})
#define CHECK(part, ...) check(1, part, (const char *const[]){__VA_ARGS__, "-o", "out", NULL})
/* The options do not fit the files: status 2. */
#define REFUSE(part, ...) check(2, part, (const char *const[]){__VA_ARGS__, NULL})

/* ---- Weights ------------------------------------------------------------------------------- */

TEST(weights)
{
    CHECK("No such file", "pack", "nothing.npy");
    CHECK("a directory", "pack", ".");
    CHECK("not a .t2, .npy, GGUF or safetensors file", "pack", "text");
    REFUSE("would replace the input", "pack", "out", "-o", "out");
    CHECK("the file is already packed", "pack", "good.t2");
    CHECK("has 0 axes", "pack", CORPUS "npy/scalar");
    CHECK("but it has 95", "pack", CORPUS "npy/truncated");
    CHECK("more elements than 64 bits", "pack", CORPUS "npy/overflow");
    CHECK("the elements are i64", "pack", CORPUS "npy/empty_rows");
    ternary_npy(directory, "u.npy", "|u1", 4, K, codes);
    CHECK("the elements are u8; weights must be f2, f4 or f8, and codes i1", "pack", "u.npy");
    ternary_npy(directory, "u.npy", "\033[4\233", 1, K, codes);
    CHECK("dtype '?[4?' is not supported", "pack", "u.npy");
    ternary_npy(directory, "e.npy", "<f4", 0, K, NULL);
    CHECK("has no weights", "pack", "e.npy");
    ternary_npy(directory, "odd.npy", "|i1", 1, 10, codes);
    CHECK("need a multiple of 256", "pack", "odd.npy", "--format", "tq1_0");
    CHECK("the matrix has codes", "pack", "c.npy", "--absmean");
    CHECK_PLAIN("there is no directory none/", "pack", "c.npy", "-o", "none/x.t2");
    REFUSE("would replace the input", "pack", "c.npy", "-o", "c.npy");
}

TEST(values)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};

    for (int i = 0; i < 3; i++) {
        float kept = floats[3 * K + 7];
        floats[3 * K + 7] = bad[i];
        ternary_npy(directory, "bad.npy", "<f4", 4, K, floats);
        floats[3 * K + 7] = kept;
        CHECK("bad.npy: row 3, column 7 is", "pack", "bad.npy");
        CHECK("weights must be finite", "pack", "bad.npy", "--absmean");
    }
    ternary_npy(directory, "bad.npy", "<f2", 1, 2, (uint16_t[]){0x3C00, 0x7E00});
    CHECK("row 0, column 1 is nan", "pack", "bad.npy");
    codes[K + 5] = 2;
    ternary_npy(directory, "bad.npy", "|i1", 4, K, codes);
    codes[K + 5] = (K + 5) % 3 - 1;
    CHECK("row 1, column 5 is 2; codes must be -1, 0 or 1", "pack", "bad.npy");
}

TEST(biases)
{
    float numbers[5] = {1, 2, NAN, 4, 5};

    ternary_npy(directory, "b.npy", "<f4", 4, -1, numbers);
    CHECK("number 2 is nan; a bias must be finite", "pack", "c.npy", "--bias", "b.npy");
    numbers[2] = 3;
    ternary_npy(directory, "b.npy", "<f4", 5, -1, numbers);
    CHECK("has 5 numbers on 1 axes; a bias must have 4", "pack", "c.npy", "--bias", "b.npy");
    CHECK("a scale must have 4", "pack", "c.npy", "--scale", "b.npy");
    CHECK("a bias must be f2, f4 or f8", "pack", "c.npy", "--bias", "c.npy");
    CHECK("No such file", "pack", "c.npy", "--bias", "none.npy");
}

/* Scales outside f16's range are refused, not rounded to infinity or 0; t2 stores any scale. */
TEST(block_scales)
{
    static const float bad[] = {1e5f, 65520, -7e4f, 1e-9f, -0x1p-25f};
    static const float good[] = {65519, -0.0f, 0x1.02p-25f, 1};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i += WATCHED ? 3 : 1) {
        float scales[4] = {1, 1, bad[i], 1};
        ternary_npy(directory, "s.npy", "<f4", 4, -1, scales);
        CHECK("c.npy: the scale of row 2 is ", "pack", "c.npy", "--scale", "s.npy", "--format",
              "tq2_0");
        CHECK("outside the range of f16, in which tq1_0 stores it", "pack", "c.npy", "--scale",
              "s.npy", "--format", "tq1_0");
        RUN_OK(directory, "pack", "c.npy", "--scale", "s.npy", "-o", "s.t2");
    }
    ternary_npy(directory, "s.npy", "<f4", 4, -1, good);
    RUN_OK(directory, "pack", "c.npy", "--scale", "s.npy", "--format", "tq2_0", "-o", "s.t2");
}

TEST(layers)
{
    ternary_npy(directory, "w5.npy", "|i1", 1, 5, codes);
    CHECK("layer 1 has 5 columns, but layer 0 before it has 4 rows", "pack", "c.npy", "w5.npy");
}

/* ---- GGUF ---------------------------------------------------------------------------------- */

TEST(gguf)
{
    uint8_t blocks[2 * 66];

    memset(blocks, 0x51, sizeof blocks); /* codes 0 and -1 */
    memcpy(blocks + 64, "\x00\x38", 2);  /* 0.5 */
    memcpy(blocks + 66 + 64, "\x00\x38", 2);
    ternary_write_gguf(directory, "w.gguf", 35, 1, 2 * K, blocks, sizeof blocks);
    CHECK("no tensor is named; write w.gguf:TENSOR", "pack", "w.gguf");
    CHECK("there is no tensor 'v' among", "pack", "w.gguf:v");
    CHECK("No such file", "pack", "none.gguf:w");
    CHECK("not a GGUF or safetensors file, so it has no tensor", "pack", "c.npy:w");
    CHECK("the file is damaged", "pack", CORPUS "gguf/counts:w");
    CHECK("type Q4_0 is not supported", "pack", CORPUS "gguf/bf16:q");
    CHECK(
        "odd_tensors:five: the tensor has more than 2 axes, rows and columns; each matrix must be "
        "a tensor of its own",
        "pack", CORPUS "gguf/odd_tensors:five");
    CHECK("odd_tensors:none: the tensor has no axes; 1 or 2 are supported", "pack",
          CORPUS "gguf/odd_tensors:none");
    CHECK("odd_tensors:empty: the tensor has no weights", "pack", CORPUS "gguf/odd_tensors:empty");
    CHECK("the file is part 2 of 3 of a split file", "pack", CORPUS "gguf/split:v");
    memcpy(blocks + 66 + 64, "\x00\x3C", 2); /* 1 */
    ternary_write_gguf(directory, "w.gguf", 35, 1, 2 * K, blocks, sizeof blocks);
    CHECK("blocks 0 and 1 of row 0 have the scales 0.5 and 1", "pack", "w.gguf:w");
    RUN_OK(directory, "pack", "w.gguf:w", "--absmean", "-o", "w.t2");
    memcpy(blocks + 66 + 64, "\x00\x7E", 2); /* NaN */
    ternary_write_gguf(directory, "w.gguf", 35, 1, 2 * K, blocks, sizeof blocks);
    CHECK("has the scale nan", "pack", "w.gguf:w");
    CHECK("row 0, column 256 is nan; weights must be finite", "pack", "w.gguf:w", "--absmean");
    blocks[66] = 0x5F; /* two codes 11 */
    ternary_write_gguf(directory, "w.gguf", 35, 2, K, blocks, sizeof blocks);
    CHECK("row 1 has 2 weights with the invalid code 11", "pack", "w.gguf:w");
    CHECK("row 1 has 2 weights with the invalid code 11", "unpack", "w.gguf:w");
    CHECK("f.npy: the matrix is not packed", "unpack", "f.npy");
}

/* The program refuses what the library refuses, with the same reason; info lists the reasons. */
TEST(gguf_types)
{
    static const uint8_t zeros[4096];
    uint8_t blocks[2 * 34];

    ternary_write_gguf(directory, "w.gguf", 41, 1, K, zeros, 36);
    CHECK("w.gguf:w: type Q1_0 is not supported: its weights are -s and s in one bit", "pack",
          "w.gguf:w");
    CHECK("w.gguf:w: type Q1_0 is not supported: its weights", "unpack", "w.gguf:w");
    CHECK_PLAIN("w.gguf:w: type Q1_0 is not supported: its weights", "info", "w.gguf:w");
    CHECK("not a .t2 file", "run", "w.gguf", "x.npy");
    tool_result result = TERNARY(directory, "info", "w.gguf");
    EXPECT_OUT(result, 0,
               "1 tensor, 1 of them cannot be read\n  Q1_0     1 x 256  w  (not "
               "read: its weights are -s and s in one bit");
    ternary_write_gguf(directory, "w.gguf", 99, 1, K, zeros, 64);
    CHECK("w.gguf:w: type 99 is not supported: this version", "pack", "w.gguf:w");
    ternary_write_gguf(directory, "w.gguf", 42, 1, 128, zeros, 64); /* 34 and 36 bytes fit */
    CHECK("w.gguf:w: Q2_0 has two layouts, 64 weights in 18 bytes (llama.cpp) and 128 in 34 "
          "(PrismML), and the offsets of the file's tensors fit both",
          "pack", "w.gguf:w");
    CHECK_PLAIN("the offsets of the file's tensors fit both", "info", "w.gguf:w");
    ternary_write_gguf(directory, "w.gguf", 42, 1, K, zeros, 100);
    CHECK("the offsets of the file's tensors fit neither", "pack", "w.gguf:w", "--absmean");
    memset(blocks, 0x55, sizeof blocks); /* codes 0 and, at the end, 2 */
    blocks[67] = 0xD5;
    ternary_write_gguf(directory, "w.gguf", 42, 1, K, blocks, sizeof blocks);
    CHECK("w.gguf:w: the weight in row 0, column 255 is 2 times the scale", "pack", "w.gguf:w");
    CHECK("row 0, column 255 is 2 times the scale", "unpack", "w.gguf:w");
    RUN_OK(directory, "unpack", "w.gguf:w", "--bytes", "-o", "bytes.npy");
    ternary_expect(directory, "bytes.npy", "|u1", 1, sizeof blocks, blocks);
}

/* ---- Safetensors --------------------------------------------------------------------------- */

TEST(safetensors)
{
    static const float one = 1;
    const safetensors_tensor tensors[] = {{"w", "U8", "[1, 4]", codes, 4},
                                          {"w_scale", "F32", "[1]", &one, 4},
                                          {"v", "U8", "[1, 4]", codes, 4},
                                          {"i", "I64", "[1, 1]", codes, 8}};

    safetensors_save(io_path(directory, "m.safetensors"), tensors, 4);
    CHECK("no tensor is named; write m.safetensors:TENSOR", "pack", "m.safetensors");
    REFUSE("no tensor is named; write m.safetensors:TENSOR", "unpack", "m.safetensors", "-o", "out");
    CHECK("there is no tensor 'x' among 4", "pack", "m.safetensors:x");
    CHECK("m.safetensors:w: config.json of the model is not beside the file", "pack",
          "m.safetensors:w");
    CHECK("m.safetensors:w: config.json of the model is not beside the file", "unpack",
          "m.safetensors:w");
    CHECK_PLAIN("m.safetensors:w: config.json of the model is not beside the file", "info",
                "m.safetensors:w");
    CHECK("m.safetensors:v: the tensor is U8, and packed weights of BitNet have a tensor of the "
          "same name with the ending _scale, which is missing",
          "pack", "m.safetensors:v");
    CHECK("m.safetensors:i: type I64 is not supported", "pack", "m.safetensors:i");
    CHECK("not a .t2 file", "run", "m.safetensors", "x.npy");
    io_save(io_path(directory, "config.json"), "{}", 2);
    CHECK("has no quantization_config", "pack", "m.safetensors:w");
    io_save(io_path(directory, "bad.safetensors"), "\xff\xff\0\0\0\0\0\0{}", 10);
    CHECK("bad.safetensors: the file is truncated, or not a safetensors file", "pack",
          "bad.safetensors:w");
}

/* ---- Packed files -------------------------------------------------------------------------- */

TEST(damage)
{
    io_bytes good = io_load(io_path(directory, "good.t2"));
    static const struct {
        size_t at;
        const char *part;
    } bits[] = {
        {8, "version"}, {30, "its header"}, {70, "its header"}, {200, "checksum of layer 0"}};

    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        good.data[bits[i].at] ^= 64;
        io_save(io_path(directory, "bad.t2"), good.data, good.size);
        good.data[bits[i].at] ^= 64;
        CHECK(bits[i].part, "run", "bad.t2", "x.npy");
        CHECK(bits[i].part, "unpack", "bad.t2");
        CHECK_PLAIN(bits[i].part, "info", "bad.t2");
    }
    for (size_t n = 1; n < good.size; n += WATCHED ? 111 : 37) {
        io_save(io_path(directory, "bad.t2"), good.data, n);
        CHECK(n < 8 ? "not a .t2" : "truncated", "run", "bad.t2", "x.npy");
    }
    free(good.data);
    CHECK("not a .t2 file", "run", "c.npy", "x.npy");
    CHECK("No such file", "run", "none.t2", "x.npy");
    REFUSE("would replace the input", "unpack", "good.t2", "-o", "good.t2");
    CHECK("there is no layer 1; the file has 1", "unpack", "good.t2", "--layer", "1");
    REFUSE("two_layers has 2 layers", "unpack", CORPUS "t2/two_layers", "-o", "out");
}

/* Invalid codes that another program wrote, in a file with valid checksums. */
TEST(code_11)
{
    static const uint32_t formats[] = {COLLET_TERNARY_T2, COLLET_TERNARY_ROTOR};

    for (size_t i = 0; i < 2; i++) {
        ternary_t2_layer layer = {.format = formats[i], .rows = 2, .columns = K};
        uint8_t rows[2 * K / 4];
        memset(rows, formats[i] == COLLET_TERNARY_T2 ? 0x55 : 0, sizeof rows);
        rows[K / 4 + 3] |= 0x0C;
        if (formats[i] == COLLET_TERNARY_T2)
            rows[K / 4 + 3] |= 0x08;
        ternary_write_t2(directory, "eleven.t2", &layer, rows, sizeof rows);
        tool_result result = TERNARY(directory, "info", "eleven.t2", "--json");
        cJSON *info = parsed(&result, 0);
        assert_int_equal((int)number_of(cJSON_GetArrayItem(member(info, "layers"), 0), "invalid"),
                         1);
        cJSON_Delete(info);
        CHECK("eleven.t2", "run", "eleven.t2", "x.npy");
        CHECK(i ? "invalid code 11" : "codes are 11", "run", "eleven.t2", "x.npy");
        CHECK("row 1 has 1 weight with the invalid code 11", "unpack", "eleven.t2");
    }
}

TEST(runs)
{
    ternary_npy(directory, "narrow.npy", "<f4", 2, 8, floats);
    CHECK("the last axis has 8 numbers, but the model needs 256", "run", "good.t2", "narrow.npy");
    CHECK("No such file", "run", "good.t2", "none.npy");
    CHECK("not an .npy file", "run", "good.t2", "good.t2");
    ternary_npy(directory, "l.npy", "|i1", 3, -1, codes);
    CHECK("there are 3 labels for 2 rows of inputs", "run", "good.t2", "x.npy", "--labels",
          "l.npy");
    CHECK("labels must be int8, uint8, int32 or int64", "run", "good.t2", "x.npy", "--labels",
          "x.npy");
    REFUSE("would replace the input", "run", "good.t2", "x.npy", "-o", "x.npy");
}

/* ---- Standard output ----------------------------------------------------------------------- */

/* If standard output fails, the output file `name` (NULL: none) is complete. */
static void check_unprinted(const char *name, const char *const *args)
{
    static const struct {
        void (*prepare)(void *);
        int status;
        const char *why;
    } cases[] = {{tool_to_full_device, 1, "standard output: No space left on device"},
                 {tool_to_closed_pipe, 128 + SIGPIPE, ""}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tool_setup setup = {.directory = directory, .prepare = cases[i].prepare};
        int before = io_count_entries(directory);
        tool_result result = tool_run("collet-ternary", args, &setup);

        tool_expect(&result, cases[i].status);
        assert_contains(result.err, cases[i].why);
        assert_int_equal(io_count_entries(directory), before + (name != NULL));
        if (name)
            assert_int_equal(remove(io_path(directory, name)), 0);
    }
}
#define CHECK_UNPRINTED(name, ...) check_unprinted(name, (const char *const[]){__VA_ARGS__, NULL})

TEST(standard_output)
{
    CHECK_UNPRINTED("kept.t2", "pack", "c.npy", "-o", "kept.t2");
    CHECK_UNPRINTED("kept.npy", "unpack", "good.t2", "-o", "kept.npy");
    CHECK_UNPRINTED("kept.npy", "run", "good.t2", "x.npy", "-o", "kept.npy");
    CHECK_UNPRINTED("kept.npy", "run", "good.t2", "x.npy", "-o", "kept.npy", "--json");
    CHECK_UNPRINTED(NULL, "info", "good.t2");
}

TEST(usage)
{
    static const char *const lines[][9] = {
        {NULL},
        {"pick", "a.npy"},
        {"pack", "-o", "o"},
        {"pack", "a.npy"},
        {"pack", "--bias", "b.npy", "a.npy", "-o", "o"},
        {"pack", "a.npy", "-o", "-"},
        {"pack", "a.npy", "-o", "o", "--threshold", "-1"},
        {"pack", "a.npy", "-o", "o", "--threshold", "x"},
        {"pack", "a.npy", "-o", "o", "--format", "t3"},
        {"pack", "a.npy", "-o", "o", "--activations", "int8:1"},
        {"pack", "a.npy", "-o", "o", "--activations", "int5"},
        {"pack", "a.npy", "-o", "o", "--labels", "l.npy"},
        {"unpack", "a.t2", "b.t2", "-o", "o"},
        {"unpack", "a.t2", "-o", "o", "--values", "--bytes"},
        {"unpack", "a.t2", "-o", "o", "--layer", "-1"},
        {"info"},
        {"info", "a.t2", "--relu"},
        {"run", "a.t2", "-o", "o"},
        {"run", "a.t2", "x.npy"},
        {"info", "a.t2", "--threads", "0"},
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        tool_result result = tool_run("collet-ternary", lines[i], NULL);
        EXPECT_ERR(result, 2, "--help");
    }
}

TEST_GROUP(set_up, remove_directory)
