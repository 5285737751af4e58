/* SPDX-License-Identifier: Apache-2.0 */
/* Type 42 of GGUF files, Q2_0, in its two layouts, and the types that are not read. */
#include "common/fixture.h"
#include "directory.h"
#include "engines/gguf_files.h"
#include "engines/ternary_engine.h"
#include "engines/ternary_refusals.h"
#include "ternary/formats/gguf.h"

#define ROWS 5
#define COLUMNS 256
#define Q2_0 42
#define MOST (ROWS * COLUMNS / 64 * 18)

static int8_t codes[ROWS * COLUMNS];
static float scale[ROWS];
/* The same matrix in blocks of 64 and of 128 weights. */
static uint8_t blocks[2][MOST];
static const size_t sizes[2] = {MOST, ROWS *COLUMNS / 128 * 34};
static char path[300];

/* Packs codes -1 .. 2 as blocks of `weights` with the scale 2^(r - 3) in row r. */
static void make_blocks(uint8_t *out, int weights, const int8_t *from)
{
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int block = i / weights, at = i % weights;
        uint8_t *b = out + block * (2 + weights / 4);
        uint16_t half = (uint16_t)((12 + i / COLUMNS) << 10);
        if (at == 0) {
            memset(b, 0, (size_t)(2 + weights / 4));
            memcpy(b, &half, 2);
        }
        b[2 + at / 4] |= (uint8_t)((from[i] + 1) << 2 * (at % 4));
    }
}

static int set_up(void **state)
{
    set_up_scalar(state);
    make_directory(state);
    snprintf(path, sizeof path, "%s", io_path(directory, "w.gguf"));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        codes[i] = (int8_t)((i * 7 + i / 11) % 3 - 1);
    for (int r = 0; r < ROWS; r++)
        scale[r] = (float)(1 << r) / 8;
    make_blocks(blocks[0], 64, codes);
    make_blocks(blocks[1], 128, codes);
    return 0;
}

static int clean_up(void **state)
{
    remove_directory(state);
    return tear_down(state);
}

