/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psf.c - topologies of CHARMM, X-PLOR and NAMD: atoms with segments, masses and charges; bonds.
 *
 * A file has "PSF" with the names of variants (EXT, CMAP, XPLOR, NAMD); then titles; then sections, each with its
 * size in front of "!NATOM" or another name. An atom's line has: number, segment, residue number,
 * residue, name, type, charge, mass, and numbers that are not used here. All variants separate these values by
 * blanks; a segment may be empty. The bonds, !NBOND, are pairs of numbers of atoms. The sections after the bonds are
 * not read.
 *
 * Tests: tests/engines/test_io_psf.c, tests/fuzz/fuzz_trajectory.c
 */
#include "formats.h"
#include "io/decimal.h"
#include "io/letters.h"
#include "names.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST_LINE 20 /* minimum bytes of an atom's line; refuses counts that the file cannot hold */
#define SHORTEST_BOND 4  /* minimum bytes of a bond, for the same check */
#define MAX_WORDS 9
#define NONE INT64_MIN /* no section of bonds */
#define TITLE 256

/* The indices of the words in an atom's line with a segment. */
enum { SEGMENT = 1, RESIDUE_NUMBER = 2, RESIDUE = 3, NAME = 4, CHARGE = 6, MASS = 7 };

typedef trajectory_word word;

static int recognise(const uint8_t *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, "PSF", 3) == 0 &&
           (bytes[3] == ' ' || bytes[3] == '\n' || bytes[3] == '\r') && !memchr(bytes, 0, n);
}

static int parse(const word *w, double *value)
{
    return io_decimal_parse(w->text, w->length, value);
}

static int starts_with(const word *w, const char *text)
{
    return w->length >= strlen(text) && memcmp(w->text, text, strlen(text)) == 0;
}

static int is_real(const word *w)
{
    double value;

    return memchr(w->text, '.', w->length) && parse(w, &value);
}

/* Reads the file up to the number of atoms, including the first title. */
static collet_status find_atoms(io_lines *lines, int64_t *n_atoms, char title[TITLE],
                                collet_error *err)
{
    for (;;) {
        word words[MAX_WORDS];
        const char *text;
        size_t length;

        collet_status status = io_lines_next(lines, &text, &length, err);
        if (status != COLLET_OK)
            return status;
        if (!text)
            return collet_fail(err, COLLET_FORMAT,
                               "%s:%lld: the file ends before its atoms (!NATOM)",
                               lines->source->path, (long long)lines->number);
        if (trajectory_text_split(text, length, words, MAX_WORDS) < 2)
            continue;
        if (starts_with(&words[1], "!NATOM") &&
            io_decimal_parse_integer(words[0].text, words[0].length, n_atoms))
            return COLLET_OK;
        if (title[0] == '\0' && starts_with(&words[0], "REMARKS")) {
            size_t rest = (size_t)(text + length - words[1].text);
            size_t kept = rest < TITLE - 1 ? rest : TITLE - 1;
            memcpy(title, words[1].text, kept);
            title[kept] = '\0';
        }
    }
}

/* Reads a residue number; the letter of an insertion code may follow. */
static int parse_residue(const word *w, int32_t *number, char *insertion)
{
    size_t n = w->length;
    int64_t value;

    if (n > 1 && (io_is_upper(w->text[n - 1]) || io_is_lower(w->text[n - 1])))
        *insertion = w->text[--n];
    if (!io_decimal_parse_integer(w->text, n, &value) || value < INT32_MIN || value > INT32_MAX)
        return 0;
    *number = (int32_t)value;
    return 1;
}

static collet_status read_atom(const io_lines *lines, const char *text, size_t length,
                               trajectory_topology *topology, int64_t atom, collet_error *err)
{
    word all[1 + MAX_WORDS], *words = all + 1;
    double charge, mass;
    size_t n = trajectory_text_split(text, length, words, MAX_WORDS);
    /* If there is no segment, charge and mass are one word earlier. Charge and mass are recognised by their decimal
     * points. */
    int empty = n >= MASS && is_real(&words[CHARGE - 1]) && is_real(&words[MASS - 1]);
    const word *w = words - empty;

    if (n < MASS + 1 - (size_t)empty)
        return trajectory_text_fail(lines, err,
                                    "atom %lld of %lld is expected (number, segment, residue "
                                    "number, residue, name, type, charge, mass), the line has %zu "
                                    "words",
                                    (long long)atom + 1, (long long)topology->n_atoms, n);
    if (!parse_residue(&w[RESIDUE_NUMBER], &topology->residue_ids[atom],
                       &topology->insertions[atom]))
        return trajectory_text_fail(lines, err, "the residue number is '%.*s'",
                                    (int)(w[RESIDUE_NUMBER].length & 63), w[RESIDUE_NUMBER].text);
    if (!parse(&w[CHARGE], &charge) || !parse(&w[MASS], &mass) || !isfinite(charge) ||
        !isfinite(mass) || mass < 0)
        return trajectory_text_fail(lines, err, "'%.*s' and '%.*s' are not a charge and a mass",
                                    (int)(w[CHARGE].length & 63), w[CHARGE].text,
                                    (int)(w[MASS].length & 63), w[MASS].text);
    topology->charges[atom] = charge;
    topology->masses[atom] = mass;
    collet_status status =
        trajectory_text_copy_name(lines, w[RESIDUE], topology->residue_names[atom], err);
    if (status == COLLET_OK)
        status = trajectory_text_copy_name(lines, w[NAME], topology->names[atom], err);
    if (status == COLLET_OK && !empty)
        status = trajectory_text_copy_name(lines, w[SEGMENT], topology->segments[atom], err);
    return status;
}

