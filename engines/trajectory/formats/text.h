/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - functions for all text formats: words, errors with line numbers, and times in titles. */
#pragma once

#include "io/lines.h"
#include "names.h"
#include "trajectory_format.h"

/* Time and step of a frame, from its title. */
typedef struct trajectory_text_moment {
    int32_t has_time; /* the title has "t=" */
    double time;      /* ps */
    int64_t step;     /* from "step=", else -1 */
} trajectory_text_moment;

trajectory_text_moment trajectory_text_title(const char *text, size_t length);

/* A word of a line. */
typedef struct trajectory_word {
    const char *text;
    size_t length;
} trajectory_word;

/* Splits a line at blanks: sets `words` to its first words and returns their number, at most `max`. */
size_t trajectory_text_split(const char *text, size_t length, trajectory_word *words, size_t max);

/* Copies a word of the last line; COLLET_FORMAT for more than TRAJECTORY_ATOM_NAME - 1 bytes. */
collet_status trajectory_text_copy_name(const io_lines *lines, trajectory_word word,
                                        char name[TRAJECTORY_ATOM_NAME], collet_error *err);

/* Returns the lines of the file, beginning at `offset`; `line` is the number of the first. */
io_lines trajectory_text_lines(trajectory_reader *trajectory, int64_t offset, int64_t line);

/* Returns COLLET_FORMAT with a text about the last line read from `lines`: "path:line: ...". */
collet_status trajectory_text_fail(const io_lines *lines, collet_error *err, const char *format,
                                   ...) COLLET_PRINTF(3, 4);

/* Appends the number of the frame to the error `status` about the last line read from `lines`. A
 * line that is malformed because the file ends in it is reported as a truncation. */
collet_status trajectory_text_explain(trajectory_reader *trajectory, const io_lines *lines,
                                      collet_status status, collet_error *err);

/* Whether the last number of a file, which no line end follows, may lack digits. */
typedef enum trajectory_text_ending {
    TRAJECTORY_TEXT_WHOLE,
    TRAJECTORY_TEXT_UNCERTAIN,
    TRAJECTORY_TEXT_CUT
} trajectory_text_ending;

/* Decides whether digits may be missing in the last of n numbers with which the file ends, by comparing its decimals
 * with the decimals of the other numbers. */
trajectory_text_ending trajectory_text_judge(const trajectory_word *numbers, size_t n);

/* Applies `ending` to the frame at trajectory->offset. CUT: the frame is truncated. UNCERTAIN: a frame after the first
 * is truncated; the first frame, which may have been written by hand, is accepted with a note. */
collet_status trajectory_text_finish(trajectory_reader *trajectory, trajectory_text_ending ending,
                                     collet_error *err);
