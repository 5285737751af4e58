/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/ranks.sh, tests/tools/test_ranks.c */
#include "ranks.h"

#include "common/output.h"

#include "interrupt.h"

#include "mpi/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Returns the FNV-1a hash of the arguments and the null bytes that end them; it is not negative. */
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

/* Returns INVALID unless the largest and the smallest hash of all ranks are equal. */
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
    const struct timespec pause = {0, 300000000};
    collet_error err;

    *t = (tool_ranks){.program = program, .size = 1, .place = {0, 1}};
    collet_status status = ranks_open(&t->ranks, &err);
    if (status == COLLET_OK && t->ranks != NULL) {
        t->rank = ranks_rank(t->ranks);
        t->size = ranks_size(t->ranks);
        t->place = (tool_place){ranks_local_rank(t->ranks), ranks_local_size(t->ranks)};
        status = check_command(t, argc, argv, &err);
    }
    if (status == COLLET_OK)
        return 1;
    /* If INVALID, all ranks have the same error: only rank 0 prints it. */
    tool_ranks_fail(t, status != COLLET_INVALID || t->rank == 0 ? err.text : NULL, 1);
    if (t->ranks == NULL)
        nanosleep(&pause, NULL); /* Hydra may lose the output of ranks that end at once */
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

/* Writes the list of devices so that it begins with the entry for this rank. */
static void turn(tool_place place, const char *list, char *own, size_t size)
{
    const char *at = list;
    int64_t count = 1;

    for (const char *comma = list; (comma = strchr(comma, ',')) != NULL; comma++)
        count++;
    for (int64_t i = place.rank % count; i > 0; i--)
        at = strchr(at, ',') + 1;
    snprintf(own, size, "%s%s%.*s", at, at > list ? "," : "", at > list ? (int)(at - list - 1) : 0,
             list);
}

collet_status tool_ranks_backend(const tool_ranks *t, const char *choice, char *own, size_t size,
                                 collet_error *err)
{
    const char *list = choice != NULL ? choice : getenv("COLLET_BACKEND");
    collet_runtime_options options = {.struct_size = sizeof options, .backend = choice};
    collet_runtime *runtime = NULL;
    collet_context *context = NULL;
    tool_devices devices = {0};

    own[0] = '\0';
    if (t->place.size == 1)
        return COLLET_OK;
    if (list != NULL && strchr(list, ':') != NULL) {
        turn(t->place, list, own, size);
        return COLLET_OK;
    }
    collet_status status = collet_runtime_create(&runtime, &options, err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &context, err);
    if (status == COLLET_OK)
        status = tool_devices_choose(&devices, context, NULL, t->place, err);
    if (status == COLLET_OK && devices.count > 0)
        snprintf(own, size, "%s%s", devices.choice[0], devices.rest);
    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
    return status;
}

void tool_ranks_describe(const tool_ranks *t, int64_t threads, char *text, size_t size)
{
    char with[240] = "";
    const char *place = t->ranks != NULL ? ranks_place(t->ranks) : "";

    if (threads > 0)
        snprintf(with, sizeof with, " with %lld thread%s each%s%s", (long long)threads,
                 threads == 1 ? "" : "s", *place ? ", this one on " : "", place);
    if (t->ranks == NULL)
        snprintf(text, size, "1 process");
    else
        snprintf(text, size, "%lld ranks, %lld of them here%s (%s)", (long long)t->size,
                 (long long)t->place.size, with, ranks_library(t->ranks));
}

int tool_ranks_fail(const tool_ranks *t, const char *text, int status)
{
    char host[65] = "";

    if (text == NULL) {
        sleep(2); /* the rank with the message ends the job */
    } else if (t->ranks == NULL) {
        tool_complain(t->program, text);
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
