/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_closed_output.c, tests/tools/control_characters.sh,
 * tests/tools/test_colour.c */
#include "output.h"

#include "io/spool.h"
#include "io/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Returns the text of a tree, for free(); NULL if out of memory, or if the tree is NULL. */
static char *json_text(const cJSON *tree)
{
    char *printed = tree != NULL ? cJSON_Print(tree) : NULL;
    char *text = printed != NULL ? io_utf8_json(printed) : NULL;

    cJSON_free(printed);
    return text;
}

int tool_print_json(const cJSON *tree)
{
    char *text = json_text(tree);

    if (text != NULL)
        puts(text);
    free(text);
    return text != NULL;
}

int tool_write_json(const cJSON *tree, const char *path, int replace, collet_error *err)
{
    char *text = json_text(tree);
    io_spool *spool = NULL;
    collet_status status = text ? io_spool_check_output(path, replace, err)
                                : collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", path);

    if (status == COLLET_OK)
        status = io_spool_create(path, IO_SPOOL_OUTPUT, &spool, err);
    if (status == COLLET_OK)
        status = io_spool_write(spool, text, strlen(text), err);
    if (status == COLLET_OK)
        status = io_spool_write(spool, "\n", 1, err);
    if (status == COLLET_OK)
        status = io_spool_publish(spool, replace, err);
    io_spool_free(spool);
    free(text);
    return status == COLLET_OK;
}

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

const char *tool_size_format(char text[TOOL_SIZE_TEXT], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    /* (%.3g would print 1000 as 1e+03.) */
    snprintf(text, TOOL_SIZE_TEXT, bytes < 100 ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
    return text;
}
