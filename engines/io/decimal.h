/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.h - parses numbers independently of the locale. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Parses all of text[0..length), which may have no blanks, as [+-]digits[.digits][e[+-]digits]. Up
 * to 15 significant digits and 22 decimals give the nearest double; with more digits, the error of the result is at
 * most one unit in the last place. Returns 1; 0 for any other text. */
int io_decimal_parse(const char *text, size_t length, double *value);

/* Parses [+-]digits that fit in 64 bits; returns 1, or 0 for any other text. */
int io_decimal_parse_integer(const char *text, size_t length, int64_t *value);
