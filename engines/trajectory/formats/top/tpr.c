/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tpr.c - run inputs of GROMACS, binary: names, residues, masses, charges, elements and bonds.
 *
 * The file has a head in XDR, then the body. The body has the box, the topology, and data that are not read:
 * positions, velocities and parameters of the run. Since version 119 a serialiser of GROMACS writes the body. Its
 * numbers are big-endian, too, but bytes take one byte and 16-bit integers take two. Reals have 4 or 8 bytes. A
 * topology has symbols, to which names refer; parameters of interactions; molecule types with atoms, interactions and
 * exclusions; and blocks of molecules. Layout: GROMACS's tpxio.cpp.
 *
 * Bonds are as in system.c: all interactions that join two atoms, except restraints and interactions between
 * molecules ([ intermolecular_interactions ]).
 *
 * Tests: tests/engines/test_io_tpr.c, tests/fuzz/fuzz_trajectory.c
 */
#include "interactions.h"
#include "top.h"
#include "trajectory/formats/bigendian.h"
#include "trajectory/formats/formats.h"
#include "trajectory/formats/growth.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLDEST 58 /* GROMACS 4.0; its successors below RELEASE_45 are development versions */
#define RELEASE_45 73
#define DEVELOPMENT_46                                                                             \
    77 /* the first version in which some fields have other places or meanings */
#define RELEASE_46 83
#define BODY_IN_MEMORY 119 /* GROMACS 2020: the serialiser of the body */
#define GENERATION_IN_MEMORY 27
#define NEWEST_GENERATION                                                                          \
    29 /* GROMACS increases this number when older programs cannot read the topology any more */

/* Versions of the format that have a field. */
#define WITH_RESIDUE_NUMBERS 63
#define WITH_REPULSION 66
#define WITH_WHOLE_SETTLES 78
#define WITH_STATE 79
#define WITH_TAG 81
#define WITHOUT_DUMMIES 62
#define WITHOUT_SECOND_COUPLING 69

#define BOX_REALS 27 /* the box, its shape, its velocity */
#define RELEASE "release"

typedef struct symbol {
    char text[TRAJECTORY_ATOM_NAME]; /* first letters of the symbol, with a NUL */
    int64_t at;                      /* byte of the file; all letters */
    int64_t length;
} symbol;

typedef struct tpr {
    io_source *source;
    int64_t at;    /* next byte */
    size_t real;   /* bytes of a real: 4 or 8 */
    int in_memory; /* 1: in a body by the serialiser of GROMACS 2020 and later */
    int version;
    symbol *symbols;
    int64_t n_symbols;
    trajectory_top top;
    /* After an error all numbers are 0. */
    collet_status status;
    collet_error *err;
} tpr;

/* ---- Numbers ----------------------------------------------------------------------------- */

static void COLLET_PRINTF(2, 3) fail(tpr *t, const char *format, ...)
{
    char text[256];
    va_list arguments;

    if (t->status != COLLET_OK)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    t->status = collet_fail(t->err, COLLET_FORMAT, "%s: byte %lld: %s", t->source->path,
                            (long long)t->at, text);
}

static void no_memory(tpr *t)
{
    if (t->status == COLLET_OK)
        t->status =
            collet_fail(t->err, COLLET_NO_MEMORY, "%s: no memory to read it", t->source->path);
}

static int goes_on(const tpr *t)
{
    return t->status == COLLET_OK;
}

/* 1 if n elements of `size` bytes are left. */
static int has(tpr *t, int64_t n, size_t size)
{
    if (goes_on(t) && n > (t->source->size - t->at) / (int64_t)size)
        fail(t, "the file ends inside its topology");
    return goes_on(t);
}

static void skip(tpr *t, int64_t n, size_t size)
{
    if (has(t, n, size))
        t->at += n * (int64_t)size;
}

/* Copies the next `size` bytes; after an error writes zeros. */
static void take(tpr *t, size_t size, void *bytes)
{
    memset(bytes, 0, size);
    if (!has(t, 1, size))
        return;
    t->status = io_source_copy(t->source, t->at, size, bytes, t->err);
    t->at += (int64_t)size;
}

static int32_t take_i32(tpr *t)
{
    uint8_t bytes[4];

    take(t, sizeof bytes, bytes);
    return trajectory_be_i32(bytes);
}

