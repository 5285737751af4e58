/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - what collet-ternary does, one function a command. */
#ifndef TERNARY_COMMANDS_H
#define TERNARY_COMMANDS_H

#include "options.h"

#include <collet/collet.h>

/* Each prints what it has to say to standard output, before its output gets its name; on failure
 * nothing was written and the text says why. COLLET_NOT_READY: a signal stopped the work. */
collet_status ternary_pack(const ternary_options *options, collet_error *err);
collet_status ternary_unpack(const ternary_options *options, collet_error *err);
collet_status ternary_info(const ternary_options *options, collet_error *err);
collet_status ternary_run(const ternary_options *options, collet_error *err);
collet_status ternary_bench(const ternary_options *options, collet_error *err);

/* COLLET_IO where what was printed did not reach standard output. Before an output gets its name,
 * so that none is there when the program fails. */
collet_status ternary_flush_said(collet_error *err);

/* COLLET_NOT_READY when a signal was noted, else COLLET_OK. */
collet_status ternary_check_signal(collet_error *err);

/* COLLET_INVALID when `output` is the file `input`, which it would replace. Either may be NULL. */
collet_status ternary_check_output(const char *output, const char *input, collet_error *err);

#endif
