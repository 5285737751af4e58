/* SPDX-License-Identifier: Apache-2.0 */
/* The child that calls a reference. It does not outlive its parent.
 * Tests: tests/tools/test_bench_against.c */
#include "process.h"

#include "bench/ops/inputs.h"
#include "common/sampler.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Libraries read their variables while they are loaded: after this. */
static void set_environment(const reference_request *request)
{
    static const char *const counts[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                         "BLIS_NUM_THREADS"};
    const reference_library *library = &reference_libraries[request->library];
    const char *value = library->variants[request->variant].value;
    char threads[16];
    snprintf(threads, sizeof threads, "%d", (int)request->threads);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        setenv(counts[i], threads, 1);
    if (library->variable && value)
        setenv(library->variable, value, 1);
    else if (library->variable)
        unsetenv(library->variable);
}

static int32_t make_operands(reference_job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        const bench_operand *o = &job->operands[i];
        if (o->make == '-')
            continue;
        size_t bytes = (size_t)bench_operand_size(o) * collet_dtype_size(o->dtype);
        if (!(job->data[i] = reference_memory(job, bytes)))
            return 0;
        memset(job->data[i], 0, bytes);
        if (o->make != 'o')
            bench_input_fill(o, i, job->data[i]);
    }
    return 1;
}

static collet_status call_job(void *user, int64_t calls)
{
    reference_job *job = user;
    for (int64_t i = 0; i < calls; i++)
        if (!job->call(job))
            return COLLET_FAILED;
    return COLLET_OK;
}

static int32_t sample(tool_sampler *s, double seconds)
{
    const reference_job *job = s->user;
    int64_t before = s->count;
    reference_round round = {.digest = {(double)NAN, (double)NAN}};
    if (tool_sampler_turn(s, seconds) != COLLET_OK)
        return 0;
    round.count = s->count - before;
    round.calls = s->calls;
    if (job->same >= 0)
        round.digest = reference_digest_of(&job->operands[job->same], job->data[job->same]);
    return reference_send(REFERENCE_SOCKET, &round, sizeof round) &&
           reference_send(REFERENCE_SOCKET, s->seconds + before,
                          (size_t)round.count * sizeof *s->seconds);
}

static int serve(reference_job *job)
{
    tool_sampler s;
    double seconds;
    int32_t fine = tool_sampler_create(&s, call_job, job) == COLLET_OK;
    while (fine && reference_receive(REFERENCE_SOCKET, &seconds, sizeof seconds, -1))
        fine = sample(&s, seconds);
    tool_sampler_clear(&s);
    return fine ? BENCH_EXIT_OK : BENCH_EXIT_FAILURE;
}

/* From now on the worker dies with its parent, also in the middle of a library's call. A parent
 * that ended before this has closed its end of the connection. */
static int32_t follow_parent(void)
{
    struct pollfd connection = {.fd = REFERENCE_SOCKET};
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && poll(&connection, 1, 0) == 0;
}

int reference_worker(void)
{
    static reference_job job;
    reference_request request;
    reference_reply reply = {0};
    if (!follow_parent() || !reference_receive(REFERENCE_SOCKET, &request, sizeof request, -1) ||
        request.library >= reference_library_count)
        return BENCH_EXIT_USAGE;
    job.op = request.op;
    job.count = request.count;
    memcpy(job.operands, request.operands, sizeof job.operands);
    job.axes = request.axes;
    job.threads = request.threads;
    job.file = request.file[0] ? request.file : NULL;
    set_environment(&request);
    reply.ready = make_operands(&job) && reference_libraries[request.library].open(&job);
    reply.same = job.same;
    memcpy(reply.text, job.text, sizeof reply.text);
    if (!reference_send(REFERENCE_SOCKET, &reply, sizeof reply) || !reply.ready)
        return BENCH_EXIT_FAILURE;
    return serve(&job);
}
