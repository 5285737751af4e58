/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - the NUMA nodes of the machine, and which threads of a team belong to each node.
 *
 * Thread numbers are divided among the nodes in blocks, in proportion to the processors that the
 * process may use in each node.
 */
#pragma once

#include <sched.h>
#include <stdint.h>

/* The processors, grouped by node. */
typedef struct nodes {
    int32_t count; /* 0: there is only one node, or the nodes are unknown */
    int32_t first; /* index of the first processor of the node where the caller of nodes_find ran */
    struct {
        int16_t number, node;
    } processors[CPU_SETSIZE];
} nodes;

/* Finds the nodes of the processors `allowed` from the files in `directory`, which is /sys/devices/system/node on
 * Linux. */
void nodes_find(nodes *n, const cpu_set_t *allowed, const char *directory);

/* Threads first..end-1 belong to one node. */
typedef struct nodes_block {
    int32_t first, end;
    cpu_set_t processors;
} nodes_block;

/* The block of `thread`, 0 <= thread < threads. Thread 0 belongs to the node where nodes_find was called. n->count must
 * be greater than 0. */
void nodes_place(const nodes *n, int32_t thread, int32_t threads, nodes_block *block);
