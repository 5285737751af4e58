/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.c - topologies of GROMACS: the atoms and bonds of all molecules of a .top or .tpr file, or of the
 * one molecule of an .itp file.
 *
 * The segment of an atom is the first letters of the name of its molecule type. If several types have the same first
 * letters, the segments are made different. As in GROMACS, the residues of molecules with one residue are numbered
 * consecutively, after the highest number of the other molecules. Bonds come from [ bonds ], [ constraints ] and
 * [ settles ], so that a water has bonds with and without FLEXIBLE. Restraints (function 10 of [ bonds ]) do not count.
 * A virtual site is joined to the first of the atoms that define it.
 *
 * Tests: tests/engines/test_io_top.c, tests/fuzz/fuzz_trajectory.c
 */
#include "io/letters.h"
#include "top.h"
#include "trajectory/formats/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Recognition ------------------------------------------------------------------------- */

static const char *const directives[] = {"#include", "#define", "#undef", "#ifdef", "#ifndef"};
static const char *const first_sections[] = {"defaults", "atomtypes", "moleculetype"};

static int begins_with(const char *text, size_t length, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) <= length && io_same_letters(text, list[i], strlen(list[i])))
            return 1;
    return 0;
}

/* A file is also accepted if its first n bytes are only comments. */
static int recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *end = text + n;
    int comments = 0;

    if (memchr(bytes, 0, n))
        return 0;
    while (text < end) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        next = next ? next + 1 : end;
        while (text < next && strchr(" \t\r\n", *text))
            text++;
        if (text < next && *text == '[') {
            for (text++; text < next && (*text == ' ' || *text == '\t');)
                text++;
            return begins_with(text, (size_t)(next - text), first_sections, 3);
        }
        if (text < next && *text != ';')
            return begins_with(text, (size_t)(next - text), directives, 5);
        comments = comments || text < next;
        text = next;
    }
    return comments;
}

/* ---- Molecules --------------------------------------------------------------------------- */

/* An .itp file has no [ molecules ]. Such a file describes one molecule of its only type. */
static collet_status complete(trajectory_top *top, const char *path, collet_error *err)
{
    if (top->n_blocks == 0 && top->n_molecules == 1) {
        top->blocks = malloc(sizeof *top->blocks);
        if (!top->blocks)
            return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
        top->blocks[0] = (trajectory_top_block){0, 1};
        top->n_blocks = 1;
        top->total = top->molecules[0].n_atoms;
    } else if (top->n_blocks == 0) {
        return collet_fail(
            err, COLLET_FORMAT,
            top->n_molecules == 0
                ? "%s: there is no [ moleculetype ]; give the .top file of the system"
                : "%s: there are %lld molecule types, but no [ molecules ]; give the "
                  ".top file, which says how many there are of each",
            path, (long long)top->n_molecules);
    }
    if (top->total == 0)
        return collet_fail(err, COLLET_FORMAT, "%s: the molecules have no atoms", path);
    return COLLET_OK;
}

static int is_numbered_through(const trajectory_top *top, const trajectory_top_molecule *molecule)
{
    return molecule->n_residues == 1 && (top->n_blocks > 1 || top->blocks[0].count > 1);
}

/* Returns the highest residue number of the molecules that keep their residue numbers; 0 if there are none. */
static int64_t highest_kept(const trajectory_top *top)
{
    int64_t highest = 0;

    for (int64_t b = 0; b < top->n_blocks; b++) {
        const trajectory_top_molecule *molecule = &top->molecules[top->blocks[b].molecule];
        if (top->blocks[b].count == 0 || is_numbered_through(top, molecule))
            continue;
        for (int64_t i = 0; i < molecule->n_atoms; i++)
            if (top->atoms[molecule->first_atom + i].residue_id > highest)
                highest = top->atoms[molecule->first_atom + i].residue_id;
    }
    return highest;
}

/* Adds one molecule. `number`: the new number of its residue; -1: its residues keep their numbers. */
static void put_molecule(trajectory_topology *topology, int64_t at, const trajectory_top *top,
                         const trajectory_top_molecule *molecule, int64_t number)
{
    for (int64_t i = 0; i < molecule->n_atoms; i++, at++) {
        const trajectory_top_atom *atom = &top->atoms[molecule->first_atom + i];

        memcpy(topology->names[at], atom->name, sizeof atom->name);
        memcpy(topology->residue_names[at], atom->residue, sizeof atom->residue);
        memcpy(topology->segments[at], molecule->name, sizeof molecule->name);
        topology->residue_ids[at] = number < 0 ? atom->residue_id : (int32_t)(number & INT32_MAX);
        topology->insertions[at] = atom->insertion;
        trajectory_topology_put_element(topology, at, atom->number);
        topology->masses[at] = atom->mass;
        topology->charges[at] = atom->charge;
    }
}

static void put_atoms(trajectory_topology *topology, const trajectory_top *top)
{
    int64_t at = 0, number = highest_kept(top) + 1;

    for (int64_t b = 0; b < top->n_blocks; b++) {
        const trajectory_top_molecule *molecule = &top->molecules[top->blocks[b].molecule];
        int through = is_numbered_through(top, molecule);
        for (int64_t i = 0; i < top->blocks[b].count; i++, at += molecule->n_atoms)
            put_molecule(topology, at, top, molecule, through ? number++ : -1);
    }
}

