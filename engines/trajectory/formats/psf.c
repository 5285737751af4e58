/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psf.c - topologies of CHARMM, X-PLOR and NAMD: names, residues and masses of atoms.
 *
 * "PSF" with the names of variants (EXT, CMAP, XPLOR, NAMD); titles; then sections, each with its
 * size in front of "!NATOM" or another name. An atom's line has: number, segment, residue number,
 * residue, name, type, charge, mass, and numbers that are not used here. All variants separate them
 * by blanks; a segment may be empty. The sections after the atoms are not read.
 *
 * Tests: tests/engines/test_io_psf.c, tests/fuzz/fuzz_trajectory.c
 */
#include "formats.h"
#include "io/decimal.h"
#include "io/letters.h"
#include "names.h"
#include "text.h"

#include <math.h>
#include <string.h>

#define SHORTEST_LINE 20 /* an atom's line is not shorter: bounds memory by the file's size */
#define MAX_WORDS 9
#define TITLE 256

/* The words of an atom's line that has a segment. */
enum { RESIDUE_NUMBER = 2, RESIDUE = 3, NAME = 4, CHARGE = 6, MASS = 7 };

typedef struct word {
    const char *text;
    size_t length;
} word;

/* Sets the first words of a line; returns their number, at most MAX_WORDS. */
static size_t split(const char *text, size_t length, word words[MAX_WORDS])
{
    const char *end = text + length;
    size_t n = 0;

    while (n < MAX_WORDS) {
        while (text < end && (*text == ' ' || *text == '\t'))
            text++;
        if (text == end)
            break;
        words[n].text = text;
        while (text < end && *text != ' ' && *text != '\t')
            text++;
        words[n].length = (size_t)(text - words[n].text);
        n++;
    }
    return n;
}

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

/* Reads up to the number of atoms, and the first title on the way. */
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
        if (split(text, length, words) < 2)
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

/* Reads digits; the letter of an insertion may follow. */
static int parse_residue(const word *w, int32_t *number)
{
    size_t n = w->length;
    int64_t value;

    n -= n > 1 && (io_is_upper(w->text[n - 1]) || io_is_lower(w->text[n - 1]));
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
    size_t n = split(text, length, words);
    /* Without a segment charge and mass, which have decimal points, are one word earlier. */
    int empty = n >= MASS && is_real(&words[CHARGE - 1]) && is_real(&words[MASS - 1]);
    const word *w = words - empty;

    if (n < MASS + 1 - (size_t)empty)
        return trajectory_text_fail(lines, err,
                                    "atom %lld of %lld is expected (number, segment, residue "
                                    "number, residue, name, type, charge, mass), the line has %zu "
                                    "words",
                                    (long long)atom + 1, (long long)topology->n_atoms, n);
    if (!parse_residue(&w[RESIDUE_NUMBER], &topology->residue_ids[atom]))
        return trajectory_text_fail(lines, err, "the residue number is '%.*s'",
                                    (int)(w[RESIDUE_NUMBER].length & 63), w[RESIDUE_NUMBER].text);
    if (w[RESIDUE].length >= TRAJECTORY_ATOM_NAME || w[NAME].length >= TRAJECTORY_ATOM_NAME)
        return trajectory_text_fail(lines, err, "a name has more than %d letters",
                                    TRAJECTORY_ATOM_NAME - 1);
    if (!parse(&w[CHARGE], &charge) || !parse(&w[MASS], &mass) || !isfinite(charge) ||
        !isfinite(mass) || mass < 0)
        return trajectory_text_fail(lines, err, "'%.*s' and '%.*s' are not a charge and a mass",
                                    (int)(w[CHARGE].length & 63), w[CHARGE].text,
                                    (int)(w[MASS].length & 63), w[MASS].text);
    memcpy(topology->residue_names[atom], w[RESIDUE].text, w[RESIDUE].length);
    memcpy(topology->names[atom], w[NAME].text, w[NAME].length);
    topology->masses[atom] = mass;
    return COLLET_OK;
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
        status = trajectory_topology_allocate_one(topology, &topology->masses,
                                                  sizeof *topology->masses, source->path, err);
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
    return status;
}

const trajectory_format trajectory_psf_format = {
    .name = "psf",
    .kind = "a .psf file",
    .title = "CHARMM, X-PLOR, NAMD, text with names and masses",
    .text = 1,
    .recognise = recognise,
    .topology = read_topology,
};