/* Reads up to the number of bonds; NONE: the file ends after its atoms. */
static collet_status find_bonds(io_lines *lines, int64_t *n_bonds, collet_error *err)
{
    int other = 0;

    for (;;) {
        word words[2];
        const char *text;
        size_t length;

        collet_status status = io_lines_next(lines, &text, &length, err);
        if (status != COLLET_OK)
            return status;
        *n_bonds = NONE;
        if (!text)
            return other ? collet_fail(err, COLLET_FORMAT,
                                       "%s:%lld: the file ends before its bonds (!NBOND)",
                                       lines->source->path, (long long)lines->number)
                         : COLLET_OK;
        size_t n = trajectory_text_split(text, length, words, 2);
        if (n == 2 && starts_with(&words[1], "!NBOND") &&
            io_decimal_parse_integer(words[0].text, words[0].length, n_bonds))
            return COLLET_OK;
        other = other || n > 0;
    }
}

/* Reads the pairs of atoms. A line may have any number of pairs. */
static collet_status read_pairs(io_lines *lines, trajectory_bond *bonds, int64_t n_bonds,
                                collet_error *err)
{
    int64_t n = 0, pair[2];

    while (n < 2 * n_bonds) {
        const char *text, *end;
        size_t length;
        word w;

        collet_status status = io_lines_next(lines, &text, &length, err);
        if (status != COLLET_OK)
            return status;
        if (!text)
            return collet_fail(err, COLLET_FORMAT,
                               "%s:%lld: the file ends after %lld of its %lld bonds",
                               lines->source->path, (long long)lines->number, (long long)(n / 2),
                               (long long)n_bonds);
        for (end = text + length; n < 2 * n_bonds; text = w.text + w.length) {
            if (trajectory_text_split(text, (size_t)(end - text), &w, 1) == 0)
                break;
            if (!io_decimal_parse_integer(w.text, w.length, &pair[n % 2]))
                return trajectory_text_fail(lines, err,
                                            "'%.*s' is not the number of an atom; %lld of %lld "
                                            "bonds were read",
                                            (int)(w.length & 63), w.text, (long long)(n / 2),
                                            (long long)n_bonds);
            if (n++ % 2 == 1)
                bonds[n / 2 - 1] = (trajectory_bond){pair[0] - 1, pair[1] - 1};
        }
    }
    return COLLET_OK;
}

static collet_status read_bonds(io_lines *lines, trajectory_topology *topology, collet_error *err)
{
    const char *path = lines->source->path;
    int64_t n;

    collet_status status = find_bonds(lines, &n, err);
    if (status != COLLET_OK || n == NONE)
        return status;
    if (n < 0 || n > lines->source->size / SHORTEST_BOND)
        return trajectory_text_fail(lines, err, "%lld bonds are impossible in a file of %lld bytes",
                                    (long long)n, (long long)lines->source->size);
    trajectory_bond *bonds = malloc(((size_t)n + 1) * sizeof *bonds);
    if (!bonds)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld bonds", path,
                           (long long)n);
    status = read_pairs(lines, bonds, n, err);
    if (status == COLLET_OK)
        return trajectory_topology_set_bonds(topology, bonds, n, path, err);
    free(bonds);
    return status;
}

static collet_status read_topology(io_source *source, trajectory_topology *topology,
                                   collet_error *err)
{
    io_lines lines = {.source = source, .number = 1};
    char title[TITLE] = "";
    int64_t n;

    collet_status status = find_atoms(&lines, &n, title, err);
    if (status != COLLET_OK)
        return status;
    if (n < 1 || n > source->size / SHORTEST_LINE)
        return trajectory_text_fail(&lines, err,
                                    "%lld atoms are impossible in a file of %lld bytes",
                                    (long long)n, (long long)source->size);
    status = trajectory_topology_allocate(topology, n, title, strlen(title), source->path, err);
    if (status == COLLET_OK)
        status = trajectory_topology_allocate_more(
            topology,
            TRAJECTORY_WITH_INSERTIONS | TRAJECTORY_WITH_SEGMENTS | TRAJECTORY_WITH_CHARGES |
                TRAJECTORY_WITH_MASSES,
            source->path, err);
    for (int64_t i = 0; status == COLLET_OK && i < n; i++) {
        const char *text;
        size_t length;

        status = io_lines_next(&lines, &text, &length, err);
        if (status == COLLET_OK && !text)
            return collet_fail(err, COLLET_FORMAT,
                               "%s:%lld: the file ends after %lld of its %lld atoms", source->path,
                               (long long)lines.number, (long long)i, (long long)n);
        if (status == COLLET_OK)
            status = read_atom(&lines, text, length, topology, i, err);
    }
    if (status == COLLET_OK)
        status = read_bonds(&lines, topology, err);
    if (status == COLLET_OK)
        trajectory_topology_drop_empty(topology);
    return status;
}

const trajectory_format trajectory_psf_format = {
    .name = "psf",
    .kind = "a .psf file",
    .title = "CHARMM, X-PLOR, NAMD, text with masses and bonds",
    .text = 1,
    .recognise = recognise,
    .topology = read_topology,
};
