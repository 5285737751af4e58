/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_boxes.c */
#include "lattice.h"

#include <math.h>
#include <string.h>

/* A box is flat if its squared volume is below this, in units of the product of the squared lengths
 * of its vectors. */
#define FLAT 1e-12
/* Length of the vector that replaces a missing vector, in units of the longest other vector. */
#define ENDLESS 1e9
/* A vector counts as shorter only if it is shorter by more than rounding, because equal lengths may differ by
 * rounding. */
#define SHORTER (1 - 1e-10)
#define ROUNDS 100

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void add(double a[3], double factor, const double b[3])
{
    for (int i = 0; i < 3; i++)
        a[i] += factor * b[i];
}

/* Computes the inverse, so that position x inverse = fractions. Returns 0 if the vectors are flat. */
static int invert(double v[3][3], double inverse[9])
{
    double c[3], squares = dot(v[0], v[0]) * dot(v[1], v[1]) * dot(v[2], v[2]), determinant;

    cross(v[1], v[2], c);
    determinant = dot(v[0], c);
    for (int i = 0; i < 3; i++) {
        cross(v[(i + 1) % 3], v[(i + 2) % 3], c);
        for (int k = 0; k < 3; k++)
            inverse[3 * k + i] = c[k] / determinant;
    }
    return determinant * determinant > FLAT * squares && isfinite(1 / determinant);
}

static void multiply(const double r[3], const double inverse[9], double fractions[3])
{
    for (int i = 0; i < 3; i++)
        fractions[i] = r[0] * inverse[i] + r[1] * inverse[3 + i] + r[2] * inverse[6 + i];
}

/* ---- Reduction --------------------------------------------------------------------------- */

static void swap(double a[3], double b[3])
{
    double c[3];

    memcpy(c, a, sizeof c);
    memcpy(a, b, sizeof c);
    memcpy(b, c, sizeof c);
}

static void sort(double v[3][3])
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 - i; k++)
            if (dot(v[k + 1], v[k + 1]) < dot(v[k], v[k]))
                swap(v[k], v[k + 1]);
}

/* Gauss's reduction of two vectors: both become as short as possible in the lattice that they span; `a` is the
 * shorter vector. */
static void reduce_pair(double a[3], double b[3])
{
    for (int round = 0; round < ROUNDS; round++) {
        add(b, -nearbyint(dot(a, b) / dot(a, a)), a);
        if (dot(b, b) >= SHORTER * dot(a, a))
            return;
        swap(a, b);
    }
}

/* Subtracts from `c` the vector of the lattice of a and b (a reduced pair) that makes `c` shortest. */
static void reduce_third(const double a[3], const double b[3], double c[3])
{
    double aa = dot(a, a), bb = dot(b, b), ab = dot(a, b), determinant = aa * bb - ab * ab;
    double x = nearbyint((dot(a, c) * bb - dot(b, c) * ab) / determinant);
    double y = nearbyint((dot(b, c) * aa - dot(a, c) * ab) / determinant);
    double shortest[3] = {c[0], c[1], c[2]};

    for (int i = -1; i <= 1; i++)
        for (int k = -1; k <= 1; k++) {
            double trial[3] = {c[0], c[1], c[2]};

            add(trial, -(x + i), a);
            add(trial, -(y + k), b);
            if (dot(trial, trial) < SHORTER * dot(shortest, shortest))
                memcpy(shortest, trial, sizeof trial);
        }
    memcpy(c, shortest, sizeof shortest);
}

/* The greedy reduction of Semaev; in three dimensions its result is Minkowski's. */
static void reduce(double v[3][3])
{
    for (int round = 0; round < ROUNDS; round++) {
        double before;

        sort(v);
        reduce_pair(v[0], v[1]);
        before = dot(v[2], v[2]);
        reduce_third(v[0], v[1], v[2]);
        if (dot(v[2], v[2]) >= SHORTER * before || dot(v[2], v[2]) >= dot(v[1], v[1]))
            break;
    }
    sort(v);
}

/* ---- Missing vectors ---------------------------------------------------------------------- */

