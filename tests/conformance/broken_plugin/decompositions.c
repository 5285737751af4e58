/* SPDX-License-Identifier: Apache-2.0 */
/* Defects of decompositions: the shared kernels' results with one error each. */
#include "broken.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared/host/linalg/decompositions.h"

/* As cpu_decomposition_run, of all matrices. */
static int64_t run_correct(const collet_kernel_call *call)
{
    void *scratch = calloc(1, cpu_decomposition_scratch(call) + 8);
    int64_t count = cpu_decomposition_count(call),
            result = scratch ? cpu_decomposition_run(call, scratch, 0, count) : count;
    free(scratch);
    return result;
}

static int64_t extent(const collet_operand *o, int32_t back)
{
    return o->shape[o->ndim - 1 - back];
}

/* Entry (i, j) of matrix `index` as an element number of broken_get and broken_set. */
static int64_t entry(const collet_operand *o, int64_t index, int64_t i, int64_t j)
{
    return (index * extent(o, 1) + i) * extent(o, 0) + j;
}

/* ---- lu ---------------------------------------------------------------------------------------
 */

BROKEN_KERNEL(forgets_its_rows)
{
    const collet_operand *perm = &call->operands[0];
    (void)device, (void)queue;
    (void)run_correct(call);
    for (int64_t i = 0; i < broken_count(perm); i++)
        *(int32_t *)broken_element(perm, i) = (int32_t)(i % extent(perm, 0));
    return COLLET_OK;
}

BROKEN_KERNEL(lu_without_info)
{
    const collet_operand *info = &call->operands[3];
    (void)device, (void)queue;
    (void)run_correct(call);
    for (int64_t i = 0; i < broken_count(info); i++)
        *(int32_t *)broken_element(info, i) = 0;
    return COLLET_OK;
}

/* ---- solve ------------------------------------------------------------------------------------
 */

BROKEN_KERNEL(counts_from_zero)
{
    int64_t singular = run_correct(call);
    (void)device, (void)queue;
    cpu_solve_info(call, singular < cpu_decomposition_count(call) ? singular - 1 : singular);
    return COLLET_OK;
}

/* In systems of more than twenty unknowns the fourth digit of the first is wrong. */
BROKEN_KERNEL(loses_a_digit)
{
    const collet_operand *x = &call->operands[0];
    (void)device, (void)queue;
    cpu_solve_info(call, run_correct(call));
    if (extent(x, 1) > 20 && broken_count(x) > 0)
        broken_set(x, 0, broken_get(x, 0) * 1.001);
    return COLLET_OK;
}

/* ---- qr ---------------------------------------------------------------------------------------
 */

/* Multiplies column 0 of every Q by `factor`, divides row 0 of R: the product is unchanged. */
static void scale_first(const collet_kernel_call *call, double factor)
{
    const collet_operand *q = &call->operands[0], *r = &call->operands[1];
    (void)run_correct(call);
    for (int64_t index = 0; extent(r, 1) > 0 && index < cpu_decomposition_count(call); index++) {
        for (int64_t i = 0; i < extent(q, 1); i++)
            broken_set(q, entry(q, index, i, 0), broken_get(q, entry(q, index, i, 0)) * factor);
        for (int64_t j = 0; j < extent(r, 0); j++)
            broken_set(r, entry(r, index, 0, j), broken_get(r, entry(r, index, 0, j)) / factor);
    }
}

BROKEN_KERNEL(leaves_signs)
{
    (void)device, (void)queue;
    scale_first(call, -1);
    return COLLET_OK;
}

BROKEN_KERNEL(stretches_columns)
{
    (void)device, (void)queue;
    scale_first(call, 1.03125);
    return COLLET_OK;
}

/* ---- svd --------------------------------------------------------------------------------------
 */

static void swap(const collet_operand *o, int64_t a, int64_t b)
{
    double x = broken_get(o, a);
    broken_set(o, a, broken_get(o, b));
    broken_set(o, b, x);
}

