/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench OP and --list. */
#ifndef TOOLS_BENCH_OPS_MODE_H
#define TOOLS_BENCH_OPS_MODE_H

#include "measure.h"

/* Measures the op of the options with each dtype on each backend. Returns an exit status. */
int bench_op_mode(bench_session *session);
/* Prints or reports every case. Returns an exit status. */
int bench_list_mode(bench_session *session);

#endif