static gguf_file_tensor matrix(const char *name, int layout)
{
    return (gguf_file_tensor){name, Q2_0, ROWS, COLUMNS, blocks[layout], sizes[layout], 0};
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static void expect_layout(int layout)
{
    collet_ternary_matrix m = assert_refused(path, "w", COLLET_OK, NULL);
    assert_int_equal(m.content, COLLET_TERNARY_PACKED);
    assert_int_equal(m.format, layout ? COLLET_TERNARY_Q2_0_128 : COLLET_TERNARY_Q2_0);
    assert_string_equal(m.type, layout ? "Q2_0/128" : "Q2_0/64");
    assert_int_equal(m.rows, ROWS);
    assert_int_equal(m.columns, COLUMNS);
    assert_int_equal(m.row_bytes, layout ? 68 : 72);
    assert_loads(path, "w", NULL, ROWS, COLUMNS, codes, scale);
}

/* The offset of the next tensor determines the layout. For the last tensor the end of the file determines
 * it, with or without padding. */
TEST(layouts_are_told_apart)
{
    for (int layout = 0; layout < 2; layout++) {
        gguf_file_tensor two[] = {matrix("w", layout), {"v", 0, 1, 4, NULL, 16, 0}};
        for (int order = 0; order < 2; order++) {
            gguf_file_save(path, two, 2, NULL, order);
            expect_layout(layout);
            gguf_file_tensor first = two[0];
            two[0] = two[1];
            two[1] = first;
        }
        for (int pad = 0; pad < 2; pad++) {
            gguf_file_save(path, two, 1, NULL, pad);
            expect_layout(layout);
        }
    }
}

static void unpack_to(uint32_t what, const void *expected, size_t bytes)
{
    collet_ternary_file *file = NULL;
    collet_ternary_output *output = NULL;
    const char *out = io_path(directory, "out.npy");
    assert_done(collet_ternary_file_open(&file, NULL, path, &failure));
    assert_done(collet_ternary_file_unpack(cx, file, &output, out, 0, what, NULL, &failure));
    assert_done(collet_ternary_output_publish(output, 1, &failure));
    collet_ternary_output_destroy(output);
    collet_ternary_file_destroy(file);
    OWNED(io_bytes) got = io_load(out);
    assert_true(got.size > bytes);
    assert_memory_equal(got.data + got.size - bytes, expected, bytes);
}

TEST(codes_values_and_bytes_are_unpacked)
{
    float values[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (float)codes[i] * scale[i / COLUMNS];
    for (int layout = 0; layout < 2; layout++) {
        const gguf_file_tensor one = matrix("w", layout);
        gguf_file_save(path, &one, 1, NULL, 0);
        unpack_to(COLLET_TERNARY_WRITE_CODES, codes, sizeof codes);
        unpack_to(COLLET_TERNARY_WRITE_VALUES, values, sizeof values);
        unpack_to(COLLET_TERNARY_WRITE_BYTES, blocks[layout], sizes[layout]);
    }
}

/* 128 weights take 36 bytes in one layout and 34 in the other. With padding they take 64 in both layouts. */
TEST(both_layouts_fit)
{
    gguf_file_tensor one = {"w", Q2_0, 1, 128, NULL, 36, 0};
    gguf_file_save(path, &one, 1, NULL, 1);
    assert_refused(path, "w", COLLET_FORMAT, "the offsets of the file's tensors fit both");
    gguf_file_save(path, &one, 1, NULL, 0);
    assert_string_equal(assert_refused(path, "w", COLLET_OK, NULL).type, "Q2_0/64");
    one.bytes = 34;
    gguf_file_save(path, &one, 1, NULL, 0);
    assert_string_equal(assert_refused(path, "w", COLLET_OK, NULL).type, "Q2_0/128");
    /* Another tensor decides. */
    gguf_file_tensor two[] = {one, matrix("v", 1)};
    gguf_file_save(path, two, 2, NULL, 1);
    assert_string_equal(assert_refused(path, "w", COLLET_OK, NULL).type, "Q2_0/128");
}

TEST(no_layout_fits)
{
    gguf_file_tensor two[] = {matrix("w", 0), matrix("v", 1)};
    gguf_file_save(path, two, 2, NULL, 0);
    /* The last tensor is compared only if the other tensors leave a choice. */
    assert_string_equal(assert_refused(path, "w", COLLET_OK, NULL).type, "Q2_0/64");
    gguf_file_tensor three[] = {matrix("w", 0), matrix("v", 1), {"f", 0, 1, 4, NULL, 16, 0}};
    gguf_file_save(path, three, 3, NULL, 0);
    assert_refused(path, "w", COLLET_FORMAT, "the offsets of the file's tensors fit neither");
    assert_refused(path, "v", COLLET_FORMAT, "convert the model again");
    assert_refused(path, "f", COLLET_OK, NULL);
    gguf_file_tensor apart[] = {matrix("w", 0), {"f", 0, 1, 4, NULL, 16, 0}};
    apart[0].gap = 32;
    gguf_file_save(path, apart, 2, NULL, 0);
    assert_refused(path, "w", COLLET_FORMAT, "fit neither");
}

/* In a truncated file the first tensor still determines the layout, and is read. */
TEST(the_end_is_missing)
{
    for (int layout = 0; layout < 2; layout++) {
        const gguf_file_tensor two[] = {matrix("w", layout), matrix("v", layout)};
        OWNED(io_image) image = {0};
        gguf_file_image(&image, two, 2, NULL, 0);
        io_save(path, image.data, image.size - 1);
        expect_layout(layout);
        assert_refused(path, "v", COLLET_FORMAT, "data end after the end of the file");
        io_save(path, image.data, image.size - sizes[layout]);
        expect_layout(layout);
        free(image.data);
        image = (io_image){0};
        gguf_file_image(&image, two, 1, NULL, 0);
        io_save(path, image.data, image.size - 1);
        assert_refused(path, "w", COLLET_FORMAT, "the file is damaged or truncated");
    }
}

TEST(shapes)
{
    gguf_file_tensor two[] = {{"w", Q2_0, 2, 96, NULL, 54, 0}, matrix("v", 1)};
    gguf_file_save(path, two, 2, NULL, 0);
    assert_refused(path, "w", COLLET_FORMAT, "not a multiple of its type's block");
    assert_string_equal(assert_refused(path, "v", COLLET_OK, NULL).type, "Q2_0/128");
    /* Only one layout allows rows of 64 weights. */
    two[0] = (gguf_file_tensor){"w", Q2_0, 1, 64, NULL, 18, 0};
    gguf_file_save(path, two, 1, NULL, 1);
    assert_string_equal(assert_refused(path, "w", COLLET_OK, NULL).type, "Q2_0/64");
    two[0] = (gguf_file_tensor){"w", Q2_0, (uint64_t)1 << 62, 128, NULL, 36, 0};
    gguf_file_save(path, two, 1, NULL, 1);
    assert_refused(path, "w", COLLET_OVERFLOW, "more elements than 64 bits can count");
}

/* A file in one layout is never taken for a file in the other layout. */
TEST(random_files)
{
    static const ternary_gguf_block both[] = {{64, 18}, {128, 34}};
    uint64_t random = 1;
    int told = 0;
    for (int n = 0; n < 20000; n++) {
        ternary_gguf_extent extents[4];
        const ternary_gguf_block *written = &both[n % 2];
        uint64_t count = 0, at = 0, end = 0;
        const char *fault = NULL;
        for (int most = 1 + n / 2 % 4; (int)count < most; count++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t rows = 1 + (random >> 33) % 6, columns = 128 * (1 + (random >> 50) % 9);
            int other = (random >> 40) % 3 == 0;
            extents[count] = (ternary_gguf_extent){at, other ? 0 : rows, columns};
            end = at + rows * columns / written->weights * written->bytes;
            at = (end + 31) / 32 * 32;
        }
        const ternary_gguf_block *found =
            ternary_gguf_layout(extents, count, 32, n / 8 % 2 ? at : end, &fault);
        if (found && found->weights != written->weights)
            fail_msg("case %d: %u, not %u", n, found->weights, written->weights);
        if (!found)
            assert_contains(fault, "fit both");
        told += found != NULL;
    }
    assert_true(told > 10000); /* both layouts fit small matrices often */
}

/* ---- Values ---------------------------------------------------------------------------------- */

TEST(the_value_2_is_refused)
{
    const collet_ternary_quantize_params given = {
        .struct_size = sizeof given, .mode = COLLET_TERNARY_THRESHOLD, .threshold = 1.5f};
    int8_t two[ROWS * COLUMNS], kept[ROWS * COLUMNS] = {0};
    uint8_t bytes[MOST];
    memcpy(two, codes, sizeof two);
    two[3 * COLUMNS + 77] = 2;
    for (int layout = 0; layout < 2; layout++) {
        collet_ternary_counts counts = {.struct_size = sizeof counts};
        collet_ternary_weights *w = NULL;
        collet_ternary_file *file = NULL;
        make_blocks(bytes, layout ? 128 : 64, two);
        gguf_file_tensor one = matrix("w", layout);
        one.data = bytes;
        gguf_file_save(path, &one, 1, NULL, 0);
        assert_done(collet_ternary_file_open(&file, NULL, path, &failure));
        assert_outcome(collet_ternary_file_load(cx, file, &w, NULL, 0, NULL, NULL, &failure),
                       COLLET_INVALID, "w: the weight in row 3, column 77 is 2 times the scale");
        assert_failure_has("quantize again with --threshold or --absmean");
        assert_done(collet_ternary_file_count(cx, file, &counts, 0, NULL, &failure));
        assert_int_equal(counts.invalid, 1);
        assert_int_equal(counts.minus + counts.zero + counts.plus, ROWS * COLUMNS - 1);
        collet_ternary_file_destroy(file);
        /* The threshold 1.5 keeps 2 x 1 of row 3, whose scale is 1, and all weights of row 4, whose scale is 2. */
        for (int i = 0; i < COLUMNS; i++) {
            kept[3 * COLUMNS + i] = i == 77;
            kept[4 * COLUMNS + i] = codes[4 * COLUMNS + i];
        }
        assert_loads(path, "w", &given, ROWS, COLUMNS, kept, NULL);
    }
}

/* A row has one scale, but blocks of zeros may have any scale. */
TEST(scales_of_blocks)
{
    int8_t few[ROWS * COLUMNS];
    uint8_t bytes[MOST];
    memcpy(few, codes, sizeof few);
    memset(few + COLUMNS + 128, 0, 128);
    for (int layout = 0; layout < 2; layout++) {
        gguf_file_tensor one = matrix("w", layout);
        collet_ternary_weights *w = NULL;
        OWNED(collet_ternary_file) *file = NULL;
        make_blocks(bytes, layout ? 128 : 64, few);
        bytes[(layout ? 3 : 7) * (layout ? 34 : 18) + 1] = 0x44;
        one.data = bytes;
        gguf_file_save(path, &one, 1, NULL, 0);
        assert_loads(path, "w", NULL, ROWS, COLUMNS, few, scale);
        bytes[(layout ? 4 : 8) * (layout ? 34 : 18) + 1] = 0x44;
        gguf_file_save(path, &one, 1, NULL, 0);
        assert_done(collet_ternary_file_open(&file, NULL, path, &failure));
        assert_outcome(collet_ternary_file_load(cx, file, &w, NULL, 0, NULL, NULL, &failure),
                       COLLET_INVALID, "blocks 0 and 1 of row 2 have the scales 4 and 0.5");
    }
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* The type numbers of gguf-py 0.19, of bitnet.cpp (36 to 38) and of PrismML (142, 143). */
TEST(types_are_read_or_refused_by_name)
{
    static const struct {
        uint32_t type;
        const char *name, *reason; /* NULL: read */
    } cases[] = {
        {0, "F32", NULL},
        {1, "F16", NULL},
        {2, "Q4_0", "more values"},
        {3, "Q4_1", "more values"},
        {4, "Q4_2", "llama.cpp removed it"},
        {5, "Q4_3", "llama.cpp removed it"},
        {6, "Q5_0", "more values"},
        {7, "Q5_1", "more values"},
        {8, "Q8_0", "more values"},
        {9, "Q8_1", "more values"},
        {10, "Q2_K", "more values"},
        {11, "Q3_K", "more values"},
        {12, "Q4_K", "more values"},
        {13, "Q5_K", "more values"},
        {14, "Q6_K", "more values"},
        {15, "Q8_K", "more values"},
        {16, "IQ2_XXS", "more values"},
        {17, "IQ2_XS", "more values"},
        {18, "IQ3_XXS", "more values"},
        {19, "IQ1_S", "shifted by an amount for each group of 32"},
        {20, "IQ4_NL", "more values"},
        {21, "IQ3_S", "more values"},
        {22, "IQ2_S", "more values"},
        {23, "IQ4_XS", "more values"},
        {24, "I8", NULL},
        {25, "I16", "codes are I8"},
        {26, "I32", "codes are I8"},
        {27, "I64", "codes are I8"},
        {28, "F64", NULL},
        {29, "IQ1_M", "shifted by an amount for each group of 8"},
        {30, "BF16", NULL},
        {31, "Q4_0_4_4", "llama.cpp removed it"},
        {32, "Q4_0_4_8", "llama.cpp removed it"},
        {33, "Q4_0_8_8", "llama.cpp removed it"},
        {34, "TQ1_0", NULL},
        {35, "TQ2_0", NULL},
        {36, "I2_S", "bitnet.cpp lays such weights out"},
        {37, "I8_S", "bitnet.cpp lays such weights out"},
        {38, "TL1", "bitnet.cpp lays such weights out"},
        {39, "MXFP4", "4-bit floating-point numbers (E2M1) with an exponent for each 32"},
        {40, "NVFP4", "4-bit floating-point numbers (E2M1) with a scale for each 16"},
        {41, "Q1_0", "-s and s in one bit"},
        {42, "Q2_0/64", NULL},
        {43, "type 43", "does not know the number of the type"},
        {141, "type 141", "does not know the number of the type"},
        {142, "PQ2_0", "after a Hadamard transform"},
        {143, "PTQ1_0", "after a Hadamard transform"},
        {144, "type 144", "does not know the number of the type"},
        {UINT32_MAX, "type 4294967295", "does not know the number of the type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gguf_file_tensor one = {
            "w", cases[i].type, 2, 256, NULL, cases[i].type == Q2_0 ? 144 : 4096, 0};
        char text[60];
        gguf_file_save(path, &one, 1, NULL, 0);
        collet_ternary_matrix m = assert_refused(path, "w", COLLET_UNSUPPORTED, cases[i].reason);
        assert_string_equal(m.type, cases[i].name);
        if (cases[i].reason) {
            const char *known = strncmp(m.type, "type ", 5) != 0 ? "type " : "";
            snprintf(text, sizeof text, "w: %s%s is not supported: ", known, m.type);
            assert_failure_has(text);
        }
    }
}

/* If a file has keys prism.hadamard.*, its matrices are refused. Vectors, such as the weights of norms, are read. */
TEST(hadamard_transforms)
{
    static const uint32_t types[] = {Q2_0, 35, 0};
    for (size_t i = 0; i < 3; i++) {
        const gguf_file_tensor one = {
            "w", types[i], 2, 256, NULL, i == 0 ? 144 : i == 1 ? 132 : 2048, 0};
        gguf_file_save(path, &one, 1, "prism.hadamard.version", 0);
        assert_refused(path, "w", COLLET_UNSUPPORTED, "stored after a Hadamard transform");
        gguf_file_save(path, &one, 1, "prism.hadamarD.version", 0);
        assert_refused(path, "w", COLLET_OK, NULL);
        gguf_file_save(path, &one, 1, "prism.hadamard", 0);
        assert_refused(path, "w", COLLET_OK, NULL);
    }
}

/* The .t2 file has the same codes and scales, and gives the same results as the values. */
TEST(packed_models_run)
{
    float x[COLUMNS], y[ROWS], expected[ROWS];
    for (int c = 0; c < COLUMNS; c++)
        x[c] = (float)((c * 5) % 9 - 4);
    for (int r = 0; r < ROWS; r++) {
        expected[r] = 0;
        for (int c = 0; c < COLUMNS; c++)
            expected[r] += scale[r] * (float)codes[r * COLUMNS + c] * x[c];
    }
    for (int layout = 0; layout < 2; layout++) {
        const gguf_file_tensor one = matrix("w", layout);
        collet_ternary_output *output = NULL;
        OWNED(collet_ternary_network) *network = NULL;
        OWNED(collet_ternary_file) *file = NULL;
        char name[320], out[300];
        gguf_file_save(path, &one, 1, NULL, 0);
        snprintf(name, sizeof name, "%s:w", path);
        snprintf(out, sizeof out, "%s", io_path(directory, "w.t2"));
        const collet_ternary_source source = {
            .struct_size = sizeof source, .activations = COLLET_TERNARY_F32, .weights = name};
        assert_done(collet_ternary_files_pack(cx, &output, out, &source, 1, COLLET_TERNARY_PLANES,
                                              NULL, &failure));
        assert_done(collet_ternary_output_publish(output, 1, &failure));
        collet_ternary_output_destroy(output);
        assert_done(collet_ternary_file_open(&file, NULL, out, &failure));
        assert_done(collet_ternary_network_load(cx, &network, file, COLLET_TERNARY_AS_STORED, 0,
                                                NULL, &failure));
        OWNED(collet_array) *in = array_of(cx, COLLET_F32, 1, SHAPE(COLUMNS), x);
        OWNED(collet_array) *result = array_for(cx, COLLET_F32, 1, SHAPE(ROWS));
        assert_done(collet_ternary_network_run(cx, network, result, in, &failure));
        assert_ok(cx, collet_array_read(cx, result, y, sizeof y));
        for (int r = 0; r < ROWS; r++)
            assert_true(y[r] == expected[r]);
    }
}

TEST_GROUP(set_up, clean_up)
