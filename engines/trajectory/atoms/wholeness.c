/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_missing_data.c */
#include "wholeness.h"

#include "residues.h"

#include <math.h>
#include <string.h>

/* Converts positions to lengths of the vectors of the box: fractions = position x inverse. */
typedef struct box {
    double inverse[9];
    int periodic[3];
} box;

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* A box is flat if its squared volume is below this, in units of the product of the squared lengths
 * of its vectors. */
#define FLAT 1e-12

/* Sets up the box; 0 if it has no periods or is flat. A vector of length 0 is an axis without a
 * period. */
static int invert(const double vectors[9], box *b)
{
    double v[3][3], c[3], determinant, squares = 1;
    int any = 0;

    memcpy(v, vectors, sizeof v);
    for (int i = 0; i < 3; i++) {
        b->periodic[i] = v[i][0] != 0 || v[i][1] != 0 || v[i][2] != 0;
        any |= b->periodic[i];
        if (!b->periodic[i])
            v[i][i] = 1;
        squares *= v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2];
    }
    cross(v[1], v[2], c);
    determinant = v[0][0] * c[0] + v[0][1] * c[1] + v[0][2] * c[2];
    for (int i = 0; i < 3; i++) {
        cross(v[(i + 1) % 3], v[(i + 2) % 3], c);
        for (int k = 0; k < 3; k++)
            b->inverse[3 * k + i] = c[k] / determinant;
    }
    return any && determinant * determinant > FLAT * squares && isfinite(1 / determinant);
}

/* ---- Residues ---------------------------------------------------------------------------- */

/* A residue while its atoms are visited. */
typedef struct residue {
    int64_t first; /* atom of the topology; -1: none yet */
    double minimum[3], maximum[3];
    double bond[3];      /* position of the atom that is bonded to the next residue */
    const char *partner; /* name of the atom to which it is bonded; NULL: no such bond is known */
} residue;

/* The atoms that join successive residues. */
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

static void note(trajectory_cut *cut, int64_t atom, int64_t next, int axis, double distance)
{
    if (cut->count++ == 0) {
        cut->atom = atom;
        cut->next = next;
        cut->axis = axis;
        cut->distance = distance;
    }
}

/* The first axis along which `from` and `to` are more than half a box apart; -1: none. */
static int apart(const box *b, const double from[3], const double to[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (b->periodic[axis] && fabs(to[axis] - from[axis]) > 0.5)
            return axis;
    return -1;
}

static void end_residue(trajectory_cut *cut, const box *b, const residue *r)
{
    int axis = r->first < 0 ? -1 : apart(b, r->minimum, r->maximum);

    if (axis >= 0)
        note(cut, r->first, -1, axis, r->maximum[axis] - r->minimum[axis]);
}

static void begin_residue(residue *r, int64_t atom, const double at[3])
{
    *r = (residue){.first = atom};
    memcpy(r->minimum, at, sizeof r->minimum);
    memcpy(r->maximum, at, sizeof r->maximum);
}

static void add_atom(residue *r, const trajectory_topology *topology, int64_t atom,
                     const double at[3])
{
    const char *partner = joins_next(topology->names[atom], topology->residue_names[atom]);

    for (int i = 0; i < 3; i++) {
        if (at[i] < r->minimum[i])
            r->minimum[i] = at[i];
        if (at[i] > r->maximum[i])
            r->maximum[i] = at[i];
    }
    if (partner != NULL) {
        r->partner = partner;
        memcpy(r->bond, at, sizeof r->bond);
    } else if (ends_chain(topology->names[atom])) {
        r->partner = NULL;
    }
}

/* Checks the bond from the residue before; a residue that is already cut counts once. */
static void check_bond(trajectory_cut *cut, const box *b, const trajectory_topology *topology,
                       const residue *before, int64_t atom, const double at[3])
{
    int axis;

    if (before->partner == NULL || strcmp(before->partner, topology->names[atom]) != 0 ||
        topology->residue_ids[atom] != topology->residue_ids[before->first] + 1)
        return;
    axis = apart(b, before->bond, at);
    if (axis >= 0 && apart(b, before->minimum, before->maximum) < 0)
        note(cut, before->first, atom, axis, fabs(at[axis] - before->bond[axis]));
}

void trajectory_cut_find(trajectory_cut *cut, const trajectory_topology *topology,
                         const int64_t *indices, const trajectory_frames *frames)
{
    residue now = {.first = -1}, before = {.first = -1};
    box b;

    if (!invert(frames->boxes, &b))
        return;
    for (int64_t i = 0; i < frames->n_atoms; i++) {
        double r[3], at[3];

        for (int k = 0; k < 3; k++)
            r[k] = trajectory_frames_value(frames, frames->positions, 3 * i + k);
        for (int k = 0; k < 3; k++)
            at[k] = r[0] * b.inverse[k] + r[1] * b.inverse[3 + k] + r[2] * b.inverse[6 + k];
        if (now.first < 0 || !trajectory_topology_same_residue(topology, now.first, indices[i])) {
            end_residue(cut, &b, &now);
            before = now;
            begin_residue(&now, indices[i], at);
        }
        add_atom(&now, topology, indices[i], at);
        check_bond(cut, &b, topology, &before, indices[i], at);
    }
    end_residue(cut, &b, &now);
}
