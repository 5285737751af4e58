/* SPDX-License-Identifier: Apache-2.0 */
/* launcher.h - finds out which MPI launcher started this process, by the environment and the parent processes. */
#pragma once

#include <limits.h>
#include <stdint.h>

enum { MPI_FAMILY_OMPI, MPI_FAMILY_MPICH, MPI_FAMILY_ABI, MPI_FAMILIES };

typedef struct mpi_launcher {
    const char *variable;  /* environment variable that shows the launcher */
    int64_t size;          /* processes of the job; 0: not known */
    int64_t rank;          /* rank of this process; -1: not known */
    int family;            /* the MPI family whose protocol the launcher most likely uses */
    int no_protocol;       /* 1: srun --mpi=none; Open MPI would then end the program */
    char prefix[PATH_MAX]; /* where the launcher is installed: PREFIX/bin/NAME; "": not known */
} mpi_launcher;

/* Returns 0 if no launcher started the process. Slurm's batch scripts, interactive shells and tasks
 * of job arrays count as started without a launcher. */
int mpi_launcher_find(mpi_launcher *out);
