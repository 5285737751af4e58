/* SPDX-License-Identifier: Apache-2.0 */
#include "../cpu/decompositions.h"

#include <stdatomic.h>

#include "../cpu/matrices.h"
#include "device.h"
#include "team.h"

/* Elements times the shorter side that a thread should have to itself. */
#define GRAIN (16 << 10)

typedef void (*decomposition)(const collet_kernel_call *call, void *scratch, int64_t begin,
                              int64_t end);

typedef struct batch {
    const collet_kernel_call *call;
    decomposition run;
    uint64_t scratch;         /* bytes a thread */
    _Atomic int64_t singular; /* the first matrix that is, or their count */
} batch;

static void *scratch_of(const batch *b, int32_t thread)
{
    return b->call->workspace ? (char *)b->call->workspace + (uint64_t)thread * b->scratch : NULL;
}

static void run_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const batch *b = argument;
    b->run(b->call, scratch_of(b, thread), begin, end);
}

static void solve_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    batch *b = argument;
    int64_t found = cpu_solve(b->call, scratch_of(b, thread), begin, end);
    int64_t least = atomic_load(&b->singular);
    while (found < end && found < least &&
           !atomic_compare_exchange_weak(&b->singular, &least, found)) {
    }
}

/* Pieces begin where a cache line does. */
static uint64_t padded(uint64_t bytes)
{
    return bytes > UINT64_MAX - 63 ? UINT64_MAX : (bytes + 63) & ~(uint64_t)63;
}

/* A scratch for each thread that may get a matrix. */
static uint64_t workspace(const collet_device *device, const collet_kernel_call *call,
                          uint64_t scratch)
{
    int64_t count = cpu_decomposition_count(call);
    uint64_t threads = (uint64_t)(count < device->threads ? count : device->threads), bytes;
    return __builtin_mul_overflow(padded(scratch), threads, &bytes) ? UINT64_MAX : bytes;
}

static void share(const collet_device *device, batch *b, team_body body)
{
    const collet_operand *a = cpu_operand(b->call, b->call->n_out);
    double m = (double)cpu_extent(a, 1), n = (double)cpu_extent(a, 0);
    double work = m * n * (m < n ? m : n) + 1.0;
    int64_t grain = work > (double)GRAIN ? 1 : (int64_t)((double)GRAIN / work) + 1;
    team_run(device->threads, cpu_decomposition_count(b->call), grain, body, b);
}

static collet_status decompose(const collet_device *device, const collet_kernel_call *call,
                               decomposition run, uint64_t scratch)
{
    batch b = {.call = call, .run = run, .scratch = padded(scratch)};
    share(device, &b, run_part);
    return COLLET_OK;
}

WORKSPACE(lu)
{
    return workspace(device, call, cpu_lu_scratch(call));
}

KERNEL(lu)
{
    return decompose(device, call, cpu_lu, cpu_lu_scratch(call));
}

WORKSPACE(solve)
{
    return workspace(device, call, cpu_solve_scratch(call));
}

KERNEL(solve)
{
    batch b = {.call = call, .scratch = padded(cpu_solve_scratch(call))};
    atomic_init(&b.singular, cpu_decomposition_count(call));
    share(device, &b, solve_part);
    cpu_solve_info(call, atomic_load(&b.singular));
    return COLLET_OK;
}

WORKSPACE(qr)
{
    return workspace(device, call, cpu_qr_scratch(call));
}

KERNEL(qr)
{
    return decompose(device, call, cpu_qr, cpu_qr_scratch(call));
}

WORKSPACE(svd)
{
    return workspace(device, call, cpu_svd_scratch(call));
}

KERNEL(svd)
{
    return decompose(device, call, cpu_svd, cpu_svd_scratch(call));
}

WORKSPACE(eigh)
{
    return workspace(device, call, cpu_eigh_scratch(call));
}

KERNEL(eigh)
{
    return decompose(device, call, cpu_eigh, cpu_eigh_scratch(call));
}

WORKSPACE(cholesky)
{
    return workspace(device, call, cpu_cholesky_scratch(call));
}

KERNEL(cholesky)
{
    return decompose(device, call, cpu_cholesky, cpu_cholesky_scratch(call));
}
