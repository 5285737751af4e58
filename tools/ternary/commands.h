/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - what collet-ternary does, one function a command. */
#ifndef TERNARY_COMMANDS_H
#define TERNARY_COMMANDS_H

#include "options.h"

#include <collet/collet.h>

/* Each prints its summary to standard output before its output gets its name; on failure nothing
 * was written and the text has the reason. COLLET_CANCELLED: a signal stopped the work. */
collet_status ternary_pack(const ternary_options *options, collet_error *err);
collet_status ternary_unpack(const ternary_options *options, collet_error *err);
collet_status ternary_info(const ternary_options *options, collet_error *err);
collet_status ternary_run(const ternary_options *options, collet_error *err);
collet_status ternary_bench(const ternary_options *options, collet_error *err);

#endif
