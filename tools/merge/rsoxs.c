/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_shards.c */
#include "rsoxs.h"

#include "common/output.h"
#include "rsoxs/scan.h"
#include "rsoxs/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int merge_is_rsoxs(const char *path)
{
    char *file;

    if (asprintf(&file, "%s/" RSOXS_WORK_FILE, path) < 0)
        return 0;
    int found = access(file, F_OK) == 0;
    free(file);
    return found;
}

/* Prints the directory in which the shards were started, if names in the file are relative to it. */
static void print_started(const rsoxs_work *work)
{
    char *here = getcwd(NULL, 0);
    int relative = *work->options.configuration != '/';

    for (int64_t i = 0; i < work->options.n_films; i++)
        relative |= *work->options.films[i] != '/';
    if (relative && here && strcmp(here, work->started) != 0)
        fprintf(
            stderr,
            "collet-merge: the shards were started in %s: their relative names of files may lead "
            "to other files from here; start collet-merge there\n",
            tool_shown(work->started));
    free(here);
}

int merge_rsoxs(const char *path, const char *directory, int quiet)
{
    rsoxs_work work;
    collet_error err;
    int result = TOOL_EXIT_FAILURE;

    if (rsoxs_work_read(&work, path, &err) == COLLET_OK) {
        work.options.directory = directory;
        work.options.quiet = quiet;
        result = rsoxs_scan(&work.options);
        if (result == TOOL_EXIT_FAILURE)
            print_started(&work);
    } else {
        tool_complain("collet-merge", err.text);
    }
    rsoxs_work_close(&work);
    return result;
}
