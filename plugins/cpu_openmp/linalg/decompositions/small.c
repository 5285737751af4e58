/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c */
#include "small.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/linalg/decompositions.h"
#include "shared/host/linalg/matrices.h"
#include "kernel_eigen3.h"
#include "kernel_solve.h"

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

/* Bytes between matrices along the last batch axis that has more than one. */
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

void small_eigh3(const collet_device *device, const collet_kernel_call *call)
{
    eigen3_job job = {.device = device, .call = call, .run = batch_run(call)};
    team_run(device->threads, cpu_decomposition_count(call), GRAIN_EIGEN3, eigen3_part, &job);
}

/* ---- solve, cholesky ------------------------------------------------------------------------- */

/* The operands of a call: solve has b, cholesky has not. */
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

int small_takes(const collet_kernel_call *call)
{
    if (call->op != COLLET_OP_SOLVE && call->op != COLLET_OP_CHOLESKY)
        return 0;
    const collet_operand *x = operand_of(call, 0);
    int64_t n = operand_extent(x, 1), columns = operand_extent(x, 0);
    return part_of(x->dtype) == x->dtype && n > 0 && n <= SOLVE_ORDER && columns > 0 &&
           columns <= SOLVE_COLUMNS && cpu_decomposition_count(call) > SOLVE_FEW;
}

uint64_t small_scratch(const collet_kernel_call *call)
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

int64_t small_run(const collet_device *device, const collet_kernel_call *call, void *scratch,
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
