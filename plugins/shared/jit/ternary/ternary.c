/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/ternary/ternary.c, conformance/ternary/products.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include "shared/jit/linalg/matrices.h"
#include "ternary_params.h"
#include "shared/jit/texts.h"

static const jit_source codes_source =
    JIT_SOURCE("ternary_codes", jit_text_linalg_matrices_params, jit_text_linalg_matrices,
               jit_text_ternary_ternary_params, jit_text_ternary_ternary, jit_text_ternary_codes);
static const jit_source formats_source =
    JIT_SOURCE("ternary_formats", jit_text_linalg_matrices_params, jit_text_linalg_matrices,
               jit_text_ternary_ternary_params, jit_text_ternary_ternary, jit_text_ternary_formats);

_Static_assert(T2 == COLLET_TERNARY_T2 && PLANES == COLLET_TERNARY_PLANES &&
                   ROTOR == COLLET_TERNARY_ROTOR && TQ2_0 == COLLET_TERNARY_TQ2_0 &&
                   TQ1_0 == COLLET_TERNARY_TQ1_0,
               "the formats of types.h");

/* ---- Rows and their parts ----------------------------------------------------------------------
 */

/* A part of a row has at least PART_LEAST elements, unless the row is shorter, and at most PART_MOST, because a group
 * counts in an i32. Rows are not divided into more than PARTS_ENOUGH parts in total, unless PART_MOST requires it.
 * All parts except the last are multiples of T2_BLOCK elements, so they contain whole blocks of every format. */
#define PART_LEAST 16384
#define PART_MOST ((int64_t)1 << 27)
#define PARTS_ENOUGH 1024

/* The binary logarithm of the number of work-items that share a unit, which is a row or a part of a row with `width`
 * elements: the smallest power of two that is at least `width` or the size of a group, whichever is less. */
static int32_t bits_of(const jit_traits *t, int64_t width)
{
    int32_t bits = 0;
    while (1u << bits < t->group && (int64_t)1 << bits < width)
        bits++;
    return bits;
}

/* Divides rows of `columns` elements along the last axis of o into units; returns the number of groups. */
static uint64_t rows_of(row_view *w, const jit_traits *t, const collet_operand *o, int64_t columns)
{
    int64_t rows = jit_batch_begin(&w->v, o, o->ndim - 1), most = PARTS_ENOUGH;
    int64_t parts = columns / PART_LEAST, needed = columns / PART_MOST + 1;
    most = rows > 1 ? PARTS_ENOUGH / rows : most;
    parts = parts < most ? parts : most;
    w->parts = parts > needed ? parts : needed;
    w->columns = columns;
    w->width = columns;
    if (w->parts > 1) {
        uint64_t share = jit_ceiling((uint64_t)columns, (uint64_t)w->parts);
        w->width = (int64_t)jit_ceiling(share, T2_BLOCK) * T2_BLOCK;
        w->parts = (int64_t)jit_ceiling((uint64_t)columns, (uint64_t)w->width);
    }
    w->units = rows * w->parts;
    w->bits = bits_of(t, w->width);
    w->with_scale = 0;
    return jit_ceiling((uint64_t)w->units, t->group >> w->bits);
}

static void scale_of(row_view *w, const collet_operand *scale)
{
    w->with_scale = operand_present(scale);
    if (w->with_scale)
        jit_batch_operand(&w->v, 2, scale);
}

static int64_t last_extent(const collet_operand *o)
{
    return o->shape[o->ndim - 1];
}

/* Whether the outputs are empty. This must be checked first: the number of rows may overflow in this case. */
static int is_idle(const collet_operand *out, const collet_operand *scale)
{
    return operand_is_empty(out) && operand_is_empty(scale);
}

/* Sets info to 0, before kernels add to it. */
static void clear(jit_sequence *s, const jit_source *source, const char *options,
                  const collet_operand *info)
{
    jit_launch l;
    jit_launch_begin(&l, source, options, "clear");
    jit_pass_operand(&l, info);
    jit_sequence_enqueue(s, &l, 1);
}

/* ---- quantize ----------------------------------------------------------------------------------
 */

static const char *quantize_options(collet_dtype from)
{
    switch (from) {
    case COLLET_F16:
        return "-DFROM=f16";
    case COLLET_BF16:
        return "-DFROM=bf16";
    case COLLET_F64:
        return "-DFROM=f64";
    default:
        return "-DFROM=f32";
    }
}

static int takes_means(const collet_kernel_call *call)
{
    const collet_ternary_quantize_params *params = call->params;
    return params->mode == COLLET_TERNARY_ABSMEAN;
}

static uint64_t quantize_rows(row_view *w, const jit_traits *t, const collet_kernel_call *call)
{
    const collet_operand *codes = operand_of(call, 0), *in = operand_of(call, 3);
    uint64_t groups = rows_of(w, t, codes, last_extent(codes));
    jit_batch_operand(&w->v, 0, codes);
    jit_batch_operand(&w->v, 1, in);
    scale_of(w, operand_of(call, 1));
    return groups;
}

