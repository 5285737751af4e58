/* SPDX-License-Identifier: Apache-2.0 */
/* counts.h - arithmetic of counts, which are not negative. */
#pragma once

#include <stdint.h>

static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* a / b rounded up. */
static inline int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}
