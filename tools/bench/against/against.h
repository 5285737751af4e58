/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench against: an op of Collet and libraries with the same function, in turn, in one run.
 */
#ifndef TOOLS_BENCH_AGAINST_AGAINST_H
#define TOOLS_BENCH_AGAINST_AGAINST_H

#include "bench/ops/measure.h"
#include "process.h"

#define AGAINST_REFERENCES 16

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

/* Collet's speed as a multiple of reference i's: medians, and fastest call against fastest. */
double against_ratio(const against_result *r, int32_t i);
double against_ratio_fastest(const against_result *r, int32_t i);

void against_print(const bench_session *session, const against_result *r);
/* 0 when out of memory. */
int32_t against_add(cJSON *list, const against_result *r);

#endif
