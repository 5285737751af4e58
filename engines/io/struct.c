/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c, tests/engines/test_ternary_files.c */
#include "io/struct.h"

#include <string.h>

/* A larger struct_size is probably memory that was not set. */
#define SIZE_MAX_BELIEVED 4096u

collet_status io_struct_unknown(const void *from, size_t size, size_t given, const char *what,
                                collet_error *err)
{
    const char *bytes = from;

    for (size_t i = size; i < given; i++)
        if (bytes[i])
            return collet_fail(
                err, COLLET_INVALID,
                "%s: byte %zu of a struct is not 0, but Collet " COLLET_VERSION
                " knows only the first %zu bytes: this version does not have the requested feature",
                what, i, size);
    return COLLET_OK;
}

collet_status io_struct_in(void *own, size_t size, const void *given, const char *what,
                           collet_error *err)
{
    uint32_t length;

    memcpy(&length, given, sizeof length);
    if (length < 2 * sizeof length || length > SIZE_MAX_BELIEVED)
        return collet_fail(err, COLLET_INVALID,
                           "%s: struct_size is %u; set it to the size of the struct", what, length);
    collet_status status = io_struct_unknown(given, size, length, what, err);
    if (status == COLLET_OK)
        memcpy(own, given, length < size ? length : size);
    return status;
}

void io_struct_out(void *to, const void *from, size_t size)
{
    uint32_t length;

    memcpy(&length, to, sizeof length);
    size_t known = length < size ? length : size;
    if (known > sizeof length)
        memcpy((char *)to + sizeof length, (const char *)from + sizeof length,
               known - sizeof length);
    if (length > size)
        memset((char *)to + size, 0, length - size);
}
