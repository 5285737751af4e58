/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: operands that are absent, are empty or overlap; axes; values that are converted. */

#include "common/fixture.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN

static int set_up(void **state)
{
    open_shared(BOTH, NULL, "cpu_scalar");
    return 0;
}

TEST_WITH(an_absent_operand_of_an_elementwise_op, set_up, tear_down)
{
    uint32_t plus = 0;
    const int64_t two[] = {2, 2};
    assert_ok(cx, collet_set_backend(cx, "remote"));
    assert_int_equal(collet_ops_find(rt, &plus, "remote.plus", NULL), COLLET_OK);
    OWNED(collet_array) *flat = floats(cx, 4, 1), *a = NULL, *t = NULL, *c = NULL;
    assert_ok(cx, collet_array_reshape(cx, flat, &a, 2, two));
    assert_ok(cx, collet_array_permute(cx, a, &t, NULL));
    assert_ok(cx, collet_array_create(cx, &c, COLLET_F32, 2, two));
    const collet_array *one[] = {t, NULL}, *both[] = {t, a};
    assert_ok(cx, collet_call(cx, plus, &c, one, NULL));
    const float transposed[] = {1, 3, 2, 4}, sums[] = {2, 5, 5, 8};
    assert_floats(cx, c, transposed);
    assert_ok(cx, collet_call(cx, plus, &c, both, NULL));
    assert_floats(cx, c, sums);
    collet_array *nothing[] = {NULL};
    assert_status(cx, collet_call(cx, plus, nothing, both, NULL), COLLET_INVALID);
}

TEST_WITH(sums_of_odd_axes, set_up, tear_down)
{
    const int32_t far[] = {-1, 77}, zero[] = {0};
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 1);
    assert_status(cx, collet_op_sum(cx, c, NULL, far, 2, 0), COLLET_INVALID);
    assert_status(cx, collet_op_sum(cx, c, a, far, 2, 0), COLLET_INVALID);
    assert_status(cx, collet_op_sum(cx, c, a, NULL, 1, 1), COLLET_INVALID);
    assert_status(cx, collet_op_sum(cx, c, a, zero, -1, 1), COLLET_INVALID);
    assert_ok(cx, collet_op_sum(cx, c, a, zero, 1, 1));
}

/* Columns of one table do not overlap, although their byte ranges do. */
TEST_WITH(columns_of_a_table_do_not_overlap, set_up, tear_down)
{
    const int64_t table_shape[] = {4, 6};
    double zeros[24] = {0}, vectors[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1}, z[] = {0, 0, 1},
           got[24];
    const int64_t vector_shape[] = {4, 3}, three = 3;
    OWNED(collet_array) *table = NULL, *left = NULL, *right = NULL, *shifted = NULL, *v = NULL,
                        *axis = NULL;
    assert_ok(cx, collet_array_from(cx, &table, COLLET_F64, 2, table_shape, zeros));
    assert_ok(cx, collet_array_from(cx, &v, COLLET_F64, 2, vector_shape, vectors));
    assert_ok(cx, collet_array_from(cx, &axis, COLLET_F64, 1, &three, z));
    assert_ok(cx, collet_array_slice(cx, table, &left, 1, 0, 3, 1));
    assert_ok(cx, collet_array_slice(cx, table, &right, 1, 5, 3, -1));
    assert_ok(cx, collet_array_slice(cx, table, &shifted, 1, 2, 3, 1));
    assert_ok(cx, collet_op_decompose(cx, left, right, v, axis));
    assert_ok(cx, collet_array_read(cx, table, got, sizeof got));
    const double row[] = {0, 0, 3, 0, 2, 1};
    assert_memory_equal(got, row, sizeof row);
    assert_status(cx, collet_op_decompose(cx, left, shifted, v, axis), COLLET_INVALID,
                  " (output 1) overlap");
    assert_ok(cx, collet_op_add(cx, right, right, left));
    assert_int_equal(counters_of(cx).temporaries, 0);
    assert_ok(cx, collet_op_add(cx, shifted, shifted, left));
    assert_int_equal(counters_of(cx).temporaries, 1);
    /* Two rows are enough. */
    OWNED(collet_array) *rows = NULL, *these = NULL, *those = NULL;
    assert_ok(cx, collet_array_slice(cx, table, &rows, 0, 0, 2, 1));
    assert_ok(cx, collet_array_slice(cx, rows, &these, 1, 0, 3, 1));
    assert_ok(cx, collet_array_slice(cx, rows, &those, 1, 3, 3, 1));
    assert_ok(cx, collet_op_add(cx, these, these, those));
    assert_int_equal(counters_of(cx).temporaries, 1);
}

