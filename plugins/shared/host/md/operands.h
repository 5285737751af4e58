/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.h - reading and writing the operands of the md kernels row by row as doubles, for every
 * backend that works on host memory. Operands are f32 or f64, of any strides. Stores do
 * nothing when the output is absent.
 *
 * Row f * b + i is body i of the b bodies in frame f; without an axis of bodies, row f is frame f.
 */
#pragma once

#include "shared/host/util/rows.h"

/* The offset of `row` in elements, where the last `axes` (0 to 2) axes of the operand belong to a row. `o` may lack the
 * axes of frames and bodies. */
static inline int64_t md_distance(const collet_operand *o, int64_t row, int32_t axes)
{
    if (o->ndim - axes == 2)
        return row / o->shape[1] * o->strides[0] + row % o->shape[1] * o->strides[1];
    return o->ndim > axes ? row * o->strides[0] : 0;
}

static inline char *md_block(const collet_operand *o, int64_t row, int32_t axes)
{
    return cpu_at(o) + md_distance(o, row, axes) * (int64_t)cpu_dtype_size(o->dtype);
}

/* The number of bodies per frame, from the shape of an operand whose rows have `axes` axes. */
static inline int64_t md_bodies(const collet_operand *o, int32_t axes)
{
    return o->ndim - axes == 2 ? o->shape[1] : 1;
}

/* A row of a call that sums over atoms: atoms first .. first + atoms - 1 of a frame. */
typedef struct md_body {
    int64_t row, frame, first, atoms;
} md_body;

/* The number of bodies per frame. If `offsets` is NULL or absent, there is one body, which has all atoms. */
static inline int64_t md_bodies_of(const collet_operand *offsets)
{
    return offsets && operand_present(offsets) ? offsets->shape[0] - 1 : 1;
}

/* Body `body` of frame 0; a frame has `atoms` atoms. Offsets are clamped to this range, because libcore could not check
 * them. */
static inline md_body md_body_at(const collet_operand *offsets, int64_t body, int64_t atoms)
{
    if (!offsets || !operand_present(offsets))
        return (md_body){body, 0, 0, atoms};
    const int64_t *at =
        (const int64_t *)(const void *)cpu_at(offsets) + body * offsets->strides[0];
    int64_t first = *at, end = at[offsets->strides[0]];
    first = first < 0 ? 0 : first < atoms ? first : atoms;
    end = end < first ? first : end < atoms ? end : atoms;
    return (md_body){body, 0, first, end - first};
}

/* The body of row `row` of a call with `bodies` bodies. */
static inline md_body md_body_of(const collet_operand *offsets, int64_t bodies, int64_t row,
                                 int64_t atoms)
{
    md_body b = md_body_at(offsets, row % bodies, atoms);
    b.row = row;
    b.frame = row / bodies;
    return b;
}

/* Loads three numbers of f32 or f64, `step` bytes apart, without a function call. */
static inline void md_load_row(const char *at, collet_dtype dtype, int64_t step, double x[3])
{
    for (int i = 0; i < 3; i++, at += step) {
        x[i] = dtype == COLLET_F32 ? (double)*(const float *)(const void *)at
                                   : *(const double *)(const void *)at;
    }
}

/* x = the three-vector of `row`. */
static inline void md_load3(const collet_operand *o, int64_t row, double x[3])
{
    md_load_row(md_block(o, row, 1), o->dtype, cpu_step(o, o->ndim - 1), x);
}

/* x = the 3 x 3 matrix of `row`. */
static inline void md_load9(const collet_operand *o, int64_t row, double x[9])
{
    for (int i = 0; i < 3; i++) {
        md_load_row(md_block(o, row, 2) + i * cpu_step(o, o->ndim - 2), o->dtype,
                    cpu_step(o, o->ndim - 1), x + 3 * i);
    }
}

/* md_distance of the row of a body, without a division. */
static inline int64_t md_distance_of(const collet_operand *o, const md_body *b, int32_t axes)
{
    if (o->ndim - axes == 2)
        return b->frame * o->strides[0] + (b->row - b->frame * o->shape[1]) * o->strides[1];
    return o->ndim > axes ? b->row * o->strides[0] : 0;
}

/* Stores a number, a three-vector, a 3 x 3 matrix at an element of an output. */
static inline void md_put1(const collet_operand *o, int64_t distance, double x)
{
    if (o->dtype == COLLET_F32)
        ((float *)(void *)cpu_at(o))[distance] = (float)x;
    else
        ((double *)(void *)cpu_at(o))[distance] = x;
}

static inline void md_put3(const collet_operand *o, int64_t distance, const double x[3])
{
    int64_t step = o->strides[o->ndim - 1];
    for (int i = 0; i < 3; i++)
        md_put1(o, distance + i * step, x[i]);
}

static inline void md_put9(const collet_operand *o, int64_t distance, const double x[9])
{
    int64_t down = o->strides[o->ndim - 2];
    for (int i = 0; i < 3; i++)
        md_put3(o, distance + i * down, x + 3 * i);
}

/* Stores a number, a three-vector or a 3 x 3 matrix at a row of an output that may be absent. */
static inline void md_store1(const collet_operand *o, int64_t row, double x)
{
    if (operand_present(o))
        md_put1(o, md_distance(o, row, 0), x);
}

static inline void md_store3(const collet_operand *o, int64_t row, const double x[3])
{
    if (operand_present(o))
        md_put3(o, md_distance(o, row, 1), x);
}

static inline void md_store9(const collet_operand *o, int64_t row, const double x[9])
{
    if (operand_present(o))
        md_put9(o, md_distance(o, row, 2), x);
}
