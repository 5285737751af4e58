/* SPDX-License-Identifier: Apache-2.0 */
/* growth.h - arrays that grow while a file is read. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* `array` points to a pointer to an allocated array with room for *capacity elements (at first NULL and 0).
 * Makes room for `more` elements after the first n. The caller frees the array with free(). Returns 0 and
 * changes nothing if out of memory. */
static inline int trajectory_grow(void *array, int64_t n, int64_t more, int64_t *capacity,
                                  size_t element)
{
    int64_t room = 2 * n + more + 16;
    void *old;

    if (n + more <= *capacity)
        return 1;
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, (size_t)room * element);
    if (!grown)
        return 0;
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return 1;
}
