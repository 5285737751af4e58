/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "bandwidth.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES_MIN ((size_t)256 << 20)
#define CACHES 8 /* size of a buffer, in sizes of the last-level cache */
#define PASSES_MIN 3
#define PASSES_MAX TOOL_SAMPLES_MAX

const char *bandwidth_kind_name(stream_kind kind)
{
    static const char *const names[STREAM_KINDS] = {"read", "write", "copy"};
    return names[kind];
}

double bandwidth_fastest(const bandwidth_figure *figure)
{
    return figure->strategy ? figure->bytes / figure->stats.min : 0;
}

double bandwidth_median(const bandwidth_figure *figure)
{
    return figure->strategy ? figure->bytes / figure->stats.median : 0;
}

static const stream_table *best_table(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return &stream_table_v4;
    if (__builtin_cpu_supports("avx2"))
        return &stream_table_v3;
#endif
    return &stream_table_base;
}

/* ---- Passes ------------------------------------------------------------------------------ */

typedef struct pass {
    const bench_bandwidth *bandwidth;
    stream_loop run;
} pass;

static void part_of_pass(void *user, int32_t thread, int32_t threads)
{
    const pass *p = user;
    const bench_bandwidth *b = p->bandwidth;
    size_t grains = b->bytes / STREAM_GRAIN;
    size_t begin = grains * (size_t)thread / (size_t)threads * STREAM_GRAIN;
    size_t end = grains * (size_t)(thread + 1) / (size_t)threads * STREAM_GRAIN;
    p->run(b->target + begin, b->source + begin, end - begin);
}

/* Adds to b->samples. */
static void take_passes(bench_bandwidth *b, stream_loop loop, int32_t threads, int64_t passes,
                        double budget)
{
    pass p = {b, loop};
    bench_team team = {.threads = threads,
                       .processors = b->threads,
                       .part = part_of_pass,
                       .user = &p,
                       .passes = passes,
                       .seconds = budget,
                       .samples = b->samples,
                       .count = b->sample_count,
                       .capacity = PASSES_MAX};
    bench_team_run(&team);
    b->sample_count = team.count;
}

static bandwidth_figure figure_of(bench_bandwidth *b, const stream_strategy *strategy,
                                  int32_t threads)
{
    bandwidth_figure figure = {.strategy = strategy,
                               .threads = threads,
                               .bytes = (double)b->bytes * (strategy->kind == STREAM_COPY ? 2 : 1)};
    tool_stats_of(b->samples, b->sample_count, 1, &figure.stats);
    return figure;
}

void bench_bandwidth_choose(bench_bandwidth *b, stream_kind kind, double budget,
                            void (*seen)(void *user, const bandwidth_figure *figure), void *user)
{
    /* If two threads share a core, or memory is saturated early, fewer threads may be faster. */
    int32_t fewer = b->threads >= 4 ? b->threads / 2 : 0;
    size_t strategies = 0;
    for (size_t i = 0; i < b->table->count; i++)
        strategies += b->table->strategies[i].kind == kind;
    double share = budget / (double)(strategies * (fewer ? 2 : 1));
    b->best[kind] = (bandwidth_figure){0};
    for (size_t i = 0; i < b->table->count; i++) {
        const stream_strategy *strategy = &b->table->strategies[i];
        if (strategy->kind != kind)
            continue;
        for (int32_t threads = b->threads; threads; threads = threads > fewer ? fewer : 0) {
            bench_bandwidth_begin(b);
            take_passes(b, strategy->run, threads, PASSES_MIN, share);
            bandwidth_figure figure = figure_of(b, strategy, threads);
            if (seen)
                seen(user, &figure);
            if (bandwidth_fastest(&figure) > bandwidth_fastest(&b->best[kind]))
                b->best[kind] = figure;
        }
    }
}

void bench_bandwidth_begin(bench_bandwidth *b)
{
    b->sample_count = 0;
}

void bench_bandwidth_more(bench_bandwidth *b, stream_kind kind, double budget)
{
    take_passes(b, b->best[kind].strategy->run, b->best[kind].threads, PASSES_MIN, budget);
}

void bench_bandwidth_end(bench_bandwidth *b, stream_kind kind)
{
    double fastest = b->best[kind].stats.min;
    b->best[kind] = figure_of(b, b->best[kind].strategy, b->best[kind].threads);
    /* Keeps the earlier time if it is shorter: on a busy machine the later passes may never get all
     * processors at once. */
    if (fastest < b->best[kind].stats.min)
        b->best[kind].stats.min = fastest;
}

/* ---- Buffers ----------------------------------------------------------------------------- */

static unsigned char *buffer_create(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE); /* if refused, small pages are used */
    return memory;
}

/* Each thread is the first to touch its own part, so that this part is in the memory of the thread's NUMA node. */
static void touch(unsigned char *target, const unsigned char *source, size_t bytes)
{
    memset(target, 1, bytes);
    memset((void *)(uintptr_t)source, 2, bytes);
}

collet_status bench_bandwidth_open(bench_bandwidth *b, const bench_machine *machine, size_t bytes,
                                   collet_error *err)
{
    *b = (bench_bandwidth){.table = best_table(), .threads = machine->threads};
    if (!bytes) {
        bytes = machine->last_cache_bytes * CACHES;
        bytes = bytes > BYTES_MIN ? bytes : BYTES_MIN;
        if (machine->available_bytes && bytes > machine->available_bytes / 4)
            bytes = machine->available_bytes / 4;
    }
    b->bytes = (bytes + STREAM_GRAIN - 1) / STREAM_GRAIN * STREAM_GRAIN;
    b->samples = calloc(PASSES_MAX, sizeof *b->samples);
    b->source = buffer_create(b->bytes);
    b->target = buffer_create(b->bytes);
    if (!b->samples || !b->source || !b->target) {
        bench_bandwidth_close(b);
        return collet_fail(err, COLLET_NO_MEMORY,
                           "bandwidth: out of memory for two buffers of %zu bytes", b->bytes);
    }
    take_passes(b, touch, b->threads, 0, 0);
    return COLLET_OK;
}

void bench_bandwidth_close(bench_bandwidth *b)
{
    if (b->source)
        munmap(b->source, b->bytes);
    if (b->target)
        munmap(b->target, b->bytes);
    free(b->samples);
    *b = (bench_bandwidth){.bytes = b->bytes};
}
