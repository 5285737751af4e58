/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_molecules.c */
#include "molecules.h"

#include "guess.h"
#include "residues.h"

#include <stdlib.h>
#include <string.h>

/* ---- Storage ----------------------------------------------------------------------------- */

static collet_status no_memory(int64_t n_atoms, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "no memory for the molecules of %lld atoms",
                       (long long)n_atoms);
}

/* NULL: out of memory. */
static trajectory_molecules *allocate(int64_t n_atoms, int64_t n_bonds, int64_t n_loose)
{
    trajectory_molecules *m = calloc(1, sizeof *m);
    size_t n = (size_t)n_atoms;

    if (m) {
        m->n_atoms = n_atoms;
        m->of = calloc(n + 1, sizeof *m->of);
        m->offsets = calloc(n + 1, sizeof *m->offsets);
        m->atoms = calloc(n + 1, sizeof *m->atoms);
        m->bonds = calloc((size_t)n_bonds + 1, sizeof *m->bonds);
        m->loose = calloc(2 * (size_t)n_loose + 1, sizeof *m->loose);
    }
    if (m && m->of && m->offsets && m->atoms && m->bonds && m->loose)
        return m;
    trajectory_molecules_free(m);
    return NULL;
}

void trajectory_molecules_free(trajectory_molecules *m)
{
    if (!m)
        return;
    free(m->of);
    free(m->offsets);
    free(m->atoms);
    free(m->bonds);
    free(m->loose);
    free(m);
}

/* ---- Sets of atoms ----------------------------------------------------------------------- */

/* While sets are being joined, of[i] is an earlier atom of the same set; for the first atom, of[i] is i itself. */
static int64_t first_of(int64_t *of, int64_t atom)
{
    while (of[atom] != atom) {
        of[atom] = of[of[atom]];
        atom = of[atom];
    }
    return atom;
}

static void join(int64_t *of, int64_t a, int64_t b)
{
    a = first_of(of, a);
    b = first_of(of, b);
    if (a < b)
        of[b] = a;
    else
        of[a] = b;
}

/* Numbers the sets and lists their atoms. */
static void number_sets(trajectory_molecules *m)
{
    int64_t *next = m->offsets + 1; /* next[s]: where the next atom of set s is listed */

    /* Atoms ascend, so the first atom of a set gets the set's number before the other atoms copy it. */
    for (int64_t i = 0; i < m->n_atoms; i++)
        m->of[i] = m->of[i] == i ? m->count++ : m->of[m->of[i]];
    for (int64_t i = 0; i < m->n_atoms; i++)
        if (m->of[i] + 1 < m->count)
            next[m->of[i] + 1]++;
    for (int64_t i = 1; i < m->count; i++)
        next[i] += next[i - 1];
    for (int64_t i = 0; i < m->n_atoms; i++)
        m->atoms[next[m->of[i]]++] = i;
}

static void find_sets(trajectory_molecules *m)
{
    for (int64_t i = 0; i < m->n_atoms; i++)
        m->of[i] = i;
    for (int64_t b = 0; b < m->n_bonds; b++)
        join(m->of, m->bonds[b].first, m->bonds[b].second);
    for (int64_t r = 0; r < m->n_loose; r++)
        for (int64_t i = m->loose[2 * r] + 1; i < m->loose[2 * r + 1]; i++)
            join(m->of, i - 1, i);
    /* of[i] must be the first atom of the set, not just an earlier atom. */
    for (int64_t i = 0; i < m->n_atoms; i++)
        m->of[i] = first_of(m->of, i);
    number_sets(m);
}

/* ---- Residues ---------------------------------------------------------------------------- */

/* The properties of a residue to which the next residue is joined. */
typedef struct residue {
    int64_t first, end;  /* range of atoms; end 0: none yet */
    int loose;           /* 1: an atom has no bond */
    int64_t bond;        /* atom that is bonded to the next residue */
    const char *partner; /* name of that atom's partner in the next residue; NULL: no bond known */
    int ends;            /* 1: the residue has an atom that ends a chain */
} residue;

/* If an atom of this name is bonded to the next residue, the name of its partner there; else NULL. */
static const char *joins_next(const char *name, const char *residue_name)
{
    if (strcmp(name, "C") == 0 && trajectory_residue_is_protein(residue_name))
        return "N";
    return strcmp(name, "O3'") == 0 ? "P" : NULL;
}

