/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial - what a probe offers to the plugin that it tries: a child of its own for code that may
 * crash, hang or end the process. Part of collet-probe alone; libcore never forks.
 */
#ifndef COLLET_CORE_TRIAL_H
#define COLLET_CORE_TRIAL_H

#include <collet/plugin.h>

#define TRIAL_MAX_RESULT 65536

/* From now on the probe has that long; a trial gets half of what is left at most, so that the probe
 * still answers when one hangs. */
void trial_limit(int64_t milliseconds);

/* The slot `trial` of collet_host; plugin.h describes it. The calling thread is the only one. */
collet_status trial_run(const collet_host *host, void (*body)(void *argument, void *result),
                        void *argument, void *result, uint64_t bytes, int32_t milliseconds,
                        collet_error *err);

#endif
