/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench OP and --list. */
#pragma once

#include "measure.h"

/* Measures the op of the options with each dtype on each backend. Returns an exit status. */
int bench_op_mode(bench_session *session);
/* Prints or reports every case. Returns an exit status. */
int bench_list_mode(bench_session *session);
