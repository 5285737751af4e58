/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_loader.c */
#include "refusal.h"

#include <stdarg.h>

#include "util/text.h"

collet_status refuse_with(refusal *why, collet_status status, const char *code, const char *format,
                          ...)
{
    va_list arguments;
    why->code = code;
    va_start(arguments, format);
    text_message(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return status;
}
