/* SPDX-License-Identifier: Apache-2.0 */
/* struct.h - copies structs between this library and a program that was built with another version of it.
 * Each struct begins with its struct_size. Bytes that this version does not know must be zero. */
#pragma once

#include <collet/collet.h>

/* Copies the program's struct `given`, which may be shorter or longer, to `own`, `size` zeroed bytes. INVALID,
 * with `what` in the text, if struct_size is not set or unknown bytes are not zero. */
collet_status io_struct_in(void *own, size_t size, const void *given, const char *what,
                           collet_error *err);

/* Copies `from`, `size` bytes, to the program's struct, whose struct_size does not change. A
 * shorter struct gets the first bytes only; the rest of a longer struct becomes zero. */
void io_struct_out(void *to, const void *from, size_t size);

/* INVALID if a byte in [size, given) of `from` is not zero. */
collet_status io_struct_unknown(const void *from, size_t size, size_t given, const char *what,
                                collet_error *err);
