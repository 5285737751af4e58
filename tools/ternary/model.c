/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "commands.h"
#include "packed.h"

#include "common/interrupt.h"

#include <stdlib.h>
#include <string.h>

static void let_go(void *mapping)
{
    collet_mapping_close(mapping);
}

/* An array over a part of the file, which stays mapped as long as the array needs it. NULL of NULL.
 */
static collet_status map_array(ternary_session *session, const collet_t2_file *file,
                               collet_dtype dtype, int64_t rows, int64_t columns, void *data,
                               collet_array **out)
{
    int64_t shape[2] = {rows, columns};

    *out = NULL;
    if (!data)
        return COLLET_OK;
    collet_mapping *mapping = collet_mapping_hold(file->mapping);
    collet_status status = collet_array_wrap(session->context, out, dtype, columns < 0 ? 1 : 2,
                                             shape, NULL, data, let_go, mapping);
    if (status != COLLET_OK)
        let_go(mapping);
    return status;
}

/* ---- Weights ------------------------------------------------------------------------------- */

/* All codes of a layer, for formats that nothing computes with. *out is freed by the caller. */
static collet_status unpack_codes(ternary_session *session, const ternary_packed *packed,
                                  int8_t **out, collet_error *err)
{
    int64_t most = ternary_rows_at_a_time(packed->rows, packed->columns);
    collet_status status = COLLET_OK;
    int32_t invalid = 0;

    *out = malloc((size_t)packed->rows * (size_t)packed->columns);
    if (!*out)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to unpack it", packed->what);
    for (int64_t first = 0; first < packed->rows && status == COLLET_OK; first += most) {
        int64_t count = packed->rows - first < most ? packed->rows - first : most;
        int8_t *codes = *out + first * packed->columns;
        status = ternary_packed_codes(session, packed, first, count, codes, NULL, &invalid, err);
        if (status == COLLET_OK && invalid > 0)
            status = ternary_packed_complain(session, packed, first, count, codes, err);
        if (status == COLLET_OK)
            status = ternary_check_signal(err);
    }
    return status;
}

static collet_status make_from_codes(ternary_session *session, const collet_t2_file *file,
                                     uint32_t index, const collet_array *scale,
                                     collet_ternary_weights **out, collet_error *err)
{
    ternary_packed packed = ternary_packed_of_layer(file, index);
    collet_array *codes = NULL;
    int8_t *bytes = NULL;
    collet_error why;

    collet_status status = unpack_codes(session, &packed, &bytes, err);
    if (status == COLLET_OK) {
        status = ternary_array_over(session, &codes, COLLET_I8, packed.rows, packed.columns, bytes);
        if (status != COLLET_OK)
            ternary_session_failed(session, status, packed.what, err);
        else if ((status = collet_ternary_weights_from_codes(session->context, out, codes, scale,
                                                             &why)) != COLLET_OK)
            collet_fail(err, status, "%s: %s", packed.what, why.text);
    }
    collet_array_free(codes);
    free(bytes);
    return status;
}

static collet_status make_from_bytes(ternary_session *session, const collet_t2_file *file,
                                     uint32_t index, const collet_array *scale,
                                     collet_ternary_weights **out, collet_error *err)
{
    const collet_t2_layer *layer = &file->layers[index];
    collet_array *bytes = NULL;
    collet_error why;

    collet_status status =
        map_array(session, file, COLLET_U8, layer->rows, (int64_t)layer->row_bytes,
                  collet_t2_weights(file, index), &bytes);
    if (status != COLLET_OK)
        ternary_session_failed(session, status, collet_mapping_path(file->mapping), err);
    else if ((status = collet_ternary_weights_from_bytes(
                  session->context, out, bytes, layer->columns, scale, NULL, &why)) != COLLET_OK)
        collet_fail(err, status, "%s: layer %u: %s", collet_mapping_path(file->mapping), index,
                    why.text);
    collet_array_free(bytes);
    return status;
}

/* ---- Layers -------------------------------------------------------------------------------- */

static collet_status make_layer(ternary_session *session, const collet_t2_file *file,
                                uint32_t index, collet_ternary_layer *out,
                                collet_ternary_weights **weights, collet_array **bias,
                                collet_error *err)
{
    const collet_t2_layer *layer = &file->layers[index];
    collet_array *scale = NULL;

    collet_status status = collet_t2_verify(file, index, tool_interrupt_signal, err);
    if (status != COLLET_OK)
        return status;
    status =
        map_array(session, file, COLLET_F32, layer->rows, -1, collet_t2_scale(file, index), &scale);
    if (status == COLLET_OK)
        status = map_array(session, file, COLLET_F32, layer->rows, -1, collet_t2_bias(file, index),
                           bias);
    if (status != COLLET_OK)
        ternary_session_failed(session, status, collet_mapping_path(file->mapping), err);
    else if (layer->format == COLLET_TERNARY_T2)
        status = make_from_bytes(session, file, index, scale, weights, err);
    else
        status = make_from_codes(session, file, index, scale, weights, err);
    collet_array_free(scale);
    *out = (collet_ternary_layer){.struct_size = sizeof *out,
                                  .activations = layer->activations,
                                  .relu = (layer->flags & COLLET_T2_RELU) != 0,
                                  .threshold = layer->threshold,
                                  .weights = *weights,
                                  .bias = *bias};
    return status;
}

static collet_status make_network(ternary_session *session, ternary_model *model,
                                  uint32_t activations, float threshold, collet_error *err)
{
    uint32_t count = model->file.count;
    collet_ternary_layer *layers = calloc(count, sizeof *layers);
    collet_ternary_weights **weights = calloc(count, sizeof *weights);
    collet_array **biases = calloc(count, sizeof *biases);
    collet_status status = COLLET_OK;

    if (!layers || !weights || !biases)
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory for %u layers", count);
    for (uint32_t i = 0; i < count && status == COLLET_OK; i++) {
        status = make_layer(session, &model->file, i, &layers[i], &weights[i], &biases[i], err);
        if (activations != TERNARY_ACTIVATIONS_UNSAID) {
            layers[i].activations = activations;
            layers[i].threshold = threshold;
        }
    }
    if (status == COLLET_OK) {
        status =
            collet_ternary_network_create(session->context, &model->network, layers, count, err);
    }
    for (uint32_t i = 0; weights && biases && i < count; i++) {
        collet_ternary_weights_free(weights[i]);
        collet_array_free(biases[i]);
    }
    free(layers);
    free(weights);
    free(biases);
    return status;
}

collet_status ternary_model_open(ternary_session *session, const char *path, uint32_t activations,
                                 float threshold, ternary_model *out, collet_error *err)
{
    memset(out, 0, sizeof *out);
    collet_status status = collet_t2_open(path, &out->file, err);
    if (status != COLLET_OK)
        return status;
    out->columns = out->file.layers[0].columns;
    out->rows = out->file.layers[out->file.count - 1].rows;
    status = make_network(session, out, activations, threshold, err);
    if (status != COLLET_OK)
        ternary_model_close(out);
    return status;
}

void ternary_model_close(ternary_model *model)
{
    collet_ternary_network_free(model->network);
    collet_t2_close(&model->file);
    memset(model, 0, sizeof *model);
}