static double take_real(tpr *t)
{
    uint8_t bytes[8];

    take(t, t->real, bytes);
    return t->real == 8 ? trajectory_be_f64(bytes) : (double)trajectory_be_f32(bytes);
}

/* Bytes of an integer of 8 or 16 bits. */
static size_t small(const tpr *t, size_t size)
{
    return t->in_memory ? size : 4;
}

/* Reads a number of items of at least `size` bytes each. */
static int64_t take_count(tpr *t, const char *what, size_t size)
{
    int64_t n = take_i32(t);

    if (n < 0 || n > (t->source->size - t->at) / (int64_t)size)
        fail(t, "%lld %s are impossible in a file of %lld bytes", (long long)n, what,
             (long long)t->source->size);
    return goes_on(t) ? n : 0;
}

static int32_t take_index(tpr *t, const char *what, int64_t n)
{
    int32_t i = take_i32(t);

    if (i < 0 || i >= n)
        fail(t, "%s %ld does not exist: there are %lld", what, (long)i, (long long)n);
    return goes_on(t) ? i : 0;
}

/* Reads a text: its first letters, with a NUL, are copied to `text` (size). Returns the length of the whole text. */
static int64_t take_text(tpr *t, char *text, size_t size)
{
    uint8_t head[8];

    memset(text, 0, size);
    take(t, sizeof head, head); /* in XDR: the length and 1; the length */
    uint64_t length = t->in_memory ? trajectory_be64(head) : trajectory_be32(head + 4);
    if (length > (uint64_t)(t->source->size - t->at))
        fail(t, "a text of %llu bytes is impossible in a file of %lld", (unsigned long long)length,
             (long long)t->source->size);
    if (!goes_on(t))
        return 0;
    size_t kept = length < size ? (size_t)length : size - 1;
    if (kept > 0)
        take(t, kept, text);
    skip(t, (int64_t)length - (int64_t)kept + (t->in_memory ? 0 : -(int64_t)length & 3), 1);
    return (int64_t)length;
}

/* ---- Head -------------------------------------------------------------------------------- */

#define BETA "%s is a beta of GROMACS 2020, whose format no release has" ELSE_TOP
#define ELSE_TOP "; the .top file that gmx grompp read has masses and bonds too"

static int recognise(const uint8_t *bytes, size_t n)
{
    return n >= 15 && bytes[4] == 0 && bytes[5] == 0 && memcmp(bytes + 8, "VERSION", 7) == 0;
}

static void check_version(tpr *t, const char *what, const char *tag, int generation)
{
    if (t->version < OLDEST)
        fail(t,
             "%s is older than GROMACS 4.0, whose version of the format is 58, this file's "
             "%d" ELSE_TOP,
             what, t->version);
    else if ((t->version > OLDEST && t->version < RELEASE_45) ||
             (t->version >= DEVELOPMENT_46 && t->version < RELEASE_46))
        fail(t, "version %d of the format, of %s, was never released" ELSE_TOP, t->version, what);
    else if (t->version >= BODY_IN_MEMORY && generation < GENERATION_IN_MEMORY)
        fail(t, BETA, what);
    else if (generation > NEWEST_GENERATION)
        fail(t, "%s writes generation %d of the format; the newest known is %d" ELSE_TOP, what,
             generation, NEWEST_GENERATION);
    else if (strcmp(tag, RELEASE) != 0)
        fail(t, "%s is a modified GROMACS, whose format is its own (tag '%s')" ELSE_TOP, what, tag);
}

/* Compares the size of a body with the file. In betas of GROMACS 2020 each byte of the body takes four bytes. */
static void begin_body(tpr *t, const char *made_by)
{
    uint8_t bytes[8];

    take(t, sizeof bytes, bytes);
    uint64_t size = trajectory_be64(bytes), left = (uint64_t)(t->source->size - t->at);
    if (size > left)
        fail(t, "the file ends after %llu of %llu bytes: it was cut", (unsigned long long)left,
             (unsigned long long)size);
    else if (size > 0 && left / 4 == size)
        fail(t, BETA, made_by);
    t->in_memory = 1;
}

