/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings: results, views, memory, errors, threads. */
#include <math.h>
#include <pthread.h>

#include <collet/ops.h>
#include <collet/recording.h>

#include "common/fixture.h"
#include "recording/steps.h"

OWNS(collet_recording, collet_recording_destroy)

enum { ROWS = 4, INNER = 3, COLUMNS = 2 };
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static collet_recording *begun(collet_context *context)
{
    collet_recording *r = NULL;
    assert_ok(context, collet_recording_create(context, &r));
    return r;
}

static collet_array *matrix(collet_context *context, int64_t rows, int64_t columns, float start)
{
    OWNED(collet_array) *flat = floats(context, rows * columns, start);
    collet_array *a = NULL;
    assert_ok(context, collet_array_reshape(context, flat, &a, 2, SHAPE(rows, columns)));
    return a;
}

static uint32_t called(collet_context *context, collet_recording *r, uint32_t id, uint32_t a,
                       uint32_t b, const void *params)
{
    uint32_t value = 0;
    assert_ok(context,
              collet_recording_call(context, r, &value, id, (uint32_t[]){a, b}, NULL, params));
    return value;
}

/* Records tanh(x @ w) and the sums of its rows. */
static collet_recording *network(collet_context *context)
{
    collet_recording *r = begun(context);
    const collet_reduce_params by_row = {.struct_size = sizeof by_row, .axes = 2};
    uint32_t x, w, made[2];
    assert_ok(context, collet_recording_input(context, r, &x, COLLET_F32, 2, SHAPE(ROWS, INNER)));
    assert_ok(context,
              collet_recording_input(context, r, &w, COLLET_F32, 2, SHAPE(INNER, COLUMNS)));
    made[0] = called(context, r, COLLET_OP_MATMUL, x, w, NULL);
    made[0] = called(context, r, COLLET_OP_TANH, made[0], 0, NULL);
    made[1] = called(context, r, COLLET_OP_SUM, made[0], 0, &by_row);
    assert_ok(context, collet_recording_complete(context, r, made, 2));
    return r;
}

/* The same calls, one by one. */
static void compute(collet_context *context, collet_array **outs, const collet_array *const *ins)
{
    const collet_reduce_params by_row = {.struct_size = sizeof by_row, .axes = 2};
    OWNED(collet_array) *product = NULL;
    assert_ok(context, collet_array_create(context, &product, COLLET_F32, 2, SHAPE(ROWS, COLUMNS)));
    assert_ok(context, collet_array_create(context, &outs[0], COLLET_F32, 2, SHAPE(ROWS, COLUMNS)));
    assert_ok(context, collet_array_create(context, &outs[1], COLLET_F32, 1, SHAPE(ROWS)));
    assert_ok(context, collet_call(context, COLLET_OP_MATMUL, &product, ins, NULL));
    assert_ok(context, collet_call(context, COLLET_OP_TANH, &outs[0],
                                   (const collet_array *[]){product}, NULL));
    assert_ok(context, collet_call(context, COLLET_OP_SUM, &outs[1],
                                   (const collet_array *[]){outs[0]}, &by_row));
}

/* Whether two arrays have the same bits. All NaNs count as equal. */
static int is_same(collet_context *context, const collet_array *a, const collet_array *b)
{
    float x[64], y[64];
    size_t n = (size_t)collet_array_size(a);
    if (collet_array_size(b) != (int64_t)n ||
        collet_array_read(context, a, x, n * sizeof *x) != COLLET_OK ||
        collet_array_read(context, b, y, n * sizeof *y) != COLLET_OK)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof *x) != 0 && !(isnan(x[i]) && isnan(y[i])))
            return 0;
    return 1;
}

static void assert_replayed(collet_context *context, collet_recording *r,
                            const collet_array *const *ins)
{
    collet_array *found[2], *wanted[2];
    assert_ok(context, collet_recording_run(context, r, found, ins));
    compute(context, wanted, ins);
    for (int i = 0; i < 2; i++) {
        assert_true(is_same(context, found[i], wanted[i]));
        collet_array_destroy(found[i]);
        collet_array_destroy(wanted[i]);
    }
}

