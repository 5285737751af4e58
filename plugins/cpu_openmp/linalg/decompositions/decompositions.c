/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the implementation of a decomposition: for small matrices our own code, most of it shared
 * by all CPU backends, with the batch divided among threads; for large ones LAPACK, with the
 * library's threads where the batch has too few matrices for ours. Without a usable OpenBLAS our
 * code handles all sizes.
 * Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c,
 * tests/host/test_decompositions.c
 */
#include "cpu_openmp/runtime/device.h"

#include <stdatomic.h>

#include "cpu_openmp/providers/ways.h"
#include "cpu_openmp/runtime/team.h"
#include "shared/host/linalg/decompositions.h"
#include "shared/host/linalg/matrices.h"
#include "cpu_openmp/linalg/explain.h"
#include "lapack.h"
#include "small.h"

/* Minimum number of elements times the shorter side per thread. */
#define GRAIN (16 << 10)

/* The shorter side from which LAPACK's threads speed up a single matrix. */
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

/* Whether LAPACK is used for matrices with this shorter side. Below half of large_from it never is, even if it is
 * faster: our singular values and solutions are more exact. */
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
