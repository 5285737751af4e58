/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - shows the progress of a program. On a terminal it replaces one line; elsewhere it prints a line from
 * time to time. Also prints messages of the runtime. Functions may be called on any thread. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/* An element of collet_runtime_options.defaults: the tools print messages of level info and above. */
#define TOOL_LOG_LEVEL "log=info"

typedef struct tool_progress {
    const char *program;
    FILE *stream;
    int shown;            /* 1: progress is shown */
    int terminal;         /* 1: the stream is a terminal */
    int drawn;            /* 1: a line is on the terminal */
    double began;         /* start time, tool_now() */
    double next;          /* earliest time of the next line */
    double next_compiled; /* not a terminal: earliest time of the next line about compilation */
    const char *unit;     /* what is counted, "frames"; the caller may change it */
    int64_t expected;     /* set by the caller: bytes from the start to the end of the file */
    pthread_mutex_t lock; /* guards this struct and the output to the stream */
} tool_progress;

/* Begins; shows nothing when `quiet`. `unit`: what is counted, "frames". Texts are not copied. */
void tool_progress_begin(tool_progress *progress, const char *program, const char *unit,
                         FILE *stream, int quiet);

/* Shows count, share, speed and time left on a terminal, at most ten times a second. `offset`:
 * position in the file, 0 if bytes are not counted; `fraction`: share of the units that are done, 0 if
 * unknown. */
void tool_progress_update(tool_progress *progress, int64_t count, int64_t offset, double fraction);

/* Writes the text of the line after `seconds` of work to text[0..size). */
void tool_progress_format(char *text, size_t size, const char *unit, int64_t count, int64_t offset,
                          double fraction, double seconds);

/* Shows `text` as the line, cut to the terminal's width; elsewhere prints it as a line, unless the last line was
 * printed less than half a second ago. */
void tool_progress_text(tool_progress *progress, const char *text);

/* Erases the line. */
void tool_progress_end(tool_progress *progress);

/* A collet_log_fn that prints "PROGRAM: TEXT"; `user` is a tool_progress. The compilation of kernels is shown as
 * progress. */
void tool_log(void *user, int32_t level, const char *text);