/* Extreme strides are refused before any arithmetic on them. */
TEST_WITH(strides_wider_than_any_memory, set_up, tear_down)
{
    int8_t byte = 0;
    OWNED(collet_array) *a = NULL;
    const int64_t two_two[] = {2, 2}, two = 2, one = 1;
    const int64_t wide[] = {INT64_MAX / 2 + 1, INT64_MIN / 2}, lowest = INT64_MIN, up = INT64_MAX;
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_I8, 2, two_two, wide, &byte, 0, NULL, NULL),
                  COLLET_OVERFLOW);
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_I8, 1, &two, &lowest, &byte, 0, NULL, NULL),
                  COLLET_OVERFLOW);
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_I8, 1, &two, &up, &byte, 0, NULL, NULL),
                  COLLET_OVERFLOW);
    assert_ok(cx, collet_array_wrap(cx, &a, COLLET_I8, 1, &one, &lowest, &byte, 0, NULL, NULL));
}

/* An empty wrapped array (NULL data) counts as a present operand. */
TEST_WITH(empty_wrapped_arrays_are_operands, set_up, tear_down)
{
    const int64_t none = 0;
    const float zero[] = {0};
    OWNED(collet_array) *a = NULL, *c = empty_floats(cx, 1);
    assert_ok(cx, collet_array_wrap(cx, &a, COLLET_F32, 1, &none, NULL, NULL, 0, NULL, NULL));
    assert_ok(cx, collet_op_sum(cx, c, a, NULL, 0, 1));
    assert_floats(cx, c, zero);
    assert_ok(cx, collet_array_write(cx, a, NULL, 0));
}

TEST_WITH(fills_convert_as_copies_do, set_up, tear_down)
{
    const int64_t one = 1;
    int64_t big = 0;
    uint8_t small = 7;
    collet_c64 complex = {9, 9};
    OWNED(collet_array) *a = NULL, *b = NULL, *c = NULL;
    assert_ok(cx, collet_array_create(cx, &a, COLLET_I64, 1, &one));
    assert_ok(cx, collet_array_create(cx, &b, COLLET_U8, 1, &one));
    assert_ok(cx, collet_array_create(cx, &c, COLLET_C64, 1, &one));
    collet_scalar value = {.dtype = COLLET_I64, .value.i64 = INT64_MAX - 1};
    assert_ok(cx, collet_op_fill(cx, a, &value));
    assert_ok(cx, collet_array_read(cx, a, &big, sizeof big));
    assert_true(big == INT64_MAX - 1);
    value = (collet_scalar){.dtype = COLLET_F64, .value.f64 = __builtin_nan("")};
    assert_ok(cx, collet_op_fill(cx, b, &value));
    assert_ok(cx, collet_array_read(cx, b, &small, 1));
    assert_int_equal(small, 0);
    value = (collet_scalar){.dtype = COLLET_I32, .value.i32 = -3};
    assert_ok(cx, collet_op_fill(cx, c, &value));
    assert_ok(cx, collet_array_read(cx, c, &complex, sizeof complex));
    assert_true(complex.re == -3.0f && complex.im == 0.0f);
    value = (collet_scalar){.dtype = COLLET_C64, .value.c64 = {1, 2}};
    assert_status(cx, collet_op_fill(cx, a, &value), COLLET_DTYPE);
    value.dtype = 99;
    assert_status(cx, collet_op_fill(cx, a, &value), COLLET_DTYPE);
    assert_status(cx, collet_op_fill(cx, a, NULL), COLLET_INVALID, "fill: params is NULL");
    assert_status(cx, collet_op_axpy(cx, a, NULL, a, a), COLLET_INVALID, "axpy: params is NULL");
}

