/* SPDX-License-Identifier: Apache-2.0 */
/* Weight files that end at any byte, and layers of .t2 files at each limit. */

#include "io/npy_read.h"
#include "io_files.h"
#include "ternary/formats/gguf.h"
#include "ternary/formats/t2_format.h"

#define CORPUS COLLET_TEST_CORPUS "/"

/* ---- Every prefix -------------------------------------------------------------------------- */

/* Opens a GGUF file. Here a fault of a tensor, such as data beyond the end, counts as a fault of
 * the file. */
static collet_status open_gguf(const char *path, collet_error *err)
{
    ternary_gguf gguf;
    collet_status status = ternary_gguf_open(path, &gguf, err);
    for (uint64_t i = 0; status == COLLET_OK && i < gguf.count; i++)
        if (gguf.tensors[i].fault)
            status = collet_fail(err, gguf.tensors[i].fault_status, "%s: %s", path,
                                 gguf.tensors[i].fault);
    ternary_gguf_close(&gguf);
    return status;
}

static collet_status open_t2(const char *path, collet_error *err)
{
    ternary_t2_file file;
    collet_status status = ternary_t2_open(path, &file, err);
    ternary_t2_close(&file);
    return status;
}

static collet_status open_npy(const char *path, collet_error *err)
{
    io_npy npy;
    collet_status status = io_npy_open(path, &npy, err);
    io_npy_close(&npy);
    return status;
}

/* Truncates the file at every byte; returns how many of the truncated files are refused. */
static size_t refused_when_cut(const char *file,
                               collet_status (*open)(const char *, collet_error *))
{
    char *directory = io_make_directory();
    const char *path = io_path(directory, "cut");
    io_bytes image = io_load(file);
    collet_error err = {0};

    assert_int_equal(open(file, &err), COLLET_OK);
    for (size_t size = 0; size < image.size; size++) {
        err.text[0] = '\0';
        io_save(path, image.data, size);
        collet_status status = open(path, &err);
        if (status != COLLET_FORMAT || !strstr(err.text, path))
            fail_msg("%s, %zu bytes: %s (%s)", file, size, collet_status_name(status), err.text);
    }
    free(image.data);
    io_remove_directory(directory);
    return image.size;
}

TEST(cut_files)
{
    static const struct {
        const char *file;
        collet_status (*open)(const char *, collet_error *);
    } cases[] = {
        {CORPUS "gguf/kinds", open_gguf},      {CORPUS "gguf/good", open_gguf},
        {CORPUS "gguf/aligned_v2", open_gguf}, {CORPUS "t2/two_layers", open_t2},
        {CORPUS "npy/f4", open_npy},           {CORPUS "npy/half_v3", open_npy},
    };
    size_t places = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        places += refused_when_cut(cases[i].file, cases[i].open);
    print_message("cut at %zu places\n", places);
}

/* Metadata with every kind of value, then tensors, whose extents are stored last axis first. */
TEST(kinds_of_values)
{
    ternary_gguf gguf;
    char name[TERNARY_TENSOR_NAME], type[24];

    assert_int_equal(ternary_gguf_open(CORPUS "gguf/kinds", &gguf, NULL), COLLET_OK);
    assert_int_equal(gguf.count, 3);
    assert_int_equal(gguf.alignment, 64);
    const ternary_gguf_tensor *t = gguf.tensors;
    assert_int_equal(t[0].ndim, 2);
    assert_int_equal(t[0].columns, 3);
    assert_int_equal(t[0].rows, 4);
    assert_int_equal(t[0].shape[0], 4);
    assert_int_equal(t[0].shape[1], 3);
    assert_int_equal(t[0].bytes, 48);
    assert_int_equal(t[0].offset % 64, 0);
    assert_string_equal(ternary_gguf_name(&t[1], name), "\\x07b");
    assert_int_equal(t[1].bytes, 0);
    assert_int_equal(t[1].offset, t[0].offset + 64);
    assert_string_equal(ternary_gguf_type_name(t[2].type, type), "type 99");
    ternary_gguf_close(&gguf);
}

/* ---- Layers -------------------------------------------------------------------------------- */

typedef struct layer_case {
    ternary_t2_layer layer;
    collet_status status;
} layer_case;

