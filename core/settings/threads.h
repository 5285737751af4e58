/* SPDX-License-Identifier: Apache-2.0 */
/* Number of CPU threads that this process may use. */
#pragma once

#include <stdint.h>

/* min(affinity of the calling thread, limit), at least 1; limit 0 = no limit. With OMP_PROC_BIND or
 * a similar variable a threading runtime binds the thread that loads it to the first place. A
 * thread that is bound to exactly that place counts as having the processors of all places. */
int32_t threads_allowed(int64_t limit);

/* min(limit, cgroup quota rounded up). Reads /proc and /sys/fs/cgroup (versions 1 and 2) each time,
 * allocates nothing. */
int32_t threads_within_quota(int32_t limit);

/* The quota in CPUs, rounded up, of a cgroup hierarchy mounted at `root`; 0 if there is no quota.
 * `self` is the text of /proc/self/cgroup. */
int32_t threads_cgroup_quota(const char *root, const char *self);
