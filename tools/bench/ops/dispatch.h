/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench dispatch: the overhead of a call over its kernel. */
#ifndef BENCH_DISPATCH_H
#define BENCH_DISPATCH_H

#include "bench/base/session.h"

/* Measures every chosen backend; prints a table or fills the session's report. An exit status. */
int bench_dispatch(bench_session *session);

#endif
