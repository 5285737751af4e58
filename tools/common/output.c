/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_closed_output.c, tests/tools/control_characters.sh */
#include "output.h"

#include "io/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct shown {
    struct shown *next;
    char *text;
} * all_shown;

const char *tool_shown(const char *text)
{
    struct shown *entry = malloc(sizeof *entry);
    char *shown = entry != NULL ? io_utf8_shown(text, "") : NULL;

    if (shown == NULL) {
        free(entry);
        return "(out of memory)";
    }
    *entry = (struct shown){all_shown, shown};
    all_shown = entry;
    return shown;
}

int tool_flush(const char *program, const char *note)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 1;
    fprintf(stderr, "%s: standard output: %s%s%s\n", program,
            errno ? strerror(errno) : "it cannot be written to", note ? "; " : "",
            note ? note : "");
    return 0;
}

int tool_print_json(const cJSON *tree)
{
    char *printed = tree != NULL ? cJSON_Print(tree) : NULL;
    char *text = printed != NULL ? io_utf8_json(printed) : NULL;

    if (text != NULL)
        puts(text);
    free(text);
    cJSON_free(printed);
    return text != NULL;
}
