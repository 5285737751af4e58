/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses one set of packed weights on the CPU and on two devices. The results have the same bits, and
 * the weights are transferred to each device once. Counts computed on a device saturate at 2^31 -
 * 1. Skipped if no driver has two devices.
 */

#include "common/fixture.h"
#include "opencl_support.h"
#include "engines/ternary_engine.h"

#define LAYERS 3
#define TOKENS 6

static const int64_t widths[LAYERS + 1] = {300, 70, 513, 10};

static collet_ternary_weights *weights[LAYERS];
static collet_array *bias[LAYERS], *x;
static collet_ternary_layer layers[LAYERS];
static uint64_t bytes_needed; /* size of weights, scales, biases and x */

static uint64_t size_of(const collet_array *a)
{
    return a ? (uint64_t)collet_array_size(a) * collet_dtype_size(collet_array_dtype(a)) : 0;
}

static int make_layers(void **state)
{
    const collet_ternary_quantize_params params = {.struct_size = sizeof params,
                                                   .mode = COLLET_TERNARY_ABSMEAN};
    open_shared(OPENCL_PLUGIN ":" SCALAR_PLUGIN, NULL, "cpu_scalar");
    x = random_floats(cx, TOKENS, widths[0], 1);
    bytes_needed = size_of(x);
    for (uint32_t i = 0; i < LAYERS; i++) {
        collet_array *numbers = random_floats(cx, widths[i + 1], widths[i], 2 + i);
        assert_done(
            collet_ternary_weights_quantize(cx, &weights[i], numbers, &params, NULL, &failure));
        collet_array_destroy(numbers);
        bias[i] = random_floats(cx, 0, widths[i + 1], 12 + i);
        layers[i] = (collet_ternary_layer){.struct_size = sizeof *layers,
                                           .activations = i == 1 ? COLLET_TERNARY_TERNARY
                                                                 : COLLET_TERNARY_INT8,
                                           .relu = i == 0,
                                           .weights = weights[i],
                                           .bias = bias[i]};
        bytes_needed += size_of(collet_ternary_weights_bytes(weights[i])) +
                        size_of(collet_ternary_weights_scale(weights[i])) + size_of(bias[i]);
    }
    return 0;
}

static int free_layers(void **state)
{
    for (int i = 0; i < LAYERS; i++) {
        collet_ternary_weights_destroy(weights[i]);
        collet_array_destroy(bias[i]);
    }
    collet_array_destroy(x);
    return tear_down(state);
}

static collet_ternary_network *network_of(void)
{
    collet_ternary_network *network = NULL;
    assert_done(collet_ternary_network_create(cx, &network, layers, LAYERS, &failure));
    return network;
}

static uint64_t bytes_moved(void)
{
    collet_counters c = counters_of(cx);
    return c.bytes_to_device + c.bytes_direct;
}

/* Runs on `backend`; returns the bytes transferred to a device. */
static uint64_t run_on(const char *backend, collet_ternary_network *network, float *result)
{
    collet_array *y = array_for(cx, COLLET_F32, 2, SHAPE(TOKENS, widths[LAYERS]));
    assert_ok(cx, collet_set_backend(cx, backend));
    uint64_t before = bytes_moved();
    assert_done(collet_ternary_network_run(cx, network, y, x, &failure));
    assert_int_equal(strncmp(backend, collet_last_backend(cx), strlen(collet_last_backend(cx))), 0);
    assert_ok(cx, collet_array_read(cx, y, result, TOKENS * 10 * sizeof *result));
    collet_array_destroy(y);
    return bytes_moved() - before;
}

TEST(weights_move_once)
{
    static const char *const devices[] = {"opencl:0", "opencl:1", "opencl:0"};
    float expected[TOKENS * 10], got[TOKENS * 10];
    OWNED(collet_ternary_network) *on_host = network_of();
    assert_int_equal(run_on("cpu_scalar", on_host, expected), 0);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        OWNED(collet_ternary_network) *network = network_of();
        uint64_t moved = run_on(devices[i], network, got);
        assert_memory_equal(got, expected, sizeof got);
        assert_int_equal(moved, i == 2 ? 0 : bytes_needed);
        assert_int_equal(run_on(devices[i], network, got), 0);
        assert_memory_equal(got, expected, sizeof got);
    }
    assert_int_equal(run_on("cpu_scalar", on_host, got), 0);
    assert_memory_equal(got, expected, sizeof got);
}

/* Runs one network on several backends in turn. */
TEST(a_network_moves)
{
    static const char *const backends[] = {"opencl:0", "cpu_scalar", "opencl:0", "cpu_scalar"};
    float expected[TOKENS * 10], got[TOKENS * 10];
    OWNED(collet_ternary_network) *network = network_of();
    (void)run_on("cpu_scalar", network, expected);
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        (void)run_on(backends[i], network, got);
        assert_memory_equal(got, expected, sizeof got);
    }
}

/* Weights that are packed on the device stay there. */
TEST(weights_made_on_a_device)
{
    OWNED(collet_ternary_weights) *here = NULL, *there = NULL;
    OWNED(collet_array) *codes = random_codes(cx, 40, 1000, 3);
    const size_t bytes = 40 * 256;
    unsigned char *packed = malloc(bytes);
    assert_non_null(packed);
    assert_ok(cx, collet_set_backend(cx, "cpu_scalar"));
    assert_done(collet_ternary_weights_from_codes(cx, &here, codes, NULL, &failure));
    assert_ok(cx, collet_set_backend(cx, "opencl:0"));
    assert_done(collet_ternary_weights_from_codes(cx, &there, codes, NULL, &failure));
    assert_string_equal(collet_last_backend(cx), "opencl");
    assert_ok(cx, collet_array_read(cx, collet_ternary_weights_bytes(here), packed, bytes));
    assert_bytes(cx, collet_ternary_weights_bytes(there), packed);
    free(packed);
}

/* There are more invalid codes than an i32 can count, because one row is repeated. So `info`
 * saturates. */
TEST(counts_saturate)
{
    enum { ROWS = 8192, COLUMNS = 262400 };
    static int8_t codes[COLUMNS];
    OWNED(collet_array) *row = NULL, *rows = NULL, *info = array_for(cx, COLLET_I32, 0, NULL);
    OWNED(collet_array) *bytes = array_for(cx, COLLET_U8, 2, SHAPE(ROWS, COLUMNS / 4));
    memset(codes, 2, sizeof codes);
    row = array_of(cx, COLLET_I8, 1, SHAPE(COLUMNS), codes);
    assert_ok(cx, collet_array_broadcast(cx, row, &rows, 2, SHAPE(ROWS, COLUMNS)));
    assert_ok(cx, collet_set_backend(cx, "opencl:0"));
    assert_ok(cx, collet_op_ternary_pack(cx, bytes, info, rows, NULL, COLLET_TERNARY_T2));
    assert_string_equal(collet_last_backend(cx), "opencl");
    assert_int_equal(number_in(cx, info), INT32_MAX);
}

TEST_GROUP(make_layers, free_layers)

int main(void)
{
    setenv("POCL_DEVICES", "pthread pthread", 1);
    if (!has_devices(2))
        return SKIPPED;
    return test_run();
}
