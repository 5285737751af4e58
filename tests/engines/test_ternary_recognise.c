/* SPDX-License-Identifier: Apache-2.0 */
/* Every quantizing function keeps the exact values of weights that are already ternary. Suspicious
 * results give a warning. */

#include "common/fixture.h"
#include "engines/ternary_engine.h"

#define ROWS 5
#define COLUMNS 300
#define S 0.0243f /* a scale with the magnitude of scales in the BitNet models */

static const collet_ternary_quantize_params absmean = {.struct_size = sizeof absmean,
                                                       .mode = COLLET_TERNARY_ABSMEAN};

/* Converts f32 values to another floating dtype, in which they are exact. */
static collet_array *converted(collet_dtype dtype, int32_t ndim, const int64_t *shape,
                               const float *values)
{
    collet_array *from = array_of(cx, COLLET_F32, ndim, shape, values);
    collet_array *to = array_for(cx, dtype, ndim, shape);
    assert_ok(cx, collet_op_copy(cx, to, from));
    collet_array_destroy(from);
    return to;
}

static int code_at(int64_t r, int64_t c)
{
    return r == 1 ? 0 : r == 2 ? -1 : (int)((r * 7 + c * 5 + c / 11) % 3) - 1;
}

/* Makes ternary values with the scale s for all rows or, if `each` is 1, a different scale for each
 * row. The scale of a row of zeros is 1. Some zeros are -0. */
static void make(float *values, float *scale, int each, float s)
{
    for (int64_t r = 0; r < ROWS; r++) {
        scale[r] = r == 1 ? 1 : each ? s * (float)(r + 1) : s;
        for (int64_t c = 0; c < COLUMNS; c++) {
            int code = code_at(r, c);
            values[r * COLUMNS + c] = code ? (float)code * scale[r] : c % 2 ? -0.0f : 0.0f;
        }
    }
}

static void assert_kept(const collet_ternary_weights *w, const float *scale)
{
    int8_t codes[ROWS * COLUMNS];
    OWNED(collet_array) *expected = NULL,
                        *bytes = array_for(
                            cx, COLLET_U8, 2,
                            SHAPE(ROWS, collet_ternary_bytes(COLLET_TERNARY_T2, COLUMNS)));
    OWNED(collet_array) *info = array_for(cx, COLLET_I32, 0, NULL);
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t c = 0; c < COLUMNS; c++)
            codes[r * COLUMNS + c] = (int8_t)code_at(r, c);
    expected = array_of(cx, COLLET_I8, 2, SHAPE(ROWS, COLUMNS), codes);
    assert_ok(cx, collet_op_ternary_pack(cx, bytes, info, expected, NULL, COLLET_TERNARY_T2));
    assert_same(bytes, collet_ternary_weights_bytes(w));
    if (scale)
        assert_floats(cx, collet_ternary_weights_scale(w), scale);
    else
        assert_null(collet_ternary_weights_scale(w));
}

/* ---- Kept exactly ---------------------------------------------------------------------------- */

TEST(arrays)
{
    static const collet_dtype dtypes[] = {COLLET_F32, COLLET_F64, COLLET_F16, COLLET_BF16};
    float values[ROWS * COLUMNS], scale[ROWS];
    for (int i = 0; i < 16; i++) {
        /* 2^-5 and its small multiples are exact in each dtype. */
        make(values, scale, i & 4, i & 3 ? 0x1p-5f : S);
        OWNED(collet_array) *array = converted(dtypes[i & 3], 2, SHAPE(ROWS, COLUMNS), values);
        OWNED(collet_ternary_weights) *w = NULL;
        assert_done(collet_ternary_weights_quantize(cx, &w, array, i & 8 ? &absmean : NULL, NULL,
                                                    &failure));
        assert_kept(w, scale);
    }
}

TEST(views)
{
    float values[ROWS * COLUMNS], turned[ROWS * COLUMNS], scale[ROWS];
    OWNED(collet_ternary_weights) *w = NULL;
    OWNED(collet_array) *view = NULL;
    make(values, scale, 1, S);
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t c = 0; c < COLUMNS; c++)
            turned[c * ROWS + r] = values[r * COLUMNS + c];
    OWNED(collet_array) *array = array_of(cx, COLLET_F32, 2, SHAPE(COLUMNS, ROWS), turned);
    assert_ok(cx, collet_array_permute(cx, array, &view, (const int32_t[]){1, 0}));
    assert_done(collet_ternary_weights_quantize(cx, &w, view, NULL, NULL, &failure));
    assert_kept(w, scale);
}

/* -1, 0 and 1 need no scale. */
TEST(scales_of_one)
{
    float values[ROWS * COLUMNS], scale[ROWS];
    OWNED(collet_ternary_weights) *w = NULL;
    make(values, scale, 0, 1);
    OWNED(collet_array) *array = array_of(cx, COLLET_F32, 2, SHAPE(ROWS, COLUMNS), values);
    assert_done(collet_ternary_weights_quantize(cx, &w, array, NULL, NULL, &failure));
    assert_kept(w, NULL);
}

