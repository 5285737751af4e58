/* SPDX-License-Identifier: Apache-2.0 */
/* real.h - one f32 or f64 (wide) number in memory, as a double. */
#pragma once

static inline double real_load(const void *at, int wide)
{
    return wide ? *(const double *)at : (double)*(const float *)at;
}

static inline void real_store(void *at, int wide, double x)
{
    if (wide)
        *(double *)at = x;
    else
        *(float *)at = (float)x;
}
