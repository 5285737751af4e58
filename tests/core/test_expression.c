/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: texts, dtypes, results. */
#include <pthread.h>

#include "common/evaluate.h"
#include "common/fixture.h"

static collet_expression *parsed(const char *text)
{
    collet_expression *e = NULL;
    collet_error err;
    if (collet_expression_parse(&e, text, &err) != COLLET_OK)
        fail_msg("%s: %s", text, err.text);
    return e;
}

/* ---- Texts ------------------------------------------------------------------------------- */

TEST(errors_name_columns)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "column 1: expected a number, a name or '(', and the text ends"},
        {"a + ", "column 5: expected a number"},
        {"a + * b", "column 5: expected a number, a name or '(', not '*'"},
        {"(a + b", "column 7: expected an operator or ')', and the text ends"},
        {"a b", "column 3: expected an operator, ';' or the end, not 'b'"},
        {"sinh(a, b)", "column 1: sinh takes 1 operands, and there are 2"},
        {"2 + sine(a)", "column 5: there is no function 'sine'; the nearest is sin"},
        {"a < b < c", "column 7: comparisons cannot be chained"},
        {"a and b", "column 3: expected an operator"},
        {"not a", "column 1: expected a value, written with the operators & | ~"},
        {"a < b and c", "column 7: expected an operator, such as & | ~, or the function where()"},
        {"max(a, b)", "column 8: expected axis= or keepdims=; of two values, minimum(a, b) or"},
        {"1 + max(a, b)", "column 12: expected axis= or keepdims=; of two values, minimum(a, b) or"},
        {"sum(a) * 2", "column 1: a reduction within an expression is of rows: write sum(..., axis=-1, "
                       "keepdims=True). Only a reduction around a whole output has other axes"},
        {"a - max(a, axis=0, keepdims=True)", "column 5: a reduction within an expression is of rows: write max("},
        {"a - sum(a, axis=-1)", "column 5: a reduction within an expression is of rows"},
        {"sum(sum(a, axis=-1, keepdims=True), axis=-1", "column 44: expected an operator, ',' or ')'"},
        {"sum(a); b", "column 9: all outputs must have the same reduction"},
        {"sum(a, axes=1)", "column 8: expected axis=, keepdims= or correction="},
        {"sum(a, axis=x)", "column 13: expected the number of an axis"},
        {"12ab", "column 1: expected a number such as 12, 0.5"},
        {"0x10", "column 1: expected a number such as"},
        {"a + 1e", "column 5: expected a number such as 12, 0.5, 1e-3 or 2j, not '1e'"},
        {"1e+a", "column 1: expected a number such as"},
        {"1ej", "column 1: expected a number such as"},
        {"0x1.8", "column 1: expected a number such as"},
        {"var(a, correction=1x)", "column 19: expected a number, not '1x'"},
        {"var(a, correction=1e)", "column 19: expected a number, not '1e'"},
        {"var(a, correction=2j)", "column 19: expected a number, not '2j'"},
        {"99999999999999999999999999999999999999999",
         "column 1: expected an integer of at most 127 bits"},
        {"a $ b", "column 3: expected an operator, ';' or the end, not '$'"},
        {"f32(a, b)", "column 1: a conversion to f32 takes 1 operand"},
        {"a;", "column 3: expected a number"},
        {"\xc3\xa4 + 1", "column 1: expected a number"},
    };
    collet_expression *e = NULL;
    collet_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_error(collet_expression_parse(&e, cases[i].text, &err), COLLET_INVALID, err,
                     cases[i].part);
    }
    assert_int_equal(collet_expression_parse(&e, NULL, &err), COLLET_INVALID);
    assert_int_equal(collet_expression_parse(NULL, "a", &err), COLLET_INVALID);
    static char deep[COLLET_EXPRESSION_TEXT + 2];
    memset(deep, '(', 100);
    assert_error(collet_expression_parse(&e, deep, &err), COLLET_INVALID, err,
                 "column 65: more than 64");
    memset(deep, 'a', sizeof deep - 1);
    assert_error(collet_expression_parse(&e, deep, &err), COLLET_INVALID, err,
                 "more than 65536 bytes");
}

