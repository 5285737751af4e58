/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - loops over views of one shape, with axes reordered to memory order. */
#pragma once

#include <collet/plugin.h>

#define LOOP_VIEWS COLLET_MAX_OPERANDS

/* Views of one shape as addresses and byte steps; view 0 is the output. */
typedef struct loop {
    int32_t views;
    int32_t ndim;
    int64_t count; /* elements */
    int64_t shape[COLLET_MAX_DIMS];
    int64_t step[LOOP_VIEWS][COLLET_MAX_DIMS];
    char *at[LOOP_VIEWS];
} loop;

/* Makes the loop over operands 0 .. views-1 of a call, which have one shape. Axes are reordered, reversed
 * and merged so that output addresses ascend and the smallest step is last. ndim is at least 1 (an array
 * without axes is one element). With `perm`, axis perm[i] of the input is axis i of the output. */
void loop_init(loop *l, const collet_kernel_call *call, int32_t views, const int32_t *perm);

/* A part of a row: n elements at at[], step[] bytes apart. */
typedef void (*loop_row)(const void *context, char *const *at, const int64_t *step, int64_t n);

/* Calls `row` for elements begin .. end-1 in the order of the loop. */
void loop_run(const loop *l, int64_t begin, int64_t end, loop_row row, const void *context);
