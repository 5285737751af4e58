/* SPDX-License-Identifier: Apache-2.0 */
/* What the typed wrappers need beside collet_call. */
#ifndef COLLET_CORE_CALL_H
#define COLLET_CORE_CALL_H

#include <collet/collet.h>

/* Leaves the text in the context (may be NULL); returns `status`. */
collet_status call_fail(collet_context *cx, collet_status status, const char *format, ...)
    COLLET_PRINTF(3, 4);

#endif
