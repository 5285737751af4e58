/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - messages of the runtime on standard error. */
#ifndef TOOL_LOG_H
#define TOOL_LOG_H

#include <stdint.h>

/* For collet_runtime_options.defaults: the tools print messages from level info on. */
#define TOOL_LOG_LEVEL "log=info"

/* A collet_log_fn: prints "PROGRAM: TEXT"; `user` is the program's name. */
void tool_log(void *user, int32_t level, const char *text);

#endif
