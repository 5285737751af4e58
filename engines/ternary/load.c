/* SPDX-License-Identifier: Apache-2.0 */
/* Loads weights and networks from files.
 * Tests: tests/engines/test_ternary_files.c */
#include "ternary/block.h"
#include "ternary/network.h"

#include <stdlib.h>

#include <collet/floating.h>
#include <collet/ops/ternary.h>

static void unmap(void *mapping)
{
    io_mapping_close(mapping);
}

/* Wraps a part of the mapped file as an array (rows, columns) or, with columns 0, (rows). The file stays mapped
 * as long as the array exists. If `data` is NULL, *out becomes NULL. */
static collet_status map_array(ternary_call *call, const ternary_source *source, collet_dtype dtype,
                               int64_t columns, void *data, collet_array **out)
{
    const int64_t shape[2] = {source->rows, columns};

    *out = NULL;
    if (!data)
        return COLLET_OK;
    io_mapping *mapping = io_mapping_hold(source->file->mapping);
    collet_status status = collet_array_wrap(call->context, out, dtype, columns ? 2 : 1, shape,
                                             NULL, data, 0, unmap, mapping);
    if (status != COLLET_OK)
        io_mapping_close(mapping);
    return status;
}

/* Loads a layer in t2 format without a copy: the arrays are in the mapping. */
static collet_status load_mapped(ternary_call *call, const ternary_source *source,
                                 collet_ternary_weights **out)
{
    collet_array *bytes = NULL, *scale = NULL;

    collet_status status =
        map_array(call, source, COLLET_U8, source->row_bytes, source->bytes, &bytes);
    if (status == COLLET_OK)
        status = map_array(call, source, COLLET_F32, 0, source->scale, &scale);
    if (status == COLLET_OK)
        status = ternary_weights_from_bytes(call, source->text, out, bytes, source->columns, scale);
    collet_array_destroy(bytes);
    collet_array_destroy(scale);
    return status;
}

static collet_status load_converted(ternary_call *call, const ternary_source *source,
                                    const ternary_recipe *recipe, collet_ternary_weights **out)
{
    collet_context *context = call->context;
    const int64_t shape[2] = {source->rows, collet_ternary_bytes(recipe->format, source->columns)};
    collet_array *bytes = NULL, *scale = NULL;
    void *to = NULL, *factors = NULL;

    collet_status status = collet_array_create(context, &bytes, COLLET_U8, 2, shape);
    if (status == COLLET_OK && ternary_recipe_scales(recipe, source))
        status = collet_array_create(context, &scale, COLLET_F32, 1, shape);
    if (status == COLLET_OK)
        status = collet_array_acquire(context, bytes, &to, COLLET_WRITE);
    if (status == COLLET_OK && scale)
        status = collet_array_acquire(context, scale, &factors, COLLET_WRITE);
    if (status == COLLET_OK)
        status = ternary_pack_rows(call, source, recipe, to, NULL, factors);
    if (factors)
        collet_array_release(context, scale);
    if (to)
        collet_array_release(context, bytes);
    if (status == COLLET_OK)
        return ternary_weights_adopt(call, out, bytes, scale, source->columns);
    collet_array_destroy(bytes);
    collet_array_destroy(scale);
    return status;
}

/* Returns the number of weights that loading a layer of a .t2 file reports as progress. With the format t2 the number
 * includes the padding, because the padding is checked, too. */
static int64_t layer_work(const ternary_t2_layer *layer)
{
    return layer->format == COLLET_TERNARY_T2 ? 4 * (int64_t)layer->weights_bytes
                                              : layer->rows * layer->columns;
}