/* Names of molecule types may have the same first letters. Later names end in "~2", "~3". 0: out of memory. */
static int distinguish(const trajectory_top *top)
{
    trajectory_dictionary names = {0};
    int done = 1;

    for (int64_t k = 0; done && k < top->n_molecules; k++) {
        char *name = top->molecules[k].name, base[TRAJECTORY_ATOM_NAME], end[24] = "";
        int64_t used = trajectory_dictionary_find(&names, (trajectory_word){name, strlen(name)});

        memcpy(base, name, sizeof base);
        while (used > 0 && trajectory_dictionary_find(&names, (trajectory_word){name, strlen(name)}) > 0) {
            int room = TRAJECTORY_ATOM_NAME - 1 - snprintf(end, sizeof end, "~%lld", (long long)++used);
            snprintf(name, TRAJECTORY_ATOM_NAME, "%.*s%.12s", room < 0 ? 0 : room, base, end);
        }
        done = (used < 0 || trajectory_dictionary_set(&names, (trajectory_word){base, strlen(base)}, used)) &&
               trajectory_dictionary_set(&names, (trajectory_word){name, strlen(name)}, 1);
    }
    trajectory_dictionary_clear(&names);
    return done;
}

/* Adds the bonds of all molecules. The bonds of each molecule type are sorted first; then the bonds of the system are
 * also sorted. */
static collet_status put_bonds(trajectory_topology *topology, const trajectory_top *top,
                               const char *path, collet_error *err)
{
    int64_t total = 0, n = 0, at = 0;

    for (int64_t m = 0; m < top->n_molecules; m++) {
        trajectory_top_molecule *molecule = &top->molecules[m];
        if (molecule->n_bonds > 0) /* without bonds top->bonds may be NULL */
            molecule->n_bonds =
                trajectory_bonds_sort(top->bonds + molecule->first_bond, molecule->n_bonds);
    }
    for (int64_t b = 0; b < top->n_blocks; b++)
        if (__builtin_mul_overflow(top->blocks[b].count,
                                   top->molecules[top->blocks[b].molecule].n_bonds, &n) ||
            __builtin_add_overflow(total, n, &total) || total > INT64_MAX / 32)
            return collet_fail(err, COLLET_OVERFLOW, "%s: there are too many bonds", path);
    trajectory_bond *bonds = malloc((size_t)(total + 1) * sizeof *bonds);
    if (!bonds)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld bonds", path,
                           (long long)total);
    n = 0;
    for (int64_t b = 0; b < top->n_blocks; b++) {
        const trajectory_top_molecule *molecule = &top->molecules[top->blocks[b].molecule];
        for (int64_t i = 0; i < top->blocks[b].count; i++, at += molecule->n_atoms)
            for (int64_t k = 0; k < molecule->n_bonds; k++) {
                trajectory_bond bond = top->bonds[molecule->first_bond + k];
                bonds[n++] = (trajectory_bond){at + bond.first, at + bond.second};
            }
    }
    return trajectory_topology_set_bonds(topology, bonds, n, path, err);
}

/* Frees *values, n numbers, and sets it to NULL if one of the numbers is unknown (NaN). */
static void keep_known(double **values, int64_t n)
{
    for (int64_t i = 0; i < n && *values; i++)
        if (isnan((*values)[i])) {
            free(*values);
            *values = NULL;
        }
}

collet_status trajectory_top_build(trajectory_topology *topology, const trajectory_top *top,
                                   const char *path, collet_error *err)
{
    collet_status status = trajectory_topology_allocate(topology, top->total, top->title,
                                                        strlen(top->title), path, err);

    if (status == COLLET_OK)
        status = trajectory_topology_allocate_more(
            topology,
            TRAJECTORY_WITH_INSERTIONS | TRAJECTORY_WITH_SEGMENTS | TRAJECTORY_WITH_ELEMENTS |
                TRAJECTORY_WITH_MASSES | TRAJECTORY_WITH_CHARGES,
            path, err);
    if (status != COLLET_OK)
        return status;
    if (!distinguish(top))
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld molecule types", path,
                           (long long)top->n_molecules);
    put_atoms(topology, top);
    keep_known(&topology->masses, top->total);
    keep_known(&topology->charges, top->total);
    trajectory_topology_drop_empty(topology);
    return put_bonds(topology, top, path, err);
}

static collet_status read_topology(io_source *source, trajectory_topology *topology,
                                   collet_error *err)
{
    trajectory_top top = {.n_molecules = 0};

    collet_status status = trajectory_top_parse(&top, source, err);
    if (status == COLLET_OK)
        status = complete(&top, source->path, err);
    if (status == COLLET_OK)
        status = trajectory_top_build(topology, &top, source->path, err);
    trajectory_top_free(&top);
    return status;
}

const trajectory_format trajectory_top_format = {
    .name = "top",
    .kind = "a .top or .itp file",
    .title = "GROMACS, text with masses, charges and bonds, also .itp",
    .text = 1,
    .recognise = recognise,
    .topology = read_topology,
};
