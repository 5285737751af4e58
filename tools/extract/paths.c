/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <stdio.h>
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

/* Length of a path without the extension of its last part. */
static size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
}

static char *default_output(const char *trajectory)
{
    const char *slash = strrchr(trajectory, '/');
    const char *name = slash != NULL ? slash + 1 : trajectory;

    return join(name, stem_length(name), ".npz");
}

static char *meta_of(const extract_options *options, const char *output)
{
    size_t length = strlen(output);

    if (options->directory != NULL)
        return join(output, length, "/meta.json");
    if (length > 4 && strcmp(output + length - 4, ".npz") == 0)
        length -= 4;
    return join(output, length, ".meta.json");
}

static int same_file(const char *a, const char *b)
{
    struct stat first, second;

    return b != NULL && stat(a, &first) == 0 && stat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static collet_status check(const extract_options *options, const char *path, collet_error *err)
{
    const char *inputs[] = {options->topology, options->trajectory, options->masses,
                            options->reference};

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (same_file(path, inputs[i]))
            return collet_fail(err, COLLET_INVALID,
                               "the output %s would replace the input %s; choose another with -o",
                               path, inputs[i]);
    return COLLET_OK;
}

collet_status extract_paths_output(const extract_options *options, char **output, char **meta,
                                   collet_error *err)
{
    collet_status status;

    *meta = NULL;
    if (options->directory != NULL)
        *output = join(options->directory, strlen(options->directory), "");
    else if (options->output != NULL)
        *output = join(options->output, strlen(options->output), "");
    else
        *output = default_output(options->trajectory);
    if (*output != NULL)
        *meta = meta_of(options, *output);
    if (*meta == NULL)
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    else if ((status = check(options, *output, err)) == COLLET_OK)
        status = check(options, *meta, err);
    if (status != COLLET_OK) {
        free(*output);
        free(*meta);
        *output = *meta = NULL;
    }
    return status;
}
