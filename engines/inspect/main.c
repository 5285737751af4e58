/* SPDX-License-Identifier: Apache-2.0 */
/* collet-inspect KIND FILE - see io/hdf5/inspect.h.
 * Tests: tests/tools/rsoxs/test_rsoxs_warnings.c, tests/tools/test_extract_damaged.c */
#include "scatter/files/morphology.h"
#include "trajectory/formats/h5md/inspect.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* Limits processor time, not waiting for a disk. 1000 materials, the maximum, take about 0.2 s. Steps
 * and times of a trajectory are read whole: in chunks of one number, the worst case, 120 MB of them
 * take about 20 s. */
#define LIMIT_S 1
#define TRAJECTORY_BYTES_PER_S (1 << 20)
#define TRAJECTORY_LIMIT_S 120

static void limit_time(const char *path, int is_trajectory)
{
    const struct rlimit none = {0, 0};
    struct itimerval limit = {.it_value.tv_sec = LIMIT_S};
    struct stat found;

    if (is_trajectory && stat(path, &found) == 0)
        limit.it_value.tv_sec += found.st_size / TRAJECTORY_BYTES_PER_S;
    if (limit.it_value.tv_sec > TRAJECTORY_LIMIT_S)
        limit.it_value.tv_sec = TRAJECTORY_LIMIT_S;
    setrlimit(RLIMIT_CORE, &none);
    setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends the program */
}

int main(int argc, char **argv)
{
    int is_trajectory = argc == 3 && strcmp(argv[1], "trajectory") == 0;

    if (!is_trajectory && (argc != 3 || strcmp(argv[1], "morphology") != 0)) {
        fprintf(stderr, "usage: collet-inspect morphology|trajectory FILE (libcollet-scatter and "
                        "libcollet-trajectory start it to test a file)\n");
        return 2;
    }
    limit_time(argv[2], is_trajectory);
    if (is_trajectory)
        trajectory_h5md_inspect(argv[2]);
    else
        scatter_inspect_all(argv[2]);
    return write(STDOUT_FILENO, "", 1) == 1 ? 0 : 1;
}
