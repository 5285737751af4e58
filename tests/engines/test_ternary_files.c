/* SPDX-License-Identifier: Apache-2.0 */
/* Files of collet/ternary.h: round trips. Every long call can be cancelled at each progress report, and
 * then leaves no files and no allocated memory. */
#include "common/fixture.h"
#include "directory.h"
#include "engines/ternary_engine.h"
#include "io/npy.h"

/* With these extents the work of each layer is divided into three pieces. */
#define HIDDEN 3000
#define INPUTS 700
#define OUTPUTS 10
/* With these extents the work of a layer of one row is divided into three pieces. Its products cost little. */
#define WIDE 4096
#define VECTORS 600

static const char *path_of(const char *name)
{
    return io_path(directory, name);
}

static void save_npy(const char *name, collet_dtype dtype, int64_t rows, int64_t columns,
                     const void *data)
{
    char head[IO_NPY_HEAD];
    size_t length = io_npy_head(head, dtype, rows, columns < 0 ? 0 : 1, &columns);
    OWNED(io_image) image = {0};
    io_put(&image, head, length);
    io_put(&image, data, (size_t)(rows * (columns < 0 ? 1 : columns)) * collet_dtype_size(dtype));
    io_save(path_of(name), image.data, image.size);
}

static void save_array(const char *name, const collet_array *a)
{
    size_t size = (size_t)collet_array_size(a) * collet_dtype_size(collet_array_dtype(a));
    FREED(void) *data = malloc(size);
    int two = collet_array_ndim(a) == 2;
    assert_non_null(data);
    assert_ok(cx, collet_array_read(cx, a, data, size));
    save_npy(name, collet_array_dtype(a), collet_array_shape(a)[0],
             two ? collet_array_shape(a)[1] : -1, data);
}

static collet_ternary_file *open_file(const char *name)
{
    collet_ternary_file *file = NULL;
    assert_done(collet_ternary_file_open(&file, NULL, path_of(name), &failure));
    return file;
}

static void publish(collet_ternary_output *output)
{
    assert_done(collet_ternary_output_publish(output, 1, &failure));
    collet_ternary_output_destroy(output);
}

/* ---- A network in memory --------------------------------------------------------------------- */

static collet_ternary_weights *weights[2];
static collet_array *bias;
static collet_ternary_layer layers[2];
static const char *const names[2] = {"first", NULL};

static int set_up(void **state)
{
    set_up_scalar(state);
    make_directory(state);
    collet_array *codes[2] = {random_codes(cx, HIDDEN, INPUTS, 1),
                              random_codes(cx, OUTPUTS, HIDDEN, 2)};
    collet_array *scale = random_floats(cx, 0, HIDDEN, 3);
    bias = random_floats(cx, 0, OUTPUTS, 4);
    for (int i = 0; i < 2; i++) {
        assert_done(collet_ternary_weights_from_codes(cx, &weights[i], codes[i], i ? NULL : scale,
                                                      &failure));
        layers[i] = (collet_ternary_layer){.struct_size = sizeof *layers,
                                           .relu = i == 0,
                                           .activations = i ? COLLET_TERNARY_TERNARY : 0,
                                           .threshold = i ? 0.5f : 0,
                                           .weights = weights[i],
                                           .bias = i ? bias : NULL};
    }
    save_array("codes.npy", codes[0]);
    save_array("codes2.npy", codes[1]);
    collet_array *x = random_floats(cx, VECTORS, WIDE, 5);
    save_array("x.npy", x);
    collet_array *all[] = {codes[0], codes[1], scale, x};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        collet_array_destroy(all[i]);
    collet_ternary_output *output = NULL;
    assert_done(collet_ternary_layers_write(cx, &output, path_of("model.t2"), layers, names, 2,
                                            NULL, &failure));
    publish(output);
    return 0;
}

static int clean_up(void **state)
{
    collet_ternary_weights_destroy(weights[0]);
    collet_ternary_weights_destroy(weights[1]);
    collet_array_destroy(bias);
    remove_directory(state);
    return tear_down(state);
}

/* ---- Round trips ----------------------------------------------------------------------------- */