/* ---- Results ----------------------------------------------------------------------------- */

TEST(a_run_has_the_bits_of_the_calls)
{
    OWNED(collet_recording) *r = network(cx);
    OWNED(collet_array) *x = matrix(cx, ROWS, INNER, -5), *w = matrix(cx, INNER, COLUMNS, .25f);
    OWNED(collet_array) *other = matrix(cx, INNER, ROWS, 2), *turned = NULL;
    const float nan = NAN;
    assert_replayed(cx, r, (const collet_array *[]){x, w});
    assert_ok(cx, collet_array_permute(cx, other, &turned, NULL)); /* any strides */
    assert_replayed(cx, r, (const collet_array *[]){turned, w});
    assert_ok(cx, collet_array_write_element(
                      cx, x, SHAPE(1, 1), &(collet_scalar){.dtype = COLLET_F32, .value.f32 = nan}));
    assert_replayed(cx, r, (const collet_array *[]){x, w});
}

TEST(results_are_new_arrays)
{
    OWNED(collet_recording) *r = network(cx);
    OWNED(collet_array) *x = matrix(cx, ROWS, INNER, -5), *w = matrix(cx, INNER, COLUMNS, .25f);
    OWNED(collet_array) *zero = matrix(cx, INNER, COLUMNS, 0);
    collet_array *first[2], *again[2], *second[2];
    assert_ok(cx, collet_recording_run(cx, r, first, (const collet_array *[]){x, w}));
    assert_ok(cx, collet_recording_run(cx, r, second, (const collet_array *[]){x, zero}));
    assert_ok(cx, collet_recording_run(cx, r, again, (const collet_array *[]){x, w}));
    for (int i = 0; i < 2; i++) {
        assert_true(is_same(cx, first[i], again[i]) && !is_same(cx, first[i], second[i]));
        collet_array_destroy(first[i]);
        collet_array_destroy(again[i]);
        collet_array_destroy(second[i]);
    }
}

TEST(views_of_all_kinds_of_values)
{
    OWNED(collet_recording) *r = begun(cx);
    collet_array *constant = matrix(cx, 2, 3, 1);
    uint32_t x, c, view[6], made;
    assert_ok(cx, collet_recording_input(cx, r, &x, COLLET_F32, 2, SHAPE(2, 3)));
    assert_ok(cx, collet_recording_constant(cx, r, &c, constant));
    collet_array_destroy(constant);
    assert_ok(cx, collet_recording_view(cx, r, &view[0], x, COLLET_VIEW_PERMUTE, SHAPE(1, 0), 2));
    assert_ok(cx, collet_recording_view(cx, r, &view[1], c, COLLET_VIEW_RESHAPE, SHAPE(3, 2), 2));
    made = called(cx, r, COLLET_OP_ADD, view[0], view[1], NULL); /* 3 x 2 */
    assert_ok(
        cx, collet_recording_view(cx, r, &view[2], made, COLLET_VIEW_SLICE, SHAPE(0, 2, 2, -2), 4));
    assert_ok(cx,
              collet_recording_view(cx, r, &view[3], view[2], COLLET_VIEW_SELECT, SHAPE(-1, 1), 2));
    assert_ok(
        cx, collet_recording_view(cx, r, &view[4], view[3], COLLET_VIEW_BROADCAST, SHAPE(2, 2), 2));
    uint32_t out[2] = {called(cx, r, COLLET_OP_MUL, view[4], view[2], NULL)};
    assert_ok(cx,
              collet_recording_view(cx, r, &view[5], out[0], COLLET_VIEW_PERMUTE, SHAPE(1, 0), 2));
    out[1] = called(cx, r, COLLET_OP_ADD, view[5], view[5], NULL);
    assert_ok(cx, collet_recording_complete(cx, r, out, 2));
    for (int run = 0; run < 2; run++) {
        OWNED(collet_array) *in = matrix(cx, 2, 3, (float)run);
        collet_array *outs[2];
        /* Rows 2 and 0 of x.T + [[1, 2], [3, 4], [5, 6]] */
        const float t = (float)run;
        const float rows[2][2] = {{7 + t, 11 + t}, {1 + t, 5 + t}};
        const float product[4] = {rows[0][1] * rows[0][0], rows[1][1] * rows[0][1],
                                  rows[0][1] * rows[1][0], rows[1][1] * rows[1][1]};
        const float doubled[4] = {2 * product[0], 2 * product[2], 2 * product[1], 2 * product[3]};
        assert_ok(cx, collet_recording_run(cx, r, outs, (const collet_array *[]){in}));
        assert_floats(cx, outs[0], product);
        assert_floats(cx, outs[1], doubled);
        collet_array_destroy(outs[0]);
        collet_array_destroy(outs[1]);
    }
}

