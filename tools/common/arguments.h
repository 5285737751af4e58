/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - numbers of a command line; --version. */
#ifndef TOOL_ARGUMENTS_H
#define TOOL_ARGUMENTS_H

#include <argp.h>
#include <stdint.h>
#include <stdio.h>

/* A whole number of at least `minimum`; otherwise argp_error, which names the option `name`
 * ("--threads"). */
int64_t tool_parse_count(struct argp_state *state, const char *name, const char *text,
                         int64_t minimum);

/* For argp_program_version_hook: "PROGRAM VERSION (libcore VERSION)". */
void tool_print_version(FILE *stream, struct argp_state *state);

#endif
