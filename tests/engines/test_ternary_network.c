/* SPDX-License-Identifier: Apache-2.0 */
/* Networks give the same bits as single calls of their layers. Threads may share a network, and its
 * parts may be freed in any order. */
#include <pthread.h>
#include <stdatomic.h>

#include "common/fixture.h"
#include "engines/ternary_engine.h"

#define LAYERS 5
#define THREADS 4

/* Activations alternate between two buffers; each buffer gets its largest activations first. */
static const int64_t widths[LAYERS + 1] = {300, 70, 513, 40, 20, 10};

/* ---- Layers ---------------------------------------------------------------------------------- */

/* Each kind of activations, with and without scales, bias and relu. */
static void make_layers(collet_ternary_layer layers[LAYERS],
                        collet_ternary_weights *weights[LAYERS], collet_array *bias[LAYERS])
{
    static const uint32_t activations[] = {COLLET_TERNARY_INT8, COLLET_TERNARY_TERNARY,
                                           COLLET_TERNARY_F32, COLLET_TERNARY_INT4};
    for (uint32_t i = 0; i < LAYERS; i++) {
        collet_array *codes = random_codes(cx, widths[i + 1], widths[i], 10 + i);
        collet_array *scale = i == 1 ? NULL : random_floats(cx, 0, widths[i + 1], 20 + i);
        assert_done(collet_ternary_weights_from_codes(cx, &weights[i], codes, scale, &failure));
        collet_array_destroy(codes);
        collet_array_destroy(scale);
        bias[i] = i == 2 ? NULL : random_floats(cx, 0, widths[i + 1], 30 + i);
        layers[i] = (collet_ternary_layer){.struct_size = sizeof *layers,
                                           .activations = activations[i % 4],
                                           .relu = i == 0,
                                           .threshold = i % 4 == 1 ? 0.5f : 0,
                                           .weights = weights[i],
                                           .bias = bias[i]};
    }
}

static void free_layers(collet_ternary_weights *weights[LAYERS], collet_array *bias[LAYERS])
{
    for (int i = 0; i < LAYERS; i++) {
        collet_ternary_weights_destroy(weights[i]);
        collet_array_destroy(bias[i]);
    }
}

/* An array with x's axes, except for the last. */
static collet_array *like(const collet_array *x, int64_t last)
{
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = collet_array_ndim(x);
    memcpy(shape, collet_array_shape(x), (size_t)ndim * sizeof *shape);
    shape[ndim - 1] = last;
    return array_for(cx, COLLET_F32, ndim, shape);
}

/* Computes the layers, one call of ternary_linear each. */
static collet_array *by_layers(const collet_ternary_layer *layers, const collet_array *x)
{
    collet_array *y = NULL, *from = NULL;
    for (int i = 0; i < LAYERS; i++) {
        const collet_ternary_linear_params params = {.struct_size = sizeof params,
                                                     .activations = layers[i].activations,
                                                     .relu = layers[i].relu,
                                                     .threshold = layers[i].threshold};
        y = like(x, collet_ternary_weights_rows(layers[i].weights));
        assert_ok(cx,
                  collet_op_ternary_linear(
                      cx, y, collet_ternary_weights_bytes(layers[i].weights), from ? from : x,
                      collet_ternary_weights_scale(layers[i].weights), layers[i].bias, &params));
        collet_array_destroy(from);
        from = y;
    }
    return y;
}

