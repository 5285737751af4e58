/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numerals.h - printf, scanf, strtod and cJSON as in the locale C: a program that called setlocale,
 * or uselocale, would have numbers with its decimal point.
 */
#ifndef ENGINES_IO_NUMERALS_H
#define ENGINES_IO_NUMERALS_H

#include <locale.h>

/* Sets the locale C for the calling thread; returns what io_numerals_end sets again. Between
 * both, one thread calls nothing that may return early. The locale C is static: nothing is
 * allocated. */
static inline locale_t io_numerals_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void io_numerals_end(locale_t before)
{
    uselocale(before);
}

#endif
