/* SPDX-License-Identifier: Apache-2.0 */
/* collet-ternary: packs ternary weights and runs networks of them, with libcollet-ternary. */
#include "commands.h"

#include "common/interrupt.h"
#include "common/output.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static collet_status (*const commands[TERNARY_COMMANDS])(
        const ternary_options *, collet_error *) = {ternary_pack, ternary_unpack, ternary_info,
                                                    ternary_run, ternary_bench};
    ternary_options options;
    collet_error err = {0};
    int result = TERNARY_EXIT_OK;

    ternary_options_parse(argc, argv, &options);
    tool_interrupt_install();
    if (!options.output)
        tool_interrupt_report();
    collet_status status = commands[options.command](&options, &err);
    tool_interrupt_report();
    if (status == COLLET_CANCELLED && tool_interrupt_signal() != 0) {
        fprintf(stderr, "collet-ternary: %s; nothing was written\n",
                strsignal(tool_interrupt_signal()));
        result = 128 + tool_interrupt_signal();
    } else if (status != COLLET_OK) {
        fprintf(stderr, "collet-ternary: %s\n", err.text);
        result = TERNARY_EXIT_FAILURE;
    } else if (!tool_flush("collet-ternary", options.output ? "the output is complete" : NULL)) {
        result = TERNARY_EXIT_FAILURE;
    }
    ternary_options_free(&options);
    return result;
}
