/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that are submitted together, as a CUDA graph (collet.batch/1). Between `begin` and `end` a queue holds launches
 * back. They are submitted when there are MOST of them, before any other command, at a wait, and at `end`. A queue
 * keeps the graphs of its last batches. If a batch with the same key has the same kernels again, only the arguments that have
 * changed are set in its graph, and the graph is launched: one call of the driver instead of one for each kernel.
 * Tests: tests/cuda/test_cuda_batch.c
 */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 4   /* launches in a graph: fewer are submitted one by one */
#define MOST 256  /* launches held back */
#define GRAPHS 16 /* kept by a queue */
#define CHANGES 4 /* a part whose kernels have changed so often is submitted without a graph */
#define ALIGNED(n) (((n) + 15) / 16 * 16)

_Static_assert(CUDA_NODE_IS_LAID_OUT, "cuGraphAddKernelNode_v2 reads the struct");

/* A launch. Its arguments follow each other in `bytes`, each at a multiple of 16. */
typedef struct held_launch {
    CUfunction function;
    unsigned groups;
    uint32_t count;
    uint32_t begin, end; /* the arguments in `bytes` */
    uint32_t at[JIT_ARGUMENTS];
} held_launch;

typedef struct launch_list {
    uint32_t count;
    size_t capacity; /* of `bytes` */
    held_launch *launches;
    unsigned char *bytes;
} launch_list;

/* The graph of part `part` of the batches with a key. `list`: its launches, with the arguments that are set. */
typedef struct kept_graph {
    const void *key;
    uint32_t part, changes;
    uint64_t used; /* the number of the last batch that used it */
    launch_list list;
    CUgraph graph;
    CUgraphExec ready;
    CUgraphNode nodes[MOST];
} kept_graph;

struct cuda_batch {
    int on; /* launches are held back */
    const void *key;
    uint32_t part;
    uint64_t number;
    launch_list held;
    kept_graph graphs[GRAPHS];
};

/* ---- Lists ----------------------------------------------------------------------------------- */

/* The pointers to a launch's arguments. */
static void point(const launch_list *list, const held_launch *h, void *arguments[JIT_ARGUMENTS])
{
    for (uint32_t i = 0; i < h->count; i++)
        arguments[i] = list->bytes + h->at[i];
}

static int same_kernel(const held_launch *a, const held_launch *b)
{
    return a->function == b->function && a->groups == b->groups && a->count == b->count &&
           a->begin == b->begin && a->end == b->end &&
           !memcmp(a->at, b->at, a->count * sizeof *a->at);
}

static int same_kernels(const launch_list *a, const launch_list *b)
{
    int same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = same_kernel(&a->launches[i], &b->launches[i]);
    return same;
}

static int reserve(launch_list *list, size_t bytes)
{
    if (!list->launches)
        list->launches = malloc(MOST * sizeof *list->launches);
    if (!list->launches || bytes <= list->capacity)
        return list->launches != NULL;
    unsigned char *more = realloc(list->bytes, 2 * bytes);
    if (!more)
        return 0;
    list->bytes = more;
    list->capacity = 2 * bytes;
    return 1;
}

static void free_list(launch_list *list)
{
    free(list->launches);
    free(list->bytes);
    *list = (launch_list){0};
}

int cuda_batch_add(collet_queue *q, CUfunction function, const jit_launch *l, uint64_t groups)
{
    cuda_batch *b = q->batch;
    if (!b || !b->on || b->held.count == MOST)
        return 0;
    launch_list *list = &b->held;
    held_launch h = {.function = function, .groups = (unsigned)groups, .count = l->count};
    size_t at = list->count ? list->launches[list->count - 1].end : 0;
    h.begin = (uint32_t)at;
    for (uint32_t i = 0; i < l->count; i++) {
        h.at[i] = (uint32_t)at;
        at += ALIGNED(l->arguments[i].size ? l->arguments[i].size : sizeof(CUdeviceptr));
    }
    h.end = (uint32_t)at;
    if (at > UINT32_MAX || !reserve(list, at))
        return 0;
    memset(list->bytes + h.begin, 0,
           h.end - h.begin); /* arguments are compared with their padding */
    for (uint32_t i = 0; i < l->count; i++) {
        const jit_argument *a = &l->arguments[i];
        CUdeviceptr address = cuda_address(a->buffer);
        const void *from = !a->size ? (const void *)&address : a->block ? a->block : a->value;
        memcpy(list->bytes + h.at[i], from, a->size ? a->size : sizeof address);
    }
    list->launches[list->count++] = h;
    return 1;
}

uint64_t cuda_batch_held(const collet_queue *q)
{
    return q->batch ? q->batch->held.count : 0;
}

int cuda_batch_is_on(const collet_queue *q)
{
    return q->batch && q->batch->on;
}

void cuda_batch_drop(collet_queue *q)
{
    if (q->batch)
        q->batch->held.count = 0;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static CUDA_KERNEL_NODE_PARAMS node_of(const collet_queue *q, const held_launch *h,
                                       void **arguments)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = h->function,
                                     .gridDimX = h->groups,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = q->base.device->base.traits.group,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments};
}

