/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, views, overlaps and call errors. */
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>

#include "common/fixture.h"

static collet_array *reshaped(collet_array *a, int32_t ndim, const int64_t *shape)
{
    collet_array *out = NULL;
    assert_ok(cx, collet_array_reshape(cx, a, &out, ndim, shape));
    collet_array_destroy(a);
    return out;
}

TEST_WITH(views_share_and_read_in_order, set_up_scalar, tear_down)
{
    const int64_t two_three[] = {2, 3}, six = 6, three_two[] = {3, 2};
    OWNED(collet_array) *t = NULL, *r = NULL, *s = NULL, *u = NULL;
    collet_array *a = reshaped(floats(cx, 6, 0), 2, two_three);
    assert_ok(cx, collet_array_permute(cx, a, &t, NULL));
    const float transposed[] = {0, 3, 1, 4, 2, 5};
    assert_floats(cx, t, transposed);
    assert_status(cx, collet_array_reshape(cx, t, &r, 1, &six), COLLET_SHAPE);
    assert_ok(cx, collet_array_slice(cx, a, &s, -1, 2, 3, -1));
    const float backwards[] = {2, 1, 0, 5, 4, 3};
    assert_floats(cx, s, backwards);
    assert_ok(cx, collet_array_slice(cx, s, &u, 0, 1, 1, 1));
    const float last_row[] = {5, 4, 3};
    assert_floats(cx, u, last_row);
    const float fresh[] = {50, 40, 30};
    assert_ok(cx, collet_array_write(cx, u, fresh, sizeof fresh));
    const float now[] = {0, 1, 2, 30, 40, 50};
    assert_floats(cx, a, now);
    assert_ok(cx, collet_array_reshape(cx, a, &r, 2, three_two));
    assert_floats(cx, r, now);
    collet_array_destroy(a);
    assert_floats(cx, r, now);
}

TEST_WITH(low_bits_of_integers_are_views, set_up_scalar, tear_down)
{
    const int64_t values[] = {-1, 255, 256, -129, 1ll << 40, 7}, two_three[] = {2, 3};
    OWNED(collet_array) *a = NULL, *back = NULL, *low = NULL, *same = NULL;
    collet_array *none;
    int8_t bytes[6];
    assert_ok(cx, collet_array_create(cx, &a, COLLET_I64, 2, two_three));
    assert_ok(cx, collet_array_write(cx, a, values, sizeof values));
    assert_ok(cx, collet_array_low(cx, a, &low, COLLET_I8));
    assert_ok(cx, collet_array_read(cx, low, bytes, sizeof bytes));
    for (int i = 0; i < 6; i++)
        assert_int_equal(bytes[i], (int8_t)(uint8_t)values[i]);
    assert_int_equal(collet_array_strides(low)[1], 8);
    assert_ok(cx, collet_array_slice(cx, a, &back, 1, 2, 3, -1));
    assert_ok(cx, collet_array_low(cx, back, &same, COLLET_U64));
    assert_int_equal(collet_array_dtype(same), COLLET_U64);
    assert_int_equal(collet_array_strides(same)[1], -1);
    assert_status(cx, collet_array_low(cx, low, &none, COLLET_I16), COLLET_DTYPE);
    assert_status(cx, collet_array_low(cx, a, &none, COLLET_F32), COLLET_DTYPE);
    assert_status(cx, collet_array_low(cx, a, &none, COLLET_BOOL), COLLET_DTYPE);
}

