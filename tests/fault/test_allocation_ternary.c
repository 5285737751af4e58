/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses packed weights, networks and their files while allocation number N fails. The call reports
 * the failure, returns no object, leaks nothing, and succeeds when repeated. A second run of a
 * network does not allocate.
 */

#include "common/failing_malloc.h"
#include "common/fixture.h"
#include "engines/ternary_engine.h"
#include "io/npy.h"

#define ROWS 5
#define COLUMNS 300

static collet_array *codes, *numbers, *ternary, *scale, *bytes;

static int make_operands(void **state)
{
    static const char *const settings[] = {"cache=off", "log=off", NULL};
    open_shared(OPENMP_PLUGIN ":" SCALAR_PLUGIN, settings, "cpu_scalar");
    codes = random_codes(cx, ROWS, COLUMNS, 1);
    numbers = random_floats(cx, ROWS, COLUMNS, 2);
    scale = random_floats(cx, 0, ROWS, 3);
    bytes = array_for(cx, COLLET_U8, 2, SHAPE(ROWS, 128));
    ternary = array_for(cx, COLLET_F64, 2, SHAPE(ROWS, COLUMNS));
    assert_ok(cx, collet_op_copy(cx, ternary, codes));
    collet_array *info = array_for(cx, COLLET_I32, 0, NULL);
    assert_ok(cx, collet_op_ternary_pack(cx, bytes, info, codes, NULL, COLLET_TERNARY_T2));
    collet_array_destroy(info);
    return 0;
}

static int free_operands(void **state)
{
    collet_array_destroy(codes);
    collet_array_destroy(numbers);
    collet_array_destroy(ternary);
    collet_array_destroy(scale);
    collet_array_destroy(bytes);
    return tear_down(state);
}

/* ---- Weights --------------------------------------------------------------------------------- */

static collet_status make_from_codes(collet_context *context, collet_ternary_weights **out)
{
    return collet_ternary_weights_from_codes(context, out, codes, scale, &failure);
}

static collet_status make_from_bytes(collet_context *context, collet_ternary_weights **out)
{
    return collet_ternary_weights_from_bytes(context, out, bytes, COLUMNS, scale, NULL, &failure);
}

static collet_status make_from_numbers(collet_context *context, collet_ternary_weights **out)
{
    const collet_ternary_quantize_params params = {.struct_size = sizeof params,
                                                   .mode = COLLET_TERNARY_ABSMEAN};
    return collet_ternary_weights_quantize(context, out, numbers, &params, NULL, &failure);
}

static collet_status make_from_ternary(collet_context *context, collet_ternary_weights **out)
{
    return collet_ternary_weights_quantize(context, out, ternary, NULL, NULL, &failure);
}

static void assert_reported(collet_status status, long n)
{
    if (status != COLLET_NO_MEMORY && status != COLLET_REFUSED)
        fail_msg("allocation %ld: %s", n, collet_status_name(status));
    assert_true(failure.text[0] != '\0');
}

/* Fails each allocation of the call; returns their number. */
static long fail_each(collet_status (*make)(collet_context *, collet_ternary_weights **))
{
    long repeated = -1;
    for (long n = 0;; n++) {
        long before = allocation_outstanding;
        collet_context *fresh = context_of(rt);
        collet_ternary_weights *w = NULL;
        assert_ok(fresh, collet_set_backend(fresh, "cpu_scalar"));
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status = make(fresh, &w);
        allocation_countdown = -1;
        if (!allocation_failed) {
            assert_done(status);
            assert_int_equal(collet_ternary_weights_columns(w), COLUMNS);
            collet_ternary_weights_destroy(w);
            collet_context_destroy(fresh);
            return n;
        }
        assert_reported(status, n);
        assert_null(w);
        collet_context_destroy(fresh);
        if (allocation_outstanding > before && repeated != n) {
            repeated = n--; /* the runtime caches objects on first use */
            continue;
        }
        if (allocation_outstanding > before)
            fail_msg("allocation %ld: %ld blocks leaked", n, allocation_outstanding - before);
    }
}

TEST(weights)
{
    long from_codes = fail_each(make_from_codes), from_bytes = fail_each(make_from_bytes);
    long from_numbers = fail_each(make_from_numbers);
    long from_ternary = fail_each(make_from_ternary);
    print_message("%ld, %ld, %ld and %ld failures\n", from_codes, from_bytes, from_numbers,
                  from_ternary);
    assert_true(from_codes > 4 && from_bytes > 4 && from_numbers > 10 && from_ternary > 10);
}

