/* SPDX-License-Identifier: Apache-2.0 */
/* Weak scalars in expressions (a weak scalar takes the dtype of the arrays): arithmetic as in Python, one rounding to
 * the dtype of the array, integers that do not fit, comparisons. python/tests/op/test_random_numbers.py compares the
 * results for random scalars with Python's. */

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

/* An array of one element. */
static collet_array *array_of(collet_dtype dtype, const void *element)
{
    collet_array *a;
    assert_ok(cx, collet_array_from(cx, &a, dtype, 0, NULL, element));
    return a;
}

/* Evaluates with the arrays ins[i], or numbers[i] where ins[i] is NULL. */
static collet_status evaluate(collet_expression *e, const collet_array *const *ins,
                              const collet_scalar *numbers, collet_scalar *out, collet_error *err)
{
    collet_array_spec specs[16], made;
    collet_array *result;
    for (uint32_t i = 0; i < collet_expression_input_count(e); i++)
        specs[i] = (collet_array_spec){
            .dtype = ins[i] ? collet_array_dtype(ins[i]) : numbers[i].dtype,
            .ndim = ins[i] ? 0 : COLLET_ABSENT,
        };
    collet_status status = infer_in_order(e, &made, specs, err);
    if (status != COLLET_OK)
        return status;
    assert_ok(cx, collet_array_create(cx, &result, made.dtype, 0, NULL));
    status = evaluate_in_order(cx, e, &result, ins, numbers);
    out->dtype = made.dtype;
    if (status != COLLET_OK && err)
        snprintf(err->text, sizeof err->text, "%s", collet_last_error(cx));
    if (status == COLLET_OK)
        assert_ok(cx,
                  collet_array_read(cx, result, out->value.bytes, collet_dtype_size(made.dtype)));
    collet_array_destroy(result);
    return status;
}

#define INTEGERS(X)                                                                                \
    X(I8, i8, int8_t)                                                                              \
    X(U8, u8, uint8_t)                                                                             \
    X(I16, i16, int16_t)                                                                           \
    X(U16, u16, uint16_t)                                                                          \
    X(I32, i32, int32_t)                                                                           \
    X(U32, u32, uint32_t)                                                                          \
    X(I64, i64, int64_t)                                                                           \
    X(U64, u64, uint64_t)

static double real_of(const collet_scalar *s)
{
    switch (s->dtype) {
#define READ(NAME, name, type)                                                                     \
    case COLLET_##NAME:                                                                            \
        return (double)s->value.name;
        INTEGERS(READ)
        READ(F32, f32, float)
        READ(F64, f64, double)
        READ(BOOL, b8, uint8_t)
    default:
        return NAN;
    }
}

static collet_scalar scalar_of(collet_dtype dtype, int64_t value)
{
    collet_scalar s = {.dtype = dtype};
    switch (dtype) {
#define WRITE(NAME, name, type)                                                                    \
    case COLLET_##NAME:                                                                            \
        s.value.name = (type)value;                                                                \
        break;
        INTEGERS(WRITE)
        WRITE(F32, f32, float)
    default:
        s.value.f64 = (double)value;
    }
    return s;
}

/* ---- Python's arithmetic ----------------------------------------------------------------- */

