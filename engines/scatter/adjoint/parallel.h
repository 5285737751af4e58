/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - loops of the adjoint on several threads of the host. */
#pragma once

#include <stdint.h>

#include <collet/collet.h>

/* Processes items begin .. end - 1. `thread` is 0 to threads - 1; simultaneous calls have different values. */
typedef void (*scatter_body)(void *argument, int64_t begin, int64_t end, int thread);

/* Returns the number of threads: the smallest of the setting num_threads, the program's limit and the processors that
 * this thread may use. */
int scatter_threads(const collet_runtime *runtime);
/* Divides items 0 .. count - 1 into parts of at most `grain` items and calls `body` for each part. If threads
 * cannot be started, the caller's thread processes their parts. */
void scatter_parallel(int threads, int64_t count, int64_t grain, scatter_body body, void *argument);
