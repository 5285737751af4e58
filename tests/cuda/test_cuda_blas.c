/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests for which layouts, batches and types the cuda backend calls cuBLAS (here a fake), and for which it launches
 * Collet's kernel (which does not run here). cuda_host_cublas checks the results.
 */
#include "cuda_fixture.h"
#include "shared/host/util/operand.h"

static fake_cublas_control *blas;

static int open_blas(void **state)
{
    fresh(state);
    blas = symbol_of(FAKE_CUBLAS, "fake_cublas");
    blas->fails = blas->products = blas->math_mode = 0;
    set_cublas = FAKE_CUBLAS;
    device = open_device(0);
    queue = new_queue(device);
    return 0;
}

static int close_blas(void **state)
{
    int left = close_one(state);
    return blas->handles ? -1 : left;
}

/* ---- A product ------------------------------------------------------------------------------- */

#define ROWS 36
#define COLUMNS 40
#define INNER 20
#define ELEMENTS 10000 /* in every operand's memory */

typedef struct matrix {
    int64_t first;
    int64_t strides[4];
} matrix;

/* c = a b for a batch of 2 x 3 matrices. */
typedef struct product {
    collet_dtype to, from;
    int64_t inner;
    matrix c, a, b;
} product;

/* Returns 1: cuBLAS computed it; 0: a kernel was launched. */
static int by_cublas(const product *p)
{
    const int64_t shapes[3][4] = {
        {2, 3, ROWS, COLUMNS}, {2, 3, ROWS, p->inner}, {2, 3, p->inner, COLUMNS}};
    const matrix *matrices[] = {&p->c, &p->a, &p->b};
    collet_operand operands[3];
    int before = blas->products, launched = cu->launch_count;
    for (int k = 0; k < 3; k++) {
        collet_dtype dtype = k ? p->from : p->to;
        operands[k] = (collet_operand){new_buffer(device, ELEMENTS * 16),
                                       (uint64_t)matrices[k]->first * cpu_dtype_size(dtype),
                                       dtype, 4, shapes[k], matrices[k]->strides};
    }
    assert_good(
        run_row(device, queue, COLLET_OP_MATMUL, COLLET_SIG(p->to, p->from, p->from), operands));
    assert_good(wait_all(device, queue));
    for (int k = 0; k < 3; k++)
        plugin->buffer_free(device, operands[k].buffer);
    assert_int_equal(blas->products - before + cu->launch_count - launched, 1);
    return blas->products > before;
}

/* clang-format off */
#define DENSE_C {0, {3 * ROWS * COLUMNS, ROWS * COLUMNS, COLUMNS, 1}}
#define DENSE_A {0, {3 * ROWS * INNER, ROWS * INNER, INNER, 1}}
#define DENSE_B {0, {3 * INNER * COLUMNS, INNER * COLUMNS, COLUMNS, 1}}
/* clang-format on */
#define F32_PRODUCT(c, a, b) ((product){COLLET_F32, COLLET_F32, INNER, c, a, b})

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST_WITH(layouts, open_blas, close_blas)
{
    const matrix c = DENSE_C, a = DENSE_A, b = DENSE_B;
    const matrix a_across = {0, {3 * ROWS * INNER, ROWS * INNER, 1, ROWS}};
    const matrix b_across = {5, {3 * INNER * COLUMNS, INNER * COLUMNS, 1, INNER}};
    const matrix a_part = {3, {3 * 4 * ROWS * 7, 4 * ROWS * 7, 28, 1}};
    const matrix a_once = {0, {0, 0, INNER, 1}}, b_once = {11, {0, 0, 1, INNER + 2}};
    const matrix c_apart = {1, {3 * ROWS * 45, ROWS * 45, 45, 1}};
    const product products[] = {
        F32_PRODUCT(c, a, b),
        F32_PRODUCT(c, a_across, b),
        F32_PRODUCT(c, a, b_across),
        F32_PRODUCT(c, a_across, b_across),
        F32_PRODUCT(c, a_part, b_once),
        F32_PRODUCT(c, a_once, b),
        F32_PRODUCT(c_apart, a, b),
        {COLLET_F64, COLLET_F64, INNER, c, a, b_across},
        {COLLET_I32, COLLET_I8, INNER, c, a, b},
        {COLLET_C64, COLLET_C64, INNER, c, a, b_across},
        {COLLET_C128, COLLET_C128, INNER, c_apart, a_across, b},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (!by_cublas(&products[i]))
            fail_msg("product %zu was not computed by cuBLAS", i);
    /* Sums of f16 are not accumulated in f16. */
    assert_int_equal(blas->math_mode, 16);
    assert_int_equal(blas->handles, 1);
}

/* Layouts that cuBLAS does not support. */
TEST_WITH(other_layouts, open_blas, close_blas)
{
    const matrix c = DENSE_C, a = DENSE_A, b = DENSE_B;
    const matrix a_apart = {0, {0, 0, 2 * INNER, 2}};
    const matrix a_backward = {(ROWS - 1) * INNER, {0, 0, -INNER, 1}};
    /* Batches without a common stride. */
    const matrix a_inner_once = {0, {ROWS * INNER, 0, INNER, 1}};
    const matrix a_outer_once = {0, {0, ROWS * INNER, INNER, 1}};
    const matrix c_across = {0, {3 * ROWS * COLUMNS, ROWS * COLUMNS, 1, ROWS}};
    const matrix b_odd = {1, {0, 0, COLUMNS, 1}};
    const product products[] = {
        F32_PRODUCT(c, a_apart, b),      F32_PRODUCT(c, a_backward, b),
        F32_PRODUCT(c, a_inner_once, b), F32_PRODUCT(c, a_outer_once, b),
        F32_PRODUCT(c_across, a, b),     {COLLET_I32, COLLET_I8, INNER, c, a, b_odd},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (by_cublas(&products[i]))
            fail_msg("product %zu was by cuBLAS", i);
}

/* Unsupported types, and errors of cuBLAS. */
TEST_WITH(cublas_fails, open_blas, close_blas)
{
    const product p = F32_PRODUCT(DENSE_C, DENSE_A, DENSE_B);
    const product narrow = {COLLET_F16, COLLET_F16, INNER, DENSE_C, DENSE_A, DENSE_B};
    assert_false(by_cublas(&narrow));
    assert_true(by_cublas(&p));
    blas->fails = 3; /* CUBLAS_STATUS_ALLOC_FAILED */
    assert_false(by_cublas(&p));
    blas->fails = 0;
    /* trim frees its memory. */
    trim(device);
    assert_int_equal(blas->handles, 0);
    blas->fails = 1; /* CUBLAS_STATUS_NOT_INITIALIZED */
    assert_false(by_cublas(&p));
    blas->fails = 0;
    assert_true(by_cublas(&p));
}

TEST_GROUP(load_plugin, NULL)