/* The value of each text for x = 1.0. */
TEST(integers_are_exact)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"x*2**64", 0x1p64},
        {"x*10**20", 1e20},
        {"x/10**20", 1e-20},
        {"x*(9223372036854775807+1)", 0x1p63},
        {"x+4000000000*4000000000", 1.6e19},
        {"x*(10**30 - 10**30 + 7)", 7},
        {"x*(10**30//10**29)", 10},
        {"x*(10**30/10**29)", 10},
        {"x*(10**37/3)", 3.3333333333333335e36},
        {"x*(1/10**37)", 1e-37},
        {"x*(0/5 - 0)", 0},
        {"x*(-7//2)", -4},
        {"x*(7%-3)", -2},
        {"x*((3-5)**-1)", -.5},
        {"(3-5)**-1*x", -.5},
        {"x*7**-1", 1 / 7.0},
        {"x*(-9223372036854775807-2)", -0x1p63},
        {"x*-9223372036854775808", -0x1p63},
        {"x*170141183460469231731687303715884105727", 0x1p127},
        {"x*(1 << 100 >> 98)", 4},
        {"x*(-5 >> 200)", -1},
        {"x*(0 << 1000)", 0},
        {"x*(~0 & 2**70)", 0x1p70},
        {"x*(2**64 ^ 2**64 | 3)", 3},
        {"x*(True + True)", 2},
        {"x*-True", -1},
        {"x*(True + .5)", 1.5},
        {"x*abs(-2**70)", 0x1p70},
        {"x*sign(-2**70)", -1},
        {"x*square(2**40)", 0x1p80},
        {"x*minimum(2**70, 3)", 3},
        {"x*maximum(2**70, 3)", 0x1p70},
        {"x*clip(2**70, 0, 5)", 5},
        {"x*where(2**64 > 2**63, 2**65, 1)", 0x1p65},
        {"x*(2**53 + 1 == 2.0**53)", 0},
        {"x*(2**53 + 1 > 2.0**53)", 1},
        {"x*(2**100 < inf)", 1},
        {"x*(3 < nan)", 0},
        {"x*(5 != 5.0)", 0},
        {"x*(7.5//2)", 3},
        {"x*(-7.5 % 2)", .5},
        {"x*(7.5 % -2)", -.5},
        {"x*(0**0)", 1},
        {"x*(-1)**(10**18+1)", -1},
        {"x*real((-8)**0.5)", 1.7319121124709868e-16},
        {"x*imag((-8)**0.5)", 2.8284271247461903},
        {"x*pow(2, 0.5)", 1.4142135623730951},
        {"x*(9007199254740993)", 9007199254740992},
        {"x*(9007199254740993 - 1)", 9007199254740992},
        {"x*(9007199254740993 + 2)", 9007199254740996},
    };
    const collet_array *x = array_of(COLLET_F64, &(double){1.0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(collet_expression) *e = parsed(cases[i].text);
        collet_scalar made;
        assert_ok(cx, evaluate(e, &x, NULL, &made, NULL));
        if (made.dtype != COLLET_F64 || made.value.f64 != cases[i].value)
            fail_msg("%s is %.17g, %s", cases[i].text, real_of(&made),
                     collet_dtype_name(made.dtype));
    }
    collet_array_destroy((collet_array *)x);
}

TEST(mistakes_have_a_place)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"x*0**-1", "column 4: pow(0, -1) divides by zero"},
        {"x*(1//0)", "column 5: floor_divide(1, 0) divides by zero"},
        {"x*(1 % 0)", "column 6: remainder(1, 0) divides by zero"},
        {"x + 1/0", "column 6: div(1, 0) divides by zero"},
        {"x + 2.5/0.0", "column 8: div(2.5, 0) divides by zero"},
        {"x + 2.5 // 0", "column 9: floor_divide(2.5, 0) divides by zero"},
        {"x + 2j/0", "column 7: div((0+2j), 0) divides by zero"},
        {"x*2**127", "column 4: pow(2, 127) is an integer of more than 127 bits; write one of the "
                     "numbers with a decimal point"},
        {"x*(10**38*10)",
         "column 10: mul(100000000000000000000000000000000000000, 10) is an integer "
         "of more"},
        {"x*(1 << 127)", "column 6: bitwise_left_shift(1, 127) is an integer of more"},
        {"x*(1 << -1)", "column 6: bitwise_left_shift(1, -1) shifts by a negative number"},
        {"x*10.0**400", "column 7: pow(10, 400) is beyond f64"},
        {"170141183460469231731687303715884105728", "column 1: expected an integer of at most 127 "
                                                    "bits; write 170141183460469231731687303715884"
                                                    "105728.0 for an f64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_expression *e;
        collet_error err;
        assert_error(collet_expression_parse(&e, cases[i].text, &err), COLLET_INVALID, err,
                     cases[i].part);
    }
}

