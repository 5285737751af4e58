/* SPDX-License-Identifier: Apache-2.0 */
/* Work for devices: numbers that kernels add up, slow chains of them, threads. */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bench_operand bench_vector(const bench *b, void *buffer, int64_t at, int64_t n)
{
    return (bench_operand){.buffer = buffer,
                           .offset = (uint64_t)(at * b->size),
                           .dtype = b->dtype,
                           .ndim = 1,
                           .shape = {n},
                           .strides = {1}};
}

static void put(const bench *b, void *values, int64_t i, double value)
{
    if (b->dtype == COLLET_F32)
        ((float *)values)[i] = (float)value;
    else
        ((double *)values)[i] = value;
}

static double get(const bench *b, const void *values, int64_t i)
{
    return b->dtype == COLLET_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

void *bench_numbers(bench *b, collet_queue *q, int64_t n, double value)
{
    void *buffer = bench_alloc(b, (uint64_t)(n * b->size));
    void *values = kit_memory((size_t)(n * b->size));
    for (int64_t i = 0; i < n; i++)
        put(b, values, i, value);
    bench_write(b, q, buffer, 0, values, (uint64_t)(n * b->size));
    free(values);
    return buffer;
}

void bench_chain(bench *b, collet_queue *q, void *x, void *one, int64_t n, int count)
{
    bench_operand operands[3] = {bench_vector(b, x, 0, n), bench_vector(b, x, 0, n),
                                 bench_vector(b, one, 0, n)};
    operands[2].strides[0] = 0;
    for (int i = 0; i < count; i++) {
        collet_status status = try_run(b, q, (uint32_t)b->add, operands, 3, 1, NULL, NULL, 0);
        bench_require(b, status == COLLET_OK, "run of add returned %s", collet_status_name(status));
    }
}

void bench_expect(bench *b, collet_queue *q, void *buffer, int64_t n, double value,
                  const char *what)
{
    void *values = kit_memory((size_t)(n * b->size));
    memset(values, 0xff, (size_t)(n * b->size));
    bench_read(b, q, buffer, 0, values, (uint64_t)(n * b->size));
    int64_t i = 0;
    while (i < n && get(b, values, i) == value)
        i++;
    double found = i < n ? get(b, values, i) : value;
    free(values);
    bench_require(b, i == n, "%s: element %lld of %lld is %g, not %g", what, (long long)i,
                  (long long)n, found, value);
}

#define SLOW_NS 120000000
#define SLOW_MOST (1 << 23)

void bench_slow(bench *b)
{
    if (b->target->elements && b->target->measured == b->index) {
        b->elements = b->target->elements;
        return;
    }
    collet_queue *q = bench_queue(b);
    void *one = bench_numbers(b, q, 1, 1);
    b->elements = 1 << 14;
    for (bool enough = !b->has_queues; !enough; b->elements *= enough ? 1 : 4) {
        void *x = bench_numbers(b, q, b->elements, 0);
        bench_chain(b, q, x, one, b->elements, 1); /* compiles */
        bench_settle(b, q);
        int64_t start = bench_now();
        bench_chain(b, q, x, one, b->elements, CHAIN);
        bench_settle(b, q);
        enough = bench_now() - start > SLOW_NS || b->elements * 4 > SLOW_MOST;
        bench_free(b, x);
    }
    bench_free(b, one);
    bench_destroy(b, q);
    b->target->elements = b->elements;
    b->target->measured = b->index;
}

/* ---- Threads ------------------------------------------------------------------------------- */

typedef struct thread_call {
    bench *b;
    int number;
    void (*body)(bench *b, int number, void *user);
    void *user;
} thread_call;

static void *thread_main(void *argument)
{
    thread_call *call = argument;
    call->body(call->b, call->number, call->user);
    return NULL;
}

#define MOST_THREADS 16

void bench_threads(bench *b, int count, void (*body)(bench *b, int number, void *user), void *user)
{
    pthread_t threads[MOST_THREADS];
    thread_call calls[MOST_THREADS];
    int started = 0;
    for (; started < count && started < MOST_THREADS; started++) {
        calls[started] = (thread_call){b, started, body, user};
        if (pthread_create(&threads[started], NULL, thread_main, &calls[started]) != 0)
            break;
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    bench_check(b);
    if (started < count)
        bench_skip(b, "backend-check cannot start %d threads", count);
}

int bench_queues(bench *b, collet_queue **queues, int wanted)
{
    int count = (uint32_t)wanted < b->max_queues ? wanted : (int)b->max_queues;
    for (int i = 0; i < count; i++)
        queues[i] = bench_queue(b);
    return count;
}

/* ---- Some of everything -------------------------------------------------------------------- */

static void scenario_work(bench *b, collet_queue *first, collet_queue *second)
{
    enum { N = 1000 };
    void *one = bench_numbers(b, first, 1, 1), *x = bench_numbers(b, first, N, 3);
    bench_chain(b, first, x, one, N, 3);
    bench_after(b, second, first, bench_mark(b, first));
    bench_chain(b, second, x, one, N, 2);
    (void)try_wait(b, second, bench_mark(b, second), 0);
    (void)try_wait(b, second, bench_mark(b, second), 1000000);
    bench_after(b, first, second, bench_mark(b, second));
    bench_expect(b, first, x, N, 8, "add");
    bench_settle(b, first);
    bench_settle(b, second);
    bench_free(b, x);
    bench_free(b, one);
}

static void scenario_time(bench *b, collet_queue *q)
{
    collet_stamp *first = NULL, *last = NULL;
    if (!bench_timing(b) || try_stamp(b, q, &first) != COLLET_OK)
        return;
    if (try_stamp(b, q, &last) == COLLET_OK) {
        bench_settle(b, q);
        bench_require(b, bench_elapsed(b, first, last) >= 0, "a negative time between two stamps");
    }
    bench_settle(b, q);
    bench_release(b, first);
    bench_release(b, last);
}

void bench_scenario(bench *b)
{
    collet_queue *queues[2] = {0};
    unsigned char bytes[777], back[sizeof bytes];
    collet_memory_stats stats = {.struct_size = sizeof stats};
    int count = bench_queues(b, queues, 2);
    void *buffer = bench_alloc(b, sizeof bytes);
    memset(bytes, 0x3c, sizeof bytes);
    bench_write(b, queues[0], buffer, 0, bytes, sizeof bytes);
    bench_read(b, queues[0], buffer, 0, back, sizeof back);
    bench_require(b, !memcmp(bytes, back, sizeof bytes), "other bytes were read than written");
    if (b->add >= 0)
        scenario_work(b, queues[0], queues[count - 1]);
    scenario_time(b, queues[0]);
    bench_statistics(b, &stats);
    bench_settle(b, queues[0]);
    bench_free(b, buffer);
    for (int i = 0; i < count; i++)
        bench_destroy(b, queues[i]);
}
