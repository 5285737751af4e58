/* SPDX-License-Identifier: Apache-2.0 */
/* Weights and networks of files. */
#include "ternary/block.h"
#include "ternary/network.h"

#include <stdlib.h>
#include <string.h>

/* ---- Layers of a .t2 file -------------------------------------------------------------------- */

static void let_go(void *mapping)
{
    collet_mapping_close(mapping);
}

/* An array over a part of the file, which stays mapped as long as the array exists. NULL of NULL.
 */
static collet_status map_array(ternary_call *call, const collet_t2_file *file, collet_dtype dtype,
                               int64_t rows, int64_t columns, void *data, collet_array **out)
{
    int64_t shape[2] = {rows, columns};

    *out = NULL;
    if (!data)
        return COLLET_OK;
    collet_mapping *mapping = collet_mapping_hold(file->mapping);
    collet_status status = collet_array_wrap(call->context, out, dtype, columns < 0 ? 1 : 2, shape,
                                             NULL, data, let_go, mapping);
    if (status != COLLET_OK)
        let_go(mapping);
    return status;
}

/* All codes of a layer, for formats that kernels do not compute with. The caller frees *out. */
static collet_status unpack_codes(ternary_call *call, const ternary_packed *packed, int8_t **out)
{
    int64_t most = ternary_rows_at_a_time(packed->rows, packed->columns);
    collet_status status = COLLET_OK;
    int32_t invalid = 0;

    *out = malloc((size_t)packed->rows * (size_t)packed->columns);
    if (!*out)
        return collet_fail(&call->error, COLLET_NO_MEMORY, "%s: no memory to unpack it",
                           packed->what);
    for (int64_t first = 0; first < packed->rows && status == COLLET_OK; first += most) {
        int64_t count = packed->rows - first < most ? packed->rows - first : most;
        int8_t *codes = *out + first * packed->columns;
        status = ternary_packed_codes(call, packed, first, count, codes, NULL, &invalid);
        if (status == COLLET_OK && invalid > 0)
            status = ternary_packed_complain(call, packed, first, count, codes);
        if (status == COLLET_OK)
            status = ternary_call_advance(call, count * packed->columns);
    }
    return status;
}

static collet_status load_codes(ternary_call *call, const collet_t2_file *file, uint32_t index,
                                const collet_array *scale, collet_ternary_weights **out)
{
    ternary_packed packed = ternary_packed_of_layer(file, index);
    collet_array *codes = NULL;
    int8_t *bytes = NULL;

    collet_status status = unpack_codes(call, &packed, &bytes);
    if (status == COLLET_OK)
        status = ternary_array_over(call, &codes, COLLET_I8, packed.rows, packed.columns, bytes);
    if (status == COLLET_OK)
        status = ternary_weights_from_codes(call, out, codes, scale);
    collet_array_free(codes);
    free(bytes);
    return status;
}

static collet_status load_bytes(ternary_call *call, const collet_t2_file *file, uint32_t index,
                                const collet_array *scale, collet_ternary_weights **out)
{
    const collet_t2_layer *layer = &file->layers[index];
    collet_array *bytes = NULL;

    collet_status status = map_array(call, file, COLLET_U8, layer->rows, (int64_t)layer->row_bytes,
                                     collet_t2_weights(file, index), &bytes);
    if (status == COLLET_OK)
        status = ternary_weights_from_bytes(call, out, bytes, layer->columns, scale);
    collet_array_free(bytes);
    return status;
}

/* "PATH: layer N: " before what weights.c reports, which knows no file. */
static collet_status name_layer(ternary_call *call, collet_status status,
                                const collet_t2_file *file, uint32_t index)
{
    collet_error why = call->error;
    const char *path = collet_mapping_path(file->mapping);

    if (status == COLLET_OK || status == COLLET_CANCELLED)
        return status;
    if (why.status == COLLET_OK)
        return collet_fail(&call->error, status, "%s: layer %u: %s", path, index,
                           collet_last_error(call->context));
    if (strncmp(why.text, path, strlen(path)) == 0) /* it names the file */
        return status;
    return collet_fail(&call->error, status, "%s: layer %u: %s", path, index, why.text);
}

