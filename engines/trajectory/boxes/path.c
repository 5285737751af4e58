/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_boxes.c, python/tests/md/test_md_paths.py */
#include "path.h"

#include <math.h>
#include <string.h>

int trajectory_path_step(const trajectory_lattice *lattice, const double centre[3], double before[3],
                         double shift[3])
{
    double step[3], nearest[3];
    int far;

    if (!isfinite(centre[0] + centre[1] + centre[2]))
        return 0;
    for (int i = 0; i < 3; i++)
        step[i] = nearest[i] = centre[i] - before[i];
    if (lattice && trajectory_lattice_shorten(lattice, nearest))
        for (int i = 0; i < 3; i++)
            shift[i] += nearest[i] - step[i];
    far = lattice && trajectory_lattice_fill(lattice, nearest) > TRAJECTORY_FAR;
    memcpy(before, centre, 3 * sizeof *centre);
    return far;
}
