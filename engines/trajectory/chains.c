/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_periodic.c */
#include "chains.h"

#include "files.h"
#include "trajectory/atoms/masses.h"
#include "trajectory/atoms/molecules.h"
#include "trajectory/atoms/neighbours.h"
#include "trajectory/atoms/residues.h"
#include "trajectory/boxes/lattice.h"
#include "trajectory/formats/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest distances of two joined atoms in nm, with a margin for motion. C to N is 0.13, O3' to P 0.16. */
#define BOND_MOST 0.25
#define CA_MOST 0.5     /* CA to CA is 0.38 */
#define BEADS_MOST 0.6  /* beads BB of Martini: 0.31 to 0.4 */
#define OTHERS_MOST 0.8 /* P to P is 0.55 to 0.7; side chains and beads of nucleotides are at similar distances */

static double joint_most(const trajectory_topology *t, const trajectory_bond *joint)
{
    const char *first = t->names[joint->first], *second = t->names[joint->second];

    if ((strcmp(first, "C") == 0 && strcmp(second, "N") == 0) ||
        (strcmp(first, "O3'") == 0 && strcmp(second, "P") == 0))
        return BOND_MOST;
    if (!trajectory_residue_is_protein(t->residue_names[joint->first]))
        return OTHERS_MOST;
    if (strcmp(first, "CA") == 0 || strcmp(second, "CA") == 0)
        return CA_MOST;
    return strcmp(first, "BB") == 0 ? BEADS_MOST : OTHERS_MOST;
}

/* ---- Atoms that may be bonded ------------------------------------------------------------ */

/* Atoms of different residues count as bonded if their distance in nm is at most this much above the sum of their
 * covalent radii. With P, S and halogens this limit is smaller, because programs that fill a box place atoms as near
 * as 0.57 times the sum of their van der Waals radii. */
#define BOND_LONGER 0.03
#define BOND_LONGER_BIG 0.015
#define BOND_SHORTEST 0.5 /* times this sum; nearer atoms show that this is no real structure */
#define PAIRS_MOST 2      /* maximum number of pairs between two residues; more pairs are a clash */

/* Covalent radii in nm. The halogens are last. */
static const struct {
    const char *symbol;
    double radius;
    double longer;
} radii[] = {
    {"C", 0.076, BOND_LONGER},      {"N", 0.071, BOND_LONGER},      {"O", 0.066, BOND_LONGER},
    {"B", 0.084, BOND_LONGER},      {"S", 0.105, BOND_LONGER_BIG},  {"P", 0.107, BOND_LONGER_BIG},
    {"Si", 0.111, BOND_LONGER_BIG}, {"Se", 0.120, BOND_LONGER_BIG}, {"F", 0.057, BOND_LONGER_BIG},
    {"Cl", 0.102, BOND_LONGER_BIG}, {"Br", 0.120, BOND_LONGER_BIG}, {"I", 0.139, BOND_LONGER_BIG},
};
#define RADII (sizeof radii / sizeof *radii)
#define HALOGENS 4
#define FARTHEST (2 * 0.139 + BOND_LONGER)

/* Returns the index of an element's radius; RADII: the element is not joined. */
static size_t radius_of(const trajectory_element *element)
{
    size_t i = 0;

    while (i < RADII && !(element && strcmp(element->symbol, radii[i].symbol) == 0))
        i++;
    return i;
}

/* What is known of the atoms of a topology: bits for each atom. */
enum { OF_JOINT = 1, MAY_JOIN = 2, HAS_BOND = 4 };

static int has_unbonded(const trajectory_topology *t, const uint8_t *marks)
{
    for (int64_t i = 0; i < t->n_atoms; i++)
        if (!(marks[i] & HAS_BOND) && !trajectory_residue_is_water(t->residue_names[i]))
            return 1;
    return 0;
}

/* Marks the atoms that may be bonded to another residue; 0 if out of memory. If all such atoms have bonds of the
 * file, no atom is marked. */
static int mark_candidates(const trajectory_topology *t, uint8_t *marks, uint8_t *kinds)
{
    const trajectory_element **elements;
    int unbonded = 0;

    if (!has_unbonded(t, marks))
        return 1;
    elements = trajectory_masses_elements(t);
    if (!elements)
        return 0;
    for (int64_t i = 0; i < t->n_atoms; i++) {
        size_t kind = radius_of(elements[i]);

        kinds[i] = (uint8_t)kind;
        if (kind == RADII || trajectory_residue_is_water(t->residue_names[i]) ||
            (kind >= RADII - HALOGENS && trajectory_topology_is_alone(t, i)))
            continue;
        marks[i] |= MAY_JOIN;
        unbonded = unbonded || !(marks[i] & HAS_BOND);
    }
    for (int64_t i = 0; !unbonded && i < t->n_atoms; i++)
        marks[i] &= (uint8_t)~MAY_JOIN;
    free(elements);
    return 1;
}

