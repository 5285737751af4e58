/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_against.c */
#include "report.h"

#include "common/json_add.h"
#include "common/size.h"

#include <stdio.h>
#include <string.h>

static const char *const state_names[] = {[REFERENCE_RUNS] = "measured",
                                          [REFERENCE_SLOW] = "slower",
                                          [REFERENCE_ABSENT] = "absent",
                                          [REFERENCE_DEAD] = "failed"};

/* Operations a second where they bound the call, else bytes a second. */
static double rate(const against_result *r, const tool_stats *s)
{
    return 1e-9 * (r->own.flops > 0 ? r->own.flops : r->own.bytes) / s->median;
}

/* Collet's speed as a multiple of reference i's, by medians. */
static double ratio_of(const against_result *r, int32_t i)
{
    return r->stats[i].median / r->own.stats.median;
}

/* The same, by the fastest calls. */
static double ratio_of_fastest(const against_result *r, int32_t i)
{
    return r->stats[i].min / r->own.stats.min;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void print_name(const reference_process *p)
{
    const char *file = p->file ? strrchr(p->file, '/') : NULL;
    char name[64];
    file = file ? file + 1 : p->file ? p->file : p->library->name;
    snprintf(name, sizeof name, "%.17s%s%s", strncmp(file, "lib", 3) ? file : file + 3,
             p->value ? " " : "", p->value ? p->value : "");
    printf("%-26s", name);
}

static void print_reference(const against_result *r, int32_t i)
{
    const reference_process *p = &r->references[i];
    print_name(p);
    if (p->state == REFERENCE_ABSENT || p->state == REFERENCE_DEAD) {
        printf(" %s: %s\n", state_names[p->state], p->text);
        return;
    }
    printf(" %11.4f %11.4f %9.2f %7.3f %7.3f  %s%s\n", 1e3 * r->stats[i].median,
           1e3 * r->stats[i].min, rate(r, &r->stats[i]), ratio_of(r, i), ratio_of_fastest(r, i),
           p->text, p->state == REFERENCE_SLOW ? " (one round)" : "");
}

static void print_memory(const bench_result *r)
{
    if (!r->floor.strategy)
        return;
    printf("%-26s %11s %11s %9.2f %7.3f %7.3f  %s\n", "the machine's memory", "", "",
           1e-9 * bandwidth_median(&r->floor), bench_share_of_median(r), bench_share_of_fastest(r),
           bandwidth_kind_name(r->floor.strategy->kind));
}

void against_print(const bench_session *s, const against_result *r)
{
    char shape[BENCH_SHAPE_TEXT];
    printf("%s %s %s; %s, %d thread%s\n", r->layout->row->name, r->layout->signature,
           bench_shape_text(r->layout->shape.count, r->layout->shape.extents, shape),
           s->machine.cpu, (int)s->machine.threads, tool_plural(s->machine.threads));
    printf("%-26s %11s %11s %9s %7s %7s\n", "", "median ms", "fastest ms",
           r->own.flops > 0 ? "GF/s" : "GB/s", "ratio", "fastest");
    if (r->own.status == COLLET_OK)
        printf("%-26s %11.4f %11.4f %9.2f\n", r->backend ? r->backend : r->own.choice,
               1e3 * r->own.stats.median, 1e3 * r->own.stats.min, rate(r, &r->own.stats));
    else
        printf("%-26s %s\n", r->own.choice, collet_status_text(r->own.status));
    for (int32_t i = 0; i < r->count && r->own.status == COLLET_OK; i++)
        print_reference(r, i);
    if (r->own.status == COLLET_OK)
        print_memory(&r->own);
    if (r->own.status == COLLET_OK && r->best >= 0) {
        print_name(&r->references[r->best]);
        printf(" is the fastest library; Collet has %.3f of its speed (fastest calls %.3f)\n",
               ratio_of(r, r->best), ratio_of_fastest(r, r->best));
    }
    putchar('\n');
    (void)fflush(stdout); /* the next row takes seconds; main reports errors of the stream */
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static int32_t add_value(cJSON *row, const char *value)
{
    return value ? json_add_text(row, "setting", value) : json_add_null(row, "setting");
}

static int32_t add_file(cJSON *row, const reference_process *p)
{
    return p->file ? json_add_text(row, "file", p->file) : json_add_null(row, "file");
}

static int32_t add_figures(cJSON *row, const against_result *r, const tool_stats *s)
{
    return json_add_number(row, "samples", (double)s->samples) &&
           json_add_number(row, "calls_per_sample", (double)s->calls_per_sample) &&
           json_add_item(row, "call_seconds", tool_stats_json(s)) &&
           json_add_number(row, r->own.flops > 0 ? "gflop_per_s" : "gb_per_s", rate(r, s));
}

static int32_t add_reference(cJSON *list, const against_result *r, int32_t i)
{
    const reference_process *p = &r->references[i];
    cJSON *row = json_append_object(list);
    int32_t measured = p->state == REFERENCE_RUNS || p->state == REFERENCE_SLOW;
    return row && json_add_text(row, "library", p->library->name) && add_value(row, p->value) &&
           add_file(row, p) && json_add_text(row, "state", state_names[p->state]) &&
           json_add_text(row, "text", p->text) &&
           (!measured ||
            (add_figures(row, r, &r->stats[i]) && json_add_number(row, "ratio", ratio_of(r, i)) &&
             json_add_number(row, "ratio_fastest", ratio_of_fastest(r, i))));
}

static int32_t add_best(cJSON *row, const against_result *r)
{
    if (r->best < 0)
        return json_add_null(row, "best");
    cJSON *best = cJSON_AddObjectToObject(row, "best");
    const reference_process *p = &r->references[r->best];
    return best && json_add_text(best, "library", p->library->name) && add_value(best, p->value) &&
           add_file(best, p) && json_add_number(best, "ratio", ratio_of(r, r->best)) &&
           json_add_number(best, "ratio_fastest", ratio_of_fastest(r, r->best));
}

static int32_t add_memory(cJSON *row, const bench_result *r)
{
    if (!r->floor.strategy)
        return json_add_null(row, "memory");
    cJSON *memory = cJSON_AddObjectToObject(row, "memory");
    return memory && json_add_text(memory, "kind", bandwidth_kind_name(r->floor.strategy->kind)) &&
           json_add_number(memory, "gb_per_s", 1e-9 * bandwidth_fastest(&r->floor)) &&
           json_add_number(memory, "median_gb_per_s", 1e-9 * bandwidth_median(&r->floor)) &&
           json_add_number(memory, "ratio", bench_share_of_median(r)) &&
           json_add_number(memory, "ratio_fastest", bench_share_of_fastest(r));
}

static int32_t add_measured(cJSON *row, const against_result *r)
{
    int32_t fine =
        add_figures(row, r, &r->own.stats) && add_memory(row, &r->own) && add_best(row, r);
    cJSON *libraries = fine ? cJSON_AddArrayToObject(row, "libraries") : NULL;
    fine = libraries != NULL;
    for (int32_t i = 0; i < r->count && fine; i++)
        fine = add_reference(libraries, r, i);
    return fine;
}

int32_t against_add(cJSON *list, const against_result *r)
{
    double extents[BENCH_EXTENTS_MAX];
    cJSON *row = json_append_object(list);
    for (int32_t i = 0; i < r->layout->shape.count; i++)
        extents[i] = (double)r->layout->shape.extents[i];
    return row && json_add_text(row, "op", r->layout->op.name) &&
           json_add_text(row, "signature", r->layout->signature) &&
           json_add_item(row, "shape", cJSON_CreateDoubleArray(extents, r->layout->shape.count)) &&
           json_add_number(row, "axes", r->layout->axes) &&
           json_add_text(row, "backend", r->backend ? r->backend : r->own.choice) &&
           json_add_text(row, "status", collet_status_name(r->own.status)) &&
           json_add_text(row, "error", r->own.error) &&
           (r->own.status != COLLET_OK || add_measured(row, r));
}
