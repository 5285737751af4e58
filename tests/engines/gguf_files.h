/* SPDX-License-Identifier: Apache-2.0 */
/* gguf_files.h - makes the bytes of GGUF files with any tensors, for tests. */
#ifndef TESTS_ENGINES_GGUF_FILES_H
#define TESTS_ENGINES_GGUF_FILES_H

#include "io_files.h"

#include <stdlib.h>
#include <string.h>

#define GGUF_FILES_ALIGNMENT 32

typedef struct gguf_file_tensor {
    const char *name;
    uint32_t type;
    uint64_t rows, columns;
    const void *data; /* NULL: zeros */
    size_t bytes;
    size_t gap; /* unused bytes after the tensor's padding */
} gguf_file_tensor;

static inline void gguf_put(io_image *image, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(value >> 8 * i);
        io_put(image, &byte, 1);
    }
}

static inline void gguf_put_text(io_image *image, const char *text)
{
    gguf_put(image, strlen(text), 8);
    io_put(image, text, strlen(text));
}

static inline size_t gguf_padded(size_t bytes)
{
    return (bytes + GGUF_FILES_ALIGNMENT - 1) / GGUF_FILES_ALIGNMENT * GGUF_FILES_ALIGNMENT;
}

static inline void gguf_put_zeros(io_image *image, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        io_put(image, "", 1);
}

/* Appends a file of these tensors. `key`: the file has this key with an empty text as its value; NULL: no key. `pad`:
 * the last tensor is padded to the alignment too. */
static inline void gguf_file_image(io_image *image, const gguf_file_tensor *tensors, size_t count,
                                   const char *key, int pad)
{
    size_t at = 0;

    io_put(image, "GGUF", 4);
    gguf_put(image, 3, 4);
    gguf_put(image, count, 8);
    gguf_put(image, key != NULL, 8);
    if (key) {
        gguf_put_text(image, key);
        gguf_put(image, 8, 4);
        gguf_put_text(image, "");
    }
    for (size_t i = 0; i < count; i++) {
        const gguf_file_tensor *t = &tensors[i];
        gguf_put_text(image, t->name);
        gguf_put(image, 2, 4);
        gguf_put(image, t->columns, 8);
        gguf_put(image, t->rows, 8);
        gguf_put(image, t->type, 4);
        gguf_put(image, at, 8);
        at += gguf_padded(t->bytes) + t->gap;
    }
    gguf_put_zeros(image, gguf_padded(image->size) - image->size);
    for (size_t i = 0; i < count; i++) {
        const gguf_file_tensor *t = &tensors[i];
        if (t->data)
            io_put(image, t->data, t->bytes);
        else
            gguf_put_zeros(image, t->bytes);
        if (i + 1 < count || pad)
            gguf_put_zeros(image, gguf_padded(t->bytes) - t->bytes + t->gap);
    }
}

static inline void gguf_file_save(const char *path, const gguf_file_tensor *tensors, size_t count,
                                  const char *key, int pad)
{
    io_image image = {0};

    gguf_file_image(&image, tensors, count, key, pad);
    io_save(path, image.data, image.size);
    free(image.data);
}

#endif