/* *bias becomes NULL where the layer has none. */
static collet_status load_layer(ternary_call *call, const collet_t2_file *file, uint32_t index,
                                collet_ternary_weights **out, collet_array **bias)
{
    const collet_t2_layer *layer = &file->layers[index];
    collet_array *scale = NULL;

    *bias = NULL;
    collet_status status = ternary_verify(call, file, index);
    if (status == COLLET_OK)
        status = map_array(call, file, COLLET_F32, layer->rows, -1, collet_t2_scale(file, index),
                           &scale);
    if (status == COLLET_OK)
        status =
            map_array(call, file, COLLET_F32, layer->rows, -1, collet_t2_bias(file, index), bias);
    if (status == COLLET_OK)
        status = layer->format == COLLET_TERNARY_T2 ? load_bytes(call, file, index, scale, out)
                                                    : load_codes(call, file, index, scale, out);
    collet_array_free(scale);
    if (status != COLLET_OK) {
        collet_array_free(*bias);
        *bias = NULL;
    }
    return name_layer(call, status, file, index);
}

/* ---- Matrices of other files ----------------------------------------------------------------- */

/* Packs all rows into `bytes` and their scales into `scale`, a few at a time. */
static collet_status pack_rows(ternary_call *call, const ternary_source *source,
                               const ternary_recipe *recipe, uint8_t *bytes, float *scale)
{
    size_t row_bytes = (size_t)collet_ternary_bytes(recipe->format, source->columns);
    ternary_block block;

    collet_status status = ternary_block_create(source, recipe->format, &block, &call->error);
    for (int64_t first = 0; first < source->rows && status == COLLET_OK; first += block.most) {
        int64_t count = source->rows - first < block.most ? source->rows - first : block.most;
        status = ternary_block_pack(call, source, recipe, first, count, &block);
        if (status != COLLET_OK)
            break;
        memcpy(bytes + (size_t)first * row_bytes, block.bytes, (size_t)count * row_bytes);
        memcpy(scale + first, block.scale, (size_t)count * sizeof *scale);
        status = ternary_call_advance(call, count * source->columns);
    }
    ternary_block_free(&block);
    return status;
}

static collet_status load_source(ternary_call *call, const ternary_source *source,
                                 const ternary_recipe *recipe, collet_ternary_weights **out)
{
    int64_t row_bytes = collet_ternary_bytes(recipe->format, source->columns);
    collet_array *bytes = NULL, *scale = NULL;
    void *to = NULL, *factors = NULL;

    collet_status status = ternary_array_new(call, &bytes, COLLET_U8, source->rows, row_bytes);
    if (status == COLLET_OK)
        status = ternary_array_new(call, &scale, COLLET_F32, source->rows, -1);
    if (status == COLLET_OK)
        status = collet_array_acquire(call->context, bytes, COLLET_WRITE, &to);
    if (status == COLLET_OK)
        status = collet_array_acquire(call->context, scale, COLLET_WRITE, &factors);
    if (status == COLLET_OK)
        status = pack_rows(call, source, recipe, to, factors);
    if (factors)
        collet_array_release(call->context, scale);
    if (to)
        collet_array_release(call->context, bytes);
    if (status == COLLET_OK && !ternary_recipe_scales(recipe, source)) {
        collet_array_free(scale);
        scale = NULL;
    }
    if (status == COLLET_OK)
        return ternary_weights_adopt(call, out, bytes, scale, source->columns);
    collet_array_free(bytes);
    collet_array_free(scale);
    return status;
}

