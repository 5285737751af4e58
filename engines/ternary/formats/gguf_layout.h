/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_layout.h - distinguishes the two layouts of Q2_0. Type 42 of GGUF files is a scale in f16, then
 * 2 bits a weight: for 64 weights in 18 bytes (llama.cpp), or for 128 in 34 (PrismML). A file does
 * not name its layout, but tensors follow each other without gaps, apart from the alignment.
 */
#ifndef ENGINES_TERNARY_FORMATS_GGUF_LAYOUT_H
#define ENGINES_TERNARY_FORMATS_GGUF_LAYOUT_H

#include <stdint.h>

/* Where a tensor begins, and its shape. */
typedef struct ternary_gguf_extent {
    uint64_t offset;        /* from the beginning of the data */
    uint64_t rows, columns; /* rows 0: not a tensor of type Q2_0, or its shape is not valid */
} ternary_gguf_extent;

/* Weights and bytes of a block. */
typedef struct ternary_gguf_block {
    uint32_t weights, bytes;
} ternary_gguf_block;

/*
 * Returns the layout with which every tensor ends where the next one begins, rounded up to the
 * alignment. Only if both layouts fit, the end of the last tensor is compared with the end of the data (`size`
 * bytes). So a truncated file is recognised too, if it has several tensors. If none or both fit,
 * returns NULL and sets *fault (static text). Sorts the extents.
 */
const ternary_gguf_block *ternary_gguf_layout(ternary_gguf_extent *extents, uint64_t count,
                                              uint64_t alignment, uint64_t size,
                                              const char **fault);

#endif
