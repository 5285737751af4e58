/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_shards.c */
#include "rsoxs.h"

#include "common/colour.h"

#include "io/decimal.h"
#include "rsoxs/films.h"
#include "rsoxs/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX (64 << 20) /* of the file: a million films */

int merge_is_rsoxs(const char *path)
{
    char *file;

    if (asprintf(&file, "%s/" RSOXS_SHARDS_FILE, path) < 0)
        return 0;
    int found = access(file, F_OK) == 0;
    free(file);
    return found;
}

/* The file's bytes, which end in a NUL. */
static collet_status read_work(const char *path, char **text, size_t *length, collet_error *err)
{
    FILE *file = fopen(path, "re");

    if (!file)
        return collet_fail(err, COLLET_IO, "%s: %s", path, strerror(errno));
    *text = malloc(BYTES_MAX);
    *length = *text ? fread(*text, 1, BYTES_MAX, file) : 0;
    collet_status status = COLLET_OK;
    if (!*text)
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    else if (ferror(file))
        status = collet_fail(err, COLLET_IO, "%s: cannot be read", path);
    else if (*length == 0 || *length == BYTES_MAX || (*text)[*length - 1] != '\0')
        status = collet_fail(err, COLLET_FORMAT, "%s: not a file of collet-rsoxs --shard", path);
    fclose(file);
    return status;
}

static collet_status parse_work(const char *path, char *text, size_t length, rsoxs_options *options,
                                collet_error *err)
{
    int64_t shards, count = 0;

    for (size_t i = 0; i < length; i++)
        count += text[i] == '\0';
    if (!io_decimal_parse_integer(text, strlen(text), &shards) || shards < 1 ||
        shards > TOOL_SHARDS)
        return collet_fail(err, COLLET_FORMAT, "%s: '%.40s' is not a number of shards", path, text);
    char **argv = calloc((size_t)count + 1, sizeof *argv);
    if (!argv)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    char *at = text;
    for (int64_t i = 0; i < count; i++, at += strlen(at) + 1)
        argv[i] = i ? at : (char *)"collet-rsoxs";
    rsoxs_options_parse((int)count, argv, options);
    options->merge = shards;
    options->resume = 1;
    free(argv);
    return COLLET_OK;
}

int merge_rsoxs(const char *path, int quiet)
{
    char *file = NULL, *text = NULL;
    size_t length = 0;
    rsoxs_options options = {.n_words = 0};
    collet_error err;
    int result = TOOL_EXIT_FAILURE;
    collet_status status = asprintf(&file, "%s/" RSOXS_SHARDS_FILE, path) < 0
                               ? collet_fail(&err, COLLET_NO_MEMORY, "out of memory")
                               : read_work(file, &text, &length, &err);

    if (status == COLLET_OK)
        status = parse_work(file, text, length, &options, &err);
    if (status == COLLET_OK) {
        options.quiet = quiet;
        result = rsoxs_scan(&options);
    } else {
        tool_complain("collet-merge", err.text);
    }
    rsoxs_options_free(&options);
    free(text);
    free(file);
    return result;
}
