/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_nodes.c */
#include "nodes.h"

#include <stdio.h>

/* Reads a list of numbers as Linux writes it, "0-3,8". If there is no such file, the set is empty. */
static void read_list(const char *directory, const char *name, cpu_set_t *set)
{
    char path[4096];
    unsigned from, to;
    int found;
    CPU_ZERO(set);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    while (file && (found = fscanf(file, "%u-%u", &from, &to)) > 0) {
        for (to = found == 2 ? to : from; from <= to && from < CPU_SETSIZE; from++)
            CPU_SET(from, set);
        if (fgetc(file) != ',')
            break;
    }
    if (file)
        fclose(file);
}

void nodes_find(nodes *n, const cpu_set_t *allowed, const char *directory)
{
    cpu_set_t with_processors, node;
    int here = sched_getcpu(), found = 0;
    n->count = n->first = 0;
    read_list(directory, "has_cpu", &with_processors);
    for (int16_t i = 0; i < CPU_SETSIZE; i++) {
        char name[32];
        if (!CPU_ISSET((size_t)i, &with_processors))
            continue;
        snprintf(name, sizeof name, "node%d/cpulist", i);
        read_list(directory, name, &node);
        CPU_AND(&node, &node, allowed);
        found += CPU_COUNT(&node) > 0;
        if (here >= 0 && CPU_ISSET((size_t)here, &node))
            n->first = n->count;
        for (int16_t k = 0; k < CPU_SETSIZE && n->count < CPU_SETSIZE; k++) {
            if (CPU_ISSET((size_t)k, &node)) {
                n->processors[n->count].number = k;
                n->processors[n->count++].node = i;
            }
        }
    }
    n->count = found > 1 ? n->count : 0;
}

static int16_t node_of(const nodes *n, int32_t thread, int32_t threads)
{
    return n->processors[(n->count * thread / threads + n->first) % n->count].node;
}

void nodes_place(const nodes *n, int32_t thread, int32_t threads, nodes_block *block)
{
    int16_t node = node_of(n, thread, threads);
    block->first = block->end = thread;
    while (block->first > 0 && node_of(n, block->first - 1, threads) == node)
        block->first--;
    while (block->end < threads && node_of(n, block->end, threads) == node)
        block->end++;
    CPU_ZERO(&block->processors);
    for (int32_t i = 0; i < n->count; i++) {
        if (n->processors[i].node == node)
            CPU_SET((size_t)n->processors[i].number, &block->processors);
    }
}
