/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_util.c */
#include <stdarg.h>

#include <collet/collet.h>

#include "text.h"

typedef struct named {
    const char *name;
    const char *text;
} named;

#define STATUS_ENTRY(name, value, text) [value] = {"COLLET_" #name, text},
static const named statuses[] = {COLLET_STATUS_LIST(STATUS_ENTRY)};
#undef STATUS_ENTRY

static const named *status_entry(collet_status status)
{
    static const named unknown = {"unknown", "not a status of this library"};
    return status >= 0 && status < COLLET_STATUS_COUNT ? &statuses[status] : &unknown;
}

const char *collet_status_name(collet_status status)
{
    return status_entry(status)->name;
}

const char *collet_status_text(collet_status status)
{
    return status_entry(status)->text;
}

collet_status collet_fail(collet_error *err, collet_status status, const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        err->status = status;
        text_message(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
    }
    return status;
}

collet_status collet_fail_text(collet_error *err, collet_status status, const char *text)
{
    return collet_fail(err, status, "%s", text);
}

const char *collet_version(void)
{
    return COLLET_VERSION;
}

int32_t collet_version_number(void)
{
    return COLLET_VERSION_NUMBER;
}
