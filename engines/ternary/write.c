/* SPDX-License-Identifier: Apache-2.0 */
/* Writes layers in memory to a .t2 file.
 * Tests: tests/engines/test_ternary_files.c */
#include "io/struct.h"
#include "io/utf8.h"
#include "ternary/network.h"
#include "ternary/output.h"

#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#define CHUNK_BYTES ((int64_t)1 << 20) /* written at a time */

static const collet_ternary_layer *layer_at(const collet_ternary_layer *layers, uint32_t index)
{
    return (const void *)((const char *)layers + (size_t)index * layers->struct_size);
}

static collet_status describe(ternary_call *call, const char *path, uint32_t index,
                              const collet_ternary_layer *layer, const char *name,
                              ternary_t2_layer *entry)
{
    collet_status status = ternary_check_layer(call, path, index, layer);
    if (status != COLLET_OK)
        return status;
    *entry = (ternary_t2_layer){.format = COLLET_TERNARY_T2,
                                .rows = collet_ternary_weights_rows(layer->weights),
                                .columns = collet_ternary_weights_columns(layer->weights),
                                .activations = layer->activations,
                                .threshold = layer->threshold,
                                .flags = (layer->relu ? TERNARY_T2_RELU : 0) |
                                         (layer->bias ? TERNARY_T2_BIAS : 0) |
                                         (layer->weights->scale ? TERNARY_T2_SCALE : 0)};
    if (name)
        io_utf8_copy(entry->name, sizeof entry->name, name, strlen(name));
    call->total += entry->rows * entry->columns;
    return COLLET_OK;
}

/* Writes an array, a few rows at a time. */
static collet_status write_array(ternary_call *call, collet_ternary_output *output,
                                 const collet_array *array, int64_t weights_in_row)
{
    int64_t rows = collet_array_shape(array)[0];
    int64_t row =
        collet_array_size(array) / rows * (int64_t)collet_dtype_size(collet_array_dtype(array));
    int64_t most = row < CHUNK_BYTES ? CHUNK_BYTES / row : 1;
    void *buffer = malloc((size_t)((most < rows ? most : rows) * row));
    collet_status status = COLLET_OK;

    if (!buffer)
        return collet_fail(&call->error, COLLET_NO_MEMORY, "no memory to write weights");
    for (int64_t at = 0; at < rows && status == COLLET_OK; at += most) {
        int64_t count = rows - at < most ? rows - at : most;
        collet_array *some = NULL;
        status = collet_array_slice(call->context, array, &some, 0, at, count, 1);
        if (status == COLLET_OK)
            status = collet_array_read(call->context, some, buffer, (size_t)(count * row));
        if (status == COLLET_OK)
            status = ternary_output_add(output, buffer, (uint64_t)(count * row), &call->error);
        if (status == COLLET_OK)
            status = ternary_call_advance(call, count * weights_in_row);
        collet_array_destroy(some);
    }
    free(buffer);
    return status;
}

static collet_status write_layer(ternary_call *call, collet_ternary_output *output,
                                 const collet_ternary_layer *layer)
{
    const collet_ternary_weights *weights = layer->weights;

    collet_status status = write_array(call, output, weights->bytes, weights->columns);
    if (status == COLLET_OK && weights->scale)
        status = write_array(call, output, weights->scale, 0);
    if (status == COLLET_OK && layer->bias)
        status = write_array(call, output, layer->bias, 0);
    return status;
}

static collet_status layers_write(ternary_call *call, collet_ternary_output **out, const char *path,
                                  const collet_ternary_layer *layers, const char *const *names,
                                  uint32_t count)
{
    collet_ternary_output *output = NULL;
    collet_status status = COLLET_OK;

    if (count < 1 || layers->struct_size < sizeof *layers)
        return collet_fail(
            &call->error, COLLET_INVALID,
            "%s: %u layers of struct_size %u; at least 1 layer and a struct_size of %zu are needed",
            path, count, count ? layers->struct_size : 0, sizeof *layers);
    ternary_t2_layer *table = calloc(count, sizeof *table);
    if (!table)
        return collet_fail(&call->error, COLLET_NO_MEMORY, "out of memory for %u layers", count);
    for (uint32_t i = 0; i < count && status == COLLET_OK; i++) {
        status = io_struct_unknown(layer_at(layers, i), sizeof *layers, layers->struct_size, path,
                                   &call->error);
        if (status == COLLET_OK)
            status =
                describe(call, path, i, layer_at(layers, i), names ? names[i] : NULL, &table[i]);
    }
    if (status == COLLET_OK)
        status = ternary_output_t2(&output, path, table, count, call->total, &call->error);
    free(table);
    for (uint32_t i = 0; i < count && status == COLLET_OK; i++)
        status = write_layer(call, output, layer_at(layers, i));
    return ternary_output_end(out, output, status, &call->error);
}

collet_status collet_ternary_layers_write(collet_context *context, collet_ternary_output **out,
                                          const char *path, const collet_ternary_layer *layers,
                                          const char *const *names, uint32_t count,
                                          const collet_ternary_monitor *monitor, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;

    if (!context || !out || !path || !layers)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    return ternary_call_end(&call, layers_write(&call, out, path, layers, names, count), err);
}
