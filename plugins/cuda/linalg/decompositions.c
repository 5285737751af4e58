/* SPDX-License-Identifier: Apache-2.0 */
/* cholesky, lu, solve and qr by cuSOLVER, which is column-major. */
#include "decompositions.h"

#include "shared/jit/linalg/linalg.h"
#include "exchange.h"

/* Largest extent for potrfBatched. */
#define BATCHED_MAX 256

/* Offsets into the workspace; lwork: numbers of cuSOLVER's scratch, which all matrices share. */
typedef struct factors {
    solver_job j;
    int batched, columns, lwork;
    int64_t a, b, work, pivots, noted, places, taus;
} factors;

/* ---- Shared helpers ------------------------------------------------------------------------- */

static void *number(const factors *f, int64_t offset, int64_t index)
{
    return solver_address(&f->j, offset + index * (f->j.wide ? 8 : 4));
}

static int *integer(const factors *f, int64_t offset, int64_t index)
{
    return solver_address(&f->j, offset + index * (int64_t)sizeof(int));
}

static void lock_sizes(collet_device *d)
{
    pthread_mutex_lock(&d->solver.library.lock);
}

static void unlock_sizes(collet_device *d)
{
    pthread_mutex_unlock(&d->solver.library.lock);
}

/* The input in column-major order. */
static solver_matrix by_columns(const factors *f, uint32_t k, uint32_t place, int flags)
{
    return (solver_matrix){.k = k,
                           .place = place,
                           .m = f->j.m,
                           .n = f->j.n,
                           .matrix = f->a,
                           .pitch = (int64_t)f->j.m * f->j.n,
                           .down = 1,
                           .across = f->j.m,
                           .flags = flags};
}

/* Its leading m x n part, for operand k. */
static solver_matrix part_of(solver_matrix whole, uint32_t k, int64_t m, int64_t n, int flags)
{
    whole.k = whole.place = k;
    whole.m = m;
    whole.n = n;
    whole.flags = flags;
    return whole;
}

/* ---- cholesky -------------------------------------------------------------------------------- */

static int plan_cholesky(factors *f, collet_device *d, collet_queue *q,
                         const collet_kernel_call *call)
{
    solver_job *j = &f->j;
    int result = CUSOLVER_STATUS_SUCCESS;
    *f = (factors){.lwork = 0};
    if (!solver_begin(j, d, q, call, 2, 3))
        return 0;
    f->batched = solver_serves_batched(j, BATCHED_MAX);
    if (!f->batched && !solver_serves(j))
        return 0;
    f->a = solver_reserve_numbers(j, j->count * j->n * j->n);
    if (f->batched) {
        f->places = solver_reserve(j, j->count, sizeof(void *));
        return 1;
    }
    lock_sizes(d);
    result = (int)SOLVER(j, potrf_bufferSize, d->solver.sizes, CUBLAS_FILL_MODE_UPPER, j->n, NULL,
                         j->n, &f->lwork);
    unlock_sizes(d);
    f->work = solver_reserve_numbers(j, f->lwork);
    return result == CUSOLVER_STATUS_SUCCESS;
}

/* The row-major matrix is the transpose of a column-major one: the upper factor U = L^T in place is
 * L in row-major order. */
static int call_cholesky(void *context, int *code)
{
    const factors *f = context;
    const solver_job *j = &f->j;
    cusolverDnHandle_t handle = solver_handle(j->queue);
    int result = CUSOLVER_STATUS_SUCCESS;
    if (!handle)
        return CUDA_LIBRARY_NO;
    if (f->batched)
        result = (int)SOLVER(j, potrfBatched, handle, CUBLAS_FILL_MODE_UPPER, j->n,
                             solver_address(j, f->places), j->n, integer(f, j->x.infos, 0),
                             (int)j->count);
    for (int64_t i = 0; i < j->count && !f->batched && result == CUSOLVER_STATUS_SUCCESS; i++)
        result = (int)SOLVER(j, potrf, handle, CUBLAS_FILL_MODE_UPPER, j->n,
                             number(f, f->a, i * j->n * j->n), j->n, number(f, f->work, 0),
                             f->lwork, integer(f, j->x.infos, i));
    return solver_outcome(result, code);
}

