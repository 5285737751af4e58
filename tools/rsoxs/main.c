/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs: patterns of resonant soft X-ray scattering of a voxel morphology.
 * Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "options.h"
#include "plan.h"
#include "run.h"

#include "common/interrupt.h"
#include "common/output.h"
#include "common/stats.h"

#include <stdio.h>
#include <string.h>

static int simulate(int argc, char **argv)
{
    rsoxs_options options;
    rsoxs_run run;
    collet_error err;
    double began = tool_now();
    int result = 0;

    rsoxs_options_parse(argc, argv, &options);
    collet_status status = rsoxs_run_read(&run, &options, &err);
    /* A signal that comes earlier ends the process: nothing is written while files are read. */
    tool_interrupt_install();
    if (status == COLLET_OK)
        status = rsoxs_run_open(&run, &err);
    if (status == COLLET_OK && !options.plan)
        status = rsoxs_run_work(&run, &err);
    tool_interrupt_report();
    if (status == COLLET_OK && options.plan)
        status = rsoxs_print_plan(&run, &err);
    else if (status == COLLET_OK)
        rsoxs_print_summary(&run, tool_now() - began);
    if (status == COLLET_CANCELLED && tool_interrupt_signal()) {
        fprintf(stderr, "collet-rsoxs: %s; complete patterns are kept, --resume continues\n",
                strsignal(tool_interrupt_signal()));
        result = 128 + tool_interrupt_signal();
    } else if (status != COLLET_OK) {
        fprintf(stderr, "collet-rsoxs: %s\n", err.text);
        result = RSOXS_EXIT_FAILURE;
    } else if (!tool_flush("collet-rsoxs", options.plan ? NULL : "all files are complete")) {
        result = RSOXS_EXIT_FAILURE;
    }
    rsoxs_run_close(&run);
    rsoxs_options_free(&options);
    return result;
}

int main(int argc, char **argv)
{
    const tool_command *command = tool_command_find(rsoxs_commands, argc, argv);

    return command ? tool_command_run(command, argc, argv) : simulate(argc, argv);
}
