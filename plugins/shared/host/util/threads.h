/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h - checks before a library starts threads that it needs. */
#ifndef PLUGINS_SHARED_HOST_UTIL_THREADS_H
#define PLUGINS_SHARED_HOST_UTIL_THREADS_H

/*
 * Whether the system starts that many threads now (limits: RLIMIT_NPROC, the cgroup's pids.max).
 * Tries twice as many, since one that has ended still counts for a moment. Any thread.
 */
int threads_can_start(int count);

#endif