/* Swaps the first two triplets. */
BROKEN_KERNEL(sorts_upwards)
{
    const collet_operand *u = &call->operands[0], *s = &call->operands[1], *vt = &call->operands[2];
    (void)device, (void)queue;
    (void)run_correct(call);
    for (int64_t index = 0; extent(s, 0) > 1 && index < cpu_decomposition_count(call); index++) {
        swap(s, index * extent(s, 0), index * extent(s, 0) + 1);
        for (int64_t i = 0; i < extent(u, 1); i++)
            swap(u, entry(u, index, i, 0), entry(u, index, i, 1));
        for (int64_t j = 0; j < extent(vt, 0); j++)
            swap(vt, entry(vt, index, 0, j), entry(vt, index, 1, j));
    }
    return COLLET_OK;
}

/* Like a U computed as A V divided by zero singular values. */
BROKEN_KERNEL(drops_null_vectors)
{
    const collet_operand *u = &call->operands[0], *s = &call->operands[1];
    int64_t last = extent(s, 0) - 1;
    (void)device, (void)queue;
    (void)run_correct(call);
    for (int64_t index = 0; last > 0 && index < cpu_decomposition_count(call); index++) {
        int64_t at = index * (last + 1);
        if (!(broken_get(s, at + last) < 1e-5 * broken_get(s, at)))
            continue;
        for (int64_t i = 0; i < extent(u, 1); i++)
            broken_set(u, entry(u, index, i, last), 0);
    }
    return COLLET_OK;
}

/* ---- eigh -------------------------------------------------------------------------------------
 */

BROKEN_KERNEL(reads_the_upper_triangle)
{
    collet_operand operands[4];
    collet_kernel_call transposed = *call;
    int64_t strides[COLLET_MAX_DIMS];
    int32_t last = call->operands[3].ndim - 1;
    (void)device, (void)queue;
    for (int i = 0; i < 4; i++)
        operands[i] = call->operands[i];
    for (int32_t i = 0; i <= last; i++)
        strides[i] = operands[3].strides[i];
    strides[last] = operands[3].strides[last - 1];
    strides[last - 1] = operands[3].strides[last];
    operands[3].strides = strides;
    transposed.operands = operands;
    (void)run_correct(&transposed);
    return COLLET_OK;
}

BROKEN_KERNEL(trusts_every_number)
{
    const collet_operand *info = &call->operands[2];
    (void)device, (void)queue;
    (void)run_correct(call);
    for (int64_t i = 0; i < broken_count(info); i++)
        *(int32_t *)broken_element(info, i) = 0;
    return COLLET_OK;
}

/* ---- eig --------------------------------------------------------------------------------------
 */

BROKEN_KERNEL(repeats_a_pair)
{
    const collet_operand *values = &call->operands[0], *vectors = &call->operands[1];
    int64_t n = extent(values, 0);
    (void)device, (void)queue;
    (void)run_correct(call);
    for (int64_t at = 0; at < broken_count(values); at++)
        memcpy(broken_element(values, at), broken_element(values, at / n * n), sizeof(collet_c128));
    for (int64_t at = 0; at < broken_count(vectors); at++)
        memcpy(broken_element(vectors, at), broken_element(vectors, at / n * n),
               sizeof(collet_c128));
    return COLLET_OK;
}

/* ---- cholesky ---------------------------------------------------------------------------------
 */

BROKEN_KERNEL(leaves_the_upper_triangle)
{
    const collet_operand *lower = &call->operands[0], *a = &call->operands[2];
    (void)device, (void)queue;
    (void)run_correct(call);
    for (int64_t index = 0; index < cpu_decomposition_count(call); index++)
        for (int64_t i = 0; i < extent(a, 1); i++)
            for (int64_t j = i + 1; j < extent(a, 0); j++)
                broken_set(lower, entry(lower, index, i, j), broken_get(a, entry(a, index, i, j)));
    return COLLET_OK;
}

BROKEN_KERNEL(keeps_what_it_had)
{
    const collet_operand *lower = &call->operands[0];
    (void)device, (void)queue;
    (void)run_correct(call);
    for (int64_t i = 0; i < broken_count(lower); i++)
        if (isnan(broken_get(lower, i)))
            broken_set(lower, i, 0);
    return COLLET_OK;
}