TEST(written_layers_are_described)
{
    OWNED(collet_ternary_file) *file = open_file("model.t2");
    collet_ternary_file_info info = {.struct_size = sizeof info};
    collet_ternary_matrix m[2];
    collet_ternary_file_get_info(file, &info);
    assert_int_equal(info.kind, COLLET_TERNARY_FILE_T2);
    assert_int_equal(info.count, 2);
    assert_string_equal(info.path, path_of("model.t2"));
    for (int i = 0; i < 2; i++) {
        memset(&m[i], 0xff, sizeof m[i]);
        m[i].struct_size = sizeof m[i];
        assert_done(collet_ternary_file_matrix_at(file, &m[i], (size_t)i, &failure));
        assert_int_equal(m[i].content, COLLET_TERNARY_PACKED);
        assert_int_equal(m[i].format, COLLET_TERNARY_T2);
        assert_int_equal(m[i].in_network, 1);
        assert_string_equal(m[i].type, "t2");
    }
    assert_string_equal(m[0].name, "first");
    assert_string_equal(m[1].name, "");
    assert_int_equal(m[0].rows, HIDDEN);
    assert_int_equal(m[0].columns, INPUTS);
    assert_int_equal(m[0].row_bytes, 192);
    assert_int_equal(m[0].relu, 1);
    assert_true(m[0].has_scale && !m[0].has_bias && !m[1].has_scale && m[1].has_bias);
    assert_int_equal(m[1].activations, COLLET_TERNARY_TERNARY);
    assert_true(m[1].threshold == 0.5f);
    /* A caller compiled with an older header gets only the fields of that header. */
    collet_ternary_matrix short_one;
    memset(&short_one, 0xff, sizeof short_one);
    short_one.struct_size = 8;
    assert_done(collet_ternary_file_matrix_at(file, &short_one, 0, &failure));
    assert_int_equal(short_one.struct_size, 8);
    assert_int_equal(short_one.content, COLLET_TERNARY_PACKED);
    assert_int_equal(short_one.format, UINT32_MAX);
    /* A caller compiled with a newer header gets 0 for its later fields. */
    struct {
        collet_ternary_matrix matrix;
        uint64_t later;
    } long_one = {.matrix.struct_size = sizeof long_one, .later = 7};
    assert_done(collet_ternary_file_matrix_at(file, &long_one.matrix, 0, &failure));
    assert_int_equal(long_one.later, 0);
}

TEST(loaded_network_gives_the_same_bits)
{
    collet_ternary_network *made = NULL, *loaded = NULL;
    collet_ternary_file *file = open_file("model.t2");
    collet_array *x = random_floats(cx, 7, INPUTS, 6);
    collet_array *y[2] = {array_for(cx, COLLET_F32, 2, SHAPE(7, OUTPUTS)),
                          array_for(cx, COLLET_F32, 2, SHAPE(7, OUTPUTS))};
    assert_done(collet_ternary_network_create(cx, &made, layers, 2, &failure));
    assert_done(collet_ternary_network_load(cx, &loaded, file, COLLET_TERNARY_AS_STORED, 0, NULL,
                                            &failure));
    collet_ternary_file_destroy(file);
    assert_int_equal(collet_ternary_network_inputs(loaded), INPUTS);
    assert_int_equal(collet_ternary_network_outputs(loaded), OUTPUTS);
    assert_done(collet_ternary_network_run(cx, made, y[0], x, &failure));
    assert_done(collet_ternary_network_run(cx, loaded, y[1], x, &failure));
    assert_same(y[0], y[1]);
    collet_ternary_network_destroy(made);
    collet_ternary_network_destroy(loaded);
    collet_array_destroy(x);
    collet_array_destroy(y[0]);
    collet_array_destroy(y[1]);
}

