/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_pdb.c, tests/fuzz/fuzz_trajectory.c */
#include "pdb.h"

#include "trajectory/formats/cell.h"
#include "io/decimal.h"
#include "io/letters.h"

#include <string.h>

#define RECORD 6 /* columns of a record's name */
#define SERIAL 6 /* column where an atom's serial number begins */
#define SERIAL_COLUMNS 5
#define WIDTH 8      /* columns of a coordinate */
#define MAX_SHIFT 3  /* serial numbers of up to eight digits */
#define ANGSTROM 10. /* in 1 nm */

/* Names of the records that may come first in a file, each padded with blanks. */
static const char first_records[] =
    "HEADEROBSLTETITLE SPLIT CAVEATCOMPNDSOURCEKEYWDSEXPDTANUMMDLMDLTYPAUTHORREVDATSPRSDEJRNL  "
    "REMARKDBREF DBREF1SEQADVSEQRESMODRESHET   HETNAMFORMULHELIX SHEET SSBONDLINK  CISPEPCRYST1"
    "ORIGX1SCALE1MTRIX1MODEL ATOM  HETATMPARENTUSER  ";

static int is_record(const char *text, size_t length, const char name[RECORD + 1])
{
    for (size_t i = 0; i < RECORD; i++)
        if ((i < length && text[i] != '\t' ? text[i] : ' ') != name[i])
            return 0;
    return 1;
}

/* 1 for the line of an atom. A serial number of six digits may begin in the last column of "ATOM  ". */
static int is_atom(const char *text, size_t length)
{
    return length >= RECORD && ((memcmp(text, "ATOM ", 5) == 0 &&
                                 (text[5] == ' ' || (text[5] >= '0' && text[5] <= '9'))) ||
                                memcmp(text, "HETATM", RECORD) == 0);
}

/* 1 if x, y and z have their decimal points in the columns of a line that is moved by `shift`. */
static int has_points(const char *text, size_t length, size_t shift)
{
    for (size_t i = 0; i < 3; i++) {
        size_t at = TRAJECTORY_PDB_POSITION + i * WIDTH + 4 + shift;
        if (at >= length || text[at] != '.')
            return 0;
    }
    return 1;
}

static size_t find_shift(const char *text, size_t length)
{
    int64_t serial;

    for (size_t shift = 0; shift <= MAX_SHIFT; shift++)
        if (has_points(text, length, shift) &&
            (shift == 0 ||
             io_decimal_parse_integer(text + SERIAL, SERIAL_COLUMNS + shift, &serial)))
            return shift;
    return 0;
}

/* 1 if the atom is used: it has no alternative location, or its location is the first location in the residue. */
static int take_location(trajectory_pdb *pdb, const char *text)
{
    const char *residue = text + TRAJECTORY_PDB_CHAIN + pdb->shift;
    char location = text[TRAJECTORY_PDB_LOCATION + pdb->shift];

    if (memcmp(pdb->residue, residue, sizeof pdb->residue) != 0) {
        memcpy(pdb->residue, residue, sizeof pdb->residue);
        pdb->location = ' ';
    }
    if (location == ' ')
        return 1;
    if (pdb->location == ' ')
        pdb->location = location;
    return location == pdb->location;
}

static void take_title(trajectory_pdb *pdb, const char *text, size_t length)
{
    const size_t from = 10; /* after the record's name and the number of the continuation line */
    size_t n = length > from ? length - from : 0;

    while (n > 0 && text[from + n - 1] == ' ')
        n--;
    if (n > sizeof pdb->title - 1)
        n = sizeof pdb->title - 1;
    memcpy(pdb->title, text + from, n);
    pdb->title[n] = '\0';
}

/* Reads the box of CRYST1. */
static void take_box(trajectory_pdb *pdb, const char *text, size_t length)
{
    static const struct {
        size_t from;
        size_t width;
    } columns[6] = {{6, 9}, {15, 9}, {24, 9}, {33, 7}, {40, 7}, {47, 7}};
    double numbers[6];

    pdb->boxed = 1;
    memset(pdb->box, 0, sizeof pdb->box);
    for (size_t i = 0; i < 6; i++)
        if (length < columns[i].from + columns[i].width ||
            !io_decimal_parse(text + columns[i].from, columns[i].width, &numbers[i]))
            return;
    trajectory_cell_of_crystal(pdb->box, numbers);
}

