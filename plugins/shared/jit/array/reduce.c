/* SPDX-License-Identifier: Apache-2.0 */
/* array: sum, mean, min, max, argmin, argmax, any, all, count_nonzero.
 * Tests: conformance/array/reduce.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include <stdlib.h>
#include <string.h>

#include "shared/host/util/counts.h"
#include "axes.h"
#include "shared/jit/runtime/view.h"

#include "reduce_params.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("reduce", jit_text_array_reduce_params, jit_text_array_reduce);

/* ---- The axes ------------------------------------------------------------------------------ */

typedef struct split_axes {
    jit_axis kept[KEPT_DIMS], reduced[COLLET_MAX_DIMS];
    int32_t kept_count, reduced_count;
} split_axes;

/* Strides count real numbers: the two parts of a complex number form one more kept axis. Stride 0
 * of a reduced axis is the stride of the elements' index. */
static void split(split_axes *s, const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int64_t parts = part_of(out->dtype) == out->dtype ? 1 : 2, index = 1;
    s->kept_count = s->reduced_count = 0;
    for (int32_t i = 0; i < in->ndim; i++) {
        int64_t step = in->strides[i] * parts;
        if (params->axes >> i & 1) {
            s->reduced[s->reduced_count++] = (jit_axis){in->shape[i], {0, step}};
        } else {
            int32_t to = params->keepdims ? i : s->kept_count;
            s->kept[s->kept_count++] = (jit_axis){in->shape[i], {out->strides[to] * parts, step}};
        }
    }
    for (int32_t i = s->reduced_count - 1; i >= 0; i--) {
        s->reduced[i].stride[0] = index;
        index *= s->reduced[i].extent;
    }
    s->kept[s->kept_count++] = (jit_axis){parts, {1, 1}};
    s->kept_count = jit_axes_merge(s->kept, s->kept_count, 1);
    s->reduced_count = jit_axes_merge(s->reduced, s->reduced_count, 1);
}

static void view_axes(reduce_view *v, const split_axes *s)
{
    int32_t last = s->reduced_count - 1, kept_last = s->kept_count - 1;
    v->rows = v->columns = v->kept = 1;
    for (int32_t i = 0; i < s->kept_count; i++) {
        v->kept *= s->kept[i].extent;
        v->kept_extent[i] = s->kept[i].extent;
        v->kept_stride[0][i] = s->kept[i].stride[0];
        v->kept_stride[1][i] = s->kept[i].stride[1];
    }
    v->kept_axes = s->kept_count;
    for (int32_t i = 0; i < last; i++) {
        v->rows *= s->reduced[i].extent;
        v->row_extent[i] = s->reduced[i].extent;
        v->row_stride[i] = s->reduced[i].stride[1];
        v->row_index[i] = s->reduced[i].stride[0];
    }
    v->row_axes = last > 0 ? last : 0;
    if (last >= 0) {
        v->columns = s->reduced[last].extent;
        v->column_step = s->reduced[last].stride[1];
        v->column_index = s->reduced[last].stride[0];
    }
    v->kept_adjacent = kept_last >= 0 && (last < 0 || llabs(s->kept[kept_last].stride[1]) <
                                                          llabs(s->reduced[last].stride[1]));
}

/* ---- The geometry -------------------------------------------------------------------------- */

/* Minimum number of elements of a part per item. */
#define PER_MEMBER 16
/* One group joins the results of up to this many parts. */
#define MOST_PARTS 1024

