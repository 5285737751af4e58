/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_top.c, tests/fuzz/fuzz_trajectory.c */
#include "top.h"

#include "io/decimal.h"
#include "io/letters.h"
#include "trajectory/formats/growth.h"

#include <collet/collet.h>

#include <math.h>

#define MAX_WORDS 8   /* only the first 8 words of a line are read */
#define RESTRAINT 10  /* function of [ bonds ] that is not a bond */
#define ATOM_BYTES 80 /* approximate memory of an atom in a topology, bytes */
#define SHOWN(word) ((int)((word).length < 40 ? (word).length : 40)), (word).text

/* The state of a parser. */
typedef struct parser {
    trajectory_top *top;
    trajectory_top_lines lines;
    const struct section *section; /* NULL: its lines are not read */
    int done;                      /* 1: later sections join molecules and do not belong to a molecule */
} parser;

typedef struct line {
    trajectory_word words[MAX_WORDS];
    size_t n;
    trajectory_word all;
} line;

typedef struct section {
    const char *name; /* lower case, without '_' and '-': gmx ignores these when it compares names */
    size_t min_words;
    const char *words; /* for messages */
    collet_status (*read)(parser *p, const line *l, collet_error *err);
    int of_system; /* 1: the section may come after [ molecules ] */
} section;

static collet_status no_memory(const parser *p, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it",
                       p->lines.files[0]->source->path);
}

static const io_lines *where(const parser *p)
{
    return trajectory_top_where(&p->lines);
}

/* Returns the molecule type that is being read; NULL: none yet. */
static trajectory_top_molecule *current(const parser *p)
{
    return p->top->n_molecules > 0 ? &p->top->molecules[p->top->n_molecules - 1] : NULL;
}

static collet_status no_molecule(const parser *p, collet_error *err)
{
    return trajectory_text_fail(where(p), err, "[ %s ] before the first [ moleculetype ]",
                                p->section->name);
}

static int parse_integer(trajectory_word word, int64_t *value)
{
    return io_decimal_parse_integer(word.text, word.length, value);
}

static collet_status read_number(const parser *p, trajectory_word word, const char *what,
                                 double *value, collet_error *err)
{
    if (io_decimal_parse(word.text, word.length, value) && isfinite(*value))
        return COLLET_OK;
    return trajectory_text_fail(where(p), err, "the %s '%.*s' is not a number", what, SHOWN(word));
}

/* ---- Atom types -------------------------------------------------------------------------- */

static int is_letter(trajectory_word word)
{
    return word.length > 0 && (io_is_upper(*word.text) || io_is_lower(*word.text));
}

/* Reads a line of [ atomtypes ]: name, optionally a bonded type, optionally an atomic number, mass, charge, particle
 * type (one letter), parameters. Like GROMACS, finds out by the position of the particle type which of the optional
 * words are present. */
static collet_status read_type(parser *p, const line *l, collet_error *err)
{
    trajectory_top *top = p->top;
    size_t mass = l->n > 5 && l->words[5].length == 1 && is_letter(l->words[5]) ? 3
                  : l->words[3].length == 1 && is_letter(l->words[3])           ? 1
                                                                                : 2;
    trajectory_top_type type;

    collet_status status = read_number(p, l->words[mass], "mass", &type.mass, err);
    if (status == COLLET_OK)
        status = read_number(p, l->words[mass + 1], "charge", &type.charge, err);
    if (status != COLLET_OK)
        return status;
    if (!trajectory_grow(&top->types, top->n_types, 1, &top->types_capacity, sizeof type) ||
        !trajectory_dictionary_set(&top->type_names, l->words[0], top->n_types))
        return no_memory(p, err);
    top->types[top->n_types++] = type;
    return COLLET_OK;
}

/* ---- Molecule types ---------------------------------------------------------------------- */

static collet_status read_moleculetype(parser *p, const line *l, collet_error *err)
{
    trajectory_top *top = p->top;
    trajectory_word name = l->words[0];
    trajectory_top_molecule molecule = {.first_atom = top->n_atoms, .first_bond = top->n_bonds};

    if (trajectory_dictionary_find(&top->molecule_names, name) >= 0)
        return trajectory_text_fail(where(p), err, "the molecule type '%.*s' is defined twice",
                                    SHOWN(name));
    memcpy(molecule.name, name.text,
           name.length < TRAJECTORY_ATOM_NAME ? name.length : TRAJECTORY_ATOM_NAME - 1);
    if (!trajectory_grow(&top->molecules, top->n_molecules, 1, &top->molecules_capacity,
                         sizeof molecule) ||
        !trajectory_dictionary_set(&top->molecule_names, name, top->n_molecules))
        return no_memory(p, err);
    top->molecules[top->n_molecules++] = molecule;
    return COLLET_OK;
}

