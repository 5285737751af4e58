/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the implementation of a decomposition. Small matrices use our own code. All CPU backends share most of
 * this code. Our threads divide the batch. Large matrices use LAPACK, on the library's own threads if the batch has too
 * few matrices for our threads. Without a usable OpenBLAS our code handles all sizes.
 * Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c,
 * tests/host/test_decompositions.c */
#include "cpu_openmp/runtime/device.h"

#include <stdatomic.h>
#include "cpu_openmp/providers/ways.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/linalg/decompositions.h"
#include "kernel_eigen3.h"
#include "kernel_solve.h"
#include "shared/host/linalg/matrices.h"
#include "cpu_openmp/linalg/explain.h"
#include "lapack.h"

/* Minimum number of symmetric 3 x 3 matrices per thread. */
#define GRAIN_EIGEN3 1024

#define SOLVE_FEW 2 /* matrices */

/* ---- eigh, 3 x 3 ----------------------------------------------------------------------------- */

typedef struct eigen3_job {
    const collet_device *device;
    const collet_kernel_call *call;
    int64_t run; /* matrices that are one step apart in every operand */
} eigen3_job;

enum { VALUES, VECTORS, INFO, MATRIX, EIGH_OPERANDS };
static const int32_t own_axes[EIGH_OPERANDS] = {1, 2, 0, 2};

/* Bytes between matrices along the last batch axis that has more than one matrix. */
static int64_t batch_step(const collet_operand *o, int32_t axes)
{
    for (int32_t i = o->ndim - axes - 1; i >= 0; i--) {
        if (o->shape[i] > 1)
            return cpu_step(o, i);
    }
    return 0;
}

/* The number of matrices that are one batch_step apart in every operand. */
static int64_t batch_run(const collet_kernel_call *call)
{
    const collet_operand *info = operand_of(call, INFO);
    int64_t run = 1;
    for (int32_t i = info->ndim - 1; i >= 0; i--) {
        if (info->shape[i] == 1)
            continue;
        for (uint32_t k = 0; k < EIGH_OPERANDS; k++) {
            const collet_operand *o = operand_of(call, k);
            if (run > 1 && cpu_step(o, i) != run * batch_step(o, own_axes[k]))
                return run;
        }
        run *= info->shape[i];
    }
    return run;
}

static TEAM_BODY(eigen3_part)
{
    const eigen3_job *job = argument;
    const collet_operand *o[EIGH_OPERANDS];
    for (uint32_t k = 0; k < EIGH_OPERANDS; k++)
        o[k] = operand_of(job->call, k);
    int32_t last = o[MATRIX]->ndim - 1;
    eigen3_batch b = {.matrix_step = batch_step(o[MATRIX], 2),
                      .matrix_row = cpu_step(o[MATRIX], last - 1),
                      .matrix_column = cpu_step(o[MATRIX], last),
                      .values_step = batch_step(o[VALUES], 1),
                      .values_row = cpu_step(o[VALUES], last - 1),
                      .vectors_step = batch_step(o[VECTORS], 2),
                      .vectors_row = cpu_step(o[VECTORS], last - 1),
                      .vectors_column = cpu_step(o[VECTORS], last),
                      .info_step = batch_step(o[INFO], 0)};
    for (int64_t index = begin; index < end; index += b.n) {
        int64_t left = job->run - index % job->run;
        b.n = left < end - index ? left : end - index;
        b.matrix = cpu_matrix_at(o[MATRIX], 2, index);
        b.values = cpu_matrix_at(o[VALUES], 1, index);
        b.vectors = cpu_matrix_at(o[VECTORS], 2, index);
        b.info = cpu_matrix_at(o[INFO], 0, index);
        job->device->level->eigen3->run[o[MATRIX]->dtype == COLLET_F64](&b);
    }
}

/* eigh of a call whose matrices are 3 x 3, on the device's threads. It needs no scratch. */
static void small_eigh3(const collet_device *device, const collet_kernel_call *call)
{
    eigen3_job job = {.device = device, .call = call, .run = batch_run(call)};
    team_run(device->threads, cpu_decomposition_count(call), GRAIN_EIGEN3, eigen3_part, &job);
}

