/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf.h - the tensors of a GGUF file (versions 2 and 3, little-endian), mapped.
 *
 * Only the keys `general.alignment`, `split.no` and `split.count` are used, and must not occur
 * twice; the others are skipped, each checked to be within the file. A tensor that cannot be read,
 * for its shape, its name, or where its data are, has a `fault` and does not hide the others.
 * Format: the GGUF specification of the ggml project.
 */
#ifndef ENGINES_TERNARY_FORMATS_GGUF_H
#define ENGINES_TERNARY_FORMATS_GGUF_H

#include "io/mapping.h"

#define TERNARY_GGUF_DIMS 8   /* that are listed; tensors of up to 4 axes are read */
#define TERNARY_GGUF_NAME 256 /* bytes of a name with its NUL, as cut for messages */

/* Types that are read; others are listed only. */
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
    const char *fault;                /* why it cannot be read, static; NULL: nothing is wrong */
    collet_status fault_status;       /* of an error about it */
    /* The following are 0 where there is a fault. */
    int64_t rows, columns; /* all axes but the last, and the last; > 0 */
    uint64_t offset;       /* of its first byte in the file */
    uint64_t bytes;        /* 0: a type that is not read, whose size is not known */
} ternary_gguf_tensor;

typedef struct ternary_gguf {
    io_mapping *mapping;
    ternary_gguf_tensor *tensors;
    uint64_t count;
    uint32_t version;
    uint32_t alignment;
    uint32_t part, parts; /* part 1 .. parts of a split file; 0: a whole one */
} ternary_gguf;

int ternary_gguf_recognise(const uint8_t *bytes, uint64_t size);

/* COLLET_IO, NO_MEMORY, FORMAT (no such file, or one whose keys or list of tensors are damaged),
 * UNSUPPORTED (another version or byte order). The text names the file. */
collet_status ternary_gguf_open(const char *path, ternary_gguf *out, collet_error *err);
/* Also for a zeroed one. */
void ternary_gguf_close(ternary_gguf *gguf);

/* COLLET_NOT_FOUND where no tensor has this name, COLLET_FORMAT where two have. The tensor may have
 * a fault. */
collet_status ternary_gguf_find(const ternary_gguf *gguf, const char *name,
                                const ternary_gguf_tensor **out, collet_error *err);

/* "TQ2_0"; "type 99", in `text`, of an unknown one. */
const char *ternary_gguf_type_name(uint32_t type, char text[24]);

/* The name, cut to fit; what io_utf8_character refuses as \xNN. */
const char *ternary_gguf_name(const ternary_gguf_tensor *tensor, char text[TERNARY_GGUF_NAME]);

#endif
