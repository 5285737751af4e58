/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/ranks.sh */
#include "ranks.h"

#include "interrupt.h"

#include "mpi/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* FNV-1a of the arguments with their 0, not negative. */
static int64_t hash(int argc, char **argv)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (int i = 1; i < argc; i++)
        for (const char *at = argv[i];; at++) {
            h = (h ^ (unsigned char)*at) * UINT64_C(1099511628211);
            if (*at == '\0')
                break;
        }
    return (int64_t)(h >> 2);
}

/* The largest and the smallest of the hashes are the same. */
static collet_status check_command(tool_ranks *t, int argc, char **argv, collet_error *err)
{
    int64_t mine = hash(argc, argv), most, least;
    collet_status status = tool_ranks_agree(t, mine, &most, err);

    if (status == COLLET_OK)
        status = tool_ranks_agree(t, -mine, &least, err);
    return status != COLLET_OK || most == -least
               ? status
               : collet_fail(err, COLLET_INVALID,
                             "the ranks of this job have different command lines, so they cannot "
                             "share the work; COLLET_MPI=off lets each do its own");
}

int tool_ranks_open(tool_ranks *t, const char *program, int argc, char **argv)
{
    collet_error err;

    *t = (tool_ranks){.program = program, .size = 1, .local_size = 1};
    collet_status status = ranks_open(&t->ranks, &err);
    if (status == COLLET_OK && t->ranks != NULL) {
        t->rank = ranks_rank(t->ranks);
        t->size = ranks_size(t->ranks);
        t->local_rank = ranks_local_rank(t->ranks);
        t->local_size = ranks_local_size(t->ranks);
        status = check_command(t, argc, argv, &err);
    }
    if (status == COLLET_OK)
        return 1;
    /* A job whose ranks all say the same needs it once. */
    tool_ranks_fail(t, status != COLLET_INVALID || t->rank == 0 ? err.text : NULL, 1);
    return 0;
}

collet_status tool_ranks_agree(tool_ranks *t, int64_t mine, int64_t *largest, collet_error *err)
{
    *largest = mine;
    return t->ranks != NULL ? ranks_agree(t->ranks, mine, largest, tool_interrupt_signal, err)
                            : COLLET_OK;
}

int64_t tool_ranks_threads(const tool_ranks *t)
{
    const char *set = getenv("COLLET_NUM_THREADS");

    return t->ranks != NULL && (set == NULL || *set == '\0') ? ranks_processors(t->ranks) : 0;
}

const char *tool_ranks_devices(const tool_ranks *t, const char *list)
{
    int64_t count = 1, first;
    const char *at = list;

    if (t->ranks == NULL || list == NULL || strchr(list, ':') == NULL)
        return list;
    while ((at = strchr(at, ',')) != NULL && *at++ != '\0')
        count++;
    first = t->local_rank % count;
    at = list;
    for (int64_t i = 0; i < first; i++)
        at = strchr(at, ',') + 1;
    if (at == list)
        return list;
    char *turned = NULL;
    return asprintf(&turned, "%s,%.*s", at, (int)(at - list - 1), list) < 0 ? list : turned;
}

void tool_ranks_describe(const tool_ranks *t, int64_t threads, char *text, size_t size)
{
    char with[48] = "";

    if (threads > 0)
        snprintf(with, sizeof with, " with %lld thread%s each", (long long)threads,
                 threads == 1 ? "" : "s");
    if (t->ranks == NULL)
        snprintf(text, size, "1 process");
    else
        snprintf(text, size, "%lld ranks, %lld of them here%s (%s)", (long long)t->size,
                 (long long)t->local_size, with, ranks_library(t->ranks));
}

int tool_ranks_fail(const tool_ranks *t, const char *text, int status)
{
    char host[65] = "";

    if (text == NULL) {
        sleep(2); /* the rank with the message ends the job */
    } else if (t->ranks == NULL) {
        fprintf(stderr, "%s: %s\n", t->program, text);
    } else {
        gethostname(host, sizeof host - 1);
        fprintf(stderr, "%s: rank %lld (%s): %s\n", t->program, (long long)t->rank, host, text);
    }
    fflush(stderr);
    ranks_abort(t->ranks, status);
    return status;
}

void tool_ranks_close(tool_ranks *t)
{
    ranks_close(t->ranks);
    t->ranks = NULL;
}
