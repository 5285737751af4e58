/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - the processors that other processes use. */
#pragma once

#include <stdint.h>

/* The number of processors that other processes leave free now; at least 1, at most `most` (>= 1). */
int32_t load_free_processors(int32_t most);
