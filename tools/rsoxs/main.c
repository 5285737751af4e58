/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs: patterns of resonant soft X-ray scattering of voxel morphologies.
 * Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "job.h"
#include "scan.h"

int main(int argc, char **argv)
{
    const tool_command *command = tool_command_find(rsoxs_commands, argc, argv);
    rsoxs_options options;
    tool_ranks ranks;
    int result = TOOL_EXIT_FAILURE;

    if (command)
        return tool_command_run(command, argc, argv);
    rsoxs_options_parse(argc, argv, &options);
    if (tool_ranks_open(&ranks, "collet-rsoxs", argc, argv))
        result = ranks.ranks ? rsoxs_job(&options, &ranks) : rsoxs_scan(&options);
    rsoxs_options_free(&options);
    return result;
}
