/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_arrangement.c, python/tests/md/test_md_paths.py */
#include "paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

collet_status trajectory_paths_create(const int64_t *of, const int64_t *offsets, int64_t n_bodies,
                                      trajectory_paths **out, collet_error *err)
{
    size_t rows = (size_t)offsets[n_bodies], n = (size_t)n_bodies + 1;
    trajectory_paths *p = *out = calloc(1, sizeof *p);

    if (p) {
        p->offsets = malloc(n * sizeof *offsets);
        p->of = malloc((rows + 1) * sizeof *of);
    }
    if (!p || !p->offsets || !p->of) {
        trajectory_paths_free(p);
        *out = NULL;
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for the paths of %lld bodies",
                           (long long)n_bodies);
    }
    memcpy(p->offsets, offsets, n * sizeof *offsets);
    memcpy(p->of, of, rows * sizeof *of);
    p->n_bodies = n_bodies;
    p->alone = 1;
    for (int64_t b = 0; b < n_bodies; b++)
        for (int64_t row = offsets[b] + 1; row < offsets[b + 1]; row++)
            p->alone &= of[row] == of[offsets[b]];
    return COLLET_OK;
}

void trajectory_paths_free(trajectory_paths *p)
{
    if (!p)
        return;
    free(p->offsets);
    free(p->of);
    free(p);
}

/* Moves each row of body b by the difference of its molecule's shift and the body's shift. */
static void move_others(const trajectory_paths *p, const trajectory_images *images, int64_t b,
                        trajectory_frames *frames, int64_t i)
{
    const double *own = images->shifts + 3 * p->of[p->offsets[b]];

    for (int64_t row = p->offsets[b]; row < p->offsets[b + 1]; row++) {
        const double *shift = images->shifts + 3 * p->of[row];

        for (int k = 0; k < 3 && shift != own; k++) {
            int64_t e = 3 * (i * frames->n_atoms + row) + k;
            double value = trajectory_frames_value(frames, frames->positions, e) + (shift[k] - own[k]);

            if (frames->dtype == COLLET_F64)
                ((double *)frames->positions)[e] = value;
            else
                ((float *)frames->positions)[e] = (float)value;
        }
    }
}

void trajectory_paths_follow(const trajectory_paths *p, trajectory_images *images,
                             const trajectory_lattice *lattice, trajectory_frames *frames, int64_t i)
{
    size_t real = frames->dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
    const char *positions = (const char *)frames->positions + (size_t)(3 * i * frames->n_atoms) * real;

    trajectory_images_track(images, lattice, frames->dtype, positions, frames->indices[i]);
    for (int64_t b = 0; b < p->n_bodies; b++) {
        int64_t molecule = p->of[p->offsets[b]];

        for (int k = 0; k < 3; k++) {
            int64_t e = 3 * (i * p->n_bodies + b) + k;

            frames->centres[e] = images->fixed[molecule] ? (double)NAN : images->before[3 * molecule + k];
            frames->moves[e] = images->shifts[3 * molecule + k];
        }
        if (!p->alone)
            move_others(p, images, b, frames, i);
    }
}