/* Loads a matrix as weights; sets *bias to its bias, or to NULL if it has no bias. */
static collet_status load_matrix(ternary_call *call, const ternary_source *source, int64_t index,
                                 const collet_ternary_quantize_params *quantize,
                                 collet_ternary_weights **out, collet_array **bias)
{
    ternary_recipe recipe = {0};
    int t2 = source->file->kind == COLLET_TERNARY_FILE_T2;

    *bias = NULL;
    if (t2 && quantize)
        return collet_fail(&call->error, COLLET_INVALID,
                           "%s: the matrix is already packed and cannot be quantized",
                           source->text);
    collet_status status = ternary_verify(call, source->file, index);
    if (status == COLLET_OK)
        status = ternary_recipe_of(call, &recipe, source, quantize, COLLET_TERNARY_T2);
    if (status == COLLET_OK && t2)
        status = map_array(call, source, COLLET_F32, 0,
                           ternary_t2_bias(&source->file->t2, (uint32_t)index), bias);
    if (status == COLLET_OK && source->own_bias)
        status =
            collet_array_from(call->context, bias, COLLET_F32, 1, &source->rows, source->own_bias);
    if (status == COLLET_OK)
        status = t2 && source->format == COLLET_TERNARY_T2
                     ? load_mapped(call, source, out)
                     : load_converted(call, source, &recipe, out);
    ternary_recipe_free(&recipe);
    if (status != COLLET_OK) {
        collet_array_destroy(*bias);
        *bias = NULL;
    }
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
    call->total = file->kind == COLLET_TERNARY_FILE_T2 ? layer_work(&file->t2.layers[index])
                                                       : source.rows * source.columns;
    status = load_matrix(call, &source, index, quantize, out, &found);
    ternary_source_close(&source);
    if (status == COLLET_OK && bias)
        *bias = found;
    else
        collet_array_destroy(found);
    return status;
}

collet_status collet_ternary_file_load(collet_context *context, const collet_ternary_file *file,
                                       collet_ternary_weights **out, collet_array **bias,
                                       size_t index, const collet_ternary_quantize_params *quantize,
                                       const collet_ternary_monitor *monitor, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;

    if (!context || !out || !file)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    return ternary_call_end(
        &call, file_load(&call, out, bias, file, ternary_file_index(index), quantize), err);
}

/* ---- Networks -------------------------------------------------------------------------------- */

/* The arrays and weights of a layer; the network keeps its own references to them. */
typedef struct loaded {
    collet_ternary_weights *weights;
    collet_array *bias;
} loaded;

static collet_status load_layer(ternary_call *call, const collet_ternary_file *file, uint32_t index,
                                loaded *to, collet_ternary_layer *layer)
{
    const ternary_t2_layer *from = &file->t2.layers[index];
    ternary_source source;

    collet_status status = ternary_source_open(file, index, &source, &call->error);
    if (status != COLLET_OK)
        return status;
    status = load_matrix(call, &source, index, NULL, &to->weights, &to->bias);
    ternary_source_close(&source);
    *layer = (collet_ternary_layer){.struct_size = sizeof *layer,
                                    .activations = from->activations,
                                    .relu = (from->flags & TERNARY_T2_RELU) != 0,
                                    .threshold = from->threshold,
                                    .weights = to->weights,
                                    .bias = to->bias};
    return status;
}

static collet_status network_load(ternary_call *call, collet_ternary_network **out,
                                  const collet_ternary_file *file, uint32_t activations,
                                  float threshold)
{
    uint32_t count = file->t2.count;
    collet_status status = COLLET_OK;

    if (file->kind != COLLET_TERNARY_FILE_T2)
        return collet_fail(&call->error, COLLET_FORMAT, "%s: not a .t2 file",
                           ternary_file_path(file));
    collet_ternary_layer *layers = calloc(count, sizeof *layers);
    loaded *shared = calloc(count, sizeof *shared);
    if (!layers || !shared) {
        free(layers);
        free(shared);
        return collet_fail(&call->error, COLLET_NO_MEMORY, "out of memory for %u layers", count);
    }
    for (uint32_t i = 0; i < count; i++)
        call->total += layer_work(&file->t2.layers[i]);
    for (uint32_t i = 0; i < count && status == COLLET_OK; i++) {
        status = load_layer(call, file, i, &shared[i], &layers[i]);
        if (activations != COLLET_TERNARY_AS_STORED) {
            layers[i].activations = activations;
            layers[i].threshold = threshold;
        }
    }
    if (status == COLLET_OK)
        status = collet_ternary_network_create(call->context, out, layers, count, &call->error);
    for (uint32_t i = 0; i < count; i++) {
        collet_ternary_weights_destroy(shared[i].weights);
        collet_array_destroy(shared[i].bias);
    }
    free(shared);
    free(layers);
    return status;
}

collet_status collet_ternary_network_load(collet_context *context, collet_ternary_network **out,
                                          const collet_ternary_file *file, uint32_t activations,
                                          float threshold, const collet_ternary_monitor *monitor,
                                          collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;

    if (!context || !out || !file)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    return ternary_call_end(&call, network_load(&call, out, file, activations, threshold), err);
}
