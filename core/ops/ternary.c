/* SPDX-License-Identifier: Apache-2.0 */
/* Typed calls of the ternary family.
 * Tests: tests/cpu_scalar/test_kernels_scalar_ternary.c */
#include <collet/ops/ternary.h>

#include "call.h"

collet_status collet_op_ternary_pack(collet_context *cx, collet_array *bytes, collet_array *info,
                                     const collet_array *codes, const collet_array *scale,
                                     uint32_t format)
{
    collet_ternary_format_params params = {sizeof params, format};
    return collet_call(cx, COLLET_OP_TERNARY_PACK, OUTS(bytes, info), INS(codes, scale), &params);
}

collet_status collet_op_ternary_unpack(collet_context *cx, collet_array *codes, collet_array *scale,
                                       collet_array *info, const collet_array *bytes,
                                       uint32_t format)
{
    collet_ternary_format_params params = {sizeof params, format};
    return collet_call(cx, COLLET_OP_TERNARY_UNPACK, OUTS(codes, scale, info), &bytes, &params);
}
