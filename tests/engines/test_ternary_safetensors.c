/* SPDX-License-Identifier: Apache-2.0 */
/* Safetensors files: packed weights of BitNet models, numbers and codes; damaged files, and models without the files
 * that their scales need. */
#include "common/fixture.h"
#include "directory.h"
#include "engines/safetensors_files.h"
#include "engines/ternary_engine.h"
#include "engines/ternary_refusals.h"

#define ROWS 12
#define COLUMNS 10
#define BITLINEAR "{\"quantization_config\": {\"linear_class\": \"bitlinear\"}}"
#define AUTOBITLINEAR                                                                              \
    "{\"quantization_config\": {\"quant_method\": \"bitnet\", \"linear_class\": "                  \
    "\"autobitlinear\"}}"

static int8_t codes[ROWS * COLUMNS];
static uint8_t packed[ROWS / 4 * COLUMNS];
static const uint16_t scale_bf16 = 0x3fc0; /* 1.5 */
static char path[300], config_path[300];

static int set_up(void **state)
{
    set_up_scalar(state);
    make_directory(state);
    snprintf(path, sizeof path, "%s", io_path(directory, "model.safetensors"));
    snprintf(config_path, sizeof config_path, "%s", io_path(directory, "config.json"));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        codes[i] = (int8_t)((i * 7 + i / 11) % 3 - 1);
    safetensors_pack(packed, codes, ROWS, COLUMNS);
    return 0;
}

static int clean_up(void **state)
{
    remove_directory(state);
    return tear_down(state);
}

static void save_config(const char *text)
{
    remove(config_path);
    if (text)
        io_save(config_path, text, strlen(text));
}

static const safetensors_tensor weight = {"a.weight", "U8", "[3, 10]", packed, sizeof packed};
static const safetensors_tensor scale = {"a.weight_scale", "BF16", "[1]", &scale_bf16, 2};

static void save_two(safetensors_tensor first, safetensors_tensor second)
{
    const safetensors_tensor two[] = {first, second};
    safetensors_save(path, two, 2);
}

static void expect_scale(float s)
{
    float all[ROWS];
    for (int r = 0; r < ROWS; r++)
        all[r] = s;
    assert_loads(path, "a.weight", NULL, ROWS, COLUMNS, codes, all);
}

/* ---- Packed weights -------------------------------------------------------------------------- */

TEST(bits_of_a_byte_are_a_quarter_of_the_rows_apart)
{
    /* Byte 0 has the first weights of rows 0, 3, 6 and 9, the lowest bits first. */
    assert_int_equal(packed[0], codes[0] + 1 + 4 * (codes[30] + 1) + 16 * (codes[60] + 1) +
                                    64 * (codes[90] + 1));
    save_config(BITLINEAR);
    save_two(weight, scale);
    collet_ternary_matrix m = assert_refused(path, "a.weight", COLLET_OK, NULL);
    assert_int_equal(m.content, COLLET_TERNARY_PACKED);
    assert_int_equal(m.format, COLLET_TERNARY_BITNET);
    assert_string_equal(m.type, "BitNet");
    assert_true(m.ndim == 2 && m.shape[0] == ROWS && m.shape[1] == COLUMNS);
    assert_true(m.rows == ROWS && m.columns == COLUMNS && m.row_bytes == 3);
    assert_true(m.has_scale && !m.has_bias && !m.in_network);
    expect_scale(1 / 1.5f);
    assert_string_equal(assert_refused(path, "a.weight_scale", COLLET_OK, NULL).type, "BF16");
}

/* The work is done in pieces of about a million weights. With this shape some pieces have rows from two different
 * quarters of the matrix. */
