/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extracts a trajectory to an .npz file with one call, and shows progress:
 *
 *     trajectory conf.gro traj.trr out.npz
 */
#include <collet/trajectory.h>
#include <stdio.h>

/* Returns 0 to continue; any other value cancels. */
static int32_t show(void *user, const collet_progress *progress)
{
    (void)user;
    fprintf(stderr, "\r%lld frames, %.0f %%", (long long)progress->done,
            100 * progress->fraction);
    return 0;
}

int main(int argc, char **argv)
{
    collet_trajectory_options options = {.struct_size = sizeof options, .progress = show};
    collet_error err;
    if (argc != 4)
        return fprintf(stderr, "usage: trajectory TOP TRAJ OUT.npz\n"), 2;
    options.topology = argv[1];
    options.trajectory = argv[2];
    options.selection = "name OW";
    options.keys = "com,rg,L_*";
    if (collet_trajectory_extract(argv[3], COLLET_TRAJECTORY_OVERWRITE, &options, &err) !=
        COLLET_OK)
        return fprintf(stderr, "\ntrajectory: %s\n", err.text), 1;
    fprintf(stderr, "\n");
    printf("%s is complete\n", argv[3]);
    return 0;
}
