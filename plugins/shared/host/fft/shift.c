/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c */
#include "shift.h"

#include "shared/host/util/rows.h"

/* The axes that are split in two: the shifted axes with more than one element. */
static uint32_t cut_axes(const collet_fftshift_params *params, const collet_operand *out)
{
    uint32_t axes = 0;
    for (int32_t i = 0; i < out->ndim; i++)
        if (params->axes >> i & 1 && out->shape[i] > 1)
            axes |= 1u << i;
    return axes;
}

collet_status cpu_fft_shift(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call,
                            collet_status (*copy)(collet_device *device, collet_queue *queue,
                                                  const collet_kernel_call *call))
{
    const collet_fftshift_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    uint32_t axes = cut_axes(params, out), back = 0;
    collet_status status = COLLET_OK;
    /* Bit i of `back`: along axis i, this block moves to the front. */
    do {
        int64_t shape[COLLET_MAX_DIMS];
        collet_operand block[2] = {*out, *in};
        block[0].shape = block[1].shape = shape;
        for (int32_t i = 0; i < out->ndim; i++) {
            int64_t n = out->shape[i], cut = params->inverse ? n / 2 : n - n / 2;
            int front = (int)(back >> i & 1);
            shape[i] = n;
            if (!(axes >> i & 1))
                continue;
            shape[i] = front ? n - cut : cut;
            block[0].byte_offset += (uint64_t)((front ? 0 : n - cut) * cpu_step(out, i));
            block[1].byte_offset += (uint64_t)((front ? cut : 0) * cpu_step(in, i));
        }
        collet_kernel_call part = *call;
        part.operands = block;
        part.operand_size = sizeof *block;
        status = copy(device, queue, &part);
        back = (back - axes) & axes;
    } while (back && status == COLLET_OK);
    return status;
}
