/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract: rotational observables of every frame of a trajectory. */
#include "report.h"

#include "common/interrupt.h"
#include "common/log.h"
#include "common/progress.h"

#include <stdio.h>
#include <string.h>

static int32_t show_progress(void *user, const collet_extraction_progress *p)
{
    tool_progress_update(user, p->frames, p->bytes, p->fraction);
    return tool_interrupt_signal();
}

static collet_extraction_options settings_of(const extract_options *options,
                                             tool_progress *progress)
{
    collet_extraction_options settings = {
        .struct_size = sizeof settings,
        .topology = options->topology,
        .trajectory = options->trajectory,
        .selection = options->selection,
        .masses = options->masses,
        .reference = options->reference,
        .keys = options->keys,
        .start = options->start,
        .stop = options->stop < 0 ? 0 : options->stop,
        .step = options->step,
        .backend = options->backend,
        .threads = options->threads,
        .batch_frames = options->batch,
        .progress = show_progress,
        .progress_user = progress,
        .program = "collet-extract",
        .log = tool_log,
        .log_user = (void *)(uintptr_t) "collet-extract",
        .command = (const char *const *)options->command,
    };

    memcpy(settings.axis, options->axis, sizeof settings.axis);
    return settings;
}

static collet_status extract(const extract_options *options, collet_extraction **extraction,
                             collet_error *err)
{
    tool_progress progress;
    collet_extraction_options settings = settings_of(options, &progress);
    collet_extraction_info info = {.struct_size = sizeof info};
    uint32_t flags = (options->directory != NULL ? COLLET_EXTRACTION_DIRECTORY : 0) |
                     (options->force ? COLLET_EXTRACTION_OVERWRITE : 0);
    collet_status status = collet_extraction_open(&settings, extraction, err);

    if (status != COLLET_OK)
        return status;
    collet_extraction_get_info(*extraction, &info);
    tool_progress_begin(&progress, "frames", info.bytes_total, options->quiet);
    status = collet_extraction_write(*extraction, options->path, flags, err);
    tool_progress_end(&progress);
    return status;
}

int main(int argc, char **argv)
{
    extract_options options;
    collet_extraction *extraction = NULL;
    collet_error err;
    int result = EXTRACT_EXIT_FAILURE;

    extract_options_parse(argc, argv, &options);
    if (collet_extraction_check_selection(options.selection, &err) != COLLET_OK) {
        extract_complain(err.text);
        extract_options_free(&options);
        return EXTRACT_EXIT_USAGE;
    }
    tool_interrupt_install();
    if (extract(&options, &extraction, &err) == COLLET_OK) {
        result = extract_report(extraction, &options);
    } else if (err.status == COLLET_CANCELLED) {
        fprintf(stderr, "collet-extract: %s; nothing was written\n",
                strsignal(tool_interrupt_signal()));
        result = 128 + tool_interrupt_signal();
    } else {
        extract_complain(err.text);
    }
    collet_extraction_close(extraction);
    extract_options_free(&options);
    return result;
}
