/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - processors for each of the ranks of a host that the launcher has bound to none. */
#ifndef ENGINES_MPI_PLACES_H
#define ENGINES_MPI_PLACES_H

/*
 * Sorts n processors so that those of a NUMA node follow each other, and in it those of a core, by
 * the files of Linux below `system`, "/sys/devices/system"; without these files by number. NULL is
 * allowed for `nodes`: else it gets the node of each, -1: unknown.
 */
void mpi_sort_processors(const char *system, int *processors, int *nodes, int n);

/* Part `index` of `count` equal parts of n things: its first and the one after its last. */
void mpi_part(int n, int index, int count, int *first, int *end);

/* "processors 0-7,32-39 of NUMA node 1", or "processor 5": the node where all are of one. */
void mpi_describe_processors(const int *processors, const int *nodes, int n, char *text, int size);

#endif
