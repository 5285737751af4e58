/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prmtop.c - topologies of AMBER and CHAMBER, also .parm7: names, residues, masses, charges,
 * elements and bonds.
 *
 * A section is "%FLAG NAME", perhaps %COMMENT lines, "%FORMAT(10I8)" and its values in columns of
 * that width. POINTERS has the numbers of values of the other sections. Charges in the file are multiplied by the
 * square root of Coulomb's constant (in files of CHAMBER, by the root of CHARMM's constant). Indices of atoms in
 * bonds are multiplied by three. Residues are numbered from 1. Files of versions before AMBER 7 have no
 * %FLAG and are not read.
 *
 * Tests: tests/engines/test_io_prmtop.c, tests/fuzz/fuzz_trajectory.c
 */
#include "io/decimal.h"
#include "trajectory/formats/formats.h"
#include "trajectory/formats/names.h"
#include "trajectory/formats/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AMBER_CHARGE 18.2223             /* file's unit of charge: square root of Coulomb's constant */
#define CHARMM_CHARGE 18.222831832621406 /* in kcal/mol Angstrom; CHARMM: sqrt(332.0716) */
#define POINTERS 13                      /* number of values of the section POINTERS that are used */
#define MAX_WIDTH 80
#define TITLE 256

/* Indices in the section POINTERS. */
enum { ATOMS = 0, BONDS_WITH_HYDROGEN = 2, RESIDUES = 11, OTHER_BONDS = 12 };

typedef struct prmtop {
    io_lines lines;
    const struct section *section;
    trajectory_topology *topology;
    char title[TITLE];
    int is_chamber; /* 1: the title's section is CTITLE: chamber made the file for CHARMM's force field */
    int64_t pointers[POINTERS];
    char (*labels)[TRAJECTORY_ATOM_NAME]; /* one for each residue; also `chains` and `starts` */
    char (*chains)[TRAJECTORY_ATOM_NAME];
    int64_t *starts; /* first atom of each residue, from 0 */
    trajectory_bond *bonds;
    unsigned read; /* sections that were read: bit i for row i of the table of sections */
} prmtop;

typedef struct section {
    const char *flag;
    int optional;
    int pointer; /* index in POINTERS of the section's number of items; NONE: POINTERS itself */
    int each;    /* number of values for each item */
    /* Takes value i of the section, without surrounding blanks. */
    collet_status (*take)(prmtop *p, int64_t i, trajectory_word field, collet_error *err);
} section;

enum { NONE = -1 };

static collet_status no_memory(const prmtop *p, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", p->lines.source->path);
}

/* ---- Values ------------------------------------------------------------------------------ */

static collet_status bad_value(const prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    return trajectory_text_fail(&p->lines, err, "value %lld of %s is '%.*s'", (long long)i + 1,
                                p->section->flag, (int)field.length, field.text);
}

/* Reads an integer from `low` to `high`. */
static collet_status read_integer(const prmtop *p, int64_t i, trajectory_word field, int64_t low,
                                  int64_t high, int64_t *value, collet_error *err)
{
    if (!io_decimal_parse_integer(field.text, field.length, value) || *value < low || *value > high)
        return bad_value(p, i, field, err);
    return COLLET_OK;
}

static collet_status read_real(const prmtop *p, int64_t i, trajectory_word field, double *value,
                               collet_error *err)
{
    if (!io_decimal_parse(field.text, field.length, value) || !isfinite(*value))
        return bad_value(p, i, field, err);
    return COLLET_OK;
}