/* ---- Results ----------------------------------------------------------------------------- */

/* The value of a text without inputs, as f64. */
static double value_of(const char *text)
{
    collet_expression *e = parsed(text);
    collet_array_spec spec = {0};
    collet_array *out;
    collet_scalar s;
    collet_error err;
    if (infer_in_order(e, &spec, NULL, &err) != COLLET_OK)
        fail_msg("%s: %s", text, err.text);
    assert_ok(cx, collet_array_create(cx, &out, spec.dtype, 0, NULL));
    assert_ok(cx, evaluate_in_order(cx, e, &out, NULL, NULL));
    assert_ok(cx, collet_array_read(cx, out, s.value.bytes, collet_dtype_size(spec.dtype)));
    collet_array_destroy(out);
    collet_expression_destroy(e);
    return spec.dtype == COLLET_I64    ? (double)s.value.i64
           : spec.dtype == COLLET_BOOL ? s.value.b8
                                       : s.value.f64;
}

TEST(numbers_are_pythons)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"-2 ** 2", -4},
        {"2 ** 3 ** 2", 512},
        {"2 ** -1", .5},
        {"7 // 2", 3},
        {"-7 // 2", -4},
        {"-7 % 3", 2},
        {"7 % -3", -2},
        {"1 / 4", .25},
        {"6 & 3 | 8 ^ 1", 11},
        {"1 << 4 >> 1", 8},
        {"~5", -6},
        {"1 < 2", 1},
        {"3 - 2 - 1", 0},
        {"+3", 3},
        {"1e3", 1000},
        {".5 + 1.", 1.5},
        {"True & False", 0},
        {"2 * pi", 6.283185307179586},
        {"where(1 > 2, 3, 4)", 4},
        {"1 + 2 < 2 * 2", 1},
        {"2 ** 0.5", 1.4142135623730951},
        {"exp(0)", 1},
        {"abs(-3)", 3},
        {"inf > 1", 1},
        {"nan == nan", 0},
        {"7.5 // 2", 3},
        {"real(2j * 2j)", -4},
        {"imag((1j + 0) ** 2)", 0},
        {"f64(i32(2.7))", 2},
        {"f64(u8(300.0))", 255},
        {"f64(i16(i32(70000)))", 32767},
        {"bool(2j)", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (value_of(cases[i].text) != cases[i].value)
            fail_msg("%s is %.17g", cases[i].text, value_of(cases[i].text));
}

static collet_dtype dtype_of(const char *text, collet_dtype a, collet_dtype b)
{
    collet_expression *e = parsed(text);
    collet_array_spec ins[2] = {{.dtype = a}, {.dtype = b}}, out[1];
    collet_status status = infer_in_order(e, out, ins, NULL);
    collet_expression_destroy(e);
    return status == COLLET_OK ? out[0].dtype : COLLET_DTYPE_NONE;
}

static collet_dtype named(const char *name)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++)
        if (!strcmp(collet_dtype_name(d), name))
            return d;
    return COLLET_DTYPE_NONE;
}