/* If these literals were first converted to i64 or f64, they would be rounded twice or truncated. */
TEST(numbers_are_rounded_once)
{
    static const struct {
        const char *text;
        collet_dtype dtype;
        double value;
    } cases[] = {
        {"f32(x) * 9007199791611905", COLLET_F32, 0x1.000002p53}, /* 2^53 + 2^29 + 1 */
        {"f32(x) + 2**100", COLLET_F32, 0x1p100},
        {"f32(f16(x) * 2049)", COLLET_F32, 2048},
        {"f32(f16(x) * 2051)", COLLET_F32, 2052},
        {"f32(bf16(x) * (2**60 + 2**52 + 1))", COLLET_F32, 0x1.02p60},
        {"f32(bf16(x) * (2**60 + 2**52))", COLLET_F32, 0x1p60},
        {"f32(bf16(x) * -(2**60 + 2**52 + 1))", COLLET_F32, -0x1.02p60},
        {"u64(x) * (2**64 - 1)", COLLET_U64, 0x1p64},
        {"u64(x) + 9223372036854775808", COLLET_U64, 0x1p63},
        {"i64(x) + -9223372036854775808", COLLET_I64, 1 - 0x1p63},
        {"-9223372036854775808", COLLET_I64, -0x1p63},
    };
    const collet_array *x = array_of(COLLET_F64, &(double){1.0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(collet_expression) *e = parsed(cases[i].text);
        collet_scalar made;
        collet_status status =
            collet_expression_input_count(e) ? evaluate(e, &x, NULL, &made, NULL) : COLLET_OK;
        if (!collet_expression_input_count(e))
            status = evaluate(e, NULL, NULL, &made, NULL);
        assert_ok(cx, status);
        if (made.dtype != cases[i].dtype || real_of(&made) != cases[i].value)
            fail_msg("%s is %.17g, %s", cases[i].text, real_of(&made),
                     collet_dtype_name(made.dtype));
    }
    collet_array_destroy((collet_array *)x);
}

/* ---- Weak results ------------------------------------------------------------------------ */

/* Texts with x and k: x is an array of one element with the value 5, k a weak scalar. */
TEST(results_of_numbers)
{
    static const struct {
        const char *text;
        int64_t k;
        collet_dtype x, made;
        double value;     /* NAN: an error */
        const char *part; /* a part of the error's text */
    } cases[] = {
        {"x + where(x > 4, 1, 2)", 0, COLLET_U8, COLLET_U8, 6, ""},
        {"x + where(x > 4, -1, 1)", 0, COLLET_U8, 0, NAN, "the constant -1 does not fit u8"},
        {"x + where(x > 4, 1, -1)", 0, COLLET_U32, 0, NAN, "the constant -1 does not fit u32"},
        {"x + where(x > 4, 1, -1)", 0, COLLET_U64, 0, NAN, "the constant -1 does not fit u64"},
        {"x + where(x > 4, 1, -1)", 0, COLLET_I8, COLLET_I8, 6, ""},
        {"x + where(x > 4, 3000000000, 0)", 0, COLLET_I32, 0, NAN, "constant 3000000000 does not"},
        {"x * where(x > 4, 2**70, 0)", 0, COLLET_F32, COLLET_F32, 5 * 0x1p70, ""},
        {"x * where(x > 4, 1, 0.5)", 0, COLLET_F32, COLLET_F32, 5, ""},
        {"x + where(x > 4, 0.5, 1)", 0, COLLET_I32, COLLET_F64, 5.5, ""},
        {"x + where(x > 4, k, 1)", 255, COLLET_U8, COLLET_U8, 4, ""},
        {"x + where(x > 4, k, 1)", 256, COLLET_U8, 0, NAN,
         "the number 256 for input 1, k does not"},
        {"where(x > 4, 1, 2)", 0, COLLET_U8, COLLET_I64, 1, ""},
        {"x + 2*where(x > 4, 1, 2)", 0, COLLET_U8, COLLET_U8, 7, ""},
        {"x + -where(x > 4, 1, 2)", 0, COLLET_U8, 0, NAN, "neg can give -2, which does not fit u8"},
        {"x + -where(x > 4, 1, 2)", 0, COLLET_F32, COLLET_F32, 4, ""},
        {"x + where(x > 4, 100, 2)*k", 2, COLLET_U8, COLLET_U8, 205, ""},
        {"x + where(x > 4, 100, 2)*k", 3, COLLET_U8, 0, NAN,
         "mul can give 300, which does not fit"},
        {"x * (where(x > 4, 2**40, 2)*2**40)", 0, COLLET_F64, 0, NAN,
         "mul can give 1208925819614629174706176, which does not fit i64"},
        {"x + abs(where(x > 4, -3, 2))", 0, COLLET_U8, COLLET_U8, 8, ""},
        {"x + square(where(x > 4, -3, 2))", 0, COLLET_U8, COLLET_U8, 14, ""},
        {"x + minimum(where(x > 4, 300, 2), 7)", 0, COLLET_U8, COLLET_U8, 12, ""},
        {"x + clip(where(x > 4, 300, -2), 0, 9)", 0, COLLET_U8, COLLET_U8, 14, ""},
        {"x + where(x > 4, 6, 8)//4", 0, COLLET_U8, COLLET_I64, 6, ""}, /* no longer weak */
        {"x + where(x > 4, where(x > 5, 300, 2), 1)", 0, COLLET_U8, 0, NAN,
         "constant 300 does not"},
        {"x == where(x > 4, 261, 5)", 0, COLLET_U8, COLLET_BOOL, 0, ""},
        {"where(x > 4, -1, 5) < x", 0, COLLET_U32, COLLET_BOOL, 1, ""},
        {"x == where(x > 4, -1, 5)", 0, COLLET_U64, 0, NAN, "the constant -1 does not fit u64"},
        {"x + sign(k)", 3, COLLET_U8, COLLET_U8, 6, ""},
        {"x + sign(k)", -3, COLLET_U8, 0, NAN, "the constant -1 does not fit u8"},
        {"x + -k", -3, COLLET_U8, COLLET_U8, 8, ""},
        {"x + -k", 3, COLLET_U8, 0, NAN, "the constant -3 does not fit u8"},
        {"x + -k", 3, COLLET_F32, COLLET_F32, 2, ""},
        {"x + k*k", 16, COLLET_U8, 0, NAN, "the constant 256 does not fit u8"},
        {"x + (k*k - 255)", 16, COLLET_U8, COLLET_U8, 6, ""},
        {"x * k*k*k*k", INT64_MAX, COLLET_F64, COLLET_F64, 5 * 0x1p252, ""},
        {"x * (k*k)", (int64_t)1 << 60, COLLET_F32, COLLET_F32, 5 * 0x1p120, ""},
        {"x * (k*k*k)", INT64_MAX, COLLET_F64, 0, NAN, "is an integer of more than 127 bits"},
        {"x + k//0", 1, COLLET_F64, 0, NAN, "floor_divide(1, 0) divides by zero"},
        {"x + 2**k", -1, COLLET_F64, 0, NAN, "pow(2, -1) is not an integer"},
        {"x + 2**k", 7, COLLET_U8, COLLET_U8, 133, ""},
        {"x + 2**k", 8, COLLET_U8, 0, NAN, "the constant 256 does not fit u8"},
        {"x + 1/k", 0, COLLET_F64, COLLET_F64, INFINITY, ""},
        {"x + k/2", 1, COLLET_F32, COLLET_F32, 5.5, ""},
        {"x * (k < 3)", 2, COLLET_U8, COLLET_U8, 5, ""},
        {"x + ((k < 3) + 1)", 2, COLLET_U8, COLLET_U8, 7, ""},
        {"where(k > 2, x, 1)", 2, COLLET_U8, COLLET_U8, 1, ""},
        {"x + where(k > 2, -1, 1)", 2, COLLET_U8, COLLET_U8, 6, ""},
        {"x + (k & 7 | 16 ^ 3)", 9, COLLET_U8, COLLET_U8, 24, ""},
        {"x + (k << 4 >> 2)", 5, COLLET_U8, COLLET_U8, 25, ""},
        {"x + floor(k)", 300, COLLET_U8, 0, NAN, "the number 300 for input 1, k does not fit u8"},
        {"x + u8(k)", 256, COLLET_U8, 0, NAN, "the number 256 for input 1, k does not fit u8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const collet_scalar five = scalar_of(cases[i].x, 5);
        OWNED(collet_array) *x = array_of(cases[i].x, five.value.bytes);
        OWNED(collet_expression) *e = parsed(cases[i].text);
        int k = !strcmp(collet_expression_input_name(e, 0), "x"); /* the place of k */
        const collet_array *ins[2] = {k ? x : NULL, k ? NULL : x};
        collet_scalar numbers[2], made = {.dtype = 0};
        collet_error err = {0};
        numbers[k] = (collet_scalar){.dtype = COLLET_I64, .value.i64 = cases[i].k};
        collet_status status = evaluate(e, ins, numbers, &made, &err);
        if (isnan(cases[i].value) ? status == COLLET_OK || !strstr(err.text, cases[i].part)
                                  : status != COLLET_OK || real_of(&made) != cases[i].value ||
                                        made.dtype != cases[i].made)
            fail_msg("%s with %lld is %g, %s: %s", cases[i].text, (long long)cases[i].k,
                     real_of(&made), collet_dtype_name(made.dtype), err.text);
    }
}

/* ---- Comparisons ------------------------------------------------------------------------- */

__extension__ typedef __int128 exact;

static const collet_dtype integers[] = {COLLET_I8,  COLLET_U8,  COLLET_I16, COLLET_U16,
                                        COLLET_I32, COLLET_U32, COLLET_I64, COLLET_U64};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static int holds(const char *sign, exact a, exact b)
{
    return !strcmp(sign, "<")    ? a < b
           : !strcmp(sign, "<=") ? a <= b
           : !strcmp(sign, ">")  ? a > b
           : !strcmp(sign, ">=") ? a >= b
           : !strcmp(sign, "==") ? a == b
                                 : a != b;
}

static exact exact_of(const collet_scalar *s)
{
    switch (s->dtype) {
#define EXACT(NAME, name, type)                                                                    \
    case COLLET_##NAME:                                                                            \
        return s->value.name;
        INTEGERS(EXACT)
    default:
        return 0;
    }
}

/* Compares x with the number as a literal in the text, as a changeable constant and as an input. */
static void compare(const char *sign, const collet_array *x, exact element,
                    const collet_scalar *number, collet_expression *changing, uint32_t constant)
{
    char texts[2][64];
    exact n = exact_of(number);
    const unsigned long long size = n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n;
    snprintf(texts[0], sizeof texts[0], "x %s %s%llu", sign, n < 0 ? "-" : "", size);
    snprintf(texts[1], sizeof texts[1], "%s%llu %s x", n < 0 ? "-" : "", size, sign);
    for (int side = 0; side < 2; side++) {
        collet_scalar made[2];
        int right = side ? holds(sign, n, element) : holds(sign, element, n);
        collet_expression *e = parsed(texts[side]), *with;
        assert_ok(cx, evaluate(e, &x, NULL, &made[0], NULL));
        if (made[0].value.b8 != right)
            fail_msg("%s with %lld is %d", texts[side], (long long)element, made[0].value.b8);
        collet_expression_destroy(e);
        char text[16];
        snprintf(text, sizeof text, side ? "k %s x" : "x %s k", sign);
        with = parsed(text);
        const collet_array *ins[2] = {side ? NULL : x, side ? x : NULL};
        collet_scalar numbers[2] = {*number, *number};
        assert_ok(cx, evaluate(with, ins, numbers, &made[1], NULL));
        if (made[1].value.b8 != right)
            fail_msg("%s with a number for k and %lld is %d", texts[side], (long long)element,
                     made[1].value.b8);
        collet_expression_destroy(with);
    }
    collet_scalar made;
    assert_int_equal(collet_expression_set_constant(changing, constant, number, NULL), COLLET_OK);
    assert_ok(cx, evaluate(changing, &x, NULL, &made, NULL));
    assert_int_equal(made.value.b8, holds(sign, element, n));
}

TEST(comparisons)
{
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    static const uint32_t ops[] = {COLLET_OP_LESS,    COLLET_OP_LESS_EQUAL,
                                   COLLET_OP_GREATER, COLLET_OP_GREATER_EQUAL,
                                   COLLET_OP_EQUAL,   COLLET_OP_NOT_EQUAL};
    static const int64_t edges[] = {INT8_MIN,   INT8_MAX,   UINT8_MAX, INT16_MIN,
                                    INT16_MAX,  UINT16_MAX, INT32_MIN, INT32_MAX,
                                    UINT32_MAX, INT64_MIN,  INT64_MAX, 0};
    static const int64_t limits[][3] = {
        {INT8_MIN, INT8_MAX},   {0, UINT8_MAX},  {INT16_MIN, INT16_MAX}, {0, UINT16_MAX},
        {INT32_MIN, INT32_MAX}, {0, UINT32_MAX}, {INT64_MIN, INT64_MAX}, {7, -1}};
    for (size_t s = 0; s < COUNT(signs); s++)
        for (size_t d = 0; d < COUNT(integers); d++) {
            OWNED(collet_expression) *e = NULL;
            uint32_t x, k, y;
            const collet_scalar one = {.dtype = COLLET_I64, .value.i64 = 1};
            assert_int_equal(collet_expression_create(&e, NULL), COLLET_OK);
            assert_int_equal(collet_expression_input(e, &x, "x", 0, NULL), COLLET_OK);
            assert_int_equal(collet_expression_constant(e, &k, &one, 1, NULL), COLLET_OK);
            assert_int_equal(collet_expression_apply(e, &y, ops[s], (uint32_t[]){x, k}, 2, NULL),
                             COLLET_OK);
            assert_int_equal(collet_expression_output(e, y, NULL), COLLET_OK);
            for (size_t i = 0; i < 3; i++) {
                collet_scalar element = scalar_of(integers[d], limits[d][i]);
                OWNED(collet_array) *a = array_of(integers[d], element.value.bytes);
                for (size_t n = 0; n < 3 * COUNT(edges); n++) {
                    exact number = edges[n / 3] + (exact)(n % 3) - 1;
                    collet_scalar given = {.dtype = number > INT64_MAX ? COLLET_U64 : COLLET_I64};
                    if (number < INT64_MIN)
                        continue;
                    given.value.u64 = (uint64_t)number;
                    compare(signs[s], a, exact_of(&element), &given, e, k);
                }
            }
        }
}

/* ---- Expressions by calls, derivatives --------------------------------------------------- */

TEST(numbers_by_calls)
{
    OWNED(collet_expression) *e = NULL;
    uint32_t x, big, one, sum, product, y;
    const collet_scalar number = {.dtype = COLLET_U64, .value.u64 = UINT64_MAX};
    const collet_scalar unit = {.dtype = COLLET_I64, .value.i64 = 1}, none = {.dtype = COLLET_I64};
    const collet_array *in = array_of(COLLET_F64, &(double){1.0});
    collet_scalar made;
    collet_error err;
    assert_int_equal(collet_expression_create(&e, NULL), COLLET_OK);
    assert_int_equal(collet_expression_input(e, &x, NULL, 0, NULL), COLLET_OK);
    assert_int_equal(collet_expression_literal(e, &big, &number, NULL), COLLET_OK);
    assert_int_equal(collet_expression_literal(e, &one, &unit, NULL), COLLET_OK);
    assert_int_equal(
        collet_expression_apply(e, &sum, COLLET_OP_ADD, (uint32_t[]){big, one}, 2, NULL),
        COLLET_OK);
    assert_int_equal(
        collet_expression_apply(e, &product, COLLET_OP_MUL, (uint32_t[]){x, sum}, 2, NULL),
        COLLET_OK);
    assert_int_equal(collet_expression_literal(e, &y, &none, NULL), COLLET_OK);
    assert_error(collet_expression_apply(e, &y, COLLET_OP_DIV, (uint32_t[]){one, y}, 2, &err),
                 COLLET_INVALID, err, "collet_expression_apply: div(1, 0) divides by zero");
    assert_int_equal(collet_expression_output(e, product, NULL), COLLET_OK);
    assert_ok(cx, evaluate(e, &in, NULL, &made, NULL));
    assert_true(made.value.f64 == 0x1p64);
    collet_array_destroy((collet_array *)in);
}

/* The derivative with respect to the first input, which is 2.0. */
TEST(derivatives)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"x*10**20", 1e20},
        {"x*2**64*2**60", 0x1p124},
        {"(x*10**20)*10**20", 1e40}, /* as two products */
        {"x**(2**64)", INFINITY},
        {"x**9007199254740993*0", 0},
        {"x/0", INFINITY},
        {"x/10**20", 1e-20},
        {"x*where(x > 1, 2**64, 1)", 0x1p64},
    };
    const collet_array *in = array_of(COLLET_F64, &(double){2.0});
    for (size_t i = 0; i < COUNT(cases); i++) {
        OWNED(collet_expression) *e = parsed(cases[i].text), *g = NULL;
        collet_scalar made;
        assert_int_equal(collet_expression_gradient(e, &g, 0, 0, NULL), COLLET_OK);
        collet_error err = {0};
        if (evaluate(g, &in, NULL, &made, &err) != COLLET_OK)
            fail_msg("%s: %s", cases[i].text, err.text);
        if (made.value.f64 != cases[i].value)
            fail_msg("the derivative of %s is %.17g", cases[i].text, made.value.f64);
    }
    collet_expression *e = parsed("x*k*k*k*k"), *g;
    const collet_array *ins[] = {in, NULL};
    collet_scalar numbers[2];
    numbers[1] = scalar_of(COLLET_I64, INT64_MAX);
    collet_scalar made;
    assert_int_equal(collet_expression_gradient(e, &g, 0, 0, NULL), COLLET_OK);
    assert_ok(cx, evaluate(g, ins, numbers, &made, NULL));
    assert_true(made.value.f64 == 0x1p252);
    collet_expression_destroy(e);
    collet_expression_destroy(g);
    collet_array_destroy((collet_array *)in);
}

