/* SPDX-License-Identifier: Apache-2.0 */
/* array: argmax. */
#include "array.h"

#include <string.h>

#include "shared/jit/runtime/view.h"

#include "argmax_params.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("argmax", jit_text_array_argmax_params, jit_text_array_argmax);

collet_status jit_argmax(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    uint64_t kept = 1;
    argmax_view v;
    jit_launch l;
    memset(&v, 0, sizeof v);
    v.each = 1;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (params->axes >> i & 1) {
            v.extent[v.axes] = in->shape[i];
            v.stride[v.axes++] = in->strides[i];
            v.each *= in->shape[i];
        } else {
            v.kept_extent[v.kept_axes] = in->shape[i];
            v.kept_stride[0][v.kept_axes] = out->strides[params->keepdims ? i : v.kept_axes];
            v.kept_stride[1][v.kept_axes++] = in->strides[i];
            kept *= (uint64_t)in->shape[i];
        }
    }
    jit_launch_begin(&l, &source, in->dtype == COLLET_F64 ? "-DFROM=f64" : "-DFROM=f32", "argmax");
    jit_pass_operand(&l, out);
    jit_pass_operand(&l, in);
    jit_pass_block(&l, &v, sizeof v);
    return jit_enqueue(device, queue, &l, kept, call->err);
}