/* ---- solve, cholesky ------------------------------------------------------------------------- */

/* The operands of a call: solve has b, cholesky has no b. */
typedef struct operands {
    const collet_operand *x, *a, *b;
} operands;

static operands operands_of_call(const collet_kernel_call *call)
{
    operands o = {.x = operand_of(call, 0), .a = operand_of(call, 2)};
    if (call->op == COLLET_OP_SOLVE)
        o.b = operand_of(call, 3);
    return o;
}

/* Whether computing one matrix in each vector lane is faster than computing one matrix at a time, even by LAPACK. This
 * holds for solve and cholesky of more than SOLVE_FEW small real matrices. */
static int small_takes(const collet_kernel_call *call)
{
    if (call->op != COLLET_OP_SOLVE && call->op != COLLET_OP_CHOLESKY)
        return 0;
    const collet_operand *x = operand_of(call, 0);
    int64_t n = operand_extent(x, 1), columns = operand_extent(x, 0);
    return part_of(x->dtype) == x->dtype && n > 0 && n <= SOLVE_ORDER && columns > 0 &&
           columns <= SOLVE_COLUMNS && cpu_decomposition_count(call) > SOLVE_FEW;
}

/* Like cpu_decomposition_run (shared/host/linalg/decompositions.h), but vectorised across matrices
 * if small_takes the call. Each thread needs a scratch of small_scratch bytes. */
static uint64_t small_scratch(const collet_kernel_call *call)
{
    uint64_t bytes = cpu_decomposition_scratch(call);
    return small_takes(call) && bytes < SOLVE_BYTES ? SOLVE_BYTES : bytes;
}

static solve_group group_of(const operands *o)
{
    const collet_operand *x = o->x, *a = o->a, *b = o->b;
    solve_group g = {.n = operand_extent(x, 1)};
    g.a_row = cpu_step(a, a->ndim - 2);
    g.a_column = cpu_step(a, a->ndim - 1);
    g.x_row = cpu_step(x, x->ndim - 2);
    g.x_column = cpu_step(x, x->ndim - 1);
    if (b) {
        g.columns = operand_extent(x, 0);
        g.b_row = cpu_step(b, b->ndim - 2);
        g.b_column = cpu_step(b, b->ndim - 1);
    }
    return g;
}

static int64_t small_run(const collet_device *device, const collet_kernel_call *call, void *scratch,
                  int64_t begin, int64_t end)
{
    if (!small_takes(call))
        return cpu_decomposition_run(call, scratch, begin, end);
    const solve_kernels *kernels = device->level->solve;
    operands o = operands_of_call(call);
    solve_group g = group_of(&o);
    int wide = o.x->dtype == COLLET_F64;
    int64_t singular = end;
    for (int64_t first = begin; first < end; first += g.count) {
        int64_t left = end - first;
        g.count = left < kernels->lanes[wide] ? (int32_t)left : kernels->lanes[wide];
        for (int32_t i = 0; i < g.count; i++) {
            g.a[i] = cpu_matrix_at(o.a, 2, first + i);
            g.b[i] = o.b ? cpu_matrix_at(o.b, 2, first + i) : g.a[i];
            g.x[i] = cpu_matrix_at(o.x, 2, first + i);
        }
        uint32_t refused = (o.b ? kernels->solve : kernels->cholesky)[wide](&g, scratch);
        for (int32_t i = 0; i < g.count; i++) {
            int64_t index = first + i;
            if (refused >> i & 1) {
                if (cpu_decomposition_run(call, scratch, index, index + 1) == index &&
                    singular == end)
                    singular = index;
            } else if (!o.b) {
                cpu_info_store(operand_of(call, 1), index, 0);
            }
        }
    }
    return singular;
}

/* Minimum number of elements times the shorter side per thread. */
#define GRAIN (16 << 10)

/* From this length of the shorter side on, LAPACK's threads speed up a single matrix. */
#define THREADED 192

typedef struct routine {
    void (*large)(const lapack_job *job, void *scratch, int64_t begin, int64_t end);
    void (*large_scratch)(const collet_kernel_call *call, lapack_pieces *p);
    int way;            /* WAY_LU ... */
    int64_t large_from; /* without measurements, LAPACK is used if the shorter side has this length or more */
} routine;

