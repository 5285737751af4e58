/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_types.h - the types of GGUF tensors: ggml's numbers, and numbers that bitnet.cpp and PrismML
 * assigned. A type that is not read has a reason, which messages name.
 */
#pragma once

#include <stdint.h>

/* The types that are read. */
#define TERNARY_GGUF_F32 0
#define TERNARY_GGUF_F16 1
#define TERNARY_GGUF_I8 24
#define TERNARY_GGUF_F64 28
#define TERNARY_GGUF_BF16 30
#define TERNARY_GGUF_TQ1_0 34
#define TERNARY_GGUF_TQ2_0 35
#define TERNARY_GGUF_Q2_0 42 /* two layouts: gguf_layout.h */

typedef struct ternary_gguf_type {
    uint32_t id;
    uint32_t weights, bytes; /* a block of `weights` elements takes `bytes` bytes; bytes 0: not
    known here, because the type is not read, or depends on the layout */
    const char *name;
    const char *reason; /* why tensors of the type are not read; NULL: they are */
} ternary_gguf_type;

/* Returns NULL for an unknown number. */
const ternary_gguf_type *ternary_gguf_type_find(uint32_t id);

/* Returns why tensors of the type are not read (static text); NULL: they are. */
const char *ternary_gguf_type_reason(uint32_t id);

/* Returns the name of a type, such as "TQ2_0"; for an unknown type "type 99", written to `text`. */
const char *ternary_gguf_type_name(uint32_t id, char text[24]);
