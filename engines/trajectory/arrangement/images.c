/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_boxes.c */
#include "images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A molecule's position along a vector of the box becomes an angle: the vector is one full turn. If the mean of the
 * unit vectors with these angles is longer than this, the molecules count as being together along that vector. */
#define TOGETHER 0.2

/* ---- Rows -------------------------------------------------------------------------------- */

static void group(trajectory_images *images, const int64_t *of)
{
    int64_t *next = images->offsets + 1; /* next[m]: where the next row of molecule m is listed */

    for (int64_t i = 0; i < images->n_rows; i++)
        if (of[i] + 1 < images->count)
            next[of[i] + 1]++;
    for (int64_t m = 1; m < images->count; m++)
        next[m] += next[m - 1];
    for (int64_t i = 0; i < images->n_rows; i++)
        images->rows[next[of[i]]++] = i;
}

collet_status trajectory_images_create(const int64_t *of, int64_t n_rows, int64_t count,
                                       const double *weights, trajectory_images **out,
                                       collet_error *err)
{
    trajectory_images *images = calloc(1, sizeof *images);
    size_t n = (size_t)n_rows, m = (size_t)count;

    *out = images;
    if (images) {
        images->n_rows = n_rows;
        images->count = count;
        images->rows = calloc(n + 1, sizeof *images->rows);
        images->offsets = calloc(m + 1, sizeof *images->offsets);
        images->fixed = calloc(m + 1, 1);
        images->weights = weights ? calloc(n + 1, sizeof *weights) : NULL;
        images->before = calloc(3 * m + 1, sizeof *images->before);
        images->shifts = calloc(3 * m + 1, sizeof *images->shifts);
    }
    if (!images || !images->rows || !images->offsets || !images->fixed ||
        (weights && !images->weights) || !images->before || !images->shifts) {
        trajectory_images_free(images);
        *out = NULL;
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to move %lld molecules",
                           (long long)count);
    }
    if (weights)
        memcpy(images->weights, weights, n * sizeof *weights);
    for (size_t i = 0; i < 3 * m; i++)
        images->before[i] = (double)NAN;
    group(images, of);
    return COLLET_OK;
}

void trajectory_images_free(trajectory_images *images)
{
    if (!images)
        return;
    free(images->rows);
    free(images->offsets);
    free(images->fixed);
    free(images->weights);
    free(images->before);
    free(images->shifts);
    free(images);
}

/* ---- Centres and moves ------------------------------------------------------------------- */

/* Adds weight x position of rows[first .. end - 1] to sum[0..2], and their weights to sum[3]; if `weights` is NULL,
 * all weights are 1. */
static void add_rows(const trajectory_images *images, const double *weights, int64_t first,
                     int64_t end, collet_dtype dtype, const void *positions, double sum[4])
{
    for (int64_t k = first; k < end && dtype == COLLET_F64; k++) {
        const double *at = (const double *)positions + 3 * images->rows[k];
        double weight = weights ? weights[images->rows[k]] : 1;

        for (int i = 0; i < 3; i++)
            sum[i] += weight * at[i];
        sum[3] += weight;
    }
    for (int64_t k = first; k < end && dtype == COLLET_F32; k++) {
        const float *at = (const float *)positions + 3 * images->rows[k];
        double weight = weights ? weights[images->rows[k]] : 1;

        for (int i = 0; i < 3; i++)
            sum[i] += weight * at[i];
        sum[3] += weight;
    }
}

/* Sets centre[0..2] to the centre of a molecule and centre[3] to its weight. If its atoms weigh nothing, all atoms
 * count equally for the centre. 0: the molecule has no centre. */
static int centre_of(const trajectory_images *images, int64_t m, collet_dtype dtype,
                     const void *positions, double centre[4])
{
    int64_t first = images->offsets[m], end = images->offsets[m + 1];
    double sum[4] = {0};

    add_rows(images, images->weights, first, end, dtype, positions, sum);
    centre[3] = sum[3];
    if (sum[3] == 0)
        add_rows(images, NULL, first, end, dtype, positions, sum);
    for (int i = 0; i < 3; i++)
        centre[i] = sum[i] / sum[3];
    return isfinite(centre[0] + centre[1] + centre[2]);
}

static void move(const trajectory_images *images, int64_t m, const double shift[3],
                 collet_dtype dtype, void *positions)
{
    if (shift[0] == 0 && shift[1] == 0 && shift[2] == 0)
        return;
    for (int64_t k = images->offsets[m]; k < images->offsets[m + 1]; k++) {
        int64_t first = 3 * images->rows[k];

        for (int i = 0; i < 3; i++)
            if (dtype == COLLET_F64)
                ((double *)positions)[first + i] += shift[i];
            else
                ((float *)positions)[first + i] =
                    (float)(((float *)positions)[first + i] + shift[i]);
    }
}

/* ---- The moves --------------------------------------------------------------------------- */

static void middle_of(const trajectory_lattice *lattice, double middle[3])
{
    for (int i = 0; i < 3; i++) {
        middle[i] = 0;
        for (int v = 0; v < 3; v++)
            if (lattice->periodic[v])
                middle[i] += lattice->box[v][i] / 2;
    }
}

/* The point around which most of the mass is. Along each vector of the box this is the circular mean, which does not
 * depend on which image each molecule is at. If the molecules are spread over the whole box, no such point exists,
 * and the arithmetic mean is used. */
