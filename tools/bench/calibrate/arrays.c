/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_calibrate.c */
#include "arrays.h"

#include "bench/ops/inputs.h"

#include <math.h>
#include <string.h>

#define PATTERN ((int64_t)1 << 16) /* inputs repeat after this many numbers */

/* 1 if the elements of such operands do not depend on each other, so that they may repeat. */
static int32_t repeats(char make)
{
    return strchr("upxm", make) != NULL;
}

static void fill(const bench_operand *o, uint32_t index, char *data)
{
    int64_t size = bench_operand_size(o), done = size;
    if (repeats(o->make) && size > PATTERN) {
        bench_operand part = *o;
        part.ndim = 1;
        part.shape[0] = done = PATTERN;
        bench_input_fill(&part, index, data);
    } else {
        bench_input_fill(o, index, data);
    }
    size_t each = collet_dtype_size(o->dtype);
    while (done < size) {
        int64_t more = done < size - done ? done : size - done;
        memcpy(data + (size_t)done * each, data, (size_t)more * each);
        done += more;
    }
}

collet_status calibrate_arrays_create(bench_arrays *a, collet_context *cx, const bench_layout *l)
{
    collet_status status = COLLET_OK;
    *a = (bench_arrays){{NULL}};
    for (uint32_t i = 0; i < l->count && status == COLLET_OK; i++) {
        const bench_operand *o = &l->operands[i];
        if (o->make != '-')
            status = collet_array_create(cx, &a->arrays[i], o->dtype, o->ndim, o->shape);
    }
    return status;
}

collet_status calibrate_arrays_fill(const bench_arrays *a, collet_context *cx,
                                    const bench_layout *l)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < l->count && status == COLLET_OK; i++) {
        const bench_operand *o = &l->operands[i];
        void *data;
        if (o->make == '-' || o->make == 'o')
            continue;
        status = collet_array_acquire(cx, a->arrays[i], &data, COLLET_WRITE);
        if (status == COLLET_OK) {
            fill(o, i, data);
            status = collet_array_release(cx, a->arrays[i]);
        }
    }
    return status;
}

collet_status calibrate_arrays(bench_arrays *a, collet_context *cx, const bench_layout *l)
{
    collet_status status = calibrate_arrays_create(a, cx, l);
    return status == COLLET_OK ? calibrate_arrays_fill(a, cx, l) : status;
}

collet_status calibrate_turn(tool_sampler *sampler, double budget, double *seconds)
{
    tool_stats stats;
    int64_t from = sampler->count;
    collet_status status = tool_sampler_turn(sampler, budget);
    if (status != COLLET_OK || sampler->count <= from)
        return COLLET_FAILED;
    tool_stats_of(sampler->seconds + from, sampler->count - from, sampler->calls, &stats);
    *seconds = fmin(*seconds, stats.median);
    return COLLET_OK;
}
