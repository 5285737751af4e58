/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "report.h"

#include "common/json_add.h"
#include "common/output.h"

#include <stdio.h>

const char *bench_time_text(double seconds, char text[16])
{
    if (seconds < 1e-6)
        snprintf(text, 16, "%.1f ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        snprintf(text, 16, "%.2f us", 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, 16, "%.3f ms", 1e3 * seconds);
    else
        snprintf(text, 16, "%.3f s", seconds);
    return text;
}

void bench_result_print_head(const bench_session *s, const bench_layout *l)
{
    char shape[BENCH_SHAPE_TEXT];
    printf("%s %s, %s = %s, %.4g MB", l->row->name, l->signature, l->row->extents,
           bench_shape_text(l->shape.count, l->shape.extents, shape),
           1e-6 * (l->bytes_read + l->bytes_written));
    if (l->flops > 0)
        printf(", %.4g GF", 1e-9 * l->flops);
    printf("; %s, %d thread%s\n", s->machine.cpu, (int)s->machine.threads,
           tool_plural(s->machine.threads));
    printf("%-16s %10s %10s %10s %10s %10s %10s %10s %8s %7s\n", "backend", "median", "mean", "std",
           "p95", "p99", "min", "max", l->flops > 0 ? "GF/s" : "GB/s", "ratio");
}

static void print_times(const tool_stats *s)
{
    const double times[] = {s->median, s->mean, s->std, s->p95, s->p99, s->min, s->max};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[16];
        printf(" %10s", bench_time_text(times[i], text));
    }
}

static double stolen_percent(const bench_usage *u)
{
    return u->ticks > 0 ? 100 * u->stolen / u->ticks : 0;
}

static void print_busy(const bench_result *r, int32_t steal)
{
    const bench_busy_stats *b = &r->busy;
    double fair = bench_fair_seconds(r);
    char name[32], time[16];
    snprintf(name, sizeof name, "  with %d busy", (int)b->processes);
    printf("%-16s", name);
    print_times(&b->stats);
    printf(" %8.2f %7.2f\n", 1e-9 * (r->flops > 0 ? r->flops : r->bytes) / b->stats.median,
           r->stats.median / b->stats.median);
    printf(
        "%-16s fair time %s, for %.0f %% of the %.1f processors used alone; mean %.2f times that",
        "", bench_time_text(fair, time), 100 * b->share, b->threads, b->stats.mean / fair);
    printf(", p99 %s above", bench_time_text(b->stats.p99 > fair ? b->stats.p99 - fair : 0, time));
    if (steal)
        printf("; %.1f %% of the machine stolen", stolen_percent(&b->usage));
    printf("\n");
}

void bench_result_print(const bench_result *r, int32_t steal)
{
    if (r->status != COLLET_OK) {
        printf("%-16s %s\n", r->choice, collet_status_text(r->status));
        return;
    }
    printf("%-16s", r->choice);
    print_times(&r->stats);
    printf(" %8.2f %7.2f\n", 1e-9 * (r->flops > 0 ? r->flops : r->bytes) / r->stats.median,
           r->ratio);
    printf("%-16s %.5g calls/s in %lld samples", "", 1 / r->stats.median,
           (long long)r->stats.samples);
    if (r->device.samples) {
        char text[16];
        printf("; %s by the device's clock", bench_time_text(r->device.median, text));
    }
    if (r->floor.strategy)
        printf("; %.0f %% of the %s bandwidth of this run (%.2f GB/s; fastest against fastest %.0f "
               "%% of %.2f)",
               100 * bench_share_of_median(r), bandwidth_kind_name(r->floor.strategy->kind),
               1e-9 * bandwidth_median(&r->floor), 100 * bench_share_of_fastest(r),
               1e-9 * bandwidth_fastest(&r->floor));
    printf("; memory %+lld B in arrays, %+lld KiB resident",
           (long long)(r->grown.arrays + r->grown.device), (long long)(r->grown.resident / 1024));
    if (steal)
        printf("; %.1f %% of the machine stolen", stolen_percent(&r->usage));
    printf("\n");
    if (r->busy.processes)
        print_busy(r, steal);
}

