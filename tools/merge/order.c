/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_merge.c */
#include "order.h"

#include "common/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The interval between two parts is a gap if it is more than GAP times the longest interval inside them. GAP is not 1,
 * because some formats store times in single precision. */
#define GAP 1.5
#define SAME 1e-3 /* intervals with a smaller relative difference are equal */

#define TEXT(time) merge_time_text(time, (merge_time){0})

static double first_of(const merge_part *part)
{
    return part->times[0];
}

static double last_of(const merge_part *part)
{
    return part->times[part->n_rows - 1];
}

const char *merge_time_text(double time, merge_time text)
{
    int digits = 6;

    do
        snprintf(text, sizeof(merge_time), "%.*g", digits, time);
    while (strtof(text, NULL) != (float)time && ++digits < 18);
    return text;
}

double merge_longest_interval(const merge_part *part)
{
    double longest = 0;

    for (int64_t i = 1; i < part->n_rows; i++)
        longest = fmax(longest, part->times[i] - part->times[i - 1]);
    return longest;
}

/* ---- Remarks ----------------------------------------------------------------------------- */

collet_status merge_remarks_add(merge_remarks *remarks, collet_error *err, const char *format, ...)
{
    va_list arguments;
    char **texts = realloc(remarks->texts, (remarks->n + 1) * sizeof *texts), *text;

    if (texts)
        remarks->texts = texts;
    va_start(arguments, format);
    int failed = !texts || vasprintf(&text, format, arguments) < 0;
    va_end(arguments);
    if (failed)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the order of the results");
    remarks->texts[remarks->n++] = text;
    return COLLET_OK;
}

void merge_remarks_free(merge_remarks *remarks)
{
    for (size_t i = 0; i < remarks->n; i++)
        free(remarks->texts[i]);
    free(remarks->texts);
}

/* ---- Sorting ----------------------------------------------------------------------------- */

static collet_status check_times(const merge_part *part, collet_error *err)
{
    for (int64_t i = 0; i < part->n_rows; i++) {
        if (!isfinite(part->times[i]))
            return collet_fail(err, COLLET_INVALID, "%s: its row %lld has no time: only rows with times can be merged",
                               part->path, (long long)i);
        if (i > 0 && part->times[i] < part->times[i - 1])
            return collet_fail(err, COLLET_INVALID,
                               "%s: its times go back: row %lld is at %s ps, row %lld at %s ps; extract the pieces "
                               "on their own (--start, --stop) and merge those",
                               part->path, (long long)i - 1, TEXT(part->times[i - 1]), (long long)i, TEXT(part->times[i]));
    }
    return COLLET_OK;
}

/* Compares parts by their first time. Among parts with the same first time, the part with the latest end comes first.
 * Among parts with the same first and last time, the part that the command line names last comes first. */
static int by_time(const void *left, const void *right)
{
    const merge_part *a = left, *b = right;

    if (first_of(a) != first_of(b))
        return first_of(a) < first_of(b) ? -1 : 1;
    if (last_of(a) != last_of(b))
        return last_of(a) > last_of(b) ? -1 : 1;
    return a->number > b->number ? -1 : 1;
}

/* 1 if every time of `part` is also a time of `whole`. */
static int is_contained(const merge_part *part, const merge_part *whole)
{
    int64_t k = 0;

    for (int64_t i = 0; i < part->n_rows; i++) {
        while (k < whole->n_rows && whole->times[k] < part->times[i])
            k++;
        if (k == whole->n_rows || whole->times[k] != part->times[i])
            return 0;
    }
    return 1;
}

static collet_status leave_out(merge_part *part, const merge_part *whole, merge_remarks *remarks,
                               collet_error *err)
{
    part->kept = 0;
    if (!is_contained(part, whole))
        return collet_fail(err, COLLET_INVALID,
                           "%s (%s to %s ps) lies within %s (%s to %s ps) but has other times: leave one "
                           "of them out",
                           part->path, TEXT(first_of(part)), TEXT(last_of(part)), whole->path, TEXT(first_of(whole)),
                           TEXT(last_of(whole)));
    return merge_remarks_add(remarks, err, "%s is left out: all its times are in %s", part->path, whole->path);
}

/* ---- Two parts that follow each other ----------------------------------------------------- */

static collet_status cut(merge_part *part, const merge_part *next, merge_remarks *remarks, collet_error *err)
{
    while (part->kept > 0 && part->times[part->kept - 1] >= first_of(next))
        part->kept--;
    int64_t left = part->n_rows - part->kept;
    return left == 0 ? COLLET_OK
                     : merge_remarks_add(remarks, err, "%s replaces the last %lld frame%s of %s, from %s ps on", next->path,
                           (long long)left, tool_plural(left), part->path, TEXT(part->times[part->kept]));
}

static collet_status compare_intervals(const merge_part *part, const merge_part *next, merge_remarks *remarks,
                                       collet_error *err)
{
    double own = merge_longest_interval(part), others = merge_longest_interval(next), longest = fmax(own, others);
    double end = part->times[part->kept - 1], gap = first_of(next) - end;
    collet_status status = COLLET_OK;

    if (own > 0 && others > 0 && fabs(own - others) > SAME * longest)
        status = merge_remarks_add(remarks, err, "frames are up to %.6g ps apart in %s, up to %.6g ps in %s", own, part->path, others,
                     next->path);
    if (status != COLLET_OK || longest == 0 || gap <= GAP * longest)
        return status;
    status = merge_remarks_add(remarks, err, "there are no frames between %s ps, where %s ends, and %s ps, where %s begins", TEXT(end),
                 part->path, TEXT(first_of(next)), next->path);
    remarks->gaps += status == COLLET_OK;
    return status;
}

collet_status merge_order(merge_part *parts, size_t n, merge_remarks *remarks, collet_error *err)
{
    collet_status status = COLLET_OK;
    merge_part *before = NULL;

    for (size_t k = 0; k < n && status == COLLET_OK; k++) {
        parts[k].number = k;
        status = check_times(&parts[k], err);
    }
    if (status == COLLET_OK)
        qsort(parts, n, sizeof *parts, by_time);
    for (size_t k = 0; k < n && status == COLLET_OK; k++) {
        parts[k].kept = parts[k].n_rows;
        if (before && last_of(&parts[k]) <= last_of(before)) {
            status = leave_out(&parts[k], before, remarks, err);
            continue;
        }
        if (before)
            status = cut(before, &parts[k], remarks, err);
        if (before && status == COLLET_OK)
            status = compare_intervals(before, &parts[k], remarks, err);
        before = &parts[k];
    }
    return status;
}