static const routine routines[] = {
    [COLLET_OP_LU] = {lapack_lu, lapack_lu_scratch, WAY_LU, 28},
    [COLLET_OP_SOLVE] = {NULL, lapack_solve_scratch, WAY_SOLVE, 28},
    [COLLET_OP_QR] = {lapack_qr, lapack_qr_scratch, WAY_QR, 36},
    [COLLET_OP_SVD] = {lapack_svd, lapack_svd_scratch, WAY_SVD, 32},
    [COLLET_OP_EIGH] = {lapack_eigh, lapack_eigh_scratch, WAY_EIGH, 36},
    [COLLET_OP_EIG] = {lapack_eig, lapack_eig_scratch, WAY_EIG, 16},
    [COLLET_OP_CHOLESKY] = {lapack_cholesky, lapack_cholesky_scratch, WAY_CHOLESKY, 6},
};
static const routine qr_complex = {lapack_qr_complex, lapack_qr_complex_scratch, WAY_QR, 36};

/* A call and its implementation. */
typedef struct batch {
    const routine *routine;
    lapack_job job; /* if its library is NULL, the shared code runs */
    int64_t count;
    int32_t threads;          /* the team's threads; 1 if LAPACK uses its own threads */
    uint64_t scratch;         /* bytes per thread of the team */
    _Atomic int64_t singular; /* the first singular matrix, or the number of matrices */
} batch;

/* Pieces are aligned to cache lines. */
static uint64_t padded(uint64_t bytes)
{
    return bytes > UINT64_MAX - 63 ? UINT64_MAX : (bytes + 63) & ~(uint64_t)63;
}

static int64_t shorter_side(const collet_kernel_call *call)
{
    const collet_operand *a = operand_of(call, call->n_out);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0);
    return m < n ? m : n;
}

static way usual_way(const routine *r, int64_t side)
{
    return side >= r->large_from ? WAY_OPENBLAS : WAY_OWN;
}

/* Whether LAPACK is used for matrices with this shorter side. For sides below half of large_from LAPACK is never
 * used, even if it is faster, because our singular values and solutions are more exact. */
static int is_large(const collet_device *device, const routine *r, blas_type type, int64_t side)
{
    return side >= r->large_from / 2 &&
           ways_choose(device->ways, WAY_OP(r->way, (int)type, 0), (double)side, usual_way(r, side),
                       NULL) != WAY_OWN;
}

static batch make_batch(const collet_device *device, const collet_kernel_call *call)
{
    collet_dtype dtype = operand_of(call, call->n_out)->dtype;
    int parts = part_of(dtype) == dtype ? 1 : 2;
    const routine *r = call->op == COLLET_OP_QR && parts == 2 ? &qr_complex : &routines[call->op];
    int64_t side = shorter_side(call);
    batch b = {.routine = r, .count = cpu_decomposition_count(call), .threads = device->threads};
    b.job = (lapack_job){.device = device, .call = call, .threads = 1};
    b.job.wide = part_of(dtype) == COLLET_F64;
    b.job.parts = parts;
    b.job.size = (int64_t)cpu_dtype_size(dtype);
    b.job.type = (blas_type)(b.job.wide + (parts == 2 ? BLAS_C64 : 0));
    if (b.count > 0 && !small_takes(call) && is_large(device, r, b.job.type, side) &&
        lapack_takes(call)) {
        b.job.library = blas_open(NULL);
        b.job.lapack = b.job.library ? blas_lapack_of(b.job.library, b.job.type) : NULL;
        if (!b.job.lapack)
            b.job.library = NULL;
    }
    if (b.job.library && b.count < device->threads && side >= THREADED) {
        b.job.threads = device->threads;
        b.threads = 1;
    }
    b.threads = b.count < b.threads ? (int32_t)b.count : b.threads;
    lapack_pieces pieces = {0};
    if (b.job.library)
        r->large_scratch(call, &pieces);
    uint64_t small = small_scratch(call);
    b.scratch = padded(pieces.used > small ? pieces.used : small);
    return b;
}

static void *scratch_of(const batch *b, int32_t thread)
{
    char *all = b->job.call->workspace;
    return all ? all + (uint64_t)thread * b->scratch : NULL;
}