/* One layer of a file, with its scale and bias, in memory. */
TEST(layers_are_loaded_one_by_one)
{
    OWNED(collet_ternary_file) *file = open_file("model.t2");
    for (int i = 0; i < 2; i++) {
        OWNED(collet_ternary_weights) *w = NULL;
        OWNED(collet_array) *b = NULL;
        assert_done(collet_ternary_file_load(cx, file, &w, &b, (size_t)i, NULL, NULL, &failure));
        assert_same(collet_ternary_weights_bytes(weights[i]), collet_ternary_weights_bytes(w));
        if (i) {
            assert_null(collet_ternary_weights_scale(w));
            assert_same(bias, b);
        } else {
            assert_same(collet_ternary_weights_scale(weights[i]), collet_ternary_weights_scale(w));
            assert_null(b);
        }
    }
}

/* Quantizing row by row gives the same result as the whole matrix at once. */
TEST(numbers_are_quantized_as_in_memory)
{
    static const collet_ternary_quantize_params params[] = {
        {.struct_size = sizeof *params, .mode = COLLET_TERNARY_ABSMEAN},
        {.struct_size = sizeof *params, .mode = COLLET_TERNARY_THRESHOLD, .threshold = 0.3f}};
    OWNED(collet_array) *numbers = random_floats(cx, HIDDEN, INPUTS, 8);
    save_array("numbers.npy", numbers);
    OWNED(collet_ternary_file) *file = open_file("numbers.npy");
    for (int i = 0; i < 3; i++) { /* i == 2: NULL, which means the mode "threshold" */
        OWNED(collet_ternary_weights) *expected = NULL, *w = NULL;
        assert_done(collet_ternary_weights_quantize(cx, &expected, numbers, &params[i > 0], NULL,
                                                    &failure));
        assert_done(collet_ternary_file_load(cx, file, &w, NULL, 0, i < 2 ? &params[i] : NULL, NULL,
                                             &failure));
        assert_same(collet_ternary_weights_bytes(expected), collet_ternary_weights_bytes(w));
        if (i == 0)
            assert_same(collet_ternary_weights_scale(expected), collet_ternary_weights_scale(w));
        else
            assert_null(collet_ternary_weights_scale(w));
    }
}

/* A matrix of several pieces, each row with its own scale; then the same matrix, in which a row of
 * the last piece is not ternary. */
