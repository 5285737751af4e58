/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - the NUMA nodes of the machine: which threads of a team belong to which.
 *
 * Thread numbers are divided among the nodes in blocks, in proportion to the processors that the
 * process may use in each.
 */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_NODES_H
#define PLUGINS_CPU_OPENMP_RUNTIME_NODES_H

#include <sched.h>
#include <stdint.h>

/* The processors, grouped by node. */
typedef struct nodes {
    int32_t count; /* 0: there is one node only, or the system does not say */
    int32_t first; /* the first one of the node where the caller of nodes_find ran */
    struct {
        int16_t number, node;
    } processors[CPU_SETSIZE];
} nodes;

/* The nodes of the processors `allowed`, by the files of `directory`: Linux's
 * /sys/devices/system/node. */
void nodes_find(nodes *n, const cpu_set_t *allowed, const char *directory);

/* Threads first..end-1 are of one node. */
typedef struct nodes_block {
    int32_t first, end;
    cpu_set_t processors;
} nodes_block;

/* The block of thread 0 <= thread < threads; thread 0 is of the node where nodes_find was called.
 * Needs n->count > 0. */
void nodes_place(const nodes *n, int32_t thread, int32_t threads, nodes_block *block);

#endif
