/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the monotonic clock. */
#ifndef PLUGINS_SHARED_HOST_UTIL_CLOCK_H
#define PLUGINS_SHARED_HOST_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds. */
static inline int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
