/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - the lines of a text file, with their numbers, from any place in it. */
#ifndef COLLET_IO_LINES_H
#define COLLET_IO_LINES_H

#include "source.h"

typedef struct collet_lines {
    collet_source *source;
    int64_t offset; /* of the next line */
    int64_t number; /* of the next line, from 1 */
    int32_t cut;    /* the last line returned has no line end: the file ends in it */
} collet_lines;

/*
 * Returns the next line without its end ("\n" or "\r\n"), valid until the source is used again;
 * *text is NULL after the last one. COLLET_FORMAT for a line longer than COLLET_SOURCE_VIEW,
 * COLLET_IO.
 */
collet_status collet_lines_next(collet_lines *lines, const char **text, size_t *length,
                                collet_error *err);

/* 1 when only blanks and line ends follow up to the end of the file; examines at most one view. */
collet_status collet_lines_at_end(const collet_lines *lines, int *at_end, collet_error *err);

#endif