static collet_status run_cholesky(factors *f)
{
    solver_job *j = &f->j;
    int n = j->n;
    solver_matrix a = {.k = 2,
                       .place = 2,
                       .m = n,
                       .n = n,
                       .matrix = f->a,
                       .pitch = (int64_t)n * n,
                       .down = n,
                       .across = 1,
                       .flags = EXCHANGE_MIRRORED | EXCHANGE_RAW};
    solver_load(j, &a);
    if (f->batched)
        solver_pointers(j, f->places, &a);
    solver_call(j, f->batched ? "cusolverDnpotrfBatched" : "cusolverDnpotrf", call_cholesky, f);
    a.place = 1;
    solver_launch(j, "check_pivots", 1, CHECK_CHOLESKY, (uint64_t)j->count, &a);
    a = part_of(a, 0, n, n, EXCHANGE_LOWER);
    solver_store(j, &a);
    return j->status;
}

/* ---- lu and solve ---------------------------------------------------------------------------- */

static int plan_lu_of(factors *f)
{
    solver_job *j = &f->j;
    collet_device *d = j->device;
    f->a = solver_reserve_numbers(j, j->count * j->m * j->n);
    f->pivots = solver_reserve(j, j->count * j->min_extent, sizeof(int));
    lock_sizes(d);
    int result =
        (int)SOLVER(j, getrf_bufferSize, d->solver.sizes, j->m, j->n, NULL, j->m, &f->lwork);
    unlock_sizes(d);
    f->work = solver_reserve_numbers(j, f->lwork);
    return result == CUSOLVER_STATUS_SUCCESS;
}

static int plan_lu(factors *f, collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    *f = (factors){.lwork = 0};
    return solver_begin(&f->j, d, q, call, 4, 5) && solver_serves(&f->j) && plan_lu_of(f);
}

static int call_lu(void *context, int *code)
{
    const factors *f = context;
    const solver_job *j = &f->j;
    cusolverDnHandle_t handle = solver_handle(j->queue);
    int result = CUSOLVER_STATUS_SUCCESS;
    if (!handle)
        return CUDA_LIBRARY_NO;
    for (int64_t i = 0; i < j->count && result == CUSOLVER_STATUS_SUCCESS; i++) {
        int *pivots = integer(f, f->pivots, i * j->min_extent), *info = integer(f, j->x.infos, i);
        void *a = number(f, f->a, i * j->m * j->n);
        result =
            (int)SOLVER(j, getrf, handle, j->m, j->n, a, j->m, number(f, f->work, 0), pivots, info);
        if (result == CUSOLVER_STATUS_SUCCESS && f->columns)
            result = (int)SOLVER(j, getrs, handle, CUBLAS_OP_N, j->n, f->columns, a, j->n, pivots,
                                 number(f, f->b, i * j->n * f->columns), j->n, info);
    }
    return solver_outcome(result, code);
}

static collet_status run_lu(factors *f)
{
    solver_job *j = &f->j;
    solver_matrix whole = by_columns(f, 4, 4, 0), part = whole;
    j->x.extra = f->pivots;
    j->x.extra_pitch = j->min_extent;
    solver_load(j, &whole);
    solver_call(j, "cusolverDngetrf", call_lu, f);
    whole.place = 3;
    solver_launch(j, "check_pivots", 3, CHECK_LU, (uint64_t)j->count, &whole);
    whole.place = 0;
    solver_launch(j, "order_rows", 0, -1, (uint64_t)j->count, &whole);
    part = part_of(whole, 1, j->m, j->min_extent, EXCHANGE_LOWER | EXCHANGE_UNIT);
    solver_store(j, &part);
    part = part_of(whole, 2, j->min_extent, j->n, EXCHANGE_UPPER | EXCHANGE_SCALED);
    solver_store(j, &part);
    return j->status;
}

