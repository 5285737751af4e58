/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *join(const char *text, size_t length, const char *tail)
{
    char *joined = malloc(length + strlen(tail) + 1);

    if (joined != NULL) {
        memcpy(joined, text, length);
        strcpy(joined + length, tail);
    }
    return joined;
}

static char *meta_of(const char *output, uint32_t flags)
{
    size_t length = strlen(output);

    if (flags & COLLET_EXTRACTION_DIRECTORY)
        return join(output, length, "/meta.json");
    return join(output, length - strlen(".npz"), ".meta.json");
}

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

static int ends_in_npz(const char *path)
{
    size_t length = strlen(path);

    return length > 4 && strcmp(path + length - 4, ".npz") == 0;
}

collet_status extract_paths_check(const extract_settings *settings, const char *output,
                                  uint32_t flags, char **meta, collet_error *err)
{
    collet_status status = COLLET_OK;

    *meta = NULL;
    if (!(flags & COLLET_EXTRACTION_DIRECTORY) && !ends_in_npz(output))
        return collet_fail(err, COLLET_INVALID,
                           "the output %s is an .npz file, whatever it is called: give it a name "
                           "that ends in .npz",
                           output);
    *meta = meta_of(output, flags);
    if (*meta == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    if (!(flags & COLLET_EXTRACTION_DIRECTORY))
        status = check(settings, output, flags, err);
    if (status == COLLET_OK)
        status = check(settings, *meta, flags, err);
    if (status == COLLET_OK)
        return COLLET_OK;
    free(*meta);
    *meta = NULL;
    return status;
}
