/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - an open file of weights, of any type. */
#pragma once

#include "io/npy_read.h"
#include "ternary/formats/gguf.h"
#include "ternary/formats/safetensors.h"
#include "ternary/formats/t2_file.h"

#include <collet/ternary.h>

struct collet_ternary_file {
    uint32_t kind;       /* COLLET_TERNARY_FILE_*: selects t2, gguf, npy or safetensors below */
    int64_t count;       /* number of matrices */
    io_mapping *mapping; /* mapping of the file */
    ternary_t2_file t2;
    ternary_gguf gguf;
    ternary_safetensors safetensors;
    io_npy npy;
};

/* Valid until the file is closed. */
const char *ternary_file_path(const collet_ternary_file *file);

/* 1 if the file's matrices are tensors with names. */
static inline int ternary_file_has_tensors(const collet_ternary_file *file)
{
    return file->kind == COLLET_TERNARY_FILE_GGUF || file->kind == COLLET_TERNARY_FILE_SAFETENSORS;
}

/* NOT_FOUND unless 0 <= index < file->count. */
collet_status ternary_file_check_index(const collet_ternary_file *file, int64_t index,
                                       collet_error *err);

/* Converts a caller's index; an index that is too large becomes INT64_MAX, which no file has. */
static inline int64_t ternary_file_index(size_t index)
{
    return index < INT64_MAX ? (int64_t)index : INT64_MAX;
}
