/* SPDX-License-Identifier: Apache-2.0 */
/* The ternary family: how many bytes a packed row has, and shape rules.
 * Tests: tests/core/test_rule_ternary.c, tests/core/test_infer.c */
#include <collet/ops/ternary.h>

#include "rules.h"

#include <inttypes.h>
#include <math.h>

#include "shape.h"

/* Weights and bytes of a block, for formats with blocks. */
#define T2_BLOCK 256
#define T2_BYTES 64
#define GGUF_BLOCK 256
#define TQ2_0_BYTES 66
#define TQ1_0_BYTES 54

/* Limits for sums in an i32: fewer than 2^24 products of a ternary weight and an int8 number (each at most 2^7); and
 * the bytes of a packed row with 2^31 - 256 codes, padding included. */
#define INT8_COLUMNS_MOST ((1 << 24) - 1)
#define PACKED_MOST (INT32_MAX / T2_BLOCK * T2_BYTES)

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

int64_t collet_ternary_bytes(uint32_t format, int64_t weights)
{
    if (weights < 0)
        return -1;
    switch (format) {
    case COLLET_TERNARY_T2:
        return divide_up(weights, T2_BLOCK) * T2_BYTES;
    case COLLET_TERNARY_PLANES:
        return 2 * divide_up(weights, 8);
    case COLLET_TERNARY_ROTOR:
        return divide_up(weights, 4);
    case COLLET_TERNARY_TQ2_0:
        return weights % GGUF_BLOCK ? -1 : weights / GGUF_BLOCK * TQ2_0_BYTES;
    case COLLET_TERNARY_TQ1_0:
        return weights % GGUF_BLOCK ? -1 : weights / GGUF_BLOCK * TQ1_0_BYTES;
    default:
        return -1;
    }
}

/* ---- Rules --------------------------------------------------------------------------------- */

static const char *const format_names[COLLET_TERNARY_FORMATS] = {"t2", "planes", "rotor", "tq2_0",
                                                                 "tq1_0"};

static int has_blocks(uint32_t format)
{
    return format == COLLET_TERNARY_TQ2_0 || format == COLLET_TERNARY_TQ1_0;
}

static int64_t last_extent(const struct op_view *v)
{
    return v->shape[v->ndim - 1];
}

/* Packed rows have no gaps between their bytes. */
static collet_status check_adjacent(const op *o, const op_shapes *v, uint32_t operand,
                                    collet_error *err)
{
    const struct op_view *w = &v->operand[operand];
    char name[OP_OPERAND_TEXT];
    int empty = 0;
    for (int32_t i = 0; i < w->ndim; i++)
        empty |= w->shape[i] == 0;
    if (w->strides[w->ndim - 1] == 1 || last_extent(w) == 1 || empty)
        return COLLET_OK;
    return collet_fail(err, COLLET_INVALID,
                       "%s: the stride along the last axis of %s is %" PRId64
                       "; the bytes of packed rows must be adjacent: copy the array",
                       o->name, op_operand_name(o, operand, name), w->strides[w->ndim - 1]);
}

/* Checks that the rows of operand `packed` have as many bytes as the weights in a row of operand
 * `long_one` need. */
static collet_status check_bytes(const op *o, const op_shapes *v, uint32_t format, uint32_t packed,
                                 uint32_t long_one, collet_error *err)
{
    int64_t have = last_extent(&v->operand[packed]), weights = last_extent(&v->operand[long_one]);
    int64_t bytes = collet_ternary_bytes(format, weights);
    char name[OP_OPERAND_TEXT], other[OP_OPERAND_TEXT];
    if (bytes < 0)
        return collet_fail(
            err, COLLET_SHAPE,
            "%s: a row has %" PRId64
            " weights, but %s has blocks of %d; the number must be a multiple of that",
            o->name, weights, format_names[format], GGUF_BLOCK);
    if (bytes != have)
        return collet_fail(err, COLLET_SHAPE,
                           "%s: %s has rows of %" PRId64 " bytes, %s of %" PRId64
                           " weights, which take %" PRId64 " bytes in %s",
                           o->name, op_operand_name(o, packed, name), have,
                           op_operand_name(o, long_one, other), weights, bytes,
                           format_names[format]);
    return check_adjacent(o, v, packed, err);
}

