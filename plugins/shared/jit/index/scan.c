/* SPDX-License-Identifier: Apache-2.0 */
/* index: cumulative_sum, cumulative_prod and histogram.
 * Tests: conformance/index/scan.c */
#include "index.h"

#include "shared/jit/runtime/rows.h"
#include "shared/jit/texts.h"

static const jit_source scan_source =
    JIT_SOURCE("scan", jit_text_index_index_params, jit_text_index_index, jit_text_index_scan);
static const jit_source histogram_source = JIT_SOURCE(
    "histogram", jit_text_index_index_params, jit_text_index_index, jit_text_index_histogram);

/* ---- cumulative_sum, cumulative_prod --------------------------------------------------------- */

#define OPTIONS(NAME, FROM, WIDE) [COLLET_##NAME] = "-DFROM=" #FROM " -DWIDE=" #WIDE
static const char *const options_of[COLLET_DTYPE_COUNT] = {
    OPTIONS(BOOL, b8, u64), OPTIONS(I8, i8, u64),   OPTIONS(U8, u8, u64),   OPTIONS(I16, i16, u64),
    OPTIONS(U16, u16, u64), OPTIONS(I32, i32, u64), OPTIONS(U32, u32, u64), OPTIONS(I64, u64, u64),
    OPTIONS(U64, u64, u64), OPTIONS(F32, f32, f64), OPTIONS(F64, f64, f64),
};

/* One item scans a whole row if the row has at most SHORT elements. One item also scans a whole
 * row if there are at least MANY_ROWS rows per compute unit, and the items of a group run in
 * sequence or the elements of a row are not adjacent in memory. */
#define SHORT 64
#define MANY_ROWS 256

typedef struct scan {
    index_walk walk; /* over the rows; real and imaginary parts of complex numbers are separate rows */
    collet_operand out, in;
    int64_t n, out_step, in_step, blocks;
    int by_items;
} scan;

static void scan_of(scan *s, const jit_traits *t, const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int64_t parts = part_of(in->dtype) == in->dtype ? 1 : 2;
    jit_axis axes[INDEX_DIMS];
    int32_t last = out->ndim - 1;
    s->out = *out;
    s->in = *in;
    s->out.dtype = part_of(out->dtype);
    s->in.dtype = part_of(in->dtype);
    for (int32_t i = 0; i < last; i++)
        axes[i] = (jit_axis){out->shape[i], {out->strides[i] * parts, in->strides[i] * parts}};
    axes[last] = (jit_axis){parts, {1, 1}};
    index_walk_of(&s->walk, axes, out->ndim, 2, 1);
    s->n = operand_extent(in, 0);
    s->out_step = index_step(out) * parts;
    s->in_step = index_step(in) * parts;
    s->blocks = (int64_t)jit_ceiling((uint64_t)s->n, (uint64_t)t->group * SCAN_EACH);
    s->by_items = s->n <= SHORT || (s->walk.count >= (int64_t)MANY_ROWS * t->units &&
                                    (t->serial || s->in_step != 1));
}

/* The workspace holds the total of each block. */
JIT_ACCEPTS(scan)
{
    scan s;
    scan_of(&s, jit_traits_of(device), call);
    *workspace_bytes =
        s.by_items || s.blocks < 2 ? 0 : (uint64_t)(s.walk.count * s.blocks) * sizeof(uint64_t);
    return COLLET_OK;
}

static void begin_scan(jit_launch *l, const scan *s, const collet_kernel_call *call,
                       const char *kernel)
{
    jit_launch_begin(l, &scan_source, options_of[s->in.dtype], kernel);
    jit_pass_operand(l, &s->in);
    jit_pass_i64(l, s->in_step);
    jit_pass_i32(l, call->op == COLLET_OP_CUMULATIVE_PROD);
    jit_pass_i64(l, s->n);
    jit_pass_block(l, &s->walk, sizeof s->walk);
}

static void pass_output(jit_launch *l, const scan *s)
{
    jit_pass_operand(l, &s->out);
    jit_pass_i64(l, s->out_step);
    jit_pass_i32(l, s->out.dtype == COLLET_F32);
}