TEST(an_expression_is_a_step)
{
    OWNED(collet_recording) *r = begun(cx);
    collet_expression *e;
    uint32_t x, y, made[2];
    assert_int_equal(collet_expression_parse(&e, "x * k + 1; x - k", NULL), COLLET_OK);
    assert_ok(cx, collet_recording_input(cx, r, &x, COLLET_F32, 1, SHAPE(3)));
    y = called(cx, r, COLLET_OP_ADD, x, x, NULL);
    assert_ok(cx, collet_recording_evaluate(cx, r, made, e, (uint32_t[]){y, x}));
    uint32_t out = called(cx, r, COLLET_OP_MUL, made[0], made[1], NULL);
    assert_ok(cx, collet_recording_complete(cx, r, &out, 1));
    OWNED(collet_array) *in = floats(cx, 3, 1), *result = NULL;
    assert_ok(cx, collet_recording_run(cx, r, &result, (const collet_array *[]){in}));
    assert_floats(cx, result, (const float[]){3 * 1, 9 * 2, 19 * 3});
    collet_recording_destroy(r);
    r = NULL;
    collet_expression_destroy(e);
}

TEST(optional_operands_may_be_absent)
{
    OWNED(collet_recording) *r = begun(cx);
    const collet_histogram_params p = {.struct_size = sizeof p, .bins = 2, .low = 0, .high = 4};
    const collet_array_spec bins = {COLLET_I64, 1, {2}};
    int64_t counts[2];
    uint32_t x, made;
    assert_ok(cx, collet_recording_input(cx, r, &x, COLLET_F32, 1, SHAPE(4)));
    assert_ok(cx, collet_recording_call(cx, r, &made, COLLET_OP_HISTOGRAM,
                                        (uint32_t[]){x, COLLET_RECORDING_ABSENT}, &bins, &p));
    assert_ok(cx, collet_recording_complete(cx, r, &made, 1));
    OWNED(collet_array) *in = floats(cx, 4, 1), *result = NULL;
    assert_ok(cx, collet_recording_run(cx, r, &result, (const collet_array *[]){in}));
    assert_ok(cx, collet_array_read(cx, result, counts, sizeof counts));
    assert_true(counts[0] == 1 && counts[1] == 3);
}

/* ---- Memory ------------------------------------------------------------------------------ */

TEST(values_share_memory_unless_both_are_needed)
{
    OWNED(collet_recording) *r = begun(cx);
    uint32_t x, early, value;
    assert_ok(cx, collet_recording_input(cx, r, &x, COLLET_F32, 1, SHAPE(8)));
    early = value = called(cx, r, COLLET_OP_ADD, x, x, NULL);
    for (int i = 0; i < 20; i++)
        value = called(cx, r, COLLET_OP_ADD, value, x, NULL);
    uint32_t out = called(cx, r, COLLET_OP_SUB, value, early, NULL);
    assert_ok(cx, collet_recording_complete(cx, r, &out, 1));
    assert_int_equal(r->n_slots, 3); /* `early`, and at each step one operand and the result */
    OWNED(collet_array) *in = floats(cx, 8, 1), *result = NULL;
    assert_ok(cx, collet_recording_run(cx, r, &result, (const collet_array *[]){in}));
    assert_floats(cx, result, (const float[]){20, 40, 60, 80, 100, 120, 140, 160});
}