/* Dtypes are promoted as in NumPy 2.1, which has no bf16. */
TEST(dtypes_are_numpys)
{
    static const char *const cases[][4] = {
        {"a + b", "i8", "u8", "i16"},
        {"a + b", "u16", "i16", "i32"},
        {"a + b", "u64", "i64", "f64"},
        {"a + b", "u32", "i64", "i64"},
        {"a + b", "i32", "f32", "f64"},
        {"a + b", "i16", "f32", "f32"},
        {"a + b", "i16", "f16", "f32"},
        {"a + b", "u8", "f16", "f16"},
        {"a + b", "i64", "f16", "f64"},
        {"a + b", "f16", "bf16", "f32"},
        {"a + b", "f64", "c64", "c128"},
        {"a + b", "i16", "c64", "c64"},
        {"a + b", "i32", "c64", "c128"},
        {"a + b", "bool", "i8", "i8"},
        {"a + b", "bool", "bool", "bool"},
        {"a + b", "bool", "bf16", "bf16"},
        {"a + 1", "u8", "u8", "u8"},
        {"a + 1", "f32", "u8", "f32"},
        {"a + 1", "bool", "u8", "i64"},
        {"a + 1.5", "i16", "u8", "f64"},
        {"a + 1.5", "f16", "u8", "f16"},
        {"a * 2j", "f32", "u8", "c64"},
        {"a * 2j", "f64", "u8", "c128"},
        {"a * 2j", "i8", "u8", "c128"},
        {"a / b", "i8", "i8", "f64"},
        {"a / 2", "u8", "i8", "f64"},
        {"a // b", "i8", "i16", "i16"},
        {"a / b", "f32", "f32", "f32"},
        {"exp(a)", "i8", "u8", "f16"},
        {"exp(a)", "u16", "u8", "f32"},
        {"exp(a)", "i32", "u8", "f64"},
        {"exp(a)", "bool", "u8", "f16"},
        {"floor(a)", "i32", "u8", "i32"},
        {"a < b", "i8", "f64", "bool"},
        {"abs(a)", "c64", "u8", "f32"},
        {"real(a)", "f32", "u8", "f32"},
        {"where(a, b, 0)", "f64", "f32", "f32"},
        {"where(a, b, 0.5)", "bool", "i32", "f64"},
        {"a ** 2", "i16", "u8", "i16"},
        {"a ** b", "bool", "bool", "i8"},
        {"~a", "bool", "u8", "bool"},
        {"sqrt(2) * a", "f32", "u8", "f32"},
        {"i16(a) + b", "f64", "i8", "i16"},
        {"int16(a) + bool(b)", "f64", "i8", "i16"},
        {"complex(a, b)", "f32", "f32", "c64"},
        {"logical_not(a)", "f32", "u8", "bool"},
        {"sum(a)", "f32", "u8", "f32"},
        {"argmax(a)", "f64", "u8", "i64"},
        {"a < b", "c64", "c64", "none"},
        {"-a", "bool", "u8", "none"},
        {"floor(a)", "c64", "u8", "none"},
        {"a & b", "f32", "i8", "none"},
        {"a + 300", "u8", "u8", "none"},
        {"f32(a)", "c64", "u8", "none"},
        {"a + -1", "u8", "u8", "none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_dtype got = dtype_of(cases[i][0], named(cases[i][1]), named(cases[i][2]));
        if (got != named(cases[i][3]))
            fail_msg("%s of %s, %s is %s, not %s", cases[i][0], cases[i][1], cases[i][2],
                     collet_dtype_name(got), cases[i][3]);
    }
}

TEST(promotion_is_symmetric)
{
    for (collet_dtype a = 1; a < COLLET_DTYPE_COUNT; a++)
        for (collet_dtype b = 1; b < COLLET_DTYPE_COUNT; b++) {
            collet_dtype both = collet_dtype_promote(a, b);
            assert_int_equal(both, collet_dtype_promote(b, a));
            assert_int_equal(collet_dtype_promote(both, b), both);
        }
    assert_int_equal(collet_dtype_promote(COLLET_F32, 0), COLLET_DTYPE_NONE);
    assert_int_equal(collet_dtype_promote(-1, COLLET_F32), COLLET_DTYPE_NONE);
}

/* An expression with four inputs, the sum of its result, and arguments that are wrong or missing. */
TEST(the_first_example)
{
    enum { N = 1000 };
    static float r[N], a[N], b[N], d[N], got[N];
    const int64_t n = N;
    for (int i = 0; i < N; i++) {
        r[i] = (float)(i % 17);
        a[i] = (float)i * .5f;
        b[i] = (float)(i % 5) - 2.f;
        d[i] = (float)(i % 7) * .25f;
    }
    collet_expression *e = parsed("where(r < 9, a*b + 2*sqrt(d), 0)");
    OWNED(collet_array) *out = NULL, *total = NULL;
    collet_array *in[4];
    const float *from[] = {r, a, b, d};
    assert_int_equal(collet_expression_input_count(e), 4);
    assert_string_equal(collet_expression_input_name(e, 3), "d");
    assert_true(!collet_expression_input_name(e, 4));
    for (int i = 0; i < 4; i++)
        assert_ok(cx, collet_array_from(cx, &in[i], COLLET_F32, 1, &n, from[i]));
    assert_ok(cx, collet_array_create(cx, &out, COLLET_F32, 1, &n));
    assert_ok(cx, collet_array_create(cx, &total, COLLET_F32, 0, NULL));
    const collet_array *ins[] = {in[0], in[1], in[2], in[3]};
    assert_ok(cx, evaluate_in_order(cx, e, &out, ins, NULL));
    assert_ok(cx, collet_array_read(cx, out, got, sizeof got));
    double sum = 0;
    for (int i = 0; i < N; i++) {
        float product = a[i] * b[i], y = r[i] < 9 ? product + 2 * sqrtf(d[i]) : 0;
        assert_true(got[i] == y);
        sum += y;
    }
    collet_expression_destroy(e);
    e = parsed("sum(where(r < 9, a*b + 2*sqrt(d), 0))");
    assert_ok(cx, evaluate_in_order(cx, e, &total, ins, NULL));
    assert_ok(cx, collet_array_read(cx, total, got, sizeof *got));
    assert_true(fabs((double)*got - sum) <= 1e-6 * fabs(sum));
    assert_status(cx, evaluate_in_order(cx, e, &out, ins, NULL), COLLET_SHAPE,
                  "output 0 is 1000; it must be ()");
    ins[2] = NULL;
    assert_status(cx, evaluate_in_order(cx, e, &total, ins, NULL), COLLET_INVALID,
                  "argument 2, b has neither an array nor a number");
    collet_expression_destroy(e);
    for (int i = 0; i < 4; i++)
        collet_array_destroy(in[i]);
}

/* Arguments are bound by their names, in any order. Outputs that the caller does not give are created. */
TEST(arguments_have_names)
{
    OWNED(collet_array) *a = floats(cx, 3, 1), *b = floats(cx, 3, 5), *out = NULL;
    const struct {
        collet_argument with[3];
        uint32_t count;
        const char *says;
    } wrong[] = {
        {{{.name = "b", .array = b}}, 1, "no argument for input 1, a"},
        {{{.name = "b", .array = b}, {.name = "c", .array = a}}, 2,
         "no input is named c; the names are: b, a"},
        {{{.name = "a", .array = a}, {.name = "b", .array = b}, {.name = "c", .array = a}}, 3,
         "no input is named c"},
        {{{.name = "a", .array = a}, {.name = "a", .array = b}}, 2, "a is given twice"},
        {{{.array = b}, {.array = a}}, 2, "argument 0 has no name"},
        {{{.name = "a", .array = a}, {.name = "b"}}, 2,
         "argument 1, b has neither an array nor a number"},
    };
    const collet_argument right[] = {{.name = "a", .array = a}, {.name = "b", .array = b}};
    const collet_argument number[] = {{.name = "a", .number = {.value.i64 = 1, .dtype = COLLET_I64}},
                                      {.name = "b", .array = b}};
    const collet_array_spec long_ones = {COLLET_I64, 1, {1}}, columns = {COLLET_F32, 2, {7, 1}};
    const collet_argument likes[] = {{.name = "a", .spec = &long_ones},
                                     {.name = "b", .spec = &columns}};
    collet_array_spec made;
    OWNED(collet_expression) *e = parsed("b - a");
    uint32_t input;
    collet_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_status(cx, collet_expression_evaluate(cx, e, &out, wrong[i].with, wrong[i].count),
                      COLLET_INVALID, wrong[i].says);
        assert_null(out);
        assert_error(
            collet_expression_infer(e, &made, sizeof made, wrong[i].with, wrong[i].count, &err),
            COLLET_INVALID, err, wrong[i].says);
    }
    assert_int_equal(collet_expression_infer(e, &made, sizeof made, right, 2, &err), COLLET_OK);
    assert_true(made.dtype == COLLET_F32 && made.ndim == 1 && made.shape[0] == 3);
    assert_int_equal(collet_expression_infer(e, &made, sizeof made, likes, 2, &err), COLLET_OK);
    assert_true(made.dtype == COLLET_F64 && made.ndim == 2 && made.shape[0] == 7);
    assert_status(cx, collet_expression_evaluate(cx, e, &out, likes, 2), COLLET_INVALID,
                  "input 0, b is a spec, which has no elements");
    assert_ok(cx, collet_expression_evaluate(cx, e, &out, right, 2));
    assert_floats(cx, out, (const float[]){4, 4, 4});
    assert_ok(cx, collet_expression_evaluate(cx, e, &out, number, 2)); /* into the same array */
    assert_floats(cx, out, (const float[]){4, 5, 6});
    assert_int_equal(collet_expression_find(e, &input, "a", &err), COLLET_OK);
    assert_int_equal(input, 1);
    assert_error(collet_expression_find(e, &input, "x", &err), COLLET_INVALID, err,
                 "no input is named x; the names are: b, a");
}

