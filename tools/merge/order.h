/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - parts in the order of time: what is kept of each, and what their user should know. */
#ifndef TOOLS_MERGE_ORDER_H
#define TOOLS_MERGE_ORDER_H

#include "part.h"

/* Texts for the user, in the order of time. They contain paths as they were given. */
typedef struct merge_remarks {
    char **texts;
    size_t n;
    size_t gaps; /* the number of gaps that the texts report */
} merge_remarks;

/*
 * Sorts n >= 1 parts, whose times were read, by their first time, whatever the order of their names, and sets
 * `kept` of each: where a later part begins, the earlier ones end. A part whose times all are in another one is
 * left out. Replaced rows, gaps and other intervals are remarks. INVALID where rows would be lost: times that are missing or
 * go back, and parts within others that have other times; NO_MEMORY. Free the remarks also after an error.
 */
collet_status merge_order(merge_part *parts, size_t n, merge_remarks *remarks, collet_error *err);
void merge_remarks_free(merge_remarks *remarks);

typedef char merge_time[32];

/* Writes the shortest number that has the value of the time in single precision, and returns it. */
const char *merge_time_text(double time, merge_time text);

/* The longest interval between rows of a part, ps; 0: it has one row. */
double merge_longest_interval(const merge_part *part);

#endif
