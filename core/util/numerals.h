/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numerals - printf, scanf, strtod and cJSON as in the locale C: a program that called setlocale,
 * or uselocale, would have numbers with its decimal point.
 */
#ifndef CORE_UTIL_NUMERALS_H
#define CORE_UTIL_NUMERALS_H

#include <locale.h>

/* Sets the locale C for the calling thread; returns what numerals_end sets again. Between both, one
 * thread calls nothing that may return early. The locale C is static: nothing is allocated. */
static inline locale_t numerals_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void numerals_end(locale_t before)
{
    uselocale(before);
}

#endif
