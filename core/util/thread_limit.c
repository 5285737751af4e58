/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_fork.c, tests/engines/test_trajectory.c */
/* The limit that a program sets on the threads of calls, for all runtimes of the process. */
#include <stdatomic.h>

#include <collet/runtime.h>
#include <collet/status.h>

static _Atomic int32_t program_limit; /* 0: none */

collet_status collet_set_thread_limit(int32_t threads, collet_error *err)
{
    if (threads < 0)
        return collet_fail(err, COLLET_INVALID,
                           "collet_set_thread_limit: threads is %d; it must be at least 1, or 0 for no limit",
                           threads);
    atomic_store_explicit(&program_limit, threads, memory_order_relaxed);
    return COLLET_OK;
}

int32_t collet_thread_limit(void)
{
    return atomic_load_explicit(&program_limit, memory_order_relaxed);
}
