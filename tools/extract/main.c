/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract: rotational observables of every frame of a trajectory.
 * Tests: tests/tools/test_extract_options.c, tests/tools/test_extract_errors.c */
#include "plot.h"
#include "report.h"

#include "common/interrupt.h"
#include "common/progress.h"

#include <stdio.h>
#include <string.h>

static int32_t show_progress(void *user, const collet_trajectory_progress *p)
{
    tool_progress_update(user, p->frames, p->bytes, p->fraction);
    return tool_interrupt_signal();
}

/* Writes the results, and draws them where that was asked for. */
static collet_status write_all(const extract_options *options, collet_trajectory *trajectory,
                               uint32_t flags, collet_error *err)
{
    extract_series series;
    collet_error own;

    if (options->plot == NULL)
        return collet_trajectory_write(trajectory, options->path, flags, err);
    collet_status status = extract_series_create(&series, trajectory, err);
    collet_trajectory_watch(trajectory, extract_series_take, &series);
    if (status == COLLET_OK)
        status = collet_trajectory_write(trajectory, options->path, flags, err);
    if (status == COLLET_OK) {
        extract_series_end(&series);
        status = extract_plot(&series, options->plot, options->force, &own);
        if (status != COLLET_OK)
            collet_fail(err, status, "%s; the results are complete in %s", own.text, options->path);
    }
    collet_trajectory_watch(trajectory, NULL, NULL);
    extract_series_free(&series);
    return status;
}

/* The trajectory logs to *progress until it is closed. */
static collet_status extract(extract_options *options, tool_progress *progress,
                             collet_trajectory **trajectory, collet_error *err)
{
    collet_trajectory_options *settings = &options->settings;
    collet_trajectory_info info = {.struct_size = sizeof info};
    uint32_t flags = (options->directory != NULL ? COLLET_TRAJECTORY_DIRECTORY : 0) |
                     (options->force ? COLLET_TRAJECTORY_OVERWRITE : 0);
    collet_status status;

    settings->progress = show_progress;
    settings->progress_user = progress;
    settings->log = tool_log;
    settings->log_user = progress;
    tool_progress_begin(progress, "collet-extract", stderr, options->quiet);
    status = collet_trajectory_create(trajectory, settings, err);
    if (status != COLLET_OK)
        return status;
    collet_trajectory_get_info(*trajectory, &info);
    progress->unit = "frames";
    progress->expected = info.bytes_total;
    status = write_all(options, *trajectory, flags, err);
    tool_progress_end(progress);
    return status;
}

int main(int argc, char **argv)
{
    extract_options options;
    collet_trajectory *trajectory = NULL;
    tool_progress progress;
    collet_error err;
    int result = EXTRACT_EXIT_FAILURE;

    extract_options_parse(argc, argv, &options);
    if (collet_trajectory_check_selection(options.settings.selection, &err) != COLLET_OK) {
        extract_complain(err.text);
        extract_options_free(&options);
        return EXTRACT_EXIT_USAGE;
    }
    tool_interrupt_install();
    if (extract(&options, &progress, &trajectory, &err) == COLLET_OK) {
        result = extract_report(trajectory, &options);
    } else if (err.status == COLLET_CANCELLED) {
        fprintf(stderr, "collet-extract: %s; nothing was written\n",
                strsignal(tool_interrupt_signal()));
        result = 128 + tool_interrupt_signal();
    } else {
        extract_complain(err.text);
    }
    collet_trajectory_destroy(trajectory);
    extract_options_free(&options);
    return result;
}
