/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a progress line on the terminal. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

typedef struct tool_progress {
    const char *unit; /* what is counted, "frames"; not copied */
    int shown;        /* whether there is a line */
    int drawn;        /* a line is on the terminal */
    double began;     /* bench_now() */
    double next;      /* when the line is drawn again */
    int64_t expected; /* bytes from the start to the end of the file */
} tool_progress;

/* Begins; shows nothing when `quiet` or when standard error is not a terminal. */
void tool_progress_begin(tool_progress *progress, const char *unit, int64_t bytes, int quiet);

/*
 * Shows count, share, speed and time left, at most ten times a second. `offset`: position in the
 * file, 0 where bytes are not counted; `fraction`: share of the units, 0 when unknown.
 */
void tool_progress_update(tool_progress *progress, int64_t count, int64_t offset, double fraction);

/* The text of the line for `seconds` of work; written to text[0..size). */
void tool_progress_format(char *text, size_t size, const char *unit, int64_t count, int64_t offset,
                          double fraction, double seconds);

/* Shows `text`, cut to 119 bytes, as the line. */
void tool_progress_text(tool_progress *progress, const char *text);

/* Erases the line. */
void tool_progress_end(tool_progress *progress);

#endif
