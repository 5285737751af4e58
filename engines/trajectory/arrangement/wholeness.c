/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_periodic.c */
#include "wholeness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    trajectory_cut *cut;
    const trajectory_molecules *molecules;
    const trajectory_lattice *lattice;
    const double *positions;
    uint8_t *found; /* by molecule */
} search;

static void note(const search *s, int64_t atom, int64_t next, int axis, double distance)
{
    if (s->cut->count++ > 0)
        return;
    s->cut->atom = atom;
    s->cut->next = next;
    s->cut->axis = axis;
    s->cut->distance = distance;
}

static void check_run(const search *s, int64_t first, int64_t end)
{
    double low[3], high[3], at[3];

    for (int64_t i = first; i < end; i++) {
        trajectory_lattice_fractions(s->lattice, s->positions + 3 * i, at);
        for (int k = 0; k < 3; k++) {
            low[k] = i == first ? at[k] : fmin(low[k], at[k]);
            high[k] = i == first ? at[k] : fmax(high[k], at[k]);
        }
    }
    for (int axis = 0; axis < 3; axis++)
        if (s->lattice->periodic[axis] && high[axis] - low[axis] > 0.5) {
            note(s, first, -1, axis, high[axis] - low[axis]);
            return;
        }
}

static void check_bond(const search *s, const trajectory_bond *bond)
{
    double from[3], to[3], d[3];

    for (int k = 0; k < 3; k++)
        d[k] = s->positions[3 * bond->second + k] - s->positions[3 * bond->first + k];
    if (!trajectory_lattice_shorten(s->lattice, d))
        return; /* no image of the second atom is nearer, even if the vector is long in units of a skewed box */
    trajectory_lattice_fractions(s->lattice, s->positions + 3 * bond->first, from);
    trajectory_lattice_fractions(s->lattice, s->positions + 3 * bond->second, to);
    for (int axis = 0; axis < 3; axis++)
        if (s->lattice->periodic[axis] && fabs(to[axis] - from[axis]) > 0.5) {
            note(s, bond->first, bond->second, axis, fabs(to[axis] - from[axis]));
            return;
        }
}

/* Each molecule is counted once. */
static void check_all(const search *s)
{
    const trajectory_molecules *m = s->molecules;
    int64_t before;

    for (int64_t r = 0; r < m->n_loose; r++) {
        uint8_t *found = &s->found[m->of[m->loose[2 * r]]];

        before = s->cut->count;
        if (!*found)
            check_run(s, m->loose[2 * r], m->loose[2 * r + 1]);
        *found |= s->cut->count > before;
    }
    for (int64_t b = 0; b < m->n_bonds; b++) {
        uint8_t *found = &s->found[m->of[m->bonds[b].first]];

        before = s->cut->count;
        if (!*found)
            check_bond(s, &m->bonds[b]);
        *found |= s->cut->count > before;
    }
}

collet_status trajectory_cut_find(trajectory_cut *cut, const trajectory_molecules *m,
                                  const double *positions, const trajectory_lattice *lattice,
                                  const uint8_t *skip, collet_error *err)
{
    uint8_t *found = calloc((size_t)m->count + 1, 1);
    const search s = {cut, m, lattice, positions, found};

    memset(cut, 0, sizeof *cut);
    if (!found)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to check %lld molecules",
                           (long long)m->count);
    for (int64_t k = 0; skip && k < m->count; k++)
        found[k] = skip[k] != 0;
    if (m->known)
        check_all(&s);
    else
        check_run(&s, 0, m->n_atoms);
    free(found);
    return COLLET_OK;
}
