/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what `info` says, as text or JSON on standard output. */
#ifndef TERNARY_REPORT_H
#define TERNARY_REPORT_H

#include "ternary/formats/gguf.h"
#include "ternary/formats/t2_file.h"

typedef struct ternary_report_layer {
    char name[COLLET_T2_NAME];
    const char *kind; /* format or dtype */
    int64_t rows, columns;
    uint64_t bytes; /* of the weights */
    int packed;     /* `kind` is a format */
    int counted;    /* these four are known */
    int64_t minus, zero, plus, invalid;
    int in_network; /* these three are known */
    uint32_t flags, activations;
    float threshold;
} ternary_report_layer;

typedef struct ternary_report {
    const char *path, *kind; /* lent */
    uint64_t bytes;
    ternary_report_layer *layers;
    uint32_t count;
} ternary_report;

/* With `count` empty layers. */
collet_status ternary_report_begin(ternary_report *report, const char *path, const char *kind,
                                   uint64_t bytes, uint32_t count, collet_error *err);
void ternary_report_free(ternary_report *report);
collet_status ternary_report_print(const ternary_report *report, int json, collet_error *err);

/* The list of a file's tensors. */
collet_status ternary_report_tensors(const collet_gguf *gguf, int json, collet_error *err);

/* Prints an object and deletes it. COLLET_NO_MEMORY, also of NULL. */
struct cJSON;
collet_status ternary_print_json(struct cJSON *object, collet_error *err);

#endif
