/* SPDX-License-Identifier: Apache-2.0 */
/* Computes batches of rows with the installed engine: trajectory_c TOP TRAJ. */
#include <collet/trajectory.h>

#include <stdio.h>

static collet_status count(void *user, const collet_trajectory_batch *batch, collet_error *err)
{
    (void)err;
    *(long long *)user += batch->n_rows;
    return COLLET_OK;
}

int main(int argc, char **argv)
{
    collet_trajectory_options options = {.struct_size = sizeof options};
    collet_trajectory *trajectory = NULL;
    collet_error err = {0};
    long long rows = 0;
    size_t warnings = 0;
    if (argc != 3)
        return 2;
    options.topology = argv[1];
    options.trajectory = argv[2];
    options.keys = "com";
    options.batch_rows = 10;
    collet_status status = collet_trajectory_create(&trajectory, &options, &err);
    if (status == COLLET_OK)
        status = collet_trajectory_each(trajectory, count, &rows, &err);
    if (status != COLLET_OK)
        return fprintf(stderr, "trajectory: %s\n", err.text), 1;
    while (collet_trajectory_warning_at(trajectory, warnings) != NULL)
        warnings++;
    printf("%lld rows of com, warnings: %d\n", rows, (int)warnings);
    collet_trajectory_destroy(trajectory);
    return 0;
}
