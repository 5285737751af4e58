/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that only move memory: several strategies to read, write and copy, because the fastest
 * depends on the processor. stream.c is compiled once for each instruction set level; STREAM_TABLE
 * is the name of its table. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum stream_kind { STREAM_READ, STREAM_WRITE, STREAM_COPY, STREAM_KINDS } stream_kind;

/* Pieces are multiples of this, and so are their addresses. */
#define STREAM_GRAIN 16384

/* Reads `bytes` at source, writes them at target, or both. */
typedef void (*stream_loop)(unsigned char *target, const unsigned char *source, size_t bytes);

typedef struct stream_strategy {
    stream_kind kind;
    const char *name;
    stream_loop run;
} stream_strategy;

typedef struct stream_table {
    const char *level; /* "x86-64-v4", ... */
    const stream_strategy *strategies;
    size_t count;
} stream_table;

extern const stream_table stream_table_base, stream_table_v3, stream_table_v4;