static void periodic_mean(const trajectory_images *images, const trajectory_lattice *lattice,
                          collet_dtype dtype, const void *positions, double mean[3])
{
    const double turn = 2 * acos(-1.0);
    double cosines[3] = {0}, sines[3] = {0}, plain[3] = {0}, total = 0, at[4], fractions[3];

    for (int64_t m = 0; m < images->count; m++) {
        if (!centre_of(images, m, dtype, positions, at))
            continue;
        trajectory_lattice_fractions(lattice, at, fractions);
        for (int v = 0; v < 3; v++) {
            cosines[v] += at[3] * cos(turn * fractions[v]);
            sines[v] += at[3] * sin(turn * fractions[v]);
            plain[v] += at[3] * fractions[v];
        }
        total += at[3];
    }
    mean[0] = mean[1] = mean[2] = 0;
    for (int v = 0; v < 3; v++) {
        int together = lattice->periodic[v] && hypot(cosines[v], sines[v]) > TOGETHER * total;
        double fraction = together ? atan2(sines[v], cosines[v]) / turn : plain[v] / total;

        for (int i = 0; i < 3; i++)
            mean[i] += fraction * lattice->box[v][i];
    }
}

/* The vector from `centre` to its image that is nearest to `middle`. */
static void to_nearest(const trajectory_lattice *lattice, const double centre[3],
                       const double middle[3], double shift[3])
{
    double away[3] = {centre[0] - middle[0], centre[1] - middle[1], centre[2] - middle[2]};

    memcpy(shift, away, sizeof away);
    trajectory_lattice_shorten(lattice, shift);
    for (int i = 0; i < 3; i++)
        shift[i] -= away[i];
}

/* The centre of all molecules, each at its image nearest to the periodic mean. */
static void centre_of_all(const trajectory_images *images, const trajectory_lattice *lattice,
                          collet_dtype dtype, const void *positions, double centre[3])
{
    double near[3], sum[4] = {0}, at[4], shift[3] = {0};

    periodic_mean(images, lattice, dtype, positions, near);
    for (int64_t m = 0; m < images->count; m++) {
        if (!centre_of(images, m, dtype, positions, at))
            continue;
        if (images->fixed[m])
            memset(shift, 0, sizeof shift);
        else
            to_nearest(lattice, at, near, shift);
        for (int i = 0; i < 3; i++)
            sum[i] += at[3] * (at[i] + shift[i]);
        sum[3] += at[3];
    }
    for (int i = 0; i < 3; i++)
        centre[i] = sum[i] / sum[3];
}

void trajectory_images_center(const trajectory_images *images, const trajectory_lattice *lattice,
                              collet_dtype dtype, void *positions)
{
    double middle[3], shift[3], all[3], centre[4];

    centre_of_all(images, lattice, dtype, positions, all);
    middle_of(lattice, middle);
    for (int i = 0; i < 3; i++) {
        shift[i] = lattice->periodic[i] ? middle[i] - all[i] : 0;
        if (!isfinite(shift[i])) /* there is no centre */
            shift[i] = 0;
    }
    for (int64_t m = 0; m < images->count; m++) {
        double total[3] = {shift[0], shift[1], shift[2]}, nearest[3];

        if (!images->fixed[m] && centre_of(images, m, dtype, positions, centre)) {
            for (int i = 0; i < 3; i++)
                centre[i] += shift[i];
            to_nearest(lattice, centre, middle, nearest);
            for (int i = 0; i < 3; i++)
                total[i] += nearest[i];
        }
        move(images, m, total, dtype, positions);
    }
}

/* Moves molecule m into the box. 0: the molecule was in the box, or has no centre. */
static int pack(const trajectory_images *images, int64_t m, const trajectory_lattice *lattice,
                collet_dtype dtype, void *positions)
{
    double centre[4], fractions[3], shift[3] = {0};
    int moved = 0;

    if (images->fixed[m] || !centre_of(images, m, dtype, positions, centre))
        return 0;
    trajectory_lattice_fractions(lattice, centre, fractions);
    for (int v = 0; v < 3; v++) {
        double turns = lattice->periodic[v] ? floor(fractions[v]) : 0;

        moved |= turns != 0;
        for (int i = 0; i < 3; i++)
            shift[i] -= turns * lattice->box[v][i];
    }
    move(images, m, shift, dtype, positions);
    return moved;
}

/* Makes up to three rounds. Rounding may move a centre just below fraction 0 to fraction 1, which is outside of the
 * box again. The next round moves this centre to 0. */
void trajectory_images_pack(const trajectory_images *images, const trajectory_lattice *lattice,
                            collet_dtype dtype, void *positions)
{
    for (int64_t m = 0; m < images->count; m++)
        for (int round = 0; round < 3; round++)
            if (!pack(images, m, lattice, dtype, positions))
                break;
}

static void note_far(trajectory_images *images, int64_t frame, int64_t molecule)
{
    if (images->far == 0) {
        images->far_frame = frame;
        images->far_molecule = molecule;
    }
    images->far++;
}

int64_t trajectory_images_row(const trajectory_images *images, int64_t molecule)
{
    return images->rows[images->offsets[molecule]];
}

void trajectory_images_track(trajectory_images *images, const trajectory_lattice *lattice,
                             collet_dtype dtype, const void *positions, int64_t frame)
{
    for (int64_t m = 0; m < images->count; m++) {
        double centre[4];

        if (!images->fixed[m] && centre_of(images, m, dtype, positions, centre) &&
            trajectory_path_step(lattice, centre, images->before + 3 * m, images->shifts + 3 * m))
            note_far(images, frame, m);
    }
}

void trajectory_images_follow(trajectory_images *images, const trajectory_lattice *lattice,
                              collet_dtype dtype, void *positions, int64_t frame)
{
    trajectory_images_track(images, lattice, dtype, positions, frame);
    for (int64_t m = 0; m < images->count; m++)
        move(images, m, images->shifts + 3 * m, dtype, positions);
}
