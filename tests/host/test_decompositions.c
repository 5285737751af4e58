/* SPDX-License-Identifier: Apache-2.0 */
/* The typed calls of the decompositions: vectors as right sides, invalid arguments, matrices that threads share. */

#include "common/fixture.h"

#define BACKENDS SCALAR_PLUGIN ":" OPENMP_PLUGIN

static int on_scalar(void **state)
{
    open_shared(BACKENDS, NULL, "cpu_scalar");
    return 0;
}

static int on_openmp(void **state)
{
    open_shared(BACKENDS, NULL, "cpu_openmp");
    return 0;
}

/* ---- Arrays ------------------------------------------------------------------------------- */

#define AXES(...)                                                                                  \
    (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[])                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static collet_array *doubles(const double *values, int32_t ndim, const int64_t *shape)
{
    collet_array *a = NULL;
    assert_ok(cx, collet_array_from(cx, &a, COLLET_F64, ndim, shape, values));
    return a;
}

static collet_array *empty(collet_dtype dtype, int32_t ndim, const int64_t *shape)
{
    collet_array *a = NULL;
    assert_ok(cx, collet_array_create(cx, &a, dtype, ndim, shape));
    return a;
}

/* Frees the array. A NaN matches a NaN. */
static void expect(collet_array *a, int n, const double *expected)
{
    double got[16];
    assert_int_equal(collet_array_size(a), n);
    assert_ok(cx, collet_array_read(cx, a, got, (size_t)n * sizeof *got));
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - expected[i]) <= 1e-14) && !(isnan(got[i]) && isnan(expected[i])))
            fail_msg("element %d is %.17g, not %.17g", i, got[i], expected[i]);
    collet_array_destroy(a);
}
#define EXPECT(a, n, ...) expect(a, n, (const double[]){__VA_ARGS__})

static collet_array *empty_info(void)
{
    return empty(COLLET_I32, 0, NULL);
}

/* Frees the array. */
static void expect_info(collet_array *info, int32_t expected)
{
    int32_t got;
    assert_ok(cx, collet_array_read(cx, info, &got, sizeof got));
    assert_int_equal(got, expected);
    collet_array_destroy(info);
}

/* ---- Right sides -------------------------------------------------------------------------- */

static void vectors_in_batches(void **state)
{
    const double matrices[] = {2, 0, 0, 4, 1, 1, 1, 1}, sides[] = {2, 8, 3, 4};
    OWNED(collet_array) *a = doubles(matrices, AXES(2, 2, 2)), *b = doubles(sides, AXES(2, 2));
    collet_array *x = empty(COLLET_F64, AXES(2, 2)), *info = empty_info();
    assert_ok(cx, collet_op_solve(cx, x, info, a, b));
    EXPECT(x, 4, 1, 2, NAN, NAN);
    expect_info(info, 2);
    /* If x has as many axes as a, the same b is a matrix that all systems share. */
    x = empty(COLLET_F64, AXES(2, 2, 2));
    info = empty_info();
    assert_ok(cx, collet_op_solve(cx, x, info, a, b));
    EXPECT(x, 8, 1, 4, 0.75, 1, NAN, NAN, NAN, NAN);
    expect_info(info, 2);
}

/* The second pivot overflows double, but the solution does not. */
static void pivots_beyond_the_range(void **state)
{
    const double matrix[] = {1e308, 1e308, -1e308, 1e308}, side[] = {1e308, 1e308};
    OWNED(collet_array) *a = doubles(matrix, AXES(2, 2)), *b = doubles(side, AXES(2));
    collet_array *x = empty(COLLET_F64, AXES(2)), *info = empty_info();
    assert_ok(cx, collet_op_solve(cx, x, info, a, b));
    EXPECT(x, 2, 0, 1);
    expect_info(info, 0);
}

/* ---- Invalid arguments -------------------------------------------------------------------- */

