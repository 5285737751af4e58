/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_selection.c, tests/engines/test_trajectory_groups.c */
#include "selection_marks.h"

#include "masses.h"
#include "molecules.h"
#include "pattern.h"
#include "residues.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static int matches_any(const trajectory_selection *s, const selection_step *test, const char *name)
{
    const selection_item *items = s->items + test->first;

    for (size_t i = 0; i < test->count; i++)
        if (trajectory_pattern_matches(s->text + items[i].start, items[i].length, name))
            return 1;
    return 0;
}

static int in_any(const trajectory_selection *s, const selection_step *test, int64_t value,
                  char insertion)
{
    const selection_item *items = s->items + test->first;

    for (size_t i = 0; i < test->count; i++)
        if (value >= items[i].low && value <= items[i].high &&
            (items[i].insertion == 0 || items[i].insertion == insertion))
            return 1;
    return 0;
}

static int is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

static int is_backbone(const trajectory_topology *topology, int64_t atom)
{
    static const char *const protein[] = {"N", "CA", "C", "O"};
    static const char *const nucleic[] = {"P",   "OP1", "OP2", "O1P", "O2P", "O5'", "C5'", "C4'",
                                          "C3'", "O3'", "O5*", "C5*", "C4*", "C3*", "O3*"};
    const char *name = topology->names[atom], *residue = topology->residue_names[atom];

    if (trajectory_residue_is_protein(residue))
        return is_one_of(name, protein, sizeof protein / sizeof *protein);
    return trajectory_residue_is_nucleic(residue) &&
           is_one_of(name, nucleic, sizeof nucleic / sizeof *nucleic);
}

static int mark_atom(const trajectory_selection *s, const selection_step *test,
                     const trajectory_topology *topology, int64_t atom)
{
    switch (test->code) {
    case SELECT_ALL:
        return 1;
    case SELECT_PROTEIN:
        return trajectory_residue_is_protein(topology->residue_names[atom]);
    case SELECT_NUCLEIC:
        return trajectory_residue_is_nucleic(topology->residue_names[atom]);
    case SELECT_WATER:
        return trajectory_residue_is_water(topology->residue_names[atom]);
    case SELECT_BACKBONE:
        return is_backbone(topology, atom);
    case SELECT_RESNAME:
        return matches_any(s, test, topology->residue_names[atom]);
    case SELECT_NAME:
        return matches_any(s, test, topology->names[atom]);
    case SELECT_CHAIN:
        return matches_any(s, test, topology->chains[atom]);
    case SELECT_SEGMENT:
        return matches_any(s, test, topology->segments[atom]);
    case SELECT_RESID:
        return in_any(s, test, topology->residue_ids[atom],
                      topology->insertions ? topology->insertions[atom] : 0);
    case SELECT_INDEX:
        return in_any(s, test, atom, 0);
    default:
        return 0;
    }
}

/* ---- Properties that a topology may lack --------------------------------------------------- */

static collet_status check_chains(const trajectory_topology *topology, collet_error *err)
{
    return topology->chains
               ? COLLET_OK
               : collet_fail(err, COLLET_INVALID, "selection: the topology has no chains%s",
                             topology->segments ? "; it has segments: write segid" : "");
}

static collet_status check_segments(const trajectory_topology *topology, collet_error *err)
{
    return topology->segments
               ? COLLET_OK
               : collet_fail(err, COLLET_INVALID, "selection: the topology has no segments%s",
                             topology->chains ? "; it has chains: write chain" : "");
}

static int is_element(const trajectory_selection *s, const selection_step *test,
                      const trajectory_element *element)
{
    const selection_item *items = s->items + test->first;

    for (size_t i = 0; element != NULL && i < test->count; i++)
        if (trajectory_element_find(s->text + items[i].start, items[i].length) == element)
            return 1;
    return 0;
}

static collet_status mark_elements(const trajectory_selection *s, const selection_step *test,
                                   const trajectory_topology *topology, uint8_t *marks,
                                   collet_error *err)
{
    const trajectory_element **elements = trajectory_masses_elements(topology);

    if (elements == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "selection: no memory for the elements");
    for (int64_t i = 0; i < topology->n_atoms; i++)
        marks[i] = (uint8_t)is_element(s, test, elements[i]);
    free(elements);
    return COLLET_OK;
}

