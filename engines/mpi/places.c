/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_mpi_places.c */
#include "places.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    int node, core, processor;
} place;

/* The directory of a processor has a link to its node, "node1". */
static int find_node(const char *system, int processor)
{
    char pattern[PATH_MAX];
    glob_t found;
    int node = -1;

    snprintf(pattern, sizeof pattern, "%s/cpu/cpu%d/node[0-9]*", system, processor);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0 &&
        sscanf(strrchr(found.gl_pathv[0], '/'), "/node%d", &node) != 1)
        node = -1;
    globfree(&found);
    return node;
}

/* A core is known by the first of its processors. */
static int find_core(const char *system, int processor)
{
    char path[PATH_MAX];
    int core = processor;

    snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/thread_siblings_list", system, processor);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return processor;
    if (fscanf(file, "%d", &core) != 1)
        core = processor;
    fclose(file);
    return core;
}

static int compare(const void *a, const void *b)
{
    const place *p = a, *q = b;
    int by = p->node != q->node ? p->node - q->node : p->core - q->core;

    return by != 0 ? by : p->processor - q->processor;
}

void mpi_sort_processors(const char *system, int *processors, int *nodes, int n)
{
    place *places = malloc((size_t)n * sizeof *places);

    for (int i = 0; i < n && nodes != NULL; i++)
        nodes[i] = -1;
    if (places == NULL)
        return;
    for (int i = 0; i < n; i++)
        places[i] = (place){find_node(system, processors[i]), find_core(system, processors[i]),
                            processors[i]};
    qsort(places, (size_t)n, sizeof *places, compare);
    for (int i = 0; i < n; i++) {
        processors[i] = places[i].processor;
        if (nodes != NULL)
            nodes[i] = places[i].node;
    }
    free(places);
}

void mpi_part(int n, int index, int count, int *first, int *end)
{
    *first = (int)((long)n * index / count);
    *end = (int)((long)n * (index + 1) / count);
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Writes ascending numbers as ranges: "0-7,32". Returns the length of the text in bytes. */
static int list_ranges(const int *sorted, int n, char *text, int size)
{
    int used = 0;

    for (int i = 0, last; i < n && used < size; i = last + 1) {
        for (last = i; last + 1 < n && sorted[last + 1] == sorted[last] + 1; last++)
            ;
        used += snprintf(text + used, (size_t)(size - used), last > i ? "%s%d-%d" : "%s%d",
                         i > 0 ? "," : "", sorted[i], sorted[last]);
    }
    return used < size ? used : size - 1;
}

void mpi_describe_processors(const int *processors, const int *nodes, int n, char *text, int size)
{
    int *sorted = malloc((size_t)n * sizeof *sorted);
    int used = snprintf(text, (size_t)size, "%s ", n == 1 ? "processor" : "processors");

    if (sorted == NULL)
        return;
    memcpy(sorted, processors, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    used += list_ranges(sorted, n, text + used, size - used);
    /* The nodes are sorted, too. */
    if (nodes[0] >= 0 && nodes[0] == nodes[n - 1])
        snprintf(text + used, (size_t)(size - used), " of NUMA node %d", nodes[0]);
    free(sorted);
}
