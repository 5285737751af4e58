/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_trajectory_masses.c */
#include "decimal.h"

#include <float.h>

#define EXACT_POWERS 22    /* 10^22 is the largest power of ten that a double holds exactly */
#define EXPONENT_LIMIT 400 /* no double has a larger exponent; limits the work for malicious input */

static const double powers_of_ten[EXACT_POWERS + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void trim(const char **text, const char **end)
{
    while (*text < *end && is_blank(**text))
        (*text)++;
    while (*end > *text && is_blank((*end)[-1]))
        (*end)--;
}

static int take_sign(const char **text, const char *end)
{
    if (*text == end || (**text != '-' && **text != '+'))
        return 0;
    return *(*text)++ == '-';
}

static double scale(uint64_t digits, int exponent)
{
    double value = (double)digits;

    for (; exponent < -EXACT_POWERS; exponent += EXACT_POWERS)
        value /= powers_of_ten[EXACT_POWERS];
    for (; exponent > EXACT_POWERS; exponent -= EXACT_POWERS)
        value *= powers_of_ten[EXACT_POWERS];
    return exponent < 0 ? value / powers_of_ten[-exponent] : value * powers_of_ten[exponent];
}

/* Parses the exponent at `text`, after the 'e'; *valid is 0 if there are no digits. */
static int take_exponent(const char **text, const char *end, int *valid)
{
    int negative = take_sign(text, end);
    int exponent = 0;

    *valid = *text < end && is_digit(**text);
    for (; *text < end && is_digit(**text); (*text)++)
        if (exponent < EXPONENT_LIMIT)
            exponent = 10 * exponent + (**text - '0');
    return negative ? -exponent : exponent;
}

int io_decimal_parse(const char *text, size_t length, double *value)
{
    const char *end = text + length;
    uint64_t digits = 0;
    int exponent = 0, seen = 0, point = 0, valid = 1;

    trim(&text, &end);
    int negative = take_sign(&text, end);
    for (; text < end && (is_digit(*text) || (*text == '.' && !point)); text++) {
        if (*text == '.') {
            point = 1;
            continue;
        }
        seen = 1;
        if (digits < UINT64_MAX / 10 - 1) {
            digits = 10 * digits + (uint64_t)(*text - '0');
            exponent -= point;
        } else if (!point && exponent < EXPONENT_LIMIT) {
            exponent++;
        }
    }
    if (!seen)
        return 0;
    if (text < end && (*text == 'e' || *text == 'E')) {
        text++;
        exponent += take_exponent(&text, end, &valid);
    }
    if (!valid || text != end)
        return 0;
    double magnitude = scale(digits, exponent);
    if (magnitude > DBL_MAX)
        return 0;
    *value = negative ? -magnitude : magnitude;
    return 1;
}

int io_decimal_parse_integer(const char *text, size_t length, int64_t *value)
{
    const char *end = text + length;
    int64_t result = 0;

    trim(&text, &end);
    int negative = take_sign(&text, end);
    if (text == end)
        return 0;
    for (; text < end; text++) {
        if (!is_digit(*text))
            return 0;
        int64_t digit = *text - '0';
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, negative ? -digit : digit, &result))
            return 0;
    }
    *value = result;
    return 1;
}
