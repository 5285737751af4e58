/* SPDX-License-Identifier: Apache-2.0 */
#include "fft_shift.h"

#include <string.h>

#include "texts.h"
#include "view.h"

static const char *const texts[] = {device_text_fft_shift, NULL};
static const device_source source = {"fft_shift", texts};

/* By the size of an element. */
static const char *const options[17] = {[1] = "-DELEMENT=u8",
                                        [2] = "-DELEMENT=u16",
                                        [4] = "-DELEMENT=u32",
                                        [8] = "-DELEMENT=u64",
                                        [16] = "-DELEMENT=b128"};

/* The rotation of fft_shift.dev. */
typedef struct rotation {
    int64_t outer[COLLET_MAX_DIMS];
    int64_t column;
} rotation;

static void rotation_of(rotation *by, const collet_kernel_call *call)
{
    const collet_fftshift_params *params = call->params;
    const collet_operand *out = device_operand(call, 0);
    memset(by, 0, sizeof *by);
    for (int32_t i = 0; i < out->ndim; i++) {
        int64_t n = out->shape[i], cut = params->inverse ? n / 2 : n - n / 2;
        if (!(params->axes >> i & 1))
            continue;
        if (i == out->ndim - 1)
            by->column = cut;
        else
            by->outer[i] = cut;
    }
}

collet_status device_fftshift(collet_device *device, collet_queue *queue,
                              const collet_kernel_call *call)
{
    const collet_operand *out = device_operand(call, 0);
    device_launch l;
    device_view view;
    rotation by;
    rotation_of(&by, call);
    uint64_t groups = device_view_of(&view, device_traits_of(device), call, 2);
    device_launch_begin(&l, &source, options[device_dtype_size(out->dtype)], "turn");
    device_pass_operand(&l, out);
    device_pass_operand(&l, device_operand(call, 1));
    device_pass_block(&l, &view, sizeof view);
    device_pass_block(&l, &by, sizeof by);
    return device_enqueue(device, queue, &l, groups, call->err);
}