/* A number that does not fit leaves all outputs unchanged, also if the expression is split into
 * several programs. */
TEST(numbers_are_checked_first)
{
    static const char *const texts[] = {"a+b; a+b+k", "a+b; a+b+c+d+e+f+g+h+i+j+k"};
    for (size_t t = 0; t < COUNT(texts); t++) {
        collet_expression *e = parsed(texts[t]);
        uint32_t inputs = collet_expression_input_count(e);
        const collet_array *ins[16] = {NULL};
        collet_scalar numbers[16];
        collet_array *outs[2], *x = array_of(COLLET_U8, &(uint8_t){1});
        for (int i = 0; i < 2; i++)
            outs[i] = array_of(COLLET_U8, &(uint8_t){7});
        for (uint32_t i = 0; i + 1 < inputs; i++)
            ins[i] = x;
        numbers[inputs - 1] = (collet_scalar){.dtype = COLLET_I64, .value.i64 = 300};
        assert_status(cx, evaluate_in_order(cx, e, outs, ins, numbers), COLLET_DTYPE,
                      "the number 300 for input");
        for (int i = 0; i < 2; i++) {
            uint8_t got;
            assert_ok(cx, collet_array_read(cx, outs[i], &got, 1));
            assert_int_equal(got, 7);
            collet_array_destroy(outs[i]);
        }
        collet_array_destroy(x);
        collet_expression_destroy(e);
    }
}

