/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - divides the processors of a host among its ranks, if the launcher has not bound them. */
#pragma once

/* Sorts n processors by NUMA node, within a node by core, and within a core by number. Nodes and cores are
 * read from the files below `system`, "/sys/devices/system" on Linux; without these files the order is by
 * number. nodes[i] becomes the node of processors[i], -1: unknown; `nodes` may be NULL. */
void mpi_sort_processors(const char *system, int *processors, int *nodes, int n);

/* Divides 0 .. n - 1 into `count` nearly equal parts; part `index` is *first .. *end - 1. */
void mpi_part(int n, int index, int count, int *first, int *end);

/* Writes "processors 0-7,32-39 of NUMA node 1" to `text`, or "processors 0-15" if not all are of one node. */
void mpi_describe_processors(const int *processors, const int *nodes, int n, char *text, int size);
