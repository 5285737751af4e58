/* SPDX-License-Identifier: Apache-2.0 */
/* Output structs of callers built against another version. */
#ifndef COLLET_CORE_OUT_H
#define COLLET_CORE_OUT_H

#include <string.h>

#include <collet/types.h>

/* Copies `full`, truncated to the caller's struct, which begins with its struct_size; that is kept.
 * INVALID if it is not set. */
static inline collet_status struct_out(void *target, const void *full, size_t size)
{
    uint32_t given;
    memcpy(&given, target, sizeof given);
    if (given < 2 * sizeof(uint32_t))
        return COLLET_INVALID;
    memcpy((char *)target + sizeof given, (const char *)full + sizeof given,
           (given < size ? given : size) - sizeof given);
    return COLLET_OK;
}

#endif
