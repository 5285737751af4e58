/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of the fake driver: lists of kernels, each after the kernel before it. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define MOST 64 /* arguments */

struct CUgraphNode_st {
    struct CUgraphNode_st *next;
    CUDA_KERNEL_NODE_PARAMS node;
    void *arguments[MOST]; /* copies */
    int count;
};

struct CUgraph_st {
    CUgraphNode first, last;
    CUcontext context;
};

/* Refers to the nodes of its graph, which outlives it here. */
struct CUgraphExec_st {
    CUgraph graph;
};

static void forget(CUgraphNode n)
{
    for (int i = 0; i < n->count; i++)
        free(n->arguments[i]);
    n->count = 0;
}

static CUresult take(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *given)
{
    unsigned sizes[MOST];
    if (!given->func || !given->gridDimX || given->gridDimY != 1 || given->gridDimZ != 1 ||
        given->blockDimY != 1 || given->blockDimZ != 1 || given->extra || given->kern || given->ctx)
        return CUDA_ERROR_INVALID_VALUE;
    forget(n);
    n->node = *given;
    n->count = fake_function_sizes(given->func, sizes);
    for (int i = 0; i < n->count; i++) {
        n->arguments[i] = malloc(sizes[i]);
        memcpy(n->arguments[i], given->kernelParams[i], sizes[i]);
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    ENTER("GraphCreate", NULL);
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = calloc(1, sizeof **graph);
    (*graph)->context = fake_current();
    fake_cuda.graphs++;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    while (graph->first) {
        CUgraphNode n = graph->first;
        graph->first = n->next;
        forget(n);
        free(n);
    }
    free(graph);
    fake_cuda.graphs--;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *given)
{
    ENTER("GraphAddKernelNode", graph->context);
    if (count != (graph->last != NULL) || (count && *after != graph->last))
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNode n = calloc(1, sizeof *n);
    CUresult error = take(n, given);
    if (error != CUDA_SUCCESS) {
        free(n);
        return error;
    }
    *(graph->last ? &graph->last->next : &graph->first) = n;
    graph->last = *node = n;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *ready, CUgraph graph, unsigned long long flags)
{
    ENTER("GraphInstantiate", graph->context);
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    *ready = calloc(1, sizeof **ready);
    (*ready)->graph = graph;
    fake_cuda.graphs++;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec ready)
{
    free(ready);
    fake_cuda.graphs--;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec ready, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *given)
{
    ENTER("GraphSetParams", ready->graph->context);
    CUgraphNode n = ready->graph->first;
    while (n && n != node)
        n = n->next;
    fake_cuda.graph_updates++;
    return n && n->node.func == given->func ? take(n, given) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec ready, CUstream stream)
{
    ENTER("GraphLaunch", ready->graph->context);
    fake_cuda.graph_launches++;
    for (CUgraphNode n = ready->graph->first; n; n = n->next) {
        CUresult error = cuLaunchKernel(n->node.func, n->node.gridDimX, 1, 1, n->node.blockDimX, 1,
                                        1, n->node.sharedMemBytes, stream, n->arguments, NULL);
        if (error != CUDA_SUCCESS)
            return error;
    }
    return CUDA_SUCCESS;
}
