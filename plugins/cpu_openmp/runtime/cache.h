/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - how much of its memory this machine keeps at hand.
 */
#ifndef COLLET_OPENMP_CACHE_H
#define COLLET_OPENMP_CACHE_H

#include <stdint.h>

/* Bytes of the largest cache that one processor reaches; 8 MiB where nobody knows. */
int64_t cache_largest(void);

#endif
