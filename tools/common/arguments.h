/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - numbers of a command line. */
#ifndef TOOL_ARGUMENTS_H
#define TOOL_ARGUMENTS_H

#include <argp.h>
#include <stdint.h>

/* A whole number of at least `minimum`; otherwise argp_error, which names the option `name`
 * ("--threads"). */
int64_t tool_parse_count(struct argp_state *state, const char *name, const char *text,
                         int64_t minimum);

#endif
