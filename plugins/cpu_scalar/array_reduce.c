/* SPDX-License-Identifier: Apache-2.0 */
/* The reductions of the array family, one output element after another.
 * Tests: conformance/array/reduce.c, tests/cpu_scalar/test_kernels_scalar.c */
#include "device.h"

#include <math.h>

#include "shared/host/util/convert.h"
#include "shared/host/util/rows.h"
#include "shared/host/util/sum.h"

static double value_at(const char *at, collet_dtype part)
{
    return part == COLLET_F32 ? (double)*(const float *)(const void *)at
                              : *(const double *)(const void *)at;
}

/* ---- One element of the output ----------------------------------------------------------- */

/* Reduces the elements that `reduced` walks, starting at `at`. */
typedef double (*reduction)(cpu_rows reduced, char *at, collet_dtype part);

static double sum_of(cpu_rows reduced, char *at, collet_dtype part)
{
    cpu_sum total = {0};
    reduced.at[0] = at;
    for (cpu_rows_begin(&reduced); reduced.rows > 0; cpu_rows_next(&reduced)) {
        for (int64_t i = 0; i < reduced.length; i++)
            cpu_add(&total, value_at(reduced.at[0] + i * reduced.inner[0], part));
    }
    return cpu_total(&total);
}

static double mean_of(cpu_rows reduced, char *at, collet_dtype part)
{
    double count = 1.0;
    for (int32_t i = 0; i < reduced.ndim; i++)
        count *= (double)reduced.shape[i];
    return sum_of(reduced, at, part) / count;
}

/* minimum of IEEE 754-2019. */
static double lesser(double a, double b)
{
    if (isnan(a) || isnan(b))
        return a + b;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

static double min_of(cpu_rows reduced, char *at, collet_dtype part)
{
    double smallest = INFINITY;
    reduced.at[0] = at;
    for (cpu_rows_begin(&reduced); reduced.rows > 0; cpu_rows_next(&reduced)) {
        for (int64_t i = 0; i < reduced.length; i++)
            smallest = lesser(smallest, value_at(reduced.at[0] + i * reduced.inner[0], part));
    }
    return smallest;
}

static double max_of(cpu_rows reduced, char *at, collet_dtype part)
{
    double smallest = INFINITY;
    reduced.at[0] = at;
    for (cpu_rows_begin(&reduced); reduced.rows > 0; cpu_rows_next(&reduced)) {
        for (int64_t i = 0; i < reduced.length; i++)
            smallest = lesser(smallest, -value_at(reduced.at[0] + i * reduced.inner[0], part));
    }
    return -smallest;
}

/* ---- The axes ------------------------------------------------------------------------------ */

/* Splits the input's axes: `kept` walks input and output, `reduced` only the input. */
static void split_axes(const collet_kernel_call *call, cpu_rows *kept, cpu_rows *reduced)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    kept->views = 2;
    kept->at[0] = cpu_at(in);
    kept->at[1] = cpu_at(out);
    reduced->views = 1;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (params->axes >> i & 1) {
            reduced->shape[reduced->ndim] = in->shape[i];
            reduced->step[0][reduced->ndim++] = cpu_step(in, i);
        } else {
            kept->shape[kept->ndim] = in->shape[i];
            kept->step[0][kept->ndim] = cpu_step(in, i);
            kept->step[1][kept->ndim] = cpu_step(out, params->keepdims ? i : kept->ndim);
            kept->ndim++;
        }
    }
}

static const reduction reductions[] = {[COLLET_OP_SUM] = sum_of,
                                       [COLLET_OP_MEAN] = mean_of,
                                       [COLLET_OP_MIN] = min_of,
                                       [COLLET_OP_MAX] = max_of};

KERNEL(reduce)
{
    reduction value = reductions[call->op];
    collet_dtype from = operand_of(call, 1)->dtype, part = part_of(from);
    collet_dtype to = part_of(operand_of(call, 0)->dtype);
    int64_t parts = part == from ? 1 : 2;
    int64_t in_size = (int64_t)cpu_dtype_size(part), out_size = (int64_t)cpu_dtype_size(to);
    cpu_rows kept = {0}, reduced = {0};
    split_axes(call, &kept, &reduced);
    for (cpu_rows_begin(&kept); kept.rows > 0; cpu_rows_next(&kept)) {
        for (int64_t i = 0; i < kept.length * parts; i++) {
            char *in = kept.at[0] + i / parts * kept.inner[0] + i % parts * in_size;
            char *out = kept.at[1] + i / parts * kept.inner[1] + i % parts * out_size;
            double x = value(reduced, in, part);
            cpu_convert(out, to, 0, (const char *)&x, COLLET_F64, 0, 1);
        }
    }
    return COLLET_OK;
}

/* The index, in the order of the walk, of the first maximum; of the first NaN where there is one.
 * At least one element. */
static int64_t place_of_max(cpu_rows walk, char *at, int wide)
{
    double greatest = 0;
    int64_t index = 0, found = -1;
    walk.at[0] = at;
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        for (int64_t i = 0; i < walk.length; i++, index++) {
            const char *p = walk.at[0] + i * walk.inner[0];
            double x =
                wide ? *(const double *)(const void *)p : (double)*(const float *)(const void *)p;
            if (x <= greatest && found >= 0)
                continue;
            greatest = x;
            found = index;
            if (isnan(x))
                return index;
        }
    return found;
}

KERNEL(argmax)
{
    int wide = operand_of(call, 1)->dtype == COLLET_F64;
    cpu_rows kept = {0}, reduced = {0};
    split_axes(call, &kept, &reduced);
    for (cpu_rows_begin(&kept); kept.rows > 0; cpu_rows_next(&kept))
        for (int64_t i = 0; i < kept.length; i++) {
            char *out = kept.at[1] + i * kept.inner[1];
            *(int64_t *)(void *)out = place_of_max(reduced, kept.at[0] + i * kept.inner[0], wide);
        }
    return COLLET_OK;
}
