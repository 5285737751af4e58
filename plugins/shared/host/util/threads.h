/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h - checks whether a library will be able to start the threads that it needs. */
#pragma once

/*
 * Whether the system lets the process start `count` threads now (limits: RLIMIT_NPROC, the cgroup's pids.max).
 * Starts twice this number for a test, because a thread that has ended still counts for a moment. Any thread may call
 * it.
 */
int threads_can_start(int count);