static collet_status check_format(const op *o, uint32_t format, int has_scale, collet_error *err)
{
    if (format >= COLLET_TERNARY_FORMATS)
        return collet_fail(err, COLLET_INVALID,
                           "%s: format is %" PRIu32 "; it must be 0 (t2) to %d (tq1_0)", o->name,
                           format, COLLET_TERNARY_FORMATS - 1);
    if (has_scale && !has_blocks(format))
        return collet_fail(err, COLLET_INVALID,
                           "%s: the format %s has no scales; pass NULL and keep them in an array",
                           o->name, format_names[format]);
    return COLLET_OK;
}

static collet_status check_threshold(const char *who, float threshold, int allowed,
                                     collet_error *err)
{
    if (!isfinite(threshold) || threshold < 0)
        return collet_fail(err, COLLET_INVALID,
                           "%s: the threshold is %g; it must be finite and not negative", who,
                           (double)threshold);
    if (threshold != 0 && !allowed)
        return collet_fail(err, COLLET_INVALID,
                           "%s: the threshold is %g, but this mode has none; set it to 0", who,
                           (double)threshold);
    return COLLET_OK;
}

static collet_status check_activations(const char *who, uint32_t activations, float threshold,
                                       collet_error *err)
{
    if (activations > COLLET_TERNARY_INT4)
        return collet_fail(err, COLLET_INVALID,
                           "%s: activations is %" PRIu32
                           "; it must be 0 (int8), 1 (ternary), 2 (f32) or 3 (int4)",
                           who, activations);
    return check_threshold(who, threshold, activations == COLLET_TERNARY_TERNARY, err);
}

collet_status op_rule_ternary_quantize(const op *o, op_shapes *views, const void *params,
                                       collet_error *err)
{
    const collet_ternary_quantize_params *p = params;
    (void)views;
    if (p->mode > COLLET_TERNARY_ABSMEAN)
        return collet_fail(err, COLLET_INVALID,
                           "%s: mode is %" PRIu32 "; it must be 0 (threshold) or 1 (absmean)",
                           o->name, p->mode);
    return check_threshold(o->name, p->threshold, p->mode == COLLET_TERNARY_THRESHOLD, err);
}

collet_status op_rule_ternary_pack(const op *o, op_shapes *views, const void *params,
                                   collet_error *err)
{
    const collet_ternary_format_params *p = params;
    int64_t *bytes = op_open(views, 0);
    collet_status status = check_format(o, p->format, views->operand[3].shape != NULL, err);
    if (bytes)
        bytes[views->operand[0].ndim - 1] =
            collet_ternary_bytes(p->format, last_extent(&views->operand[2]));
    return status == COLLET_OK ? check_bytes(o, views, p->format, 0, 2, err) : status;
}

/* The maximum number of weights in a row of this many bytes; -1 if more than 64 bits. */
static int64_t most_weights(uint32_t format, int64_t bytes)
{
    if (bytes > INT64_MAX / 8)
        return -1;
    switch (format) {
    case COLLET_TERNARY_T2:
        return bytes / T2_BYTES * T2_BLOCK;
    case COLLET_TERNARY_PLANES:
        return bytes / 2 * 8;
    case COLLET_TERNARY_ROTOR:
        return bytes * 4;
    default:
        return bytes / (format == COLLET_TERNARY_TQ2_0 ? TQ2_0_BYTES : TQ1_0_BYTES) * GGUF_BLOCK;
    }
}

