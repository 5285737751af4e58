/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/random.h - typed calls, inline, of the random family: random numbers.
 *
 * Any axes, any strides; f32 and f64 unless stated. Element i of `out`, in C order, is number offset + i (modulo
 * 2^64) of the sequence given by `seed`. A call continues an earlier call if its offset follows the last number of
 * that call. No state is kept between calls.
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

/* Mean 1. Backends agree within 4 ulp. */
static inline collet_status collet_op_exponential(collet_context *context, collet_array *out,
                                                  uint64_t seed, uint64_t offset)
{
    collet_random_params params = {sizeof params, 0, seed, offset};
    return collet_call(context, COLLET_OP_EXPONENTIAL, &out, NULL, &params);
}

/* From low to low + span, both included; the sum is modulo 2^64. out and low are i64 or u64, span is u64. The same bits on
 * every backend. */
static inline collet_status collet_op_integers(collet_context *context, collet_array *out,
                                               const collet_array *low, const collet_array *span,
                                               uint64_t seed, uint64_t offset)
{
    const collet_array *in[2] = {low, span};
    collet_random_params params = {sizeof params, 0, seed, offset};
    return collet_call(context, COLLET_OP_INTEGERS, &out, in, &params);
}

/* Numbers of a distribution with the parameters a, b, c (f64; NULL if it has fewer). If out is i64, the
 * numbers are truncated; else out is f64. The same bits on every backend. */
static inline collet_status collet_op_variate(collet_context *context, collet_array *out,
                                              const collet_array *a, const collet_array *b,
                                              const collet_array *c,
                                              collet_variate_distribution distribution,
                                              uint64_t seed, uint64_t offset)
{
    const collet_array *in[3] = {a, b, c};
    collet_variate_params params = {sizeof params, 0, seed, offset};
    params.distribution = distribution;
    return collet_call(context, COLLET_OP_VARIATE, &out, in, &params);
}

#ifdef __cplusplus
}
#endif
#endif
