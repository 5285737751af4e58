/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - what a program is doing: a line that is replaced on a terminal, lines now and then
 * elsewhere; messages of the runtime. Any thread. */
#ifndef TOOLS_COMMON_PROGRESS_H
#define TOOLS_COMMON_PROGRESS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/* A part of collet_runtime_options.defaults: the tools print messages from level info on. */
#define TOOL_LOG_LEVEL "log=info"

typedef struct tool_progress {
    const char *program;
    FILE *stream;
    int shown;            /* whether there is progress */
    int terminal;         /* the stream is one */
    int drawn;            /* a line is on the terminal */
    double began;         /* tool_now() */
    double next;          /* when there may be another line */
    double next_compiled; /* another line about compilation, not on a terminal */
    const char *unit;     /* what is counted, "frames"; the caller may change it */
    int64_t expected;     /* set by the caller: bytes from the start to the end of the file */
    pthread_mutex_t lock; /* around the line and what is written */
} tool_progress;

/* Begins; shows nothing when `quiet`. `unit`: what is counted, "frames". Texts are not copied. */
void tool_progress_begin(tool_progress *progress, const char *program, const char *unit,
                         FILE *stream, int quiet);

/*
 * Shows count, share, speed and time left on a terminal, at most ten times a second. `offset`:
 * position in the file, 0 where bytes are not counted; `fraction`: share of the units, 0 when
 * unknown.
 */
void tool_progress_update(tool_progress *progress, int64_t count, int64_t offset, double fraction);

/* The text of the line for `seconds` of work; written to text[0..size). */
void tool_progress_format(char *text, size_t size, const char *unit, int64_t count, int64_t offset,
                          double fraction, double seconds);

/* Shows `text` as the line, cut to the terminal's width; elsewhere prints it as a line, unless the
 * last one was printed less than half a second ago. */
void tool_progress_text(tool_progress *progress, const char *text);

/* Erases the line. */
void tool_progress_end(tool_progress *progress);

/* A collet_log_fn; `user` is a tool_progress: prints "PROGRAM: TEXT". The compilation of kernels is
 * shown as progress. */
void tool_log(void *user, int32_t level, const char *text);

#endif
