/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract: rotational observables of every frame of a trajectory.
 * Tests: tests/tools/test_extract_options.c, tests/tools/test_extract_errors.c */
#include "report.h"
#include "run.h"

#include "common/interrupt.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    extract_options options;
    collet_trajectory *trajectory = NULL;
    tool_progress progress;
    collet_error err;
    int result = EXTRACT_EXIT_FAILURE;

    extract_options_parse(argc, argv, &options);
    if (collet_trajectory_check_selection(options.settings.selection, &err) != COLLET_OK) {
        extract_complain(err.text);
        extract_options_free(&options);
        return EXTRACT_EXIT_USAGE;
    }
    tool_interrupt_install();
    if (extract_run(&options, &progress, &trajectory, &err) == COLLET_OK) {
        result = extract_report(trajectory, &options);
    } else if (err.status == COLLET_CANCELLED) {
        fprintf(stderr, "collet-extract: %s; nothing was written\n",
                strsignal(tool_interrupt_signal()));
        result = 128 + tool_interrupt_signal();
    } else {
        extract_complain(err.text);
    }
    collet_trajectory_destroy(trajectory);
    extract_options_free(&options);
    return result;
}