TEST_WITH(parts_of_complex_numbers_are_views, set_up_scalar, tear_down)
{
    const int64_t two_three[] = {2, 3};
    float values[12], four = 4;
    collet_array *a, *back, *parts[2], *same, *none;
    for (int i = 0; i < 12; i++)
        values[i] = (float)i;
    assert_ok(cx, collet_array_create(cx, &a, COLLET_C64, 2, two_three));
    assert_ok(cx, collet_array_write(cx, a, values, sizeof values));
    assert_ok(cx, collet_array_slice(cx, a, &back, 1, 2, 3, -1));
    assert_ok(cx, collet_array_real(cx, back, &parts[0]));
    assert_ok(cx, collet_array_imag(cx, back, &parts[1]));
    assert_floats(cx, parts[0], (const float[]){4, 2, 0, 10, 8, 6});
    assert_floats(cx, parts[1], (const float[]){5, 3, 1, 11, 9, 7});
    assert_int_equal(collet_array_strides(parts[1])[0], 6);
    collet_fill_params fill = {.struct_size = sizeof fill};
    fill.value.dtype = COLLET_F32;
    fill.value.value.f32 = four;
    assert_ok(cx, collet_call(cx, COLLET_OP_FILL, &parts[1], NULL, &fill));
    assert_ok(cx, collet_array_read(cx, a, values, sizeof values));
    for (int i = 0; i < 12; i++)
        assert_true(values[i] == (i % 2 ? 4 : (float)i));
    assert_ok(cx, collet_array_real(cx, parts[1], &same));
    assert_floats(cx, same, (const float[]){4, 4, 4, 4, 4, 4});
    assert_status(cx, collet_array_imag(cx, parts[1], &none), COLLET_DTYPE);
    collet_array_destroy(a);
    collet_array_destroy(back);
    collet_array_destroy(parts[0]);
    collet_array_destroy(parts[1]);
    collet_array_destroy(same);
}

TEST_WITH(reshape_follows_strides_where_it_can, set_up_scalar, tear_down)
{
    const int64_t shape[] = {4, 3, 2}, split[] = {2, 2, 1, 3, 2}, twelve[] = {4, 6}, whole = 24;
    OWNED(collet_array) *a = reshaped(floats(cx, 24, 0), 3, shape), *every = NULL, *b = NULL,
                        *c = NULL;
    assert_ok(cx, collet_array_slice(cx, a, &every, 0, 0, 2, 2));
    const int64_t two_six[] = {2, 6}, twelve_flat = 12;
    assert_ok(cx, collet_array_reshape(cx, every, &b, 2, two_six));
    const float expected[] = {0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17};
    assert_floats(cx, b, expected);
    assert_status(cx, collet_array_reshape(cx, every, &c, 1, &twelve_flat), COLLET_SHAPE);
    assert_status(cx, collet_array_reshape(cx, every, &c, 1, &whole), COLLET_SHAPE);
    collet_array_destroy(b);
    assert_ok(cx, collet_array_reshape(cx, a, &b, 5, split));
    assert_ok(cx, collet_array_reshape(cx, b, &c, 2, twelve));
    assert_int_equal(collet_array_strides(c)[0], 6);
}

