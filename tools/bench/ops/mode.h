/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench OP and --list. */
#ifndef TOOLS_BENCH_OPS_MODE_H
#define TOOLS_BENCH_OPS_MODE_H

#include "measure.h"

/* Measures the op of the options with each dtype on each backend; an exit status. */
int bench_op_mode(bench_session *session);
/* Prints or reports every case; an exit status. */
int bench_list_mode(bench_session *session);

/* report.c: the table's head and rows, or a row of the JSON report (0 when out of memory). */
void bench_result_print_head(const bench_session *session, const bench_layout *layout);
/* `steal`: with the time that a hypervisor took. */
void bench_result_print(const bench_result *result, int32_t steal);
int32_t bench_result_add(cJSON *list, const bench_result *result);

#endif
