/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include "io/utf8.h"

#include <stdio.h>
#include <stdlib.h>

static struct shown {
    struct shown *next;
    char *text;
} * all_shown;

const char *tool_shown(const char *text)
{
    struct shown *entry = malloc(sizeof *entry);
    char *shown = entry != NULL ? collet_utf8_shown(text, "") : NULL;

    if (shown == NULL) {
        free(entry);
        return "(out of memory)";
    }
    *entry = (struct shown){all_shown, shown};
    all_shown = entry;
    return shown;
}

int tool_print_json(const cJSON *tree)
{
    char *printed = tree != NULL ? cJSON_Print(tree) : NULL;
    char *text = printed != NULL ? collet_utf8_json(printed) : NULL;

    if (text != NULL)
        puts(text);
    free(text);
    cJSON_free(printed);
    return text != NULL;
}
