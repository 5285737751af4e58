/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_drift.c */
#include "drift.h"

#include "images.h"

#include <collet/trajectory.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If a principal moment of inertia is below this part of the largest moment, the atoms lie on a line, and this is the
 * moment about the line. A rotation about the line moves no atom. */
#define FLAT 1e-10
#define SWEEPS 30 /* more than Jacobi's method needs for a matrix of 3 x 3 */

struct trajectory_drift {
    trajectory_drift_setup setup; /* owns its arrays */
    double mass;
    trajectory_images *images; /* images of the system, for paths without jumps; NULL: no frame had a box */
    int boxed;                 /* 1: a frame with a box was followed */
    int started;
    double origin[3]; /* centre of mass in the first frame */
};

/* The motion of the system in one frame. */
typedef struct motion {
    double centre[3];
    double velocity[3];
    double omega[3]; /* angular velocity about the centre */
} motion;

static int is_linear(const trajectory_drift *d)
{
    return (d->setup.removed & COLLET_TRAJECTORY_DRIFT_LINEAR) != 0;
}

static int is_angular(const trajectory_drift *d)
{
    return (d->setup.removed & COLLET_TRAJECTORY_DRIFT_ANGULAR) != 0;
}

/* ---- Making ------------------------------------------------------------------------------ */

collet_status trajectory_drift_create(const trajectory_drift_setup *setup, trajectory_drift **out,
                                      collet_error *err)
{
    trajectory_drift *d = calloc(1, sizeof *d);
    size_t n = (size_t)setup->n;
    int64_t *rows = malloc(n * sizeof *rows);
    double *masses = malloc(n * sizeof *masses);

    *out = NULL;
    if (!d || !rows || !masses) {
        free(d);
        free(rows);
        free(masses);
        return collet_fail(err, COLLET_NO_MEMORY, "drift: no memory for %lld atoms",
                           (long long)setup->n);
    }
    memcpy(rows, setup->rows, n * sizeof *rows);
    memcpy(masses, setup->masses, n * sizeof *masses);
    d->setup = *setup;
    d->setup.rows = rows;
    d->setup.masses = masses;
    for (size_t a = 0; a < n; a++)
        d->mass += masses[a];
    *out = d;
    return COLLET_OK;
}

void trajectory_drift_free(trajectory_drift *d)
{
    if (!d)
        return;
    trajectory_images_free(d->images);
    free((void *)(uintptr_t)d->setup.rows);
    free((void *)(uintptr_t)d->setup.masses);
    free(d);
}

static int follows_molecules(const trajectory_drift *d)
{
    return is_linear(d) && d->setup.pbc == COLLET_TRAJECTORY_PBC_NOJUMP;
}

collet_status trajectory_drift_learn(trajectory_drift *d, const trajectory_molecules *molecules,
                                     const uint8_t *left, collet_error *err)
{
    int64_t n = d->setup.n, count = molecules->count;

    if (!follows_molecules(d))
        return COLLET_OK;
    int64_t *of = malloc((size_t)n * sizeof *of);
    if (!of)
        return collet_fail(err, COLLET_NO_MEMORY, "drift: no memory for %lld atoms", (long long)n);
    for (int64_t a = 0; a < n; a++) {
        int64_t molecule = molecules->of[d->setup.rows[a]];

        of[a] = left && left[molecule] ? count++ : molecule;
    }
    trajectory_images_free(d->images);
    collet_status status = trajectory_images_create(of, n, count, d->setup.masses, &d->images, err);
    free(of);
    return status;
}

int64_t trajectory_drift_rows(const trajectory_drift *d)
{
    return !is_linear(d) ? 0 : follows_molecules(d) ? d->setup.n : 1;
}

/* ---- The motion of the system ------------------------------------------------------------ */

