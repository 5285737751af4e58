/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of rows among the functions of an expression: shapes, errors, and the same bits as single calls for row
 * lengths at which kernels change their order. test_expression_random has random graphs. */
#include <math.h>

#include "common/evaluate.h"
#include "common/fixture.h"
#include "expression/evaluate.h"

#define GOOD(call) assert_int_equal(call, COLLET_OK)
static collet_expression *e;
static uint32_t x;
static const char *plugins, *on_device; /* of a test of a device */

#define NO_VALUE UINT32_MAX

static void begin(void)
{
    GOOD(collet_expression_create(&e, NULL));
    GOOD(collet_expression_input(e, &x, "x", COLLET_DTYPE_NONE, NULL));
}

/* A function of a and b; NO_VALUE: of a alone. */
static uint32_t apply(uint32_t op, uint32_t a, uint32_t b)
{
    uint32_t value;
    GOOD(collet_expression_apply(e, &value, op, (uint32_t[]){a, b}, b == NO_VALUE ? 1 : 2, NULL));
    return value;
}

static uint32_t rows(uint32_t op, uint32_t of)
{
    uint32_t value;
    GOOD(collet_expression_reduce_rows(e, &value, op, of, 0.0, NULL));
    return value;
}

static void output(uint32_t value)
{
    GOOD(collet_expression_output(e, value, NULL));
}

/* (x - mean(x)) / std(x); mean(x) */
static void standardize(void)
{
    begin();
    uint32_t mean = rows(COLLET_OP_MEAN, x), d = apply(COLLET_OP_SUB, x, mean);
    output(apply(COLLET_OP_DIV, d, rows(COLLET_OP_STD, x)));
    output(mean);
}

/* exp(x - max(x)) / sum(exp(x - max(x))); log of the sum; min(x x) */
static void softmax(void)
{
    begin();
    uint32_t y = apply(COLLET_OP_EXP, apply(COLLET_OP_SUB, x, rows(COLLET_OP_MAX, x)), NO_VALUE);
    uint32_t sum = rows(COLLET_OP_SUM, y);
    output(apply(COLLET_OP_DIV, y, sum));
    output(apply(COLLET_OP_LOG, sum, NO_VALUE));
    output(rows(COLLET_OP_MIN, apply(COLLET_OP_MUL, x, x)));
}

/* One step in all. */
static void place(void)
{
    begin();
    output(rows(COLLET_OP_ARGMAX, x));
}

static collet_array *numbers(collet_dtype dtype, int32_t ndim, const int64_t *shape)
{
    collet_array *a;
    int64_t n = 1;
    for (int32_t i = 0; i < ndim; i++)
        n *= shape[i];
    double *values = malloc((size_t)(n + 1) * sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)((i * 7919) % 1013) / 64.0 - 7.3;
    for (int64_t i = 0; i < n && dtype == COLLET_F32; i++)
        ((float *)values)[i] = (float)values[i];
    assert_ok(cx, collet_array_from(cx, &a, dtype, ndim, shape, values));
    free(values);
    return a;
}

static void same_bytes(const collet_array *a, const collet_array *b, const char *what, int64_t length)
{
    size_t size = (size_t)collet_array_size(a) * collet_dtype_size(collet_array_dtype(a));
    unsigned char *first = malloc(size + 1), *second = malloc(size + 1);
    assert_int_equal(collet_array_ndim(a), collet_array_ndim(b));
    assert_ok(cx, collet_array_read(cx, a, first, size));
    assert_ok(cx, collet_array_read(cx, b, second, size));
    if (memcmp(first, second, size) != 0)
        fail_msg("%s, rows of %lld: other bits than single calls", what, (long long)length);
    free(first);
    free(second);
}

static void compare(const char *what, const collet_array *a, int64_t length)
{
    uint32_t count = collet_expression_output_count(e);
    collet_array *fused[4] = {NULL}, *single[4] = {NULL};
    assert_ok(cx, expression_evaluate(cx, e, fused, &a, NULL, 0));
    assert_ok(cx, expression_evaluate(cx, e, single, &a, NULL, 1));
    for (uint32_t k = 0; k < count; k++) {
        same_bytes(fused[k], single[k], what, length);
        collet_array_destroy(fused[k]);
        collet_array_destroy(single[k]);
    }
}

