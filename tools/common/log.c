/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdio.h>

void tool_log(void *user, int32_t level, const char *text)
{
    const char *program = user;
    (void)level;
    fprintf(stderr, "%s: %s\n", program, text);
}