/* The inverse of a shift differs from the shift if a length is odd. */
TEST_WITH(shifts_and_axes, set_up, tear_down)
{
    static const float shifted[] = {4, 5, 1, 2, 3}, back[] = {3, 4, 5, 1, 2};
    static const int32_t last = -1, first = 0;
    OWNED(world) w = open_world(SCALAR_PLUGIN, NULL, NULL);
    OWNED(collet_array) *a = floats(w.cx, 5, 1), *c = empty_floats(w.cx, 5), *row = NULL;
    assert_ok(w.cx, collet_op_fftshift(w.cx, c, a, NULL, 0, 0));
    assert_floats(w.cx, c, shifted);
    assert_ok(w.cx, collet_op_fftshift(w.cx, c, a, &last, 1, 1));
    assert_floats(w.cx, c, back);
    const int64_t shape[] = {1, 5};
    assert_ok(w.cx, collet_array_reshape(w.cx, a, &row, 2, shape));
    OWNED(collet_array) *out = NULL;
    assert_ok(w.cx, collet_array_reshape(w.cx, c, &out, 2, shape));
    assert_ok(w.cx, collet_op_fftshift(w.cx, out, row, &last, 1, 0));
    assert_floats(w.cx, c, shifted);
    assert_ok(w.cx, collet_op_fftshift(w.cx, out, row, &first, 1, 1));
    static const float same[] = {1, 2, 3, 4, 5};
    assert_floats(w.cx, c, same);
    OWNED(collet_array) *lines = NULL;
    assert_ok(w.cx, collet_array_create(w.cx, &lines, COLLET_C64, 2, shape));
    static const uint32_t axes[] = {0, 4};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        assert_status(w.cx, collet_op_fft(w.cx, lines, lines, axes[i], 0), COLLET_INVALID,
                      "it must be 1, 2 or 3");
    }
}

TEST_WITH(sorts_and_searches, set_up, tear_down)
{
    static const float down[] = {5, 4, 3, 2, 1};
    OWNED(world) w = open_world(SCALAR_PLUGIN, NULL, NULL);
    OWNED(collet_array) *a = floats(w.cx, 5, 1), *c = empty_floats(w.cx, 5), *at = NULL;
    const int64_t five = 5;
    assert_ok(w.cx, collet_array_create(w.cx, &at, COLLET_I64, 1, &five));
    assert_ok(w.cx, collet_op_sort(w.cx, c, a, -1, 1));
    assert_floats(w.cx, c, down);
    assert_ok(w.cx, collet_op_partition(w.cx, c, a, -1, 0));
    assert_ok(w.cx, collet_op_argsort(w.cx, at, a, 0, 1));
    assert_ok(w.cx, collet_op_searchsorted(w.cx, at, a, a, 1));
    int64_t positions[5];
    assert_ok(w.cx, collet_array_read(w.cx, at, positions, sizeof positions));
    for (int64_t i = 0; i < 5; i++)
        assert_int_equal(positions[i], i + 1);
    assert_status(w.cx, collet_op_sort(w.cx, c, a, 1, 0), COLLET_INVALID,
                  "axis 1 is out of range: the array has 1 axes");
    assert_status(w.cx, collet_op_partition(w.cx, c, a, 5, 0), COLLET_INVALID,
                  "kth is 5, but axis 0 has 5 elements");
    assert_status(w.cx, collet_op_partition(w.cx, c, a, -6, 0), COLLET_INVALID);
}