TEST(pieces_of_a_large_matrix)
{
    enum { MANY = 1032, WIDE = 4096 };
    FREED(int8_t) *many = malloc(MANY * WIDE);
    FREED(uint8_t) *bytes = malloc(MANY / 4 * WIDE);
    FREED(float) *all = malloc(MANY * sizeof *all);
    assert_true(many && bytes && all);
    for (int i = 0; i < MANY * WIDE; i++)
        many[i] = (int8_t)((i * 5 + i / 4099) % 3 - 1);
    for (int r = 0; r < MANY; r++)
        all[r] = 1.5f;
    safetensors_pack(bytes, many, MANY, WIDE);
    save_config(AUTOBITLINEAR);
    save_two((safetensors_tensor){"a.weight", "U8", "[258, 4096]", bytes, MANY / 4 * WIDE}, scale);
    assert_loads(path, "a.weight", NULL, MANY, WIDE, many, all);
}

TEST(the_class_says_what_the_scale_means)
{
    static const struct {
        const char *config;
        int divides;
    } cases[] = {
        {BITLINEAR, 1},
        {AUTOBITLINEAR, 0},
        {"{\"quantization_config\": {\"quant_method\": \"bitnet\"}}", 1},
        {"{\"quantization_config\": {\"quant_method\": \"bitnet\", \"linear_class\": "
         "\"bitlinear\"}}",
         1},
        {"{\"quantization_config\": {\"linear_class\": \"autobitlinear\"}, \"x\": [1]} \n", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        save_config(cases[i].config);
        save_two(weight, scale);
        expect_scale(cases[i].divides ? 1 / 1.5f : 1.5f);
    }
}

TEST(scales_of_other_types)
{
    static const double number = 0.375;
    static const float single = 0.375f;
    static const uint16_t half = 0x3600;
    const safetensors_tensor scales[] = {{"a.weight_scale", "F64", "[]", &number, 8},
                                         {"a.weight_scale", "F32", "[1, 1]", &single, 4},
                                         {"a.weight_scale", "F16", "[1]", &half, 2}};
    save_config(AUTOBITLINEAR);
    for (size_t i = 0; i < 3; i++) {
        save_two(scales[i], weight);
        expect_scale(0.375f);
    }
}

TEST(scales_that_are_refused)
{
    static const float numbers[] = {NAN, INFINITY, 0, -1, 1e-42f};
    static const uint16_t two[2];
    const struct {
        safetensors_tensor scale;
        const char *reason;
    } cases[] = {
        {{"b.weight_scale", "BF16", "[1]", two, 2}, "with the ending _scale, which is missing"},
        {{"a.weight_scale", "BF16", "[2]", two, 4}, "must be one number in BF16"},
        {{"a.weight_scale", "I8", "[1]", two, 1}, "must be one number in BF16"},
        {{"a.weight_scale", "BF16", "[1]", two, 4}, "must be one number in BF16"},
        {{"a.weight_scale", "BF16", "[]", two, 1}, "must be one number in BF16"},
    };
    save_config(BITLINEAR);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        save_two(weight, cases[i].scale);
        assert_refused(path, "a.weight", COLLET_FORMAT, cases[i].reason);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        save_two(weight, (safetensors_tensor){"a.weight_scale", "F32", "[1]", &numbers[i], 4});
        assert_refused(path, "a.weight", COLLET_INVALID, "must be positive, and finite");
    }
}

