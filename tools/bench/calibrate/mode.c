/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench calibrate: measures the implementations among which libcore and the backends choose on this machine,
 * and stores the results for later runs.
 * Tests: tests/tools/test_bench_calibrate.c */
#include "bench/base/modes.h"
#include "cores.h"
#include "ways.h"

#include "common/json_add.h"
#include "common/output.h"
#include "common/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 60.0
#define CORES_SHARE 0.1
#define WAYS_SHARE 0.25 /* at most this part of the time is for ways of products and decompositions */

/* Writes the document, and adds it to the report even if writing failed. Returns an exit status. */
static int keep(bench_session *s, const calibrated *c, cJSON *list)
{
    char path[4096] = "", *text = cJSON_PrintUnformatted(c->now);
    collet_error err;
    collet_status status = text ? COLLET_OK : COLLET_NO_MEMORY;
    if (!text)
        collet_fail(&err, status, "out of memory for the calibration");
    if (status == COLLET_OK && !s->options->dry_run)
        status = collet_calibration_write(s->runtime, path, sizeof path, c->name, text, &err);
    free(text);
    int result = status == COLLET_OK ? TOOL_EXIT_OK : bench_complain(status, err.text);
    if (!s->report) {
        if (*path)
            printf("%s: %s\n", c->name, tool_shown(path));
        return result;
    }
    cJSON *row = json_append_object(list);
    return row && json_add_text(row, "backend", c->name) && json_add_text(row, "path", path) &&
                   json_add_item(row, "calibration", cJSON_Duplicate(c->now, 1))
               ? result
               : bench_out_of_memory();
}

/* 1 if the result can be written. This is checked before a minute is spent on measurements. */
static int can_keep(const calibration_run *run)
{
    collet_error err;
    for (int32_t b = 0; b < run->count && !run->session->options->dry_run; b++) {
        collet_status status = collet_calibration_write(run->session->runtime, NULL, 0,
                                                        run->backends[b].name, NULL, &err);
        if (status != COLLET_OK)
            return bench_complain(status, err.text);
    }
    return TOOL_EXIT_OK;
}

/* Warns if a setting prevents libcore from using the documents that were written. */
static void warn_if_unused(const collet_runtime *runtime)
{
    collet_setting s = {.struct_size = sizeof s};
    for (size_t i = 0; collet_setting_at(runtime, &s, i, NULL) == COLLET_OK; i++)
        if ((!strcmp(s.key, "calibration") || !strcmp(s.key, "measure")) && !strcmp(s.value, "off"))
            fprintf(stderr, "backend-bench: the setting %s is off: the calibration is not used\n",
                    s.key);
}

static int conclude(calibration_run *run)
{
    bench_session *s = run->session;
    cJSON *list = s->report ? cJSON_AddArrayToObject(s->report, "results") : NULL;
    int result = TOOL_EXIT_OK;
    if ((s->report && !list) || !calibrate_changes(run, s->report) ||
        !calibrate_ways_changes(run, s->report))
        return bench_out_of_memory();
    if (run->measured < run->possible)
        fprintf(stderr,
                "backend-bench: the time was enough for %d of %d ops and dtypes; --seconds gives "
                "more\n",
                (int)run->measured, (int)run->possible);
    for (int32_t b = 0; b < run->count; b++) {
        int failed = keep(s, &run->backends[b], list);
        result = failed ? failed : result;
    }
    if (!s->options->dry_run)
        warn_if_unused(s->runtime);
    return result;
}

static int run_mode(bench_session *s)
{
    collet_error err;
    calibration_run run = {.session = s, .end = tool_now() + s->options->seconds};
    int result = TOOL_EXIT_OK;
    collet_status status = calibrate_choose(&run, &err);
    if (status == COLLET_OK)
        status = calibrate_begin(&run, &err);
    if (status != COLLET_OK)
        result = bench_complain(status, err.text);
    else if (!run.count)
        result = bench_complain(COLLET_INVALID, "calibrate: name backends, without devices");
    else if (s->options->check)
        result = calibrate_check(&run);
    else
        result = can_keep(&run);
    if (result == TOOL_EXIT_OK && !s->options->check &&
        (!calibrate_cores(&run, CORES_SHARE * s->options->seconds, s->report) ||
         !calibrate_ways(&run, tool_now() + WAYS_SHARE * s->options->seconds) ||
         !calibrate_transfers(&run) || !calibrate_times(&run)))
        result = bench_out_of_memory();
    tool_progress_end(&s->progress);
    if (result == TOOL_EXIT_OK && !s->options->check)
        result = conclude(&run);
    calibrate_end(&run);
    return result;
}

const bench_mode bench_mode_calibrate = {
    .name = "calibrate",
    .summary = "measure what is fastest on this machine, and keep it",
    .takes_names = 1,
    .options = "dtype backend threads seconds dry-run check",
    .seconds = SECONDS,
    .run = run_mode,
};
