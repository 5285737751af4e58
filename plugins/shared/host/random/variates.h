/* SPDX-License-Identifier: Apache-2.0 */
/* variates.h - the ops `integers` and `variate` for every backend that works on host memory. */
#ifndef PLUGINS_SHARED_HOST_RANDOM_VARIATES_H
#define PLUGINS_SHARED_HOST_RANDOM_VARIATES_H

#include <collet/plugin.h>

/* Computes elements begin .. end-1, in C order of the output; disjoint parts may run at the same time. */
void cpu_variates(const collet_kernel_call *call, int64_t begin, int64_t end);

#endif
