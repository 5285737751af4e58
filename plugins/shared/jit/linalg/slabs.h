/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - the launches of a decomposition: each matrix of a batch has a slab of the workspace, of
 * numbers of the widest type that the device has, as dense.dev says.
 */
#ifndef COLLET_JIT_LINALG_SLABS_H
#define COLLET_JIT_LINALG_SLABS_H

#include "matrices.h"
#include "slabs_params.h"

typedef struct jit_slabs {
    collet_device *device;
    collet_queue *queue;
    const collet_kernel_call *call;
    const jit_traits *traits;
    const jit_source *source;
    const char *options;
    int64_t m, n, count; /* matrices, and the extents of each */
    int64_t pitch;       /* numbers a slab; -1: more than can be counted */
    jit_batch batch;
    int launched;
} jit_slabs;

/* For the matrices of operand `input`; a pitch of SLAB_HEAD, no operands yet. */
jit_slabs jit_slabs_begin(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call, const jit_source *source, uint32_t input);

/* sum + a * b; -1 stays, and stands for what does not fit. */
int64_t jit_slabs_plus(int64_t sum, int64_t a, int64_t b);

/* Operands 0 .. count - 1, which have the batch's axes, as the batch's. */
void jit_slabs_operands(jit_slabs *d, uint32_t count);

/* Of the workspace; UINT64_MAX where that cannot be counted. */
uint64_t jit_slabs_bytes(const jit_slabs *d);

/* Of a kernel that goes between slabs and operands, compiled for their type. */
void jit_slabs_launch(const jit_slabs *d, jit_launch *l, const char *kernel);
/* Of one that works on slabs alone: begun, with the workspace and the pitch passed. */
void jit_slabs_inside(const jit_slabs *d, jit_launch *l, const jit_source *source,
                      const char *kernel);
/* The workspace and the pitch. */
void jit_slabs_pass(const jit_slabs *d, jit_launch *l);
/* As jit_enqueue; FAILED in place of REFUSED after the first launch. */
collet_status jit_slabs_enqueue(jit_slabs *d, const jit_launch *l, uint64_t groups);

static inline int64_t jit_extent(const collet_operand *o, int32_t back)
{
    return o->shape[o->ndim - 1 - back];
}

static inline int64_t jit_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
