/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_studies.c */
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ------------------------------------------------------------------------------ */

/* Makes the peak of this process's memory what it is now (Linux 4.0). */
static void reset_peak(collet_context *cx, const char *choice)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
    collet_memory_reset_peak(cx, choice);
}

static double peak_resident(void)
{
    char line[128];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return 1024.0 * (double)kib;
}

static double peak_device(collet_context *cx, const char *choice)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    return collet_memory(cx, &stats, choice) == COLLET_OK ? (double)stats.peak : 0;
}

static void keep_larger(double *kept, double value)
{
    *kept = value > *kept ? value : *kept;
}

/* ---- Rounds ------------------------------------------------------------------------------ */

static void fail(bench_session *s, bench_turn *t, collet_status status)
{
    t->status = status;
    snprintf(t->error, sizeof t->error, "%s", collet_last_error(s->context));
}

/* Notes the median of the samples since `from`. */
static void note_round(bench_turn *t, int64_t from, double *scratch)
{
    tool_stats round;
    int64_t count = t->sampler.count - from;
    if (count <= 0)
        return;
    memcpy(scratch, t->sampler.seconds + from, (size_t)count * sizeof *scratch);
    tool_stats_of(scratch, count, t->sampler.calls, &round);
    t->low = t->low > 0 && t->low < round.median ? t->low : round.median;
    keep_larger(&t->high, round.median);
}

static void take_turn(bench_session *s, bench_turn *t, double budget, double *scratch)
{
    int64_t from = t->sampler.count;
    collet_status status = collet_set_backend(s->context, t->choice);
    reset_peak(s->context, t->choice);
    if (status == COLLET_OK)
        status = tool_sampler_turn(&t->sampler, budget);
    if (status != COLLET_OK) {
        fail(s, t, status);
        return;
    }
    keep_larger(&t->peak_resident, peak_resident());
    keep_larger(&t->peak_device, peak_device(s->context, t->choice));
    note_round(t, from, scratch);
}

static void open_turn(bench_session *s, const bench_layout *l, const bench_arrays *arrays,
                      bench_turn *t)
{
    *t = (bench_turn){.choice = t->choice};
    t->status = bench_calls_open(&t->calls, s, l, arrays, t->choice, t->error);
    if (t->status != COLLET_OK)
        return;
    t->status = tool_sampler_create(&t->sampler, bench_calls_run, &t->calls);
    if (t->status != COLLET_OK)
        snprintf(t->error, sizeof t->error, "out of memory for the samples");
}

collet_status bench_turns_measure(bench_session *s, const bench_layout *l, bench_turn *turns,
                                  int32_t count, double seconds)
{
    bench_arrays arrays;
    double *scratch = malloc(TOOL_SAMPLES_MAX * sizeof *scratch);
    collet_status status =
        scratch ? collet_set_backend(s->context, turns[0].choice) : COLLET_NO_MEMORY;
    collet_set_fallback(s->context, 1); /* to fill the inputs */
    if (status == COLLET_OK)
        status = bench_arrays_create(&arrays, s->context, l);
    else
        arrays = (bench_arrays){{NULL}};
    collet_set_fallback(s->context, 0);
    for (int32_t i = 0; i < count && status == COLLET_OK; i++)
        open_turn(s, l, &arrays, &turns[i]);
    for (int32_t round = 0; round < BENCH_TURNS && status == COLLET_OK; round++)
        for (int32_t i = 0; i < count; i++) {
            bench_session_show(s, "%s %s: %s, round %d of %d", l->row->name, l->signature,
                               turns[i].choice, (int)round + 1, BENCH_TURNS);
            if (turns[i].status == COLLET_OK)
                take_turn(s, &turns[i], seconds / BENCH_TURNS, scratch);
        }
    for (int32_t i = 0; i < count && status == COLLET_OK; i++) {
        if (turns[i].status == COLLET_OK)
            tool_sampler_stats(&turns[i].sampler, &turns[i].stats);
        tool_sampler_clear(&turns[i].sampler);
    }
    bench_arrays_free(&arrays);
    free(scratch);
    tool_progress_end(&s->progress);
    return status;
}
