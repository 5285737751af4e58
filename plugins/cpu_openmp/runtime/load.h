/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - the number of threads that run or are ready to run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The number of processors that other processes leave free now; at least 1, at most `most` (>= 1). */
int32_t load_free_processors(int32_t most);

/* Whether more threads of this process than `processors` run or are ready to run, and at least one of these threads is
 * neither the caller of a loop nor one of the `workers` that are awake. */
bool load_is_crowded(int32_t processors, int32_t workers);
