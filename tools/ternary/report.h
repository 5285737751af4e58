/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the report of the command info, as text or JSON. */
#pragma once

#include <collet/ternary.h>

typedef struct ternary_report_layer {
    collet_ternary_matrix matrix;
    collet_ternary_counts counts;
    int counted; /* the counts are known */
} ternary_report_layer;

typedef struct ternary_report {
    const char *name; /* the file's name on the command line */
    collet_ternary_file_info info;
    ternary_report_layer *layers; /* space for all matrices of the file; the caller frees it */
    int64_t count;                /* how many are described */
} ternary_report;

collet_status ternary_report_begin(ternary_report *report, const char *name,
                                   const collet_ternary_file *file, collet_error *err);
collet_status ternary_report_print(const ternary_report *report, int json, collet_error *err);

/* Prints the list of a file's tensors. */
collet_status ternary_report_tensors(const ternary_report *report, int json, collet_error *err);

/* Prints an object and deletes it. Returns COLLET_NO_MEMORY if out of memory, or if `object` is NULL. */
struct cJSON;
collet_status ternary_print_json(struct cJSON *object, collet_error *err);
