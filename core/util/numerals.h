/* SPDX-License-Identifier: Apache-2.0 */
/* numerals - printf, scanf, strtod and cJSON in the locale C: otherwise, if the program has called setlocale or
 * uselocale, they would use the decimal point of that locale. */
#pragma once

#include <locale.h>

/* Sets the locale C for the calling thread; returns the locale that numerals_end restores. Every
 * path between the two must reach numerals_end. The locale C is static: nothing is allocated. */
static inline locale_t numerals_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void numerals_end(locale_t before)
{
    uselocale(before);
}