TEST(a_view_keeps_the_memory_of_its_value)
{
    OWNED(collet_recording) *r = begun(cx);
    uint32_t x, first, view, value;
    assert_ok(cx, collet_recording_input(cx, r, &x, COLLET_F32, 1, SHAPE(4)));
    first = called(cx, r, COLLET_OP_ADD, x, x, NULL);
    assert_ok(cx,
              collet_recording_view(cx, r, &view, first, COLLET_VIEW_SLICE, SHAPE(0, 3, 4, -1), 4));
    value = called(cx, r, COLLET_OP_MUL, x, x, NULL);
    for (int i = 0; i < 4; i++)
        value = called(cx, r, COLLET_OP_SUB, value, x, NULL);
    uint32_t out = called(cx, r, COLLET_OP_ADD, value, view, NULL);
    assert_ok(cx, collet_recording_complete(cx, r, &out, 1));
    OWNED(collet_array) *in = floats(cx, 4, 1), *result = NULL;
    assert_ok(cx, collet_recording_run(cx, r, &result, (const collet_array *[]){in}));
    assert_floats(cx, result, (const float[]){1 - 4 + 8, 4 - 8 + 6, 9 - 12 + 4, 16 - 16 + 2});
}

/* ---- Errors ------------------------------------------------------------------------------ */

#define REFUSED(call, status, part)                                                                \
    do {                                                                                           \
        assert_int_equal(call, status);                                                            \
        assert_non_null(strstr(collet_last_error(cx), part));                                      \
    } while (0)

TEST(recording_refuses)
{
    OWNED(collet_recording) *r = begun(cx);
    OWNED(world) other = open_world(SCALAR_PLUGIN, NULL, NULL);
    OWNED(collet_array) *foreign = floats(other.cx, 3, 0);
    collet_array *result;
    uint32_t x, y, view;
    assert_int_equal(collet_recording_create(NULL, &r), COLLET_INVALID);
    assert_int_equal(collet_recording_input(NULL, r, &x, COLLET_F32, 0, NULL), COLLET_INVALID);
    REFUSED(collet_recording_create(cx, NULL), COLLET_INVALID, "out is NULL");
    REFUSED(collet_recording_input(cx, NULL, &x, COLLET_F32, 0, NULL), COLLET_INVALID,
            "the recording is NULL");
    REFUSED(collet_recording_input(cx, r, &x, COLLET_F32, 1, SHAPE(-1)), COLLET_INVALID, "-1");
    REFUSED(collet_recording_constant(cx, r, &x, foreign), COLLET_INVALID, "another runtime");
    REFUSED(collet_recording_call(cx, r, &y, COLLET_OP_TANH, (uint32_t[]){5}, NULL, NULL),
            COLLET_INVALID, "operand 0 is the value 5, and there are 0");
    assert_ok(cx, collet_recording_input(cx, r, &x, COLLET_F32, 1, SHAPE(3)));
    assert_ok(cx, collet_recording_input(cx, r, &y, COLLET_F32, 1, SHAPE(4)));
    REFUSED(collet_recording_call(cx, r, &view, COLLET_OP_ADD, (uint32_t[]){x, y}, NULL, NULL),
            COLLET_SHAPE, "add");
    REFUSED(collet_recording_call(cx, r, &view, 0x7fffffff, NULL, NULL, NULL), COLLET_NOT_FOUND,
            "no op");
    REFUSED(collet_recording_call(cx, r, &view, COLLET_OP_EVALUATE, &x, NULL, NULL), COLLET_INVALID,
            "an evaluation of an expression");
    REFUSED(collet_recording_view(cx, r, &view, x, 9, NULL, 0), COLLET_INVALID, "view is 9");
    REFUSED(collet_recording_view(cx, r, &view, x, COLLET_VIEW_SLICE, SHAPE(0), 1), COLLET_INVALID,
            "SLICE needs 4 numbers, and there are 1");
    REFUSED(collet_recording_view(cx, r, &view, x, COLLET_VIEW_SELECT, SHAPE(0, 7), 2),
            COLLET_SHAPE, "element 7");
    REFUSED(collet_recording_run(cx, r, &result, (const collet_array *[]){foreign}), COLLET_INVALID,
            "complete it before the first run");
    REFUSED(collet_recording_complete(cx, r, &x, 1), COLLET_INVALID, "is an input");
    REFUSED(collet_recording_complete(cx, r, (uint32_t[]){77}, 1), COLLET_INVALID,
            "does not exist");
    uint32_t made = called(cx, r, COLLET_OP_TANH, x, 0, NULL);
    assert_ok(cx, collet_recording_view(cx, r, &view, made, COLLET_VIEW_RESHAPE, SHAPE(3, 1), 2));
    REFUSED(collet_recording_complete(cx, r, &view, 1), COLLET_INVALID, "is a view");
    REFUSED(collet_recording_complete(cx, r, (uint32_t[]){made, made}, 2), COLLET_INVALID, "twice");
    assert_ok(cx, collet_recording_complete(cx, r, &made, 1));
    REFUSED(collet_recording_input(cx, r, &x, COLLET_F32, 0, NULL), COLLET_INVALID, "is complete");
    assert_int_equal(collet_recording_run(other.cx, r, &result, (const collet_array *[]){foreign}),
                     COLLET_INVALID);
}

