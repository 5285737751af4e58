/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the program's callback. Safe on any thread. Without a callback, messages are dropped. */
#pragma once

#include <stdarg.h>

#include <collet/collet.h>

typedef struct message_log {
    collet_log_fn write; /* may be NULL */
    void *user;
    int32_t level; /* messages with a higher level are dropped */
} message_log;

void log_message(const message_log *log, int32_t level, const char *format, ...)
    COLLET_PRINTF(3, 4);
void log_arguments(const message_log *log, int32_t level, const char *format, va_list arguments);

/* "error", "warning", "info", "debug" -> COLLET_LOG_*; else 0. */
int32_t log_level_parse(const char *word);
