/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of expressions against central differences. */

#include "common/evaluate.h"
#include "common/fixture.h"

enum { POINTS = 9, INPUTS = 4 };

/* Evaluates the expression in f64: inputs x, result y. */
static void evaluate(collet_expression *e, double (*x)[POINTS], double *y)
{
    const int64_t n = POINTS;
    uint32_t count = collet_expression_input_count(e);
    collet_array *in[INPUTS], *out;
    collet_array_spec specs[INPUTS], spec[1];
    collet_error err;
    union {
        double f64[POINTS];
        uint8_t b8[POINTS];
        int64_t i64[POINTS];
    } got;
    for (uint32_t i = 0; i < count; i++) {
        assert_ok(cx, collet_array_from(cx, &in[i], COLLET_F64, 1, &n, x[i]));
        specs[i] = (collet_array_spec){COLLET_F64, 1, {n}};
    }
    assert_success(infer_in_order(e, spec, specs, &err), err);
    assert_ok(cx, collet_array_create(cx, &out, spec[0].dtype, spec[0].ndim, spec[0].shape));
    assert_ok(cx, evaluate_in_order(cx, e, &out, (const collet_array *const *)in, NULL));
    assert_ok(cx, collet_array_read(cx, out, &got, POINTS * collet_dtype_size(spec[0].dtype)));
    for (int i = 0; i < POINTS; i++)
        y[i] = spec[0].dtype == COLLET_BOOL  ? got.b8[i]
               : spec[0].dtype == COLLET_I64 ? (double)got.i64[i]
                                             : got.f64[i];
    collet_array_destroy(out);
    for (uint32_t i = 0; i < count; i++)
        collet_array_destroy(in[i]);
}

static void check(collet_expression *e, const char *name, double (*x)[POINTS])
{
    double up[INPUTS][POINTS], down[INPUTS][POINTS], high[POINTS], low[POINTS], d[POINTS];
    for (uint32_t i = 0; i < collet_expression_input_count(e); i++) {
        OWNED(collet_expression) *gradient = NULL;
        collet_error err;
        if (collet_expression_gradient(e, &gradient, 0, i, &err) != COLLET_OK)
            fail_msg("%s: %s", name, err.text);
        memcpy(up, x, sizeof up);
        memcpy(down, x, sizeof down);
        for (int k = 0; k < POINTS; k++) {
            up[i][k] += 1e-5;
            down[i][k] -= 1e-5;
        }
        evaluate(e, up, high);
        evaluate(e, down, low);
        evaluate(gradient, x, d);
        for (int k = 0; k < POINTS; k++) {
            double expected = (high[k] - low[k]) / (up[i][k] - down[i][k]);
            if (!(fabs(d[k] - expected) <= 2e-6 * (1 + fabs(expected))))
                fail_msg("%s by input %u at %g, %g, %g is %.9g, not %.9g", name, i, x[0][k],
                         x[1][k], x[2][k], d[k], expected);
        }
    }
}

static const struct {
    const char *name, *derivative;
    double from, to;
    uint32_t op, inputs;
    const char *kinds;
} rows[] = {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, derivative, from, to, ...)  \
    {#name, derivative, from, to, id, inputs, #kinds},
#include <collet/ops/elementwise.def>
};

static void points(double (*x)[POINTS], double from, double to)
{
    for (int i = 0; i < INPUTS; i++)
        for (int k = 0; k < POINTS; k++) {
            double at = (k * (2 * i + 1) * 0.6180339887 + 0.123 * (i + 1));
            x[i][k] = from + (to - from) * (at - floor(at));
        }
}