/* ---- Networks -------------------------------------------------------------------------------- */

#define LAYERS 3

static const int64_t widths[LAYERS + 1] = {COLUMNS, 40, 270, 8};

typedef struct model {
    collet_ternary_layer layers[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias, *x, *y, *more_x, *more_y;
} model;

static void open_model(model *m)
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        collet_array *c = random_codes(cx, widths[i + 1], widths[i], i);
        m->weights[i] = NULL;
        assert_done(collet_ternary_weights_from_codes(cx, &m->weights[i], c, NULL, &failure));
        collet_array_destroy(c);
        m->layers[i] = (collet_ternary_layer){
            .struct_size = sizeof *m->layers, .activations = i, .weights = m->weights[i]};
    }
    m->bias = random_floats(cx, 0, widths[1], 4);
    m->layers[0].bias = m->bias;
    m->x = random_floats(cx, 3, COLUMNS, 5);
    m->y = array_for(cx, COLLET_F32, 2, SHAPE(3, widths[LAYERS]));
    m->more_x = random_floats(cx, 7, COLUMNS, 6);
    m->more_y = array_for(cx, COLLET_F32, 2, SHAPE(7, widths[LAYERS]));
}

static void close_model(model *m)
{
    for (int i = 0; i < LAYERS; i++)
        collet_ternary_weights_destroy(m->weights[i]);
    collet_array_destroy(m->bias);
    collet_array_destroy(m->x);
    collet_array_destroy(m->y);
    collet_array_destroy(m->more_x);
    collet_array_destroy(m->more_y);
}

TEST(making_networks)
{
    model m;
    long n = 0;
    open_model(&m);
    for (;; n++) {
        collet_ternary_network *network = NULL;
        long before = allocation_outstanding;
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status =
            collet_ternary_network_create(cx, &network, m.layers, LAYERS, &failure);
        allocation_countdown = -1;
        if (!allocation_failed) {
            assert_done(status);
            collet_ternary_network_destroy(network);
            break;
        }
        assert_reported(status, n);
        assert_null(network);
        assert_int_equal(allocation_outstanding, before);
    }
    print_message("%ld failures\n", n);
    assert_true(n > 5);
    close_model(&m);
}

/* The next run must not allocate: the first allocation would fail. */
static void runs_without(collet_context *context, collet_ternary_network *network, const model *m,
                         const void *expected)
{
    float got[3 * 8];
    assert_int_equal(sizeof got, (size_t)collet_array_size(m->y) * sizeof(float));
    memset(got, 0, sizeof got);
    assert_ok(context, collet_array_write(context, m->y, got, sizeof got));
    allocation_failed = 0;
    allocation_countdown = 0;
    collet_status status = collet_ternary_network_run(context, network, m->y, m->x, &failure);
    allocation_countdown = -1;
    assert_done(status);
    assert_int_equal(allocation_failed, 0);
    assert_ok(context, collet_array_read(context, m->y, got, sizeof got));
    assert_memory_equal(got, expected, sizeof got);
}

/* Fails each allocation of runs whose input has other leading axes than before. Runs with the
 * previous axes still succeed, and runs with the new axes succeed at last. */
static void fail_other_axes(collet_context *context, collet_ternary_network *network,
                            const model *m, const void *expected)
{
    long n = 0;
    for (;; n++) {
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status =
            collet_ternary_network_run(context, network, m->more_y, m->more_x, &failure);
        allocation_countdown = -1;
        if (!allocation_failed) {
            assert_done(status);
            break;
        }
        assert_reported(status, n);
        assert_done(collet_ternary_network_run(context, network, m->y, m->x, &failure));
        runs_without(context, network, m, expected);
    }
    print_message("%ld failures\n", n);
    assert_true(n > 3);
}

static void run_on(const char *backend)
{
    model m;
    float expected[3 * 8];
    collet_ternary_network *network = NULL;
    collet_context *context = context_of(rt);
    open_model(&m);
    assert_ok(context, collet_set_backend(context, backend));
    assert_done(collet_ternary_network_create(context, &network, m.layers, LAYERS, &failure));
    assert_done(collet_ternary_network_run(context, network, m.y, m.x, &failure));
    assert_ok(context, collet_array_read(context, m.y, expected, sizeof expected));
    for (int i = 0; i < 5; i++)
        runs_without(context, network, &m, expected);
    fail_other_axes(context, network, &m, expected);
    collet_ternary_network_destroy(network);
    collet_context_destroy(context);
    close_model(&m);
}