TEST(bits_of_single_calls)
{
    static const int64_t all[] = {1,  2,   7,   8,   9,    15,    16,    17,   31,
                                  32, 127, 128, 129, 1000, 16385, 65536, 65537};
    static const int64_t some[] = {
        1, 7, 9, 17, 129, 1000, 65537}; /* a device compiles each program for a few lengths */
    const int64_t *lengths = on_device ? some : all;
    for (size_t i = 0; i < (on_device ? sizeof some : sizeof all) / sizeof *all; i++) {
        int64_t n = lengths[i];
        const int64_t shapes[][3] = {{n > 1000 ? 3 : on_device ? 67 : 1200, n}, {1, n}, {7, n}, {3, 5, n}};
        for (int k = 0; k < 8; k++) {
            collet_array *a = numbers(k % 2 ? COLLET_F32 : COLLET_F64, k / 2 == 3 ? 3 : 2, shapes[k / 2]);
            standardize();
            compare("standardize", a, n);
            collet_expression_destroy(e);
            softmax();
            compare("softmax", a, n);
            collet_expression_destroy(e);
            place();
            compare("argmax", a, n);
            collet_expression_destroy(e);
            collet_array_destroy(a);
        }
    }
}

/* Views: every second element of rows, rows in the reverse order, transposed, and outputs that are such views. */
TEST(views)
{
    const int64_t shape[] = {600, 90};
    const int32_t perm[] = {1, 0};
    collet_array *whole = numbers(COLLET_F32, 2, shape), *view[3], *out[3], *room[3], *expected[3] = {NULL};
    assert_ok(cx, collet_array_slice(cx, whole, &view[0], 1, 0, 45, 2));
    assert_ok(cx, collet_array_slice(cx, whole, &view[1], 0, 599, 600, -1));
    assert_ok(cx, collet_array_permute(cx, whole, &view[2], perm));
    softmax();
    for (int k = 0; k < 3; k++) {
        compare("softmax of a view", view[k], collet_array_shape(view[k])[1]);
        collet_array_destroy(view[k]);
    }
    assert_ok(cx, collet_array_create(cx, &room[0], COLLET_F32, 2, (const int64_t[]){90, 600}));
    assert_ok(cx, collet_array_create(cx, &room[1], COLLET_F32, 2, (const int64_t[]){600, 4}));
    assert_ok(cx, collet_array_create(cx, &room[2], COLLET_F32, 2, (const int64_t[]){600, 1}));
    assert_ok(cx, collet_array_permute(cx, room[0], &out[0], perm));
    assert_ok(cx, collet_array_slice(cx, room[1], &out[1], 1, 2, 1, 1));
    assert_ok(cx, collet_array_slice(cx, room[2], &out[2], 0, 599, 600, -1));
    const collet_array *in = whole;
    assert_ok(cx, expression_evaluate(cx, e, out, &in, NULL, 0));
    assert_ok(cx, expression_evaluate(cx, e, expected, &in, NULL, 1));
    for (int k = 0; k < 3; k++) {
        same_bytes(out[k], expected[k], "an output that is a view", 90);
        collet_array_destroy(out[k]);
        collet_array_destroy(room[k]);
        collet_array_destroy(expected[k]);
    }
    collet_expression_destroy(e);
    collet_array_destroy(whole);
}

/* The output is the input: an earlier stage must not overwrite what a later stage reads. */
TEST(in_place)
{
    const int64_t shape[] = {500, 64};
    begin();
    output(apply(COLLET_OP_SUB, x, rows(COLLET_OP_MAX, apply(COLLET_OP_MUL, x, x))));
    collet_array *a = numbers(COLLET_F64, 2, shape), *expected = NULL, *out = a;
    const collet_array *in = a;
    assert_ok(cx, expression_evaluate(cx, e, &expected, &in, NULL, 1));
    assert_ok(cx, expression_evaluate(cx, e, &out, &in, NULL, 0));
    same_bytes(a, expected, "in place", 64);
    collet_expression_destroy(e);
    collet_array_destroy(a);
    collet_array_destroy(expected);
}

static void parsed(const char *text)
{
    GOOD(collet_expression_parse(&e, text, NULL));
}

