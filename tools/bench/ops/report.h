/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - writes the results of an op as text or JSON. */
#pragma once

#include "measure.h"

/* Writes a time in ns, us, ms or s; at most 15 characters. Returns `text`. */
const char *bench_time_text(double seconds, char text[16]);

/* Print the table's head and a row, or add a row to the JSON report (0 when out of memory). */
void bench_result_print_head(const bench_session *session, const bench_layout *layout);
/* steal = 1: also prints the time that a hypervisor took away. */
void bench_result_print(const bench_result *result, int32_t steal);
int32_t bench_result_add(cJSON *list, const bench_result *result);
