/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/reduce.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "reduce_plan.h"

#include <stdlib.h>

#define CHUNK (256 << 10) /* elements, by columns */
#define ROW_CHUNK (64 << 10)

/* Columns of a tile, in multiples of TILE_STEP. The results of TILE columns stay in the L1 cache.
 * Arrays of LARGE or more elements are read from memory, where longer contiguous runs (WIDE) are
 * faster. Each chunk writes 16 bytes per column, so wider tiles need larger chunks. */
#define TILE 2048
#define WIDE 8192
#define TILE_STEP 64
#define LARGE (8 << 20)
#define LARGE_CHUNK (4 << 20)

/* ---- The axes -------------------------------------------------------------------------------- */

static void add_axis(axes *x, int64_t extent, int64_t step, int64_t out)
{
    if (extent == 1)
        return;
    int32_t i = x->ndim++;
    for (; i > 0 && llabs(x->step[i - 1]) < llabs(step); i--) {
        x->shape[i] = x->shape[i - 1];
        x->step[i] = x->step[i - 1];
        x->out[i] = x->out[i - 1];
    }
    x->shape[i] = extent;
    x->step[i] = step;
    x->out[i] = out;
}

static void merge_axes(axes *x)
{
    int32_t last = 0;
    for (int32_t i = 1; i < x->ndim; i++) {
        int64_t n = x->shape[i];
        if (x->step[last] == n * x->step[i] && x->out[last] == n * x->out[i]) {
            x->shape[last] *= n;
        } else {
            last++;
            x->shape[last] = n;
        }
        x->step[last] = x->step[i];
        x->out[last] = x->out[i];
    }
    if (x->ndim == 0) {
        x->shape[0] = 1;
        x->step[0] = x->out[0] = 0;
    }
    x->ndim = last + 1;
}

/* The byte offset in the input of element `index` of the first ndim axes; sets *out to the offset in the output. */
int64_t axes_offset(const axes *x, int32_t ndim, int64_t index, int64_t *out)
{
    int64_t offset = 0;
    for (int32_t i = ndim - 1; i >= 0; i--) {
        int64_t at = index % x->shape[i];
        index /= x->shape[i];
        offset += at * x->step[i];
        if (out)
            *out += at * x->out[i];
    }
    return offset;
}

static int64_t at_least_one(int64_t x)
{
    return x > 1 ? x : 1;
}

static void split_axes(reduce_plan *plan, const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, call->n_out);
    int32_t kept = 0;
    plan->kept.count = plan->reduced.count = 1;
    for (int32_t i = 0; i < in->ndim; i++) {
        axes *x = params->axes >> i & 1 ? &plan->reduced : &plan->kept;
        x->count *= in->shape[i];
        if (x == &plan->reduced)
            add_axis(x, in->shape[i], cpu_step(in, i), 0);
        else
            add_axis(x, in->shape[i], cpu_step(in, i),
                     cpu_step(out, params->keepdims ? i : kept++));
    }
    if (cpu_dtype_is_complex(out->dtype)) {
        int64_t size = (int64_t)cpu_dtype_size(part_of(in->dtype));
        plan->kept.count *= 2;
        add_axis(&plan->kept, 2, size, size);
    }
    merge_axes(&plan->kept);
    merge_axes(&plan->reduced);
}

/* Whether each chunk uses its own mean. That is exact enough only for inputs and results narrower than f64. */
static int is_spread(const reduce_plan *plan, const collet_kernel_call *call)
{
    return reduce_has_center(call->op) && !plan->by_columns &&
           plan->reduced.count >= REDUCE_NARROW &&
           part_of(operand_of(call, 0)->dtype) != COLLET_F64 &&
           part_of(operand_of(call, call->n_out)->dtype) != COLLET_F64;
}

/* Makes tiles of nearly equal width: a narrow last tile would need as many memory accesses as a
 * full tile. */
static int64_t even_tile(int64_t width, int64_t widest)
{
    int64_t tile = divide_up(width, divide_up(width, widest));
    return min_i64(divide_up(tile, TILE_STEP) * TILE_STEP, width);
}

/* 1 if there are too few tiles to keep the threads busy, and each is large enough to be shared. */
static int shares_tiles(const collet_device *device, const reduce_plan *plan)
{
    int64_t few = plan->by_columns
                      ? 1
                      : 2; /* a thread reduces two chunks before a second thread has woken up */
    return device->threads > 1 && plan->chunks > few && plan->items < 4 * (int64_t)device->threads;
}

void reduce_plan_make(reduce_plan *plan, const collet_device *device,
                      const collet_kernel_call *call)
{
    split_axes(plan, call);
    const axes *kept = &plan->kept, *reduced = &plan->reduced;
    int64_t width = kept->shape[kept->ndim - 1], column = llabs(kept->step[kept->ndim - 1]);
    int64_t length = reduced->shape[reduced->ndim - 1],
            row = llabs(reduced->step[reduced->ndim - 1]);
    plan->by_columns =
        width > 1 && (column < row || (reduced->count <= REDUCE_FEW_ROWS && width > length));
    plan->tile = plan->fold = 1;
    plan->tiles = width;
    if (plan->by_columns) {
        int large = reduced->count > LARGE / width;
        plan->tile = even_tile(width, large ? WIDE : TILE);
        plan->tiles = divide_up(width, plan->tile);
        if (reduced->ndim == 1 && 2 * width <= REDUCE_FOLD &&
            reduced->step[0] == width * kept->step[kept->ndim - 1])
            plan->fold = at_least_one(min_i64(REDUCE_FOLD / width, reduced->count / REDUCE_TREE / 2));
        plan->chunk =
            at_least_one((large ? LARGE_CHUNK : CHUNK) / plan->tile / plan->fold) * plan->fold;
        plan->chunks = divide_up(reduced->count, plan->chunk);
    } else {
        plan->blocks =
            reduced->count == 0 ? 0 : reduced->count / length * divide_up(length, REDUCE_BLOCK);
        plan->chunk = ROW_CHUNK / min_i64(at_least_one(length), REDUCE_BLOCK);
        plan->chunks = divide_up(plan->blocks, plan->chunk);
    }
    plan->items = kept->count == 0 ? 0 : kept->count / width * plan->tiles;
    plan->outputs = (int32_t)call->n_out;
    plan->spread = is_spread(plan, call);
    plan->result_size = plan->spread ? SPREAD_SIZE : 2 * plan->tile;
    plan->shared = shares_tiles(device, plan);
    plan->by_elements = !plan->by_columns && plan->chunks <= 1 && plan->outputs == 1 &&
                        !plan->spread && !plan->shared;
}
