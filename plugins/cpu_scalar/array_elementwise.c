/* SPDX-License-Identifier: Apache-2.0 */
/* array: elementwise ops.
 * Tests: conformance/array/elementwise.c */
#include "array_elementwise.h"

#include "device.h"
#include "elementwise_functions.h"
#include "shared/formula/rows.h"
#include "shared/host/util/convert.h"
#include "shared/host/util/rows.h"

void elementwise_row(uint32_t op, collet_dtype dtype, char *const *at, const int64_t *step,
                     int64_t n)
{
    row_find[dtype](op)(at, step, n);
}

/* All operands have the output's shape. */
KERNEL(elementwise)
{
    /* The last input gives the dtype, because the first input of `where` is a bool. */
    row_fn row = row_find[operand_of(call, call->n_out + call->n_in - 1)->dtype](call->op);
    cpu_rows walk = {0};
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++)
        cpu_rows_view(&walk, operand_of(call, i));
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        row(walk.at, walk.inner, walk.length);
    return COLLET_OK;
}

/* Rounds the product before the sum, so that every backend gives the same bits. */
static void f32_axpy(const cpu_rows *w, float alpha)
{
    for (int64_t i = 0; i < w->length; i++) {
        float product = alpha * *(float *)(void *)(w->at[1] + i * w->inner[1]);
        *(float *)(void *)(w->at[0] + i * w->inner[0]) =
            product + *(float *)(void *)(w->at[2] + i * w->inner[2]);
    }
}

static void f64_axpy(const cpu_rows *w, double alpha)
{
    for (int64_t i = 0; i < w->length; i++) {
        double product = alpha * *(double *)(void *)(w->at[1] + i * w->inner[1]);
        *(double *)(void *)(w->at[0] + i * w->inner[0]) =
            product + *(double *)(void *)(w->at[2] + i * w->inner[2]);
    }
}

KERNEL(axpy)
{
    const collet_axpy_params *params = call->params;
    collet_scalar alpha;
    collet_dtype dtype = operand_of(call, 0)->dtype;
    cpu_convert((char *)alpha.value.bytes, dtype, 0, (const char *)params->alpha.value.bytes,
                params->alpha.dtype, 0, 1);
    cpu_rows walk = {0};
    for (uint32_t i = 0; i < 3; i++)
        cpu_rows_view(&walk, operand_of(call, i));
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk)) {
        if (dtype == COLLET_F32)
            f32_axpy(&walk, alpha.value.f32);
        else
            f64_axpy(&walk, alpha.value.f64);
    }
    return COLLET_OK;
}
