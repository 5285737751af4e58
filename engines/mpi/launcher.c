/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_mpi_launcher.c */
#include "launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANCESTORS 16
/* Slurm's step ids from this number on are not steps of srun, but the batch script or an interactive shell. */
#define SLURM_SPECIAL_STEP 0xfffffff0ll

/* The first row that fits is used. Launchers that run inside others come first: mpirun may start its daemons by srun,
 * so the processes of mpirun have the variables of srun too. */
static const struct {
    const char *size, *rank, *also; /* `also` must be set as well; NULL: no further variable */
    int family;
} variables[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL, MPI_FAMILY_OMPI}, /* mpirun, jsrun */
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", NULL, MPI_FAMILY_MPICH},  /* mpirun_rsh */
    {"PMI_SIZE", "PMI_RANK", NULL, MPI_FAMILY_MPICH}, /* Hydra, Intel MPI, PALS, srun --mpi=pmi2 */
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", NULL, MPI_FAMILY_MPICH},
    {"PRTE_LAUNCHED", "PMIX_RANK", "PMIX_NAMESPACE", MPI_FAMILY_OMPI}, /* prterun; no size */
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_ID", MPI_FAMILY_MPICH},
};

/* Returns the value of an environment variable as a number; -1 if it is unset or not a number >= 0. */
static int64_t number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    long long value = text != NULL ? strtoll(text, &end, 10) : -1;

    return text == NULL || end == text || *end != '\0' || value < 0 ? -1 : value;
}

/* Sets the path of a process's program ("" if unknown) and its parent process; 0 if the process has ended. */
static int look_up(long process, char program[PATH_MAX], long *parent)
{
    char path[64], line[512];
    FILE *file;
    ssize_t length;

    snprintf(path, sizeof path, "/proc/%ld/exe", process);
    length = readlink(path, program, PATH_MAX - 1);
    program[length > 0 ? length : 0] = '\0';
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    *parent = 0;
    if (fgets(line, sizeof line, file) != NULL) {
        const char *end = strrchr(line, ')'); /* finds the last ')', because the program's name may contain ')' */

        if (end == NULL || sscanf(end, ") %*c %ld", parent) != 1)
            *parent = 0;
    }
    fclose(file);
    return 1;
}

/* The daemon that started this process is often the launcher itself. A shell may be between daemon and process. */
static void find_prefix(char prefix[PATH_MAX])
{
    static const char *const names[] = {
        "mpirun",  "mpiexec",         "mpiexec.hydra",      "orterun", "orted",
        "prterun", "hydra_pmi_proxy", "hydra_bstrap_proxy", "prted",   "prte"};
    char program[PATH_MAX];
    long process = getppid();

    for (int i = 0; i < ANCESTORS && process > 1 && look_up(process, program, &process); i++) {
        char *slash = strrchr(program, '/');

        for (size_t k = 0; slash != NULL && k < sizeof names / sizeof *names; k++)
            if (strcmp(slash + 1, names[k]) == 0) {
                *slash = '\0';
                slash = strrchr(program, '/');
                if (slash == NULL)
                    return;
                memcpy(prefix, program, (size_t)(slash - program));
                prefix[slash - program] = '\0';
                return;
            }
    }
}

int mpi_launcher_find(mpi_launcher *out)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        int64_t size = number(variables[i].size), rank = number(variables[i].rank);

        if (size < 0 || (variables[i].also != NULL && getenv(variables[i].also) == NULL))
            continue;
        *out = (mpi_launcher){.variable = variables[i].size,
                              .size = size,
                              .rank = rank,
                              .family = variables[i].family};
        if (strcmp(variables[i].size, "PRTE_LAUNCHED") == 0) {
            out->variable = "PMIX_RANK";
            out->size = 0;
        }
        if (strcmp(variables[i].size, "SLURM_STEP_NUM_TASKS") == 0) {
            if (number("SLURM_STEP_ID") < 0 || number("SLURM_STEP_ID") >= SLURM_SPECIAL_STEP)
                return 0;
            out->no_protocol = getenv("PMIX_RANK") == NULL; /* --mpi=pmi2 has PMI_SIZE */
            if (!out->no_protocol)
                out->family = MPI_FAMILY_OMPI;
        }
        find_prefix(out->prefix);
        return 1;
    }
    return 0;
}
