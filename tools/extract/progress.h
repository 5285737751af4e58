/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - one line on a terminal that says how far the work is. */
#ifndef COLLET_EXTRACT_PROGRESS_H
#define COLLET_EXTRACT_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

typedef struct extract_progress {
    int shown;        /* whether there is a line at all */
    double began;     /* seconds of the monotonic clock */
    double next;      /* when the line is due again */
    int64_t expected; /* bytes from the start to the end of the file */
    int32_t drawn;    /* a line stands on the terminal */
    uint32_t reserved;
} extract_progress;

/* Seconds of the monotonic clock. */
double extract_clock(void);

/* Begins; nothing is ever shown when `quiet` or when standard error is no terminal. */
void extract_progress_begin(extract_progress *progress, int64_t bytes, int quiet);

/*
 * Shows frames done, share, speed and time left, at most ten times a second. `offset` is the place
 * in the file, `fraction` what is done counted in frames, or 0 when that is not known.
 */
void extract_progress_update(extract_progress *progress, int64_t frames, int64_t offset,
                             double fraction);

/* The text of the line for `seconds` of work; written to text[0..size). */
void extract_progress_format(char *text, size_t size, int64_t frames, int64_t offset,
                             double fraction, double seconds);

/* Takes the line away. */
void extract_progress_end(extract_progress *progress);

#endif
