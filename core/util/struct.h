/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of callers that were built against another version. Each struct begins with its struct_size. */
#pragma once

#include <collet/types.h>

/* The smallest struct_size, and the largest plausible size: a larger value is uninitialised memory. */
#define STRUCT_SIZE_MIN (2 * sizeof(uint32_t))
#define STRUCT_SIZE_MAX 4096

/* Copies `full`, `size` bytes, to the caller's struct and keeps its struct_size: a shorter struct gets the beginning,
 * a longer struct is filled up with zeros. INVALID, with nothing written, if struct_size is not set; `what` names the
 * function. */
collet_status struct_out(void *target, const void *full, size_t size, const char *what,
                         collet_error *err);

/* Copies the caller's struct to `own`, `size` zeroed bytes. INVALID if struct_size is not set, or if a byte that this
 * version does not know is not zero, because such a byte would request a feature that this version does not have. */
collet_status struct_in(void *own, size_t size, const void *given, const char *what,
                        collet_error *err);

/* INVALID if a byte in [size, given) of `from` is not zero. */
collet_status struct_unknown(const void *from, size_t size, size_t given, const char *what,
                             collet_error *err);

/* Checks an array of structs whose caller may have been compiled with another version. `given`: the size of an
 * element in the caller's version; `size`: in this version; `least`: in the first version; `what`: the parameter that
 * has `given`. INVALID if `given` is less than `least`, not a multiple of 8 or not plausible, or if bytes that this
 * version does not know are not 0. */
collet_status struct_elements(const void *first, uint32_t count, size_t given, size_t least,
                              size_t size, const char *what, collet_error *err);
/* Copies the first `size` bytes of element i. If the element is shorter, the rest of `own` becomes 0. */
void struct_element(void *own, size_t size, const void *first, size_t given, uint32_t i);
/* Sets element i. Bytes of the element beyond `own` become zero. */
void struct_element_out(void *first, size_t given, uint32_t i, const void *own, size_t size);
