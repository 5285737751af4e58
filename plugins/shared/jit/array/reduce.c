/* SPDX-License-Identifier: Apache-2.0 */
/* array: sum, prod, mean, var, std, min, max, argmin, argmax, any, all, count_nonzero.
 * Tests: conformance/array/reduce.c */
#include "reduce.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "shared/host/util/counts.h"
#include "axes.h"
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/view.h"
#include "steps.h"

#include "reduce_params.h"

_Static_assert(INPUTS == COLLET_PROGRAM_INPUTS, "a view has at least as many inputs as a program");

static const jit_source source = {.name = "reduce", .make = jit_steps_texts};

/* ---- What is reduced ------------------------------------------------------------------------- */

/* A reduction of the values of a program's only output. */
typedef struct reduction {
    uint32_t axes, keepdims;
    collet_operand out, in[COLLET_PROGRAM_INPUTS]; /* the inputs have the same shape */
    collet_dtype from;                             /* the dtype of a value */
    int64_t parts;                                 /* 2: `in` has the real and imaginary parts of complex numbers */
    collet_program program;
    const collet_scalar *constants;
    uint16_t value;
    double correction;
} reduction;

static int is_variance(const reduction *r)
{
    return r->program.reduce == COLLET_OP_VAR || r->program.reduce == COLLET_OP_STD;
}

int jit_sums_floats(uint32_t op, collet_dtype to)
{
    return op == COLLET_OP_MEAN || op == COLLET_OP_VAR || op == COLLET_OP_STD ||
           (op == COLLET_OP_SUM && to != COLLET_I64 && to != COLLET_U64);
}

static int is_sum_of_floats(const reduction *r)
{
    return jit_sums_floats(r->program.reduce, r->out.dtype);
}

/* Describes the reduction of an array, as a program without steps. A complex sum is two sums of real numbers. */
static void reduction_init(reduction *r, const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    *r = (reduction){.axes = params->axes,
                     .keepdims = params->keepdims,
                     .out = *operand_of(call, 0),
                     .in[0] = *operand_of(call, 1),
                     .from = operand_of(call, 1)->dtype,
                     .parts = 1};
    r->program = (collet_program){
        .n_in = 1, .n_out = 1, .reduce = call->op, .dtypes = &r->from, .outs = &r->value};
    if (is_variance(r))
        r->correction = ((const collet_variance_params *)call->params)->correction;
    if (is_sum_of_floats(r) && part_of(r->out.dtype) != r->out.dtype) {
        r->parts = 2;
        r->out.dtype = part_of(r->out.dtype);
        r->from = r->in[0].dtype = part_of(r->from);
    }
}

/* Output k of the op evaluate. */
static void reduction_of_program(reduction *r, const collet_kernel_call *call, uint32_t k)
{
    const collet_evaluate_params *params = call->params;
    *r = (reduction){.axes = params->axes,
                     .keepdims = params->keepdims,
                     .out = *operand_of(call, k),
                     .parts = 1,
                     .program = *params->program,
                     .constants = params->constants,
                     .correction = params->correction};
    r->program.n_out = 1;
    r->program.outs += k;
    r->from = collet_program_dtype(&r->program, *r->program.outs);
    for (uint32_t i = 0; i < r->program.n_in; i++)
        r->in[i] = *operand_of(call, call->n_out + i);
}

/* ---- The axes ------------------------------------------------------------------------------ */

typedef struct split_axes {
    jit_axis kept[REDUCE_DIMS], reduced[COLLET_MAX_DIMS];
    int32_t kept_count, reduced_count;
} split_axes;

static jit_axis axis_of(const reduction *r, int32_t axis, int64_t result)
{
    jit_axis a = {.extent = r->in[0].shape[axis], .stride = {result}};
    for (uint32_t k = 0; k < r->program.n_in; k++)
        a.stride[1 + k] = r->in[k].strides[axis] * r->parts;
    return a;
}

/* Splits the axes into kept and reduced axes. Strides count real numbers; the two parts of a complex number form one
 * more kept axis. stride[0] of a reduced axis is the stride of the elements' index. */