TEST_WITH(views_that_leave_the_array_are_refused, set_up_scalar, tear_down)
{
    OWNED(collet_array) *a = floats(cx, 6, 0), *out = NULL;
    const int64_t starts[][3] = {{0, 7, 1},         {5, 2, 1},  {-1, 1, 1}, {6, 1, 1}, {0, 2, -1},
                                 {0, 2, INT64_MAX}, {5, 3, -3}, {0, -1, 1}, {0, 2, 0}, {6, 2, -1}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        assert_int_not_equal(
            collet_array_slice(cx, a, &out, 0, starts[i][0], starts[i][1], starts[i][2]),
            COLLET_OK);
    assert_status(cx, collet_array_slice(cx, a, &out, 1, 0, 1, 1), COLLET_INVALID);
    const int32_t not_perm[] = {1};
    assert_status(cx, collet_array_permute(cx, a, &out, not_perm), COLLET_INVALID);
    const int64_t table[] = {2, 3};
    const int32_t twice[] = {1, 1};
    collet_array *t = NULL;
    assert_ok(cx, collet_array_reshape(cx, a, &t, 2, table));
    assert_status(cx, collet_array_permute(cx, t, &out, twice), COLLET_INVALID);
    collet_array_destroy(t);
    const int64_t five = 5;
    assert_status(cx, collet_array_broadcast(cx, a, &out, 1, &five), COLLET_SHAPE);
    assert_status(cx, collet_array_broadcast(cx, a, &out, 0, NULL), COLLET_SHAPE);
    assert_ok(cx, collet_array_slice(cx, a, &out, 0, 0, 0, 1));
    assert_int_equal(collet_array_size(out), 0);
    assert_ok(cx, collet_array_read(cx, out, NULL, 0));
}

TEST_WITH(sizes_are_checked_for_overflow, set_up_scalar, tear_down)
{
    OWNED(collet_array) *a = NULL;
    const int64_t many = (int64_t)1 << 53, more = many + 1, twice[] = {many, 0, 2};
    const int64_t huge[] = {INT64_MAX, 2}, large[] = {INT64_MAX / 8 + 1}, empty[] = {many, 0, 1},
                  negative[] = {-1};
    assert_status(cx, collet_array_create(cx, &a, COLLET_F32, 2, huge), COLLET_OVERFLOW);
    assert_status(cx, collet_array_create(cx, &a, COLLET_F64, 1, large), COLLET_OVERFLOW,
                  "does not fit in 64 bits");
    assert_status(cx, collet_array_create(cx, &a, COLLET_F64, 1, negative), COLLET_INVALID);
    assert_status(cx, collet_array_create(cx, &a, 99, 1, large), COLLET_DTYPE);
    assert_status(cx, collet_array_create(cx, &a, COLLET_F64, 9, huge), COLLET_INVALID);
    assert_null(strstr(collet_last_error(cx), "shape is NULL"));
    assert_status(cx, collet_array_create(cx, &a, COLLET_F64, 1, NULL), COLLET_INVALID,
                  "shape is NULL but ndim is 1");
    assert_ok(cx, collet_array_create(cx, &a, COLLET_F64, 3, empty));
    assert_int_equal(collet_array_size(a), 0);
    assert_ok(cx, collet_op_exp(cx, a, a));
    collet_array_destroy(a);
    assert_status(cx, collet_array_create(cx, &a, COLLET_F64, 3, twice), COLLET_OVERFLOW);
    assert_status(cx, collet_array_create(cx, &a, COLLET_F64, 1, &more), COLLET_OVERFLOW,
                  "at most 2^56 bytes");
    assert_ok(cx, collet_array_create(cx, &a, COLLET_F64, 1, &many));
    assert_status(cx, collet_op_exp(cx, a, a), COLLET_NO_MEMORY);
}

TEST_WITH(calls_name_what_does_not_fit, set_up_scalar, tear_down)
{
    OWNED(collet_array) *a = floats(cx, 4, 0), *b = floats(cx, 3, 0), *c = floats(cx, 4, 0),
                        *d = NULL;
    const int64_t four = 4;
    assert_ok(cx, collet_array_create(cx, &d, COLLET_I32, 1, &four));
    assert_status(cx, collet_op_add(cx, c, a, b), COLLET_SHAPE,
                  "add: b (input 1) is 3, a (input 0) is 4");
    assert_status(cx, collet_op_add(cx, c, a, d), COLLET_DTYPE,
                  "add: b (input 1) is i32 and must be f32");
    assert_status(cx, collet_op_add(cx, c, a, NULL), COLLET_INVALID, "add: b (input 1) is NULL");
    assert_status(cx, collet_op_add(cx, NULL, a, a), COLLET_INVALID);
    assert_status(cx, collet_call(cx, 9999, &c, NULL, NULL), COLLET_NOT_FOUND);
    assert_status(cx, collet_call(cx, COLLET_OP_FILL, &c, NULL, NULL), COLLET_INVALID);
    const int32_t axes[] = {1};
    assert_status(cx, collet_op_sum(cx, c, a, axes, 1, 0), COLLET_INVALID);
    const float unchanged[] = {0, 1, 2, 3};
    assert_floats(cx, c, unchanged);
    OWNED(collet_runtime) *other_rt = runtime_with(SCALAR_PLUGIN, NULL);
    OWNED(collet_context) *other = context_of(other_rt);
    OWNED(collet_array) *foreign = floats(other, 4, 0);
    assert_status(cx, collet_op_add(cx, c, a, foreign), COLLET_INVALID, "another runtime");
}

/* As in NumPy, inputs are broadcast to the output's shape, and outputs are never broadcast. */
TEST_WITH(inputs_are_broadcast_to_the_output, set_up_scalar, tear_down)
{
    const int64_t two_three[] = {2, 3}, two_one[] = {2, 1}, one_three[] = {1, 3};
    OWNED(collet_array) *column = reshaped(floats(cx, 2, 1), 2, two_one), *row = floats(cx, 3, 10);
    OWNED(collet_array) *out = reshaped(empty_floats(cx, 6), 2, two_three);
    assert_ok(cx, collet_op_add(cx, out, column, row));
    const float sums[] = {11, 12, 13, 12, 13, 14}, rows[] = {10, 11, 12, 10, 11, 12};
    assert_floats(cx, out, sums);
    assert_ok(cx, collet_op_copy(cx, out, row));
    assert_floats(cx, out, rows);
    OWNED(collet_array) *small = reshaped(empty_floats(cx, 3), 2, one_three);
    assert_status(cx, collet_op_add(cx, small, column, row), COLLET_SHAPE);
    assert_status(cx, collet_op_copy(cx, row, out), COLLET_SHAPE,
                  "out (output 0) is 3, a (input 0) is 2 x 3");
}

TEST_WITH(overlaps_go_through_a_temporary, set_up_scalar, tear_down)
{
    OWNED(collet_array) *a = floats(cx, 6, 1), *head = NULL, *tail = NULL, *back = NULL,
                        *wide = NULL;
    assert_ok(cx, collet_array_slice(cx, a, &head, 0, 0, 5, 1));
    assert_ok(cx, collet_array_slice(cx, a, &tail, 0, 1, 5, 1));
    assert_ok(cx, collet_op_add(cx, tail, head, head));
    const float shifted[] = {1, 2, 4, 6, 8, 10};
    assert_floats(cx, a, shifted);
    assert_int_equal(counters_of(cx).temporaries, 2);
    assert_ok(cx, collet_array_slice(cx, a, &back, 0, 5, 6, -1));
    assert_ok(cx, collet_op_copy(cx, a, back));
    const float reversed[] = {10, 8, 6, 4, 2, 1};
    assert_floats(cx, a, reversed);
    assert_ok(cx, collet_op_mul(cx, a, a, a));
    assert_int_equal(counters_of(cx).temporaries, 3);
    const int64_t two_six[] = {2, 6};
    assert_ok(cx, collet_array_broadcast(cx, a, &wide, 2, two_six));
    assert_status(cx, collet_op_exp(cx, wide, wide), COLLET_INVALID, "repeats elements");
    /* Rows of three elements, each starting two elements after the previous row: they overlap. */
    static float memory[5];
    const int64_t two_three[] = {2, 3}, two_one[] = {2, 1};
    collet_array *rows = NULL;
    assert_ok(
        cx, collet_array_wrap(cx, &rows, COLLET_F32, 2, two_three, two_one, memory, 0, NULL, NULL));
    assert_status(cx, collet_op_exp(cx, rows, rows), COLLET_INVALID, "repeats elements");
    collet_array_destroy(rows);
    void *address;
    assert_status(cx, collet_array_acquire(cx, wide, &address, COLLET_WRITE), COLLET_INVALID);
}

static void count_deletes(void *user)
{
    ++*(int *)user;
}

TEST_WITH(wrapped_memory_is_used_in_place, set_up_scalar, tear_down)
{
    float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    int deletes = 0;
    const int64_t four = 4, down = -2, up = 1;
    collet_array *a, *b, *view;
    assert_ok(cx, collet_array_wrap(cx, &a, COLLET_F32, 1, &four, &down, &memory[7], 0,
                                    count_deletes, &deletes));
    assert_ok(cx, collet_array_wrap(cx, &b, COLLET_F32, 1, &four, &up, &memory[1], 0, NULL, NULL));
    const float odd[] = {7, 5, 3, 1};
    assert_floats(cx, a, odd);
    /* Both arrays share memory[1] and memory[3], but have separate storages. */
    assert_ok(cx, collet_op_copy(cx, b, a));
    const float moved[] = {0, 7, 5, 3, 1, 5, 6, 7};
    assert_memory_equal(memory, moved, sizeof moved);
    assert_ok(cx, collet_array_slice(cx, a, &view, 0, 0, 2, 1));
    collet_array_destroy(a);
    assert_int_equal(deletes, 0);
    collet_array_destroy(view);
    assert_int_equal(deletes, 1);
    collet_array_destroy(b);
    assert_status(
        cx,
        collet_array_wrap(cx, &a, COLLET_F32, 1, &four, NULL, (char *)memory + 1, 0, NULL, NULL),
        COLLET_INVALID, "not aligned");
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_F32, 1, &four, NULL, NULL, 0, NULL, NULL),
                  COLLET_INVALID);
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_F32, 1, &four, NULL, memory, 6, NULL, NULL),
                  COLLET_INVALID,
                  "flags is 0x6; it must be 0, 1 (read-only), 2 (shared) or 3 (both)");
    const int64_t far = INT64_MAX / 2;
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_F32, 1, &four, &far, memory, 0, NULL, NULL),
                  COLLET_OVERFLOW);
}