static int compares(double a, selection_comparison comparison, double b)
{
    switch (comparison) {
    case SELECT_LESS:
        return a < b;
    case SELECT_LESS_EQUAL:
        return a <= b;
    case SELECT_GREATER:
        return a > b;
    case SELECT_GREATER_EQUAL:
        return a >= b;
    case SELECT_EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

static collet_status mark_compared(const selection_step *test, const trajectory_topology *topology,
                                   uint8_t *marks, collet_error *err)
{
    int mass = test->code == SELECT_MASS;
    const double *values = mass ? topology->masses : topology->charges;

    if (values == NULL)
        return collet_fail(err, COLLET_INVALID, "selection: the topology has no %s",
                           mass ? "masses; elements can be compared: element O" : "charges");
    for (int64_t i = 0; i < topology->n_atoms; i++)
        marks[i] = (uint8_t)compares(values[i], test->comparison, test->number);
    return COLLET_OK;
}

static collet_status mark_groups(const trajectory_selection *s, const selection_step *test,
                                 const trajectory_topology *topology,
                                 const trajectory_groups *groups, uint8_t *marks, collet_error *err)
{
    if (groups == NULL)
        return collet_fail(err, COLLET_INVALID,
                           "selection: a group needs a .ndx file: give --ndx FILE, in Python and C "
                           "the option ndx");
    memset(marks, 0, (size_t)topology->n_atoms);
    for (size_t k = 0; k < test->count; k++) {
        const selection_item *name = &s->items[test->first + k];

        if (trajectory_groups_mark(groups, s->text + name->start, name->length, marks) == 0)
            return trajectory_groups_missing(groups, "selection", s->text + name->start,
                                             name->length, err);
    }
    return COLLET_OK;
}

collet_status selection_mark(const trajectory_selection *s, const selection_step *test,
                             const trajectory_topology *topology, const trajectory_groups *groups,
                             uint8_t *marks, collet_error *err)
{
    collet_status status = COLLET_OK;

    if (test->code == SELECT_GROUP)
        return mark_groups(s, test, topology, groups, marks, err);
    if (test->code == SELECT_ELEMENT)
        return mark_elements(s, test, topology, marks, err);
    if (test->code == SELECT_MASS || test->code == SELECT_CHARGE)
        return mark_compared(test, topology, marks, err);
    if (test->code == SELECT_CHAIN)
        status = check_chains(topology, err);
    else if (test->code == SELECT_SEGMENT)
        status = check_segments(topology, err);
    for (int64_t i = 0; status == COLLET_OK && i < topology->n_atoms; i++)
        marks[i] = (uint8_t)mark_atom(s, test, topology, i);
    return status;
}

/* ---- Labels ------------------------------------------------------------------------------ */

static void label_residues(const trajectory_topology *topology, int64_t *labels, int64_t *count)
{
    *count = 0;
    for (int64_t i = 0; i < topology->n_atoms; i++) {
        if (i == 0 || !trajectory_topology_same_residue(topology, i - 1, i))
            (*count)++;
        labels[i] = *count - 1;
    }
}

/* Returns the label of an atom's name: firsts[l] is the first atom with label l. Returns `count` if the name is new. */
static int64_t find_label(char (*names)[TRAJECTORY_ATOM_NAME], const int64_t *firsts, int64_t count,
                          int64_t atom)
{
    int64_t label = 0;

    while (label < count && strcmp(names[firsts[label]], names[atom]) != 0)
        label++;
    return label;
}

/* Sets the label of each atom by its name. The atoms of a chain need not be consecutive. */
static collet_status label_names(char (*names)[TRAJECTORY_ATOM_NAME], int64_t n, int64_t *labels,
                                 int64_t *count, collet_error *err)
{
    int64_t *firsts = malloc((size_t)n * sizeof *firsts);

    if (firsts == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "selection: no memory for %lld atoms",
                           (long long)n);
    *count = 0;
    for (int64_t i = 0; i < n; i++) {
        labels[i] = i > 0 && strcmp(names[i], names[i - 1]) == 0
                        ? labels[i - 1]
                        : find_label(names, firsts, *count, i);
        if (labels[i] == *count)
            firsts[(*count)++] = i;
    }
    free(firsts);
    return COLLET_OK;
}

static collet_status label_molecules(const trajectory_topology *topology, int64_t *labels,
                                     int64_t *count, collet_error *err)
{
    trajectory_molecules *molecules;
    collet_status status = trajectory_molecules_create(topology, &molecules, err);

    if (status != COLLET_OK)
        return status;
    memcpy(labels, molecules->of, (size_t)topology->n_atoms * sizeof *labels);
    *count = molecules->count;
    trajectory_molecules_free(molecules);
    return COLLET_OK;
}

collet_status selection_label(selection_kind kind, const trajectory_topology *topology,
                              int64_t *labels, int64_t *count, collet_error *err)
{
    collet_status status;

    if (kind == SELECT_SAME_RESIDUE) {
        label_residues(topology, labels, count);
        return COLLET_OK;
    }
    if (kind == SELECT_SAME_MOLECULE)
        return label_molecules(topology, labels, count, err);
    status =
        kind == SELECT_SAME_CHAIN ? check_chains(topology, err) : check_segments(topology, err);
    if (status != COLLET_OK)
        return status;
    return label_names(kind == SELECT_SAME_CHAIN ? topology->chains : topology->segments,
                       topology->n_atoms, labels, count, err);
}

/* ---- Hints ------------------------------------------------------------------------------- */

#define HINT_NAMES 8

static const char *name_at(const trajectory_topology *topology, selection_code code, int64_t atom)
{
    return code == SELECT_NAME ? topology->names[atom] : topology->residue_names[atom];
}

/* Lists the first names that are not empty; "" if all names are empty. */
static void list_names(const trajectory_topology *topology, selection_code code, char *text,
                       size_t size)
{
    const char *found[HINT_NAMES];
    size_t count = 0;
    int n = 0;

    text[0] = '\0';
    for (int64_t i = 0; i < topology->n_atoms && n < (int)size; i++) {
        const char *name = name_at(topology, code, i);
        if (!*name || is_one_of(name, found, count))
            continue;
        n += snprintf(text + n, size - (size_t)n, "%s%s",
                      count > 0             ? ", "
                      : code == SELECT_NAME ? "; names, in which case matters, are "
                                            : "; resnames, in which case matters, are ",
                      count < HINT_NAMES ? name : "...");
        if (count == HINT_NAMES)
            return;
        found[count++] = name;
    }
}

void trajectory_selection_hint(const trajectory_selection *s, const trajectory_topology *topology,
                               char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < s->n_steps; i++) {
        const selection_step *step = &s->steps[i];
        int64_t atom = 0;

        if (step->code != SELECT_NAME && step->code != SELECT_RESNAME)
            continue;
        while (atom < topology->n_atoms &&
               !matches_any(s, step, name_at(topology, step->code, atom)))
            atom++;
        if (atom == topology->n_atoms) {
            list_names(topology, step->code, text, size);
            return;
        }
    }
}