static void vector_at(const trajectory_frames *frames, const void *array, int64_t row, double v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = trajectory_frames_value(frames, array, 3 * row + k);
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The mean of the vectors of the system in frame i of an array, weighted by mass. */
static void mean_of(const trajectory_drift *d, const trajectory_frames *frames, const void *array,
                    int64_t i, double mean[3])
{
    double sum[3] = {0}, v[3];

    for (int64_t a = 0; a < d->setup.n; a++) {
        vector_at(frames, array, i * frames->n_atoms + d->setup.rows[a], v);
        for (int k = 0; k < 3; k++)
            sum[k] += d->setup.masses[a] * v[k];
    }
    for (int k = 0; k < 3; k++)
        mean[k] = sum[k] / d->mass;
}

/* Rotates rows and columns p and q of the symmetric matrix so that m[p][q] becomes 0, and columns p and q of `axes`
 * by the same angle. */
static void annihilate(double m[3][3], double axes[3][3], int p, int q)
{
    double half = (m[q][q] - m[p][p]) / 2, off = m[p][q];
    double t = off == 0 ? 0 : off / (half + copysign(hypot(half, off), half));
    double c = 1 / sqrt(1 + t * t), s = t * c;

    for (int k = 0; k < 3; k++) {
        double x = m[k][p], y = m[k][q];

        m[k][p] = c * x - s * y;
        m[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = m[p][k], y = m[q][k], u = axes[k][p], v = axes[k][q];

        m[p][k] = c * x - s * y;
        m[q][k] = s * x + c * y;
        axes[k][p] = c * u - s * v;
        axes[k][q] = s * u + c * v;
    }
}

/* Solves inertia x omega = momentum. The part of omega about an axis without a moment is 0. `inertia` is changed. */
static void solve(double inertia[3][3], const double momentum[3], double omega[3])
{
    double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, largest = 0;

    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++)
                annihilate(inertia, axes, p, q);
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, inertia[k][k]);
    omega[0] = omega[1] = omega[2] = 0;
    for (int k = 0; k < 3; k++) {
        double along =
            axes[0][k] * momentum[0] + axes[1][k] * momentum[1] + axes[2][k] * momentum[2];

        for (int j = 0; j < 3; j++)
            if (!(inertia[k][k] <= FLAT * largest)) /* also if it is NaN */
                omega[j] += along / inertia[k][k] * axes[j][k];
    }
}

/* Sets m->omega. The centre and its velocity must be set before. */
static void find_rotation(const trajectory_drift *d, const trajectory_frames *frames, int64_t i,
                          motion *m)
{
    double inertia[3][3] = {{0}}, momentum[3] = {0}, from[3], v[3], l[3];

    for (int64_t a = 0; a < d->setup.n; a++) {
        int64_t row = i * frames->n_atoms + d->setup.rows[a];
        double mass = d->setup.masses[a];

        vector_at(frames, frames->positions, row, from);
        vector_at(frames, frames->velocities, row, v);
        for (int k = 0; k < 3; k++) {
            from[k] -= m->centre[k];
            v[k] -= m->velocity[k];
        }
        cross(from, v, l);
        double square = from[0] * from[0] + from[1] * from[1] + from[2] * from[2];
        for (int k = 0; k < 3; k++) {
            momentum[k] += mass * l[k];
            for (int j = 0; j < 3; j++)
                inertia[k][j] += mass * ((k == j ? square : 0) - from[k] * from[j]);
        }
    }
    solve(inertia, momentum, m->omega);
}