static void check_host_address(int64_t size)
{
    collet_array *a, *view, *repeated;
    float back[2];
    void *held;
    const int64_t many[] = {4, size};
    assert_ok(cx, collet_array_create(cx, &a, COLLET_F32, 1, &size));
    assert_null(collet_array_host_address(a, COLLET_READ)); /* has no elements yet */
    float *to = collet_array_host_address(a, COLLET_WRITE);
    assert_true(to && (uintptr_t)to % 64 == 0 && collet_array_is_on_host(a));
    for (int64_t i = 0; i < size; i++)
        to[i] = (float)i;
    assert_ok(cx, collet_array_slice(cx, a, &view, 0, size - 1, 2, -1));
    assert_ptr_equal(collet_array_host_address(view, COLLET_READ | COLLET_WRITE), to + size - 1);
    assert_ok(cx, collet_array_broadcast(cx, a, &repeated, 2, many));
    assert_ptr_equal(collet_array_host_address(repeated, COLLET_READ), to);
    assert_null(collet_array_host_address(repeated, COLLET_WRITE));
    assert_ok(cx, collet_array_acquire(cx, repeated, &held, COLLET_READ));
    assert_null(collet_array_host_address(a, COLLET_READ));
    assert_ok(cx, collet_array_release(cx, repeated));
    collet_array_destroy(repeated);
    collet_array_destroy(a); /* the view keeps the elements */
    assert_ok(cx, collet_array_read(cx, view, back, sizeof back));
    assert_true(back[0] == (float)(size - 1) && back[1] == (float)(size - 2));
    collet_array_destroy(view);
}