static void shapes_are_named(void **state)
{
    const double values[12] = {0};
    OWNED(collet_array) *a = doubles(values, AXES(3, 4)), *out = empty(COLLET_F64, AXES(3, 4));
    OWNED(collet_array) *info = empty_info(), *square = doubles(values, AXES(3, 3));
    OWNED(collet_array) *b = doubles(values, AXES(4)), *x = empty(COLLET_F64, AXES(4));
    OWNED(collet_array) *q = empty(COLLET_F64, AXES(3, 3)), *r = empty(COLLET_F64, AXES(4, 4));
    assert_status(cx, collet_op_cholesky(cx, out, info, a), COLLET_SHAPE, "a (input 0) is 3 x 4");
    assert_status(cx, collet_op_solve(cx, x, info, square, b), COLLET_SHAPE,
                  "b (input 1) is 4 x 1, a (input 0) is 3 x 3");
    assert_status(cx, collet_op_qr(cx, q, r, a), COLLET_SHAPE,
                  "r (output 1) is 4 x 4, a (input 0) is 3 x 4");
    assert_status(cx, collet_op_cholesky(cx, q, x, square), COLLET_DTYPE,
                  "info (output 1) is f64 and must be i32");
    assert_status(cx, collet_op_cholesky(cx, square, info, NULL), COLLET_INVALID);
    assert_status(cx, collet_op_solve(cx, NULL, info, square, b), COLLET_INVALID);
    assert_int_equal(collet_op_solve(NULL, x, info, square, b), COLLET_INVALID);
}

/* ---- Matrices divided among threads ---------------------------------------------------------- */

#define LARGE 600

static collet_array *product(const collet_array *a, const collet_array *b, int transposed)
{
    collet_array *c = empty(COLLET_F64, AXES(LARGE, LARGE)), *view = NULL;
    if (transposed)
        assert_ok(cx, collet_array_permute(cx, b, &view, NULL));
    assert_ok(cx, collet_op_matmul(cx, c, a, transposed ? view : b));
    collet_array_destroy(view);
    return c;
}

/* Compares row i of `got` with row perm[i] of `expected`; perm NULL: with row i. */
static void expect_near(const collet_array *got, const collet_array *expected, const int32_t *perm)
{
    const size_t bytes = (size_t)LARGE * LARGE * sizeof(double);
    double *g = malloc(bytes), *w = malloc(bytes), worst = 0;
    assert_true(g && w);
    assert_ok(cx, collet_array_read(cx, got, g, bytes));
    assert_ok(cx, collet_array_read(cx, expected, w, bytes));
    for (int i = 0; i < LARGE; i++)
        for (int j = 0; j < LARGE; j++) {
            double far = fabs(g[i * LARGE + j] - w[(perm ? perm[i] : i) * LARGE + j]);
            worst = far <= worst || isnan(worst) ? worst : far;
        }
    free(g);
    free(w);
    if (!(worst <= 1e-9))
        fail_msg("the largest difference is %g", worst);
}

static void large_matrices(void **state)
{
    OWNED(collet_array) *a = empty(COLLET_F64, AXES(LARGE, LARGE)), *info = empty_info();
    OWNED(collet_array) *left = empty(COLLET_F64, AXES(LARGE, LARGE));
    OWNED(collet_array) *right = empty(COLLET_F64, AXES(LARGE, LARGE));
    OWNED(collet_array) *order = empty(COLLET_I32, AXES(LARGE)), *b = NULL, *back = NULL;
    int32_t perm[LARGE];
    assert_ok(cx, collet_op_normal(cx, a, 3, 0));
    assert_ok(cx, collet_op_lu(cx, order, left, right, info, a));
    assert_ok(cx, collet_array_read(cx, order, perm, sizeof perm));
    back = product(left, right, 0);
    expect_near(back, a, perm);
    collet_array_destroy(back);
    assert_ok(cx, collet_op_qr(cx, left, right, a));
    back = product(left, right, 0);
    expect_near(back, a, NULL);
    collet_array_destroy(back);
    b = product(a, a, 1);
    assert_ok(cx, collet_op_cholesky(cx, left, info, b));
    back = product(left, left, 1);
    expect_near(back, b, NULL);
    collet_array_destroy(back);
    assert_ok(cx, collet_op_solve(cx, right, info, a, b));
    back = product(a, right, 0);
    expect_near(back, b, NULL);
}

int main(void)
{
#define CASE(name, start) cmocka_unit_test_setup_teardown(name, start, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(vectors_in_batches, on_scalar),
        CASE(vectors_in_batches, on_openmp),
        CASE(pivots_beyond_the_range, on_scalar),
        CASE(shapes_are_named, on_scalar),
        CASE(large_matrices, on_openmp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
