/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - what other processes use of the machine. */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_LOAD_H
#define PLUGINS_CPU_OPENMP_RUNTIME_LOAD_H

#include <stdint.h>

/* `most` (>= 1), or the processors that other processes leave at this moment; at least 1. */
int32_t load_free_processors(int32_t most);

#endif
