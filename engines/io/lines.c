/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_io_trajectory.c,
 * tests/fuzz/fuzz_trajectory.c */
#include "lines.h"

#include <string.h>

#define USUAL_LINE ((size_t)512)

/* Returns up to `max_bytes` bytes, from the beginning of the next line on. */
static collet_status look(const io_lines *lines, size_t max_bytes, const char **text, size_t *n,
                          collet_error *err)
{
    int64_t rest = lines->source->size - lines->offset;
    const uint8_t *bytes = NULL;
    collet_status status = COLLET_OK;

    *n = rest < (int64_t)max_bytes ? (size_t)rest : max_bytes;
    if (*n > 0)
        status = io_source_view(lines->source, lines->offset, *n, &bytes, err);
    *text = (const char *)bytes;
    return status;
}

collet_status io_lines_next(io_lines *lines, const char **text, size_t *length, collet_error *err)
{
    size_t n;

    collet_status status = look(lines, USUAL_LINE, text, &n, err);
    if (status != COLLET_OK || n == 0)
        return status;
    const char *end = memchr(*text, '\n', n);
    if (!end && n == USUAL_LINE) {
        status = look(lines, IO_SOURCE_VIEW, text, &n, err);
        if (status != COLLET_OK)
            return status;
        end = memchr(*text, '\n', n);
        if (!end && n == IO_SOURCE_VIEW)
            return collet_fail(err, COLLET_FORMAT, "%s:%lld: the line is longer than %zu bytes",
                               lines->source->path, (long long)lines->number, n);
    }
    *length = end ? (size_t)(end - *text) : n;
    lines->offset += (int64_t)(*length + (end != NULL));
    lines->number++;
    lines->cut = end == NULL;
    if (*length > 0 && (*text)[*length - 1] == '\r')
        (*length)--;
    return COLLET_OK;
}

collet_status io_lines_at_end(const io_lines *lines, int *at_end, collet_error *err)
{
    const char *text;
    size_t n;

    *at_end = 0;
    if (lines->source->size - lines->offset > (int64_t)IO_SOURCE_VIEW)
        return COLLET_OK;
    collet_status status = look(lines, IO_SOURCE_VIEW, &text, &n, err);
    if (status != COLLET_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
            return COLLET_OK;
    *at_end = 1;
    return COLLET_OK;
}
