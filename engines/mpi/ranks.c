/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_mpi_launcher.c, tests/engines/mpi_launchers.sh */
#include "ranks.h"
#include "launcher.h"
#include "library.h"
#include "places.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_SLEEP 10000000 /* ns */
#define PROCESSORS 8192

struct ranks {
    const mpi_family *family;
    void *calls;
    int rank, size, local_rank, local_size;
    int64_t processors;
    char library[256];
    char place[160]; /* processors to which this rank has bound itself; "": the rank is not bound */
};

/* The libraries that were tried, for the text of the error. */
typedef struct attempts {
    mpi_launcher launcher;
    char text[640];
} attempts;

static const mpi_family *const families[MPI_FAMILIES] = {
    [MPI_FAMILY_OMPI] = &mpi_ompi, [MPI_FAMILY_MPICH] = &mpi_mpich, [MPI_FAMILY_ABI] = &mpi_abi};

static void COLLET_PRINTF(2, 3) note(attempts *tried, const char *format, ...)
{
    size_t used = strlen(tried->text);
    va_list arguments;

    if (used > 0 && used < sizeof tried->text - 2)
        used += (size_t)snprintf(tried->text + used, sizeof tried->text - used, "; ");
    va_start(arguments, format);
    vsnprintf(tried->text + used, sizeof tried->text - used, format, arguments);
    va_end(arguments);
}

static collet_status fail(const ranks *r, const char *call, int error, collet_error *err)
{
    char text[MPI_TEXT];

    r->family->explain(r->calls, error, text);
    return collet_fail(err, COLLET_FAILED, "%s: %s: %s", r->library, call, text);
}

/* ---- One library ------------------------------------------------------------------------- */

/* The library describes itself in a long text, often of several lines. r->library gets its first line, up to the first
 * comma. */
static void name_library(ranks *r)
{
    char text[MPI_TEXT];

    r->family->version(r->calls, text);
    text[strcspn(text, "\n,")] = '\0';
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\t')
            *at = ' ';
    snprintf(r->library, sizeof r->library, "%.200s", text);
}

/* 1 if a library that has started finds the processes that the launcher started. */
static int belongs(const ranks *r, attempts *tried, const char *path)
{
    const mpi_launcher *l = &tried->launcher;

    if (l->size > 0 ? r->size == l->size : l->rank < 0 || r->rank == l->rank)
        return 1;
    note(tried, "%s (%s) finds %d process%s", path, r->library, r->size, r->size == 1 ? "" : "es");
    return 0;
}

/* 1: the library started and belongs to this launcher. A library that has started is never closed, because
 * its threads may still run. */
static int start(ranks *r, const mpi_family *family, void *handle, const char *path,
                 attempts *tried)
{
    const char *missing;
    char text[MPI_TEXT];

    r->family = family;
    r->calls = family->bind(handle, &missing);
    if (r->calls == NULL) {
        note(tried, "%s: %s%s", path, missing != NULL ? "it lacks " : "out of memory",
             missing != NULL ? missing : "");
        dlclose(handle);
        return 0;
    }
    int error = family->start(r->calls, &r->rank, &r->size);
    if (error == 0)
        name_library(r);
    if (error == 0 && belongs(r, tried, path))
        return 1;
    if (error != 0) {
        family->explain(r->calls, error, text);
        note(tried, "%s: it does not start: %s", path, text);
    } else {
        family->finish(r->calls);
    }
    free(r->calls);
    r->calls = NULL;
    return 0;
}

static int open_file(ranks *r, const mpi_family *family, const char *path, attempts *tried)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = handle == NULL ? dlerror() : NULL;

    if (handle != NULL)
        return start(r, family, handle, path, tried);
    /* The text of dlerror names the file. */
    note(tried, "%s", why != NULL ? why : path);
    return 0;
}

/* ---- The choice -------------------------------------------------------------------------- */

/* Returns the family of the library that COLLET_MPI names. */
static const mpi_family *family_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    const mpi_family *family = strstr(slash != NULL ? slash : path, "mpi_abi") != NULL ? &mpi_abi
                               : handle != NULL && dlsym(handle, "ompi_mpi_comm_world") != NULL
                                   ? &mpi_ompi
                                   : &mpi_mpich;

    if (handle != NULL)
        dlclose(handle);
    return family;
}

/* Opens the first library of the family that exists below the launcher's prefix. If none exists, opens the first that
 * the dynamic linker finds by name. */