/* x**3 is computed by multiplication. The results equal the results of pow, also if they are tiny or infinite. */
TEST(powers_are_products)
{
    static const double exponents[] = {2,  3,   7,  12,  16,  17,   -1, -2,
                                       -3, -16, .5, -.5, 1.5, -1.5, 2.5};
    static const double x[] = {0,    1,     3,     .1,    1e-310,   1e-200, 1e-100,
                               1e20, 1e-20, 1e160, 1e308, INFINITY, NAN};
    enum { N = sizeof x / sizeof *x };
    const int64_t n = N;
    double got[3 * N];
    collet_array *in, *out[3];
    assert_ok(cx, collet_array_from(cx, &in, COLLET_F64, 1, &n, x));
    for (int k = 0; k < 3; k++)
        assert_ok(cx, collet_array_create(cx, &out[k], COLLET_F64, 1, &n));
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        char text[64];
        snprintf(text, sizeof text, "a**%g; a**3 - a*a*a; a**4 - (a*a)*(a*a)", exponents[i]);
        OWNED(collet_expression) *e = parsed(text);
        assert_ok(cx, evaluate_in_order(cx, e, out, &(const collet_array *){in}, NULL));
        for (int k = 0; k < 3; k++)
            assert_ok(cx, collet_array_read(cx, out[k], got + k * N, N * sizeof *got));
        for (int k = 0; k < N; k++) {
            double y = pow(x[k], exponents[i]);
            if (!(isnan(y) ? isnan(got[k])
                           : got[k] == y || fabs(got[k] - y) <= 4e-15 * fabs(y) + 1e-322))
                fail_msg("%g**%g is %.17g", x[k], exponents[i], got[k]);
            assert_true(!(fabs(got[N + k]) > 0) && !(fabs(got[2 * N + k]) > 0));
        }
    }
    for (int k = 0; k < 3; k++)
        collet_array_destroy(out[k]);
    collet_array_destroy(in);
}

