/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the command line as it was typed: argp reorders argv, and lists in it are divided in place. */
#pragma once

#include <stdlib.h>
#include <string.h>

/* Copies argv into one block, for free(); NULL when out of memory. */
static inline char **command_line_copy(int argc, char *const *argv)
{
    size_t count = argc > 0 ? (size_t)argc : 0, bytes = (count + 1) * sizeof(char *);
    for (size_t i = 0; i < count; i++)
        bytes += strlen(argv[i]) + 1;
    char **copy = malloc(bytes);
    if (!copy)
        return NULL;
    char *text = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(argv[i]) + 1;
        copy[i] = memcpy(text, argv[i], length);
        text += length;
    }
    copy[count] = NULL;
    return copy;
}
