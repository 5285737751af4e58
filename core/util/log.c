/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_select.c, tests/core/test_layers.c */
#include "log.h"

#include <string.h>

#include "text.h"

void log_arguments(const message_log *log, int32_t level, const char *format, va_list arguments)
{
    char text[COLLET_ERROR_TEXT];
    if (!log->write || level > log->level)
        return;
    text_message(text, sizeof text, format, arguments);
    log->write(log->user, level, text);
}

void log_message(const message_log *log, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_arguments(log, level, format, arguments);
    va_end(arguments);
}

int32_t log_level_parse(const char *word)
{
    static const char *const words[] = {"off", "error", "warning", "info", "debug"};
    for (int32_t level = 1; level < 5; level++)
        if (!strcmp(word, words[level]))
            return level;
    return 0;
}