/* Reads the charge and the mass of an atom from its line or from its type. */
static collet_status read_charge_and_mass(const parser *p, const line *l, trajectory_top_atom *atom,
                                          collet_error *err)
{
    const trajectory_top *top = p->top;
    int64_t type = trajectory_dictionary_find(&top->type_names, l->words[1]);
    collet_status status = COLLET_OK;

    if (type < 0 && top->n_types > 0)
        return trajectory_text_fail(where(p), err, "the atom type '%.*s' is not in [ atomtypes ]",
                                    SHOWN(l->words[1]));
    atom->charge = type < 0 ? (double)NAN : top->types[type].charge;
    atom->mass = type < 0 ? (double)NAN : top->types[type].mass;
    if (l->n > 6)
        status = read_number(p, l->words[6], "charge", &atom->charge, err);
    if (status == COLLET_OK && l->n > 7)
        status = read_number(p, l->words[7], "mass", &atom->mass, err);
    if (status == COLLET_OK && atom->mass < 0)
        return trajectory_text_fail(where(p), err, "the mass %g is negative", atom->mass);
    return status;
}

/* Reads a residue number: digits, and perhaps the letter of an insertion code. */
static int parse_residue(trajectory_word word, trajectory_top_atom *atom)
{
    int64_t value;

    if (word.length > 1 && is_letter((trajectory_word){word.text + word.length - 1, 1}))
        atom->insertion = word.text[--word.length];
    if (!parse_integer(word, &value) || value < INT32_MIN || value > INT32_MAX)
        return 0;
    atom->residue_id = (int32_t)value;
    return 1;
}

static int same_residue(const trajectory_top_atom *a, const trajectory_top_atom *b)
{
    return a->residue_id == b->residue_id && a->insertion == b->insertion &&
           strcmp(a->residue, b->residue) == 0;
}

/* Reads a line of [ atoms ]: number, type, residue number, residue, name, charge group, charge, mass. */
static collet_status read_atom(parser *p, const line *l, collet_error *err)
{
    trajectory_top *top = p->top;
    trajectory_top_molecule *molecule = current(p);
    trajectory_top_atom atom = {.insertion = 0};
    int64_t number;

    if (!molecule)
        return no_molecule(p, err);
    if (!parse_integer(l->words[0], &number) || number != molecule->n_atoms + 1)
        return trajectory_text_fail(
            where(p), err,
            "the number of the atom is '%.*s', but the molecule's atom %lld "
            "is expected",
            SHOWN(l->words[0]), (long long)molecule->n_atoms + 1);
    if (!parse_residue(l->words[2], &atom))
        return trajectory_text_fail(where(p), err, "the residue number is '%.*s'",
                                    SHOWN(l->words[2]));
    collet_status status = trajectory_text_copy_name(where(p), l->words[3], atom.residue, err);
    if (status == COLLET_OK)
        status = trajectory_text_copy_name(where(p), l->words[4], atom.name, err);
    if (status == COLLET_OK)
        status = read_charge_and_mass(p, l, &atom, err);
    if (status != COLLET_OK)
        return status;
    if (!trajectory_grow(&top->atoms, top->n_atoms, 1, &top->atoms_capacity, sizeof atom))
        return no_memory(p, err);
    if (molecule->n_atoms == 0 || !same_residue(&top->atoms[top->n_atoms - 1], &atom))
        molecule->n_residues++;
    top->atoms[top->n_atoms++] = atom;
    molecule->n_atoms++;
    return COLLET_OK;
}

/* Adds a bond between atoms of the molecule, counted from 1. */
static collet_status add_bond(parser *p, int64_t first, int64_t second, collet_error *err)
{
    trajectory_top *top = p->top;
    trajectory_top_molecule *molecule = current(p);
    int64_t n = molecule->n_atoms;

    if (first < 1 || first > n || second < 1 || second > n || first == second)
        return trajectory_text_fail(where(p), err,
                                    "[ %s ] joins atoms %lld and %lld, but the molecule type '%s' "
                                    "has %lld atoms",
                                    p->section->name, (long long)first, (long long)second,
                                    molecule->name, (long long)n);
    if (!trajectory_grow(&top->bonds, top->n_bonds, 1, &top->bonds_capacity, sizeof *top->bonds))
        return no_memory(p, err);
    top->bonds[top->n_bonds++] = (trajectory_bond){first - 1, second - 1};
    molecule->n_bonds++;
    return COLLET_OK;
}

