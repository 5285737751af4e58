/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises MPI launchers by environment variables, and processes that no launcher has started. */
#include "common/test.h"
#include "mpi/launcher.h"
#include "mpi/ranks.h"

static const char *const all[] = {"OMPI_COMM_WORLD_SIZE",
                                  "OMPI_COMM_WORLD_RANK",
                                  "MV2_COMM_WORLD_SIZE",
                                  "MV2_COMM_WORLD_RANK",
                                  "PMI_SIZE",
                                  "PMI_RANK",
                                  "FLUX_JOB_SIZE",
                                  "FLUX_TASK_RANK",
                                  "PRTE_LAUNCHED",
                                  "PMIX_RANK",
                                  "PMIX_NAMESPACE",
                                  "SLURM_STEP_NUM_TASKS",
                                  "SLURM_PROCID",
                                  "SLURM_STEP_ID",
                                  "SLURM_NTASKS",
                                  "SLURM_JOB_ID",
                                  "SLURM_ARRAY_TASK_ID",
                                  "SLURM_LOCALID",
                                  "SLURM_ARRAY_TASK_COUNT",
                                  "COLLET_MPI"};

/* Sets these variables ("NAME=VALUE NAME=VALUE"), and removes all other variables of launchers. */
static void set(const char *text)
{
    char copy[256], *rest = copy, *word;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unsetenv(all[i]);
    strncpy(copy, text, sizeof copy - 1);
    copy[sizeof copy - 1] = '\0';
    while ((word = strsep(&rest, " ")) != NULL) {
        char *value = strchr(word, '=');

        *value = '\0';
        setenv(word, value + 1, 1);
    }
}

static void finds(const char *text, int64_t size, int64_t rank, int family)
{
    mpi_launcher found;

    set(text);
    if (!mpi_launcher_find(&found))
        fail_msg("no launcher: %s", text);
    if (found.size != size || found.rank != rank || found.family != family)
        fail_msg("%s: size %lld, rank %lld, family %d", text, (long long)found.size,
                 (long long)found.rank, found.family);
}

static void finds_none(const char *text)
{
    mpi_launcher found;

    set(text);
    if (mpi_launcher_find(&found))
        fail_msg("a launcher by %s: %s", found.variable, text);
}

TEST(launchers)
{
    finds("OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=3 PMIX_RANK=3 PMIX_NAMESPACE=x", 4, 3,
          MPI_FAMILY_OMPI);
    finds("PRTE_LAUNCHED=1 PMIX_RANK=2 PMIX_NAMESPACE=x", 0, 2, MPI_FAMILY_OMPI);
    finds("PMI_SIZE=2 PMI_RANK=1", 2, 1, MPI_FAMILY_MPICH);
    finds("MV2_COMM_WORLD_SIZE=8 MV2_COMM_WORLD_RANK=0", 8, 0, MPI_FAMILY_MPICH);
    finds("FLUX_JOB_SIZE=6 FLUX_TASK_RANK=5", 6, 5, MPI_FAMILY_MPICH);
    finds("SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=2", 3, 2,
          MPI_FAMILY_MPICH);
    finds("SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=2 PMIX_RANK=2", 3, 2,
          MPI_FAMILY_OMPI);
    /* mpirun starts its daemons with srun, one task per host: Slurm's variables describe the
     * daemons. */
    finds("OMPI_COMM_WORLD_SIZE=64 OMPI_COMM_WORLD_RANK=9 SLURM_STEP_ID=1 "
          "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1",
          64, 9, MPI_FAMILY_OMPI);
}

TEST(no_launcher)
{
    finds_none("SLURM_JOB_ID=7 SLURM_NTASKS=16 SLURM_PROCID=0"); /* a batch script */
    finds_none("SLURM_JOB_ID=7 SLURM_NTASKS=1 SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=100 "
               "SLURM_PROCID=0");
    /* The shell that salloc starts has a special step id. */
    finds_none("SLURM_STEP_ID=4294967290 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0");
    finds_none("SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0");
    finds_none("PMI_SIZE=two PMI_RANK=1");
    finds_none("PMIX_RANK=0 PMIX_NAMESPACE=x");
}

TEST(open_ranks)
{
    ranks *r = (ranks *)&r;
    collet_error err;

    set("COLLET_MPI=/none.so");
    assert_int_equal(ranks_open(&r, &err), COLLET_OK);
    assert_null(r);
    set("PMI_SIZE=1 PMI_RANK=0 COLLET_MPI=/none.so");
    assert_int_equal(ranks_open(&r, &err), COLLET_OK);
    assert_null(r);
    set("PMI_SIZE=4 PMI_RANK=0 COLLET_MPI=off");
    assert_int_equal(ranks_open(&r, &err), COLLET_OK);
    assert_null(r);
    set("PMI_SIZE=4 PMI_RANK=0 COLLET_MPI=/none.so");
    assert_int_equal(ranks_open(&r, &err), COLLET_UNAVAILABLE);
    assert_null(r);
    assert_contains(err.text, "PMI_SIZE in the environment shows a launcher of 4 processes",
                    "/none.so: cannot open shared object file");
    /* srun --mpi=none: Open MPI would end the program. */
    set("SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1");
    assert_error(ranks_open(&r, &err), COLLET_UNAVAILABLE, err,
                 "Open MPI needs --mpi=pmix or --mpi=pmi2");
    /* A library that is not MPI. */
    set("PMI_SIZE=4 PMI_RANK=0 COLLET_MPI=libc.so.6");
    assert_error(ranks_open(&r, &err), COLLET_UNAVAILABLE, err,
                 "libc.so.6: it lacks MPI_Init_thread");
    ranks_close(NULL);
    ranks_abort(NULL, 1);
}
