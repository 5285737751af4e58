/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c */
#include "fft.h"

#include <string.h>

#include "shared/jit/texts.h"
#include "shared/jit/runtime/view.h"

#include "shift_params.h"

static const jit_source source =
    JIT_SOURCE("fft_shift", jit_text_fft_shift_params, jit_text_fft_shift);

/* Indexed by element size. */
static const char *const options[17] = {[1] = "-DELEMENT=u8",
                                        [2] = "-DELEMENT=u16",
                                        [4] = "-DELEMENT=u32",
                                        [8] = "-DELEMENT=u64",
                                        [16] = "-DELEMENT=b128"};

/* The merged axes of output and input, with the rotation along each axis. */
typedef struct rotated {
    collet_operand operands[2];
    int64_t shape[COLLET_MAX_DIMS], strides[2][COLLET_MAX_DIMS], cut[COLLET_MAX_DIMS];
} rotated;

/* Merges each axis that is not rotated with the axis before it, beginning at the last axis. */
static void rotated_of(rotated *t, const collet_kernel_call *call)
{
    const collet_fftshift_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int32_t at = COLLET_MAX_DIMS;
    for (int32_t i = out->ndim - 1; i >= 0; i--) {
        int64_t n = out->shape[i], cut = params->inverse ? n / 2 : n - n / 2, inner = 1;
        cut = params->axes >> i & 1 ? cut : 0;
        if (n == 1)
            continue;
        if (at < COLLET_MAX_DIMS && t->cut[at] == 0 &&
            out->strides[i] == t->strides[0][at] * t->shape[at] &&
            in->strides[i] == t->strides[1][at] * t->shape[at]) {
            inner = t->shape[at];
        } else {
            at--;
            t->strides[0][at] = out->strides[i];
            t->strides[1][at] = in->strides[i];
        }
        t->shape[at] = n * inner;
        t->cut[at] = cut * inner;
    }
    for (int k = 0; k < 2; k++) {
        t->operands[k] = *operand_of(call, (uint32_t)k);
        t->operands[k].ndim = COLLET_MAX_DIMS - at;
        t->operands[k].shape = t->shape + at;
        t->operands[k].strides = t->strides[k] + at;
    }
    memmove(t->cut, t->cut + at, (size_t)(COLLET_MAX_DIMS - at) * sizeof *t->cut);
}

static void rotation_of(rotation *by, const rotated *t)
{
    int32_t last = t->operands[0].ndim - 1;
    memset(by, 0, sizeof *by);
    for (int32_t i = 0; i < last; i++)
        by->outer[i] = t->cut[i];
    by->column = last >= 0 ? t->cut[last] : 0;
}

JIT_KERNEL(fftshift)
{
    const collet_operand *out = operand_of(call, 0);
    collet_kernel_call merged = *call;
    jit_launch l;
    jit_view view;
    rotation by;
    rotated t;
    rotated_of(&t, call);
    rotation_of(&by, &t);
    merged.operands = t.operands;
    merged.operand_size = sizeof *t.operands;
    uint64_t groups = jit_view_of(&view, jit_traits_of(device), &merged, 2);
    jit_launch_begin(&l, &source, options[cpu_dtype_size(out->dtype)], "turn");
    jit_pass_operand(&l, out);
    jit_pass_operand(&l, operand_of(call, 1));
    jit_pass_view(&l, &view, 3);
    jit_pass_block(&l, &by, sizeof by);
    return jit_enqueue(device, queue, &l, groups, call->err);
}