TEST_WITH(host_addresses_are_for_access_at_once, set_up_scalar, tear_down)
{
    const int64_t one = 1, read_only = 2, sizes[] = {2, 55, 56, 57, 300};
    float memory[2] = {1, 2};
    collet_array *a, *view;
    const char *layers = getenv("COLLET_LAYERS");
    if (layers && strcmp(layers, "programs") == 0) { /* every access needs acquire */
        assert_ok(cx, collet_array_create(cx, &a, COLLET_F32, 1, &one));
        assert_null(collet_array_host_address(a, COLLET_WRITE));
        collet_array_destroy(a);
        return;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_host_address(sizes[i]);
    assert_ok(cx, collet_array_wrap(cx, &a, COLLET_F32, 1, &read_only, NULL, memory,
                                    COLLET_WRAP_READONLY, NULL, NULL));
    assert_ptr_equal(collet_array_host_address(a, COLLET_READ), memory);
    assert_null(collet_array_host_address(a, COLLET_WRITE));
    collet_array_destroy(a);
    assert_ok(cx, collet_array_create(cx, &a, COLLET_F32, 1, &one));
    assert_ok(cx, collet_array_slice(cx, a, &view, 0, 0, 1, 1));
    assert_null(collet_array_host_address(a, COLLET_WRITE)); /* another thread may use the view */
    collet_array_destroy(view);
    assert_non_null(collet_array_host_address(a, COLLET_WRITE));
    assert_null(collet_array_host_address(NULL, COLLET_READ));
    collet_array_destroy(a);
}

TEST_WITH(elements_are_read_and_written_one_by_one, set_up_scalar, tear_down)
{
    OWNED(collet_array) *a = NULL, *back = NULL, *number = NULL, *wide = NULL;
    collet_scalar value = {.dtype = COLLET_F32, .value.f32 = 0};
    float row[6] = {0, 1, 2, 3, 4, 5};
    void *memory;
    assert_ok(cx, collet_array_from(cx, &a, COLLET_F32, 2, (const int64_t[]){2, 3}, row));
    assert_ok(cx, collet_array_slice(cx, a, &back, 1, 2, 3, -1));
    assert_true(collet_array_is_on_host(back) && !collet_array_is_on_host(NULL));
    assert_ok(cx, collet_array_acquire(cx, a, &memory, COLLET_WRITE));
    assert_true(!collet_array_is_on_host(back));
    assert_status(cx, collet_array_read_element(cx, back, &value, (const int64_t[]){0, 0}),
                  COLLET_BUSY);
    assert_ok(cx, collet_array_release(cx, a));
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 3; j++) {
            assert_ok(cx, collet_array_read_element(cx, back, &value, (const int64_t[]){i, j}));
            assert_true(value.dtype == COLLET_F32 && value.value.f32 == (float)(3 * i + 2 - j));
        }
    value.value.f32 = 9;
    assert_ok(cx, collet_array_write_element(cx, back, (const int64_t[]){1, 0}, &value));
    assert_floats(cx, a, (const float[]){0, 1, 2, 3, 4, 9});
    assert_status(cx, collet_array_read_element(cx, a, &value, (const int64_t[]){1, 3}),
                  COLLET_INVALID, "index 3 is out of range for axis 1 of length 3");
    assert_status(cx, collet_array_write_element(cx, a, (const int64_t[]){-1, 0}, &value),
                  COLLET_INVALID);
    assert_status(cx, collet_array_read_element(cx, a, &value, NULL), COLLET_INVALID);
    assert_status(cx, collet_array_read_element(cx, a, NULL, (const int64_t[]){0, 0}),
                  COLLET_INVALID);
    value.dtype = COLLET_F64;
    assert_status(cx, collet_array_write_element(cx, a, (const int64_t[]){0, 0}, &value),
                  COLLET_DTYPE, "the value is f64, the array f32");
    assert_ok(cx, collet_array_from(cx, &number, COLLET_F32, 0, NULL, row + 4));
    assert_ok(cx, collet_array_read_element(cx, number, &value, NULL));
    assert_true(value.value.f32 == 4);
    assert_ok(cx, collet_array_broadcast(cx, number, &wide, 1, (const int64_t[]){3}));
    assert_status(cx, collet_array_write_element(cx, wide, (const int64_t[]){0}, &value),
                  COLLET_INVALID, "collet_array_write_element: the view repeats elements");
    assert_status(cx, collet_array_write(cx, wide, row, 3 * sizeof *row), COLLET_INVALID,
                  "collet_array_write: the view repeats elements");
    assert_floats(cx, a, (const float[]){0, 1, 2, 3, 4, 9});
}