/* Nested where() of numbers, each used twice: the time does not grow exponentially. */
TEST(nested_selections)
{
    OWNED(collet_expression) *e = NULL;
    const collet_scalar one = {.dtype = COLLET_I64, .value.i64 = 1};
    const collet_array *in = array_of(COLLET_F32, &(float){1});
    uint32_t x, condition, zero, w, next;
    collet_scalar made;
    assert_int_equal(collet_expression_create(&e, NULL), COLLET_OK);
    assert_int_equal(collet_expression_input(e, &x, NULL, 0, NULL), COLLET_OK);
    assert_int_equal(collet_expression_literal(e, &zero, &one, NULL), COLLET_OK);
    assert_int_equal(
        collet_expression_apply(e, &condition, COLLET_OP_EQUAL, (uint32_t[]){x, zero}, 2, NULL),
        COLLET_OK);
    w = zero;
    for (int i = 0; i < 400; i++) {
        const uint32_t add[] = {w, zero};
        assert_int_equal(collet_expression_apply(e, &next, COLLET_OP_ADD, add, 2, NULL), COLLET_OK);
        const uint32_t select[] = {condition, w, next};
        assert_int_equal(collet_expression_apply(e, &w, COLLET_OP_WHERE, select, 3, NULL),
                         COLLET_OK);
    }
    assert_int_equal(collet_expression_apply(e, &x, COLLET_OP_MUL, (uint32_t[]){x, w}, 2, NULL),
                     COLLET_OK);
    assert_int_equal(collet_expression_output(e, x, NULL), COLLET_OK);
    assert_ok(cx, evaluate(e, &in, NULL, &made, NULL));
    assert_true(made.dtype == COLLET_F32 && made.value.f32 == 1);
    collet_array_destroy((collet_array *)in);
}

TEST_GROUP(set_up_scalar, tear_down)