TEST(configurations_that_are_refused)
{
    static const struct {
        const char *config;
        collet_status status;
        const char *reason;
    } cases[] = {
        {NULL, COLLET_IO, "config.json of the model is not beside the file"},
        {"{\"quantization_config\"", COLLET_FORMAT, "is not JSON"},
        {"{\"a\": 1, \"a\": 2}", COLLET_FORMAT, "repeats a key"},
        {"{}", COLLET_FORMAT, "has no quantization_config"},
        {"[]", COLLET_FORMAT, "has no quantization_config"},
        {"{\"quantization_config\": null}", COLLET_FORMAT, "has no quantization_config"},
        {"{\"quantization_config\": {}}", COLLET_FORMAT, "neither quant_method nor linear_class"},
        {"{\"quantization_config\": {\"quant_method\": \"fp8\"}}", COLLET_UNSUPPORTED,
         "quant_method in config.json is not bitnet"},
        {"{\"quantization_config\": {\"quant_method\": 1}}", COLLET_UNSUPPORTED, "is not bitnet"},
        {"{\"quantization_config\": {\"linear_class\": \"linear\"}}", COLLET_UNSUPPORTED,
         "neither bitlinear nor autobitlinear"},
        {"{\"quantization_config\": {\"linear_class\": 3}}", COLLET_UNSUPPORTED,
         "neither bitlinear nor autobitlinear"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        save_config(cases[i].config);
        save_two(weight, scale);
        assert_refused(path, "a.weight", cases[i].status, cases[i].reason);
        assert_refused(path, "a.weight_scale", COLLET_OK, NULL);
    }
}

TEST(the_value_2_is_refused)
{
    uint8_t bytes[sizeof packed];
    memcpy(bytes, packed, sizeof bytes);
    bytes[COLUMNS + 3] |= 0x30; /* row 1 + 2 x 3 */
    collet_ternary_counts counts = {.struct_size = sizeof counts};
    collet_ternary_weights *w = NULL;
    OWNED(collet_ternary_file) *file = NULL;
    save_config(BITLINEAR);
    save_two((safetensors_tensor){"a.weight", "U8", "[3, 10]", bytes, sizeof bytes}, scale);
    assert_done(collet_ternary_file_open(&file, NULL, path, &failure));
    assert_outcome(collet_ternary_file_load(cx, file, &w, NULL, 0, NULL, NULL, &failure),
                   COLLET_INVALID, "a.weight: the weight in row 7, column 3 is 2 times the scale");
    assert_done(collet_ternary_file_count(cx, file, &counts, 0, NULL, &failure));
    assert_int_equal(counts.invalid, 1);
}

TEST(shapes)
{
    save_config(BITLINEAR);
    save_two((safetensors_tensor){"a.weight", "U8", "[30]", packed, 30}, scale);
    assert_refused(path, "a.weight", COLLET_SHAPE, "packed weights of BitNet have 2");
    save_two((safetensors_tensor){"a.weight", "U8", "[3, 10, 1]", packed, 30}, scale);
    assert_refused(path, "a.weight", COLLET_UNSUPPORTED, "more than 2 axes");
    save_two((safetensors_tensor){"a.weight", "U8", "[3, 0]", packed, 0}, scale);
    assert_refused(path, "a.weight", COLLET_SHAPE, "an extent is 0");
    save_two((safetensors_tensor){"a.weight", "U8", "[3, 9]", packed, 30}, scale);
    assert_refused(path, "a.weight", COLLET_FORMAT, "need another number of bytes");
    save_two((safetensors_tensor){"a.weight", "U8", "[4294967296, 4294967296]", packed, 30}, scale);
    assert_refused(path, "a.weight", COLLET_OVERFLOW, "more elements than 64 bits");
    save_two((safetensors_tensor){"a.weight", "U8", "[1, 1, 1, 1, 1, 1, 1, 1, 1]", packed, 1},
             scale);
    assert_int_equal(assert_refused(path, "a.weight", COLLET_UNSUPPORTED, "more than 2 axes").ndim,
                     0);
}

/* ---- Biases ---------------------------------------------------------------------------------- */

static void save_bias(const char *type, const char *shape, const void *data, size_t bytes)
{
    const safetensors_tensor three[] = {weight, scale, {"a.bias", type, shape, data, bytes}};
    safetensors_save(path, three, 3);
}

static void expect_bias(const char *name, const float *bias)
{
    OWNED(collet_ternary_file) *file = NULL;
    OWNED(collet_ternary_weights) *w = NULL;
    OWNED(collet_array) *got = NULL;
    assert_done(collet_ternary_file_open(&file, NULL, name, &failure));
    assert_done(collet_ternary_file_load(cx, file, &w, &got, 0, NULL, NULL, &failure));
    assert_non_null(got);
    assert_floats(cx, got, bias);
}

TEST(biases)
{
    float bias[ROWS];
    char name[320], out[300];
    collet_ternary_output *output = NULL;
    for (int r = 0; r < ROWS; r++)
        bias[r] = (float)r - 4.5f;
    save_config(AUTOBITLINEAR);
    save_bias("F32", "[12]", bias, sizeof bias);
    assert_true(assert_refused(path, "a.weight", COLLET_OK, NULL).has_bias);
    expect_bias(path, bias);
    snprintf(name, sizeof name, "%s:a.weight", path);
    snprintf(out, sizeof out, "%s", io_path(directory, "out.t2"));
    const collet_ternary_source source = {.struct_size = sizeof source, .weights = name};
    assert_done(
        collet_ternary_files_pack(cx, &output, out, &source, 1, COLLET_TERNARY_T2, NULL, &failure));
    assert_done(collet_ternary_output_publish(output, 1, &failure));
    collet_ternary_output_destroy(output);
    expect_bias(out, bias);
    save_bias("F32", "[11]", bias, 44);
    assert_refused(path, "a.weight", COLLET_SHAPE, "BitNet packs weights only if their rows are");
    save_bias("F32", "[3, 4]", bias, sizeof bias);
    assert_refused(path, "a.weight", COLLET_SHAPE, "must have one axis of 4 numbers for each row");
    save_bias("I32", "[12]", bias, sizeof bias);
    assert_refused(path, "a.weight", COLLET_FORMAT, "which cannot be read as numbers");
    bias[5] = NAN;
    save_bias("F32", "[12]", bias, sizeof bias);
    OWNED(collet_ternary_file) *file = NULL;
    collet_ternary_weights *w = NULL;
    assert_done(collet_ternary_file_open(&file, NULL, path, &failure));
    assert_outcome(collet_ternary_file_load(cx, file, &w, NULL, 0, NULL, NULL, &failure),
                   COLLET_INVALID, "number 5 of the layer's bias is nan; it must be finite");
}

/* ---- Other tensors --------------------------------------------------------------------------- */

/* They need no config.json. */
TEST(numbers_and_codes)
{
    float numbers[ROWS * COLUMNS], scales[ROWS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = 0.5f * (float)codes[i];
    for (int r = 0; r < ROWS; r++)
        scales[r] = 0.5f;
    save_config(NULL);
    save_two((safetensors_tensor){"n", "F32", "[12, 10]", numbers, sizeof numbers},
             (safetensors_tensor){"c", "I8", "[12, 10]", codes, sizeof codes});
    assert_loads(path, "n", NULL, ROWS, COLUMNS, codes, scales);
    assert_loads(path, "c", NULL, ROWS, COLUMNS, codes, NULL);
}

TEST(types)
{
    static const struct {
        const char *type;
        int bytes;
        const char *reason;
    } cases[] = {
        {"F64", 8, NULL},
        {"F32", 4, NULL},
        {"F16", 2, NULL},
        {"BF16", 2, NULL},
        {"I8", 1, NULL},
        {"I16", 2, "codes are I8"},
        {"I32", 4, "codes are I8"},
        {"I64", 8, "codes are I8"},
        {"U16", 2, "codes are I8"},
        {"U32", 4, "codes are I8"},
        {"U64", 8, "codes are I8"},
        {"BOOL", 1, "truth values"},
        {"F8_E4M3", 1, "numbers of this type are not read"},
        {"F4", 1, "numbers of this type are not read"},
    };
    static const uint8_t zeros[16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const safetensors_tensor one = {"w", cases[i].type, "[1, 2]", zeros,
                                        (size_t)cases[i].bytes * 2};
        char text[60];
        safetensors_save(path, &one, 1);
        assert_string_equal(assert_refused(path, "w", COLLET_UNSUPPORTED, cases[i].reason).type,
                            cases[i].type);
        snprintf(text, sizeof text, "w: type %s is not supported: ", cases[i].type);
        if (cases[i].reason)
            assert_failure_has(text);
    }
}

/* ---- Damaged files --------------------------------------------------------------------------- */

#define W(rest) "{\"w\": {\"dtype\": \"I8\", " rest "}}"

TEST(headers)
{
    static const struct {
        const char *header, *part;
    } cases[] = {
        {"", "not a JSON object"},
        {"[]", "not a JSON object"},
        {"{} x", "not a JSON object"},
        {"{\"w\": 3}", "damaged at the tensor 'w': dtype is missing"},
        {"{\"w\": {\"dtype\": 3}}", "dtype is missing, or not a text"},
        {W("\"data_offsets\": [0, 4]"), "shape is missing"},
        {W("\"shape\": [4]"), "data_offsets is not a list of two"},
        {W("\"shape\": [4], \"data_offsets\": [0]"), "data_offsets is not a list of two"},
        {W("\"shape\": [4], \"data_offsets\": [0, 4, 5]"), "data_offsets is not a list of two"},
        {W("\"shape\": [4], \"data_offsets\": [4, 0]"), "the first not above the second"},
        {W("\"shape\": [4], \"data_offsets\": [0.5, 4]"), "whole numbers"},
        {W("\"shape\": [4], \"data_offsets\": [0, 1e17]"), "whole numbers"},
        {W("\"shape\": [-4], \"data_offsets\": [0, 4]"), "an extent that is not a whole number"},
        {W("\"shape\": [1e16], \"data_offsets\": [0, 4]"), "an extent that is not a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_ternary_file *file = NULL;
        safetensors_save_header(path, cases[i].header, "abcd", 4);
        assert_outcome(collet_ternary_file_open(&file, NULL, path, &failure), COLLET_FORMAT,
                       cases[i].part);
        assert_failure_has(path);
        assert_null(file);
    }
    io_save(path, "\x10\0\0\0\0\0\0\0{}", 10);
    collet_ternary_file *file = NULL;
    assert_outcome(collet_ternary_file_open(&file, NULL, path, &failure), COLLET_FORMAT,
                   "its header of 16 bytes ends after its end, at 10");
}

TEST(places_of_data)
{
#define T(name, begin, end)                                                                        \
    "\"" name "\": {\"dtype\": \"I8\", \"shape\": [4], \"data_offsets\": [" begin ", " end "]}"
    safetensors_save_header(path, "{" T("v", "0", "4") ", " T("w", "4", "8") "}", codes, 7);
    assert_refused(path, "v", COLLET_OK, NULL);
    assert_refused(path, "w", COLLET_FORMAT, "data end after the end of the file");
    safetensors_save_header(path, "{" T("v", "0", "4") ", " T("w", "3", "7") "}", codes, 8);
    assert_refused(path, "v", COLLET_OK, NULL);
    assert_refused(path, "w", COLLET_FORMAT, "shares bytes with another tensor");
    safetensors_save_header(path, "{" T("v", "0", "4") ", " T("v", "4", "8") "}", codes, 8);
    collet_ternary_file *file = NULL;
    char name[320];
    snprintf(name, sizeof name, "%s:v", path);
    assert_outcome(collet_ternary_file_open(&file, NULL, name, &failure), COLLET_FORMAT,
                   "two tensors called 'v'");
    snprintf(name, sizeof name, "%s:x", path);
    assert_outcome(collet_ternary_file_open(&file, NULL, name, &failure), COLLET_NOT_FOUND,
                   "there is no tensor 'x' among 2 tensors");
}

/* Wherever a file is truncated, the file or the tensors beyond its end are refused. */
TEST(cut_files)
{
    save_config(BITLINEAR);
    save_two(weight, scale);
    OWNED(io_bytes) image = io_load(path);
    for (size_t size = 1; size < image.size; size++) {
        collet_ternary_file *file = NULL;
        io_save(path, image.data, size);
        collet_status status = collet_ternary_file_open(&file, NULL, path, &failure);
        if (size < image.size - sizeof packed - 2) {
            assert_outcome(status, COLLET_FORMAT, "truncated");
        } else {
            assert_done(status);
            collet_ternary_file_destroy(file);
            assert_refused(path, "a.weight", COLLET_FORMAT,
                           size < image.size - 2 ? "data end after the end" : "must be one number");
        }
    }
}

TEST_GROUP(set_up, clean_up)