/* Reads the head, and the box. Returns the number of atoms. */
static int64_t read_head(tpr *t)
{
    char made_by[48], tag[32] = RELEASE;
    int parts[6]; /* 1: the file has parameters, topology, positions, velocities, forces, box */

    take_text(t, made_by, sizeof made_by);
    t->real = (size_t)take_i32(t);
    if (t->real != 4 && t->real != 8) {
        fail(t, "reals of %zu bytes; single precision has 4, double 8", t->real);
        t->real = 4;
    }
    t->version = take_i32(t);
    int generation = t->version >= DEVELOPMENT_46 && t->version < WITH_TAG ? 0 : take_i32(t);
    if (t->version >= WITH_TAG)
        take_text(t, tag, sizeof tag);
    if (goes_on(t))
        check_version(t, made_by, tag, generation);
    int64_t n_atoms = take_i32(t), couplings = take_count(t, "groups of temperatures", 1);
    if (t->version < WITHOUT_DUMMIES)
        skip(t, 1, 4 + t->real);
    skip(t, 1, t->version >= WITH_STATE ? 4 + t->real : t->real);
    for (size_t i = 0; i < 6; i++)
        parts[i] = take_i32(t);
    if (t->version >= BODY_IN_MEMORY)
        begin_body(t, made_by);
    if (goes_on(t) && !parts[1])
        fail(t, "the file has no topology");
    skip(t, parts[5] ? BOX_REALS : 0, t->real);
    skip(t, couplings, t->version < WITHOUT_SECOND_COUPLING ? 2 * t->real : t->real);
    return n_atoms;
}

/* ---- Topology ---------------------------------------------------------------------------- */

static void read_symbols(tpr *t)
{
    int64_t n = take_count(t, "names", 8);

    t->symbols = calloc((size_t)n + 1, sizeof *t->symbols);
    if (!t->symbols)
        no_memory(t);
    for (int64_t i = 0; i < n && goes_on(t); i++) {
        symbol *s = &t->symbols[i];
        s->at = t->at + 8;
        s->length = take_text(t, s->text, sizeof s->text);
    }
    t->n_symbols = n;
}

static const symbol *take_symbol(tpr *t)
{
    return &t->symbols[take_index(t, "the name", t->n_symbols)];
}

static void take_name(tpr *t, char name[TRAJECTORY_ATOM_NAME])
{
    const symbol *s = take_symbol(t);

    if (s->length >= TRAJECTORY_ATOM_NAME)
        fail(t, "the name '%s...' has more than %d letters", s->text, TRAJECTORY_ATOM_NAME - 1);
    else
        trajectory_topology_copy_name(name, s->text, strlen(s->text));
}

/* Skips the parameters of the force field. */
static void skip_parameters(tpr *t)
{
    skip(t, 1, 4); /* number of atom types */
    int64_t n = take_count(t, "parameters", 4), functions = t->at, integers, reals;
    int each_integers, each_reals;

    skip(t, n, 4);
    skip(t, 1, (t->version >= WITH_REPULSION ? 8 : 0) + t->real);
    integers = reals = 0;
    int64_t after = t->at;
    t->at = functions;
    for (int64_t i = 0; i < n && goes_on(t); i++) {
        int number = take_i32(t);
        const trajectory_interaction *kind = trajectory_interaction_find(number, t->version);
        if (kind && trajectory_interaction_sizes(kind, t->version, &each_integers, &each_reals)) {
            integers += each_integers;
            reals += each_reals;
        } else {
            fail(t, "interaction %d is unknown", number);
        }
    }
    t->at = after;
    skip(t, integers, 4);
    skip(t, reals, t->real);
}

static void read_residues(tpr *t, trajectory_top_atom *atoms, int64_t n, int64_t n_residues)
{
    trajectory_top_atom *residues = calloc((size_t)n_residues + 1, sizeof *residues);

    if (!residues)
        no_memory(t);
    for (int64_t i = 0; i < n_residues && goes_on(t); i++) {
        uint8_t code[4] = {0};
        take_name(t, residues[i].residue);
        residues[i].residue_id = (int32_t)i + 1;
        if (t->version < WITH_RESIDUE_NUMBERS)
            continue;
        residues[i].residue_id = take_i32(t);
        take(t, small(t, 1), code);
        char insertion = (char)code[small(t, 1) - 1];
        residues[i].insertion = (char)(insertion == ' ' ? 0 : insertion);
    }
    for (int64_t i = 0; i < n && goes_on(t); i++) {
        const trajectory_top_atom *residue = &residues[atoms[i].residue_id];
        memcpy(atoms[i].residue, residue->residue, sizeof atoms[i].residue);
        atoms[i].insertion = residue->insertion;
        atoms[i].residue_id = residue->residue_id;
    }
    free(residues);
}

