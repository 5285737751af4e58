/* SPDX-License-Identifier: Apache-2.0 */
/* eigh and svd by cuSOLVER, which is column-major.
 * Tests: conformance/linalg/spectra.c */
#include "shared/jit/linalg/linalg.h"

#include "exchange.h"

/* Largest extent of the batched functions. */
#define BATCHED_MAX 32

/* The m x n column-major matrices at `matrix` with leading dimension `lead`, for operand k. */
static solver_matrix columns_of(uint32_t k, int64_t matrix, int64_t m, int64_t n, int64_t pitch,
                                int64_t lead)
{
    return (solver_matrix){.k = k,
                           .place = k,
                           .m = m,
                           .n = n,
                           .matrix = matrix,
                           .pitch = pitch,
                           .down = 1,
                           .across = lead};
}

static solver_matrix transpose_of(solver_matrix a)
{
    solver_matrix t = a;
    t.m = a.n;
    t.n = a.m;
    t.down = a.across;
    t.across = a.down;
    return t;
}

/* Stores the eigenvalues or singular values of all matrices, one row per matrix. */
static void store_values(solver_job *j, uint32_t k, int64_t values, int64_t count)
{
    solver_matrix v = {.k = k,
                       .place = k,
                       .m = 1,
                       .n = count,
                       .matrix = values,
                       .pitch = count,
                       .down = 0,
                       .across = 1,
                       .flags = EXCHANGE_SCALED,
                       .real = 1};
    solver_store(j, &v);
}

static void check(solver_job *j, int k)
{
    solver_matrix none = {.place = (uint32_t)k, .m = 1, .n = 1};
    solver_launch(j, "check_spectra", k, jit_groups(jit_traits_of(j->device), (uint64_t)j->count),
                  &none);
}

/* ---- eigh ------------------------------------------------------------------------------------ */

static int reserve_eigh(solver_job *j)
{
    j->a = solver_reserve_numbers(j, j->count * j->n * j->n);
    j->values = solver_reserve_reals(j, j->count * j->n);
    return 1;
}

static int size_eigh(solver_job *j, cuda_solver *library)
{
    return j->batched ? (int)SOLVER(j, syevjBatched_bufferSize, library->sizes,
                                    CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, j->n, NULL,
                                    j->n, NULL, &j->lwork, library->eigenvalues, (int)j->count)
                      : (int)SOLVER(j, syevd_bufferSize, library->sizes, CUSOLVER_EIG_MODE_VECTOR,
                                    CUBLAS_FILL_MODE_LOWER, j->n, NULL, j->n, NULL, &j->lwork);
}

static int step_eigh(const solver_job *j, cusolverDnHandle_t handle, int64_t i)
{
    void *a = solver_number(j, j->a, i * j->n * j->n);
    void *values = solver_real(j, j->values, i * j->n);
    return j->batched
               ? (int)SOLVER(
                     j, syevjBatched, handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER,
                     j->n, a, j->n, values, solver_number(j, j->work, 0), j->lwork,
                     solver_integer(j, j->x.infos, i), j->device->solver.eigenvalues, (int)j->count)
               : (int)SOLVER(j, syevd, handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER,
                             j->n, a, j->n, values, solver_number(j, j->work, 0), j->lwork,
                             solver_integer(j, j->x.infos, i));
}

static void run_eigh(solver_job *j)
{
    int64_t n = j->n;
    solver_matrix a = columns_of(3, j->a, n, n, n * n, n);
    a.flags = EXCHANGE_HERMITIAN;
    solver_load(j, &a);
    solver_call(j, j->batched ? "cusolverDnsyevjBatched" : "cusolverDnsyevd", step_eigh);
    check(j, 2);
    store_values(j, 0, j->values, n);
    a = columns_of(1, j->a, n, n, n * n, n);
    solver_store(j, &a);
}

const solver_op solver_eigh = {COLLET_OP_EIGH, 3,        4,        BATCHED_MAX,      reserve_eigh,
                               size_eigh,      run_eigh, jit_eigh, jit_eigh_accepts, WAY_EIGH};