static void normalise(double v[3])
{
    double length = sqrt(dot(v, v));

    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

void trajectory_lattice_complete(double v[3][3], const int periodic[3])
{
    int n = periodic[0] + periodic[1] + periodic[2];

    if (n == 0)
        for (int i = 0; i < 3; i++)
            v[i][i] = 1;
    for (int i = 0; i < 3 && n == 1; i++) {
        double *only = v[i], *next = v[(i + 1) % 3], any[3] = {0};

        if (!periodic[i])
            continue;
        any[fabs(only[0]) < fabs(only[1]) ? 0 : 1] = 1;
        cross(only, any, next);
        normalise(next);
        cross(only, next, v[(i + 2) % 3]);
        normalise(v[(i + 2) % 3]);
        return;
    }
    for (int i = 0; i < 3 && n == 2; i++)
        if (!periodic[i]) {
            cross(v[(i + 1) % 3], v[(i + 2) % 3], v[i]);
            normalise(v[i]);
        }
}

/* ---- The lattice ------------------------------------------------------------------------- */

static int take_box(trajectory_lattice *l, const double box[9])
{
    double longest = 0;

    memcpy(l->box, box, sizeof l->box);
    for (int i = 0; i < 3; i++) {
        double square = dot(l->box[i], l->box[i]);

        if (!isfinite(square))
            return 0;
        l->periodic[i] = square > 0;
        longest = fmax(longest, sqrt(square));
    }
    trajectory_lattice_complete(l->box, l->periodic);
    for (int i = 0; i < 9; i++)
        if (!l->periodic[i / 3])
            l->box[i / 3][i % 3] *= ENDLESS * longest;
    return longest > 0 && invert(l->box, l->box_inverse);
}

static void list_neighbours(trajectory_lattice *l)
{
    int n = 0;

    /* The 13 neighbours that are not opposites of each other. */
    for (int code = 14; code < 27; code++, n++) {
        double *v = l->neighbours[n];

        v[0] = v[1] = v[2] = 0;
        add(v, code / 9 - 1, l->vectors[0]);
        add(v, code / 3 % 3 - 1, l->vectors[1]);
        add(v, code % 3 - 1, l->vectors[2]);
        l->half_squares[n] = dot(v, v) / 2;
    }
}

int trajectory_lattice_make(trajectory_lattice *l, const double box[9])
{
    if (!take_box(l, box))
        return 0;
    memcpy(l->vectors, l->box, sizeof l->vectors);
    reduce(l->vectors);
    list_neighbours(l);
    l->safe_square = dot(l->vectors[0], l->vectors[0]) / 4;
    return invert(l->vectors, l->inverse);
}

int trajectory_lattice_exists(const double box[9])
{
    trajectory_lattice l;

    return take_box(&l, box);
}

/* Repeatedly subtracts the neighbour that shortens d most, until no neighbour shortens it. */
static void descend(const trajectory_lattice *l, double d[3])
{
    for (int round = 0; round < ROUNDS; round++) {
        double most = 0, sign = 0;
        int best = -1;

        for (int i = 0; i < 13; i++) {
            double along = dot(d, l->neighbours[i]);
            double gain = fabs(along) * SHORTER - l->half_squares[i];

            if (gain > most) {
                most = gain;
                best = i;
                sign = along > 0 ? 1 : -1;
            }
        }
        if (best < 0)
            return;
        add(d, -sign, l->neighbours[best]);
    }
}

double trajectory_lattice_fill(const trajectory_lattice *l, const double shortest[3])
{
    double most = 0;

    for (int i = 0; i < 13; i++)
        most = fmax(most, fabs(dot(shortest, l->neighbours[i])) / l->half_squares[i]);
    return most;
}

int trajectory_lattice_shorten(const trajectory_lattice *l, double d[3])
{
    double before[3] = {d[0], d[1], d[2]}, fractions[3];

    if (!(dot(d, d) > l->safe_square) || !isfinite(dot(d, d)))
        return 0;
    multiply(d, l->inverse, fractions);
    for (int i = 0; i < 3; i++)
        add(d, -nearbyint(fractions[i]), l->vectors[i]);
    if (dot(d, d) > l->safe_square)
        descend(l, d);
    return dot(d, d) < SHORTER * dot(before, before) || (memcpy(d, before, sizeof before), 0);
}

void trajectory_lattice_fractions(const trajectory_lattice *l, const double position[3],
                                  double fractions[3])
{
    multiply(position, l->box_inverse, fractions);
}
