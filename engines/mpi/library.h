/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - the same few calls of each family of MPI libraries. A family has its own binary
 * interface: the types of handles and the values of constants, which its file states.
 *
 * Functions return 0, or the error of MPI, which `explain` turns into a text.
 */
#ifndef ENGINES_MPI_LIBRARY_H
#define ENGINES_MPI_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#define MPI_TEXT 8192 /* the longest text of any family, with its 0 */

typedef struct mpi_family {
    const char *name;
    const char *const *files; /* to be opened, in this order, ended by NULL */

    /* Finds the functions of the opened library `handle`, or sets *missing to one that it lacks.
     * NULL if so, or if out of memory (*missing NULL). The caller frees the result (free). */
    void *(*bind)(void *handle, const char **missing);
    /* Starts MPI; from then on errors return. Numbers of this process: in the job, on the host. */
    int (*start)(void *calls, int *rank, int *size);
    int (*start_local)(void *calls, int *rank, int *size);
    /* Begins to add up (`sum`; on this host) or to find the largest (of the job) of count numbers.
     * One such operation at a time; the arrays stay until `test` sets *done. */
    int (*begin)(void *calls, int sum, const int64_t *mine, int64_t *all, int count);
    int (*test)(void *calls, int *done);
    int (*abort)(void *calls, int status);
    int (*finish)(void *calls);
    void (*version)(void *calls, char text[MPI_TEXT]);
    void (*explain)(void *calls, int error, char text[MPI_TEXT]);
} mpi_family;

extern const mpi_family mpi_ompi, mpi_mpich, mpi_abi;

#endif