static int open_family(ranks *r, const mpi_family *family, attempts *tried)
{
    static const char *const folders[] = {"lib", "lib64"};
    const char *prefix = tried->launcher.prefix;
    char path[PATH_MAX];

    for (int i = 0; *prefix != '\0' && family->files[i] != NULL; i++)
        for (size_t k = 0; k < 2; k++) {
            int length =
                snprintf(path, sizeof path, "%s/%s/%s", prefix, folders[k], family->files[i]);
            if (length > 0 && length < PATH_MAX && access(path, R_OK) == 0)
                return open_file(r, family, path, tried);
        }
    for (int i = 0; family->files[i] != NULL; i++) {
        size_t length = strlen(family->files[i]);
        void *handle = dlopen(family->files[i], RTLD_NOW | RTLD_LOCAL);
        const char *why = handle == NULL ? dlerror() : "";

        if (handle != NULL)
            return start(r, family, handle, family->files[i], tried);
        if (why != NULL && strncmp(why, family->files[i], length) != 0)
            note(tried, "%s: %s", family->files[i], why); /* the file exists, but a library that it needs does not */
    }
    note(tried, "%s (%s) is not found", family->files[0], family->name);
    return 0;
}

static int open_any(ranks *r, attempts *tried)
{
    /* The launcher's own family, then the standard interface, which most libraries will have. */
    const int order[] = {tried->launcher.family, MPI_FAMILY_ABI,
                         tried->launcher.family == MPI_FAMILY_OMPI ? MPI_FAMILY_MPICH
                                                                   : MPI_FAMILY_OMPI};
    const char *named = getenv("COLLET_MPI");

    if (named != NULL && *named != '\0')
        return open_file(r, family_of(named), named, tried);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i] == MPI_FAMILY_OMPI && tried->launcher.no_protocol)
            note(tried, "Open MPI needs --mpi=pmix or --mpi=pmi2");
        else if (open_family(r, families[order[i]], tried))
            return 1;
    return 0;
}

static collet_status refuse(const attempts *tried, collet_error *err)
{
    const mpi_launcher *l = &tried->launcher;
    char size[32] = "several";

    if (l->size > 0)
        snprintf(size, sizeof size, "%" PRId64, l->size);
    return collet_fail(err, COLLET_UNAVAILABLE,
                       "%s in the environment shows a launcher of %s processes, but no library of "
                       "MPI joins them: %s. Install the launcher's library, or name its file by "
                       "COLLET_MPI=FILE; with srun choose its protocol, as --mpi=pmix or "
                       "--mpi=pmi2. COLLET_MPI=off lets each process do all of the work",
                       l->variable, size, tried->text);
}

/* ---- Waiting ----------------------------------------------------------------------------- */

/* MPI_Test makes MPI progress. Most waits are long, and a spinning rank would take a processor from a rank
 * that computes. */
static collet_status wait_for(ranks *r, int (*stop)(void), collet_error *err)
{
    struct timespec pause = {0, 10000};
    int done = 0;

    for (;;) {
        int error = r->family->test(r->calls, &done);

        if (error != 0)
            return fail(r, "MPI_Test", error, err);
        if (done)
            return COLLET_OK;
        if (stop != NULL && stop() != 0)
            return collet_fail(err, COLLET_CANCELLED, "stopped while waiting for other ranks");
        nanosleep(&pause, NULL);
        pause.tv_nsec += pause.tv_nsec / 4;
        if (pause.tv_nsec > LONGEST_SLEEP)
            pause.tv_nsec = LONGEST_SLEEP;
    }
}

static collet_status reduce(ranks *r, int sum, const int64_t *mine, int64_t *all, int count,
                            int (*stop)(void), collet_error *err)
{
    int error = r->family->begin(r->calls, sum, mine, all, count);

    return error != 0 ? fail(r, "MPI_Iallreduce", error, err) : wait_for(r, stop, err);
}

/* Binds this rank to its part of the host's processors, in the order of the local ranks. With one rank per NUMA node,
 * all threads of a rank then share a node and its memory. */
static void bind_rank(ranks *r, const cpu_set_t *all, size_t size)
{
    int n = CPU_COUNT_S(size, all), first, end, found = 0;
    int *processors = malloc(2 * (size_t)n * sizeof *processors), *nodes = processors + n;
    cpu_set_t *own = CPU_ALLOC(PROCESSORS);

    for (int i = 0; i < PROCESSORS && processors != NULL; i++)
        if (CPU_ISSET_S((size_t)i, size, all))
            processors[found++] = i;
    if (processors != NULL && own != NULL) {
        mpi_sort_processors("/sys/devices/system", processors, nodes, n);
        mpi_part(n, r->local_rank, r->local_size, &first, &end);
        CPU_ZERO_S(size, own);
        for (int i = first; i < end; i++)
            CPU_SET_S((size_t)processors[i], size, own);
        if (sched_setaffinity(0, size, own) == 0) {
            r->processors = end - first;
            mpi_describe_processors(processors + first, nodes + first, end - first, r->place,
                                    sizeof r->place);
        }
    }
    free(processors);
    if (own != NULL)
        CPU_FREE(own);
}

