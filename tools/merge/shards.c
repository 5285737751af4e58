/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "shards.h"
#include "rsoxs.h"

#include "common/arguments.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "common/progress.h"

#include <collet/trajectory.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char ending[] = ".shards";

/* Returns the length of a path without ".shards"; 0 if the path has no such ending. */
static size_t stem_of(const char *path)
{
    size_t length = strlen(path), n = sizeof ending - 1;

    while (length > 1 && path[length - 1] == '/')
        length--;
    return length > n && memcmp(path + length - n, ending, n) == 0 ? length - n : 0;
}

int merge_is_shards(const char *path)
{
    struct stat facts;

    if (!path)
        return 0;
    return stat(path, &facts) == 0 ? S_ISDIR(facts.st_mode) : stem_of(path) > 0;
}

static int32_t show_progress(void *user, const collet_progress *p)
{
    tool_progress_update(user, p->done, (int64_t)p->bytes, p->fraction);
    return tool_interrupt_signal();
}

/* Returns the name that collet-extract would write; NULL if there is none. The caller frees the name. */
static char *choose_output(const merge_options *options)
{
    size_t length = stem_of(options->paths[0]);

    if (options->output)
        return strdup(options->output);
    return length > 0 ? strndup(options->paths[0], length) : NULL;
}

static int report(const collet_trajectory *trajectory, const merge_options *options)
{
    collet_trajectory_info info = {.struct_size = sizeof info};
    const char *text;

    collet_trajectory_get_info(trajectory, &info);
    for (size_t i = 0; (text = collet_trajectory_warning_at(trajectory, i)) != NULL; i++)
        tool_warn("collet-merge", text);
    if (!options->quiet)
        printf("%s: %lld frame%s in %.2f s\n", tool_shown(info.output), (long long)info.frames,
               tool_plural(info.frames), info.seconds);
    if (!tool_flush("collet-merge", "the results and the meta file are complete"))
        return 1;
    return info.truncated ? TOOL_EXIT_INCOMPLETE : TOOL_EXIT_OK;
}

static int report_complete(const merge_options *options)
{
    if (!options->quiet)
        printf("%s: all shards are there\n", tool_shown(options->paths[0]));
    return tool_flush("collet-merge", NULL) ? TOOL_EXIT_OK : TOOL_EXIT_FAILURE;
}

static int merge(const merge_options *options, const char *output, tool_progress *progress,
                 collet_trajectory **trajectory)
{
    collet_trajectory_options settings = {.struct_size = sizeof settings,
                                          .parts = options->paths,
                                          .n_parts = 1,
                                          .progress = show_progress,
                                          .progress_user = progress,
                                          .log = tool_log,
                                          .log_user = progress};
    uint32_t flags = (tool_form_of(output) == TOOL_FORM_FILE ? 0 : COLLET_TRAJECTORY_DIRECTORY) |
                     (options->force ? COLLET_TRAJECTORY_OVERWRITE : 0);
    collet_error err;

    tool_progress_begin(progress, "collet-merge", "frames", stderr, options->quiet);
    collet_status status = collet_trajectory_create(trajectory, &settings, &err);
    if (status == COLLET_OK && options->check) {
        tool_progress_end(progress);
        return report_complete(options);
    }
    if (status == COLLET_OK)
        status = collet_trajectory_write(*trajectory, output, flags, &err);
    tool_progress_end(progress);
    if (status == COLLET_OK)
        return report(*trajectory, options);
    if (status == COLLET_CANCELLED) {
        fprintf(stderr, "collet-merge: %s; nothing was written\n",
                strsignal(tool_interrupt_signal()));
        return 128 + tool_interrupt_signal();
    }
    tool_complain("collet-merge", err.text);
    return tool_exit_of_files(status);
}

int merge_shards(const merge_options *options)
{
    collet_trajectory *trajectory = NULL;
    tool_progress progress;
    char *output = choose_output(options);
    int result = 1;

    tool_interrupt_install();
    if (!output)
        fprintf(stderr, "collet-merge: %s: its name does not end in .shards: %s\n",
                tool_shown(options->paths[0]),
                merge_is_rsoxs(options->paths[0])
                    ? "give it the name of the directory of the patterns "
                      "with .shards"
                    : "name the file to write, -o OUT");
    else if (merge_is_rsoxs(options->paths[0]))
        result = merge_rsoxs(options->paths[0], output, options->quiet);
    else
        result = merge(options, output, &progress, &trajectory);
    collet_trajectory_destroy(trajectory);
    free(output);
    return result;
}
