/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - operands of host-memory backends as byte addresses and byte strides, and row-by-row
 * iteration over views of one shape (a row runs along the last axis). */
#pragma once

#include "operand.h"

#define CPU_ROWS_VIEWS 4

/* The address of the first element. It is computed as an integer, because in `accepts` the buffer is NULL. */
static inline char *cpu_at(const collet_operand *o)
{
    return (char *)((uintptr_t)o->buffer + o->byte_offset);
}

/* Bytes from one element to the next along `axis`. */
static inline int64_t cpu_step(const collet_operand *o, int32_t axis)
{
    return o->strides[axis] * (int64_t)cpu_dtype_size(o->dtype);
}

/* The same along the last axis; the operand must have at least one axis. */
static inline int64_t cpu_last_step(const collet_operand *o)
{
    return cpu_step(o, o->ndim - 1);
}

/*
 * Iteration over rows. Set ndim, shape, at and step for `views` views (cpu_rows_view does), then
 *   for (cpu_rows_begin(&w); w.rows > 0; cpu_rows_next(&w))
 *       ... w.at[k] is view k's first element, w.length elements w.inner[k] bytes apart ...
 * A shape without axes is one row of one element; an empty shape has no rows.
 */
typedef struct cpu_rows {
    int32_t views;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
    int64_t step[CPU_ROWS_VIEWS][COLLET_MAX_DIMS]; /* bytes */
    char *at[CPU_ROWS_VIEWS];
    int64_t index[COLLET_MAX_DIMS];
    int64_t rows; /* rows left, including this one */
    int64_t length;
    int64_t inner[CPU_ROWS_VIEWS]; /* bytes */
} cpu_rows;

/* Adds operand `o` as the next view. The first view sets the shape of the iteration. */
static inline void cpu_rows_view(cpu_rows *w, const collet_operand *o)
{
    int32_t k = w->views++;
    if (k == 0) {
        w->ndim = o->ndim;
        for (int32_t i = 0; i < o->ndim; i++)
            w->shape[i] = o->shape[i];
    }
    w->at[k] = cpu_at(o);
    for (int32_t i = 0; i < o->ndim; i++)
        w->step[k][i] = cpu_step(o, i);
}

static inline void cpu_rows_begin(cpu_rows *w)
{
    int32_t last = w->ndim - 1;
    w->rows = 1;
    for (int32_t i = 0; i < last; i++) {
        w->index[i] = 0;
        w->rows *= w->shape[i];
    }
    w->length = last >= 0 ? w->shape[last] : 1;
    if (w->length == 0)
        w->rows = 0;
    for (int32_t k = 0; k < w->views; k++)
        w->inner[k] = last >= 0 ? w->step[k][last] : 0;
}

static inline void cpu_rows_next(cpu_rows *w)
{
    w->rows--;
    for (int32_t i = w->ndim - 2; w->rows > 0 && i >= 0; i--) {
        int64_t back = w->shape[i] - 1;
        int carry = w->index[i] == back;
        w->index[i] = carry ? 0 : w->index[i] + 1;
        for (int32_t k = 0; k < w->views; k++)
            w->at[k] += carry ? -back * w->step[k][i] : w->step[k][i];
        if (!carry)
            break;
    }
}