static collet_status allocate(prmtop *p, collet_error *err)
{
    const int64_t *n = p->pointers;
    size_t residues = (size_t)n[RESIDUES],
           bonds = (size_t)(n[BONDS_WITH_HYDROGEN] + n[OTHER_BONDS]);
    const char *path = p->lines.source->path;

    collet_status status =
        trajectory_topology_allocate(p->topology, n[ATOMS], p->title, strlen(p->title), path, err);
    if (status == COLLET_OK)
        status =
            trajectory_topology_allocate_more(p->topology,
                                              TRAJECTORY_WITH_CHAINS | TRAJECTORY_WITH_ELEMENTS |
                                                  TRAJECTORY_WITH_MASSES | TRAJECTORY_WITH_CHARGES,
                                              path, err);
    if (status != COLLET_OK)
        return status;
    p->labels = calloc(residues, sizeof *p->labels);
    p->chains = calloc(residues, sizeof *p->chains);
    p->starts = calloc(residues, sizeof *p->starts);
    p->bonds = calloc(bonds + 1, sizeof *p->bonds);
    return p->labels && p->chains && p->starts && p->bonds ? COLLET_OK : no_memory(p, err);
}

/* Takes a value of POINTERS. Every value takes bytes in the file. So counts that the file cannot hold are refused
 * before memory is allocated. */
static collet_status take_pointer(prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    int64_t most = p->lines.source->size / (i == ATOMS || i == RESIDUES ? 1 : 3);
    collet_status status =
        read_integer(p, i, field, i == ATOMS || i == RESIDUES, most, &p->pointers[i], err);

    return status == COLLET_OK && i == POINTERS - 1 ? allocate(p, err) : status;
}

static collet_status take_name(prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    return trajectory_text_copy_name(&p->lines, field, p->topology->names[i], err);
}

static collet_status take_charge(prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    collet_status status = read_real(p, i, field, &p->topology->charges[i], err);

    p->topology->charges[i] /= p->is_chamber ? CHARMM_CHARGE : AMBER_CHARGE;
    return status;
}

static collet_status take_mass(prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    collet_status status = read_real(p, i, field, &p->topology->masses[i], err);

    return status == COLLET_OK && p->topology->masses[i] < 0 ? bad_value(p, i, field, err) : status;
}

static collet_status take_atomic_number(prmtop *p, int64_t i, trajectory_word field,
                                        collet_error *err)
{
    int64_t number;

    collet_status status = read_integer(p, i, field, INT32_MIN, INT32_MAX, &number, err);
    if (status == COLLET_OK)
        trajectory_topology_put_element(p->topology, i, number);
    return status;
}

static collet_status take_label(prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    return trajectory_text_copy_name(&p->lines, field, p->labels[i], err);
}

static collet_status take_chain(prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    return trajectory_text_copy_name(&p->lines, field, p->chains[i], err);
}

static collet_status take_start(prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    int64_t low = i == 0 ? 1 : p->starts[i - 1] + 2, high = i == 0 ? 1 : p->pointers[ATOMS];
    collet_status status = read_integer(p, i, field, low, high, &p->starts[i], err);

    p->starts[i]--;
    return status;
}

/* Takes a value of a bond. A bond has three values: two atoms, and a type that is not used. */
static collet_status take_bond(prmtop *p, int64_t i, trajectory_word field, trajectory_bond *bonds,
                               collet_error *err)
{
    int64_t value;
    collet_status status = COLLET_OK;

    if (i % 3 == 2)
        return COLLET_OK;
    status = read_integer(p, i, field, 0, 3 * (p->pointers[ATOMS] - 1), &value, err);
    if (status == COLLET_OK && value % 3 != 0)
        return bad_value(p, i, field, err);
    if (i % 3 == 0)
        bonds[i / 3].first = value / 3;
    else
        bonds[i / 3].second = value / 3;
    return status;
}

static collet_status take_bond_with_hydrogen(prmtop *p, int64_t i, trajectory_word field,
                                             collet_error *err)
{
    return take_bond(p, i, field, p->bonds, err);
}

static collet_status take_other_bond(prmtop *p, int64_t i, trajectory_word field, collet_error *err)
{
    return take_bond(p, i, field, p->bonds + p->pointers[BONDS_WITH_HYDROGEN], err);
}

/* ---- Sections ---------------------------------------------------------------------------- */