/* Updates the state for a record other than an atom; `before` is the position of its line. */
static void take_record(trajectory_pdb *pdb, const char *text, size_t length,
                        const io_lines *before)
{
    if (pdb->n_atoms == 0 && is_record(text, length, "TITLE ")) {
        take_title(pdb, text, length);
    } else if (is_record(text, length, "CRYST1")) {
        take_box(pdb, text, length);
    } else if (is_record(text, length, "CONECT")) {
        pdb->connected = 1;
    } else if (is_record(text, length, "MODEL ")) {
        if (pdb->n_atoms > 0 || pdb->announced) {
            pdb->lines = *before;
            pdb->end = TRAJECTORY_PDB_COMPLETE;
        }
        pdb->announced = 1;
    } else if (is_record(text, length, "ENDMDL")) {
        pdb->end = TRAJECTORY_PDB_COMPLETE;
    } else if (is_record(text, length, "END   ") && pdb->n_atoms > 0 &&
               !(pdb->announced && pdb->lines.cut)) { /* END without a line end may be a cut ENDMDL */
        pdb->end = TRAJECTORY_PDB_COMPLETE;
    }
}

collet_status trajectory_pdb_next(trajectory_pdb *pdb, const char **text, size_t *length,
                                  collet_error *err)
{
    while (pdb->end == TRAJECTORY_PDB_OPEN) {
        io_lines before = pdb->lines;
        collet_status status = io_lines_next(&pdb->lines, text, length, err);

        if (status != COLLET_OK)
            return status;
        if (!*text) {
            pdb->end = TRAJECTORY_PDB_FILE;
        } else if (!is_atom(*text, *length)) {
            take_record(pdb, *text, *length, &before);
        } else {
            pdb->shift = find_shift(*text, *length);
            if (*length < TRAJECTORY_PDB_ATOM_END + pdb->shift)
                return trajectory_text_fail(&pdb->lines, err,
                                            "an atom's line has %d columns, this one has %zu",
                                            TRAJECTORY_PDB_ATOM_END, *length);
            if (take_location(pdb, *text)) {
                pdb->n_atoms++;
                return COLLET_OK;
            }
            pdb->left_out++;
        }
    }
    *text = NULL;
    return COLLET_OK;
}

int trajectory_pdb_begins_model(const char *text, size_t length)
{
    return length >= RECORD &&
           (memcmp(text, "MODEL ", RECORD) == 0 || memcmp(text, "ATOM", 4) == 0 ||
            memcmp(text, "HETATM", RECORD) == 0);
}

trajectory_word trajectory_pdb_serial(const trajectory_pdb *pdb, const char *text)
{
    size_t from = SERIAL - (size_t)(text[SERIAL - 1] >= '0' && text[SERIAL - 1] <= '9');

    return (trajectory_word){text + from, SERIAL + SERIAL_COLUMNS + pdb->shift - from};
}

collet_status trajectory_pdb_position(const trajectory_pdb *pdb, const char *text,
                                      double position[3], collet_error *err)
{
    for (size_t i = 0; i < 3; i++) {
        size_t from = TRAJECTORY_PDB_POSITION + i * WIDTH + pdb->shift;

        if (!io_decimal_parse(text + from, WIDTH, &position[i]))
            return trajectory_text_fail(&pdb->lines, err,
                                        "position %c in columns %zu-%zu is not a number: '%.8s'",
                                        (int)"xyz"[i], from + 1, from + WIDTH, text + from);
        position[i] /= ANGSTROM;
    }
    return COLLET_OK;
}

collet_status trajectory_pdb_skip_rest(trajectory_pdb *pdb, collet_error *err)
{
    io_lines lines = pdb->lines;
    const char *text;
    size_t length;

    do {
        collet_status status = io_lines_next(&lines, &text, &length, err);
        if (status != COLLET_OK)
            return status;
        if (text && (is_atom(text, length) || is_record(text, length, "MODEL ")))
            return COLLET_OK;
    } while (text);
    pdb->lines = lines;
    return COLLET_OK;
}

int trajectory_pdb_recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes;
    const char *end = memchr(text, '\n', n);
    size_t length = end ? (size_t)(end - text) : n;

    if (memchr(bytes, 0, n))
        return 0;
    length -= length > 0 && text[length - 1] == '\r';
    if (is_atom(text, length))
        return 1;
    for (const char *record = first_records; *record; record += RECORD)
        if (is_record(text, length, record))
            return 1;
    return 0;
}

/*
 * The numbers of residues in a .pdb file.
 *
 * Residue numbers are decimal. They have four columns, or five digits with the fifth in the column of the insertion
 * code. Above 9999 they may be hybrid-36 numbers (A000 is 10000), or hexadecimal numbers that continue the numbering,
 * as VMD writes them.
 */

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