/* ---- The first frame --------------------------------------------------------------------- */

/* Two atoms that are as near as bonded atoms, and their residues, low < high. */
typedef struct found_pair {
    int64_t low, high, first, second;
    int is_short; /* 1: nearer than any bond */
} found_pair;

/* The state of the search, and one frame of the atoms that it needs. */
typedef struct search {
    trajectory_topology *topology;
    trajectory_molecules *molecules;
    uint8_t *marks;  /* marks of each atom of the topology */
    uint8_t *kinds;  /* for each atom: index of its radius */
    int64_t *places; /* for each atom: its row in the frame */
    int64_t *atoms;  /* n_atoms, ascending */
    int64_t n_atoms;
    trajectory_frames *frame; /* NULL: none could be read */
    int64_t *residues;        /* for each atom: the first atom of its residue */
    found_pair *found;
    int64_t n_found, capacity;
    int too_many;
} search;

static void list_atoms(search *s)
{
    for (int64_t i = 0; i < s->topology->n_atoms; i++)
        if (s->marks[i] & (OF_JOINT | MAY_JOIN)) {
            s->places[i] = s->n_atoms;
            s->atoms[s->n_atoms++] = i;
        }
}

static int mark_atoms(search *s)
{
    const trajectory_topology *t = s->topology;
    const trajectory_molecules *m = s->molecules;
    size_t n = (size_t)t->n_atoms;

    s->marks = calloc(n, 1);
    s->kinds = calloc(n, 1);
    s->places = calloc(n, sizeof *s->places);
    s->atoms = calloc(n, sizeof *s->atoms);
    s->residues = calloc(n, sizeof *s->residues);
    if (!s->marks || !s->kinds || !s->places || !s->atoms || !s->residues)
        return 0;
    for (int64_t i = 1; i < t->n_atoms; i++)
        s->residues[i] = trajectory_topology_same_residue(t, i - 1, i) ? s->residues[i - 1] : i;
    for (int64_t k = 0; k < m->n_bonds; k++) {
        uint8_t mark = k < m->n_named ? HAS_BOND : OF_JOINT;
        s->marks[m->bonds[k].first] |= mark;
        s->marks[m->bonds[k].second] |= mark;
    }
    if (!mark_candidates(t, s->marks, s->kinds))
        return 0;
    list_atoms(s);
    return 1;
}

static double position(const search *s, int64_t atom, int axis)
{
    return trajectory_frames_value(s->frame, s->frame->positions, 3 * s->places[atom] + axis);
}

/* ---- Chains that end --------------------------------------------------------------------- */

static int is_apart(const search *s, const trajectory_bond *joint,
                    const trajectory_lattice *lattice, double most)
{
    double d[3];

    for (int v = 0; v < 3; v++)
        d[v] = position(s, joint->first, v) - position(s, joint->second, v);
    if (lattice)
        trajectory_lattice_shorten(lattice, d);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > most * most;
}

static collet_status separate(search *s, const char *path, collet_error *err)
{
    trajectory_topology *t = s->topology;
    const trajectory_molecules *m = s->molecules;
    trajectory_lattice lattice;
    int has_box = trajectory_lattice_make(&lattice, s->frame->boxes);
    collet_status status =
        trajectory_topology_allocate_one(t, &t->separate, sizeof *t->separate, path, err);

    for (int64_t k = m->n_named; status == COLLET_OK && k < m->n_bonds; k++)
        t->separate[m->bonds[k].second] = (uint8_t)is_apart(
            s, &m->bonds[k], has_box ? &lattice : NULL, joint_most(t, &m->bonds[k]));
    if (status != COLLET_OK)
        return status;
    trajectory_molecules_free(s->molecules);
    return trajectory_molecules_create(t, &s->molecules, err);
}

/* ---- Residues that are bonded ------------------------------------------------------------ */