TEST(every_function)
{
    double x[INPUTS][POINTS];
    int tried = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        uint32_t in[3], y;
        collet_expression *e;
        if (!strcmp(rows[r].derivative, "-") || !strpbrk(rows[r].kinds, "FW"))
            continue;
        assert_int_equal(collet_expression_create(&e, NULL), COLLET_OK);
        for (uint32_t i = 0; i < rows[r].inputs; i++)
            assert_int_equal(collet_expression_input(e, &in[i], NULL, 0, NULL), COLLET_OK);
        assert_int_equal(collet_expression_apply(e, &y, rows[r].op, in, rows[r].inputs, NULL),
                         COLLET_OK);
        assert_int_equal(collet_expression_output(e, y, NULL), COLLET_OK);
        points(x, rows[r].from, rows[r].to);
        check(e, rows[r].name, x);
        collet_expression_destroy(e);
        tried++;
    }
    assert_true(tried > 50);
}

TEST(compositions)
{
    static const char *const texts[] = {
        "a * b + 3*a - b / 2",
        "where(a < b, a*b + 2*exp(c), 0)",
        "exp(-a*a) * sin(b)**2 + tanh(c) / (1 + a*a)",
        "a**3 - 2**b + a**0.5 + (a + b)**c",
        "sqrt(a*a + b*b + c*c)",
        "f64(a) * f32(1) + minimum(a, maximum(b, c)) + i32(a)",
        "5 + floor(a)",
        "lgamma(a)*lgamma(-b)",
        "logaddexp(a, logaddexp(b, c))",
    };
    double x[INPUTS][POINTS];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        OWNED(collet_expression) *e = NULL;
        assert_int_equal(collet_expression_parse(&e, texts[i], NULL), COLLET_OK);
        points(x, 0.3, 1.9);
        check(e, texts[i], x);
    }
}

TEST(sums_and_errors)
{
    double x[INPUTS][POINTS], d[POINTS];
    OWNED(collet_expression) *e = NULL, *gradient = NULL;
    collet_error err;
    points(x, 0, 1);
    assert_int_equal(collet_expression_parse(&e, "sum(3*a)", NULL), COLLET_OK);
    assert_int_equal(collet_expression_gradient(e, &gradient, 0, 0, NULL), COLLET_OK);
    evaluate(gradient, x, d);
    for (int i = 0; i < POINTS; i++)
        assert_true(d[i] == 3);
    assert_int_equal(collet_expression_gradient(e, &gradient, 1, 0, &err), COLLET_INVALID);
    collet_expression_destroy(gradient);
    collet_expression_destroy(e);
    assert_int_equal(collet_expression_parse(&e, "max(a)", NULL), COLLET_OK);
    assert_error(collet_expression_gradient(e, &gradient, 0, 0, &err), COLLET_INVALID, err,
                 "only the derivative of a sum");
    collet_expression_destroy(e);
    assert_int_equal(collet_expression_parse(&e, "2*conj(a) + b", NULL), COLLET_OK);
    assert_error(collet_expression_gradient(e, &gradient, 0, 0, &err), COLLET_UNSUPPORTED, err,
                 "conj has no derivative");
    assert_int_equal(collet_expression_gradient(e, &gradient, 0, 1, &err), COLLET_OK);
}

/* The derivative stays finite where one of its factors is infinite. */
TEST(finite_at_zero)
{
    static const char *const texts[] = {
        "hypot(b, a)",
        "a**(b + 1)",
        "a**0",
        "a**2",
        "where(a > 0, sqrt(a) * a**-6 - a**-3, 0)",
        "exp(where(a == 0, 0, where(a < 1, log(a), 1/a)))",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double x[INPUTS][POINTS] = {{0}}, d[POINTS];
        OWNED(collet_expression) *e = NULL, *gradient = NULL;
        assert_int_equal(collet_expression_parse(&e, texts[i], NULL), COLLET_OK);
        uint32_t last = collet_expression_input_count(e) - 1;
        assert_int_equal(collet_expression_gradient(e, &gradient, 0, last, NULL), COLLET_OK);
        evaluate(gradient, x, d);
        assert_true(d[0] == 0);
    }
}

TEST_GROUP(set_up_scalar, tear_down)