static const section sections[] = {
    {"POINTERS", 0, NONE, POINTERS, take_pointer},
    {"ATOM_NAME", 0, ATOMS, 1, take_name},
    {"CHARGE", 0, ATOMS, 1, take_charge},
    {"ATOMIC_NUMBER", 1, ATOMS, 1, take_atomic_number},
    {"MASS", 0, ATOMS, 1, take_mass},
    {"RESIDUE_LABEL", 0, RESIDUES, 1, take_label},
    {"RESIDUE_CHAINID", 1, RESIDUES, 1, take_chain},
    {"RESIDUE_POINTER", 0, RESIDUES, 1, take_start},
    {"BONDS_INC_HYDROGEN", 0, BONDS_WITH_HYDROGEN, 3, take_bond_with_hydrogen},
    {"BONDS_WITHOUT_HYDROGEN", 0, OTHER_BONDS, 3, take_other_bond},
};
#define SECTIONS (sizeof sections / sizeof *sections)

/* 1 if the line begins with '%' and the name. */
static int is_control(const char *text, size_t length, const char *name)
{
    size_t n = strlen(name);

    return length > n && *text == '%' && memcmp(text + 1, name, n) == 0;
}

/* Reads "%FORMAT(20a4)": the number of values in a line, and their width. */
static int parse_format(const char *text, size_t length, int64_t *per_line, int64_t *width)
{
    const size_t from = sizeof "FORMAT("; /* after '%' */
    size_t letter = from, end;

    while (letter < length && text[letter] >= '0' && text[letter] <= '9')
        letter++;
    for (end = letter + 1; end < length && text[end] >= '0' && text[end] <= '9';)
        end++;
    *per_line = 1; /* if the format has no number */
    return letter < length &&
           (letter == from || io_decimal_parse_integer(text + from, letter - from, per_line)) &&
           io_decimal_parse_integer(text + letter + 1, end - letter - 1, width) && *per_line > 0 &&
           *width > 0 && *width <= MAX_WIDTH;
}

static collet_status find_format(prmtop *p, int64_t *per_line, int64_t *width, collet_error *err)
{
    const char *text;
    size_t length;

    do {
        collet_status status = io_lines_next(&p->lines, &text, &length, err);
        if (status != COLLET_OK)
            return status;
    } while (text && is_control(text, length, "COMMENT"));
    if (text && is_control(text, length, "FORMAT(") && parse_format(text, length, per_line, width))
        return COLLET_OK;
    return trajectory_text_fail(&p->lines, err, "%s needs a line such as %%FORMAT(10I8)",
                                p->section->flag);
}

/* Takes the values of a line; columns after its end are blank. */
static collet_status take_line(prmtop *p, const char *text, size_t length, int64_t i, int64_t end,
                               size_t width, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (size_t at = 0; i < end && status == COLLET_OK; i++, at += width) {
        const char *from = at < length ? text + at : "";
        trajectory_word field = {from, at >= length          ? 0
                                       : length - at < width ? length - at
                                                             : width};
        while (field.length > 0 && *field.text == ' ') {
            field.text++;
            field.length--;
        }
        while (field.length > 0 && field.text[field.length - 1] == ' ')
            field.length--;
        status = p->section->take(p, i, field, err);
    }
    return status;
}

static collet_status read_section(prmtop *p, collet_error *err)
{
    int pointer = p->section->pointer;
    int64_t per_line, width, n = (pointer == NONE ? 1 : p->pointers[pointer]) * p->section->each;

    if (pointer != NONE && !p->topology->names)
        return trajectory_text_fail(&p->lines, err, "%s before POINTERS", p->section->flag);
    if (pointer == NONE && p->topology->names)
        return trajectory_text_fail(&p->lines, err, "a second section POINTERS");
    collet_status status = find_format(p, &per_line, &width, err);
    for (int64_t i = 0; i < n && status == COLLET_OK; i += per_line) {
        const char *text;
        size_t length;

        status = io_lines_next(&p->lines, &text, &length, err);
        if (status == COLLET_OK && (!text || (length > 0 && *text == '%') || p->lines.cut))
            return trajectory_text_fail(&p->lines, err, "%s ends after %lld of its %lld values",
                                        p->section->flag, (long long)i, (long long)n);
        if (status == COLLET_OK)
            status = take_line(p, text, length, i, n - i < per_line ? n : i + per_line,
                               (size_t)width, err);
    }
    p->read |= 1U << (p->section - sections);
    return status;
}

