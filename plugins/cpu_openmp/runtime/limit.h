/* SPDX-License-Identifier: Apache-2.0 */
/* limit.h - the number of threads that a call may use now. The cgroup's CPU quota and the affinity of the
 * calling thread may change while the process runs; they are read at most once per second. The program's
 * own limit is read at each call. */
#pragma once

#include <collet/plugin.h>

/* An entry in the list of hosts of open devices. The caller owns its memory, which must stay valid from limit_follow
 * to limit_unfollow. */
typedef struct limit_host {
    const collet_host *host;
    struct limit_host *next;
} limit_host;

void limit_follow(limit_host *h, const collet_host *host);
/* Does nothing for a host that is not followed. */
void limit_unfollow(limit_host *h);

/* Called in a child after fork(). */
void limit_forget(void);

/* The smallest of `threads`, the program's limit, the limit that the followed hosts report and, unless OpenMP has bound
 * the calling thread, the number of processors that it may use. At least 1. If no host is followed, returns `threads`.
 */
int32_t limit_threads(int32_t threads);