static int join_pair(void *user, int64_t first, int64_t second, const double d[3])
{
    search *s = user;
    int64_t a = s->atoms[first], b = s->atoms[second];
    const uint8_t both = s->marks[a] & s->marks[b];
    size_t p = s->kinds[a], q = s->kinds[b];
    double distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);

    if (!(both & MAY_JOIN) || both & HAS_BOND || s->molecules->of[a] == s->molecules->of[b])
        return 1;
    double sum = radii[p].radius + radii[q].radius, longer = fmin(radii[p].longer, radii[q].longer);
    if (distance > sum + longer)
        return 1;
    if (!trajectory_grow(&s->found, s->n_found, 1, &s->capacity, sizeof *s->found))
        return 0;
    s->found[s->n_found++] =
        (found_pair){s->residues[a], s->residues[b], a, b, distance < BOND_SHORTEST * sum};
    if (s->found[s->n_found - 1].low > s->found[s->n_found - 1].high)
        s->found[s->n_found - 1] =
            (found_pair){s->residues[b], s->residues[a], b, a, distance < BOND_SHORTEST * sum};
    s->too_many = s->n_found > 4 * s->n_atoms; /* no structure has so many bonds */
    return !s->too_many;
}

static int compare_found(const void *a, const void *b)
{
    const found_pair *p = a, *q = b;

    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

/* Makes joints from the pairs, except the pairs of residues that clash. Returns 0 if out of memory. */
static int take_pairs(search *s)
{
    trajectory_topology *t = s->topology;
    int64_t end;

    t->joints = malloc((size_t)(s->n_found + 1) * sizeof *t->joints);
    if (!t->joints)
        return 0;
    if (s->n_found > 0)
        qsort(s->found, (size_t)s->n_found, sizeof *s->found, compare_found);
    for (int64_t k = 0; k < s->n_found; k = end) {
        int clash = 0;

        for (end = k; end < s->n_found && compare_found(&s->found[k], &s->found[end]) == 0; end++)
            clash |= s->found[end].is_short;
        if (clash || end - k > PAIRS_MOST) {
            if (t->n_clashes++ == 0) {
                t->clash[0] = s->found[k].first;
                t->clash[1] = s->found[k].second;
            }
            continue;
        }
        for (int64_t i = k; i < end; i++)
            t->joints[t->n_joints++] = (trajectory_bond){s->found[i].first, s->found[i].second};
    }
    t->n_joints = trajectory_bonds_sort(t->joints, t->n_joints);
    return 1;
}

/* A box in which no neighbours can be found is no error here: later code reports it, or does not need it. Atoms
 * without a structure, such as many atoms at one place, are not joined. */
static collet_status join(search *s, collet_error *err)
{
    trajectory_neighbours *neighbours = trajectory_neighbours_create();
    double *points = malloc(3 * (size_t)s->n_atoms * sizeof *points);
    collet_status status = COLLET_NO_MEMORY;

    if (neighbours && points) {
        for (int64_t i = 0; i < 3 * s->n_atoms; i++)
            points[i] = trajectory_frames_value(s->frame, s->frame->positions, i);
        status = trajectory_neighbours_pairs(neighbours, s->frame->boxes, FARTHEST, points,
                                             s->n_atoms, join_pair, s, err);
    } else {
        collet_fail(err, COLLET_NO_MEMORY, "no memory for the distances of %lld atoms",
                    (long long)s->n_atoms);
    }
    free(points);
    trajectory_neighbours_free(neighbours);
    if (status == COLLET_NO_MEMORY && !s->too_many)
        return status;
    if (status != COLLET_OK)
        s->n_found = 0;
    return take_pairs(s)
               ? COLLET_OK
               : collet_fail(err, COLLET_NO_MEMORY, "no memory for the bonds of %lld atoms",
                             (long long)s->n_atoms);
}

collet_status trajectory_chains_find(trajectory_topology *topology,
                                     const trajectory_settings *settings, collet_error *err)
{
    search s = {.topology = topology};
    collet_status status = trajectory_molecules_create(topology, &s.molecules, err);

    if (status != COLLET_OK)
        return status;
    if (!mark_atoms(&s))
        status = collet_fail(err, COLLET_NO_MEMORY, "no memory for %lld atoms",
                             (long long)topology->n_atoms);
    if (status == COLLET_OK && s.n_atoms > 0)
        status = trajectory_files_first(settings, s.atoms, s.n_atoms, &s.frame, err);
    if (status == COLLET_OK && s.frame && s.molecules->n_bonds > s.molecules->n_named)
        status = separate(&s, settings->topology, err);
    if (status == COLLET_OK && s.frame)
        status = join(&s, err);
    trajectory_frames_free(s.frame);
    trajectory_molecules_free(s.molecules);
    free(s.marks);
    free(s.kinds);
    free(s.places);
    free(s.atoms);
    free(s.residues);
    free(s.found);
    return status;
}