/* A device allocates its cached objects only once. */
static void run_twice_on(const char *backend)
{
    run_on(backend);
    long before = allocation_outstanding;
    run_on(backend);
    assert_int_equal(allocation_outstanding, before);
}

TEST(running_on_one_thread)
{
    run_twice_on("cpu_scalar");
}

TEST(running_on_all_threads)
{
    run_twice_on("cpu_openmp");
}

/* ---- Files ----------------------------------------------------------------------------------- */

static char directory[] = "/tmp/collet-allocation-XXXXXX";
static char numbers_path[64], model_path[64], x_path[64], out_path[64], bitnet_path[64],
    config_path[64];

static void save(const char *path, collet_dtype dtype, int64_t rows, int64_t columns,
                 const collet_array *a)
{
    char head[IO_NPY_HEAD], data[4 * ROWS * COLUMNS];
    size_t length = io_npy_head(head, dtype, rows, 1, &columns);
    size_t size = (size_t)(rows * columns) * collet_dtype_size(dtype);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_ok(cx, collet_array_read(cx, a, data, size));
    assert_int_equal(fwrite(head, 1, length, file), length);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static collet_status pack_files(collet_context *context, collet_ternary_output **output)
{
    const collet_ternary_quantize_params params = {.struct_size = sizeof params,
                                                   .mode = COLLET_TERNARY_ABSMEAN};
    const collet_ternary_source source = {
        .struct_size = sizeof source, .weights = numbers_path, .quantize = &params};
    return collet_ternary_files_pack(context, output, out_path, &source, 1, COLLET_TERNARY_PLANES,
                                     NULL, &failure);
}

static collet_status write_layers(collet_context *context, collet_ternary_output **output)
{
    collet_ternary_weights *w = NULL;
    collet_status status = collet_ternary_weights_from_codes(context, &w, codes, scale, &failure);
    const collet_ternary_layer layer = {.struct_size = sizeof layer, .weights = w};
    if (status == COLLET_OK)
        status =
            collet_ternary_layers_write(context, output, out_path, &layer, NULL, 1, NULL, &failure);
    collet_ternary_weights_destroy(w);
    return status;
}

static collet_status unpack_file(collet_context *context, collet_ternary_output **output)
{
    collet_ternary_file *file = NULL;
    collet_status status = collet_ternary_file_open(&file, NULL, model_path, &failure);
    if (status == COLLET_OK)
        status = collet_ternary_file_unpack(context, file, output, out_path, 0,
                                            COLLET_TERNARY_WRITE_VALUES, NULL, &failure);
    collet_ternary_file_destroy(file);
    return status;
}

static collet_status count_file(collet_context *context, collet_ternary_output **output)
{
    collet_ternary_file *file = NULL;
    collet_ternary_counts counts = {.struct_size = sizeof counts};
    collet_status status = collet_ternary_file_open(&file, NULL, model_path, &failure);
    if (status == COLLET_OK)
        status = collet_ternary_file_count(context, file, &counts, 0, NULL, &failure);
    collet_ternary_file_destroy(file);
    return status;
}

static collet_status load_file(collet_context *context, collet_ternary_output **output)
{
    collet_ternary_file *file = NULL;
    collet_ternary_weights *w = NULL;
    collet_status status = collet_ternary_file_open(&file, NULL, numbers_path, &failure);
    if (status == COLLET_OK)
        status = collet_ternary_file_load(context, file, &w, NULL, 0, NULL, NULL, &failure);
    collet_ternary_weights_destroy(w);
    collet_ternary_file_destroy(file);
    return status;
}

/* A layer of a BitNet model, with a bias. */
static collet_status load_bitnet(collet_context *context, collet_ternary_output **output)
{
    collet_ternary_file *file = NULL;
    collet_ternary_weights *w = NULL;
    collet_array *b = NULL;
    collet_status status = collet_ternary_file_open(&file, NULL, bitnet_path, &failure);
    if (status == COLLET_OK)
        status = collet_ternary_file_load(context, file, &w, &b, 0, NULL, NULL, &failure);
    assert_int_equal(b != NULL, status == COLLET_OK);
    collet_array_destroy(b);
    collet_ternary_weights_destroy(w);
    collet_ternary_file_destroy(file);
    return status;
}

static void save_bitnet(void)
{
    static const char head[] =
        "\xd3\0\0\0\0\0\0\0"
        "{\"a.weight\": {\"dtype\": \"U8\", \"shape\": [1, 4], \"data_offsets\": [0, 4]}, "
        "\"a.weight_scale\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 8]}, "
        "\"a.bias\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [8, 24]}}";
    static const uint8_t weights[4] = {0x15, 0x26, 0x48, 0x81};
    static const float numbers_after[5] = {1, 2, 3, 4, 5};
    static const char config[] = "{\"quantization_config\": {\"linear_class\": \"bitlinear\"}}";
    FILE *file = fopen(bitnet_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, sizeof head - 1, file), sizeof head - 1);
    assert_int_equal(fwrite(weights, 1, sizeof weights, file), sizeof weights);
    assert_int_equal(fwrite(numbers_after, 1, sizeof numbers_after, file), sizeof numbers_after);
    assert_int_equal(fclose(file), 0);
    file = fopen(config_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(config, 1, sizeof config - 1, file), sizeof config - 1);
    assert_int_equal(fclose(file), 0);
}

