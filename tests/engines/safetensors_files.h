/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors_files.h - safetensors files with any tensors, and packed weights of BitNet, for tests. */
#ifndef TESTS_ENGINES_SAFETENSORS_FILES_H
#define TESTS_ENGINES_SAFETENSORS_FILES_H

#include "io_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct safetensors_tensor {
    const char *name, *type, *shape; /* shape: "[3, 4]" */
    const void *data;
    size_t bytes;
} safetensors_tensor;

/* Writes a file with this header. */
static inline void safetensors_save_header(const char *path, const char *header, const void *data,
                                           size_t bytes)
{
    io_image image = {0};
    uint64_t length = strlen(header);

    for (int i = 0; i < 8; i++) {
        uint8_t byte = (uint8_t)(length >> 8 * i);
        io_put(&image, &byte, 1);
    }
    io_put(&image, header, length);
    io_put(&image, data, bytes);
    io_save(path, image.data, image.size);
    free(image.data);
}

/* Writes tensors one after another. */
static inline void safetensors_save(const char *path, const safetensors_tensor *tensors,
                                    size_t count)
{
    char header[4000] = "{\"__metadata__\": {\"format\": \"pt\"}";
    size_t length = strlen(header), at = 0;
    io_image data = {0};

    for (size_t i = 0; i < count; i++) {
        const safetensors_tensor *t = &tensors[i];
        length += (size_t)snprintf(header + length, sizeof header - length,
                                   ", \"%s\": {\"dtype\": \"%s\", \"shape\": %s, \"data_offsets\": "
                                   "[%zu, %zu]}",
                                   t->name, t->type, t->shape, at, at + t->bytes);
        at += t->bytes;
        io_put(&data, t->data, t->bytes);
    }
    assert_true(length + 9 < sizeof header);
    memcpy(header + length, "}       ", 9);
    header[length + 8 - length % 8] = '\0'; /* the header is padded with spaces */
    safetensors_save_header(path, header, data.data, data.size);
    free(data.data);
}

/* Packs codes (rows, columns) as BitNet does; `out`: rows / 4 x columns bytes. */
static inline void safetensors_pack(uint8_t *out, const int8_t *codes, int64_t rows,
                                    int64_t columns)
{
    memset(out, 0, (size_t)(rows / 4 * columns));
    for (int64_t i = 0; i < 4; i++)
        for (int64_t r = 0; r < rows / 4; r++)
            for (int64_t c = 0; c < columns; c++)
                out[r * columns + c] |=
                    (uint8_t)((codes[(i * (rows / 4) + r) * columns + c] + 1) << 2 * i);
}

#endif