/* Reads a line whose first two words are the atoms of a bond: [ bonds ], [ constraints ], and virtual sites that
 * begin with the site and the first of its atoms. */
static collet_status read_bond(parser *p, const line *l, collet_error *err)
{
    int64_t first, second;

    if (!current(p))
        return no_molecule(p, err);
    if (!parse_integer(l->words[0], &first) || !parse_integer(l->words[1], &second))
        return trajectory_text_fail(where(p), err, "'%.*s' and '%.*s' are not numbers of atoms",
                                    SHOWN(l->words[0]), SHOWN(l->words[1]));
    return add_bond(p, first, second, err);
}

/* Reads a line of [ bonds ] of any function except restraints. */
static collet_status read_bond_of_function(parser *p, const line *l, collet_error *err)
{
    int64_t function;

    if (l->n > 2 && parse_integer(l->words[2], &function) && function == RESTRAINT)
        return current(p) ? COLLET_OK : no_molecule(p, err);
    return read_bond(p, l, err);
}

/* Reads a line of [ settles ]: the oxygen of a rigid water; its hydrogens are the next two atoms. */
static collet_status read_settle(parser *p, const line *l, collet_error *err)
{
    int64_t oxygen;

    if (!current(p))
        return no_molecule(p, err);
    if (!parse_integer(l->words[0], &oxygen) || oxygen > current(p)->n_atoms)
        return trajectory_text_fail(where(p), err, "'%.*s' is not the number of an atom",
                                    SHOWN(l->words[0]));
    collet_status status = add_bond(p, oxygen, oxygen + 1, err);
    return status == COLLET_OK ? add_bond(p, oxygen, oxygen + 2, err) : status;
}

/* Reads a line with a virtual site, a function, and then the atoms that define the site. */
static collet_status read_site(parser *p, const line *l, collet_error *err)
{
    line bond = *l;

    bond.words[1] = l->words[2];
    return read_bond(p, &bond, err);
}

/* ---- System ------------------------------------------------------------------------------ */

static collet_status read_system(parser *p, const line *l, collet_error *err)
{
    size_t n = l->all.length < TRAJECTORY_TOP_TITLE ? l->all.length : TRAJECTORY_TOP_TITLE - 1;

    (void)err;
    if (p->top->title[0] == '\0')
        memcpy(p->top->title, l->all.text, n);
    return COLLET_OK;
}

/* Finds a molecule type by name. Like GROMACS, ignores upper and lower case if no name is exactly the same. */
static int64_t find_molecule(const trajectory_top *top, trajectory_word name)
{
    int64_t found = trajectory_dictionary_find(&top->molecule_names, name);

    for (int64_t i = 0; i < top->molecule_names.n && found < 0; i++) {
        const char *other = top->molecule_names.entries[i].name;
        if (strlen(other) == name.length && io_same_letters(other, name.text, name.length))
            found = i;
    }
    return found;
}

int64_t trajectory_top_most_atoms(void)
{
    collet_memory_limit limit = {.struct_size = sizeof limit};
    int64_t most = collet_memory_limit_read(&limit, NULL) == COLLET_OK && limit.total != 0
                       ? (int64_t)(limit.total / ATOM_BYTES)
                       : INT32_MAX;

    return most < INT32_MAX ? most : INT32_MAX;
}

static collet_status read_molecules(parser *p, const line *l, collet_error *err)
{
    trajectory_top *top = p->top;
    trajectory_top_block block = {find_molecule(top, l->words[0]), 0};
    int64_t atoms;

    if (block.molecule < 0)
        return trajectory_text_fail(where(p), err, "there is no [ moleculetype ] '%.*s'",
                                    SHOWN(l->words[0]));
    if (!parse_integer(l->words[1], &block.count) || block.count < 0)
        return trajectory_text_fail(where(p), err, "'%.*s' is not a number of molecules",
                                    SHOWN(l->words[1]));
    if (__builtin_mul_overflow(top->molecules[block.molecule].n_atoms, block.count, &atoms) ||
        atoms > trajectory_top_most_atoms() - top->total)
        return trajectory_text_fail(where(p), err,
                                    "%lld molecules of %lld atoms are too many: this machine can "
                                    "hold %lld atoms",
                                    (long long)block.count,
                                    (long long)top->molecules[block.molecule].n_atoms,
                                    (long long)trajectory_top_most_atoms());
    if (!trajectory_grow(&top->blocks, top->n_blocks, 1, &top->blocks_capacity, sizeof block))
        return no_memory(p, err);
    top->blocks[top->n_blocks++] = block;
    top->total += atoms;
    return COLLET_OK;
}

