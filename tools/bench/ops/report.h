/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the result of an op as text or JSON. */
#ifndef TOOLS_BENCH_OPS_REPORT_H
#define TOOLS_BENCH_OPS_REPORT_H

#include "measure.h"

/* A time in ns, us, ms or s; at most 15 characters. Returns `text`. */
const char *bench_time_text(double seconds, char text[16]);

/* The table's head and rows, or a row of the JSON report (0 when out of memory). */
void bench_result_print_head(const bench_session *session, const bench_layout *layout);
/* `steal`: with the time that a hypervisor took. */
void bench_result_print(const bench_result *result, int32_t steal);
int32_t bench_result_add(cJSON *list, const bench_result *result);

#endif