/* Scalars take the dtype of the arrays. A different scalar changes the result without a new plan. */
TEST(numbers_among_inputs)
{
    collet_expression *e = parsed("x * k + k * h; where(c, x, n)");
    collet_array *x = floats(cx, 3, 1), *out[] = {empty_floats(cx, 3), empty_floats(cx, 3)};
    collet_array_spec specs[5] = {{.dtype = COLLET_F32, .ndim = 1, .shape = {3}},
                                  {.dtype = COLLET_F64, .ndim = COLLET_ABSENT},
                                  {.dtype = COLLET_I64, .ndim = COLLET_ABSENT},
                                  {.dtype = COLLET_BOOL, .ndim = COLLET_ABSENT},
                                  {.dtype = COLLET_U64, .ndim = COLLET_ABSENT}};
    collet_array_spec made[2];
    collet_scalar numbers[5] = {{.dtype = COLLET_DTYPE_NONE},
                                {.value.f64 = 2, .dtype = COLLET_F64},
                                {.value.i64 = 10, .dtype = COLLET_I64},
                                {.value.b8 = 0, .dtype = COLLET_BOOL},
                                {.value.u64 = 7, .dtype = COLLET_U64}};
    const collet_array *ins[5] = {x};
    assert_int_equal(infer_in_order(e, made, specs, NULL), COLLET_OK);
    assert_true(made[0].dtype == COLLET_F32 && made[1].dtype == COLLET_F32 && made[0].ndim == 1);
    assert_ok(cx, evaluate_in_order(cx, e, out, ins, numbers));
    assert_floats(cx, out[0], (const float[]){22, 24, 26});
    assert_floats(cx, out[1], (const float[]){7, 7, 7});
    numbers[1].value.f64 = .5;
    numbers[3].value.b8 = 1;
    assert_ok(cx, evaluate_in_order(cx, e, out, ins, numbers));
    assert_floats(cx, out[0], (const float[]){5.5f, 6, 6.5f});
    assert_floats(cx, out[1], (const float[]){1, 2, 3});
    numbers[2].dtype = COLLET_F32;
    assert_status(cx, evaluate_in_order(cx, e, out, ins, numbers), COLLET_DTYPE,
                  "input 2, h is a number of the dtype f32");
    assert_status(cx, evaluate_in_order(cx, e, out, ins, NULL), COLLET_INVALID);
    collet_expression_destroy(e);
    e = parsed("x + k");
    specs[0].dtype = COLLET_U8;
    specs[1].dtype = COLLET_I64;
    assert_int_equal(infer_in_order(e, made, specs, NULL), COLLET_OK);
    assert_true(made[0].dtype == COLLET_U8);
    collet_array *bytes;
    assert_ok(cx, collet_array_create(cx, &bytes, COLLET_U8, 1, (const int64_t[]){3}));
    ins[0] = bytes;
    numbers[1] = (collet_scalar){.value.i64 = 300, .dtype = COLLET_I64};
    assert_status(cx, evaluate_in_order(cx, e, &bytes, ins, numbers), COLLET_DTYPE,
                  "the number 300 for input 1, k does not fit u8; convert the arrays");
    collet_expression_destroy(e);
    collet_array_destroy(bytes);
    collet_array_destroy(x);
    collet_array_destroy(out[0]);
    collet_array_destroy(out[1]);
}

