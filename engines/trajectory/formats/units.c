/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_netcdf.c */
#include "units.h"

#include "io/letters.h"

#include <stdlib.h>
#include <string.h>

/* The base quantities, whose powers make up a unit. */
enum { LENGTH, TIME, ENERGY, AMOUNT, BASES };

static const struct {
    const char *name;
    int powers[BASES];
    double times, over; /* size of the unit: times / over, in nm, ps and kJ; both are exact numbers */
} words[] = {
    {"nm", {1}, 1, 1},
    {"nanometer", {1}, 1, 1},
    {"angstrom", {1}, 1, 10},
    {"A", {1}, 1, 10},
    {"pm", {1}, 1, 1000},
    {"um", {1}, 1000, 1},
    {"m", {1}, 1e9, 1},
    {"ps", {0, 1}, 1, 1},
    {"picosecond", {0, 1}, 1, 1},
    {"fs", {0, 1}, 1, 1000},
    {"femtosecond", {0, 1}, 1, 1000},
    {"ns", {0, 1}, 1000, 1},
    {"nanosecond", {0, 1}, 1000, 1},
    {"us", {0, 1}, 1e6, 1},
    {"s", {0, 1}, 1e12, 1},
    {"AKMA", {0, 1}, 0.04888821, 1},
    {"kJ", {0, 0, 1}, 1, 1},
    {"kilojoule", {0, 0, 1}, 1, 1},
    {"J", {0, 0, 1}, 1, 1000},
    {"kcal", {0, 0, 1}, 4.184, 1},
    {"kilocalorie", {0, 0, 1}, 4.184, 1},
    {"eV", {0, 0, 1, -1}, 96.48533212331, 1}, /* eV of one particle = kJ/mol */
    {"mol", {0, 0, 0, 1}, 1, 1},
    {"mole", {0, 0, 0, 1}, 1, 1},
};

/* Returns the index in `words`; upper or lower case and the plural are accepted. -1: unknown. */
static int find(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].name);
        int plural = n > 2 && length == n + 1 && (word[n] == 's' || word[n] == 'S');

        if ((length == n || plural) && io_same_letters(word, words[i].name, n))
            return (int)i;
    }
    return -1;
}

/* Reads an exponent "-1", "^2" or "2"; without an exponent the result is 1. Moves *text to the exponent's end. 0: the
 * text is not an exponent. */
static int read_exponent(const char **text)
{
    const char *at = *text + (**text == '^');
    int sign = *at == '-' ? -1 : 1, value = 1;

    at += *at == '-' || *at == '+';
    if (*at >= '0' && *at <= '9')
        value = *at++ - '0';
    else if (at != *text)
        value = 0;
    *text = at;
    return sign * value;
}

int trajectory_unit_parse(const char *text, trajectory_measure measure, double *factor)
{
    static const int powers[][BASES] = {{1}, {0, 1}, {1, -1}, {-1, 0, 1, -1}};
    int found[BASES] = {0}, sign = 1;
    double times = 1, over = 1;

    while (*text) {
        size_t separators = strspn(text, " *"), length;

        text += separators;
        if (*text == '/') {
            text += 1 + strspn(text + 1, " ");
            sign = -1;
        }
        if (!*text && sign > 0)
            break;
        length = strcspn(text, " */^+-0123456789");
        int word = find(text, length);
        text += length;
        int exponent = word < 0 ? 0 : sign * read_exponent(&text);
        if (exponent == 0)
            return 0;
        for (int i = 0; i < abs(exponent); i++) {
            times *= exponent > 0 ? words[word].times : words[word].over;
            over *= exponent > 0 ? words[word].over : words[word].times;
        }
        for (int i = 0; i < BASES; i++)
            found[i] += exponent * words[word].powers[i];
        sign = 1;
    }
    if (memcmp(found, powers[measure], sizeof found) != 0)
        return 0;
    *factor = times / over;
    return 1;
}
