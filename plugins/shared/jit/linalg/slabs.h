/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - the launches of a decomposition: each matrix of a batch has a slab of the workspace, of
 * numbers of the widest type that the device has, as dense.dev says.
 */
#ifndef COLLET_JIT_LINALG_SLABS_H
#define COLLET_JIT_LINALG_SLABS_H

#include "matrices.h"

/* Numbers of a slab before anything of the op's own: HEAD of dense.dev. */
#define DEVICE_SLABS_HEAD 2

typedef struct device_slabs {
    collet_device *device;
    collet_queue *queue;
    const collet_kernel_call *call;
    const device_traits *traits;
    const device_source *source;
    const char *options;
    int64_t m, n, count; /* matrices, and the extents of each */
    int64_t pitch;       /* numbers a slab; -1: more than can be counted */
    device_batch batch;
    int launched;
} device_slabs;

/* For the matrices of operand `input`; a pitch of DEVICE_SLABS_HEAD, no operands yet. */
device_slabs device_slabs_begin(collet_device *device, collet_queue *queue,
                                const collet_kernel_call *call, const device_source *source,
                                uint32_t input);

/* sum + a * b; -1 stays, and stands for what does not fit. */
int64_t device_slabs_plus(int64_t sum, int64_t a, int64_t b);

/* Operands 0 .. count - 1, which have the batch's axes, as the batch's. */
void device_slabs_operands(device_slabs *d, uint32_t count);

/* Of the workspace; UINT64_MAX where that cannot be counted. */
uint64_t device_slabs_bytes(const device_slabs *d);

/* Of a kernel that goes between slabs and operands, compiled for their type. */
void device_slabs_launch(const device_slabs *d, device_launch *l, const char *kernel);
/* Of one that works on slabs alone: begun, with the workspace and the pitch passed. */
void device_slabs_inside(const device_slabs *d, device_launch *l, const device_source *source,
                         const char *kernel);
/* The workspace and the pitch. */
void device_slabs_pass(const device_slabs *d, device_launch *l);
/* As device_enqueue; FAILED in place of REFUSED after the first launch. */
collet_status device_slabs_enqueue(device_slabs *d, const device_launch *l, uint64_t groups);

static inline int64_t device_extent(const collet_operand *o, int32_t back)
{
    return o->shape[o->ndim - 1 - back];
}

static inline int64_t device_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
