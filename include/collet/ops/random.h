/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/random.h - typed calls, inline, of the random family: random numbers.
 *
 * f32 and f64, any axes, any strides. Element i of `out`, in C order, is number offset + i (modulo
 * 2^64) of the sequence given by `seed`. A call continues an earlier call if its offset is the number
 * after that call's last one. No state is kept between calls.
 *
 * collet/call.h states the rules that hold for every call; docs/KERNELS.md has the
 * definitions and the limits of errors.
 */
#ifndef COLLET_OPS_RANDOM_H
#define COLLET_OPS_RANDOM_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In [0, 1), multiples of 2^-24 (f32) or 2^-53 (f64). The same bits on every backend. */
static inline collet_status collet_op_uniform(collet_context *context, collet_array *out,
                                              uint64_t seed, uint64_t offset)
{
    collet_random_params params = {sizeof params, 0, seed, offset};
    return collet_call(context, COLLET_OP_UNIFORM, &out, NULL, &params);
}

/* Mean 0, deviation 1. Backends agree within 4 ulp. */
static inline collet_status collet_op_normal(collet_context *context, collet_array *out,
                                             uint64_t seed, uint64_t offset)
{
    collet_random_params params = {sizeof params, 0, seed, offset};
    return collet_call(context, COLLET_OP_NORMAL, &out, NULL, &params);
}

#ifdef __cplusplus
}
#endif
#endif