static collet_status file_load(ternary_call *call, collet_ternary_weights **out,
                               collet_array **bias, const collet_ternary_file *file, int64_t index,
                               const collet_ternary_quantize_params *quantize)
{
    collet_array *found = NULL;
    ternary_source source;

    collet_status status = ternary_source_open(file, index, &source, &call->error);
    if (status != COLLET_OK)
        return status;
    if (file->kind != COLLET_TERNARY_FILE_T2) {
        const ternary_recipe recipe = ternary_recipe_of(quantize, COLLET_TERNARY_T2);
        call->total = source.rows * source.columns;
        status = load_source(call, &source, &recipe, out);
    } else if (quantize) {
        status = collet_fail(&call->error, COLLET_INVALID, "%s: is packed already", source.text);
    } else {
        call->total = ternary_layer_work(&file->t2, (uint32_t)index);
        status = load_layer(call, &file->t2, (uint32_t)index, out, &found);
    }
    ternary_source_close(&source);
    if (status == COLLET_OK && bias)
        *bias = found;
    else
        collet_array_free(found);
    return status;
}

collet_status collet_ternary_file_load(collet_context *context, collet_ternary_weights **out,
                                       collet_array **bias, const collet_ternary_file *file,
                                       int64_t index,
                                       const collet_ternary_quantize_params *quantize,
                                       const collet_ternary_monitor *monitor, collet_error *err)
{
    ternary_call call;

    if (!context || !out || !file)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    ternary_call_begin(&call, context, monitor);
    return ternary_call_end(&call, file_load(&call, out, bias, file, index, quantize), err);
}

/* ---- Networks -------------------------------------------------------------------------------- */

static collet_status load_layers(ternary_call *call, const collet_t2_file *file,
                                 collet_ternary_layer *layers, collet_ternary_weights **weights,
                                 collet_array **biases)
{
    collet_status status = COLLET_OK;

    for (uint32_t i = 0; i < file->count && status == COLLET_OK; i++) {
        const collet_t2_layer *from = &file->layers[i];
        status = load_layer(call, file, i, &weights[i], &biases[i]);
        layers[i] = (collet_ternary_layer){.struct_size = sizeof *layers,
                                           .activations = from->activations,
                                           .relu = (from->flags & COLLET_T2_RELU) != 0,
                                           .threshold = from->threshold,
                                           .weights = weights[i],
                                           .bias = biases[i]};
    }
    return status;
}

static collet_status network_load(ternary_call *call, collet_ternary_network **out,
                                  const collet_ternary_file *file, uint32_t activations,
                                  float threshold)
{
    uint32_t count = file->t2.count;

    if (file->kind != COLLET_TERNARY_FILE_T2)
        return collet_fail(&call->error, COLLET_FORMAT, "%s: is no .t2 file",
                           ternary_file_path(file));
    collet_ternary_layer *layers = calloc(count, sizeof *layers);
    collet_ternary_weights **weights = calloc(count, sizeof *weights);
    collet_array **biases = calloc(count, sizeof *biases);
    collet_status status = COLLET_OK;
    if (!layers || !weights || !biases)
        status = collet_fail(&call->error, COLLET_NO_MEMORY, "out of memory for %u layers", count);
    for (uint32_t i = 0; i < count; i++)
        call->total += ternary_layer_work(&file->t2, i);
    if (status == COLLET_OK)
        status = load_layers(call, &file->t2, layers, weights, biases);
    for (uint32_t i = 0;
         status == COLLET_OK && activations != COLLET_TERNARY_AS_STORED && i < count; i++) {
        layers[i].activations = activations;
        layers[i].threshold = threshold;
    }
    if (status == COLLET_OK)
        status = ternary_network_create(call, out, layers, count);
    for (uint32_t i = 0; weights && biases && i < count; i++) {
        collet_ternary_weights_free(weights[i]);
        collet_array_free(biases[i]);
    }
    free(layers);
    free(weights);
    free(biases);
    return status;
}

collet_status collet_ternary_network_load(collet_context *context, collet_ternary_network **out,
                                          const collet_ternary_file *file, uint32_t activations,
                                          float threshold, const collet_ternary_monitor *monitor,
                                          collet_error *err)
{
    ternary_call call;

    if (!context || !out || !file)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    ternary_call_begin(&call, context, monitor);
    return ternary_call_end(&call, network_load(&call, out, file, activations, threshold), err);
}