/* An expression built by calls, with constants that the program changes later. */
TEST(constants_change)
{
    OWNED(collet_expression) *e = NULL;
    uint32_t x, k, y, minus;
    collet_scalar two = {.value.f64 = 2, .dtype = COLLET_F64};
    assert_int_equal(collet_expression_create(&e, NULL), COLLET_OK);
    assert_int_equal(collet_expression_input(e, &x, "x", COLLET_F32, NULL), COLLET_OK);
    assert_int_equal(collet_expression_constant(e, &k, &two, 1, NULL), COLLET_OK);
    assert_int_equal(collet_expression_apply(e, &y, COLLET_OP_MUL, (uint32_t[]){x, k}, 2, NULL),
                     COLLET_OK);
    assert_int_equal(collet_expression_apply(e, &minus, COLLET_OP_NEG, &y, 1, NULL), COLLET_OK);
    assert_int_equal(collet_expression_output(e, y, NULL), COLLET_OK);
    assert_int_equal(collet_expression_output(e, minus, NULL), COLLET_OK);
    collet_array *a = floats(cx, 3, 1), *out[] = {a, empty_floats(cx, 3)};
    const collet_array *ins[] = {a};
    assert_ok(cx, evaluate_in_order(cx, e, out, ins, NULL)); /* in place */
    assert_floats(cx, a, (const float[]){2, 4, 6});
    assert_floats(cx, out[1], (const float[]){-2, -4, -6});
    two.value.f64 = .5;
    assert_int_equal(collet_expression_set_constant(e, k, &two, NULL), COLLET_OK);
    assert_ok(cx, evaluate_in_order(cx, e, out, ins, NULL));
    assert_floats(cx, a, (const float[]){1, 2, 3});
    assert_int_equal(collet_expression_set_constant(e, x, &two, NULL), COLLET_INVALID);
    two.dtype = COLLET_I64;
    assert_int_equal(collet_expression_set_constant(e, k, &two, NULL), COLLET_DTYPE);
    collet_error err;
    assert_error(collet_expression_apply(e, &y, COLLET_OP_ADD, &y, 1, &err), COLLET_INVALID, err,
                 "collet_expression_apply: add takes 2 operands");
    assert_error(collet_expression_input(e, &x, "x", 0, &err), COLLET_INVALID, err,
                 "there is an input 'x' already");
    collet_array_destroy(a);
    collet_array_destroy(out[1]);
}