JIT_ACCEPTS(ternary_quantize)
{
    row_view w;
    if (!takes_means(call) || is_idle(operand_of(call, 0), operand_of(call, 1)))
        return COLLET_OK;
    quantize_rows(&w, jit_traits_of(device), call);
    *workspace_bytes = (uint64_t)w.units * 2 * sizeof(double);
    return COLLET_OK;
}

JIT_KERNEL(ternary_quantize)
{
    const collet_ternary_quantize_params *params = call->params;
    const collet_operand *in = operand_of(call, 3);
    const char *options = quantize_options(in->dtype);
    jit_sequence s = jit_sequence_of(device, queue, call);
    int means = takes_means(call);
    jit_launch l;
    row_view w;
    clear(&s, &codes_source, options, operand_of(call, 2));
    if (is_idle(operand_of(call, 0), operand_of(call, 1)))
        return s.status;
    uint64_t groups = quantize_rows(&w, s.traits, call);
    if (means) {
        jit_launch_begin(&l, &codes_source, options, "magnitudes");
        jit_pass_buffer(&l, call->workspace);
        jit_pass_operand(&l, in);
        jit_pass_block(&l, &w, sizeof w);
        jit_sequence_enqueue(&s, &l, groups);
    }
    jit_launch_begin(&l, &codes_source, options, "quantize");
    jit_pass_operands(&l, call, 4);
    jit_pass_buffer(&l, means ? call->workspace : NULL);
    jit_pass_f32(&l, params->threshold);
    jit_pass_i32(&l, means);
    jit_pass_block(&l, &w, sizeof w);
    jit_sequence_enqueue(&s, &l, groups);
    return s.status;
}

/* ---- pack, unpack ------------------------------------------------------------------------------
 */

/* Runs pack or unpack over the rows of operand 0; `in`, `scale` and `info` are indices of operands, and `length`
 * is passed to the kernel as `count` or `blocks`. */
static collet_status convert(collet_device *device, collet_queue *queue,
                             const collet_kernel_call *call, const char *kernel, uint32_t in,
                             uint32_t scale, uint32_t info, int64_t length)
{
    const collet_ternary_format_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    jit_sequence s = jit_sequence_of(device, queue, call);
    jit_launch l;
    row_view w;
    clear(&s, &formats_source, "", operand_of(call, info));
    if (is_idle(out, scale < call->n_out ? operand_of(call, scale) : out))
        return s.status;
    uint64_t groups = rows_of(&w, s.traits, out, last_extent(out));
    jit_batch_operand(&w.v, 0, out);
    jit_batch_operand(&w.v, 1, operand_of(call, in));
    scale_of(&w, operand_of(call, scale));
    jit_launch_begin(&l, &formats_source, "", kernel);
    jit_pass_operands(&l, call, 4);
    jit_pass_i32(&l, (int32_t)params->format);
    jit_pass_i64(&l, length);
    jit_pass_block(&l, &w, sizeof w);
    jit_sequence_enqueue(&s, &l, groups);
    return s.status;
}

JIT_KERNEL(ternary_pack)
{
    int64_t codes = last_extent(operand_of(call, 2));
    return convert(device, queue, call, "pack", 2, 3, 1, codes);
}

JIT_KERNEL(ternary_unpack)
{
    const collet_operand *scale = operand_of(call, 1);
    int64_t blocks = operand_present(scale) ? last_extent(scale) : 0;
    return convert(device, queue, call, "unpack", 3, 1, 2, blocks);
}

/* ---- dot ---------------------------------------------------------------------------------------
 */

/* A group should have at least this many bytes. */
#define INNER_LEAST 16384

/* The number of groups for `count` bytes; each group has *each bytes, and the last group has the rest. */
static uint64_t inner_groups(const jit_traits *t, uint64_t count, uint64_t *each)
{
    uint64_t target = jit_ceiling(count, INNER_LEAST), most = 8 * (uint64_t)t->units;
    uint64_t blocks = count / T2_BLOCK_BYTES, share;
    target = target < most ? target : most;
    share = jit_ceiling(blocks, target ? target : 1);
    *each = share * T2_BLOCK_BYTES;
    return share ? jit_ceiling(blocks, share) : 1;
}

JIT_KERNEL(ternary_dot)
{
    jit_sequence s = jit_sequence_of(device, queue, call);
    int64_t count = last_extent(operand_of(call, 1));
    uint64_t each, groups = inner_groups(s.traits, (uint64_t)count, &each);
    jit_launch l;
    if (groups > 1)
        clear(&s, &formats_source, "", operand_of(call, 0));
    jit_launch_begin(&l, &formats_source, "", "inner");
    jit_pass_operands(&l, call, 3);
    jit_pass_i64s(&l, count, (int64_t)each);
    jit_pass_i32(&l, groups == 1);
    jit_sequence_enqueue(&s, &l, groups);
    return s.status;
}