static int32_t add_floor(cJSON *row, const bench_result *r)
{
    if (!r->floor.strategy)
        return json_add_null(row, "floor") && json_add_null(row, "share") &&
               json_add_null(row, "share_fastest");
    cJSON *floor = cJSON_AddObjectToObject(row, "floor");
    return floor && json_add_text(floor, "kind", bandwidth_kind_name(r->floor.strategy->kind)) &&
           json_add_text(floor, "strategy", r->floor.strategy->name) &&
           json_add_number(floor, "threads", r->floor.threads) &&
           json_add_number(floor, "gb_per_s", 1e-9 * bandwidth_fastest(&r->floor)) &&
           json_add_number(floor, "median_gb_per_s", 1e-9 * bandwidth_median(&r->floor)) &&
           json_add_number(row, "share", bench_share_of_median(r)) &&
           json_add_number(row, "share_fastest", bench_share_of_fastest(r));
}

static int32_t fill_memory(cJSON *object, const bench_memory *grown)
{
    return object && json_add_number(object, "array_bytes", (double)grown->arrays) &&
           json_add_number(object, "device_bytes", (double)grown->device) &&
           json_add_number(object, "resident_bytes", (double)grown->resident);
}

static int32_t add_rounds(cJSON *row, const bench_result *r)
{
    cJSON *list = cJSON_AddArrayToObject(row, "rounds");
    int32_t fine = list != NULL;
    for (int32_t i = 0; i < BENCH_ROUNDS && fine; i++) {
        const bench_round *round = &r->rounds[i];
        cJSON *object = json_append_object(list);
        fine = fill_memory(object, &round->grown) &&
               json_add_number(object, "median", round->median) &&
               json_add_number(object, "jitter", round->jitter) &&
               json_add_number(object, "peak_device_bytes", (double)round->peak_device) &&
               json_add_number(object, "peak_bytes", (double)round->peak_resident);
    }
    return fine;
}

static int32_t add_busy(cJSON *row, const bench_result *r)
{
    const bench_busy_stats *b = &r->busy;
    if (!b->processes)
        return json_add_null(row, "busy");
    cJSON *busy = cJSON_AddObjectToObject(row, "busy");
    return busy && json_add_number(busy, "processes", b->processes) &&
           json_add_number(busy, "samples", (double)b->stats.samples) &&
           json_add_item(busy, "call_seconds", tool_stats_json(&b->stats)) &&
           json_add_number(busy, "threads", b->threads) &&
           json_add_number(busy, "share", b->share) &&
           json_add_number(busy, "fair_seconds", bench_fair_seconds(r)) &&
           json_add_number(busy, "stolen", stolen_percent(&b->usage) / 100);
}

static int32_t add_device(cJSON *row, const tool_stats *s)
{
    return s->samples
               ? json_add_number(row, "device_samples", (double)s->samples) &&
                     json_add_item(row, "device_seconds", tool_stats_json(s))
               : json_add_null(row, "device_samples") && json_add_null(row, "device_seconds");
}

static int32_t add_measured(cJSON *row, const bench_result *r)
{
    const tool_stats *s = &r->stats;
    return json_add_number(row, "samples", (double)s->samples) &&
           json_add_number(row, "calls_per_sample", (double)s->calls_per_sample) &&
           add_device(row, &r->device) && json_add_item(row, "call_seconds", tool_stats_json(s)) &&
           json_add_number(row, "calls_per_second", 1 / s->median) &&
           json_add_number(row, "bytes", r->bytes) &&
           json_add_number(row, "gb_per_s", 1e-9 * r->bytes / s->median) &&
           json_add_number(row, "flops", r->flops) &&
           (r->flops > 0 ? json_add_number(row, "gflop_per_s", 1e-9 * r->flops / s->median)
                         : json_add_null(row, "gflop_per_s")) &&
           json_add_text(row, "bound", bench_bound(r->flops)) && add_floor(row, r) &&
           (r->ratio > 0 ? json_add_number(row, "ratio", r->ratio) : json_add_null(row, "ratio")) &&
           json_add_number(row, "stolen", stolen_percent(&r->usage) / 100) && add_busy(row, r) &&
           fill_memory(cJSON_AddObjectToObject(row, "memory_delta"), &r->grown) &&
           add_rounds(row, r);
}

int32_t bench_result_add(cJSON *list, const bench_result *r)
{
    cJSON *row = json_append_object(list);
    return row && json_add_text(row, "backend", r->choice) &&
           json_add_text(row, "signature", r->dtype) &&
           json_add_text(row, "status", collet_status_name(r->status)) &&
           json_add_text(row, "error", r->error) &&
           (r->status != COLLET_OK || add_measured(row, r));
}
