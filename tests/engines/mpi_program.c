/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_program.c - the program of each rank of an MPI job. mpi_launchers.sh starts it with each MPI library. */
#include "mpi/ranks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(ranks *r, const char *text)
{
    printf("rank %lld: %s\n", r != NULL ? (long long)ranks_rank(r) : -1ll, text);
    fflush(stdout);
    ranks_abort(r, 5);
    return 5;
}

/* Rank 0 arrives two seconds late. The other ranks print during what fraction of this time they used a
 * processor. */
static int wait_politely(ranks *r, collet_error *err)
{
    int64_t largest;
    double began = now(), busy = cpu_seconds();

    if (ranks_rank(r) == 0)
        sleep(2);
    if (ranks_agree(r, 0, &largest, NULL, err) != COLLET_OK)
        return fail(r, err->text);
    if (ranks_rank(r) != 0)
        printf("busy %.0f %%\n", 100 * (cpu_seconds() - busy) / (now() - began));
    ranks_close(r);
    return 0;
}

static int stop(void)
{
    return 1;
}

/* Arguments: PROGRAM WHAT. WHAT is agree, wait, abort, kill or stop. */
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "agree";
    collet_error err;
    ranks *r;
    int64_t largest = -1;
    double began = now();

    if (ranks_open(&r, &err) != COLLET_OK)
        return fail(NULL, err.text);
    if (r == NULL) {
        printf("no ranks\n");
        return 0;
    }
    double opened = now() - began;
    if (strcmp(what, "wait") == 0)
        return wait_politely(r, &err);
    if (ranks_rank(r) == 1 && strcmp(what, "abort") == 0)
        return fail(r, "the disk is full");
    if (ranks_rank(r) == 1 && strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(what, "stop") == 0 && ranks_rank(r) != 1)
        sleep(60); /* rank 1 then has to wait */
    if (strcmp(what, "stop") == 0 && ranks_agree(r, 0, &largest, stop, &err) == COLLET_CANCELLED)
        return fail(r, err.text);
    if (ranks_agree(r, 10 * ranks_rank(r) - 5, &largest, NULL, &err) != COLLET_OK)
        return fail(r, err.text);
    printf("rank %lld of %lld, %lld of %lld here, at least 1 processor: %d, largest %lld, %s, %.0f "
           "ms\n",
           (long long)ranks_rank(r), (long long)ranks_size(r), (long long)ranks_local_rank(r),
           (long long)ranks_local_size(r), ranks_processors(r) >= 1, (long long)largest,
           ranks_library(r), 1000 * opened);
    ranks_close(r);
    return 0;
}
