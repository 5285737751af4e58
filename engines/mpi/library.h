/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - the few MPI calls that Collet needs, for each family of MPI libraries. The libraries of a
 * family have the same binary interface (types of handles, values of constants); the family's source file
 * defines it.
 *
 * Functions return 0, or the error of MPI, which `explain` turns into a text.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MPI_TEXT 8192 /* the longest text of any family, with its 0 */

typedef struct mpi_family {
    const char *name;
    const char *const *files; /* to be opened, in this order, ended by NULL */

    /* Finds the functions of the opened library `handle`; the caller frees the result with free().
     * Returns NULL if the library lacks a function (*missing is its name), or if out of memory
     * (*missing is NULL). */
    void *(*bind)(void *handle, const char **missing);
    /* `start` starts MPI, and makes MPI calls return errors instead of ending the program. `start`
     * sets *rank and *size to the values in the whole job, `start_local` to the values on this host. */
    int (*start)(void *calls, int *rank, int *size);
    int (*start_local)(void *calls, int *rank, int *size);
    /* Begins a reduction of `count` numbers: with sum = 1 to their sums over the ranks of this host, with sum = 0 to
     * their maxima over all ranks of the job. One such operation at a time; the arrays must stay until `test` sets
     * *done. */
    int (*begin)(void *calls, int sum, const int64_t *mine, int64_t *all, int count);
    int (*test)(void *calls, int *done);
    int (*abort)(void *calls, int status);
    int (*finish)(void *calls);
    void (*version)(void *calls, char text[MPI_TEXT]);
    void (*explain)(void *calls, int error, char text[MPI_TEXT]);
} mpi_family;

extern const mpi_family mpi_ompi, mpi_mpich, mpi_abi;