/* ---- svd ------------------------------------------------------------------------------------- */

/* Columns of U in the workspace: gesvdjBatched makes U square. */
static int left_columns(const solver_job *j)
{
    return j->batched ? j->rows : j->columns;
}

static int reserve_svd(solver_job *j)
{
    /* gesvd requires rows >= columns. The transpose of a row-major matrix is column-major. */
    j->transposed = j->m <= j->n;
    j->rows = j->transposed ? j->n : j->m;
    j->columns = j->min_extent;
    int64_t rows = j->rows, columns = j->columns;
    int direct = j->transposed && !j->batched;
    j->a = solver_reserve_numbers(j, j->count * rows * columns);
    j->values = solver_reserve_reals(j, j->count * columns);
    j->left = solver_locate(j, direct ? 2 : -1, rows, left_columns(j));
    j->right = solver_locate(j, direct ? 0 : -1, columns, columns);
    j->rest = solver_reserve_reals(j, columns);
    return 1;
}

static int size_svd(solver_job *j, cuda_solver *library)
{
    return j->batched
               ? (int)SOLVER(j, gesvdjBatched_bufferSize, library->sizes, CUSOLVER_EIG_MODE_VECTOR,
                             j->rows, j->columns, NULL, j->rows, NULL, NULL, j->rows, NULL,
                             j->columns, &j->lwork, library->singular_values, (int)j->count)
               : (int)SOLVER(j, gesvd_bufferSize, library->sizes, j->rows, j->columns, &j->lwork);
}

static int step_svd(const solver_job *j, cusolverDnHandle_t handle, int64_t i)
{
    int64_t rows = j->rows, columns = j->columns;
    void *a = solver_number(j, j->a, i * rows * columns);
    void *values = solver_real(j, j->values, i * columns);
    void *left = solver_at(j, &j->left, i), *right = solver_at(j, &j->right, i);
    return j->batched ? (int)SOLVER(j, gesvdjBatched, handle, CUSOLVER_EIG_MODE_VECTOR, j->rows,
                                    j->columns, a, j->rows, values, left, j->left.lead, right,
                                    j->right.lead, solver_number(j, j->work, 0), j->lwork,
                                    solver_integer(j, j->x.infos, i),
                                    j->device->solver.singular_values, (int)j->count)
                      : (int)SOLVER(j, gesvd, handle, 'S', 'S', j->rows, j->columns, a, j->rows,
                                    values, left, j->left.lead, right, j->right.lead,
                                    solver_number(j, j->work, 0), j->lwork,
                                    solver_real(j, j->rest, 0), solver_integer(j, j->x.infos, i));
}

static void run_svd(solver_job *j)
{
    int64_t rows = j->rows, columns = j->columns;
    solver_matrix a = columns_of(4, j->a, rows, columns, rows * columns, rows);
    /* A = U S V^H; A^T = U S V^H gives A = (V^H)^T S U^T. gesvd returns V^H, gesvdjBatched V. */
    solver_matrix left = columns_of(0, j->left.first, rows, columns, j->left.pitch, j->left.lead);
    solver_matrix right =
        columns_of(2, j->right.first, columns, columns, j->right.pitch, j->right.lead);
    left.output = j->left.output;
    right.output = j->right.output;
    if (j->batched) {
        right = transpose_of(right);
        right.flags = EXCHANGE_CONJUGATED;
    }
    if (j->transposed) {
        a = transpose_of(a);
        left = transpose_of(left);
        right = transpose_of(right);
        left.k = left.place = 2;
        right.k = right.place = 0;
    }
    solver_load(j, &a);
    solver_call(j, j->batched ? "cusolverDngesvdjBatched" : "cusolverDngesvd", step_svd);
    check(j, 3);
    store_values(j, 1, j->values, columns);
    solver_store(j, &left);
    solver_store(j, &right);
}

const solver_op solver_svd = {COLLET_OP_SVD, 4,       5,       BATCHED_MAX,     reserve_svd,
                              size_svd,      run_svd, jit_svd, jit_svd_accepts, WAY_SVD};
