/* SPDX-License-Identifier: Apache-2.0 */
/* memory_limit.h - the host's memory that this process may use: the minimum of the machine's memory,
 * the limits of its control groups with all their parents (Docker, Slurm, systemd), and the limits
 * of resources (ulimit). All code of Collet gets the limit from here. */
#pragma once

#include <collet/collet.h>

/* Reads the limits anew. `root`, `self`: as in cgroup_visit. */
void memory_limit_read(const char *root, const char *self, collet_memory_limit *limit);
/* Bytes that may be used; at least 1. */
uint64_t memory_limit_total(void);