static TEAM_BODY(run_part)
{
    const batch *b = argument;
    void *scratch = scratch_of(b, thread);
    if (b->job.library)
        b->routine->large(&b->job, scratch, begin, end);
    else
        (void)small_run(b->job.device, b->job.call, scratch, begin, end);
}

static TEAM_BODY(solve_part)
{
    batch *b = argument;
    void *scratch = scratch_of(b, thread);
    int64_t found = b->job.library ? lapack_solve(&b->job, scratch, begin, end)
                                   : small_run(b->job.device, b->job.call, scratch, begin, end);
    int64_t first = atomic_load(&b->singular);
    while (found < end && found < first &&
           !atomic_compare_exchange_weak(&b->singular, &first, found)) {
    }
}

static void run_batch(batch *b, team_body body)
{
    const collet_operand *a = operand_of(b->job.call, b->job.call->n_out);
    double work = (double)operand_extent(a, 1) * (double)operand_extent(a, 0) *
                      (double)shorter_side(b->job.call) +
                  1.0;
    int64_t grain = work > (double)GRAIN ? 1 : (int64_t)((double)GRAIN / work) + 1;
    int32_t callers = (int32_t)(b->count < b->threads ? b->count : b->threads);
    blas_use use;
    if (b->job.library && !blas_begin(b->job.library, callers))
        b->job.library = NULL;
    int shared = b->job.library && b->job.threads == 1;
    if (shared)
        (void)blas_enter(b->job.library, &use, 1);
    team_run(b->threads, b->count, grain, body, b);
    if (shared)
        blas_leave(b->job.library, &use);
    if (b->job.library)
        blas_end(b->job.library, callers);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static int is_eigh3(const collet_kernel_call *call)
{
    const collet_operand *a = operand_of(call, call->n_out);
    return call->op == COLLET_OP_EIGH && shorter_side(call) == 3 && part_of(a->dtype) == a->dtype;
}

ACCEPTS(decompose)
{
    batch b = make_batch(device, call);
    uint64_t bytes;
    if (is_eigh3(call))
        return COLLET_OK;
    *workspace_bytes =
        __builtin_mul_overflow(b.scratch, (uint64_t)b.threads, &bytes) ? UINT64_MAX : bytes;
    return COLLET_OK;
}

KERNEL(decompose)
{
    if (is_eigh3(call)) {
        small_eigh3(device, call);
        return COLLET_OK;
    }
    batch b = make_batch(device, call);
    run_batch(&b, run_part);
    return COLLET_OK;
}

KERNEL(solve)
{
    batch b = make_batch(device, call);
    atomic_init(&b.singular, b.count);
    run_batch(&b, solve_part);
    cpu_solve_info(call, atomic_load(&b.singular));
    return COLLET_OK;
}

static const char *why_not(const collet_kernel_call *call)
{
    const char *reason = "";
    if (!blas_open(&reason))
        return reason;
    return lapack_takes(call) ? "it has no LAPACK" : "a matrix is too large";
}

void explain_decomposition(const collet_device *device, const collet_kernel_call *call, text *out)
{
    batch b = make_batch(device, call);
    int64_t side = shorter_side(call);
    const routine *r = b.routine;
    if (is_eigh3(call)) {
        text_add(out, "own kernel for 3 x 3, one matrix per vector lane");
        return;
    }
    if (small_takes(call)) {
        text_add(out, "own kernel for batches up to 16 x 16, one matrix per vector lane");
        return;
    }
    if (b.job.library)
        explain_library(out, b.job.library, NULL);
    else
        text_add(out, "own kernels");
    text_add(out, ", %d thread%s a matrix; ", (int)b.job.threads, b.job.threads > 1 ? "s" : "");
    if (side < r->large_from / 2)
        text_add(out, "a library is used from side %lld on", (long long)r->large_from / 2);
    else if (!b.job.library && is_large(device, r, b.job.type, side))
        text_add(out, "OpenBLAS cannot be used for it: %s", why_not(call));
    else
        ways_explain(out, device->ways, WAY_OP(r->way, (int)b.job.type, 0), (double)side,
                     usual_way(r, side));
}
