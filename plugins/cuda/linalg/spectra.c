/* SPDX-License-Identifier: Apache-2.0 */
/* eigh and svd by cuSOLVER, which is column-major. */
#include "shared/jit/linalg/linalg.h"

#include "decompositions.h"
#include "exchange.h"

/* Largest extent of the batched functions. */
#define BATCHED_MAX 32

/* For svd the matrices, or their transposes, are rows x columns, rows >= columns. */
typedef struct spectrum {
    solver_job j;
    int batched, transposed, rows, columns, lwork;
    int64_t a, values, left, right, work, rest;
} spectrum;

static void *number(const spectrum *s, int64_t offset, int64_t index)
{
    return solver_address(&s->j, offset + index * (s->j.wide ? 8 : 4));
}

static int *info_of(const spectrum *s, int64_t i)
{
    return solver_address(&s->j, s->j.x.infos + i * (int64_t)sizeof(int));
}

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

/* The values of all matrices, one row per matrix. */
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
                       .flags = EXCHANGE_SCALED};
    solver_store(j, &v);
}

static void check(solver_job *j, int k)
{
    solver_matrix none = {.place = (uint32_t)k, .m = 1, .n = 1};
    solver_launch(j, "check_spectra", k, -1,
                  jit_groups(jit_traits_of(j->device), (uint64_t)j->count), &none);
}

/* ---- eigh ------------------------------------------------------------------------------------ */

static int plan_eigh(spectrum *s, collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    solver_job *j = &s->j;
    cuda_solver *lib = &d->solver;
    *s = (spectrum){.lwork = 0};
    if (!solver_begin(j, d, q, call, 3, 4))
        return 0;
    s->batched = solver_serves_batched(j, BATCHED_MAX);
    if (!s->batched && !solver_serves(j))
        return 0;
    s->a = solver_reserve_numbers(j, j->count * j->n * j->n);
    s->values = solver_reserve_numbers(j, j->count * j->n);
    pthread_mutex_lock(&lib->library.lock);
    int result = s->batched
                     ? (int)SOLVER(j, syevjBatched_bufferSize, lib->sizes, CUSOLVER_EIG_MODE_VECTOR,
                                   CUBLAS_FILL_MODE_LOWER, j->n, NULL, j->n, NULL, &s->lwork,
                                   lib->eigenvalues, (int)j->count)
                     : (int)SOLVER(j, syevd_bufferSize, lib->sizes, CUSOLVER_EIG_MODE_VECTOR,
                                   CUBLAS_FILL_MODE_LOWER, j->n, NULL, j->n, NULL, &s->lwork);
    pthread_mutex_unlock(&lib->library.lock);
    s->work = solver_reserve_numbers(j, s->lwork);
    return result == CUSOLVER_STATUS_SUCCESS;
}

static int call_eigh(void *context, int *code)
{
    const spectrum *s = context;
    const solver_job *j = &s->j;
    cusolverDnHandle_t handle = solver_handle(j->queue);
    int result = CUSOLVER_STATUS_SUCCESS;
    if (!handle)
        return CUDA_LIBRARY_NO;
    if (s->batched)
        result = (int)SOLVER(j, syevjBatched, handle, CUSOLVER_EIG_MODE_VECTOR,
                             CUBLAS_FILL_MODE_LOWER, j->n, number(s, s->a, 0), j->n,
                             number(s, s->values, 0), number(s, s->work, 0), s->lwork,
                             info_of(s, 0), j->device->solver.eigenvalues, (int)j->count);
    for (int64_t i = 0; i < j->count && !s->batched && result == CUSOLVER_STATUS_SUCCESS; i++)
        result =
            (int)SOLVER(j, syevd, handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, j->n,
                        number(s, s->a, i * j->n * j->n), j->n, number(s, s->values, i * j->n),
                        number(s, s->work, 0), s->lwork, info_of(s, i));
    return solver_outcome(result, code);
}

static collet_status run_eigh(spectrum *s)
{
    solver_job *j = &s->j;
    int64_t n = j->n;
    solver_matrix a = columns_of(3, s->a, n, n, n * n, n);
    a.flags = EXCHANGE_MIRRORED;
    solver_load(j, &a);
    solver_call(j, s->batched ? "cusolverDnsyevjBatched" : "cusolverDnsyevd", call_eigh, s);
    check(j, 2);
    store_values(j, 0, s->values, n);
    a = columns_of(1, s->a, n, n, n * n, n);
    solver_store(j, &a);
    return j->status;
}

/* ---- svd ------------------------------------------------------------------------------------- */

/* Columns of U in the workspace: gesvdjBatched makes U square. */
static int left_columns(const spectrum *s)
{
    return s->batched ? s->rows : s->columns;
}

static int size_svd(spectrum *s, cuda_solver *lib)
{
    solver_job *j = &s->j;
    pthread_mutex_lock(&lib->library.lock);
    int result =
        s->batched ? (int)SOLVER(j, gesvdjBatched_bufferSize, lib->sizes, CUSOLVER_EIG_MODE_VECTOR,
                                 s->rows, s->columns, NULL, s->rows, NULL, NULL, s->rows, NULL,
                                 s->columns, &s->lwork, lib->singular_values, (int)j->count)
                   : (int)SOLVER(j, gesvd_bufferSize, lib->sizes, s->rows, s->columns, &s->lwork);
    pthread_mutex_unlock(&lib->library.lock);
    return result == CUSOLVER_STATUS_SUCCESS;
}