/* Operands of the batch: x, b, a. */
static int plan_solve(factors *f, collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    const collet_operand *b = jit_operand(call, 3);
    int64_t columns = jit_extent(b, 0);
    *f = (factors){.lwork = 0};
    if (columns < 1 || columns > INT_MAX || !solver_begin(&f->j, d, q, call, 2, 0))
        return 0;
    jit_batch_operand(&f->j.x.operands, 0, jit_operand(call, 0));
    jit_batch_operand(&f->j.x.operands, 1, b);
    jit_batch_operand(&f->j.x.operands, 2, jit_operand(call, 2));
    f->columns = (int)columns;
    if (!solver_serves(&f->j) || !plan_lu_of(f))
        return 0;
    f->b = solver_reserve_numbers(&f->j, f->j.count * f->j.n * columns);
    f->noted = solver_reserve(&f->j, f->j.count * columns, sizeof(int));
    return 1;
}

static collet_status run_solve(factors *f)
{
    solver_job *j = &f->j;
    const uint8_t zero = 0;
    uint64_t notes = (uint64_t)(j->count * f->columns) * sizeof(int);
    solver_matrix a = by_columns(f, 2, 2, 0), b = a;
    b.k = 3;
    b.place = 1;
    b.n = f->columns;
    b.matrix = f->b;
    b.pitch = (int64_t)j->n * f->columns;
    b.flags = EXCHANGE_RAW | EXCHANGE_NOTED;
    j->x.extra = f->noted;
    j->x.extra_pitch = f->columns;
    j->status = jit_vtable()->buffer_fill(j->device, j->queue, j->call->workspace,
                                          (uint64_t)f->noted, notes, &zero, 1, j->call->err);
    solver_load(j, &a);
    solver_load(j, &b);
    solver_call(j, "cusolverDngetrf and getrs", call_lu, f);
    solver_launch(j, "check_pivots", 1, CHECK_SOLVE, (uint64_t)j->count, &a);
    solver_launch(j, "check_batch", 1, -1, 1, &a);
    b.k = b.place = 0;
    b.flags = EXCHANGE_NOTED | EXCHANGE_SCALED_BACK;
    solver_store(j, &b);
    return j->status;
}

/* ---- qr -------------------------------------------------------------------------------------- */

static int plan_qr(factors *f, collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    solver_job *j = &f->j;
    int other = 0;
    *f = (factors){.lwork = 0};
    if (!solver_begin(j, d, q, call, 2, 3) || !solver_serves(j))
        return 0;
    f->a = solver_reserve_numbers(j, j->count * j->m * j->n);
    f->taus = solver_reserve_numbers(j, j->count * j->min_extent);
    f->pivots = solver_reserve_numbers(j, j->count * j->min_extent);
    lock_sizes(d);
    int result =
        (int)SOLVER(j, geqrf_bufferSize, d->solver.sizes, j->m, j->n, NULL, j->m, &f->lwork);
    if (result == CUSOLVER_STATUS_SUCCESS)
        result = (int)SOLVER(j, orgqr_bufferSize, d->solver.sizes, j->m, j->min_extent,
                             j->min_extent, NULL, j->m, NULL, &other);
    unlock_sizes(d);
    f->lwork = f->lwork > other ? f->lwork : other;
    f->work = solver_reserve_numbers(j, f->lwork);
    return result == CUSOLVER_STATUS_SUCCESS;
}

static int call_reflectors(void *context, int *code)
{
    const factors *f = context;
    const solver_job *j = &f->j;
    cusolverDnHandle_t handle = solver_handle(j->queue);
    int result = CUSOLVER_STATUS_SUCCESS;
    if (!handle)
        return CUDA_LIBRARY_NO;
    for (int64_t i = 0; i < j->count && result == CUSOLVER_STATUS_SUCCESS; i++)
        result = (int)SOLVER(j, geqrf, handle, j->m, j->n, number(f, f->a, i * j->m * j->n), j->m,
                             number(f, f->taus, i * j->min_extent), number(f, f->work, 0), f->lwork,
                             integer(f, j->x.infos, i));
    return solver_outcome(result, code);
}

