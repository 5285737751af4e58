/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what backend-bench against measured, and how it is printed. */
#ifndef TOOLS_BENCH_AGAINST_REPORT_H
#define TOOLS_BENCH_AGAINST_REPORT_H

#include "bench/ops/measure.h"
#include "process.h"

#define AGAINST_REFERENCES 32

/* One comparison: the figures of Collet and of each reference. */
typedef struct against_result {
    const bench_layout *layout;
    bench_result own;    /* with the memory's bandwidth if no library has the function */
    const char *backend; /* that ran it */
    reference_process references[AGAINST_REFERENCES];
    tool_stats stats[AGAINST_REFERENCES]; /* where references[i].count > 0 */
    int32_t count;
    int32_t best; /* the reference with the fastest call, -1: none was measured */
} against_result;

void against_print(const bench_session *session, const against_result *r);
/* 0 when out of memory. */
int32_t against_add(cJSON *list, const against_result *r);

#endif
