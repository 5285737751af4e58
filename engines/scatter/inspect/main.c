/* SPDX-License-Identifier: Apache-2.0 */
/* collet-inspect FILE - see scatter/files/inspect.h.
 * Tests: tests/tools/rsoxs/test_rsoxs_warnings.c */
#include "scatter/files/inspect.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* Limits processor time, not waiting for a disk. 1000 materials, the maximum, take about 0.2 s. */
#define LIMIT_S 1

int main(int argc, char **argv)
{
    const struct itimerval limit = {.it_value.tv_sec = LIMIT_S};
    const struct rlimit none = {0, 0};
    if (argc != 2) {
        fprintf(stderr,
                "usage: collet-inspect FILE (libcollet-scatter starts it to test a file)\n");
        return 2;
    }
    setrlimit(RLIMIT_CORE, &none);
    setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends the program */
    scatter_inspect_all(argv[1]);
    return write(STDOUT_FILENO, "", 1) == 1 ? 0 : 1;
}
