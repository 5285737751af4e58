/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_trajectory.c, tests/engines/test_trajectory.c */
#include "recognise.h"

#include "trajectory/formats/formats.h"
#include "io/signature.h"

#include <stdio.h>
#include <string.h>

#define LIST 200 /* bytes of a list of suffixes */

#define ROW(name) &trajectory_##name##_format,
const trajectory_format *const trajectory_formats[] = {TRAJECTORY_FORMATS(ROW) NULL};
#undef ROW

int trajectory_format_holds(const trajectory_format *format, trajectory_holds what)
{
    return what == TRAJECTORY_HOLDS_TOPOLOGY ? format->topology != NULL : format->head != NULL;
}

const trajectory_format *trajectory_formats_find(trajectory_holds what, const char *path,
                                                 const uint8_t *bytes, size_t n)
{
    const trajectory_format *const *format = trajectory_formats;

    if (io_signature_misleads(path))
        return NULL;
    while (*format && !(trajectory_format_holds(*format, what) && (*format)->recognise(bytes, n)))
        format++;
    return *format;
}

const char *trajectory_formats_describe(const char *path, const uint8_t *bytes, size_t n)
{
    /* Tests signatures first, because a text format recognises almost any text. */
    const char *foreign = io_signature_describe(path, bytes, n);

    for (size_t i = 0; !foreign && trajectory_formats[i]; i++)
        if (trajectory_formats[i]->recognise(bytes, n))
            return trajectory_formats[i]->kind;
    return foreign;
}

/* Writes a list such as ".trr, .xtc or .gro". */
static void list_suffixes(trajectory_holds what, char list[LIST])
{
    const char *last = NULL;
    int n = 0;

    list[0] = '\0';
    for (size_t i = 0; trajectory_formats[i]; i++) {
        if (!trajectory_format_holds(trajectory_formats[i], what))
            continue;
        if (last)
            n += snprintf(list + n, LIST - (size_t)n, "%s.%s", n > 0 ? ", " : "", last);
        last = trajectory_formats[i]->name;
    }
    if (last)
        snprintf(list + n, LIST - (size_t)n, "%s.%s", n > 0 ? " or " : "", last);
}

collet_status trajectory_formats_refuse(trajectory_holds what, const char *path,
                                        const uint8_t *bytes, size_t n, collet_error *err)
{
    const char *kind = trajectory_formats_describe(path, bytes, n);
    char list[LIST];

    list_suffixes(what, list);
    return collet_fail(err, COLLET_FORMAT, "%s: the content is not a %s (%s)%s%s", path,
                       what == TRAJECTORY_HOLDS_TOPOLOGY ? "topology" : "trajectory", list,
                       kind                  ? "; it looks like "
                       : memchr(bytes, 0, n) ? "; it is not text"
                                             : "",
                       kind ? kind : "");
}
