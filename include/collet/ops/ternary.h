/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/ternary.h - typed calls of the ternary family: weights and activations that are -1, 0 or 1.
 *
 * Codes are i8. Packed rows are u8, adjacent along their last axis, in one of the formats
 * COLLET_TERNARY_* (types.h, docs/KERNELS.md); what computes takes COLLET_TERNARY_T2. The result for
 * bytes with an invalid code, or with padding that is not zero weights, is undefined (ternary_unpack
 * counts and replaces them).
 *
 * What all calls have in common: collet_call in collet.h. The definitions and the limits of errors:
 * docs/KERNELS.md. The calls without a declaration here are rows COLLET_CALL of
 * ternary.def, with their contracts.
 */
#ifndef COLLET_OPS_TERNARY_H
#define COLLET_OPS_TERNARY_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_DECLARE
#define COLLET_CALL_PARAMS COLLET_TYPED_DECLARE_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/ternary.def>
#include <collet/ops/end.def>

/* Bytes of a packed row of `weights` weights; -1 where there is no such row: an unknown format,
 * weights < 0, TQ2_0 and TQ1_0 of no multiple of 256, more than an i64. */
COLLET_API int64_t collet_ternary_bytes(uint32_t format, int64_t weights);
/* bytes (..., B) of codes (..., K), B = collet_ternary_bytes. scale f32 (...) goes into the blocks
 * of TQ2_0 and TQ1_0 (NULL: 1), and is NULL for the other formats. info (i32, no axes): how many
 * codes are not -1, 0 or 1 (at most 2^31 - 1); they are packed as 0. */
COLLET_API collet_status collet_op_ternary_pack(collet_context *context, collet_array *bytes,
                                                collet_array *info, const collet_array *codes,
                                                const collet_array *scale, uint32_t format);
/* The inverse. scale f32 (..., K / 256) of the blocks of TQ2_0 and TQ1_0, NULL if not
 * requested and for the other formats. info (i32, no axes): how many weights had an invalid code
 * (at most 2^31 - 1); they become 0. */
COLLET_API collet_status collet_op_ternary_unpack(collet_context *context, collet_array *codes,
                                                  collet_array *scale, collet_array *info,
                                                  const collet_array *bytes, uint32_t format);

#ifdef __cplusplus
}
#endif
#endif
