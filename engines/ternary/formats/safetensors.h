/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.h - the tensors of a safetensors file, mapped, with the packed weights of BitNet models.
 *
 * The file begins with a header: its length in 8 bytes, then JSON with the type, the shape and the place of each
 * tensor. A U8 tensor NAME (R, K) with a tensor NAME_scale of one number is a packed matrix of 4 R rows: bits 2i and
 * 2i + 1 of byte row r are the weights of row r + i R, plus 1. If there are tensors NAME.weight and NAME.bias, the
 * second is the bias of the first. config.json in the folder of the file defines the meaning of the scale. As in
 * gguf.h, a tensor that cannot be read has a `fault`; all other tensors can still be read.
 */
#pragma once

#include "io/mapping.h"

#define TERNARY_SAFETENSORS_DIMS 8 /* axes that are listed; tensors of 1 or 2 axes are read */

typedef struct ternary_safetensors_tensor {
    const char *name, *type; /* type: as in the file, "BF16" */
    uint32_t ndim;           /* 0..TERNARY_SAFETENSORS_DIMS */
    int64_t shape[TERNARY_SAFETENSORS_DIMS];
    const char *fault; /* why the tensor cannot be read (static text); NULL: it can be read */
    collet_status fault_status;
    const char *reason; /* why tensors of the type are not read (static text); NULL: they are read */
    /* The following are 0 if there is a fault or a reason, except offset and bytes of a U8 tensor. */
    int64_t rows, columns;
    uint64_t offset, bytes;                        /* place in the file */
    collet_dtype dtype;                            /* dtype of numbers and codes; COLLET_U8: packed */
    float scale;                                   /* PACKED: the factor of the codes */
    const struct ternary_safetensors_tensor *bias; /* PACKED: `rows` numbers; NULL: none */
} ternary_safetensors_tensor;

typedef struct ternary_safetensors {
    io_mapping *mapping;
    void *header; /* parsed JSON, which owns the texts above */
    ternary_safetensors_tensor *tensors;
    uint64_t count;
} ternary_safetensors;

/* 1 if the bytes begin like a safetensors file, which has no magic number. */
int ternary_safetensors_recognise(const uint8_t *bytes, uint64_t size);

/* COLLET_IO, NO_MEMORY, FORMAT (the header is damaged or truncated). The text names the file. */
collet_status ternary_safetensors_open(const char *path, ternary_safetensors *out,
                                       collet_error *err);
/* A zeroed struct is allowed. */
void ternary_safetensors_close(ternary_safetensors *file);

/* COLLET_NOT_FOUND if no tensor has this name, COLLET_FORMAT if two have it. The tensor may have a fault. */
collet_status ternary_safetensors_find(const ternary_safetensors *file, const char *name,
                                       const ternary_safetensors_tensor **out, collet_error *err);