/* The smallest b <= most with 1 << b >= n. */
static int32_t bits_for(int64_t n, int32_t most)
{
    int32_t bits = 0;
    while (bits < most && (int64_t)1 << bits < n)
        bits++;
    return bits;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Parts consist of whole rows if there are enough, else of pieces of rows. */
static void cut(reduce_view *v, int64_t parts)
{
    v->part_rows = v->rows;
    v->part_columns = v->columns;
    v->parts = v->across = 1;
    if (parts <= 1)
        return;
    if (v->rows >= parts) {
        v->part_rows = divide_up(v->rows, parts);
        v->parts = divide_up(v->rows, v->part_rows);
        return;
    }
    int64_t wide = divide_up(v->columns, divide_up(parts, v->rows));
    v->part_rows = 1;
    v->part_columns = divide_up(wide, 64) * 64;
    v->across = divide_up(v->columns, v->part_columns);
    v->parts = v->rows * v->across;
}

/* Items that share a kept element of a group. */
static void shape_groups(reduce_view *v, const jit_traits *t)
{
    int32_t group_bits = bits_for(t->group, 30);
    int64_t total = v->rows * v->columns;
    int32_t min_bits = bits_for(total, 5), member_bits = bits_for(total / 8, group_bits);
    member_bits = member_bits < min_bits ? min_bits : member_bits;
    member_bits = member_bits < group_bits ? member_bits : group_bits;
    v->kept_bits = bits_for(v->kept, v->kept_adjacent ? group_bits : group_bits - member_bits);
    v->column_bits = bits_for(v->columns, group_bits - v->kept_bits);
    v->groups = divide_up(v->kept, (int64_t)1 << v->kept_bits);
    if (!v->groups)
        return;
    int64_t target = divide_up((int64_t)t->units * 8, v->groups);
    int64_t members = (int64_t)t->group >> v->kept_bits;
    cut(v, lesser(lesser(target, MOST_PARTS), total / (members * PER_MEMBER)));
}

/* Depends only on the shape and the device, so that results are reproducible. */
static void view_of(reduce_view *v, const jit_traits *t, const collet_kernel_call *call)
{
    split_axes axes;
    memset(v, 0, sizeof *v);
    split(&axes, call);
    view_axes(v, &axes);
    v->negated = call->op == COLLET_OP_MAX;
    shape_groups(v, t);
}

/* ---- Running ------------------------------------------------------------------------------- */

/* Options by the type of elements; the results have it too, or another one. */
#define SAME(NAME, name, mode) [COLLET_##NAME] = "-D" mode "=1 -DIN=" #name " -DTO=" #name,
#define OPTION(NAME, in, mode, to) [COLLET_##NAME] = "-D" mode "=1 -DIN=" #in " -DTO=" #to,
#define COUNTS(mode, to)                                                                           \
    COLLET_EACH_REAL(OPTION, mode, to) OPTION(C64, c64, mode, to) OPTION(C128, c128, mode, to)
typedef const char *const by_type[COLLET_DTYPE_COUNT];

static by_type same_sums = {SAME(F16, f16, "SUM") SAME(BF16, bf16, "SUM") SAME(F32, f32, "SUM")
                                SAME(F64, f64, "SUM")};
static by_type integer_sums = {COLLET_EACH_REAL(OPTION, "SUM", i64)};
static by_type extremes = {COLLET_EACH_REAL(SAME, "EXTREME")};
static by_type places[] = {{COLLET_EACH_REAL(OPTION, "LEAST=1 -DPLACE", i64)},
                           {COLLET_EACH_REAL(OPTION, "PLACE", i64)}};
static by_type counts[] = {
    {COUNTS("COUNT", i64)}, {COUNTS("ANY=1 -DCOUNT", b8)}, {COUNTS("ALL=1 -DCOUNT", b8)}};

static const char *options_of(const collet_kernel_call *call)
{
    collet_dtype to = part_of(operand_of(call, 0)->dtype), from = operand_of(call, 1)->dtype;
    switch (call->op) {
    case COLLET_OP_MIN:
    case COLLET_OP_MAX:
        return extremes[from];
    case COLLET_OP_ARGMIN:
    case COLLET_OP_ARGMAX:
        return places[call->op == COLLET_OP_ARGMAX][from];
    case COLLET_OP_COUNT_NONZERO:
        return counts[0][from];
    case COLLET_OP_ANY:
        return counts[1][from];
    case COLLET_OP_ALL:
        return counts[2][from];
    default:
        break;
    }
    if (to == COLLET_I64 || to == COLLET_U64)
        return integer_sums[from];
    return to == part_of(from) ? same_sums[to] : "-DSUM=1 -DIN=f32 -DTO=f64";
}

static int is_sum_of_floats(const collet_kernel_call *call)
{
    collet_dtype to = operand_of(call, 0)->dtype;
    return call->op == COLLET_OP_MEAN ||
           (call->op == COLLET_OP_SUM && to != COLLET_I64 && to != COLLET_U64);
}

/* The divisor of a sum: one number of the kernel's wide type and its rounding error. */
static void pass_count(jit_launch *l, const jit_traits *t, const collet_kernel_call *call,
                       const reduce_view *v)
{
    if (!is_sum_of_floats(call))
        return;
    double count = call->op == COLLET_OP_MEAN ? (double)(v->rows * v->columns) : 1.0;
    if (t->has_f64) {
        jit_pass_f64(l, count);
        jit_pass_f64(l, 0.0);
    } else {
        jit_pass_f32(l, (float)count);
        jit_pass_f32(l, (float)(count - (double)(float)count));
    }
}

/* Bytes of `carried` in the kernels, at most. */
static uint64_t carried_size(const jit_traits *t, const collet_kernel_call *call)
{
    int pairs = call->op == COLLET_OP_ARGMIN || call->op == COLLET_OP_ARGMAX ||
                (is_sum_of_floats(call) && t->has_f64);
    return pairs ? 16 : 8;
}

JIT_ACCEPTS(reduce)
{
    const jit_traits *t = jit_traits_of(device);
    reduce_view v;
    view_of(&v, t, call);
    *workspace_bytes =
        v.parts > 1 ? (uint64_t)v.parts * (uint64_t)v.kept * carried_size(t, call) : 0;
    return COLLET_OK;
}

static collet_status join(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call, const collet_operand *out,
                          const reduce_view *v, const char *options)
{
    const jit_traits *t = jit_traits_of(device);
    int32_t join_bits = bits_for(v->kept, bits_for(t->group, 30));
    jit_launch l;
    jit_launch_begin(&l, &source, options, "join");
    jit_pass_operand(&l, out);
    jit_pass_buffer(&l, call->workspace);
    jit_pass_block(&l, v, sizeof *v);
    jit_pass_i32(&l, join_bits);
    pass_count(&l, t, call, v);
    uint64_t groups = jit_ceiling((uint64_t)v->kept, (uint64_t)1 << join_bits);
    return jit_after_first(jit_enqueue(device, queue, &l, groups, call->err));
}

JIT_KERNEL(reduce)
{
    const jit_traits *t = jit_traits_of(device);
    const char *options = options_of(call);
    collet_operand out = *operand_of(call, 0), in = *operand_of(call, 1);
    out.dtype = part_of(out.dtype);
    if (is_sum_of_floats(call))
        in.dtype = part_of(in.dtype);
    jit_launch l;
    reduce_view v;
    view_of(&v, t, call);
    jit_launch_begin(&l, &source, options, "reduce");
    jit_pass_operand(&l, &out);
    jit_pass_buffer(&l, v.parts > 1 ? call->workspace : NULL);
    jit_pass_operand(&l, &in);
    jit_pass_block(&l, &v, sizeof v);
    pass_count(&l, t, call, &v);
    collet_status status =
        jit_enqueue(device, queue, &l, (uint64_t)(v.groups * v.parts), call->err);
    if (status != COLLET_OK || v.parts <= 1)
        return status;
    return join(device, queue, call, &out, &v, options);
}