static void split(split_axes *s, const reduction *r)
{
    int64_t index = 1;
    s->kept_count = s->reduced_count = 0;
    for (int32_t i = 0; i < r->in[0].ndim; i++) {
        int32_t to = r->keepdims ? i : s->kept_count;
        if (r->axes >> i & 1)
            s->reduced[s->reduced_count++] = axis_of(r, i, 0);
        else
            s->kept[s->kept_count++] = axis_of(r, i, r->out.strides[to] * r->parts);
    }
    for (int32_t i = s->reduced_count - 1; i >= 0; i--) {
        s->reduced[i].stride[0] = index;
        index *= s->reduced[i].extent;
    }
    if (r->parts > 1)
        s->kept[s->kept_count++] = (jit_axis){r->parts, {1, 1}};
    s->kept_count = jit_axes_merge(s->kept, s->kept_count, r->program.n_in, 1);
    s->reduced_count = jit_axes_merge(s->reduced, s->reduced_count, r->program.n_in, 1);
}

static void add_axis(reduce_view *v, int32_t i, const jit_axis *axis, uint32_t inputs)
{
    v->extent[i] = axis->extent;
    v->result[i] = axis->stride[0];
    for (uint32_t k = 0; k < inputs; k++)
        v->stride[k][i] = axis->stride[1 + k];
}

static void view_axes(reduce_view *v, const split_axes *s, uint32_t inputs)
{
    int32_t last = s->reduced_count - 1, kept_last = s->kept_count - 1;
    v->rows = v->columns = v->kept = 1;
    for (int32_t i = 0; i < s->kept_count; i++) {
        v->kept *= s->kept[i].extent;
        add_axis(v, i, &s->kept[i], inputs);
    }
    for (int32_t i = 0; i <= last; i++) {
        int64_t *counts = i < last ? &v->rows : &v->columns;
        *counts *= s->reduced[i].extent;
        add_axis(v, s->kept_count + i, &s->reduced[i], inputs);
    }
    v->kept_axes = s->kept_count;
    v->row_axes = last > 0 ? last : 0;
    v->column_axis = last >= 0 ? s->kept_count + last : 0; /* without reduced axes, there is only column 0 */
    v->kept_adjacent = kept_last >= 0 && (last < 0 || jit_axis_span(&s->kept[kept_last], inputs) <
                                                          jit_axis_span(&s->reduced[last], inputs));
}

/* ---- The geometry -------------------------------------------------------------------------- */

/* Minimum number of elements of a part per item. */
#define PER_MEMBER 16
/* Elements of a part, over all inputs, that fit into the caches of a CPU: a CPU runs the items of a group in turn,
 * and each item reads all cache lines of the part. */
#define CACHED (16 << 10)
/* One group joins the results of up to this many parts. */
#define MOST_PARTS 4096

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

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
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

/* Chooses how many items of a group share a kept element. */
static void shape_groups(reduce_view *v, const jit_traits *t, uint32_t inputs)
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
    int64_t cached = greater((CACHED / inputs) >> v->kept_bits, 1);
    int64_t target = greater(divide_up((int64_t)t->units * 8, v->groups), total / cached);
    int64_t members = (int64_t)t->group >> v->kept_bits;
    cut(v, lesser(lesser(target, MOST_PARTS), total / (members * PER_MEMBER)));
}

void jit_reduce_rows(const jit_traits *t, int64_t rows, int64_t columns, int32_t *kept_bits,
                     int32_t *column_bits)
{
    reduce_view v = {.rows = 1, .columns = columns, .kept = rows};
    shape_groups(&v, t, 1);
    *kept_bits = v.kept_bits;
    *column_bits = v.column_bits;
}

/* The view depends only on the shape and the device, so that results are reproducible. */
static void view_of(reduce_view *v, const jit_traits *t, const reduction *r)
{
    split_axes axes;
    memset(v, 0, sizeof *v);
    split(&axes, r);
    view_axes(v, &axes, r->program.n_in);
    v->negated = r->program.reduce == COLLET_OP_MAX;
    shape_groups(v, t, r->program.n_in);
}

/* ---- Running ------------------------------------------------------------------------------- */

/* Compiler options by the dtype of the elements. The results may have another dtype. */
#define SAME(NAME, name, mode) [COLLET_##NAME] = "-D" mode "=1 -DIN=" #name " -DTO=" #name,
#define OPTION(NAME, in, mode, to) [COLLET_##NAME] = "-D" mode "=1 -DIN=" #in " -DTO=" #to,
#define COUNTS(mode, to)                                                                           \
    COLLET_EACH_REAL(OPTION, mode, to) OPTION(C64, c64, mode, to) OPTION(C128, c128, mode, to)
