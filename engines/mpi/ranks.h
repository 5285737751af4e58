/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - the processes that a launcher of MPI (mpirun, mpiexec, srun) started for one job.
 *
 * The library of MPI is opened only if the environment shows a launcher. The environment variable
 * COLLET_MPI names the file of the library, or is "off", so that each process works alone. If the variable is not
 * set, these libraries are tried in turn, each first below the launcher's prefix, then by the dynamic linker:
 * Open MPI 4 and 5 (libmpi.so.40), MPICH and libraries with its binary interface (libmpi.so.12), the
 * standard binary interface of MPI 5 (libmpi_abi.so). If a library finds another number of processes than the
 * launcher states, the library belongs to another launcher and is not used.
 *
 * Call all these functions on the same thread of the process. The library stays open until
 * the process ends.
 */
#pragma once

#include <collet/collet.h>

typedef struct ranks ranks;

/*
 * All processes of the job must call ranks_open. Returns OK and *out = NULL if no launcher started the
 * process, if the job has only this process, or with COLLET_MPI=off. UNAVAILABLE if no library works; the text says
 * which libraries were tried and why each failed. Call it only once in a process: MPI starts once.
 */
collet_status ranks_open(ranks **out, collet_error *err);

int64_t ranks_rank(const ranks *r); /* 0 .. size - 1 */
int64_t ranks_size(const ranks *r);
int64_t ranks_local_rank(const ranks *r); /* among the ranks of this host */
int64_t ranks_local_size(const ranks *r);
/* Returns the library's description of itself, one line. Valid until closed. */
const char *ranks_library(const ranks *r);

/* Returns the number of processors that this rank may use, at least 1. A processor that n ranks of this host
 * may use counts as 1/n. Ranks that the launcher binds keep their processors. If all ranks of the host
 * may use the same processors, and there are enough, ranks_open binds the calling thread to a part of
 * them, by local rank, and if possible to whole NUMA nodes. Threads that the calling thread then starts are bound to
 * the same processors. */
int64_t ranks_processors(const ranks *r);
/* Returns the processors to which ranks_open has bound this rank, "processors 0-7 of NUMA node 0"; "" if it has not
 * bound the rank. Valid until ranks_close. */
const char *ranks_place(const ranks *r);

/* Waits until all ranks have called ranks_agree (a barrier), and sets *largest to the largest `mine` of all ranks.
 * While it waits, it sleeps up to 10 ms at a time and calls `stop`, unless `stop` is NULL. If `stop` returns
 * a number other than 0, ranks_agree returns CANCELLED; then only ranks_abort may follow. */
collet_status ranks_agree(ranks *r, int64_t mine, int64_t *largest, int (*stop)(void),
                          collet_error *err);

/* Ends all processes of the job with this status; prints nothing. Returns only if MPI fails. NULL
 * does nothing. */
void ranks_abort(ranks *r, int status);

/* All ranks must call ranks_close at the end: a rank that ends without this call ends the job. NULL does nothing. */
void ranks_close(ranks *r);