TEST_WITH(reading_checks_the_size, set_up_scalar, tear_down)
{
    float sink[4];
    collet_array *a = floats(cx, 4, 0);
    assert_status(cx, collet_array_read(cx, a, sink, 12), COLLET_INVALID,
                  "12 bytes were given, but the array has 16");
    assert_status(cx, collet_array_read(cx, a, NULL, 16), COLLET_INVALID);
    assert_status(cx, collet_array_write(cx, NULL, sink, 16), COLLET_INVALID);
    collet_array_destroy(a);
    collet_array_destroy(NULL);
    collet_context_destroy(NULL);
    collet_runtime_destroy(NULL);
}

TEST_WITH(reductions_check_their_output, set_up_scalar, tear_down)
{
    const int64_t two_three[] = {2, 3}, three = 3, one_three[] = {1, 3};
    OWNED(collet_array) *a = reshaped(floats(cx, 6, 0), 2, two_three), *b = empty_floats(cx, 3),
                        *scalar, *keepdims = reshaped(empty_floats(cx, 3), 2, one_three);
    const int32_t rows[] = {0}, last[] = {-1}, twice[] = {0, -2}, lasts[] = {1, -1};
    assert_ok(cx, collet_op_sum(cx, b, a, rows, 1, 0));
    const float columns[] = {3, 5, 7}, total[] = {15};
    assert_floats(cx, b, columns);
    assert_ok(cx, collet_op_sum(cx, keepdims, a, rows, 1, 1));
    assert_floats(cx, keepdims, columns);
    assert_status(cx, collet_op_sum(cx, b, a, last, 1, 0), COLLET_SHAPE);
    assert_status(cx, collet_op_sum(cx, b, a, twice, 2, 0), COLLET_INVALID);
    assert_status(cx, collet_op_sum(cx, b, a, lasts, 2, 0), COLLET_INVALID);
    assert_ok(cx, collet_array_create(cx, &scalar, COLLET_F32, 0, NULL));
    assert_ok(cx, collet_op_sum(cx, scalar, a, NULL, 0, 0));
    assert_floats(cx, scalar, total);
    OWNED(collet_array) *t = empty_floats(cx, 6);
    const int64_t three_two[] = {3, 2};
    t = reshaped(t, 2, three_two);
    assert_ok(cx, collet_op_transpose(cx, t, a, NULL));
    const float transposed[] = {0, 3, 1, 4, 2, 5};
    assert_floats(cx, t, transposed);
    const int32_t wrong[] = {0, 0};
    assert_status(cx, collet_op_transpose(cx, t, a, wrong), COLLET_INVALID);
    const int32_t same[] = {0, 1};
    assert_status(cx, collet_op_transpose(cx, t, a, same), COLLET_SHAPE);
    (void)three;
}