static void run_both(collet_ternary_network *network, const collet_ternary_layer *layers,
                     const collet_array *x)
{
    OWNED(collet_array) *expected = by_layers(layers, x), *y = like(x, widths[LAYERS]);
    for (int i = 0; i < 2; i++) {
        assert_done(collet_ternary_network_run(cx, network, y, x, &failure));
        assert_same(expected, y);
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

TEST(layer_by_layer)
{
    static const struct {
        int32_t ndim;
        int64_t shape[4];
    } inputs[] = {{1, {300}},          {2, {1, 300}}, {2, {7, 300}}, {3, {2, 5, 300}},
                  {2, {7, 300}},       {2, {0, 300}}, {1, {300}},    {3, {5, 2, 300}},
                  {4, {2, 1, 3, 300}}, {2, {40, 300}}};
    collet_ternary_layer layers[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias[LAYERS];
    collet_ternary_network *network = NULL;
    make_layers(layers, weights, bias);
    assert_done(collet_ternary_network_create(cx, &network, layers, LAYERS, &failure));
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        int64_t rows = 1;
        for (int32_t a = 0; a + 1 < inputs[i].ndim; a++)
            rows *= inputs[i].shape[a];
        OWNED(collet_array) *flat = random_floats(cx, rows ? rows : 1, 300, (uint32_t)i), *x = NULL;
        OWNED(collet_array) *some = NULL;
        assert_ok(cx, collet_array_slice(cx, flat, &some, 0, 0, rows, 1));
        assert_ok(cx, collet_array_reshape(cx, some, &x, inputs[i].ndim, inputs[i].shape));
        run_both(network, layers, x);
    }
    collet_ternary_network_destroy(network);
    free_layers(weights, bias);
}

/* The rows of x and y are strided or reversed, and may be in the same memory. */
TEST(strided_ends)
{
    collet_ternary_layer layers[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias[LAYERS], *reversed = NULL, *y = NULL;
    collet_ternary_network *network = NULL;
    make_layers(layers, weights, bias);
    assert_done(collet_ternary_network_create(cx, &network, layers, LAYERS, &failure));
    collet_array *x = random_floats(cx, 9, 300, 5);
    assert_ok(cx, collet_array_slice(cx, x, &reversed, 0, 8, 4, -2));
    collet_array *expected = by_layers(layers, reversed);
    assert_ok(cx, collet_array_slice(cx, reversed, &y, 1, 7, 10, 3));
    assert_done(collet_ternary_network_run(cx, network, y, reversed, &failure));
    assert_same(expected, y);
    collet_array_destroy(y);
    collet_array_destroy(expected);
    collet_array_destroy(reversed);
    collet_array_destroy(x);
    collet_ternary_network_destroy(network);
    free_layers(weights, bias);
}

TEST(one_layer)
{
    OWNED(collet_array) *codes = random_codes(cx, 6, 6, 4), *x = random_floats(cx, 3, 6, 6);
    OWNED(collet_array) *y = like(x, 6), *expected = like(x, 6);
    const collet_ternary_linear_params params = {.struct_size = sizeof params,
                                                 .activations = COLLET_TERNARY_INT8};
    OWNED(collet_ternary_weights) *w = NULL;
    OWNED(collet_ternary_network) *network = NULL;
    assert_done(collet_ternary_weights_from_codes(cx, &w, codes, NULL, &failure));
    const collet_ternary_layer layer = {.struct_size = sizeof layer, .weights = w};
    assert_done(collet_ternary_network_create(cx, &network, &layer, 1, &failure));
    assert_ok(cx, collet_op_ternary_linear(cx, expected, collet_ternary_weights_bytes(w), x, NULL,
                                           NULL, &params));
    assert_done(collet_ternary_network_run(cx, network, y, x, &failure));
    assert_same(expected, y);
    assert_done(collet_ternary_network_run(cx, network, x, x, &failure));
    assert_same(expected, x);
}

/* Layer structs of a later version are longer. */
TEST(longer_layers)
{
    struct {
        collet_ternary_layer layer;
        uint64_t later;
    } longer[LAYERS];
    collet_ternary_layer layers[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias[LAYERS], *x = random_floats(cx, 2, 300, 8);
    collet_ternary_network *network = NULL;
    make_layers(layers, weights, bias);
    memset(longer, 0, sizeof longer);
    for (int i = 0; i < LAYERS; i++) {
        longer[i].layer = layers[i];
        longer[i].layer.struct_size = sizeof *longer;
    }
    assert_done(collet_ternary_network_create(cx, &network, &longer[0].layer, LAYERS, &failure));
    run_both(network, layers, x);
    collet_ternary_network_destroy(network);
    longer[1].later = 1;
    assert_outcome(collet_ternary_network_create(cx, &network, &longer[0].layer, LAYERS, &failure),
                   COLLET_INVALID, "ternary network: byte ");
    free_layers(weights, bias);
    collet_array_destroy(x);
}

/* Weights, biases and the context that created them may be freed before the network. */
TEST(freed_in_any_order)
{
    collet_ternary_layer layers[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias[LAYERS], *x = random_floats(cx, 4, 300, 9), *y = like(x, widths[LAYERS]);
    collet_ternary_network *network = NULL;
    collet_context *maker = context_of(rt), *mine = cx;
    cx = maker;
    make_layers(layers, weights, bias);
    assert_done(collet_ternary_network_create(cx, &network, layers, LAYERS, &failure));
    collet_array *expected = by_layers(layers, x);
    assert_done(collet_ternary_network_run(cx, network, y, x, &failure));
    cx = mine;
    collet_context_destroy(maker);
    free_layers(weights, bias);
    collet_array_destroy(y);
    y = like(x, widths[LAYERS]);
    assert_done(collet_ternary_network_run(cx, network, y, x, &failure));
    assert_same(expected, y);
    collet_ternary_network_destroy(network);
    collet_ternary_network_destroy(NULL);
    collet_array_destroy(expected);
    collet_array_destroy(x);
    collet_array_destroy(y);
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct caller {
    const collet_ternary_layer *layers;
    const float *x, *expected; /* 6 rows */
    char wrong[200];
} caller;

static _Atomic int ready;

static collet_status create_and_run(collet_context *mine, const caller *c, int round)
{
    collet_ternary_network *network = NULL;
    collet_array *x = NULL, *y = NULL;
    int64_t rows = 1 + round % 6;
    float got[6 * 10];
    collet_status status = collet_ternary_network_create(mine, &network, c->layers, LAYERS, NULL);
    if (status == COLLET_OK)
        status = collet_array_from(mine, &x, COLLET_F32, 2, SHAPE(rows, 300), c->x);
    if (status == COLLET_OK)
        status = collet_array_create(mine, &y, COLLET_F32, 2, SHAPE(rows, 10));
    if (status == COLLET_OK)
        status = collet_ternary_network_run(mine, network, y, x, NULL);
    if (status == COLLET_OK)
        status = collet_array_read(mine, y, got, (size_t)rows * 10 * sizeof *got);
    if (status == COLLET_OK && memcmp(got, c->expected, (size_t)rows * 10 * sizeof *got) != 0)
        status = COLLET_FAILED;
    collet_array_destroy(x);
    collet_array_destroy(y);
    collet_ternary_network_destroy(network);
    return status;
}

static void *call_network(void *argument)
{
    caller *me = argument;
    collet_context *mine = NULL;
    collet_error err;
    if (collet_context_create(rt, &mine, &err) != COLLET_OK) {
        snprintf(me->wrong, sizeof me->wrong, "%.190s", err.text);
        return NULL;
    }
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < THREADS)
        ;
    for (int round = 0; round < 40 && !me->wrong[0]; round++) {
        collet_status status = create_and_run(mine, me, round);
        if (status != COLLET_OK)
            snprintf(me->wrong, sizeof me->wrong, "round %d: %s: %.150s", round,
                     collet_status_name(status), collet_last_error(mine));
    }
    collet_context_destroy(mine);
    return NULL;
}

/* The same weights in networks of several threads, each with its own context. */
TEST(weights_of_many_threads)
{
    collet_ternary_layer layers[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias[LAYERS], *x = random_floats(cx, 6, 300, 12);
    pthread_t threads[THREADS];
    caller callers[THREADS];
    float values[6 * 300], expected[6 * 10];
    make_layers(layers, weights, bias);
    collet_array *y = by_layers(layers, x);
    assert_ok(cx, collet_array_read(cx, x, values, sizeof values));
    assert_ok(cx, collet_array_read(cx, y, expected, sizeof expected));
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){.layers = layers, .x = values, .expected = expected};
        assert_int_equal(0, pthread_create(&threads[i], NULL, call_network, &callers[i]));
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < THREADS; i++)
        if (callers[i].wrong[0])
            fail_msg("thread %d, %s", i, callers[i].wrong);
    collet_array_destroy(x);
    collet_array_destroy(y);
    free_layers(weights, bias);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void create_fails(const collet_ternary_layer *layers, uint32_t count, collet_status status,
                         const char *text)
{
    collet_ternary_network *const untouched = (collet_ternary_network *)(uintptr_t)16;
    collet_ternary_network *network = untouched;
    assert_outcome(collet_ternary_network_create(cx, &network, layers, count, &failure), status,
                   text);
    assert_ptr_equal(network, untouched);
}

TEST(layers_that_do_not_fit)
{
    collet_ternary_layer good[LAYERS], bad[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias[LAYERS], *wide = array_for(cx, COLLET_F64, 1, SHAPE(70));
    make_layers(good, weights, bias);
#define BAD(change, status, text)                                                                  \
    do {                                                                                           \
        memcpy(bad, good, sizeof bad);                                                             \
        change;                                                                                    \
        create_fails(bad, LAYERS, status, text);                                                   \
    } while (0)
    BAD(bad[1] = good[2], COLLET_SHAPE,
        "layer 0 has 70 rows, but layer 1 after it has 513 columns");
    BAD(bad[2] = good[0], COLLET_SHAPE,
        "layer 1 has 513 rows, but layer 2 after it has 300 columns");
    BAD(bad[1].weights = NULL, COLLET_INVALID, "layer 1 has no weights");
    BAD(bad[2].activations = 4, COLLET_INVALID, "ternary network: layer 2: activations is 4");
    BAD(bad[1].threshold = -1, COLLET_INVALID, "layer 1: the threshold is -1; it must");
    BAD(bad[1].threshold = NAN, COLLET_INVALID, "layer 1: the threshold is ");
    BAD(bad[0].threshold = 0.5f, COLLET_INVALID,
        "layer 0: the threshold is 0.5; it must be 0 unless");
    BAD(bad[0].bias = bias[1], COLLET_SHAPE, "layer 0 has 70 rows, but its bias has 513 elements");
    BAD(bad[0].bias = wide, COLLET_DTYPE, "the bias of layer 0 is f64, not f32");
    BAD(bad[0].struct_size = 8, COLLET_INVALID, "struct_size is 8");
    create_fails(good, 0, COLLET_INVALID, "at least one layer");
    create_fails(NULL, 1, COLLET_INVALID, "layers is NULL");
    assert_outcome(collet_ternary_network_create(cx, NULL, good, LAYERS, &failure), COLLET_INVALID);
    collet_array_destroy(wide);
    free_layers(weights, bias);
}

static void run_fails(collet_ternary_network *network, collet_array *y, collet_array *x,
                      collet_status status, const char *text)
{
    uint64_t before = counters_of(cx).calls;
    assert_outcome(collet_ternary_network_run(cx, network, y, x, &failure), status, text);
    assert_int_equal(counters_of(cx).calls, before);
}

TEST(runs_that_do_not_fit)
{
    collet_ternary_layer layers[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias[LAYERS], *x = random_floats(cx, 2, 300, 8), *y = like(x, 10);
    collet_array *narrow = like(x, 299), *wide = array_for(cx, COLLET_F64, 2, SHAPE(2, 300));
    collet_array *more = array_for(cx, COLLET_F32, 2, SHAPE(3, 10)), *nine = like(x, 9);
    collet_array *vector = array_for(cx, COLLET_F32, 1, SHAPE(10)), *scalar = NULL;
    collet_ternary_network *network = NULL;
    make_layers(layers, weights, bias);
    scalar = array_for(cx, COLLET_F32, 0, NULL);
    assert_done(collet_ternary_network_create(cx, &network, layers, LAYERS, &failure));
    run_fails(network, y, narrow, COLLET_SHAPE, "299 numbers, but the first layer has 300 columns");
    run_fails(network, y, scalar, COLLET_SHAPE, "the first layer has 300 columns");
    run_fails(network, y, wide, COLLET_DTYPE, "x is f64 and y is f32; both must be f32");
    run_fails(network, wide, x, COLLET_DTYPE, "x is f32 and y is f64");
    run_fails(network, more, x, COLLET_SHAPE,
              "y must have the shape of x, except for the last axis, which must be 10");
    run_fails(network, nine, x, COLLET_SHAPE, "which must be 10");
    run_fails(network, vector, x, COLLET_SHAPE, "which must be 10");
    run_fails(NULL, y, x, COLLET_INVALID, "NULL");
    run_fails(network, NULL, x, COLLET_INVALID, "NULL");
    run_fails(network, y, NULL, COLLET_INVALID, "NULL");
    collet_array *all[] = {x, y, narrow, wide, more, nine, vector, scalar};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        collet_array_destroy(all[i]);
    collet_ternary_network_destroy(network);
    free_layers(weights, bias);
}

/* An invalid call does not change the network and caches no scratch for later calls. */
TEST(contexts_of_another_runtime)
{
    collet_ternary_layer layers[LAYERS];
    collet_ternary_weights *weights[LAYERS];
    collet_array *bias[LAYERS], *x = random_floats(cx, 4, 300, 9), *y = like(x, widths[LAYERS]);
    collet_ternary_network *network = NULL;
    collet_runtime *other = runtime_with(SCALAR_PLUGIN, NULL);
    collet_context *other_context = context_of(other), *mine = cx;
    make_layers(layers, weights, bias);
    assert_done(collet_ternary_network_create(cx, &network, layers, LAYERS, &failure));
    cx = other_context;
    create_fails(layers, LAYERS, COLLET_INVALID, "layer 0 belongs to another runtime");
    collet_array *its_x = random_floats(cx, 4, 300, 9), *its_y = like(its_x, widths[LAYERS]);
    run_fails(network, y, x, COLLET_INVALID, "the context must be of the runtime");
    run_fails(network, its_y, its_x, COLLET_INVALID, "the context must be of the runtime");
    collet_array_destroy(its_x);
    collet_array_destroy(its_y);
    cx = mine;
    run_both(network, layers, x);
    collet_ternary_network_destroy(network);
    collet_context_destroy(other_context);
    collet_runtime_destroy(other);
    free_layers(weights, bias);
    collet_array_destroy(x);
    collet_array_destroy(y);
}

TEST_GROUP(set_up_scalar, tear_down)
