/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of libcore to the logger "collet" of Python's logging. */
#ifndef PYTHON_SRC_BASE_LOG_H
#define PYTHON_SRC_BASE_LOG_H

#include "python.h"

/* libcore holds locks when it calls a collet_log_fn, and another thread may wait for these locks
 * with the GIL. So this function keeps the message, and log_deliver passes it on. */
void log_keep(void *user, int32_t level, const char *text);

/* Passes on the kept messages; the current exception stays. With the GIL. */
void log_deliver(void);

/* The word of the level from which on the logger takes messages: "warning". NULL with an exception.
 */
const char *log_level(void);

/* Drops the kept messages in a child of fork, because they are the parent's. */
void log_forked(void);

#endif