TEST(ternary_numbers_are_kept)
{
    enum { MANY = 5000, BLOCK = 256 };
    FREED(float) *values = malloc(MANY * BLOCK * sizeof *values),
                 *scale = malloc(MANY * sizeof *scale);
    assert_non_null(values);
    assert_non_null(scale);
    for (int r = 0; r < MANY; r++) {
        scale[r] = 0.0243f / (float)(r + 1);
        for (int c = 0; c < BLOCK; c++)
            values[r * BLOCK + c] = (float)((r + c * 7) % 3 - 1) * scale[r];
    }
    for (int i = 0; i < 2; i++) {
        OWNED(collet_ternary_weights) *w = NULL, *same = NULL;
        values[MANY * BLOCK - 1] = i ? 0.5f : 0;
        OWNED(collet_array) *array = array_of(cx, COLLET_F32, 2, SHAPE(MANY, BLOCK), values);
        save_array("numbers.npy", array);
        OWNED(collet_ternary_file) *file = open_file("numbers.npy");
        assert_done(collet_ternary_file_load(cx, file, &w, NULL, 0, NULL, NULL, &failure));
        assert_done(collet_ternary_weights_quantize(cx, &same, array, NULL, NULL, &failure));
        assert_same(collet_ternary_weights_bytes(w), collet_ternary_weights_bytes(same));
        if (i) {
            assert_null(collet_ternary_weights_scale(w));
            assert_null(collet_ternary_weights_scale(same));
        } else {
            OWNED(collet_array) *wanted = array_of(cx, COLLET_F32, 1, SHAPE(MANY), scale);
            assert_same(wanted, collet_ternary_weights_scale(w));
            assert_same(wanted, collet_ternary_weights_scale(same));
        }
    }
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

typedef collet_status work(const collet_ternary_monitor *monitor, collet_ternary_output **output);

static collet_status work_pack(const collet_ternary_monitor *monitor,
                               collet_ternary_output **output)
{
    static char first[300], second[300];
    snprintf(first, sizeof first, "%s", path_of("codes.npy"));
    snprintf(second, sizeof second, "%s", path_of("codes2.npy"));
    const collet_ternary_source sources[] = {{.struct_size = sizeof *sources, .weights = first},
                                             {.struct_size = sizeof *sources, .weights = second}};
    return collet_ternary_files_pack(cx, output, path_of("out"), sources, 2, COLLET_TERNARY_PLANES,
                                     monitor, &failure);
}

static collet_status work_write(const collet_ternary_monitor *monitor,
                                collet_ternary_output **output)
{
    return collet_ternary_layers_write(cx, output, path_of("out"), layers, names, 2, monitor,
                                       &failure);
}

static collet_status work_unpack(const collet_ternary_monitor *monitor,
                                 collet_ternary_output **output)
{
    collet_ternary_file *file = open_file("model.t2");
    collet_status status = collet_ternary_file_unpack(
        cx, file, output, path_of("out"), 0, COLLET_TERNARY_WRITE_VALUES, monitor, &failure);
    collet_ternary_file_destroy(file);
    return status;
}

static collet_status work_count(const collet_ternary_monitor *monitor,
                                collet_ternary_output **output)
{
    collet_ternary_file *file = open_file("model.t2");
    collet_ternary_counts counts = {.struct_size = sizeof counts};
    collet_status status = collet_ternary_file_count(cx, file, &counts, 0, monitor, &failure);
    if (status == COLLET_OK) {
        assert_int_equal(counts.minus + counts.zero + counts.plus, HIDDEN * INPUTS);
        assert_int_equal(counts.invalid, 0);
    }
    collet_ternary_file_destroy(file);
    return status;
}

static collet_status work_load(const collet_ternary_monitor *monitor,
                               collet_ternary_output **output)
{
    collet_ternary_file *file = open_file("codes.npy");
    collet_ternary_weights *w = NULL;
    collet_status status = collet_ternary_file_load(cx, file, &w, NULL, 0, NULL, monitor, &failure);
    assert_true((status == COLLET_OK) == (w != NULL));
    collet_ternary_weights_destroy(w);
    collet_ternary_file_destroy(file);
    return status;
}

static collet_status work_network(const collet_ternary_monitor *monitor,
                                  collet_ternary_output **output)
{
    collet_ternary_file *file = open_file("model.t2");
    collet_ternary_network *network = NULL;
    collet_status status = collet_ternary_network_load(cx, &network, file, COLLET_TERNARY_AS_STORED,
                                                       0, monitor, &failure);
    assert_true((status == COLLET_OK) == (network != NULL));
    collet_ternary_network_destroy(network);
    collet_ternary_file_destroy(file);
    return status;
}

static collet_status work_run(const collet_ternary_monitor *monitor, collet_ternary_output **output)
{
    static char x[300];
    collet_array *codes = random_codes(cx, 1, WIDE, 7);
    collet_ternary_weights *row = NULL;
    collet_ternary_network *network = NULL;
    snprintf(x, sizeof x, "%s", path_of("x.npy"));
    const collet_ternary_run_files files = {
        .struct_size = sizeof files, .x = x, .y = path_of("out")};
    collet_ternary_run_result result = {.struct_size = sizeof result};
    assert_done(collet_ternary_weights_from_codes(cx, &row, codes, NULL, &failure));
    const collet_ternary_layer layer = {.struct_size = sizeof layer, .weights = row};
    assert_done(collet_ternary_network_create(cx, &network, &layer, 1, &failure));
    collet_array_destroy(codes);
    collet_ternary_weights_destroy(row);
    collet_status status =
        collet_ternary_network_run_files(cx, network, output, &result, &files, monitor, &failure);
    if (status == COLLET_OK)
        assert_int_equal(result.vectors, VECTORS);
    collet_ternary_network_destroy(network);
    return status;
}

static void cancel_everywhere(work *run, int writes)
{
    collet_ternary_output *output = NULL;
    int before = io_count_entries(directory);
    watch all = {.allowed = -1};
    const collet_ternary_monitor whole = {
        .struct_size = sizeof whole, .progress = note, .user = &all};
    assert_done(run(&whole, &output));
    assert_true(all.calls >= 2);
    assert_true(all.last > 0 && all.fraction == 1);
    assert_int_equal(output != NULL, writes);
    collet_ternary_output_destroy(output); /* not published: nothing is left */
    assert_int_equal(io_count_entries(directory), before);
    for (int64_t n = 0; n < all.calls; n++) {
        watch some = {.allowed = n};
        const collet_ternary_monitor monitor = {
            .struct_size = sizeof monitor, .progress = note, .user = &some};
        output = NULL;
        assert_outcome(run(&monitor, &output), COLLET_CANCELLED);
        assert_string_equal(failure.text, "cancelled by the caller");
        assert_int_equal(some.calls, n + 1);
        assert_null(output);
        assert_int_equal(io_count_entries(directory), before);
    }
}

TEST(every_call_can_be_cancelled)
{
    static work *const writing[] = {work_pack, work_write, work_unpack, work_run};
    static work *const reading[] = {work_count, work_load, work_network};
    for (size_t i = 0; i < sizeof writing / sizeof *writing; i++)
        cancel_everywhere(writing[i], 1);
    for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
        cancel_everywhere(reading[i], 0);
}

/* ---- What is refused ------------------------------------------------------------------------- */

#define REFUSED(call, status, text)                                                                \
    do {                                                                                           \
        assert_outcome(call, status);                                                              \
        assert_failure_has(text);                                                                  \
    } while (0)

/* Structs of a program that was built with a newer header. */
TEST(unknown_members_are_refused)
{
    struct {
        collet_ternary_quantize_params params;
        uint64_t later;
    } params = {{.struct_size = sizeof params, .mode = 1}, 0};
    struct {
        collet_ternary_source source;
        uint64_t later;
    } source = {{.struct_size = sizeof source}, 0};
    struct {
        collet_ternary_layer layer;
        uint64_t later;
    } layer = {layers[0], 1};
    struct {
        collet_ternary_run_files files;
        uint64_t later;
    } files = {{.struct_size = sizeof files, .x = "x.npy"}, 1};
    char x[300];
    collet_ternary_run_result result = {.struct_size = sizeof result};
    collet_ternary_file *model = open_file("model.t2"), *numbers = open_file("x.npy");
    collet_ternary_network *network = NULL;
    collet_ternary_output *output = NULL;
    collet_ternary_weights *w = NULL;
    snprintf(x, sizeof x, "%s", path_of("x.npy"));
    source.source.weights = x;
    layer.layer.struct_size = sizeof layer;
    assert_done(collet_ternary_file_load(cx, numbers, &w, NULL, 0, &params.params, NULL, &failure));
    collet_ternary_weights_destroy(w);
    w = NULL;
    params.later = 1;
    REFUSED(collet_ternary_file_load(cx, numbers, &w, NULL, 0, &params.params, NULL, &failure),
            COLLET_INVALID, "byte 16 of a struct is not 0");
    source.source.quantize = &params.params;
    REFUSED(collet_ternary_files_pack(cx, &output, path_of("out"), &source.source, 1,
                                      COLLET_TERNARY_T2, NULL, &failure),
            COLLET_INVALID, "byte 16 of a struct is not 0");
    params.later = 0;
    source.later = 1;
    REFUSED(collet_ternary_files_pack(cx, &output, path_of("out"), &source.source, 1,
                                      COLLET_TERNARY_T2, NULL, &failure),
            COLLET_INVALID, "pack: byte ");
    REFUSED(collet_ternary_layers_write(cx, &output, path_of("out"), &layer.layer, NULL, 1, NULL,
                                        &failure),
            COLLET_INVALID, "of a struct is not 0");
    assert_done(collet_ternary_network_load(cx, &network, model, COLLET_TERNARY_AS_STORED, 0, NULL,
                                            &failure));
    REFUSED(collet_ternary_network_run_files(cx, network, &output, &result, &files.files, NULL,
                                             &failure),
            COLLET_INVALID, "of a struct is not 0");
    files.later = 0;
    files.files.reserved = 1;
    REFUSED(collet_ternary_network_run_files(cx, network, &output, &result, &files.files, NULL,
                                             &failure),
            COLLET_INVALID, "reserved must be 0");
    assert_null(w);
    assert_null(output);
    collet_ternary_network_destroy(network);
    collet_ternary_file_destroy(model);
    collet_ternary_file_destroy(numbers);
}

TEST(wrong_arguments)
{
    static const collet_ternary_quantize_params params = {.struct_size = sizeof params, .mode = 1};
    static const collet_ternary_quantize_params strange = {.struct_size = sizeof params, .mode = 9};
    collet_ternary_file *model = open_file("model.t2"), *codes = open_file("codes.npy");
    collet_ternary_file *numbers = open_file("x.npy"), *file = NULL;
    collet_ternary_network *network = NULL;
    collet_ternary_output *output = NULL;
    collet_ternary_weights *w = NULL;
    collet_ternary_counts counts = {.struct_size = sizeof counts};
    collet_ternary_matrix m = {.struct_size = sizeof m};
    collet_ternary_layer wrong = layers[0];
    wrong.bias = bias;
    REFUSED(collet_ternary_file_open(&file, NULL, NULL, &failure), COLLET_INVALID, "NULL");
    REFUSED(collet_ternary_file_open(&file, NULL, path_of("none"), &failure), COLLET_IO,
            "No such file");
    REFUSED(collet_ternary_file_matrix_at(model, &m, 2, &failure), COLLET_NOT_FOUND,
            "there is no layer 2; the file has 2, counted from 0");
    REFUSED(collet_ternary_file_matrix_at(model, &m, SIZE_MAX, &failure), COLLET_NOT_FOUND,
            "9223372036854775807");
    REFUSED(collet_ternary_file_count(cx, codes, &counts, 0,
                                      &(collet_ternary_monitor){.warn = NULL}, &failure),
            COLLET_INVALID, "the monitor: struct_size is 0");
    REFUSED(collet_ternary_file_load(cx, model, &w, NULL, 0, &params, NULL, &failure),
            COLLET_INVALID, "the matrix is already packed");
    REFUSED(collet_ternary_file_load(cx, codes, &w, NULL, 0, &params, NULL, &failure),
            COLLET_INVALID, "the matrix has codes");
    REFUSED(collet_ternary_file_load(cx, numbers, &w, NULL, 0, &strange, NULL, &failure),
            COLLET_INVALID, "mode is 9");
    REFUSED(collet_ternary_file_count(cx, numbers, &counts, 0, NULL, &failure), COLLET_INVALID,
            "the matrix has numbers");
    REFUSED(collet_ternary_network_load(cx, &network, codes, COLLET_TERNARY_AS_STORED, 0, NULL,
                                        &failure),
            COLLET_FORMAT, "not a .t2 file");
    REFUSED(collet_ternary_network_load(cx, &network, model, 7, 0, NULL, &failure), COLLET_INVALID,
            "activations is 7");
    REFUSED(collet_ternary_file_unpack(cx, codes, &output, path_of("out"), 0, 0, NULL, &failure),
            COLLET_INVALID, "is not packed");
    REFUSED(collet_ternary_file_unpack(cx, model, &output, path_of("out"), 0, 3, NULL, &failure),
            COLLET_INVALID, "cannot be unpacked as 3");
    REFUSED(
        collet_ternary_file_unpack(cx, model, &output, path_of("model.t2"), 0, 0, NULL, &failure),
        COLLET_INVALID, "would replace the input");
    REFUSED(
        collet_ternary_layers_write(cx, &output, path_of("out"), layers, NULL, 0, NULL, &failure),
        COLLET_INVALID, "0 layers");
    REFUSED(
        collet_ternary_layers_write(cx, &output, path_of("out"), &wrong, NULL, 1, NULL, &failure),
        COLLET_SHAPE, "out: layer 0 has 3000 rows, but its bias has 10 elements");
    assert_null(file);
    assert_null(w);
    assert_null(network);
    assert_null(output);
    collet_ternary_file_destroy(model);
    collet_ternary_file_destroy(codes);
    collet_ternary_file_destroy(numbers);
    collet_ternary_file_destroy(NULL);
    collet_ternary_output_destroy(NULL);
}

TEST_GROUP(set_up, clean_up)
