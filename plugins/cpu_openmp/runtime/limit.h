/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit.h - the threads that calls may use now. The cgroup's quota and the affinity of the calling
 * thread change while the process runs; they are looked up once a second at most. The program's own
 * limit is read at each call.
 */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_LIMIT_H
#define PLUGINS_CPU_OPENMP_RUNTIME_LIMIT_H

#include <collet/plugin.h>

/* The host of an open device; the caller's, from limit_follow to limit_unfollow. */
typedef struct limit_host {
    const collet_host *host;
    struct limit_host *next;
} limit_host;

void limit_follow(limit_host *h, const collet_host *host);
/* Does nothing for a host that is not followed. */
void limit_unfollow(limit_host *h);

/* Called in a child after fork(). */
void limit_forget(void);

/* `threads`, or fewer: not more than the program's limit and any followed host allow, and not more than there are
 * processors for the calling thread unless OpenMP has bound it. At least 1; `threads` while no host
 * is followed. */
int32_t limit_threads(int32_t threads);

#endif
