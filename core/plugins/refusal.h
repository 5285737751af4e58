/* SPDX-License-Identifier: Apache-2.0 */
/* refusal - why a step of the search did not accept a file. */
#pragma once

#include <collet/types.h>

/* `text` is set if `code` is not "ok". */
typedef struct refusal {
    const char *code; /* a stable word: loader.h */
    char text[COLLET_ERROR_TEXT];
} refusal;

/* Sets *why; returns `status`. */
collet_status refuse_with(refusal *why, collet_status status, const char *code, const char *format,
                          ...) COLLET_PRINTF(4, 5);

#define REFUSE(code, ...) refuse_with(why, COLLET_FORMAT, code, __VA_ARGS__)
#define REFUSE_NO_MEMORY(...) refuse_with(why, COLLET_NO_MEMORY, "no-memory", __VA_ARGS__)
