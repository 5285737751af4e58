/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_colour.c */
#include "colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tool_colour(FILE *stream, tool_paint paint)
{
    static const char *const sequences[] = {"\033[0m", "\033[32m", "\033[33m", "\033[31m"};
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((refused && *refused) || !terminal || !*terminal || !strcmp(terminal, "dumb") ||
        !isatty(fileno(stream)))
        return "";
    return sequences[paint];
}

void tool_complain(const char *program, const char *text)
{
    fprintf(stderr, "%s: %s%s%s\n", program, tool_colour(stderr, TOOL_RED), text,
            tool_colour(stderr, TOOL_PLAIN));
}

void tool_warn(const char *program, const char *text)
{
    fprintf(stderr, "%s: %swarning:%s %s\n", program, tool_colour(stderr, TOOL_YELLOW),
            tool_colour(stderr, TOOL_PLAIN), text);
}