/* 1 for the second oxygen of a carboxylate: the chain ends with it. */
static int ends_chain(const char *name)
{
    static const char *const names[] = {"OXT", "OT2", "OC2", "O2"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

static residue take_residue(const trajectory_topology *t, const uint8_t *bonded, int64_t first)
{
    residue r = {.first = first, .end = first};
    int all_bonded = 1;

    for (; r.end < t->n_atoms && trajectory_topology_same_residue(t, first, r.end); r.end++) {
        const char *partner = joins_next(t->names[r.end], t->residue_names[r.end]);

        all_bonded = all_bonded && bonded[r.end];
        if (partner) {
            r.partner = partner;
            r.bond = r.end;
        } else if (ends_chain(t->names[r.end])) {
            r.partner = NULL;
            r.ends = 1;
        }
    }
    r.loose = !all_bonded;
    return r;
}

static int same_chain(const trajectory_topology *t, int64_t a, int64_t b)
{
    return (!t->chains || strcmp(t->chains[a], t->chains[b]) == 0) &&
           (!t->segments || strcmp(t->segments[a], t->segments[b]) == 0);
}

/* Returns the backbone atom of a residue that is nearest to the next residue, or with to_next = 0 to the
 * residue before; -1: there is none. A cap of a chain has no such atom on its outer side. */
static int64_t backbone(const trajectory_topology *t, const residue *r, int to_next)
{
    static const char *const protein[2][3] = {{"N", "CA", "BB"}, {"C", "CA", "BB"}};
    static const char *const nucleic[2][3] = {{"P", "C5'", "BB1"}, {"O3'", "C3'", "BB1"}};
    const char *name = t->residue_names[r->first];
    const char *const *names =
        trajectory_residue_is_protein(name) ? protein[to_next] : nucleic[to_next];

    for (int k = 0; k < 3; k++)
        for (int64_t i = r->first; i < r->end; i++)
            if (strcmp(t->names[i], names[k]) == 0)
                return i;
    return r->end - r->first == 1 ? r->first : -1;
}

static int same_polymer(const trajectory_topology *t, int64_t a, int64_t b)
{
    const char *first = t->residue_names[a], *second = t->residue_names[b];

    return (trajectory_residue_is_protein(first) && trajectory_residue_is_protein(second)) ||
           (trajectory_residue_is_nucleic(first) && trajectory_residue_is_nucleic(second));
}

static void add_joint(trajectory_molecules *m, const trajectory_topology *t, int64_t first,
                      int64_t second)
{
    if (!t->separate || !t->separate[second])
        m->bonds[m->n_bonds++] = (trajectory_bond){first, second};
}

/* Adds a bond to the residue before, if a chain continues there. The file may have only some atoms, such as CA; if the
 * bonded atoms are absent, the backbone atoms nearest to them take their place. */
static void join_residues(trajectory_molecules *m, const trajectory_topology *t,
                          const residue *before, const residue *now)
{
    int64_t first, second;

    if (before->end == 0 || !(before->loose || now->loose) ||
        t->residue_ids[now->first] != t->residue_ids[before->first] + 1 ||
        !same_chain(t, before->first, now->first))
        return;
    for (int64_t i = now->first; before->partner && i < now->end; i++)
        if (strcmp(t->names[i], before->partner) == 0) {
            add_joint(m, t, before->bond, i);
            return;
        }
    first = backbone(t, before, 1);
    second = backbone(t, now, 0);
    if (!before->ends && first >= 0 && second >= 0 && same_polymer(t, first, second))
        add_joint(m, t, first, second);
}

/* 1 if the file has no residues, so that all atoms seem to be in one residue. */
static int no_residues(const trajectory_topology *t)
{
    return t->residue_names[0][0] == '\0' && trajectory_topology_same_residue(t, 0, t->n_atoms - 1);
}

static void find_residues(trajectory_molecules *m, const trajectory_topology *t,
                          const uint8_t *bonded)
{
    residue before = {0};

    if (no_residues(t))
        return;
    for (int64_t i = 0; i < t->n_atoms; i = before.end) {
        residue now = take_residue(t, bonded, i);

        join_residues(m, t, &before, &now);
        if (now.loose)
            m->known |= TRAJECTORY_BY_RESIDUES;
        if (now.loose && now.end - now.first > 1) {
            m->loose[2 * m->n_loose] = now.first;
            m->loose[2 * m->n_loose++ + 1] = now.end;
        }
        before = now;
    }
}

/* ---- Making ------------------------------------------------------------------------------ */

static void copy_bonds(trajectory_molecules *m, const trajectory_bond *bonds, int64_t n)
{
    if (n > 0) {
        memcpy(m->bonds, bonds, (size_t)n * sizeof *bonds);
        m->known |= TRAJECTORY_BY_BONDS;
    }
    m->n_bonds = m->n_named = n;
}

/* 1 for a metal atom that is the only atom of its residue. */
static int is_ion(const trajectory_topology *t, int64_t i)
{
    return trajectory_topology_is_alone(t, i) &&
           trajectory_element_is_metal(t->names[i], t->residue_names[i],
                                       t->elements ? t->elements[i] : "");
}

/* Takes the bonds of the file, except bonds between an ion and another atom. With these bonds, the water around an
 * ion, or the parts of a protein that bind the ion, would become one molecule. Bonds between two metal atoms
 * count. */
static void take_known_bonds(trajectory_molecules *m, const trajectory_topology *t, uint8_t *bonded)
{
    int64_t n = t->bonds ? t->n_bonds : 0;

    for (int64_t b = 0; b < n; b++) {
        const trajectory_bond *bond = &t->bonds[b];

        if (is_ion(t, bond->first) != is_ion(t, bond->second))
            continue;
        bonded[bond->first] = bonded[bond->second] = 1;
        m->bonds[m->n_bonds++] = *bond;
        m->known |= TRAJECTORY_BY_BONDS;
    }
}

/* Returns the number of residues of a topology (an upper limit). Each residue may have a bond to the next residue. */
static int64_t count_residues(const trajectory_topology *t)
{
    int64_t n = 1;

    for (int64_t i = 1; i < t->n_atoms; i++)
        n += !trajectory_topology_same_residue(t, i - 1, i);
    return n;
}

collet_status trajectory_molecules_create(const trajectory_topology *topology,
                                          trajectory_molecules **out, collet_error *err)
{
    int64_t n = topology->bonds ? topology->n_bonds : 0, n_residues = count_residues(topology);
    uint8_t *bonded = calloc((size_t)topology->n_atoms, 1);

    *out = bonded ? allocate(topology->n_atoms, n + n_residues + topology->n_joints, n_residues)
                  : NULL;
    if (!*out) {
        free(bonded);
        return no_memory(topology->n_atoms, err);
    }
    take_known_bonds(*out, topology, bonded);
    (*out)->n_named = (*out)->n_bonds;
    find_residues(*out, topology, bonded);
    free(bonded);
    for (int64_t k = 0; k < topology->n_joints; k++) {
        (*out)->bonds[(*out)->n_bonds++] = topology->joints[k];
        (*out)->known |= TRAJECTORY_BY_DISTANCES;
    }
    find_sets(*out);
    return COLLET_OK;
}

collet_status trajectory_molecules_from(int64_t n_atoms, const trajectory_bond *bonds,
                                        int64_t n_bonds, const int64_t *offsets, int64_t n,
                                        trajectory_molecules **out, collet_error *err)
{
    *out = allocate(n_atoms, n_bonds, n);
    if (!*out)
        return no_memory(n_atoms, err);
    copy_bonds(*out, bonds, n_bonds);
    for (int64_t r = 0; r < n; r++) {
        (*out)->loose[2 * r] = offsets[r];
        (*out)->loose[2 * r + 1] = offsets[r + 1];
        (*out)->known |= TRAJECTORY_BY_RESIDUES;
    }
    (*out)->n_loose = n;
    find_sets(*out);
    return COLLET_OK;
}

/* ---- Some of the atoms ------------------------------------------------------------------- */

/* Returns the index of the first element of `atoms` that is not below `atom`. */
static int64_t place_of(const int64_t *atoms, int64_t n, int64_t atom)
{
    int64_t low = 0, high = n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (atoms[middle] < atom)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_bonds(trajectory_molecules *to, const trajectory_molecules *from,
                       const int64_t *atoms)
{
    int64_t n = to->n_atoms;

    for (int64_t b = 0; b < from->n_bonds; b++) {
        int64_t first = place_of(atoms, n, from->bonds[b].first);
        int64_t second = place_of(atoms, n, from->bonds[b].second);

        if (first < n && second < n && atoms[first] == from->bonds[b].first &&
            atoms[second] == from->bonds[b].second) {
            to->bonds[to->n_bonds++] = (trajectory_bond){first, second};
            to->n_named += b < from->n_named;
        }
    }
    for (int64_t r = 0; r < from->n_loose; r++) {
        int64_t first = place_of(atoms, n, from->loose[2 * r]);
        int64_t end = place_of(atoms, n, from->loose[2 * r + 1]);

        if (end - first < 2)
            continue;
        to->loose[2 * to->n_loose] = first;
        to->loose[2 * to->n_loose++ + 1] = end;
    }
}

collet_status trajectory_molecules_subset(const trajectory_molecules *m, const int64_t *atoms,
                                          int64_t n, trajectory_molecules **out, collet_error *err)
{
    int64_t *firsts = malloc((size_t)m->count * sizeof *firsts + 1);
    trajectory_molecules *to = firsts ? allocate(n, m->n_bonds, m->n_loose) : NULL;

    *out = to;
    if (!to) {
        free(firsts);
        return no_memory(n, err);
    }
    to->known = m->known;
    take_bonds(to, m, atoms);
    for (int64_t k = 0; k < m->count; k++)
        firsts[k] = -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t *first = &firsts[m->of[atoms[i]]];

        if (*first < 0)
            *first = i;
        to->of[i] = *first;
    }
    free(firsts);
    number_sets(to);
    return COLLET_OK;
}
