/* SPDX-License-Identifier: Apache-2.0 */
/* collet-inspect KIND FILE ARGUMENT... - see io/hdf5/inspect.h.
 * Tests: tests/tools/rsoxs/test_rsoxs_damaged.c, tests/tools/test_extract_damaged.c */
#include "guard.h"
#include "io/decimal.h"
#ifdef INSPECT_SCATTER
#include "scatter/files/inspections.h"
#endif
#ifdef INSPECT_TRAJECTORY
#include "trajectory/formats/h5md/inspect.h"
#endif

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

static const io_hdf5_inspection *const kinds[] = {
#ifdef INSPECT_SCATTER
    &scatter_inspect_morphology, &scatter_inspect_faults,  &scatter_inspect_slice,
    &scatter_inspect_image,      &scatter_inspect_results, &scatter_inspect_pattern,
#endif
#ifdef INSPECT_TRAJECTORY
    &trajectory_inspect_h5md,
#endif
};

/* Limits the processor time of the next step: when this time is over, SIGPROF ends the program. Waiting for a disk
 * does not count. */
static void begin_step(double seconds)
{
    struct itimerval limit = {.it_value.tv_sec = (time_t)ceil(seconds)};

    setitimer(ITIMER_PROF, &limit, NULL);
}

static const io_hdf5_inspection *find(const char *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->kind, kind) == 0)
            return kinds[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const struct rlimit none = {0, 0};
    const io_hdf5_inspection *inspection = argc == 3 + IO_HDF5_ARGUMENTS ? find(argv[1]) : NULL;
    int64_t arguments[IO_HDF5_ARGUMENTS];

    for (int i = 0; inspection && i < IO_HDF5_ARGUMENTS; i++)
        if (!io_decimal_parse_integer(argv[3 + i], strlen(argv[3 + i]), &arguments[i]))
            inspection = NULL;
    if (!inspection) {
        fprintf(stderr, "usage: collet-inspect KIND FILE ARGUMENT... (libcollet-scatter and "
                        "libcollet-trajectory start it to test a file)\n");
        return 2;
    }
    setrlimit(RLIMIT_CORE, &none);
    /* Before the guard: HDF5 allocates thousands of blocks here, which would take 0.1 s with guards. None of these
     * blocks holds bytes of the file. */
    H5open();
#ifdef INSPECT_GUARD
    inspect_guard_begin();
#endif
    begin_step(1);
    inspection->run(argv[2], arguments, begin_step);
    _exit(write(STDOUT_FILENO, "", 1) == 1 ? 0 : 1); /* _exit: freeing all blocks would take time */
}
