/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of an evaluation: of all inputs together, and of the outputs. */
#pragma once

#include "compiled.h"

/* The shapes of an evaluation. */
typedef struct extent {
    int32_t ndim, out_ndim;
    int64_t shape[COLLET_MAX_DIMS]; /* the broadcast shape of the inputs */
    int64_t out[COLLET_MAX_DIMS];   /* the shape of the outputs */
    uint32_t axes;                  /* bits of the reduced axes */
} extent;

/* Extends the broadcast shape by the shape of input i. SHAPE: it does not broadcast with the inputs before it. */
collet_status extent_add_input(extent *x, const graph *g, uint32_t i, int32_t ndim,
                               const int64_t *shape, collet_error *err);

/* Sets the outputs' shape, after all inputs were added. INVALID: an axis. */
collet_status extent_reduce(extent *x, const graph *g, collet_error *err);

/* Checks that there are rows that the steps of a plan can reduce. SHAPE. */
collet_status extent_check_rows(const extent *x, const plan *p, collet_error *err);

/* The shape of output k. */
void extent_of_output(const extent *x, const plan *p, uint32_t k, int32_t *ndim, int64_t *shape);