/* The scales of arrays with any number of axes. */
TEST(other_axes)
{
    float values[ROWS * COLUMNS], scale[ROWS];
    collet_array *found = NULL;
    make(values, scale, 1, S);
    OWNED(collet_array) *array = array_of(cx, COLLET_F32, 3, SHAPE(1, ROWS, COLUMNS), values);
    assert_done(collet_ternary_recognise(cx, &found, array, NULL, &failure));
    assert_int_equal(collet_array_ndim(found), 2);
    assert_floats(cx, found, scale);
    collet_array_destroy(found);
    collet_array_destroy(array);
    array = array_of(cx, COLLET_F32, 1, SHAPE(COLUMNS), values + 3 * COLUMNS);
    assert_done(collet_ternary_recognise(cx, &found, array, NULL, &failure));
    assert_int_equal(collet_array_ndim(found), 0);
    assert_floats(cx, found, scale + 3);
    collet_array_destroy(found);
    collet_array_destroy(array);
    array = array_for(cx, COLLET_F32, 2, SHAPE(0, 7));
    assert_done(collet_ternary_recognise(cx, &found, array, NULL, &failure));
    assert_null(found);
    collet_array_destroy(array);
    array = array_for(cx, COLLET_I8, 2, SHAPE(2, 7));
    assert_outcome(collet_ternary_recognise(cx, &found, array, NULL, &failure), COLLET_DTYPE);
}

/* ---- Not ternary ----------------------------------------------------------------------------- */

/* Values that are not ternary: a second magnitude, even if it differs only in the last bit and only
 * in the last element; infinity and NaN. */
TEST(others)
{
    const float odd[] = {0.5f, nextafterf(S, 1), -nextafterf(S, 0), INFINITY, -NAN};
    float values[ROWS * COLUMNS], scale[ROWS];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        collet_array *found = NULL;
        OWNED(collet_ternary_weights) *w = NULL, *expected = NULL;
        make(values, scale, 0, S);
        values[ROWS * COLUMNS - 1] = odd[i];
        OWNED(collet_array) *array = array_of(cx, COLLET_F32, 2, SHAPE(ROWS, COLUMNS), values);
        assert_done(collet_ternary_recognise(cx, &found, array, NULL, &failure));
        assert_null(found);
        collet_status status = collet_ternary_weights_quantize(cx, &w, array, NULL, NULL, &failure);
        if (isfinite(odd[i])) {
            const collet_ternary_quantize_params standard = {.struct_size = sizeof standard,
                                                             .threshold = 0.3f};
            assert_done(status);
            assert_done(
                collet_ternary_weights_quantize(cx, &expected, array, &standard, NULL, &failure));
            assert_same(collet_ternary_weights_bytes(expected), collet_ternary_weights_bytes(w));
            assert_null(collet_ternary_weights_scale(w));
        } else {
            assert_outcome(status, COLLET_INVALID, "1 weights are not finite");
        }
    }
}

/* Rows whose only nonzero magnitude is infinite or NaN. */
TEST(not_finite)
{
    const float numbers[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 12; i++) {
        static const collet_dtype dtypes[] = {COLLET_F32, COLLET_F64, COLLET_F16, COLLET_BF16};
        const float values[] = {0, numbers[i % 3]};
        collet_array *found = NULL, *array = converted(dtypes[i / 3], 2, SHAPE(1, 2), values);
        assert_done(collet_ternary_recognise(cx, &found, array, NULL, &failure));
        assert_null(found);
        collet_array_destroy(array);
    }
}

/* A scale that f32 cannot represent is refused, not rounded to 0 or infinity. */
TEST(scales_beyond_f32)
{
    static const struct {
        double s;
        const char *text;
    } cases[] = {{1e300, "the scale of row 1 is too large"},
                 {1e-60, "the scale of row 1 is too small"}};
    for (int i = 0; i < 4; i++) {
        double s = cases[i / 2].s, values[] = {0, 0, 0, s, -s, 0};
        collet_ternary_weights *w = NULL;
        if (i & 1)
            values[5] = s * 0.75; /* not ternary: the scale is the mean */
        collet_array *array = array_of(cx, COLLET_F64, 2, SHAPE(2, 3), values);
        assert_outcome(collet_ternary_weights_quantize(cx, &w, array, &absmean, NULL, &failure),
                       COLLET_INVALID, cases[i / 2].text);
        assert_null(w);
        collet_array_destroy(array);
    }
}

/* ---- Warnings -------------------------------------------------------------------------------- */

static char warned[COLLET_ERROR_TEXT];

static void note_warning(void *user, const char *text)
{
    assert_ptr_equal(user, warned);
    assert_int_equal(warned[0], 0);
    snprintf(warned, sizeof warned, "%s", text);
}

TEST(warnings)
{
    const collet_ternary_monitor monitor = {
        .struct_size = sizeof monitor, .user = warned, .warn = note_warning};
    const collet_ternary_quantize_params given = {.struct_size = sizeof given, .threshold = 0.5f};
    static const struct {
        int zeros, minus; /* how many of the 100 weights are 0 and -1; the others are 1 */
        const char *text;
    } cases[] = {
        {100, 0, "weights: 100 % of the 100 codes are 0 with the threshold 0.5; try absmean"},
        {91, 4, "weights: 91 % of the 100 codes are 0"},
        {90, 4, ""},
        {0, 100, "weights: all 100 codes are -1"},
        {0, 0, "weights: all 100 codes are 1"},
        {0, 1, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(collet_ternary_weights) *w = NULL;
        float values[100];
        for (int k = 0; k < 100; k++)
            values[k] = k < cases[i].zeros ? 0.125f : k < cases[i].zeros + cases[i].minus ? -2 : 1;
        OWNED(collet_array) *array = array_of(cx, COLLET_F32, 2, SHAPE(10, 10), values);
        warned[0] = '\0';
        assert_done(collet_ternary_weights_quantize(cx, &w, array, &given, &monitor, &failure));
        if (*cases[i].text)
            assert_contains(warned, cases[i].text);
        else
            assert_string_equal(warned, "");
    }
}

TEST_GROUP(set_up_scalar, tear_down)