/* Sets the number of processors of this rank: a processor that n ranks may use counts as 1 / n. If all ranks
 * may use the same processors, and there is at least one for each rank, the ranks divide them. */
static collet_status take_processors(ranks *r, collet_error *err)
{
    cpu_set_t *set = CPU_ALLOC(PROCESSORS);
    size_t size = CPU_ALLOC_SIZE(PROCESSORS);
    int64_t *mine = calloc(2 * (size_t)PROCESSORS, sizeof *mine), *all = mine + PROCESSORS;
    collet_status status = COLLET_OK;
    double share = 0;
    int same = 1;

    if (set == NULL || mine == NULL) {
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    } else {
        CPU_ZERO_S(size, set);
        sched_getaffinity(0, size, set);
        for (int i = 0; i < PROCESSORS; i++)
            mine[i] = CPU_ISSET_S((size_t)i, size, set) != 0;
        status = reduce(r, 1, mine, all, PROCESSORS, NULL, err);
        for (int i = 0; i < PROCESSORS && status == COLLET_OK; i++) {
            share += mine[i] ? 1.0 / (double)all[i] : 0;
            same &= all[i] == mine[i] * r->local_size;
        }
    }
    r->processors = share > 1 ? (int64_t)(share + 1e-6) : 1;
    if (status == COLLET_OK && same && r->local_size > 1 && CPU_COUNT_S(size, set) >= r->local_size)
        bind_rank(r, set, size);
    if (set != NULL)
        CPU_FREE(set);
    if (status != COLLET_FAILED) /* after FAILED, MPI may still write to these numbers */
        free(mine);
    return status;
}

/* ---- Interface --------------------------------------------------------------------------- */

collet_status ranks_open(ranks **out, collet_error *err)
{
    const char *named = getenv("COLLET_MPI");
    attempts tried = {.text = ""};

    *out = NULL;
    if ((named != NULL && strcmp(named, "off") == 0) || !mpi_launcher_find(&tried.launcher) ||
        tried.launcher.size == 1)
        return COLLET_OK;
    ranks *r = calloc(1, sizeof *r);
    if (r == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    if (!open_any(r, &tried)) {
        free(r);
        return refuse(&tried, err);
    }
    int error = r->family->start_local(r->calls, &r->local_rank, &r->local_size);
    collet_status status =
        error != 0 ? fail(r, "MPI_Comm_split_type", error, err) : take_processors(r, err);
    if (status != COLLET_OK || r->size == 1) {
        if (status == COLLET_OK)
            ranks_close(r);
        return status;
    }
    *out = r;
    return COLLET_OK;
}

int64_t ranks_rank(const ranks *r)
{
    return r->rank;
}

int64_t ranks_size(const ranks *r)
{
    return r->size;
}

int64_t ranks_local_rank(const ranks *r)
{
    return r->local_rank;
}

int64_t ranks_local_size(const ranks *r)
{
    return r->local_size;
}

const char *ranks_library(const ranks *r)
{
    return r->library;
}

int64_t ranks_processors(const ranks *r)
{
    return r->processors;
}

const char *ranks_place(const ranks *r)
{
    return r->place;
}

collet_status ranks_agree(ranks *r, int64_t mine, int64_t *largest, int (*stop)(void),
                          collet_error *err)
{
    /* On the heap, and not freed after a failure: MPI may still write there. */
    int64_t *numbers = malloc(2 * sizeof *numbers);

    if (numbers == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    numbers[0] = mine;
    collet_status status = reduce(r, 0, &numbers[0], &numbers[1], 1, stop, err);
    if (status != COLLET_OK)
        return status;
    *largest = numbers[1];
    free(numbers);
    return COLLET_OK;
}

void ranks_abort(ranks *r, int status)
{
    const struct timespec pause = {0, 300000000};

    if (r == NULL)
        return;
    nanosleep(&pause, NULL); /* Hydra may drop output that it has not read before the abort */
    r->family->abort(r->calls, status);
}

void ranks_close(ranks *r)
{
    if (r == NULL)
        return;
    r->family->finish(r->calls);
    free(r->calls);
    free(r);
}
