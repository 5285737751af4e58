/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the monotonic clock. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Nanoseconds. */
static inline int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
