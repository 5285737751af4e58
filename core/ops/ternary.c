/* SPDX-License-Identifier: Apache-2.0 */
/* Typed calls of the ternary family. */
#include "call.h"

collet_status collet_ternary_quantize(collet_context *cx, collet_array *codes, collet_array *scale,
                                      collet_array *info, const collet_array *weights,
                                      const collet_ternary_quantize_params *params)
{
    return collet_call(cx, COLLET_OP_TERNARY_QUANTIZE, OUTS(codes, scale, info), &weights, params);
}

collet_status collet_ternary_pack(collet_context *cx, collet_array *bytes, collet_array *info,
                                  const collet_array *codes, const collet_array *scale,
                                  uint32_t format)
{
    collet_ternary_format_params params = {sizeof params, format};
    return collet_call(cx, COLLET_OP_TERNARY_PACK, OUTS(bytes, info), INS(codes, scale), &params);
}

collet_status collet_ternary_unpack(collet_context *cx, collet_array *codes, collet_array *scale,
                                    collet_array *info, const collet_array *bytes, uint32_t format)
{
    collet_ternary_format_params params = {sizeof params, format};
    return collet_call(cx, COLLET_OP_TERNARY_UNPACK, OUTS(codes, scale, info), &bytes, &params);
}

collet_status collet_ternary_dot(collet_context *cx, collet_array *out, const collet_array *a,
                                 const collet_array *b)
{
    return collet_call(cx, COLLET_OP_TERNARY_DOT, &out, INS(a, b), NULL);
}

collet_status collet_ternary_matmul(collet_context *cx, collet_array *y,
                                    const collet_array *weights, const collet_array *x)
{
    return collet_call(cx, COLLET_OP_TERNARY_MATMUL, &y, INS(weights, x), NULL);
}

collet_status collet_ternary_linear(collet_context *cx, collet_array *y,
                                    const collet_array *weights, const collet_array *x,
                                    const collet_array *scale, const collet_array *bias,
                                    const collet_ternary_linear_params *params)
{
    return collet_call(cx, COLLET_OP_TERNARY_LINEAR, &y, INS(weights, x, scale, bias), params);
}
