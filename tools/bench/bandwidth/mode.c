/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench bandwidth: every strategy of moving memory, and the fastest of each kind.
 * Tests: tests/tools/test_bench.c */
#include "bandwidth.h"
#include "bench/base/shape.h"
#include "bench/base/modes.h"

#include "common/json_add.h"

#include <stdio.h>

typedef struct listing {
    bench_session *session;
    cJSON *tried; /* NULL: rows are printed */
    int32_t failed;
} listing;

static void print_figure(const bandwidth_figure *f, const char *mark)
{
    printf("%-6s %-32s %7d %9.2f %9.2f %9.2f  %s\n", bandwidth_kind_name(f->strategy->kind),
           f->strategy->name, (int)f->threads, 1e-9 * bandwidth_fastest(f),
           1e-9 * bandwidth_median(f), 1e3 * f->stats.median, mark);
}

static int32_t fill_figure(cJSON *object, const bandwidth_figure *f)
{
    return object && json_add_text(object, "kind", bandwidth_kind_name(f->strategy->kind)) &&
           json_add_text(object, "strategy", f->strategy->name) &&
           json_add_number(object, "threads", f->threads) &&
           json_add_number(object, "bytes", f->bytes) &&
           json_add_number(object, "samples", (double)f->stats.samples) &&
           json_add_number(object, "gb_per_s", 1e-9 * bandwidth_fastest(f)) &&
           json_add_number(object, "median_gb_per_s", 1e-9 * bandwidth_median(f)) &&
           json_add_item(object, "call_seconds", tool_stats_json(&f->stats));
}

static void see(void *user, const bandwidth_figure *figure)
{
    listing *l = user;
    if (l->tried) {
        l->failed |= !fill_figure(json_append_object(l->tried), figure);
        return;
    }
    tool_progress_end(&l->session->progress);
    print_figure(figure, "");
}

static void print_head(const bench_bandwidth *b)
{
    printf("buffers of %.0f MB, %s, 1e9 bytes a second: the fastest pass, and the median; a copy "
           "counts both ways\n"
           "%-6s %-32s %7s %9s %9s %9s\n",
           1e-6 * (double)b->bytes, b->table->level, "", "strategy", "threads", "GB/s", "median",
           "ms");
}

static int run_mode(bench_session *s)
{
    bench_bandwidth b;
    collet_error err;
    bench_shape shape = {.count = 1};
    listing l = {.session = s};

    if (s->options->shape && (!bench_shape_parse(s->options->shape, &shape) || shape.count != 1))
        return bench_complain(COLLET_INVALID, "bandwidth: the shape is a number of bytes (240M)");
    collet_status status = bench_bandwidth_open(&b, &s->machine, (size_t)shape.extents[0], &err);
    if (status != COLLET_OK)
        return bench_complain(status, err.text);
    if (s->report) {
        l.tried = cJSON_AddArrayToObject(s->report, "tried");
        l.failed = !l.tried || !json_add_number(s->report, "buffer_bytes", (double)b.bytes) ||
                   !json_add_text(s->report, "level", b.table->level);
    } else {
        print_head(&b);
    }
    for (stream_kind kind = 0; kind < STREAM_KINDS && !l.failed; kind++) {
        bench_session_show(s, "bandwidth: %s", bandwidth_kind_name(kind));
        bench_bandwidth_choose(&b, kind, s->options->seconds, see, &l);
        tool_progress_end(&s->progress);
    }
    cJSON *best = s->report && !l.failed ? cJSON_AddArrayToObject(s->report, "results") : NULL;
    for (stream_kind kind = 0; kind < STREAM_KINDS && !l.failed; kind++) {
        if (!s->report)
            print_figure(&b.best[kind], "fastest");
        else if (!fill_figure(json_append_object(best), &b.best[kind]))
            l.failed = 1;
    }
    bench_bandwidth_close(&b);
    return l.failed ? bench_out_of_memory() : TOOL_EXIT_OK;
}

const bench_mode bench_mode_bandwidth = {
    .name = "bandwidth",
    .summary = "measure how fast memory is read, written and copied",
    .no_backend = 1,
    .options = "shape threads seconds",
    .run = run_mode,
};
