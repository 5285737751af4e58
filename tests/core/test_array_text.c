/* SPDX-License-Identifier: Apache-2.0 */
/* Convenience functions: constant arrays, single elements of an axis, arrays as texts. */

#include "common/fixture.h"

static void assert_reads(const collet_array *a, const char *expected)
{
    char text[4096];
    assert_ok(cx, collet_array_text(cx, a, text, sizeof text));
    assert_string_equal(text, expected);
}

TEST(constant_arrays)
{
    collet_array *a, *none = NULL;
    assert_ok(cx, collet_array_full(cx, &a, COLLET_I32, 2, (const int64_t[]){2, 3}, -7));
    assert_reads(a, "[[-7, -7, -7],\n [-7, -7, -7]]");
    collet_array_destroy(a);
    assert_status(cx, collet_array_full(cx, &none, 99, 0, NULL, 0), COLLET_DTYPE);
    assert_status(cx, collet_array_full(cx, NULL, COLLET_F32, 0, NULL, 0), COLLET_INVALID);
    assert_null(none);
}

TEST(elements_of_an_axis)
{
    static const int16_t numbers[] = {1, 2, 3, 4, 5, 6};
    collet_array *a, *last, *column, *one, *none = NULL;
    assert_ok(cx, collet_array_from(cx, &a, COLLET_I16, 2, (const int64_t[]){2, 3}, numbers));
    assert_ok(cx, collet_array_select(cx, a, &last, 0, -1));
    assert_reads(last, "[4, 5, 6]");
    assert_ok(cx, collet_array_select(cx, a, &column, -1, 1));
    assert_reads(column, "[2, 5]");
    assert_ok(cx, collet_array_select(cx, column, &one, 0, 1));
    assert_int_equal(collet_array_ndim(one), 0);
    assert_reads(one, "5");
    assert_status(cx, collet_array_select(cx, a, &none, 0, 2), COLLET_SHAPE,
                  "element 2 is outside of the 2 elements of axis 0");
    assert_status(cx, collet_array_select(cx, a, &none, 0, -3), COLLET_SHAPE);
    assert_status(cx, collet_array_select(cx, one, &none, 0, 0), COLLET_INVALID);
    assert_null(none);
    collet_array_destroy(a);
    collet_array_destroy(last);
    collet_array_destroy(column);
    collet_array_destroy(one);
}

TEST(texts)
{
    static const collet_c64 z[] = {{1, -2.5f}, {0.1f, 1e10f}};
    static const uint8_t b[] = {0, 2};
    char text[8];
    collet_array *a, *cube;
    assert_ok(cx, collet_array_from(cx, &a, COLLET_C64, 1, (const int64_t[]){2}, z));
    assert_reads(a, "[1-2.5j, 0.1+1e+10j]");
    assert_ok(cx, collet_array_text(cx, a, text, sizeof text));
    assert_string_equal(text, "[1-2.5j");
    assert_ok(cx, collet_array_text(cx, a, text, 3));
    assert_string_equal(text, "[1");
    assert_status(cx, collet_array_text(cx, a, text, 0), COLLET_INVALID);
    assert_status(cx, collet_array_text(cx, NULL, text, 8), COLLET_INVALID);
    collet_array_destroy(a);
    assert_ok(cx, collet_array_from(cx, &a, COLLET_BOOL, 1, (const int64_t[]){2}, b));
    assert_reads(a, "[False, True]");
    collet_array_destroy(a);
    assert_ok(cx, collet_array_full(cx, &a, COLLET_F16, 2, (const int64_t[]){0, 3}, 0));
    assert_reads(a, "[]");
    collet_array_destroy(a);
    assert_ok(cx, collet_array_full(cx, &cube, COLLET_BF16, 3, (const int64_t[]){2, 2, 1}, .5));
    assert_reads(cube, "[[[0.5],\n  [0.5]],\n\n [[0.5],\n  [0.5]]]");
    collet_array_destroy(cube);
    assert_ok(cx, collet_array_full(cx, &a, COLLET_U8, 1, (const int64_t[]){1001}, 255));
    assert_reads(a, "[255, 255, 255, ..., 255, 255, 255]");
    collet_array_destroy(a);
}

TEST_GROUP(set_up_scalar, tear_down)