TEST(a_run_refuses_other_inputs)
{
    OWNED(collet_recording) *r = network(cx);
    OWNED(world) other = open_world(SCALAR_PLUGIN, NULL, NULL);
    OWNED(collet_array) *foreign = matrix(other.cx, ROWS, INNER, 0);
    OWNED(collet_array) *x = matrix(cx, ROWS, INNER, 0), *w = matrix(cx, INNER, COLUMNS, 0);
    OWNED(collet_array) *wide = NULL;
    collet_array *outs[2] = {x, x};
    assert_ok(cx, collet_array_create(cx, &wide, COLLET_F64, 2, SHAPE(ROWS, INNER)));
    REFUSED(collet_recording_run(cx, r, outs, (const collet_array *[]){x, NULL}), COLLET_INVALID,
            "input 1 is NULL");
    assert_null(outs[0]);
    REFUSED(collet_recording_run(cx, r, outs, (const collet_array *[]){w, w}), COLLET_SHAPE,
            "input 0 is f32 3 x 2, and was recorded as f32 4 x 3");
    REFUSED(collet_recording_run(cx, r, outs, (const collet_array *[]){wide, w}), COLLET_DTYPE,
            "input 0 is f64");
    REFUSED(collet_recording_run(cx, r, outs, (const collet_array *[]){foreign, w}), COLLET_INVALID,
            "another runtime");
    REFUSED(collet_recording_run(cx, r, outs, NULL), COLLET_INVALID, "the list of inputs is NULL");
    collet_array *both[2] = {x, w};
    REFUSED(collet_recording_run(cx, r, both, (const collet_array *const *)(void *)both), COLLET_INVALID,
            "would be lost");
    assert_ptr_equal(both[0], x);
    assert_int_equal(collet_recording_run(NULL, r, outs, (const collet_array *[]){x, w}),
                     COLLET_INVALID);
    assert_replayed(cx, r, (const collet_array *[]){x, w});
}

