/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf.h - the tensors of a GGUF file (versions 2 and 3, little-endian), mapped.
 *
 * Only the keys `general.alignment`, `split.no` and `split.count` are used; they must not occur
 * twice. Other keys are skipped, after a check that they are within the file. A tensor that cannot
 * be read, because of its shape, its name, the position of its data or a transform of its weights, has a
 * `fault`; the other tensors can still be read. For tensors of a type that is not read, ternary_gguf_fault returns
 * the fault. Format: the GGUF specification of the ggml project.
 */
#pragma once

#include "tensor_name.h"

#include "io/mapping.h"

#include <stdint.h>

/* The types of GGUF tensors: ggml's numbers, and numbers that bitnet.cpp and PrismML assigned. If a type is not read,
 * messages give the reason. */

/* The types that are read. */
#define TERNARY_GGUF_F32 0
#define TERNARY_GGUF_F16 1
#define TERNARY_GGUF_I8 24
#define TERNARY_GGUF_F64 28
#define TERNARY_GGUF_BF16 30
#define TERNARY_GGUF_TQ1_0 34
#define TERNARY_GGUF_TQ2_0 35
#define TERNARY_GGUF_Q2_0 42 /* two layouts: see below */

typedef struct ternary_gguf_type {
    uint32_t id;
    uint32_t weights, bytes; /* a block of `weights` elements takes `bytes` bytes; bytes 0: not
    known here, because the type is not read, or depends on the layout */
    const char *name;
    const char *reason; /* why tensors of the type are not read; NULL: they are read */
} ternary_gguf_type;

/* Returns NULL for an unknown number. */
const ternary_gguf_type *ternary_gguf_type_find(uint32_t id);

/* Returns why tensors of the type are not read (static text); NULL: they are read. */
const char *ternary_gguf_type_reason(uint32_t id);

/* Returns the name of a type, such as "TQ2_0"; for an unknown type "type 99", written to `text`. */
const char *ternary_gguf_type_name(uint32_t id, char text[24]);

#define TERNARY_GGUF_DIMS 8 /* axes that are listed; tensors of 1 or 2 axes are read */

typedef struct ternary_gguf_tensor {
    const char *name; /* name_length bytes within the file, without a NUL */
    uint64_t name_length;
    uint32_t type;
    uint32_t ndim;                    /* 0..TERNARY_GGUF_DIMS */
    int64_t shape[TERNARY_GGUF_DIMS]; /* NumPy's order: the last axis is adjacent */
    const char *fault;          /* why the tensor cannot be read (static text); NULL: it can be read */
    collet_status fault_status; /* the status to return for this fault */
    /* The following are 0 if there is a fault. */
    int64_t rows, columns; /* > 0; a tensor of one axis is a row */
    uint64_t offset;       /* byte of the file where the tensor's data begin */
    uint64_t bytes;        /* 0: unknown, because tensors of this type are not supported */
    uint32_t block;        /* weights of a block */
} ternary_gguf_tensor;

typedef struct ternary_gguf {
    io_mapping *mapping;
    ternary_gguf_tensor *tensors;
    uint64_t count;
    uint32_t version;
    uint32_t alignment;
    uint32_t part, parts; /* part 1 .. parts of a split file; 0: the file is not split */
    int hadamard;         /* 1: there are keys prism.hadamard.* */
} ternary_gguf;

int ternary_gguf_recognise(const uint8_t *bytes, uint64_t size);

/* COLLET_IO, NO_MEMORY, FORMAT (not a GGUF file, or keys or list of tensors are damaged),
 * UNSUPPORTED (another version or byte order). The text names the file. */
collet_status ternary_gguf_open(const char *path, ternary_gguf *out, collet_error *err);
/* A zeroed struct is allowed. */
void ternary_gguf_close(ternary_gguf *gguf);

/* COLLET_NOT_FOUND if no tensor has this name, COLLET_FORMAT if two have it. The tensor may have a
 * fault. */
collet_status ternary_gguf_find(const ternary_gguf *gguf, const char *name,
                                const ternary_gguf_tensor **out, collet_error *err);

/* Returns why the tensor cannot be read: its fault, or the reason of its type (static text). NULL: it can be read. If
 * it cannot, sets *status to the status to return. */
const char *ternary_gguf_fault(const ternary_gguf_tensor *tensor, collet_status *status);

/* Returns the name of the tensor's type; for Q2_0 with the weights of a block, "Q2_0/128". */
const char *ternary_gguf_tensor_type(const ternary_gguf_tensor *tensor, char text[24]);

/* Returns the tensor's name, as ternary_tensor_name does. */
const char *ternary_gguf_name(const ternary_gguf_tensor *tensor, char text[TERNARY_TENSOR_NAME]);

/* Tells the two layouts of Q2_0 apart. A block of type 42 is a scale in f16, then 2 bits for each weight. A block has
 * 64 weights in 18 bytes (llama.cpp), or 128 weights in 34 bytes (PrismML). A file does not name its layout, but
 * tensors follow each other without gaps, apart from the alignment. */

/* Where a tensor begins, and its shape. */
typedef struct ternary_gguf_extent {
    uint64_t offset;        /* from the beginning of the data */
    uint64_t rows, columns; /* rows 0: not a tensor of type Q2_0, or its shape is not valid */
} ternary_gguf_extent;

/* Weights and bytes of a block. */
typedef struct ternary_gguf_block {
    uint32_t weights, bytes;
} ternary_gguf_block;

/* Returns the layout with which the end of every tensor, rounded up to the alignment, is the start of the next tensor.
 * If this is true for both layouts, the end of the last tensor is also compared with the end of the data, which have
 * `size` bytes. So even in a truncated file the layout can be found if several tensors are left. If no layout
 * or both layouts fit, returns NULL and sets *fault (static text). Sorts the extents. */
const ternary_gguf_block *ternary_gguf_layout(ternary_gguf_extent *extents, uint64_t count,
                                              uint64_t alignment, uint64_t size,
                                              const char **fault);
