/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_struct.c */
#include "struct.h"

#include <string.h>

#include <collet/collet.h>

static collet_status size_of(const void *given, uint32_t *size, const char *what, collet_error *err)
{
    memcpy(size, given, sizeof *size);
    if (*size >= STRUCT_SIZE_MIN && *size <= STRUCT_SIZE_MAX)
        return COLLET_OK;
    return collet_fail(err, COLLET_INVALID,
                       "%s: struct_size is %u; set it to the size of the struct", what, *size);
}

collet_status struct_out(void *target, const void *full, size_t size, const char *what,
                         collet_error *err)
{
    uint32_t given;
    collet_status status = size_of(target, &given, what, err);
    if (status != COLLET_OK)
        return status;
    memcpy((char *)target + sizeof given, (const char *)full + sizeof given,
           (given < size ? given : size) - sizeof given);
    if (given > size)
        memset((char *)target + size, 0, given - size);
    return COLLET_OK;
}

collet_status struct_unknown(const void *from, size_t size, size_t given, const char *what,
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

collet_status struct_in(void *own, size_t size, const void *from, const char *what,
                        collet_error *err)
{
    uint32_t given;
    collet_status status = size_of(from, &given, what, err);
    if (status == COLLET_OK)
        status = struct_unknown(from, size, given, what, err);
    if (status == COLLET_OK)
        memcpy(own, from, given < size ? given : size);
    return status;
}

collet_status struct_elements(const void *first, uint32_t count, size_t given, size_t least,
                              size_t size, const char *what, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (given < least || given > STRUCT_SIZE_MAX || given % 8)
        return collet_fail(err, COLLET_INVALID,
                           "%s is %zu; set it to the size of an element, which has %zu bytes in "
                           "Collet " COLLET_VERSION,
                           what, given, size);
    for (uint32_t i = 0; i < count && given > size && status == COLLET_OK; i++)
        status = struct_unknown((const char *)first + i * given, size, given, what, err);
    return status;
}

void struct_element(void *own, size_t size, const void *first, size_t given, uint32_t i)
{
    memset(own, 0, size);
    memcpy(own, (const char *)first + i * given, given < size ? given : size);
}

void struct_element_out(void *first, size_t given, uint32_t i, const void *own, size_t size)
{
    char *at = (char *)first + i * given;
    memcpy(at, own, given < size ? given : size);
    if (given > size)
        memset(at + size, 0, given - size);
}