static void put(trajectory_frames *frames, void *array, int64_t i, double value)
{
    if (frames->dtype == COLLET_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

/* Subtracts the motion from the velocities of frame k. */
static void calm(const trajectory_drift *d, const motion *m, trajectory_frames *out, int64_t k)
{
    double from[3], v[3], turn[3] = {0};

    for (int64_t row = k * out->n_atoms; row < (k + 1) * out->n_atoms; row++) {
        vector_at(out, out->velocities, row, v);
        if (is_angular(d)) {
            vector_at(out, out->positions, row, from);
            for (int j = 0; j < 3; j++)
                from[j] -= m->centre[j];
            cross(m->omega, from, turn);
        }
        for (int j = 0; j < 3; j++)
            put(out, out->velocities, 3 * row + j,
                v[j] - turn[j] - (is_linear(d) ? m->velocity[j] : 0));
    }
}

/* Stores the position of the system for trajectory_drift_follow: the positions of its atoms, or only its centre. */
static void note_place(const trajectory_drift *d, const trajectory_frames *read, int64_t i,
                       const motion *m, trajectory_frames *out, int64_t k)
{
    double *place = out->system + k * out->n_system * 3;

    if (!follows_molecules(d))
        memcpy(place, m->centre, sizeof m->centre);
    else
        for (int64_t a = 0; a < d->setup.n; a++)
            vector_at(read, read->positions, i * read->n_atoms + d->setup.rows[a], place + 3 * a);
}

void trajectory_drift_remove(const trajectory_drift *d, const trajectory_frames *read, int64_t i,
                             trajectory_frames *out, int64_t k)
{
    motion m = {{0}, {0}, {0}};

    mean_of(d, read, read->positions, i, m.centre);
    if (out->system)
        note_place(d, read, i, &m, out, k);
    if (!read->velocities)
        return;
    mean_of(d, read, read->velocities, i, m.velocity);
    if (is_angular(d))
        find_rotation(d, read, i, &m);
    calm(d, &m, out, k);
}

/* ---- Paths ------------------------------------------------------------------------------- */

/* Sets `centre` to the centre of mass of the system in the next frame, frame i, on a path without jumps. */
static void centre_at(trajectory_drift *d, trajectory_frames *frames, int64_t i,
                      const trajectory_lattice *lattice, double centre[3])
{
    double *place = frames->system + i * frames->n_system * 3;

    if (!follows_molecules(d)) {
        memcpy(centre, place, 3 * sizeof *centre);
        return;
    }
    d->boxed |= lattice != NULL;
    if (d->boxed && d->images)
        trajectory_images_follow(d->images, lattice, COLLET_F64, place, frames->indices[i]);
    centre[0] = centre[1] = centre[2] = 0;
    for (int64_t a = 0; a < d->setup.n; a++)
        for (int k = 0; k < 3; k++)
            centre[k] += d->setup.masses[a] * place[3 * a + k] / d->mass;
}

int trajectory_drift_moves(uint32_t removed, uint32_t pbc, int has_box)
{
    return (removed & COLLET_TRAJECTORY_DRIFT_LINEAR) &&
           (!has_box || pbc == COLLET_TRAJECTORY_PBC_NOJUMP);
}

void trajectory_drift_follow(trajectory_drift *d, trajectory_frames *frames)
{
    for (int64_t i = 0; i < frames->n_frames && frames->system; i++) {
        trajectory_lattice lattice;
        int has_box = trajectory_lattice_make(&lattice, frames->boxes + 9 * i);
        double centre[3];

        centre_at(d, frames, i, has_box ? &lattice : NULL, centre);
        if (!d->started)
            memcpy(d->origin, centre, sizeof centre);
        d->started = 1;
        if (!trajectory_drift_moves(d->setup.removed, d->setup.pbc, has_box))
            continue;
        for (int64_t e = 3 * i * frames->n_atoms; e < 3 * (i + 1) * frames->n_atoms; e++)
            put(frames, frames->positions, e,
                trajectory_frames_value(frames, frames->positions, e) -
                    (centre[e % 3] - d->origin[e % 3]));
    }
}

int64_t trajectory_drift_far(const trajectory_drift *d, int64_t *frame, int64_t *row)
{
    const trajectory_images *images = d->images;

    if (!images || images->far == 0)
        return 0;
    *frame = images->far_frame;
    *row = d->setup.rows[trajectory_images_row(images, images->far_molecule)];
    return images->far;
}
