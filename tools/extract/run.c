/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_options.c, tests/tools/test_shards.c */
#include "run.h"

#include "common/directory.h"
#include "common/interrupt.h"
#include "plot.h"

#include <unistd.h>

static int32_t show_progress(void *user, const collet_progress *p)
{
    if (p->stage)
        tool_progress_text(user, p->stage);
    else
        tool_progress_update(user, p->done, (int64_t)p->bytes, p->fraction);
    return tool_interrupt_signal();
}

/* Writes the results, and draws them if the options request pictures. */
static collet_status write_all(const extract_options *options, collet_trajectory *trajectory,
                               uint32_t flags, collet_error *err)
{
    extract_series series;
    collet_error own;

    if (options->plot == NULL)
        return collet_trajectory_write(trajectory, options->path, flags, err);
    int made;
    collet_status status = extract_plot_check(trajectory, options->plot, options->force, err);
    if (status == COLLET_OK) /* tried before the work, which may take hours */
        status = tool_make_directory(options->plot, &made, err);
    if (status != COLLET_OK)
        return status;
    status = extract_series_create(&series, trajectory, err);
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
    if (status != COLLET_OK && made)
        rmdir(options->plot); /* which keeps pictures */
    return status;
}

static void take_calls(collet_trajectory_options *settings, tool_progress *progress)
{
    settings->progress = show_progress;
    settings->progress_user = progress;
    settings->log = tool_log;
    settings->log_user = progress;
}

static collet_status run(const extract_options *options, const collet_trajectory_options *settings,
                         tool_progress *progress, collet_trajectory **trajectory, collet_error *err)
{
    collet_trajectory_info info = {.struct_size = sizeof info};
    uint32_t flags = (options->directory ? COLLET_TRAJECTORY_DIRECTORY : 0) |
                     (options->force ? COLLET_TRAJECTORY_OVERWRITE : 0) |
                     (options->resume ? COLLET_TRAJECTORY_RESUME : 0);

    tool_progress_begin(progress, "collet-extract", "frames", stderr, options->quiet);
    collet_status status = collet_trajectory_create(trajectory, settings, err);
    if (status != COLLET_OK)
        return status;
    collet_trajectory_get_info(*trajectory, &info);
    progress->expected = (int64_t)info.bytes_total;
    status = write_all(options, *trajectory, flags, err);
    tool_progress_end(progress);
    return status;
}

collet_status extract_run(const extract_options *options, tool_progress *progress,
                          collet_trajectory **trajectory, collet_error *err)
{
    collet_trajectory_options settings = options->settings;

    take_calls(&settings, progress);
    return run(options, &settings, progress, trajectory, err);
}

collet_status extract_merge(const extract_options *options, const char *shards,
                            tool_progress *progress, collet_trajectory **trajectory,
                            collet_error *err)
{
    collet_trajectory_options settings = {.struct_size = sizeof settings,
                                          .parts = &shards,
                                          .n_parts = 1,
                                          .context = options->settings.context,
                                          .backend = options->settings.backend,
                                          .threads = options->settings.threads};

    take_calls(&settings, progress);
    return run(options, &settings, progress, trajectory, err);
}