static void read_atoms(tpr *t, trajectory_top_molecule *molecule)
{
    trajectory_top *top = &t->top;
    int64_t n = take_count(t, "atoms", 4 * t->real);

    molecule->n_residues = take_count(t, "residues", 4);
    if (goes_on(t) &&
        !trajectory_grow(&top->atoms, top->n_atoms, n, &top->atoms_capacity, sizeof *top->atoms))
        no_memory(t);
    for (int64_t i = 0; i < n && goes_on(t); i++) {
        trajectory_top_atom *atom = &top->atoms[top->n_atoms + i];
        *atom = (trajectory_top_atom){.insertion = 0};
        atom->mass = take_real(t);
        atom->charge = take_real(t);
        if (!(atom->mass >= 0) || !isfinite(atom->mass) || !isfinite(atom->charge))
            fail(t,
                 "atom %lld of a molecule has a mass that is negative, or a mass or a charge that "
                 "is not finite",
                 (long long)i + 1);
        skip(t, 2, t->real);     /* mass and charge in state B of a free-energy calculation */
        skip(t, 2, small(t, 2)); /* types */
        skip(t, 1, 4);           /* whether the atom is a virtual site */
        atom->residue_id = take_index(t, "the residue", molecule->n_residues);
        atom->number = take_i32(t);
    }
    for (int64_t i = 0; i < n && goes_on(t); i++)
        take_name(t, top->atoms[top->n_atoms + i].name);
    skip(t, n, 8); /* names of types */
    if (goes_on(t))
        read_residues(t, top->atoms + top->n_atoms, n, molecule->n_residues);
    if (!goes_on(t))
        return;
    molecule->n_atoms = n;
    top->n_atoms += n;
}

static void add_bond(tpr *t, trajectory_top_molecule *molecule, int64_t first, int64_t second)
{
    trajectory_top *top = &t->top;
    int64_t n = molecule->n_atoms;

    if (first < 0 || first >= n || second < 0 || second >= n || first == second)
        fail(t, "a bond joins atoms %lld and %lld, but the molecule type '%s' has %lld atoms",
             (long long)first + 1, (long long)second + 1, molecule->name, (long long)n);
    else if (!trajectory_grow(&top->bonds, top->n_bonds, 1, &top->bonds_capacity,
                              sizeof *top->bonds))
        no_memory(t);
    if (!goes_on(t))
        return;
    top->bonds[top->n_bonds++] = (trajectory_bond){first, second};
    molecule->n_bonds++;
}

/* Reads the n integers of one kind of interaction. Each entry has the number of its parameters, and its atoms. */
static void read_bonds(tpr *t, trajectory_top_molecule *molecule,
                       const trajectory_interaction *kind, int64_t n)
{
    int is_settle = kind->joins == TRAJECTORY_JOINS_SETTLE;
    int only_first = is_settle && t->version < WITH_WHOLE_SETTLES;
    int64_t each = 1 + (only_first ? 1 : kind->atoms), last = -1;

    if (n % each != 0)
        fail(t, "%lld integers are not a whole number of interactions of %lld each", (long long)n, (long long)each);
    for (; n > 0 && goes_on(t); n -= each) {
        skip(t, 1, 4);
        int64_t first = take_i32(t), second = only_first ? first + 1 : take_i32(t),
                third = only_first  ? first + 2
                        : is_settle ? take_i32(t)
                                    : 0;
        if (!is_settle)
            skip(t, each - 3, 4);
        if (kind->joins == TRAJECTORY_JOINS_SITE && first == last)
            continue;
        last = first;
        add_bond(t, molecule, first, second);
        if (is_settle)
            add_bond(t, molecule, first, third);
    }
}