/* A literal cannot be changed. Arithmetic of two literals is folded, and a small power is computed by
 * multiplication. */
TEST(literals)
{
    OWNED(collet_expression) *e = NULL;
    uint32_t x, two, four, y;
    collet_scalar number = {.value.i64 = 2, .dtype = COLLET_I64};
    assert_int_equal(collet_expression_create(&e, NULL), COLLET_OK);
    assert_int_equal(collet_expression_input(e, &x, "x", COLLET_F32, NULL), COLLET_OK);
    assert_int_equal(collet_expression_literal(e, &two, &number, NULL), COLLET_OK);
    assert_int_equal(
        collet_expression_apply(e, &four, COLLET_OP_ADD, (uint32_t[]){two, two}, 2, NULL),
        COLLET_OK);
    assert_int_equal(collet_expression_apply(e, &y, COLLET_OP_POW, (uint32_t[]){x, four}, 2, NULL),
                     COLLET_OK);
    assert_int_equal(collet_expression_output(e, y, NULL), COLLET_OK);
    OWNED(collet_array) *a = floats(cx, 3, 1);
    const collet_array *ins[] = {a};
    assert_ok(cx, evaluate_in_order(cx, e, &a, ins, NULL));
    assert_floats(cx, a, (const float[]){1, 16, 81});
    assert_int_equal(collet_expression_set_constant(e, two, &number, NULL), COLLET_INVALID);
    assert_int_equal(collet_expression_literal(e, &y, NULL, NULL), COLLET_DTYPE);
    number.dtype = COLLET_U8;
    assert_int_equal(collet_expression_literal(e, &y, &number, NULL), COLLET_DTYPE);
}

