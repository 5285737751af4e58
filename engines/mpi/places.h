/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - processors for each of the ranks of a host that the launcher has bound to none. */
#ifndef ENGINES_MPI_PLACES_H
#define ENGINES_MPI_PLACES_H

/*
 * Sorts n processors by NUMA node, within a node by core, and within a core by number. The files of
 * Linux below `system`, "/sys/devices/system", tell nodes and cores; without them the order is by
 * number. `nodes` gets the node of each, -1: unknown; NULL is allowed.
 */
void mpi_sort_processors(const char *system, int *processors, int *nodes, int n);

/* Part `index` of `count` equal parts of n things: its first and the one after its last. */
void mpi_part(int n, int index, int count, int *first, int *end);

/* "processors 0-7,32-39 of NUMA node 1", or "processor 5": the node where all are of one. */
void mpi_describe_processors(const int *processors, const int *nodes, int n, char *text, int size);

#endif