/* The same expressions as texts. */
TEST(texts)
{
    static const struct {
        void (*make)(void);
        const char *text;
    } cases[] = {
        {standardize, "(x - mean(x, axis=-1, keepdims=True)) / std(x, axis=-1, keepdims=True);"
                      "mean(x, axis=-1, keepdims=True)"},
        {softmax, "exp(x - max(x, axis=-1, keepdims=True)) / sum(exp(x - max(x, axis=-1, keepdims=True)), axis=-1, keepdims=True);"
                  "log(sum(exp(x - max(x, axis=-1, keepdims=True)), keepdims=True, axis=(-1,)));"
                  "min(x * x, axis=-1, keepdims=True) + 0"},
        {place, "+argmax(x, axis=-1, keepdims=True)"},
    };
    collet_array *a = numbers(COLLET_F64, 2, (const int64_t[]){700, 40});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_array *built[4] = {NULL}, *read[4] = {NULL};
        const collet_array *in = a;
        cases[i].make();
        uint32_t count = collet_expression_output_count(e);
        assert_ok(cx, expression_evaluate(cx, e, built, &in, NULL, 0));
        collet_expression_destroy(e);
        parsed(cases[i].text);
        assert_ok(cx, expression_evaluate(cx, e, read, &in, NULL, 0));
        for (uint32_t k = 0; k < count; k++) {
            same_bytes(built[k], read[k], cases[i].text, 40);
            collet_array_destroy(built[k]);
            collet_array_destroy(read[k]);
        }
        collet_expression_destroy(e);
    }
    /* A reduction around the whole, of values that depend on reductions of rows. */
    collet_array *total = NULL;
    const collet_array *in = a;
    double sum;
    parsed("sum(x*x / sum(x*x, axis=-1, keepdims=True), axis=(0, 1))");
    assert_ok(cx, expression_evaluate(cx, e, &total, &in, NULL, 0));
    assert_ok(cx, collet_array_read(cx, total, &sum, sizeof sum));
    assert_true(fabs(sum - 700) < 1e-9);
    collet_expression_destroy(e);
    collet_array_destroy(total);
    collet_array_destroy(a);
}

/* The time of compiling is proportional to the number of reductions. */
TEST(many_reductions)
{
    const int64_t shape[] = {500, 7};
    begin();
    uint32_t value = x;
    for (int i = 0; i < 16; i++)
        value = apply(COLLET_OP_SUB, value, rows(i % 2 ? COLLET_OP_MAX : COLLET_OP_MEAN, value));
    output(value);
    collet_array *a = numbers(COLLET_F32, 2, shape);
    compare("16 reductions", a, 7);
    collet_expression_destroy(e);
    collet_array_destroy(a);
}

/* A device refuses more kinds of reductions than a kernel has; the ops compute them. */
TEST(kinds_of_reductions)
{
    static const collet_step steps[] = {
        {.op = COLLET_OP_SUM, .dtype = COLLET_F32},
        {.op = COLLET_OP_MAX, .dtype = COLLET_F32},
        {.op = COLLET_OP_ARGMIN, .dtype = COLLET_I64},
        {.op = COLLET_OP_ARGMAX, .dtype = COLLET_I64},
        {.op = COLLET_OP_COUNT_NONZERO, .dtype = COLLET_I64},
        {.op = COLLET_OP_ANY, .dtype = COLLET_BOOL},
        {.op = COLLET_OP_ALL, .dtype = COLLET_BOOL},
        {.op = COLLET_OP_PROD, .dtype = COLLET_F32},
        {.op = COLLET_OP_COPY, .dtype = COLLET_F64},
        {.op = COLLET_OP_SUM, .dtype = COLLET_F64, .in = {9}},
        {.op = COLLET_OP_MIN, .dtype = COLLET_F64, .in = {9}},
    };
    static const uint16_t value = 11;
    if (!on_device)
        skip();
    collet_dtype dtype = COLLET_F32;
    collet_program p = {.struct_size = sizeof p,
                        .n_in = 1,
                        .n_steps = 11,
                        .n_reductions = 10,
                        .n_out = 1,
                        .step_size = sizeof *steps,
                        .constant_size = sizeof(collet_scalar),
                        .hash = 9,
                        .dtypes = &dtype,
                        .steps = steps,
                        .outs = &value};
    collet_evaluate_params params = {.struct_size = sizeof params, .program = &p};
    const int64_t shape[] = {500, 7};
    collet_array *a = numbers(COLLET_F32, 2, shape), *out[4] = {NULL};
    const collet_array *ins[8] = {a};
    assert_ok(cx, collet_array_create(cx, &out[0], COLLET_F64, 2, (const int64_t[]){500, 1}));
    collet_set_fallback(cx, 0);
    assert_status(cx, collet_call(cx, COLLET_OP_EVALUATE, out, ins, &params), COLLET_REFUSED,
                  "the reductions are too many");
    collet_set_fallback(cx, 1);
    collet_array_destroy(a);
    collet_array_destroy(out[0]);
}

