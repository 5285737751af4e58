/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - iteration over the leading (batch) axes of operands, without divisions. Every operand has all the axes.
 * Along an axis where the operand is broadcast, its stride is 0. */
#pragma once

#include "shared/host/util/rows.h"

#define BATCH_VIEWS 3

typedef struct batch {
    int32_t axes, views;
    const int64_t *shape;
    int64_t count;
    char *first[BATCH_VIEWS];
    const int64_t *strides[BATCH_VIEWS]; /* in elements */
    int64_t size[BATCH_VIEWS];           /* bytes of an element */
} batch;

typedef struct batch_place {
    int64_t index[COLLET_MAX_DIMS];
    char *at[BATCH_VIEWS];
} batch_place;

/* A batch of the first `axes` axes of operand 0; its views are operands 0 .. views-1. */
static inline batch batch_of(const collet_kernel_call *call, int32_t axes, int32_t views)
{
    batch b = {.axes = axes, .views = views, .count = 1};
    b.shape = operand_of(call, 0)->shape;
    for (int32_t i = 0; i < axes; i++)
        b.count *= b.shape[i];
    for (int32_t k = 0; k < views; k++) {
        const collet_operand *o = operand_of(call, (uint32_t)k);
        b.first[k] = cpu_at(o);
        b.strides[k] = o->strides;
        b.size[k] = (int64_t)cpu_dtype_size(o->dtype);
    }
    return b;
}

static inline void batch_go_to(const batch *b, batch_place *p, int64_t item)
{
    for (int32_t k = 0; k < b->views; k++)
        p->at[k] = b->first[k];
    for (int32_t i = b->axes - 1; i >= 0; i--) {
        p->index[i] = item % b->shape[i];
        item /= b->shape[i];
        for (int32_t k = 0; k < b->views; k++)
            p->at[k] += p->index[i] * b->strides[k][i] * b->size[k];
    }
}

/* Advances to the next item; after the last comes the first. */
static inline void batch_go_on(const batch *b, batch_place *p)
{
    for (int32_t i = b->axes - 1; i >= 0; i--) {
        int carry = ++p->index[i] == b->shape[i];
        for (int32_t k = 0; k < b->views; k++) {
            int64_t step = b->strides[k][i] * b->size[k];
            p->at[k] += carry ? (1 - b->shape[i]) * step : step;
        }
        if (!carry)
            return;
        p->index[i] = 0;
    }
}
