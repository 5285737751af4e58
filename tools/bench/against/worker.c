/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child that calls a reference. Its one connection is the socket REFERENCE_SOCKET: it writes
 * "ready SAME TEXT" (reference_job.same) or "absent TEXT", then for each "run SECONDS" it writes
 * "samples N CALLS MAGNITUDE" (reference_magnitude, or nan) and N lines of seconds a sample, until
 * the connection ends. It does not outlive its parent.
 */
#include "bench/ops/inputs.h"
#include "reference.h"
#include "process.h"
#include "common/sampler.h"
#include "bench/base/shape.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* ---- The job --------------------------------------------------------------------------------- */

static collet_dtype dtype_named(const char *name, size_t length)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++)
        if (strlen(collet_dtype_name(d)) == length && !strncmp(name, collet_dtype_name(d), length))
            return d;
    return COLLET_DTYPE_NONE;
}

/* "u:f32:512x512", "-" for an operand that is absent; "()" is a scalar. */
static int32_t take_operand(reference_job *job, const char *text)
{
    bench_operand *o = &job->operands[job->count];
    bench_shape shape = {0};
    *o = (bench_operand){.make = text[0]};
    if (text[0] == '-') {
        job->data[job->count++] = NULL;
        return 1;
    }
    if (text[0] == '\0' || text[1] != ':')
        return 0;
    size_t length = strcspn(text + 2, ":");
    const char *extents = text + 2 + length + (text[2 + length] == ':');
    o->dtype = dtype_named(text + 2, length);
    if (!o->dtype || (strcmp(extents, "()") && !bench_shape_parse(extents, &shape)) ||
        shape.count > COLLET_MAX_DIMS)
        return 0;
    o->ndim = shape.count;
    memcpy(o->shape, shape.extents, (size_t)o->ndim * sizeof *o->shape);
    size_t bytes = (size_t)bench_operand_size(o) * collet_dtype_size(o->dtype);
    void *data = reference_memory(job, bytes);
    if (!data)
        return 0;
    memset(data, 0, bytes);
    if (o->make != 'o')
        bench_input_fill(o, job->count, data);
    job->data[job->count++] = data;
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

/* ---- Talking --------------------------------------------------------------------------------- */

static reference_digest digest(const reference_job *job)
{
    if (job->same < 0)
        return (reference_digest){(double)NAN, (double)NAN};
    return reference_digest_of(&job->operands[job->same], job->data[job->same]);
}

/* Samples for the given time. The first run warms up fully, later ones with a single call. */
static int32_t answer(FILE *to, bench_sampler *s, double seconds)
{
    int64_t before = s->count;
    double end;
    collet_status status = before ? s->body(s->user, 1) : bench_sampler_warm(s, seconds);
    end = bench_now() + seconds;
    do {
        if (status == COLLET_OK)
            status = bench_sampler_take(s);
    } while (status == COLLET_OK && bench_now() < end);
    if (status != COLLET_OK)
        return 0;
    reference_digest d = digest(s->user);
    fprintf(to, "samples %lld %lld %.17g %.17g\n", (long long)(s->count - before),
            (long long)s->calls, d.magnitude, d.signature);
    for (int64_t i = before; i < s->count; i++)
        fprintf(to, "%.9g\n", s->seconds[i]);
    return fflush(to) == 0;
}

static int serve(FILE *from, FILE *to, reference_job *job)
{
    bench_sampler s;
    char line[64];
    if (bench_sampler_create(&s, call_job, job) != COLLET_OK)
        return BENCH_EXIT_FAILURE;
    fprintf(to, "ready %d %s\n", (int)job->same, job->text);
    int32_t fine = fflush(to) == 0;
    while (fine && fgets(line, sizeof line, from))
        fine = !strncmp(line, "run ", 4) && answer(to, &s, strtod(line + 4, NULL));
    bench_sampler_clear(&s);
    return fine ? BENCH_EXIT_OK : BENCH_EXIT_FAILURE;
}

/* From now on the worker dies with its parent, also in the middle of a library's call. A parent
 * that was gone before has closed its end of the connection. */
static int32_t follow_parent(void)
{
    struct pollfd connection = {.fd = REFERENCE_SOCKET};
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && poll(&connection, 1, 0) == 0;
}

int reference_worker(int argc, char **argv)
{
    static reference_job job;
    if (!follow_parent())
        return BENCH_EXIT_FAILURE;
    FILE *from = fdopen(REFERENCE_SOCKET, "r"), *to = fdopen(REFERENCE_SOCKET, "w");
    const reference_library *library = argc > 5 ? reference_library_find(argv[2]) : NULL;
    if (!from || !to || !library)
        return BENCH_EXIT_USAGE;
    job.op = argv[3];
    job.axes = (int32_t)strtol(argv[4], NULL, 10);
    job.threads = (int32_t)strtol(argv[5], NULL, 10);
    int32_t fine = 1;
    for (int i = 6; i < argc && fine; i++)
        fine = job.count < COLLET_MAX_OPERANDS && take_operand(&job, argv[i]);
    if (!fine)
        return BENCH_EXIT_USAGE;
    if (library->open(&job))
        return serve(from, to, &job);
    fprintf(to, "absent %s\n", job.text);
    (void)fflush(to);
    return BENCH_EXIT_FAILURE;
}