/* ---- Sections ---------------------------------------------------------------------------- */

static const section sections[] = {
    {"atomtypes", 4, "name, mass, charge, particle type", read_type, 0},
    {"moleculetype", 1, "name", read_moleculetype, 0},
    {"atoms", 5, "number, type, residue number, residue, name", read_atom, 0},
    {"bonds", 2, "two atoms", read_bond_of_function, 0},
    {"constraints", 2, "two atoms", read_bond, 0},
    {"settles", 1, "an atom", read_settle, 0},
    {"virtualsites1", 2, "a site and an atom", read_bond, 0},
    {"virtualsites2", 3, "a site and two atoms", read_bond, 0},
    {"virtualsites3", 4, "a site and three atoms", read_bond, 0},
    {"virtualsites4", 5, "a site and four atoms", read_bond, 0},
    {"virtualsitesn", 3, "a site, a function and atoms", read_site, 0},
    {"dummies2", 3, "a site and two atoms", read_bond, 0},
    {"dummies3", 4, "a site and three atoms", read_bond, 0},
    {"dummies4", 5, "a site and four atoms", read_bond, 0},
    {"dummiesn", 3, "a site, a function and atoms", read_site, 0},
    {"system", 1, "a title", read_system, 1},
    {"molecules", 2, "name, number of molecules", read_molecules, 1},
};

/* Begins a section. The lines of most sections are not needed. */
static collet_status begin_section(parser *p, trajectory_word text, collet_error *err)
{
    const char *end = memchr(text.text, ']', text.length);
    char name[32];
    size_t n = 0;

    if (!end)
        return trajectory_text_fail(where(p), err, "'%.*s' has no ']'", SHOWN(text));
    for (const char *at = text.text + 1; at < end && n < sizeof name - 1; at++)
        if (*at != ' ' && *at != '\t' && *at != '_' && *at != '-')
            name[n++] = io_is_upper(*at) ? (char)(*at - 'A' + 'a') : *at;
    name[n] = '\0';
    p->section = NULL;
    p->done = p->done || strcmp(name, "intermolecularinteractions") == 0;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && !p->done; i++)
        if (strcmp(name, sections[i].name) == 0)
            p->section = &sections[i];
    if (p->top->n_blocks > 0 && p->section && !p->section->of_system)
        return trajectory_text_fail(where(p), err, "[ %s ] after [ molecules ]", name);
    return COLLET_OK;
}

static collet_status read_line(parser *p, trajectory_word text, collet_error *err)
{
    line l = {.all = text};

    if (*text.text == '[')
        return begin_section(p, text, err);
    if (!p->section)
        return COLLET_OK;
    l.n = trajectory_text_split(text.text, text.length, l.words, MAX_WORDS);
    if (l.n < p->section->min_words)
        return trajectory_text_fail(
            where(p), err, "a line of [ %s ] has %s (at least %zu words), this one has %zu",
            p->section->name, p->section->words, p->section->min_words, l.n);
    return p->section->read(p, &l, err);
}

collet_status trajectory_top_parse(trajectory_top *top, io_source *source, collet_error *err)
{
    parser p = {.top = top};
    trajectory_word text = {"", 0};

    collet_status status = trajectory_top_open(&p.lines, source, err);
    while (status == COLLET_OK && text.text) {
        status = trajectory_top_next(&p.lines, &text.text, &text.length, err);
        if (status == COLLET_OK && text.text)
            status = read_line(&p, text, err);
    }
    trajectory_top_close(&p.lines);
    return status;
}

void trajectory_top_free(trajectory_top *top)
{
    free(top->molecules);
    free(top->atoms);
    free(top->bonds);
    free(top->blocks);
    free(top->types);
    trajectory_dictionary_clear(&top->type_names);
    trajectory_dictionary_clear(&top->molecule_names);
}
