/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - reads the lines of a text file with their numbers, from any position on. */
#pragma once

#include "source.h"

typedef struct io_lines {
    io_source *source;
    int64_t offset; /* byte where the next line begins */
    int64_t number; /* number of the next line, from 1 */
    int32_t cut;    /* 1: the line returned last has no line end, because the file ends within it */
} io_lines;

/*
 * Returns the next line without its end ("\n" or "\r\n"), valid until the source is used again;
 * *text is NULL after the last line. COLLET_FORMAT for a line longer than IO_SOURCE_VIEW,
 * COLLET_IO.
 */
collet_status io_lines_next(io_lines *lines, const char **text, size_t *length, collet_error *err);

/* 1 if only blanks and line ends follow up to the end of the file; reads at most one view. */
collet_status io_lines_at_end(const io_lines *lines, int *at_end, collet_error *err);