TEST(shapes)
{
    collet_array_spec in = {COLLET_F32, 3, {2, 3, 4}}, out[3];
    softmax();
    GOOD(infer_in_order(e, out, &in, NULL));
    for (int k = 0; k < 3; k++) {
        assert_int_equal(out[k].ndim, 3);
        assert_int_equal(out[k].dtype, COLLET_F32);
        assert_int_equal(out[k].shape[1], 3);
        assert_int_equal(out[k].shape[2], k ? 1 : 4);
    }
    collet_expression_destroy(e);
}

TEST(errors)
{
    collet_error err;
    collet_array_spec out[3], number = {COLLET_F32, 0, {0}}, empty = {COLLET_F32, 2, {3, 0}},
                              none = {COLLET_F32, 2, {0, 0}}, words = {COLLET_BOOL, 1, {3}};
    collet_expression *derivative;
    uint32_t value, one;
    softmax();
    assert_int_equal(collet_expression_reduce_rows(e, &value, COLLET_OP_ADD, x, 0, &err), COLLET_INVALID);
    assert_contains(err.text, "collet_expression_reduce_rows: the op");
    assert_int_equal(collet_expression_reduce_rows(e, &value, COLLET_OP_SUM, 99, 0, &err), COLLET_INVALID);
    assert_contains(err.text, "the value 99; the expression has");
    assert_int_equal(collet_expression_reduce_rows(e, NULL, COLLET_OP_SUM, x, 0, &err), COLLET_INVALID);
    assert_int_equal(infer_in_order(e, out, &number, &err), COLLET_SHAPE);
    assert_contains(err.text, "reduces the last axis, and its inputs have no axes");
    assert_int_equal(infer_in_order(e, out, &empty, &err), COLLET_SHAPE);
    assert_contains(err.text, "max of rows needs at least one element");
    GOOD(infer_in_order(e, out, &none, &err));
    assert_int_equal(infer_in_order(e, out, &words, &err), COLLET_DTYPE);
    assert_contains(err.text, "max of rows does not take bool");
    assert_int_equal(collet_expression_gradient(e, &derivative, 0, 0, &err), COLLET_UNSUPPORTED);
    assert_contains(err.text, "sum of rows: only functions of single elements");
    collet_expression_destroy(e);
    begin();
    output(rows(COLLET_OP_SUM, rows(COLLET_OP_SUM, x)));
    assert_int_equal(infer_in_order(e, out, &empty, &err), COLLET_INVALID);
    assert_contains(err.text, "reduces a value with one element per row");
    collet_expression_destroy(e);
    begin();
    GOOD(collet_expression_literal(e, &one, &(collet_scalar){.value.f64 = 1, .dtype = COLLET_F64}, NULL));
    output(apply(COLLET_OP_ADD, x, rows(COLLET_OP_SUM, one)));
    assert_int_equal(infer_in_order(e, out, &empty, &err), COLLET_INVALID);
    assert_contains(err.text, "reduces a constant");
    collet_expression_destroy(e);
}

static int set_up_openmp(void **state)
{
    open_shared(OPENMP_PLUGIN, NULL, "cpu_openmp");
    return 0;
}

static int set_up_device(void **state)
{
    open_shared_device(plugins, on_device);
    return 0;
}

/* test_expression_rows [BACKEND PLUGINS] */
int main(int argc, char **argv)
{
    if (argc > 2) {
        on_device = argv[1];
        plugins = argv[2];
    }
    test_group(on_device ? set_up_device : set_up_openmp, tear_down);
    return test_run();
}
