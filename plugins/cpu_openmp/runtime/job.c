/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_team.c, tests/cpu_openmp/test_many_threads.c */
#include "job.h"

#include <sched.h>

#include "wait.h"

void job_begin(job *j, int32_t threads, int32_t parts)
{
    uint64_t rest = JOB_REST(threads, j->pieces, 0);
    atomic_store_explicit(&j->part_count, parts, memory_order_relaxed);
    atomic_store_explicit(&j->threads, threads, memory_order_relaxed);
    atomic_store_explicit(&j->to_wake, 0, memory_order_relaxed);
    atomic_store_explicit(&j->done, 0, memory_order_relaxed);
    atomic_store_explicit(&j->processor, sched_getcpu(), memory_order_relaxed);
    for (int32_t i = 0; i < parts; i++)
        atomic_store_explicit(&j->parts[i].left, rest, memory_order_release);
}

int32_t job_take(job *j, int32_t part, int32_t thread)
{
    _Atomic uint64_t *left = &j->parts[part].left;
    uint64_t rest = atomic_load_explicit(left, memory_order_relaxed);
    do {
        if (!job_is_open(rest, thread))
            return -1;
    } while (!atomic_compare_exchange_weak_explicit(left, &rest, rest + 1, memory_order_acquire,
                                                    memory_order_relaxed));
    return JOB_BEGUN(rest);
}

/* count * index / parts without overflow. */
static int64_t share(int64_t count, int32_t index, int32_t parts)
{
    return count / parts * index + count % parts * index / parts;
}

void job_run(const job *j, int32_t part, int32_t piece, int32_t thread)
{
    int32_t parts = atomic_load_explicit(&j->part_count, memory_order_relaxed);
    int64_t first = share(j->count, part, parts);
    int64_t items = share(j->count, part + 1, parts) - first;
    int64_t begin = share(items, piece, j->pieces), end = share(items, piece + 1, j->pieces);
    if (begin < end)
        j->body(j->argument, thread, first + begin, first + end);
}

void job_report(job *j, uint32_t pieces)
{
    uint32_t all =
        (uint32_t)j->pieces * (uint32_t)atomic_load_explicit(&j->part_count, memory_order_relaxed);
    uint32_t before = atomic_fetch_add_explicit(&j->done, pieces, memory_order_acq_rel);
    if (before + pieces == (all | JOB_SLEEPS))
        futex_wake(&j->done, 1, ~0u);
}

int32_t job_left(const job *j, int32_t first, int32_t most)
{
    int32_t parts = atomic_load_explicit(&j->part_count, memory_order_relaxed), count = 0;
    for (int32_t i = 0; i < parts && count < most; i++) {
        uint64_t rest = job_rest(j, (first + i) % parts);
        count += JOB_ALL(rest) - JOB_BEGUN(rest);
    }
    return count < most ? count : most;
}

/* The part that a thread begins with if the job has the maximum number of parts. */
static int32_t part_of(int32_t thread, int32_t threads)
{
    return threads <= JOB_PARTS ? thread : (int32_t)share(JOB_PARTS, thread, threads);
}

job_order job_order_of(const job *j, int32_t number, int32_t first, int32_t end)
{
    int32_t parts = atomic_load_explicit(&j->part_count, memory_order_relaxed);
    int32_t threads = atomic_load_explicit(&j->threads, memory_order_relaxed);
    if (number >= threads || parts < (threads < JOB_PARTS ? threads : JOB_PARTS))
        return (job_order){number, 0, parts, parts};
    int32_t last = (end < threads ? end : threads) - 1, begin = part_of(first, threads);
    return (job_order){part_of(number, threads), begin, part_of(last, threads) + 1 - begin, parts};
}
