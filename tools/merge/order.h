/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - parts in the order of time: the rows that are kept of each part, and remarks for the user. */
#pragma once

#include "part.h"

/* Texts for the user, in the order of time. They contain the paths that were given. */
typedef struct merge_remarks {
    char **texts;
    size_t n;
    size_t gaps; /* the number of gaps that the texts report */
} merge_remarks;

/* Sorts n >= 1 parts, whose times were read, by their first time, in whatever order they are named. Sets `kept` of
 * each part: an earlier part ends where a later part begins. A part is left out if another part has all its times.
 * Remarks report replaced rows, gaps and other intervals. Fails with INVALID if rows would be lost, because times are
 * missing or decrease, or because a part lies within another part and has other times; NO_MEMORY. Free the remarks
 * also after an error. */
collet_status merge_order(merge_part *parts, size_t n, merge_remarks *remarks, collet_error *err);
/* Adds a text. COLLET_NO_MEMORY. */
__attribute__((format(printf, 3, 4))) collet_status merge_remarks_add(merge_remarks *remarks, collet_error *err,
                                                                      const char *format, ...);
void merge_remarks_free(merge_remarks *remarks);

typedef char merge_time[32];

/* Writes the shortest number that has the value of the time in single precision, and returns it. */
const char *merge_time_text(double time, merge_time text);

/* Returns the longest interval between rows of a part, ps; 0 if the part has one row. */
double merge_longest_interval(const merge_part *part);
