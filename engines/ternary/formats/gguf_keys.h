/* SPDX-License-Identifier: Apache-2.0 */
/* gguf_keys.h - reads a GGUF file in order, and its keys with their values. */
#pragma once

#include <collet/collet.h>

/* A position in the bytes of a file: at <= size. */
typedef struct ternary_gguf_cursor {
    const uint8_t *bytes;
    uint64_t at, size;
} ternary_gguf_cursor;

/* Read a little-endian number of 1 to 8 bytes, a u32, or a text with its length, and advance. Return 0 at the end
 * of the file. */
int ternary_gguf_take_number(ternary_gguf_cursor *c, int bytes, uint64_t *value);
int ternary_gguf_take_u32(ternary_gguf_cursor *c, uint32_t *value);
int ternary_gguf_take_text(ternary_gguf_cursor *c, const char **text, uint64_t *length);

/* The values that are used. */
typedef struct ternary_gguf_keys {
    uint32_t alignment;
    uint32_t part, parts; /* part 1 .. parts of a split file; 0: the file is not split */
    int hadamard;         /* 1: there are keys prism.hadamard.* */
} ternary_gguf_keys;

/* Reads `count` keys with their values. FORMAT; the text begins with `path`. */
collet_status ternary_gguf_keys_read(const char *path, ternary_gguf_cursor *c, uint64_t count,
                                     ternary_gguf_keys *out, collet_error *err);
