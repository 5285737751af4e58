/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream capture and graphs of the fake driver. A graph is a list of launches, fills and calls of
 * cuBLAS, which each launch of the executable graph makes again. What would end a capture of the
 * real driver ends it here; executables whose modules or memory are gone are counted when they are
 * launched.
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define ARGUMENTS 64

typedef enum node_kind { LAUNCH, FILL, CALL } node_kind;

typedef struct node {
    struct node *next;
    node_kind kind;
    CUfunction function; /* LAUNCH */
    unsigned groups, items;
    int count; /* of arguments that are known; the first is always */
    void *arguments[ARGUMENTS];
    CUdeviceptr target; /* FILL; also what a launch writes */
    unsigned char value;
    size_t bytes;
    void (*run)(void *data); /* CALL */
    void *data;
} node;

struct CUgraph_st {
    CUcontext context;
    node *first, **last;
    int broken; /* the capture was ended by what may not be captured */
};

struct CUgraphExec_st {
    struct CUgraph_st graph;
};

static void nodes_free(struct CUgraph_st *g)
{
    while (g->first) {
        node *n = g->first;
        g->first = n->next;
        for (int i = 0; i < n->count; i++)
            free(n->arguments[i]);
        free(n->data);
        free(n);
    }
    g->last = &g->first;
}

static node *add(CUstream s, node_kind kind)
{
    struct CUgraph_st *g = *fake_capture(s);
    node *n = calloc(1, sizeof *n);
    n->kind = kind;
    *g->last = n;
    g->last = &n->next;
    return n;
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = malloc(bytes);
    memcpy(copy, data, bytes);
    return copy;
}

/* ---- Capture ----------------------------------------------------------------------------- */

CUresult fake_not_captured(CUstream s)
{
    if (!*fake_capture(s))
        return CUDA_SUCCESS;
    (*fake_capture(s))->broken = 1;
    return (CUresult)CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult fake_capture_launch(CUstream s, CUfunction function, unsigned groups, unsigned items,
                             void **arguments)
{
    node *n = add(s, LAUNCH);
    n->function = function;
    n->groups = groups;
    n->items = items;
    memcpy(&n->target, arguments[0], sizeof n->target);
    n->count = fake_function_keep(function, arguments, n->arguments);
    if (!n->count)
        n->arguments[n->count++] = copy_of(arguments[0], sizeof(void *));
    return CUDA_SUCCESS;
}

CUresult fake_capture_fill(CUstream s, CUdeviceptr target, unsigned char value, size_t bytes)
{
    node *n = add(s, FILL);
    n->target = target;
    n->value = value;
    n->bytes = bytes;
    return CUDA_SUCCESS;
}

int fake_capture_call(void *stream, void (*run)(void *data), const void *data, size_t bytes)
{
    if (!*fake_capture(stream))
        return 0;
    node *n = add(stream, CALL);
    n->run = run;
    n->data = copy_of(data, bytes);
    return 1;
}

CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode)
{
    ENTER("StreamBeginCapture", fake_stream_context(s));
    if (*fake_capture(s) || mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUgraph_st *g = calloc(1, sizeof *g);
    g->context = fake_current();
    g->last = &g->first;
    *fake_capture(s) = g;
    fake_cuda.graphs++;
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream s, CUgraph *graph)
{
    ENTER("StreamEndCapture", fake_stream_context(s));
    CUgraph g = *fake_capture(s);
    *graph = NULL;
    if (!g)
        return CUDA_ERROR_INVALID_VALUE;
    *fake_capture(s) = NULL;
    if (!g->broken) {
        *graph = g;
        return CUDA_SUCCESS;
    }
    cuGraphDestroy(g);
    return (CUresult)CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    nodes_free(graph);
    free(graph);
    fake_cuda.graphs--;
    return CUDA_SUCCESS;
}

/* ---- Executable graphs ------------------------------------------------------------------- */

/* The executable takes the nodes; the graph is only destroyed after that. */
static void move(CUgraphExec e, CUgraph graph)
{
    e->graph.context = graph->context;
    e->graph.first = graph->first;
    graph->first = NULL;
    graph->last = &graph->first;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph,
                                     unsigned long long flags)
{
    ENTER("GraphInstantiate", graph->context);
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    *executable = calloc(1, sizeof **executable);
    move(*executable, graph);
    fake_cuda.graphs++;
    fake_cuda.instantiated++;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec e, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    ENTER("GraphExecUpdate", graph->context);
    const node *a = e->graph.first, *b = graph->first;
    while (a && b && a->kind == b->kind) {
        a = a->next;
        b = b->next;
    }
    info->result = a || b;
    if (a || b)
        return (CUresult)CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    nodes_free(&e->graph);
    move(e, graph);
    fake_cuda.updated++;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec e)
{
    fake_cuda.outside += e->graph.context != fake_current();
    nodes_free(&e->graph);
    free(e);
    fake_cuda.graphs--;
    return CUDA_SUCCESS;
}

static CUresult run(const node *n, CUstream s)
{
    switch (n->kind) {
    case LAUNCH:
        return cuLaunchKernel(n->function, n->groups, 1, 1, n->items, 1, 1, 0, s,
                              (void **)(uintptr_t)n->arguments, NULL);
    case FILL:
        return cuMemsetD8Async(n->target, n->value, n->bytes, s);
    default:
        fake_catch_up(s);
        n->run(n->data);
        return CUDA_SUCCESS;
    }
}

static int is_usable(const node *n)
{
    return n->kind == CALL || ((n->kind != LAUNCH || fake_is_function(n->function)) &&
                               fake_piece_at((void *)(uintptr_t)n->target, 1));
}

CUresult cuGraphLaunch(CUgraphExec e, CUstream s)
{
    ENTER("GraphLaunch", fake_stream_context(s));
    CUresult error = fake_not_captured(s);
    fake_cuda.graph_launches++;
    for (const node *n = e->graph.first; n && error == CUDA_SUCCESS; n = n->next) {
        if (!is_usable(n)) {
            fake_cuda.stale++;
            return CUDA_ERROR_INVALID_VALUE;
        }
        error = run(n, s);
    }
    return error;
}
