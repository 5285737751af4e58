/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the sizes of the CPU caches. */
#pragma once

#include <stdint.h>

/* Bytes of the largest cache that one core uses; 8 MiB if unknown. */
int64_t cache_largest(void);