collet_status op_rule_ternary_unpack(const op *o, op_shapes *views, const void *params,
                                     collet_error *err)
{
    const collet_ternary_format_params *p = params;
    const struct op_view *codes = &views->operand[0], *scale = &views->operand[1];
    int64_t *open = op_open(views, 0), *open_scale = op_open(views, 1);
    collet_status status = check_format(o, p->format, scale->shape != NULL, err);
    if (status != COLLET_OK)
        return status;
    if (open)
        open[codes->ndim - 1] = most_weights(p->format, last_extent(&views->operand[3]));
    status = check_bytes(o, views, p->format, 3, 0, err);
    char name[OP_OPERAND_TEXT];
    int64_t blocks = last_extent(codes) / GGUF_BLOCK;
    if (open_scale)
        open_scale[scale->ndim - 1] = blocks;
    if (status == COLLET_OK && scale->shape && last_extent(scale) != blocks)
        return collet_fail(err, COLLET_SHAPE,
                           "%s: %s has %" PRId64 " scales in a row; a row of %" PRId64
                           " weights has %" PRId64 " blocks",
                           o->name, op_operand_name(o, 1, name), last_extent(scale),
                           last_extent(codes), blocks);
    return status;
}

/* Checks that rows are whole blocks of T2, and that sums over them are exact. */
static collet_status check_packed(const op *o, const op_shapes *v, uint32_t operand,
                                  collet_error *err)
{
    int64_t bytes = last_extent(&v->operand[operand]);
    char name[OP_OPERAND_TEXT];
    if (bytes % T2_BYTES)
        return collet_fail(err, COLLET_SHAPE,
                           "%s: %s has rows of %" PRId64 " bytes; rows of t2 have a multiple of %d",
                           o->name, op_operand_name(o, operand, name), bytes, T2_BYTES);
    if (bytes > PACKED_MOST)
        return collet_fail(err, COLLET_OVERFLOW,
                           "%s: sums over rows of %" PRId64
                           " bytes may not fit in 32 bits; at most %d bytes are supported",
                           o->name, bytes, PACKED_MOST);
    return check_adjacent(o, v, operand, err);
}

collet_status op_rule_ternary_dot(const op *o, op_shapes *views, const void *params,
                                  collet_error *err)
{
    (void)params;
    collet_status status = check_packed(o, views, 1, err);
    return status == COLLET_OK ? check_packed(o, views, 2, err) : status;
}

collet_status op_rule_ternary_matmul(const op *o, op_shapes *views, const void *params,
                                     collet_error *err)
{
    const struct op_view *weights = &views->operand[1], *x = &views->operand[2];
    char name[OP_OPERAND_TEXT], other[OP_OPERAND_TEXT];
    (void)params;
    collet_status status = check_packed(o, views, 1, err);
    if (status != COLLET_OK)
        return status;
    if (x->dtype != COLLET_U8)
        status = check_bytes(o, views, COLLET_TERNARY_T2, 1, 2, err);
    else if (last_extent(x) != last_extent(weights))
        return collet_fail(err, COLLET_SHAPE,
                           "%s: %s has rows of %" PRId64 " bytes, %s of %" PRId64, o->name,
                           op_operand_name(o, 1, name), last_extent(weights),
                           op_operand_name(o, 2, other), last_extent(x));
    else
        status = check_adjacent(o, views, 2, err);
    if (status == COLLET_OK && x->dtype == COLLET_I8 && last_extent(x) > INT8_COLUMNS_MOST)
        return collet_fail(err, COLLET_OVERFLOW,
                           "%s: sums over rows of %" PRId64
                           " weights may not fit in 32 bits; at most %d weights are supported",
                           o->name, last_extent(x), INT8_COLUMNS_MOST);
    return status;
}

collet_status op_rule_ternary_linear(const op *o, op_shapes *views, const void *params,
                                     collet_error *err)
{
    const collet_ternary_linear_params *p = params;
    int64_t columns = last_extent(&views->operand[2]);
    collet_status status = check_activations(o->name, p->activations, p->threshold, err);
    if (status == COLLET_OK)
        status = check_packed(o, views, 1, err);
    if (status == COLLET_OK && columns > INT8_COLUMNS_MOST &&
        (p->activations == COLLET_TERNARY_INT8 || p->activations == COLLET_TERNARY_INT4))
        status = collet_fail(err, COLLET_OVERFLOW,
                             "%s: sums over rows of %" PRId64
                             " weights may not fit in 32 bits; at most %d weights are supported",
                             o->name, columns, INT8_COLUMNS_MOST);
    return status == COLLET_OK ? check_bytes(o, views, COLLET_TERNARY_T2, 1, 2, err) : status;
}
