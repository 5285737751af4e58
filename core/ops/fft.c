/* SPDX-License-Identifier: Apache-2.0 */
/* Typed calls of the fft family.
 * Tests: tests/core/test_call.c */
#include <collet/ops/fft.h>

#include "call.h"
#include "context/context.h"

collet_status collet_op_fft(collet_context *cx, collet_array *out, const collet_array *a,
                            int32_t axes, int32_t inverse)
{
    collet_fft_params params = {
        .struct_size = sizeof params, .axes = (uint32_t)axes, .inverse = inverse != 0};
    if (axes < 1 || axes > 3)
        return context_fail(cx, COLLET_INVALID, "fft: axes is %d; it must be 1, 2 or 3", axes);
    return collet_call(cx, COLLET_OP_FFT, &out, &a, &params);
}

collet_status collet_op_fftshift(collet_context *cx, collet_array *out, const collet_array *a,
                                 const int32_t *axes, int32_t count, int32_t inverse)
{
    collet_fftshift_params params = {.struct_size = sizeof params, .inverse = inverse != 0};
    collet_status status = call_axes(cx, "fftshift", a, axes, count, &params.axes);
    return status == COLLET_OK ? collet_call(cx, COLLET_OP_FFTSHIFT, &out, &a, &params) : status;
}
