/* SPDX-License-Identifier: Apache-2.0 */
/* cholesky, lu, solve and qr by cuSOLVER, which is column-major.
 * Tests: tests/cuda/test_cuda_solver.c, conformance/linalg/factors.c */
#include "shared/jit/linalg/linalg.h"
#include "exchange.h"

/* Largest extent for potrfBatched. */
#define BATCHED_MAX 256

/* ---- Shared helpers ------------------------------------------------------------------------- */

/* The layout of the input in the workspace: column-major. */
static solver_matrix by_columns(const solver_job *j, uint32_t k)
{
    return (solver_matrix){.k = k,
                           .place = k,
                           .m = j->m,
                           .n = j->n,
                           .matrix = j->a,
                           .pitch = (int64_t)j->m * j->n,
                           .down = 1,
                           .across = j->m};
}

/* Stores the leading m x n part of the matrix `whole` to operand k. */
static void store_part(solver_job *j, solver_matrix whole, uint32_t k, int64_t m, int64_t n,
                       int flags)
{
    whole.k = whole.place = k;
    whole.m = m;
    whole.n = n;
    whole.flags = flags;
    solver_store(j, &whole);
}

static void *matrix_at(const solver_job *j, int64_t i)
{
    return solver_number(j, j->a, i * j->m * j->n);
}

/* ---- cholesky -------------------------------------------------------------------------------- */

static int reserve_cholesky(solver_job *j)
{
    j->factor = solver_locate(j, 0, j->n, j->n);
    if (j->batched)
        j->places = solver_reserve(j, j->count, sizeof(void *));
    return 1;
}

static int size_cholesky(solver_job *j, cuda_solver *library)
{
    return j->batched ? CUSOLVER_STATUS_SUCCESS
                      : (int)SOLVER(j, potrf_bufferSize, library->sizes, CUBLAS_FILL_MODE_UPPER,
                                    j->n, NULL, j->factor.lead, &j->lwork);
}

/* The column-major upper triangle is the row-major lower triangle of A^T = conj(A). conj(A) = U^H U gives A = L L^H with
 * the row-major L = U^T. */
static int step_cholesky(const solver_job *j, cusolverDnHandle_t handle, int64_t i)
{
    return j->batched ? (int)SOLVER(j, potrfBatched, handle, CUBLAS_FILL_MODE_UPPER, j->n,
                                    solver_number(j, j->places, 0), j->factor.lead,
                                    solver_integer(j, j->x.infos, 0), (int)j->count)
                      : (int)SOLVER(j, potrf, handle, CUBLAS_FILL_MODE_UPPER, j->n,
                                    solver_at(j, &j->factor, i), j->factor.lead,
                                    solver_number(j, j->work, 0), j->lwork,
                                    solver_integer(j, j->x.infos, i));
}

static void run_cholesky(solver_job *j)
{
    solver_matrix a = by_columns(j, 2);
    a.output = j->factor.output;
    a.matrix = j->factor.first;
    a.pitch = j->factor.pitch;
    a.down = j->factor.lead;
    a.across = 1;
    a.flags = EXCHANGE_HERMITIAN | EXCHANGE_RAW;
    solver_load(j, &a);
    j->x.extra = j->places;
    if (j->batched)
        solver_launch(j, "pointers", -1, jit_groups(jit_traits_of(j->device), (uint64_t)j->count),
                      &a);
    solver_call(j, j->batched ? "cusolverDnpotrfBatched" : "cusolverDnpotrf", step_cholesky);
    a.place = 1;
    j->x.pivots = CHECK_CHOLESKY;
    solver_launch(j, "check_pivots", 1, (uint64_t)j->count, &a);
    store_part(j, a, 0, j->n, j->n, EXCHANGE_LOWER);
}

const solver_op solver_cholesky = {COLLET_OP_CHOLESKY,
                                   2,
                                   3,
                                   BATCHED_MAX,
                                   reserve_cholesky,
                                   size_cholesky,
                                   run_cholesky,
                                   jit_cholesky,
                                   jit_cholesky_accepts,
                                   WAY_CHOLESKY};

/* ---- lu and solve ---------------------------------------------------------------------------- */

static int reserve_lu(solver_job *j)
{
    j->a = solver_reserve_numbers(j, j->count * j->m * j->n);
    j->pivots = solver_reserve(j, j->count * j->min_extent, sizeof(int));
    return 1;
}

static int size_lu(solver_job *j, cuda_solver *library)
{
    return (int)SOLVER(j, getrf_bufferSize, library->sizes, j->m, j->n, NULL, j->m, &j->lwork);
}

static int step_lu(const solver_job *j, cusolverDnHandle_t handle, int64_t i)
{
    int *pivots = solver_integer(j, j->pivots, i * j->min_extent),
        *info = solver_integer(j, j->x.infos, i);
    void *a = matrix_at(j, i);
    int result = (int)SOLVER(j, getrf, handle, j->m, j->n, a, j->m, solver_number(j, j->work, 0),
                             pivots, info);
    if (result == CUSOLVER_STATUS_SUCCESS && j->columns)
        result = (int)SOLVER(j, getrs, handle, CUBLAS_OP_N, j->n, j->columns, a, j->n, pivots,
                             solver_number(j, j->b, i * j->n * j->columns), j->n, info);
    return result;
}