/* The expression has 12 inputs, and 6 outputs that are also inputs: it is split into several programs. */
TEST(large_graphs_are_cut)
{
    enum { IN = 12, OUT = 6 };
    collet_array *in[IN], *outs[OUT];
    const collet_array *ins[IN];
    float x[IN], expected[3];
    for (int i = 0; i < IN; i++) {
        in[i] = floats(cx, 3, (float)i);
        ins[i] = in[i];
        if (i < OUT)
            outs[i] = in[i];
    }
    OWNED(collet_expression) *e = parsed(
        "a+b+c+d+e+f+g+h+i+j+k+l; b*l + a; l - a; (a+b)*(c+d)*(e+f)*(g+h)*(i+j)*(k+l); a; a");
    assert_ok(cx, evaluate_in_order(cx, e, outs, ins, NULL));
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < IN; i++)
            x[i] = (float)(i + t);
        expected[t] = 1;
        for (int i = 0; i < IN; i += 2)
            expected[t] *= x[i] + x[i + 1];
    }
    assert_floats(cx, in[0], (const float[]){66, 78, 90});
    assert_floats(cx, in[1], (const float[]){11, 25, 41});
    assert_floats(cx, in[2], (const float[]){11, 11, 11});
    assert_floats(cx, in[3], expected);
    assert_floats(cx, in[4], (const float[]){0, 1, 2});
    assert_floats(cx, in[5], (const float[]){0, 1, 2});
    for (int i = 0; i < IN; i++)
        collet_array_destroy(in[i]);
}

/* All inputs, even unused inputs, are broadcast to a common shape. A reduction may be over an axis that its operand has
 * only after this broadcast. */
TEST(shapes_are_those_of_all_inputs)
{
    OWNED(collet_array) *a = floats(cx, 3, 1), *b = floats(cx, 1, 1), *out = empty_floats(cx, 3),
                        *sum = NULL;
    assert_ok(cx, collet_array_create(cx, &sum, COLLET_F32, 0, NULL));
    const collet_array *ins[] = {b, a};
    OWNED(collet_expression) *e = NULL;
    uint32_t x, y;
    assert_int_equal(collet_expression_create(&e, NULL), COLLET_OK);
    assert_int_equal(collet_expression_input(e, &x, "x", 0, NULL), COLLET_OK);
    assert_int_equal(collet_expression_input(e, &y, NULL, 0, NULL), COLLET_OK);
    assert_int_equal(collet_expression_output(e, x, NULL), COLLET_OK);
    assert_ok(cx, evaluate_in_order(cx, e, &out, ins, NULL));
    assert_floats(cx, out, (const float[]){1, 1, 1});
    assert_int_equal(collet_expression_reduce(e, COLLET_OP_SUM, NULL, 0, 0, 0, NULL), COLLET_OK);
    assert_ok(cx, evaluate_in_order(cx, e, &sum, ins, NULL));
    assert_floats(cx, sum, (const float[]){3});
    OWNED(collet_array) *four = floats(cx, 4, 1);
    ins[0] = four;
    assert_status(cx, evaluate_in_order(cx, e, &sum, ins, NULL), COLLET_SHAPE,
                  "input 1 is 3, which does not broadcast");
}

/* Four threads evaluate one expression with more combinations of dtypes than the number of plans that it keeps. */
static void *evaluate_often(void *argument)
{
    collet_expression *e = argument;
    collet_context *mine = context_of(rt);
    const int64_t three = 3;
    for (int i = 0; i < 200; i++) {
        collet_dtype da = 1 + (collet_dtype)(i * 7 % 12), db = 1 + (collet_dtype)(i * 5 % 15);
        collet_array_spec ins[] = {{da, 1, {3}}, {db, 1, {3}}}, spec;
        OWNED(collet_array) *a = NULL, *b = NULL, *out = NULL;
        if (infer_in_order(e, &spec, ins, NULL) != COLLET_OK)
            abort();
        int good = collet_array_create(mine, &a, da, 1, &three) == COLLET_OK &&
                   collet_array_create(mine, &b, db, 1, &three) == COLLET_OK &&
                   collet_array_create(mine, &out, spec.dtype, 1, &three) == COLLET_OK &&
                   evaluate_in_order(mine, e, &out, (const collet_array *const[]){a, b}, NULL) ==
                       COLLET_OK;
        if (!good)
            abort();
    }
    collet_context_destroy(mine);
    return NULL;
}

TEST(threads_share_an_expression)
{
    OWNED(collet_expression) *e = parsed("a * b + 2");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, evaluate_often, e), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

TEST_GROUP(set_up_scalar, tear_down)