static void read_interactions(tpr *t, trajectory_top_molecule *molecule)
{
    const trajectory_interaction *kind;

    for (size_t i = 0; (kind = trajectory_interaction_at(i)) && goes_on(t); i++) {
        int64_t n = t->version < kind->since ? 0 : take_count(t, "interactions", 4);
        if (kind->joins == TRAJECTORY_JOINS_NONE)
            skip(t, n, 4);
        else
            read_bonds(t, molecule, kind, n);
    }
}

static void read_molecule(tpr *t)
{
    trajectory_top *top = &t->top;
    trajectory_top_molecule molecule = {.first_atom = top->n_atoms, .first_bond = top->n_bonds};

    memcpy(molecule.name, take_symbol(t)->text, sizeof molecule.name - 1);
    read_atoms(t, &molecule);
    read_interactions(t, &molecule);
    skip(t, take_count(t, "charge groups", 4) + 1, 4);
    int64_t lists = take_count(t, "lists of exclusions", 4);
    skip(t, take_count(t, "exclusions", 4) + lists + 1, 4);
    if (goes_on(t) && !trajectory_grow(&top->molecules, top->n_molecules, 1,
                                       &top->molecules_capacity, sizeof molecule))
        no_memory(t);
    if (goes_on(t))
        top->molecules[top->n_molecules++] = molecule;
}

static void read_block(tpr *t)
{
    trajectory_top *top = &t->top;
    trajectory_top_block block = {.molecule = take_index(t, "the molecule type", top->n_molecules)};
    int64_t atoms = goes_on(t) ? top->molecules[block.molecule].n_atoms : 0, most = 0;

    block.count = take_i32(t);
    if (take_i32(t) != atoms || block.count < 0)
        fail(t, "molecules of type %lld contradict their type", (long long)block.molecule + 1);
    for (int state = 0; state < 2; state++)
        skip(t, take_count(t, "position restraints", 3 * t->real), 3 * t->real);
    if (!goes_on(t))
        return;
    most = trajectory_top_most_atoms() - top->total;
    if (atoms > 0 && block.count > most / atoms)
        fail(t, "%lld molecules of %lld atoms are too many: this machine can hold %lld atoms",
             (long long)block.count, (long long)atoms, (long long)trajectory_top_most_atoms());
    else if (!trajectory_grow(&top->blocks, top->n_blocks, 1, &top->blocks_capacity, sizeof block))
        no_memory(t);
    if (!goes_on(t))
        return;
    top->blocks[top->n_blocks++] = block;
    top->total += block.count * atoms;
}

static void read_title(tpr *t)
{
    const symbol *s = take_symbol(t);
    size_t n = s->length < TRAJECTORY_TOP_TITLE ? (size_t)s->length : TRAJECTORY_TOP_TITLE - 1;

    if (goes_on(t) && n > 0)
        t->status = io_source_copy(t->source, s->at, n, t->top.title, t->err);
}

static void read_system(tpr *t, int64_t n_atoms)
{
    read_symbols(t);
    if (goes_on(t))
        read_title(t);
    skip_parameters(t);
    for (int64_t n = take_count(t, "molecule types", 8); n > 0 && goes_on(t); n--)
        read_molecule(t);
    for (int64_t n = take_count(t, "blocks of molecules", 20); n > 0 && goes_on(t); n--)
        read_block(t);
    int64_t total = take_i32(t);
    if (goes_on(t) && (total != n_atoms || t->top.total != n_atoms || n_atoms < 1))
        fail(t, "the head announces %lld atoms, the topology %lld, and its molecules have %lld",
             (long long)n_atoms, (long long)total, (long long)t->top.total);
}

static collet_status read_topology(io_source *source, trajectory_topology *topology,
                                   collet_error *err)
{
    tpr t = {.source = source, .err = err, .real = 4};

    int64_t n_atoms = read_head(&t);
    if (goes_on(&t))
        read_system(&t, n_atoms);
    free(t.symbols);
    if (goes_on(&t))
        t.status = trajectory_top_build(topology, &t.top, source->path, err);
    trajectory_top_free(&t.top);
    return t.status;
}

const trajectory_format trajectory_tpr_format = {
    .name = "tpr",
    .kind = "a .tpr run input",
    .title = "GROMACS, run input with masses, charges and bonds",
    .recognise = recognise,
    .topology = read_topology,
};
