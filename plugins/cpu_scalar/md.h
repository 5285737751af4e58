/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md.h - reading and writing the operands of the md kernels as doubles. Private to the plugin.
 */
#ifndef CPU_SCALAR_MD_H
#define CPU_SCALAR_MD_H

#include "../cpu/convert.h"
#include "../cpu/rows.h"

/* The last `axes` (1 or 2) axes of `o` at `frame`, in C order; `o` may lack the axis of frames. */
static inline char *md_block(const collet_operand *o, int64_t frame, int32_t axes)
{
    return cpu_at(o) + (o->ndim > axes ? frame * cpu_step(o, 0) : 0);
}

/* x = the three-vector of `frame`. */
static inline void md_load3(const collet_operand *o, int64_t frame, double x[3])
{
    cpu_convert((char *)x, COLLET_F64, sizeof *x, md_block(o, frame, 1), o->dtype,
                cpu_step(o, o->ndim - 1), 3);
}

/* x = the 3 x 3 matrix of `frame`. */
static inline void md_load9(const collet_operand *o, int64_t frame, double x[9])
{
    for (int i = 0; i < 3; i++) {
        cpu_convert((char *)(x + 3 * i), COLLET_F64, sizeof *x,
                    md_block(o, frame, 2) + i * cpu_step(o, o->ndim - 2), o->dtype,
                    cpu_step(o, o->ndim - 1), 3);
    }
}

/* Stores do nothing when the output is absent; md outputs are f64. */
static inline void md_store1(const collet_operand *o, int64_t frame, double x)
{
    if (cpu_present(o))
        *(double *)(void *)md_block(o, frame, 0) = x;
}

static inline void md_store3(const collet_operand *o, int64_t frame, const double x[3])
{
    if (!cpu_present(o))
        return;
    cpu_move(md_block(o, frame, 1), cpu_step(o, o->ndim - 1), (const char *)x, sizeof *x, sizeof *x,
             3);
}

static inline void md_store9(const collet_operand *o, int64_t frame, const double x[9])
{
    if (!cpu_present(o))
        return;
    for (int i = 0; i < 3; i++) {
        cpu_move(md_block(o, frame, 2) + i * cpu_step(o, o->ndim - 2), cpu_step(o, o->ndim - 1),
                 (const char *)(x + 3 * i), sizeof *x, sizeof *x, 3);
    }
}

#endif