static int plan_svd(spectrum *s, collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    solver_job *j = &s->j;
    *s = (spectrum){.lwork = 0};
    if (!solver_begin(j, d, q, call, 4, 5))
        return 0;
    s->batched = solver_serves_batched(j, BATCHED_MAX);
    if (!s->batched && !solver_serves(j))
        return 0;
    /* gesvd requires rows >= columns. */
    s->transposed = j->m < j->n;
    s->rows = s->transposed ? j->n : j->m;
    s->columns = j->min_extent;
    int64_t rows = s->rows, columns = s->columns;
    s->a = solver_reserve_numbers(j, j->count * rows * columns);
    s->values = solver_reserve_numbers(j, j->count * columns);
    s->left = solver_reserve_numbers(j, j->count * rows * left_columns(s));
    s->right = solver_reserve_numbers(j, j->count * columns * columns);
    s->rest = solver_reserve_numbers(j, columns);
    int sized = size_svd(s, &d->solver);
    s->work = solver_reserve_numbers(j, s->lwork);
    return sized;
}

static int call_svd(void *context, int *code)
{
    const spectrum *s = context;
    const solver_job *j = &s->j;
    int64_t rows = s->rows, columns = s->columns;
    cusolverDnHandle_t handle = solver_handle(j->queue);
    int result = CUSOLVER_STATUS_SUCCESS;
    if (!handle)
        return CUDA_LIBRARY_NO;
    if (s->batched)
        result =
            (int)SOLVER(j, gesvdjBatched, handle, CUSOLVER_EIG_MODE_VECTOR, s->rows, s->columns,
                        number(s, s->a, 0), s->rows, number(s, s->values, 0), number(s, s->left, 0),
                        s->rows, number(s, s->right, 0), s->columns, number(s, s->work, 0),
                        s->lwork, info_of(s, 0), j->device->solver.singular_values, (int)j->count);
    for (int64_t i = 0; i < j->count && !s->batched && result == CUSOLVER_STATUS_SUCCESS; i++)
        result = (int)SOLVER(
            j, gesvd, handle, 'S', 'S', s->rows, s->columns, number(s, s->a, i * rows * columns),
            s->rows, number(s, s->values, i * columns), number(s, s->left, i * rows * columns),
            s->rows, number(s, s->right, i * columns * columns), s->columns, number(s, s->work, 0),
            s->lwork, number(s, s->rest, 0), info_of(s, i));
    return solver_outcome(result, code);
}

static collet_status run_svd(spectrum *s)
{
    solver_job *j = &s->j;
    int64_t rows = s->rows, columns = s->columns;
    solver_matrix a = columns_of(4, s->a, rows, columns, rows * columns, rows);
    /* A = U S V^T, A^T = V S U^T. gesvd returns V^T, gesvdjBatched V. */
    solver_matrix left = columns_of(0, s->left, rows, columns, rows * left_columns(s), rows);
    solver_matrix right = columns_of(2, s->right, columns, columns, columns * columns, columns);
    right = s->batched ? transpose_of(right) : right;
    if (s->transposed) {
        a = transpose_of(a);
        left = transpose_of(left);
        right = transpose_of(right);
        left.k = left.place = 2;
        right.k = right.place = 0;
    }
    solver_load(j, &a);
    solver_call(j, s->batched ? "cusolverDngesvdjBatched" : "cusolverDngesvd", call_svd, s);
    check(j, 3);
    store_values(j, 1, s->values, columns);
    solver_store(j, &left);
    solver_store(j, &right);
    return j->status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

uint64_t cuda_eigh_workspace(collet_device *d, const collet_kernel_call *call)
{
    spectrum s;
    return plan_eigh(&s, d, NULL, call) ? solver_scratch_bytes(&s.j) : jit_eigh_workspace(d, call);
}

uint64_t cuda_svd_workspace(collet_device *d, const collet_kernel_call *call)
{
    spectrum s;
    return plan_svd(&s, d, NULL, call) ? solver_scratch_bytes(&s.j) : jit_svd_workspace(d, call);
}

collet_status cuda_eigh(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    spectrum s;
    collet_status status = COLLET_REFUSED;
    if (plan_eigh(&s, d, q, call) && solver_scratch_bytes(&s.j) <= call->workspace_bytes)
        status = run_eigh(&s);
    if (status != COLLET_REFUSED || jit_eigh_workspace(d, call) > call->workspace_bytes)
        return status;
    return jit_eigh(d, q, call);
}

collet_status cuda_svd(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    spectrum s;
    collet_status status = COLLET_REFUSED;
    if (plan_svd(&s, d, q, call) && solver_scratch_bytes(&s.j) <= call->workspace_bytes)
        status = run_svd(&s);
    if (status != COLLET_REFUSED || jit_svd_workspace(d, call) > call->workspace_bytes)
        return status;
    return jit_svd(d, q, call);
}