static void run_lu(solver_job *j)
{
    solver_matrix whole = by_columns(j, 4);
    j->x.extra = j->pivots;
    j->x.extra_pitch = j->min_extent;
    solver_load(j, &whole);
    solver_call(j, "cusolverDngetrf", step_lu);
    whole.place = 3;
    j->x.pivots = CHECK_LU;
    solver_launch(j, "check_pivots", 3, (uint64_t)j->count, &whole);
    whole.place = 0;
    solver_launch(j, "order_rows", 0, (uint64_t)j->count, &whole);
    store_part(j, whole, 1, j->m, j->min_extent, EXCHANGE_LOWER | EXCHANGE_UNIT);
    store_part(j, whole, 2, j->min_extent, j->n, EXCHANGE_UPPER | EXCHANGE_SCALED);
}

const solver_op solver_lu = {COLLET_OP_LU,   4,     5, 0, reserve_lu, size_lu, run_lu, jit_lu,
                             jit_lu_accepts, WAY_LU};

/* Operands of the batch: x, b, a. */
static int reserve_solve(solver_job *j)
{
    static const uint32_t batch[] = {0, 3, 2};
    int64_t columns = operand_extent(operand_of(j->call, 3), 0);
    if (columns < 1 || columns > INT_MAX)
        return 0;
    for (uint32_t k = 0; k < 3; k++)
        jit_batch_operand(&j->x.operands, k, operand_of(j->call, batch[k]));
    j->columns = (int)columns;
    j->b = solver_reserve_numbers(j, j->count * j->n * columns);
    j->noted = solver_reserve(j, j->count * columns, sizeof(int));
    return reserve_lu(j);
}

static void run_solve(solver_job *j)
{
    uint64_t notes = (uint64_t)(j->count * j->columns) * sizeof(int);
    solver_matrix a = by_columns(j, 2), b = a;
    b.k = 3;
    b.place = 1;
    b.n = j->columns;
    b.matrix = j->b;
    b.pitch = (int64_t)j->n * j->columns;
    b.flags = EXCHANGE_RAW | EXCHANGE_NOTED;
    j->x.extra = j->noted;
    j->x.extra_pitch = j->columns;
    j->x.pivots = CHECK_SOLVE;
    j->status = cuda_clear(j->device, j->queue, j->call->workspace, (uint64_t)j->noted, notes,
                           j->call->err);
    solver_load(j, &a);
    solver_load(j, &b);
    solver_call(j, "cusolverDngetrf and getrs", step_lu);
    solver_launch(j, "check_pivots", 1, (uint64_t)j->count, &a);
    solver_launch(j, "check_batch", 1, 1, &a);
    b.k = b.place = 0;
    b.flags = EXCHANGE_NOTED | EXCHANGE_SCALED_BACK;
    solver_store(j, &b);
}

const solver_op solver_solve = {COLLET_OP_SOLVE,   2,        0,         0,
                                reserve_solve,     size_lu,  run_solve, jit_solve,
                                jit_solve_accepts, WAY_SOLVE};

/* ---- qr -------------------------------------------------------------------------------------- */

static int reserve_qr(solver_job *j)
{
    j->a = solver_reserve_numbers(j, j->count * j->m * j->n);
    j->taus = solver_reserve_numbers(j, j->count * j->min_extent);
    j->signs = solver_reserve_numbers(j, j->count * j->min_extent);
    return 1;
}

static int size_qr(solver_job *j, cuda_solver *library)
{
    int other = 0;
    int result =
        (int)SOLVER(j, geqrf_bufferSize, library->sizes, j->m, j->n, NULL, j->m, &j->lwork);
    if (result == CUSOLVER_STATUS_SUCCESS)
        result = (int)SOLVER(j, orgqr_bufferSize, library->sizes, j->m, j->min_extent,
                             j->min_extent, NULL, j->m, NULL, &other);
    j->lwork = j->lwork > other ? j->lwork : other;
    return result;
}

static int step_reflectors(const solver_job *j, cusolverDnHandle_t handle, int64_t i)
{
    return (int)SOLVER(j, geqrf, handle, j->m, j->n, matrix_at(j, i), j->m,
                       solver_number(j, j->taus, i * j->min_extent), solver_number(j, j->work, 0),
                       j->lwork, solver_integer(j, j->x.infos, i));
}

static int step_product(const solver_job *j, cusolverDnHandle_t handle, int64_t i)
{
    return (int)SOLVER(j, orgqr, handle, j->m, j->min_extent, j->min_extent, matrix_at(j, i), j->m,
                       solver_number(j, j->taus, i * j->min_extent), solver_number(j, j->work, 0),
                       j->lwork, solver_integer(j, j->x.infos, i));
}

static void run_qr(solver_job *j)
{
    solver_matrix whole = by_columns(j, 2);
    j->x.extra = j->signs;
    j->x.extra_pitch = j->min_extent;
    solver_load(j, &whole);
    solver_call(j, "cusolverDngeqrf", step_reflectors);
    solver_launch(j, "find_signs", -1, (uint64_t)j->count, &whole);
    store_part(j, whole, 1, j->min_extent, j->n,
               EXCHANGE_UPPER | EXCHANGE_SCALED | EXCHANGE_SIGN_ROWS);
    solver_call(j, "cusolverDnorgqr", step_product);
    store_part(j, whole, 0, j->m, j->min_extent, EXCHANGE_SIGN_COLUMNS);
}

const solver_op solver_qr = {COLLET_OP_QR,   2,     3, 0, reserve_qr, size_qr, run_qr, jit_qr,
                             jit_qr_accepts, WAY_QR};