#define T COLLET_TERNARY_TERNARY
#define F COLLET_TERNARY_F32
#define ALL (TERNARY_T2_RELU | TERNARY_T2_SCALE | TERNARY_T2_BIAS)

TEST(layers)
{
    static const layer_case cases[] = {
        {{.rows = 1, .columns = 1, .activations = F}, COLLET_OK},
        {{.rows = 1, .columns = INT32_MAX, .activations = F}, COLLET_OK},
        {{.rows = 0, .columns = 1, .activations = F}, COLLET_INVALID},
        {{.rows = 1, .columns = 0, .activations = F}, COLLET_INVALID},
        {{.rows = 1, .columns = (int64_t)INT32_MAX + 1, .activations = F}, COLLET_INVALID},
        {{.rows = 1, .columns = 1, .activations = F, .flags = ALL}, COLLET_OK},
        {{.rows = 1, .columns = 1, .activations = F, .flags = ALL + 1}, COLLET_INVALID},
        {{.rows = 1, .columns = 1, .activations = COLLET_TERNARY_INT4}, COLLET_OK},
        {{.rows = 1, .columns = 1, .activations = COLLET_TERNARY_INT4 + 1}, COLLET_INVALID},
        {{.rows = 1, .columns = 1, .activations = F, .format = COLLET_TERNARY_FORMATS},
         COLLET_INVALID},
        {{.rows = 1, .columns = 1, .activations = T, .threshold = 0.5f}, COLLET_OK},
        {{.rows = 1, .columns = 1, .activations = T, .threshold = -0.5f}, COLLET_INVALID},
        {{.rows = 1, .columns = 1, .activations = T, .threshold = INFINITY}, COLLET_INVALID},
        {{.rows = 1, .columns = 1, .activations = F, .threshold = 0.5f}, COLLET_INVALID},
        {{.rows = INT64_MAX, .columns = 256, .activations = F}, COLLET_OVERFLOW},
        {{.rows = INT64_MAX / 64, .columns = 256, .activations = F}, COLLET_OVERFLOW},
        {{.rows = INT64_MAX / 64 - 4, .columns = 1, .activations = F}, COLLET_OK},
        {{.rows = INT64_MAX / 2, .columns = 1, .activations = F, .flags = TERNARY_T2_SCALE},
         COLLET_OVERFLOW},
        {{.rows = INT64_MAX / 5, .columns = 1, .activations = F, .flags = TERNARY_T2_SCALE},
         COLLET_OVERFLOW},
        {{.rows = INT64_MAX / 8, .columns = 1, .activations = F, .flags = ALL}, COLLET_OVERFLOW},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ternary_t2_layer layer = cases[i].layer;
        collet_error err = {0};
        uint64_t size = 0;
        collet_status status = ternary_t2_lay_out("x.t2", &layer, 1, &size, &err);
        if (status != cases[i].status ||
            (status != COLLET_OK && !strstr(err.text, "x.t2: layer 0")))
            fail_msg("case %zu: %s (%s)", i, collet_status_name(status), err.text);
    }
    assert_int_equal(ternary_t2_lay_out("x.t2", NULL, 0, &(uint64_t){0}, NULL), COLLET_INVALID);
}

/* Each array begins at a multiple of 64 bytes after the table of layers, in order. */
TEST(offsets)
{
    ternary_t2_layer two[] = {{.rows = 20, .columns = 6, .activations = F, .flags = ALL},
                              {.rows = 1, .columns = 20, .activations = F}};
    uint64_t size = 0;

    assert_int_equal(ternary_t2_lay_out("x.t2", two, 2, &size, NULL), COLLET_OK);
    uint64_t first = (sizeof(t2_head) + sizeof two + 63) / 64 * 64;
    assert_int_equal(two[0].weights_offset, first);
    assert_true(two[0].weights_bytes > 0 && two[0].weights_bytes % 20 == 0);
    uint64_t scale = (first + two[0].weights_bytes + 63) / 64 * 64;
    assert_int_equal(two[0].scale_offset, scale);
    assert_int_equal(two[0].bias_offset, scale + 128);
    assert_int_equal(two[1].weights_offset, scale + 256);
    assert_int_equal(two[1].scale_offset, 0);
    assert_int_equal(size, scale + 256 + two[1].weights_bytes);
}