/* After fork(), a child's calls are refused and leave the parent's state untouched. */
TEST_WITH(calls_after_fork_are_refused, set_up_scalar, tear_down)
{
    OWNED(collet_array) *a = floats(cx, 4, 0), *out = NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        float sink[4];
        void *address;
        int wrong = collet_op_add(cx, a, a, a) != COLLET_FORKED;
        wrong |= collet_array_read(cx, a, sink, sizeof sink) != COLLET_FORKED;
        wrong |= collet_set_backend(cx, "auto") != COLLET_FORKED;
        wrong |= collet_finish(cx) != COLLET_FORKED;
        wrong |= collet_array_acquire(cx, a, &address, COLLET_READ) != COLLET_FORKED;
        wrong |= collet_array_permute(cx, a, &out, NULL) != COLLET_FORKED;
        wrong |= strstr(collet_last_error(cx), "before fork") == NULL;
        collet_array_destroy(a);
        collet_context_destroy(cx);
        collet_runtime_destroy(rt);
        collet_runtime *fresh = runtime_with(SCALAR_PLUGIN, NULL);
        collet_context *own = context_of(fresh);
        collet_array *b = floats(own, 4, 0);
        wrong |= collet_op_add(own, b, b, b) != COLLET_OK;
        _exit(wrong ? 1 : 0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    const float unchanged[] = {0, 1, 2, 3};
    assert_floats(cx, a, unchanged);
}

static void *free_elsewhere(void *array)
{
    collet_array_destroy(array);
    return NULL;
}

TEST_WITH(arrays_may_be_freed_on_any_thread, set_up_scalar, tear_down)
{
    pthread_t thread;
    collet_array *a = floats(cx, 4, 0), *b = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, b, a, a));
    assert_int_equal(pthread_create(&thread, NULL, free_elsewhere, a), 0);
    pthread_join(thread, NULL);
    const float doubled[] = {0, 2, 4, 6};
    assert_floats(cx, b, doubled);
    collet_array_destroy(b);
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "host"));
    assert_int_equal(stats.current, 0);
    assert_true(stats.peak >= 32 && stats.total > 0);
}

/* Axes of one element, and arrays without elements, may have any strides. */
TEST_WITH(strides_that_lead_to_no_element, set_up_scalar, tear_down)
{
    static const int64_t odd[] = {INT64_MAX, INT64_MIN, 3, INT64_MAX / 4};
    static const int64_t shapes[][4] = {{1, 1, 2, 1}, {1, 0, 2, 1}, {0, 7, 2, 3}};
    static const int64_t expected[][4] = {{6, 6, 3, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    float values[4] = {1, 0, 0, 2};
    for (size_t i = 0; i < 3; i++) {
        int64_t size = i ? 0 : 2;
        OWNED(collet_array) *a = NULL, *turned = NULL, *out = NULL, *flat = NULL, *sum = NULL;
        assert_ok(cx,
                  collet_array_wrap(cx, &a, COLLET_F32, 4, shapes[i], odd, values, 0, NULL, NULL));
        assert_memory_equal(collet_array_strides(a), expected[i], sizeof expected[i]);
        assert_ok(cx, collet_array_permute(cx, a, &turned, NULL));
        assert_ok(cx, collet_array_create(cx, &out, COLLET_F32, 4, collet_array_shape(turned)));
        assert_ok(cx, collet_op_add(cx, out, turned, turned));
        assert_ok(cx, collet_array_reshape(cx, out, &flat, 1, &size));
        assert_floats(cx, flat, (const float[]){2, 4});
        assert_ok(cx, collet_array_create(cx, &sum, COLLET_F32, 0, NULL));
        assert_ok(cx, collet_op_sum(cx, sum, a, NULL, 0, 0));
        assert_floats(cx, sum, (const float[]){i ? 0 : 3});
    }
}
