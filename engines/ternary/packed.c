/* SPDX-License-Identifier: Apache-2.0 */
#include "ternary/packed.h"

#define AT_A_TIME ((int64_t)1 << 20)

ternary_packed ternary_packed_of_layer(const collet_t2_file *file, uint32_t index)
{
    const collet_t2_layer *layer = &file->layers[index];

    return (ternary_packed){.what = collet_mapping_path(file->mapping),
                            .format = layer->format,
                            .rows = layer->rows,
                            .columns = layer->columns,
                            .row_bytes = (int64_t)layer->row_bytes,
                            .bytes = collet_t2_weights(file, index),
                            .scale = collet_t2_scale(file, index),
                            .mapping = file->mapping};
}

ternary_packed ternary_packed_of_tensor(const collet_gguf *gguf, const collet_gguf_tensor *tensor,
                                        const char *what)
{
    uint32_t format =
        tensor->type == COLLET_GGUF_TQ2_0 ? COLLET_TERNARY_TQ2_0 : COLLET_TERNARY_TQ1_0;

    return (ternary_packed){.what = what,
                            .format = format,
                            .rows = tensor->rows,
                            .columns = tensor->columns,
                            .row_bytes = collet_ternary_bytes(format, tensor->columns),
                            .bytes = collet_mapping_data(gguf->mapping) + tensor->offset,
                            .has_blocks = 1,
                            .mapping = gguf->mapping};
}

int64_t ternary_rows_at_a_time(int64_t rows, int64_t columns)
{
    int64_t count = columns > 0 ? AT_A_TIME / columns : AT_A_TIME;

    return count < 1 ? 1 : count > rows ? rows : count;
}

collet_status ternary_packed_codes(ternary_call *call, const ternary_packed *packed, int64_t first,
                                   int64_t count, int8_t *codes, float *block_scale,
                                   int32_t *invalid)
{
    enum { BYTES, CODES, SCALE, INFO, ARRAYS };
    collet_array *a[ARRAYS] = {NULL};
    uint8_t *bytes = packed->bytes + first * packed->row_bytes;
    int scaled = block_scale && packed->has_blocks;

    collet_status status =
        ternary_array_over(call, &a[BYTES], COLLET_U8, count, packed->row_bytes, bytes);
    if (status == COLLET_OK)
        status = ternary_array_new(call, &a[CODES], COLLET_I8, count, packed->columns);
    if (status == COLLET_OK)
        status = ternary_array_new(call, &a[INFO], COLLET_I32, -1, -1);
    if (status == COLLET_OK && scaled)
        status = ternary_array_new(call, &a[SCALE], COLLET_F32, count,
                                   packed->columns / TERNARY_BLOCK_WEIGHTS);
    if (status == COLLET_OK)
        status = collet_ternary_unpack(call->context, a[CODES], a[SCALE], a[INFO], a[BYTES],
                                       packed->format);
    if (status == COLLET_OK)
        status = ternary_array_take(call, a[CODES], codes);
    if (status == COLLET_OK && scaled)
        status = ternary_array_take(call, a[SCALE], block_scale);
    if (status == COLLET_OK)
        status = ternary_array_take(call, a[INFO], invalid);
    if (status != COLLET_OK)
        ternary_call_prefix(call, status, packed->what);
    ternary_arrays_free(a, ARRAYS);
    collet_mapping_passed(packed->mapping, (uint64_t)(bytes - collet_mapping_data(packed->mapping)),
                          (uint64_t)(count * packed->row_bytes));
    return status;
}

collet_status ternary_packed_complain(ternary_call *call, const ternary_packed *packed,
                                      int64_t first, int64_t count, int8_t *codes)
{
    int32_t invalid = 0;
    int64_t row = first;

    for (; row < first + count; row++) {
        collet_status status = ternary_packed_codes(call, packed, row, 1, codes, NULL, &invalid);
        if (status != COLLET_OK)
            return status;
        if (invalid > 0)
            break;
    }
    return collet_fail(&call->error, COLLET_INVALID,
                       "%s: row %lld has %d weight%s with the invalid code 11", packed->what,
                       (long long)row, invalid, invalid == 1 ? "" : "s");
}

void ternary_packed_values(const ternary_packed *packed, int64_t first, int64_t count,
                           const int8_t *codes, const float *block_scale, float *values)
{
    int64_t columns = packed->columns;

    for (int64_t r = 0; r < count; r++) {
        float scale = packed->scale ? packed->scale[first + r] : 1;
        for (int64_t c = 0; c < columns; c++) {
            if (packed->has_blocks && c % TERNARY_BLOCK_WEIGHTS == 0)
                scale = block_scale[(r * columns + c) / TERNARY_BLOCK_WEIGHTS];
            values[r * columns + c] = scale * (float)codes[r * columns + c];
        }
    }
}

const char *ternary_format_name(uint32_t format)
{
    static const char *const names[COLLET_TERNARY_FORMATS] = {"t2", "planes", "rotor", "tq2_0",
                                                              "tq1_0"};

    return names[format];
}