static int call_product(void *context, int *code)
{
    const factors *f = context;
    const solver_job *j = &f->j;
    cusolverDnHandle_t handle = solver_handle(j->queue);
    int result = CUSOLVER_STATUS_SUCCESS;
    if (!handle)
        return CUDA_LIBRARY_NO;
    for (int64_t i = 0; i < j->count && result == CUSOLVER_STATUS_SUCCESS; i++)
        result = (int)SOLVER(j, orgqr, handle, j->m, j->min_extent, j->min_extent,
                             number(f, f->a, i * j->m * j->n), j->m,
                             number(f, f->taus, i * j->min_extent), number(f, f->work, 0), f->lwork,
                             integer(f, j->x.infos, i));
    return solver_outcome(result, code);
}

static collet_status run_qr(factors *f)
{
    solver_job *j = &f->j;
    solver_matrix whole = by_columns(f, 2, 2, 0), part;
    j->x.extra = f->pivots; /* the signs */
    j->x.extra_pitch = j->min_extent;
    solver_load(j, &whole);
    solver_call(j, "cusolverDngeqrf", call_reflectors, f);
    solver_launch(j, "find_signs", -1, -1, (uint64_t)j->count, &whole);
    part = part_of(whole, 1, j->min_extent, j->n,
                   EXCHANGE_UPPER | EXCHANGE_SCALED | EXCHANGE_SIGN_ROWS);
    solver_store(j, &part);
    solver_call(j, "cusolverDnorgqr", call_product, f);
    part = part_of(whole, 0, j->m, j->min_extent, EXCHANGE_SIGN_COLUMNS);
    solver_store(j, &part);
    return j->status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct entry {
    int (*plan)(factors *f, collet_device *d, collet_queue *q, const collet_kernel_call *call);
    collet_status (*run)(factors *f);
    collet_status (*own)(collet_device *d, collet_queue *q, const collet_kernel_call *call);
    uint64_t (*own_workspace)(collet_device *d, const collet_kernel_call *call);
} entry;

static const entry cholesky = {plan_cholesky, run_cholesky, jit_cholesky, jit_cholesky_workspace};
static const entry lu = {plan_lu, run_lu, jit_lu, jit_lu_workspace};
static const entry solve = {plan_solve, run_solve, jit_solve, jit_solve_workspace};
static const entry qr = {plan_qr, run_qr, jit_qr, jit_qr_workspace};

static uint64_t workspace_of(const entry *e, collet_device *d, const collet_kernel_call *call)
{
    factors f;
    return e->plan(&f, d, NULL, call) ? solver_scratch_bytes(&f.j) : e->own_workspace(d, call);
}

static collet_status run(const entry *e, collet_device *d, collet_queue *q,
                         const collet_kernel_call *call)
{
    factors f;
    collet_status status = COLLET_REFUSED;
    if (e->plan(&f, d, q, call) && solver_scratch_bytes(&f.j) <= call->workspace_bytes)
        status = e->run(&f);
    if (status != COLLET_REFUSED || e->own_workspace(d, call) > call->workspace_bytes)
        return status;
    return e->own(d, q, call);
}

uint64_t cuda_cholesky_workspace(collet_device *d, const collet_kernel_call *call)
{
    return workspace_of(&cholesky, d, call);
}

collet_status cuda_cholesky(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    return run(&cholesky, d, q, call);
}

uint64_t cuda_lu_workspace(collet_device *d, const collet_kernel_call *call)
{
    return workspace_of(&lu, d, call);
}

collet_status cuda_lu(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    return run(&lu, d, q, call);
}

uint64_t cuda_solve_workspace(collet_device *d, const collet_kernel_call *call)
{
    return workspace_of(&solve, d, call);
}

collet_status cuda_solve(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    return run(&solve, d, q, call);
}

uint64_t cuda_qr_workspace(collet_device *d, const collet_kernel_call *call)
{
    return workspace_of(&qr, d, call);
}

collet_status cuda_qr(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    return run(&qr, d, q, call);
}