TEST(a_step_that_fails_leaves_inputs_and_results)
{
    OWNED(collet_recording) *r = begun(cx);
    OWNED(collet_array) *x = matrix(cx, 2, 3, 1), *turned = NULL, *flat = matrix(cx, 3, 2, 1);
    collet_array *first, *second;
    uint32_t in, value;
    assert_ok(cx, collet_recording_input(cx, r, &in, COLLET_F32, 2, SHAPE(2, 3)));
    value = called(cx, r, COLLET_OP_ADD, in, in, NULL);
    assert_ok(cx, collet_recording_view(cx, r, &in, in, COLLET_VIEW_RESHAPE, SHAPE(6), 1));
    value = called(cx, r, COLLET_OP_ADD, in, in, NULL);
    assert_ok(cx, collet_recording_complete(cx, r, &value, 1));
    assert_ok(cx, collet_recording_run(cx, r, &first, (const collet_array *[]){x}));
    assert_ok(cx, collet_array_permute(cx, flat, &turned, NULL));
    REFUSED(collet_recording_run(cx, r, &second, (const collet_array *[]){turned}), COLLET_SHAPE,
            "recording, step 1: reshape");
    assert_null(second);
    assert_floats(cx, first, (const float[]){2, 4, 6, 8, 10, 12});
    assert_floats(cx, turned, (const float[]){1, 3, 5, 2, 4, 6});
    assert_ok(cx, collet_recording_run(cx, r, &second, (const collet_array *[]){x}));
    assert_true(is_same(cx, first, second));
    collet_array_destroy(first);
    collet_array_destroy(second);
}

/* ---- Devices and threads ----------------------------------------------------------------- */

TEST(results_of_a_device_stay_there)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN ":" SCALAR_PLUGIN, NULL, "remote:0");
    OWNED(collet_recording) *r = begun(w.cx);
    uint32_t x, value;
    assert_ok(w.cx, collet_recording_input(w.cx, r, &x, COLLET_F32, 1, SHAPE(8)));
    value = called(w.cx, r, COLLET_OP_ADD, x, x, NULL);
    for (int i = 0; i < 5; i++)
        value = called(w.cx, r, COLLET_OP_ADD, value, value, NULL);
    assert_ok(w.cx, collet_recording_complete(w.cx, r, &value, 1));
    for (int run = 0; run < 3; run++) {
        OWNED(collet_array) *in = floats(w.cx, 8, 0), *result = NULL;
        assert_ok(w.cx, collet_recording_run(w.cx, r, &result, (const collet_array *[]){in}));
        assert_false(collet_array_is_on_host(result));
        assert_floats(w.cx, result, (const float[]){0, 64, 128, 192, 256, 320, 384, 448});
    }
    assert_int_equal(counters_of(w.cx).fallbacks, 0);
}

TEST(a_device_without_a_kernel)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote:0");
    OWNED(collet_recording) *r = begun(w.cx);
    OWNED(collet_array) *in = floats(w.cx, 8, 0);
    collet_array *result = in;
    uint32_t x, value;
    assert_ok(w.cx, collet_recording_input(w.cx, r, &x, COLLET_F32, 1, SHAPE(8)));
    value = called(w.cx, r, COLLET_OP_ADD, x, x, NULL);
    value = called(w.cx, r, COLLET_OP_TANH, value, 0, NULL);
    assert_ok(w.cx, collet_recording_complete(w.cx, r, &value, 1));
    assert_int_equal(collet_recording_run(w.cx, r, &result, (const collet_array *[]){in}),
                     COLLET_UNSUPPORTED);
    assert_non_null(
        strstr(collet_last_error(w.cx), "recording, step 1: remote:0 has no kernel tanh"));
    assert_null(result);
    assert_floats(w.cx, in, (const float[]){0, 1, 2, 3, 4, 5, 6, 7});
}

static void *run_often(void *recording)
{
    collet_context *mine = context_of(rt);
    for (int i = 0; i < 300; i++) {
        OWNED(collet_array) *x = matrix(mine, ROWS, INNER, (float)(i % 7));
        OWNED(collet_array) *w = matrix(mine, INNER, COLUMNS, -1);
        assert_replayed(mine, recording, (const collet_array *[]){x, w});
    }
    collet_context_destroy(mine);
    return NULL;
}

TEST(threads_share_a_recording)
{
    OWNED(collet_recording) *r = network(cx);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, r), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

TEST_GROUP(set_up_scalar, tear_down)
