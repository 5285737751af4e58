/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <string.h>

#include "io/decimal.h"

#include <collet/collet.h>
#include <stdio.h>

int64_t tool_parse_count(struct argp_state *state, const char *name, const char *text,
                         int64_t minimum)
{
    int64_t value;

    if (!collet_decimal_parse_integer(text, strlen(text), &value) || value < minimum)
        argp_error(state, "%s: '%s' is not a whole number of at least %lld", name, text,
                   (long long)minimum);
    return value;
}

void tool_print_version(FILE *stream, struct argp_state *state)
{
    fprintf(stream, "%s %s (libcore %s)\n", state->name, COLLET_VERSION, collet_version());
}
