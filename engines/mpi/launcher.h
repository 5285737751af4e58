/* SPDX-License-Identifier: Apache-2.0 */
/* launcher.h - what started this process, from its environment and its parents. */
#ifndef ENGINES_MPI_LAUNCHER_H
#define ENGINES_MPI_LAUNCHER_H

#include <limits.h>
#include <stdint.h>

enum { MPI_FAMILY_OMPI, MPI_FAMILY_MPICH, MPI_FAMILY_ABI, MPI_FAMILIES };

typedef struct mpi_launcher {
    const char *variable;  /* of the environment, that shows it */
    int64_t size;          /* processes of the job; 0: not known */
    int64_t rank;          /* of this process; -1: not known */
    int family;            /* the MPI whose protocol the launcher most likely speaks */
    int no_protocol;       /* 1: srun --mpi=none, at which Open MPI ends the program itself */
    char prefix[PATH_MAX]; /* where it is installed: its program without /bin/NAME; "": not known */
} mpi_launcher;

/* Returns 0 if no launcher started the process. Slurm's batch scripts, interactive shells and tasks
 * of job arrays count as started without a launcher. */
int mpi_launcher_find(mpi_launcher *out);

#endif