static collet_status run_file(collet_context *context, collet_ternary_output **output)
{
    const collet_ternary_run_files files = {
        .struct_size = sizeof files, .x = x_path, .y = out_path};
    collet_ternary_run_result result = {.struct_size = sizeof result};
    collet_ternary_file *file = NULL;
    collet_ternary_network *network = NULL;
    collet_status status = collet_ternary_file_open(&file, NULL, model_path, &failure);
    if (status == COLLET_OK)
        status = collet_ternary_network_load(context, &network, file, COLLET_TERNARY_AS_STORED, 0,
                                             NULL, &failure);
    if (status == COLLET_OK)
        status = collet_ternary_network_run_files(context, network, output, &result, &files, NULL,
                                                  &failure);
    collet_ternary_network_destroy(network);
    collet_ternary_file_destroy(file);
    return status;
}

/* Fails each allocation of the call; returns their number. */
static long fail_each_file(collet_status (*work)(collet_context *, collet_ternary_output **))
{
    long repeated = -1;
    for (long n = 0;; n++) {
        long before = allocation_outstanding;
        collet_context *fresh = context_of(rt);
        collet_ternary_output *output = NULL;
        assert_ok(fresh, collet_set_backend(fresh, "cpu_scalar"));
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status = work(fresh, &output);
        allocation_countdown = -1;
        if (!allocation_failed) {
            assert_done(status);
            collet_ternary_output_destroy(output);
            collet_context_destroy(fresh);
            return n;
        }
        assert_reported(status, n);
        assert_null(output);
        collet_context_destroy(fresh);
        if (allocation_outstanding > before && repeated != n) {
            repeated = n--; /* the runtime caches objects on first use */
            continue;
        }
        if (allocation_outstanding > before)
            fail_msg("allocation %ld: %ld blocks leaked", n, allocation_outstanding - before);
    }
}

TEST(files)
{
    static collet_status (*const work[])(collet_context *, collet_ternary_output **) = {
        pack_files, write_layers, unpack_file, count_file, load_file, load_bitnet, run_file};
    collet_ternary_output *output = NULL;
    assert_non_null(mkdtemp(directory));
    snprintf(numbers_path, sizeof numbers_path, "%s/numbers.npy", directory);
    snprintf(model_path, sizeof model_path, "%s/model.t2", directory);
    snprintf(x_path, sizeof x_path, "%s/x.npy", directory);
    snprintf(out_path, sizeof out_path, "%s/out", directory);
    snprintf(bitnet_path, sizeof bitnet_path, "%s/m.safetensors", directory);
    snprintf(config_path, sizeof config_path, "%s/config.json", directory);
    save_bitnet();
    save(numbers_path, COLLET_F32, ROWS, COLUMNS, numbers);
    save(x_path, COLLET_I8, ROWS, COLUMNS, codes);
    assert_done(pack_files(cx, &output)); /* planes: unpacked when loaded */
    assert_done(collet_ternary_output_publish(output, 1, &failure));
    collet_ternary_output_destroy(output);
    assert_int_equal(rename(out_path, model_path), 0);
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        long n = fail_each_file(work[i]);
        print_message("%ld failures\n", n);
        assert_true(n > 5);
        assert_int_equal(access(out_path, F_OK), -1);
    }
    unlink(numbers_path);
    unlink(model_path);
    unlink(x_path);
    unlink(bitnet_path);
    unlink(config_path);
    assert_int_equal(rmdir(directory), 0);
}

TEST_GROUP(make_operands, free_operands)