JIT_KERNEL(scan)
{
    jit_sequence launches = jit_sequence_of(device, queue, call);
    jit_launch l;
    scan s;
    scan_of(&s, launches.traits, call);
    uint64_t groups = (uint64_t)(s.walk.count * s.blocks);
    if (s.by_items) {
        begin_scan(&l, &s, call, "rows");
        pass_output(&l, &s);
        jit_sequence_enqueue(&launches, &l, jit_groups(launches.traits, (uint64_t)s.walk.count));
        return launches.status;
    }
    if (s.blocks > 1) {
        begin_scan(&l, &s, call, "totals");
        jit_pass_buffer(&l, call->workspace);
        jit_pass_i64(&l, s.blocks);
        jit_sequence_enqueue(&launches, &l, groups);
        jit_launch_begin(&l, &scan_source, l.options, "join_totals");
        jit_pass_buffer(&l, call->workspace);
        jit_pass_i64(&l, s.blocks);
        jit_pass_i32(&l, call->op == COLLET_OP_CUMULATIVE_PROD);
        jit_sequence_enqueue(&launches, &l, (uint64_t)s.walk.count);
    }
    begin_scan(&l, &s, call, "blocks");
    jit_pass_buffer(&l, s.blocks > 1 ? call->workspace : NULL);
    jit_pass_i64(&l, s.blocks);
    pass_output(&l, &s);
    jit_sequence_enqueue(&launches, &l, groups);
    return launches.status;
}

/* ---- histogram ------------------------------------------------------------------------------- */

/* SHARE: minimum number of elements per item. ITEMS: maximum number of items. BINS: maximum number of bins of all
 * items. */
#define SHARE 64
#define ITEMS 8192
#define BINS (1 << 24)

static int32_t kind_of(collet_dtype dtype)
{
    static const int32_t kinds[COLLET_DTYPE_COUNT] = {
        [COLLET_BOOL] = NUMBER_BOOL, [COLLET_I8] = NUMBER_I8,    [COLLET_U8] = NUMBER_U8,
        [COLLET_I16] = NUMBER_I16,   [COLLET_U16] = NUMBER_U16,  [COLLET_I32] = NUMBER_I32,
        [COLLET_U32] = NUMBER_U32,   [COLLET_I64] = NUMBER_WORD, [COLLET_U64] = NUMBER_WORD,
        [COLLET_F32] = NUMBER_F32,   [COLLET_F64] = NUMBER_F64,
    };
    return kinds[dtype];
}

static int64_t items_of(const collet_kernel_call *call)
{
    int64_t n = operand_extent(operand_of(call, 1), 0), items = n / SHARE;
    int64_t bins = operand_extent(operand_of(call, 0), 0), most = BINS / (bins ? bins : 1);
    items = items < ITEMS ? items : ITEMS;
    items = items < most ? items : most;
    return items > 1 ? items : 1;
}

JIT_ACCEPTS(histogram)
{
    (void)device;
    *workspace_bytes = sizeof(uint64_t) * (uint64_t)items_of(call) *
                       (uint64_t)operand_extent(operand_of(call, 0), 0);
    return COLLET_OK;
}

JIT_KERNEL(histogram)
{
    const collet_histogram_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *a = operand_of(call, 1);
    const collet_operand *weights = operand_of(call, 2);
    jit_sequence s = jit_sequence_of(device, queue, call);
    int64_t bins = operand_extent(out, 0), n = operand_extent(a, 0), items = items_of(call);
    int weighted = operand_present(weights), is_float = out->dtype == COLLET_F64;
    double wider = params->low == params->high ? 0.5 : 0.0;
    jit_launch l;
    jit_launch_begin(&l, &histogram_source, "-DNEEDS_F64=1", "clear");
    jit_pass_buffer(&l, call->workspace);
    jit_pass_i64(&l, items * bins);
    jit_sequence_enqueue(&s, &l, jit_groups(s.traits, (uint64_t)(items * bins)));
    if (!bins)
        return s.status;
    jit_launch_begin(&l, &histogram_source, "-DNEEDS_F64=1", "count");
    jit_pass_operand(&l, a);
    jit_pass_i64(&l, index_step(a));
    jit_pass_i32(&l, kind_of(a->dtype));
    jit_pass_operand(&l, weights);
    jit_pass_i64(&l, weighted ? index_step(weights) : 0);
    jit_pass_i32(&l, weighted ? kind_of(weights->dtype) : 0);
    jit_pass_i64(&l, n);
    jit_pass_f64(&l, params->low - wider);
    jit_pass_f64(&l, params->high + wider);
    jit_pass_i64s(&l, bins, items, (int64_t)jit_ceiling((uint64_t)n, (uint64_t)items));
    jit_pass_i32(&l, is_float);
    jit_pass_buffer(&l, call->workspace);
    jit_sequence_enqueue(&s, &l, jit_groups(s.traits, (uint64_t)items));
    jit_launch_begin(&l, &histogram_source, "-DNEEDS_F64=1", "add_up");
    jit_pass_operand(&l, out);
    jit_pass_i64s(&l, index_step(out), bins, items);
    jit_pass_i32(&l, is_float);
    jit_pass_buffer(&l, call->workspace);
    jit_sequence_enqueue(&s, &l, jit_groups(s.traits, (uint64_t)bins));
    return s.status;
}
