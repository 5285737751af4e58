/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_recognise.c */
#include "ternary/recognise.h"
#include "ternary/source.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#define CHUNK_BYTES ((int64_t)1 << 20) /* bytes that are read from an array at a time */

const collet_ternary_quantize_params ternary_signs = {.struct_size = sizeof ternary_signs,
                                                      .mode = COLLET_TERNARY_THRESHOLD};
const collet_ternary_quantize_params ternary_standard = {
    .struct_size = sizeof ternary_standard, .mode = COLLET_TERNARY_THRESHOLD, .threshold = 0.3f};

int ternary_recognises(const collet_ternary_quantize_params *params)
{
    return !params || (params->struct_size >= offsetof(collet_ternary_quantize_params, threshold) &&
                       params->mode == COLLET_TERNARY_ABSMEAN);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Returns the bits of a number without its sign; equal bits are equal magnitudes. */
static inline uint64_t magnitude(const uint8_t *row, int64_t index, size_t size)
{
    uint64_t bits = 0;

    memcpy(&bits, row + (size_t)index * size, size);
    return bits & (UINT64_MAX >> (65 - 8 * size));
}

/* If all numbers of the row that are not 0 have the same magnitude, returns the bits of that magnitude; 0 for a row
 * of zeros. Otherwise returns UINT64_MAX. Inline, so that the compiler makes a loop for each size. */
static inline uint64_t only_magnitude(const uint8_t *row, int64_t columns, size_t size)
{
    uint64_t found = 0, differ = 0;
    int64_t i = 0;

    for (; i < columns && found == 0; i++)
        found = magnitude(row, i, size);
    /* Compares pieces of 256 numbers. So the inner loop has no branch, and a row with two magnitudes still ends
     * early. */
    while (i < columns && !differ) {
        int64_t end = columns - i < 256 ? columns : i + 256;
        for (; i < end; i++) {
            uint64_t m = magnitude(row, i, size);
            differ |= (m != 0) & (m != found);
        }
    }
    return differ ? UINT64_MAX : found;
}

static uint64_t only_magnitude_of(size_t size, const uint8_t *row, int64_t columns)
{
    return size == 2   ? only_magnitude(row, columns, 2)
           : size == 4 ? only_magnitude(row, columns, 4)
                       : only_magnitude(row, columns, 8);
}

int ternary_recognise_rows(collet_dtype dtype, const void *elements, int64_t count, int64_t columns,
                           float *scale)
{
    const uint64_t infinity = dtype == COLLET_F16    ? 0x7c00
                              : dtype == COLLET_BF16 ? 0x7f80
                              : dtype == COLLET_F32  ? 0x7f800000
                                                     : 0x7ff0000000000000;
    size_t size = collet_dtype_size(dtype);

    for (int64_t r = 0; r < count; r++) {
        const uint8_t *row = (const uint8_t *)elements + (size_t)(r * columns) * size;
        uint64_t bits = only_magnitude_of(size, row, columns);
        if (bits >= infinity)
            return 0;
        scale[r] = bits ? (float)ternary_number(dtype, &bits, 0) : 1;
    }
    return 1;
}

int ternary_scales_differ(const float *scale, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (scale[i] != 1)
            return 1;
    return 0;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Reads `count` elements of the first axis, from `first` on. An array with one axis is read as a whole. */
static collet_status read_some(collet_context *cx, const collet_array *weights, int64_t first,
                               int64_t count, void *out, int64_t bytes)
{
    collet_array *part = NULL;

    if (collet_array_ndim(weights) == 1)
        return collet_array_read(cx, weights, out, (size_t)bytes);
    collet_status status = collet_array_slice(cx, weights, &part, 0, first, count, 1);
    if (status == COLLET_OK)
        status = collet_array_read(cx, part, out, (size_t)bytes);
    collet_array_destroy(part);
    return status;
}

/* Sets *ternary to 0 at the first row whose weights are not ternary. */
static collet_status recognise_chunks(ternary_call *call, const collet_array *weights, void *chunk,
                                      int64_t most, float *scale, int *ternary)
{
    const int64_t *shape = collet_array_shape(weights);
    int32_t ndim = collet_array_ndim(weights);
    int64_t columns = shape[ndim - 1], leading = ndim == 1 ? 1 : shape[0];
    int64_t rows = collet_array_size(weights) / columns / leading; /* rows of one leading index */
    collet_dtype dtype = collet_array_dtype(weights);
    int64_t bytes = rows * columns * (int64_t)collet_dtype_size(dtype);
    collet_status status = COLLET_OK;

    for (int64_t first = 0, count; *ternary && first < leading && status == COLLET_OK;
         first += count) {
        count = leading - first < most ? leading - first : most;
        status = ternary_call_stopped(call)
                     ? (collet_status)COLLET_CANCELLED
                     : read_some(call->context, weights, first, count, chunk, count * bytes);
        if (status == COLLET_OK)
            *ternary =
                ternary_recognise_rows(dtype, chunk, count * rows, columns, scale + first * rows);
    }
    return status;
}

collet_status ternary_recognise_array(ternary_call *call, const char *what,
                                      const collet_array *weights, float **scale)
{
    int64_t size = collet_array_size(weights);
    int32_t ndim = collet_array_ndim(weights);
    const int64_t *shape = collet_array_shape(weights);
    int ternary = 1;

    *scale = NULL;
    if (size == 0 || ndim < 1)
        return COLLET_OK;
    int64_t bytes =
        size / (ndim == 1 ? 1 : shape[0]) * (int64_t)collet_dtype_size(collet_array_dtype(weights));
    int64_t most = bytes < CHUNK_BYTES ? CHUNK_BYTES / bytes : 1;
    void *chunk = malloc((size_t)(most * bytes));
    float *found = malloc((size_t)(size / shape[ndim - 1]) * sizeof *found);
    collet_status status =
        chunk && found
            ? recognise_chunks(call, weights, chunk, most, found, &ternary)
            : collet_fail(&call->error, COLLET_NO_MEMORY, "%s: no memory to look at %lld weights",
                          what, (long long)size);
    free(chunk);
    if (status == COLLET_OK && ternary)
        *scale = found;
    else
        free(found);
    return status;
}