static void release(const cuda_driver *cu, kept_graph *g)
{
    if (g->ready)
        cu->GraphExecDestroy(g->ready);
    if (g->graph)
        cu->GraphDestroy(g->graph);
    g->ready = NULL;
    g->graph = NULL;
    g->list.count = 0;
}

/* The entry of a part, or the entry that was used longest ago. */
static kept_graph *entry_of(cuda_batch *b)
{
    kept_graph *oldest = b->graphs;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        kept_graph *g = &b->graphs[i];
        if (g->key == b->key && g->part == b->part)
            return g;
        if (g->used < oldest->used)
            oldest = g;
    }
    return oldest;
}

/* Makes a graph in which each launch follows the launch before it. */
static CUresult make(collet_queue *q, kept_graph *g, const launch_list *list)
{
    const cuda_driver *cu = &q->base.device->cu;
    void *arguments[JIT_ARGUMENTS];
    CUresult error = cu->GraphCreate(&g->graph, 0);
    for (uint32_t i = 0; i < list->count && error == CUDA_SUCCESS; i++) {
        point(list, &list->launches[i], arguments);
        CUDA_KERNEL_NODE_PARAMS node = node_of(q, &list->launches[i], arguments);
        error = cu->GraphAddKernelNode(&g->nodes[i], g->graph, i ? &g->nodes[i - 1] : NULL, i > 0,
                                       &node);
    }
    return error == CUDA_SUCCESS ? cu->GraphInstantiate(&g->ready, g->graph, 0) : error;
}

/* Sets the arguments that differ from those of the graph. */
static CUresult update(collet_queue *q, const kept_graph *g, const launch_list *list)
{
    void *arguments[JIT_ARGUMENTS];
    CUresult error = CUDA_SUCCESS;
    for (uint32_t i = 0; i < list->count && error == CUDA_SUCCESS; i++) {
        const held_launch *h = &list->launches[i];
        if (!memcmp(list->bytes + h->begin, g->list.bytes + h->begin, h->end - h->begin))
            continue;
        point(list, h, arguments);
        CUDA_KERNEL_NODE_PARAMS node = node_of(q, h, arguments);
        error = q->base.device->cu.GraphSetParams(g->ready, g->nodes[i], &node);
    }
    return error;
}

/* 1: submitted as a graph. 0: nothing was submitted. */
static int submit_graph(collet_queue *q, cuda_batch *b)
{
    const cuda_driver *cu = &q->base.device->cu;
    kept_graph *g = entry_of(b);
    launch_list list = b->held;
    int known = g->key == b->key && g->part == b->part, kept = known && g->ready;
    if (list.count < LEAST || (known && g->changes >= CHANGES))
        return 0;
    kept = kept && same_kernels(&g->list, &list) && update(q, g, &list) == CUDA_SUCCESS;
    if (!kept) {
        release(cu, g);
        g->changes = known ? g->changes + 1 : 0;
        g->key = b->key;
        g->part = b->part;
    }
    g->used = b->number;
    if ((!kept && make(q, g, &list) != CUDA_SUCCESS) ||
        cu->GraphLaunch(g->ready, q->handle) != CUDA_SUCCESS) {
        release(cu, g);
        return 0;
    }
    b->held = g->list; /* the graph keeps the arguments that were set last */
    g->list = list;
    return 1;
}

static CUresult submit_each(collet_queue *q, const launch_list *list)
{
    const collet_device *d = q->base.device;
    void *arguments[JIT_ARGUMENTS];
    CUresult error = CUDA_SUCCESS;
    for (uint32_t i = 0; i < list->count && error == CUDA_SUCCESS; i++) {
        const held_launch *h = &list->launches[i];
        point(list, h, arguments);
        error = d->cu.LaunchKernel(h->function, h->groups, 1, 1, d->base.traits.group, 1, 1, 0,
                                   q->handle, arguments, NULL);
    }
    return error;
}

int cuda_batch_begin(collet_queue *q, const void *key)
{
    if (!q->batch)
        q->batch = calloc(1, sizeof *q->batch);
    if (!q->batch)
        return 0;
    q->batch->on = 1;
    q->batch->key = key;
    q->batch->part = 0;
    q->batch->number++;
    return 1;
}

void cuda_batch_end(collet_queue *q)
{
    if (q->batch)
        q->batch->on = 0;
}

CUresult cuda_batch_submit(collet_queue *q)
{
    cuda_batch *b = q->batch;
    if (!b || !b->held.count)
        return CUDA_SUCCESS;
    CUresult error = submit_graph(q, b) ? CUDA_SUCCESS : submit_each(q, &b->held);
    b->held.count = 0;
    b->part++;
    return error;
}

void cuda_batch_forget(collet_queue *q)
{
    for (uint32_t i = 0; q->batch && i < GRAPHS; i++) {
        release(&q->base.device->cu, &q->batch->graphs[i]);
        free_list(&q->batch->graphs[i].list);
        q->batch->graphs[i].key = NULL;
    }
}

void cuda_batch_free(collet_queue *q)
{
    cuda_batch_forget(q);
    if (q->batch)
        free_list(&q->batch->held);
    free(q->batch);
    q->batch = NULL;
}
