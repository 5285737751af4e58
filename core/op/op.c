/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_call.c, tests/core/test_util.c */
#include "op.h"

#include <stdio.h>
#include <string.h>

const char *op_operand_name(const op *o, uint32_t operand, char buffer[OP_OPERAND_TEXT])
{
    int output = operand < o->n_out;
    uint32_t position = output ? operand : operand - o->n_out;
    char place[18], given[18];
    snprintf(place, sizeof place, "%s %u", output ? "output" : "input", position);
    snprintf(given, sizeof given, "%s%u", output ? "out" : "in", position);
    if (strcmp(o->operand[operand].name, given))
        snprintf(buffer, OP_OPERAND_TEXT, "%s (%s)", o->operand[operand].name, place);
    else
        snprintf(buffer, OP_OPERAND_TEXT, "%s", place);
    return buffer;
}
