/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_trajectory.c, tests/engines/test_io_trr.c */
#include "trajectory_format.h"

#include "io/numerals.h"

#include <stdarg.h>
#include <stdio.h>

collet_status trajectory_reader_fail(const trajectory_reader *trajectory, collet_status status,
                                     collet_error *err, const char *format, ...)
{
    char text[COLLET_ERROR_TEXT];
    va_list arguments;
    locale_t before = io_numerals_begin();

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    io_numerals_end(before);
    va_end(arguments);
    trajectory = trajectory->part ? trajectory->part : trajectory;
    return collet_fail(err, status, "%s: frame %lld at byte %lld: %s", trajectory->source.path,
                       (long long)trajectory->index, (long long)trajectory->offset, text);
}

collet_status trajectory_reader_no_frame(const trajectory_reader *trajectory, const uint8_t *bytes,
                                         size_t n, collet_error *err)
{
    return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                  "no .%s frame begins here (bytes %02x %02x %02x %02x): the file "
                                  "is damaged here or before",
                                  trajectory->format->name, bytes[0], n > 1 ? bytes[1] : 0,
                                  n > 2 ? bytes[2] : 0, n > 3 ? bytes[3] : 0);
}

collet_status trajectory_reader_truncated(trajectory_reader *trajectory, collet_error *err)
{
    trajectory->truncated = 1;
    return collet_fail(err, COLLET_FORMAT,
                       "%s: the file ends at byte %lld inside frame %lld, which begins at byte "
                       "%lld; complete frames before it: %lld",
                       trajectory->source.path, (long long)trajectory->source.size,
                       (long long)trajectory->index, (long long)trajectory->offset,
                       (long long)trajectory->index);
}