/* Copies the line after the format of a title. */
static collet_status read_title(prmtop *p, collet_error *err)
{
    int64_t per_line, width;
    const char *text;
    size_t length;

    p->section = &(section){.flag = "TITLE"};
    collet_status status = find_format(p, &per_line, &width, err);
    io_lines before = p->lines;
    if (status == COLLET_OK)
        status = io_lines_next(&p->lines, &text, &length, err);
    if (status != COLLET_OK || !text)
        return status;
    if (length > 0 && *text == '%') {
        p->lines = before;
        return COLLET_OK;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    memcpy(p->title, text, length < TITLE ? length : TITLE - 1);
    return COLLET_OK;
}

/* ---- File -------------------------------------------------------------------------------- */

static collet_status read_flag(prmtop *p, trajectory_word name, collet_error *err)
{
    int is_chamber = name.length == 6 && memcmp(name.text, "CTITLE", 6) == 0;

    if (!p->topology->names &&
        (is_chamber || (name.length == 5 && memcmp(name.text, "TITLE", 5) == 0))) {
        p->is_chamber = is_chamber;
        return read_title(p, err);
    }
    for (size_t i = 0; i < SECTIONS; i++)
        if (strlen(sections[i].flag) == name.length &&
            memcmp(sections[i].flag, name.text, name.length) == 0) {
            p->section = &sections[i];
            return read_section(p, err);
        }
    return COLLET_OK;
}

static collet_status read_sections(prmtop *p, collet_error *err)
{
    for (;;) {
        trajectory_word words[2];
        const char *text;
        size_t length;

        collet_status status = io_lines_next(&p->lines, &text, &length, err);
        if (status != COLLET_OK || !text)
            return status;
        if (is_control(text, length, "FLAG ") && trajectory_text_split(text, length, words, 2) == 2)
            status = read_flag(p, words[1], err);
        if (status != COLLET_OK)
            return status;
    }
}

/* Gives atoms their residues, and the topology its bonds. */
static collet_status complete(prmtop *p, collet_error *err)
{
    trajectory_topology *t = p->topology;
    int64_t n = p->pointers[RESIDUES];
    const char *path = p->lines.source->path;

    for (size_t i = 0; i < SECTIONS; i++)
        if (!sections[i].optional && !(p->read & 1U << i))
            return collet_fail(err, COLLET_FORMAT, "%s: the file has no %%FLAG %s", path,
                               sections[i].flag);
    for (int64_t r = 0; r < n; r++)
        for (int64_t i = p->starts[r]; i < (r + 1 < n ? p->starts[r + 1] : t->n_atoms); i++) {
            memcpy(t->residue_names[i], p->labels[r], sizeof *p->labels);
            memcpy(t->chains[i], p->chains[r], sizeof *p->chains);
            t->residue_ids[i] = (int32_t)(r + 1);
        }
    trajectory_topology_drop_empty(t);
    trajectory_bond *bonds = p->bonds;
    p->bonds = NULL;
    return trajectory_topology_set_bonds(
        t, bonds, p->pointers[BONDS_WITH_HYDROGEN] + p->pointers[OTHER_BONDS], path, err);
}

static collet_status read_topology(io_source *source, trajectory_topology *topology,
                                   collet_error *err)
{
    prmtop p = {.lines = {.source = source, .number = 1}, .topology = topology};

    collet_status status = read_sections(&p, err);
    if (status == COLLET_OK)
        status = complete(&p, err);
    free(p.labels);
    free(p.chains);
    free(p.starts);
    free(p.bonds);
    return status;
}

static int recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes;

    return (is_control(text, n, "VERSION") || is_control(text, n, "FLAG ")) && !memchr(bytes, 0, n);
}

const trajectory_format trajectory_prmtop_format = {
    .name = "prmtop",
    .kind = "a .prmtop file",
    .title = "AMBER, text with masses, charges and bonds, also .parm7",
    .text = 1,
    .recognise = recognise,
    .topology = read_topology,
};
