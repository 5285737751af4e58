/* SPDX-License-Identifier: Apache-2.0 */
/* numerals.h - lets printf, scanf, strtod and cJSON use the decimal point of the locale C, even if
 * the program called setlocale or uselocale. */
#pragma once

#include <locale.h>

/* Sets the locale C for the calling thread; returns the locale that io_numerals_end restores.
 * Between both calls do not return from the function. Allocates nothing, because the locale C is
 * static. */
static inline locale_t io_numerals_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void io_numerals_end(locale_t before)
{
    uselocale(before);
}
