/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors_header.h - parses the header of a safetensors file. */
#pragma once

#include <collet/collet.h>

#define TERNARY_SAFETENSORS_SHAPE 8 /* extents that an entry has */

/* A tensor of the header. Nothing is compared with the file. */
typedef struct ternary_safetensors_entry {
    const char *name, *type; /* owned by the header */
    uint32_t ndim;           /* may be larger than the number of extents below */
    int64_t shape[TERNARY_SAFETENSORS_SHAPE];
    uint64_t begin, end; /* begin <= end, from the beginning of the data */
} ternary_safetensors_entry;

typedef struct ternary_safetensors_header {
    void *json;                         /* freed by ternary_safetensors_header_free */
    ternary_safetensors_entry *entries; /* freed with free */
    uint64_t count;
    uint64_t start; /* byte of the file where the data begin */
} ternary_safetensors_header;

/* Returns the length that the first 8 bytes state; 0 if there are fewer. */
uint64_t ternary_safetensors_header_length(const uint8_t *bytes, uint64_t size);

/* FORMAT, NO_MEMORY; then nothing is to be freed. The text begins with `path`. */
collet_status ternary_safetensors_header_read(const char *path, const uint8_t *bytes, uint64_t size,
                                              ternary_safetensors_header *out, collet_error *err);
/* NULL is allowed. */
void ternary_safetensors_header_free(void *json);
