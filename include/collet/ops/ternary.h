/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/ternary.h - typed calls, inline, of the ternary family: weights and activations that are -1, 0 or 1.
 *
 * Codes are i8. Packed rows are u8, adjacent along their last axis, in one of the formats
 * COLLET_TERNARY_* (types.h, docs/KERNELS.md); ops that compute take COLLET_TERNARY_T2. The result
 * for bytes with an invalid code, or with padding that is not zero weights, is undefined
 * (ternary_unpack counts and replaces them).
 *
 * collet/call.h states the rules that hold for every call; docs/KERNELS.md has the
 * definitions and the limits of errors. Each row COLLET_CALL of ternary.def becomes a call, too (typed.h);
 * the comments there describe these calls.
 */
#ifndef COLLET_OPS_TERNARY_H
#define COLLET_OPS_TERNARY_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_CALL
#define COLLET_CALL_PARAMS COLLET_TYPED_CALL_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/ternary.def>
#include <collet/ops/end.def>

/* Bytes of a packed row of `weights` weights. -1 if no such row exists: an unknown format, weights
 * < 0, weights that are not a multiple of 256 for TQ2_0 and TQ1_0, more bytes than an i64 can
 * count. */
COLLET_API int64_t collet_ternary_bytes(uint32_t format, int64_t weights);
/* Packs codes (..., K) into bytes (..., B), B = collet_ternary_bytes. scale f32 (...) goes into the
 * blocks of TQ2_0 and TQ1_0 (NULL: 1), and is NULL for the other formats. info (i32, no axes): how
 * many codes are not -1, 0 or 1 (at most 2^31 - 1); they are packed as 0. */
static inline collet_status collet_op_ternary_pack(collet_context *context, collet_array *bytes,
                                                   collet_array *info, const collet_array *codes,
                                                   const collet_array *scale, uint32_t format)
{
    collet_array *const to[] = {bytes, info};
    const collet_array *const from[] = {codes, scale};
    collet_ternary_format_params params = {sizeof params, format};
    return collet_call(context, COLLET_OP_TERNARY_PACK, to, from, &params);
}

/* The inverse of ternary_pack. scale f32 (..., K / 256) gets the scales of the blocks of TQ2_0 and TQ1_0; NULL if
 * they are not needed, and for the other formats. info (i32, no axes): how many weights had an
 * invalid code (at most 2^31 - 1); they become 0. */
static inline collet_status collet_op_ternary_unpack(collet_context *context, collet_array *codes,
                                                     collet_array *scale, collet_array *info,
                                                     const collet_array *bytes, uint32_t format)
{
    collet_array *const to[] = {codes, scale, info};
    collet_ternary_format_params params = {sizeof params, format};
    return collet_call(context, COLLET_OP_TERNARY_UNPACK, to, &bytes, &params);
}

#ifdef __cplusplus
}
#endif
#endif
