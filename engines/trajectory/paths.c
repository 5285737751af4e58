/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int same_file(const char *a, const char *b)
{
    struct stat first, second;

    return b != NULL && stat(a, &first) == 0 && stat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static collet_status check(const extract_settings *settings, const char *path, uint32_t flags,
                           collet_error *err)
{
    const char *inputs[] = {settings->topology, settings->trajectory, settings->masses,
                            settings->reference};
    struct stat facts;

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (same_file(path, inputs[i]))
            return collet_fail(err, COLLET_INVALID,
                               "the output %s would replace the input %s; choose another name",
                               path, inputs[i]);
    if (!(flags & COLLET_EXTRACTION_OVERWRITE) && lstat(path, &facts) == 0)
        return collet_fail(err, COLLET_IO,
                           "%s exists already, perhaps from another trajectory: choose another "
                           "name, or replace it (collet-extract --force, "
                           "COLLET_EXTRACTION_OVERWRITE)",
                           path);
    return COLLET_OK;
}

collet_status extract_paths_check(const extract_settings *settings, const char *output,
                                  uint32_t flags, char **meta, collet_error *err)
{
    int directory = (flags & COLLET_EXTRACTION_DIRECTORY) != 0, length = (int)strlen(output);
    collet_status status = COLLET_OK;

    *meta = NULL;
    if (!directory) {
        length -= (int)strlen(".npz");
        if (length < 1 || strcmp(output + length, ".npz") != 0)
            return collet_fail(err, COLLET_INVALID,
                               "the output %s is an .npz file, whatever it is called: give it a "
                               "name that ends in .npz",
                               output);
    }
    if (asprintf(meta, "%.*s%s", length, output, directory ? "/meta.json" : ".meta.json") < 0) {
        *meta = NULL;
        return collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    }
    if (!directory)
        status = check(settings, output, flags, err);
    if (status == COLLET_OK)
        status = check(settings, *meta, flags, err);
    if (status == COLLET_OK)
        return COLLET_OK;
    free(*meta);
    *meta = NULL;
    return status;
}
