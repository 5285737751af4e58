/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdb_residues.c - the numbers of residues in a .pdb file.
 *
 * They have four columns: decimal; five digits with the column of the insertion code; hybrid-36 above
 * 9999 (A000 is 10000); or hexadecimal where that continues the numbering, as VMD writes it.
 *
 * Tests: tests/engines/test_io_pdb.c, tests/fuzz/fuzz_trajectory.c
 */
#include "io/decimal.h"
#include "io/letters.h"
#include "pdb.h"

#define NUMBER TRAJECTORY_PDB_NUMBER
#define LAST_DECIMAL 9999

static int digit(char c, int base)
{
    int value = c >= '0' && c <= '9'               ? c - '0'
                : io_is_upper(c) || io_is_lower(c) ? io_to_upper(c) - 'A' + 10
                                                   : base;
    return value < base ? value : -1;
}

/* Reads a number in base `base` that fills all NUMBER columns; -1: the text is not such a number. */
static int32_t parse_base(const char *text, int base)
{
    int32_t value = 0;

    for (size_t i = 0; i < NUMBER; i++) {
        int d = digit(text[i], base);
        if (d < 0)
            return -1;
        value = value * base + d;
    }
    return value;
}

/* Reads a hybrid-36 number: a letter, then digits of base 36, all letters in one case. Numbers in upper case continue
 * after the largest decimal number, numbers in lower case after the largest number in upper case. */
static int32_t parse_hybrid(const char *text)
{
    const int32_t capitals = 26 * 36 * 36 * 36;
    int lower = io_is_lower(text[0]);
    int32_t value = parse_base(text, 36);

    if (value < 0 || !(lower || io_is_upper(text[0])))
        return -1;
    for (size_t i = 1; i < NUMBER; i++)
        if (lower ? io_is_upper(text[i]) : io_is_lower(text[i]))
            return -1;
    return value - 10 * 36 * 36 * 36 + LAST_DECIMAL + 1 + (lower ? capitals : 0);
}

int trajectory_pdb_residue(const char *text, int32_t last, int32_t *number, char *insertion)
{
    int five = digit(text[NUMBER], 10) >= 0;
    int32_t hexadecimal = parse_base(text, 16);
    int32_t hybrid = parse_hybrid(text);
    int64_t decimal;

    if (hexadecimal > LAST_DECIMAL && (hexadecimal == last || hexadecimal == last + 1))
        *number = hexadecimal;
    else if (io_decimal_parse_integer(text, NUMBER + (size_t)five, &decimal))
        *number = (int32_t)decimal;
    else if (hybrid >= 0)
        *number = hybrid;
    else
        return 0;
    *insertion = five || text[NUMBER] == ' ' ? '\0' : text[NUMBER];
    return 1;
}
