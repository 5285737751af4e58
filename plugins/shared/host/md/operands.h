/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.h - reading and writing the operands of the md kernels frame by frame as doubles, for
 * every backend that works on host memory. Inputs are f32 or f64, outputs f64; any strides. Stores
 * do nothing when the output is absent.
 */
#ifndef PLUGINS_SHARED_HOST_MD_OPERANDS_H
#define PLUGINS_SHARED_HOST_MD_OPERANDS_H

#include "shared/host/util/rows.h"

/* The last `axes` (0 to 2) axes of `o` at `frame`, in C order; `o` may lack the axis of frames. */
static inline char *md_block(const collet_operand *o, int64_t frame, int32_t axes)
{
    return cpu_at(o) + (o->ndim > axes ? frame * cpu_step(o, 0) : 0);
}

/* Three numbers, `step` bytes apart; f32 and f64, the types of md operands, without a function
 * call. */
static inline void md_load_row(const char *at, collet_dtype dtype, int64_t step, double x[3])
{
    for (int i = 0; i < 3; i++, at += step) {
        x[i] = dtype == COLLET_F32 ? (double)*(const float *)(const void *)at
                                   : *(const double *)(const void *)at;
    }
}

/* x = the three-vector of `frame`. */
static inline void md_load3(const collet_operand *o, int64_t frame, double x[3])
{
    md_load_row(md_block(o, frame, 1), o->dtype, cpu_step(o, o->ndim - 1), x);
}

/* x = the 3 x 3 matrix of `frame`. */
static inline void md_load9(const collet_operand *o, int64_t frame, double x[9])
{
    for (int i = 0; i < 3; i++) {
        md_load_row(md_block(o, frame, 2) + i * cpu_step(o, o->ndim - 2), o->dtype,
                    cpu_step(o, o->ndim - 1), x + 3 * i);
    }
}

/* The f64 output's last `axes` axes at `frame`. */
static inline double *md_output(const collet_operand *o, int64_t frame, int32_t axes)
{
    return (double *)(void *)cpu_at(o) + (o->ndim > axes ? frame * o->strides[0] : 0);
}

static inline void md_store1(const collet_operand *o, int64_t frame, double x)
{
    if (operand_present(o))
        *md_output(o, frame, 0) = x;
}

static inline void md_store3(const collet_operand *o, int64_t frame, const double x[3])
{
    if (!operand_present(o))
        return;
    double *out = md_output(o, frame, 1);
    int64_t step = o->strides[o->ndim - 1];
    for (int i = 0; i < 3; i++)
        out[i * step] = x[i];
}

static inline void md_store9(const collet_operand *o, int64_t frame, const double x[9])
{
    if (!operand_present(o))
        return;
    double *out = md_output(o, frame, 2);
    int64_t row = o->strides[o->ndim - 2], step = o->strides[o->ndim - 1];
    for (int i = 0; i < 9; i++)
        out[i / 3 * row + i % 3 * step] = x[i];
}

#endif