typedef const char *const by_type[COLLET_DTYPE_COUNT];

#define FLOATS(mode)                                                                               \
    SAME(F16, f16, mode) SAME(BF16, bf16, mode) SAME(F32, f32, mode) SAME(F64, f64, mode)

static by_type same_sums = {FLOATS("SUM")};
static by_type integer_sums = {COLLET_EACH_REAL(OPTION, "SUM", i64)};
static by_type products = {FLOATS("NEEDS_F64=1 -DPROD")};
static by_type integer_products = {COLLET_EACH_REAL(OPTION, "PROD", i64)};
static by_type variances = {FLOATS("NEEDS_F64=1 -DVARIANCE")};
static by_type extremes = {COLLET_EACH_REAL(SAME, "EXTREME")};
static by_type places[] = {{COLLET_EACH_REAL(OPTION, "LEAST=1 -DPLACE", i64)},
                           {COLLET_EACH_REAL(OPTION, "PLACE", i64)}};
static by_type counts[] = {
    {COUNTS("COUNT", i64)}, {COUNTS("ANY=1 -DCOUNT", b8)}, {COUNTS("ALL=1 -DCOUNT", b8)}};

const char *jit_reduce_kind(uint32_t op, collet_dtype to, collet_dtype from)
{
    switch (op) {
    case COLLET_OP_MIN:
    case COLLET_OP_MAX:
        return extremes[from];
    case COLLET_OP_ARGMIN:
    case COLLET_OP_ARGMAX:
        return places[op == COLLET_OP_ARGMAX][from];
    case COLLET_OP_COUNT_NONZERO:
        return counts[0][from];
    case COLLET_OP_ANY:
        return counts[1][from];
    case COLLET_OP_ALL:
        return counts[2][from];
    case COLLET_OP_PROD:
        return products[from] ? products[from] : integer_products[from];
    case COLLET_OP_VAR:
    case COLLET_OP_STD:
        return to == from         ? variances[from]
               : to == COLLET_F64 ? "-DNEEDS_F64=1 -DVARIANCE=1 -DIN=f32 -DTO=f64"
                                  : NULL;
    case COLLET_OP_SUM:
    case COLLET_OP_MEAN:
        break;
    default:
        return NULL;
    }
    if (!jit_sums_floats(op, to))
        return integer_sums[from];
    return to == from ? same_sums[to] : to == COLLET_F64 ? "-DSUM=1 -DIN=f32 -DTO=f64" : NULL;
}

/* Passes the divisor of a sum as two arguments: a number of the kernel's wide type, and its rounding error. */
static void pass_count(jit_launch *l, const jit_traits *t, const reduction *r, const reduce_view *v)
{
    if (!is_sum_of_floats(r))
        return;
    double count = r->program.reduce == COLLET_OP_SUM ? 1.0 : (double)(v->rows * v->columns);
    if (v->pass != REDUCE_ONCE)
        count = count > r->correction ? count - r->correction : 0.0;
    if (t->has_f64) {
        jit_pass_f64(l, count);
        jit_pass_f64(l, 0.0);
    } else {
        jit_pass_f32(l, (float)count);
        jit_pass_f32(l, (float)(count - (double)(float)count));
    }
}

/* Bytes of the partial results. The type `carried` of the kernels has at most 16, or 8, bytes. */
static uint64_t partial_bytes(const jit_traits *t, const reduction *r, const reduce_view *v)
{
    uint32_t op = r->program.reduce;
    int pairs =
        op == COLLET_OP_ARGMIN || op == COLLET_OP_ARGMAX || (is_sum_of_floats(r) && t->has_f64);
    return v->parts > 1 ? (uint64_t)v->parts * (uint64_t)v->kept * (pairs ? 16 : 8) : 0;
}

/* Bytes of workspace: for the partial results, followed by the means of kept elements. */
static uint64_t workspace_of(const jit_traits *t, const reduction *r, const reduce_view *v)
{
    return partial_bytes(t, r, v) + (is_variance(r) ? (uint64_t)v->kept * sizeof(double) : 0);
}

static void pass_means(jit_launch *l, const jit_sequence *s, const reduction *r,
                       const reduce_view *v)
{
    if (!is_variance(r))
        return;
    jit_pass_buffer(l, s->call->workspace);
    jit_pass_u64(l, partial_bytes(s->traits, r, v) / sizeof(double));
}

#define OPTIONS (STEPS_OPTIONS + 64)

