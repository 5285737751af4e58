/* SPDX-License-Identifier: Apache-2.0 */
/* Passes messages of libcore to the logger "collet" of Python's logging. */
#pragma once

#include "python.h"

/* The collet_log_fn of the runtime. libcore holds locks when it calls this function, and a thread
 * that has the GIL may wait for these locks. So the function only keeps the message; log_deliver
 * passes it on. */
void log_keep(void *user, int32_t level, const char *text);

/* Passes the kept messages to the logger; the current exception stays set. With the GIL. */
void log_deliver(void);

/* The lowest level of messages that the logger takes, as a word: "warning". NULL with an
 * exception. */
const char *log_level(void);

/* Drops the kept messages in a child of fork, because they are the parent's. */
void log_forked(void);
