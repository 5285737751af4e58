/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the mean square displacement of the molecules of water. Their centres of mass come from
 * a trajectory. The curve is a mean over all pairs of frames, and its errors come from five blocks
 * of frames.
 *
 *     diffusion conf.gro traj.trr
 */
#include <collet/analysis.h>
#include <collet/trajectory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 5 };

/* The rows of the quantity `key` in a batch; NULL: it was not computed. */
static const double *rows_of(const collet_trajectory *trajectory,
                             const collet_trajectory_batch *batch, const char *key)
{
    collet_trajectory_quantity quantity = {.struct_size = sizeof quantity};
    for (size_t i = 0;
         collet_trajectory_quantity_at(trajectory, &quantity, i, NULL) == COLLET_OK; i++)
        if (strcmp(quantity.key, key) == 0)
            return batch->columns[i];
    return NULL;
}

static collet_status compute(collet_context *cx, double *curve, double *parts, double *errors,
                             const double *com, int64_t frames, int64_t bodies, collet_error *err)
{
    collet_array *positions = NULL;
    collet_status status =
        collet_array_from(cx, &positions, COLLET_F64, 3, (int64_t[]){frames, bodies, 3}, com);
    if (status != COLLET_OK)
        collet_fail_text(err, status, collet_last_error(cx));
    else
        status = collet_analysis_displacement(cx, curve, parts, positions, BLOCKS, err);
    if (status == COLLET_OK)
        status = collet_analysis_errors(errors, parts, BLOCKS, frames / BLOCKS, 0, err);
    collet_array_destroy(positions);
    return status;
}

static collet_status print_curve(const double *com, const double *times, int64_t frames,
                                 int64_t bodies, collet_error *err)
{
    double *curve = malloc((size_t)(3 * frames) * sizeof *curve);
    double *parts = curve + frames, *errors = parts + frames;
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    if (curve == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for %lld frames", (long long)frames);
    collet_status status = collet_runtime_create(&runtime, NULL, err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &cx, err);
    if (status == COLLET_OK)
        status = compute(cx, curve, parts, errors, com, frames, bodies, err);
    for (int64_t k = 0; k < frames / BLOCKS && status == COLLET_OK; k++)
        printf("%.3f ps  %.3e +- %.1e nm^2\n", times[k] - times[0], curve[k], errors[k]);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    free(curve);
    return status;
}

int main(int argc, char **argv)
{
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .selection = "water",
                                         .each = "residue",
                                         .keys = "time_ps,com",
                                         .pbc = COLLET_TRAJECTORY_PBC_NOJUMP};
    collet_trajectory_info info = {.struct_size = sizeof info};
    const collet_trajectory_batch *batch = NULL;
    collet_trajectory *trajectory = NULL;
    collet_error err = {0};
    if (argc != 3)
        return fprintf(stderr, "usage: diffusion TOP TRAJ\n"), 2;
    options.topology = argv[1];
    options.trajectory = argv[2];
    collet_status status = collet_trajectory_create(&trajectory, &options, &err);
    if (status == COLLET_OK)
        status = collet_trajectory_collect(trajectory, &batch, &err);
    if (status == COLLET_OK) {
        collet_trajectory_get_info(trajectory, &info);
        status =
            print_curve(rows_of(trajectory, batch, "com"), rows_of(trajectory, batch, "time_ps"),
                        batch->n_rows, info.bodies, &err);
    }
    if (status != COLLET_OK)
        fprintf(stderr, "diffusion: %s\n", err.text);
    collet_trajectory_destroy(trajectory);
    return status != COLLET_OK;
}
