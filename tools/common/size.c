/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_info.c */
#include "size.h"

#include <stdio.h>

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
