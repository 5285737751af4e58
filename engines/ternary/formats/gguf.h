/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf.h - the tensors of a GGUF file (versions 2 and 3, little-endian), mapped.
 *
 * Only the keys `general.alignment`, `split.no` and `split.count` are used; they must not occur
 * twice. Other keys are skipped, after a check that they are within the file. A tensor that cannot
 * be read, because of its shape, its name or the position of its data, has a `fault`; the other
 * tensors can still be read. Format: the GGUF specification of the ggml project.
 */
#ifndef ENGINES_TERNARY_FORMATS_GGUF_H
#define ENGINES_TERNARY_FORMATS_GGUF_H

#include "io/mapping.h"

#define TERNARY_GGUF_DIMS 8   /* axes that are listed; tensors of 1 or 2 axes are read */
#define TERNARY_GGUF_NAME 256 /* bytes of a name with its NUL, cut to fit, for messages */

/* The types that are read; tensors of other types are only listed. */
#define TERNARY_GGUF_F32 0
#define TERNARY_GGUF_F16 1
#define TERNARY_GGUF_I8 24
#define TERNARY_GGUF_F64 28
#define TERNARY_GGUF_BF16 30
#define TERNARY_GGUF_TQ1_0 34
#define TERNARY_GGUF_TQ2_0 35

typedef struct ternary_gguf_tensor {
    const char *name; /* name_length bytes within the file, without a NUL */
    uint64_t name_length;
    uint32_t type;
    uint32_t ndim;                    /* 0..TERNARY_GGUF_DIMS */
    int64_t shape[TERNARY_GGUF_DIMS]; /* NumPy's order: the last axis is adjacent */
    const char *fault;                /* why the tensor cannot be read (static text); NULL: it can */
    collet_status fault_status;       /* the status to return for this fault */
    /* The following are 0 if there is a fault. */
    int64_t rows, columns; /* > 0; a tensor of one axis is a row */
    uint64_t offset;       /* byte of the file where its data begin */
    uint64_t bytes;        /* 0: unknown, because tensors of this type are not supported */
} ternary_gguf_tensor;

typedef struct ternary_gguf {
    io_mapping *mapping;
    ternary_gguf_tensor *tensors;
    uint64_t count;
    uint32_t version;
    uint32_t alignment;
    uint32_t part, parts; /* part 1 .. parts of a split file; 0: the file is not split */
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

/* Returns the name of a type, such as "TQ2_0"; for an unknown type "type 99", written to `text`. */
const char *ternary_gguf_type_name(uint32_t type, char text[24]);

/* Returns the name of a tensor, cut to fit; bytes for which io_utf8_character gives 0 become \xNN. */
const char *ternary_gguf_name(const ternary_gguf_tensor *tensor, char text[TERNARY_GGUF_NAME]);

#endif