static uint32_t view_bytes(const reduction *r)
{
    reduce_view *v = NULL;
    return (uint32_t)(offsetof(reduce_view, stride) + r->program.n_in * sizeof *v->stride);
}

static void begin(jit_launch *l, const reduction *r, const char *options, const char *kernel)
{
    jit_launch_begin(l, &source, options, kernel);
    l->made_of = &r->program;
}

static void pass_once(jit_sequence *s, const reduction *r, const reduce_view *v)
{
    const jit_traits *t = s->traits;
    char options[OPTIONS];
    uint32_t words[STEPS_WORDS];
    jit_launch l;
    jit_steps_options(options + snprintf(options, OPTIONS, "%s ",
                                         jit_reduce_kind(r->program.reduce, r->out.dtype, r->from)),
                      &r->program);
    begin(&l, r, options, "reduce");
    jit_pass_operand(&l, &r->out);
    jit_pass_buffer(&l, v->parts > 1 ? s->call->workspace : NULL);
    for (uint32_t k = 0; k < r->program.n_in; k++)
        jit_pass_operand(&l, &r->in[k]);
    jit_steps_pass(s, &l, &r->program, r->constants, workspace_of(t, r, v), words);
    jit_pass_block(&l, v, view_bytes(r));
    pass_count(&l, t, r, v);
    pass_means(&l, s, r, v);
    jit_sequence_enqueue(s, &l, (uint64_t)(v->groups * v->parts));
    if (v->parts <= 1)
        return;
    int32_t join_bits = bits_for(v->kept, bits_for(t->group, 30));
    begin(&l, r, options, "join");
    jit_pass_operand(&l, &r->out);
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_block(&l, v, view_bytes(r));
    jit_pass_i32(&l, join_bits);
    pass_count(&l, t, r, v);
    pass_means(&l, s, r, v);
    jit_sequence_enqueue(s, &l, jit_ceiling((uint64_t)v->kept, (uint64_t)1 << join_bits));
}

static void launch(jit_sequence *s, const reduction *r)
{
    reduce_view v;
    view_of(&v, s->traits, r);
    pass_once(s, r, &v);
    if (!is_variance(r))
        return;
    v.pass = r->program.reduce == COLLET_OP_STD ? REDUCE_DEVIATION : REDUCE_VARIANCE;
    pass_once(s, r, &v);
}

JIT_ACCEPTS(reduce)
{
    const jit_traits *t = jit_traits_of(device);
    reduction r;
    reduce_view v;
    reduction_init(&r, call);
    view_of(&v, t, &r);
    *workspace_bytes = workspace_of(t, &r, &v);
    return COLLET_OK;
}

JIT_KERNEL(reduce)
{
    jit_sequence s = jit_sequence_of(device, queue, call);
    reduction r;
    reduction_init(&r, call);
    launch(&s, &r);
    return s.status;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* All outputs use the same workspace, because they are reduced in turn. */
JIT_ACCEPTS(reduce_program)
{
    const collet_evaluate_params *params = call->params;
    const jit_traits *t = jit_traits_of(device);
    for (uint32_t k = 0; k < params->program->n_out; k++) {
        reduction r;
        reduce_view v;
        reduction_of_program(&r, call, k);
        uint64_t sig = COLLET_SIG(r.out.dtype, r.from);
        if (!jit_reduce_kind(r.program.reduce, r.out.dtype, r.from) || !r.program.n_in ||
            !jit_row_runs(t, r.program.reduce, sig))
            return jit_host(device)->fail(call->err, COLLET_REFUSED,
                                          "evaluate: the reduction of output %u is not supported", k);
        view_of(&v, t, &r);
        uint64_t bytes = workspace_of(t, &r, &v) + jit_steps_scratch(&r.program);
        *workspace_bytes = bytes > *workspace_bytes ? bytes : *workspace_bytes;
        bytes = 56 + 16 * r.program.n_in + view_bytes(&r) + jit_steps_passed(&r.program);
        collet_status status = jit_steps_fit(device, call, bytes);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

JIT_KERNEL(reduce_program)
{
    const collet_evaluate_params *params = call->params;
    jit_sequence s = jit_sequence_of(device, queue, call);
    for (uint32_t k = 0; k < params->program->n_out; k++) {
        reduction r;
        reduction_of_program(&r, call, k);
        launch(&s, &r);
    }
    return s.status;
}
