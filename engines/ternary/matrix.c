/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the matrices of a file.
 * Tests: tests/engines/test_ternary_files.c */
#include "io/struct.h"
#include "ternary/source.h"

#include <stdio.h>
#include <string.h>

#include <collet/floating.h>

static void describe_layer(const ternary_t2_layer *layer, collet_ternary_matrix *m)
{
    m->activations = layer->activations;
    m->threshold = layer->threshold;
    m->relu = (layer->flags & TERNARY_T2_RELU) != 0;
    m->has_scale = (layer->flags & TERNARY_T2_SCALE) != 0;
    m->has_bias = (layer->flags & TERNARY_T2_BIAS) != 0;
    m->in_network = 1;
    m->ndim = 2;
    m->shape[0] = layer->rows;
    m->shape[1] = layer->columns;
    memcpy(m->name, layer->name, sizeof layer->name);
    snprintf(m->type, sizeof m->type, "%s", ternary_format_name(layer->format));
}

_Static_assert(TERNARY_GGUF_DIMS <= COLLET_MAX_DIMS && TERNARY_SAFETENSORS_DIMS <= COLLET_MAX_DIMS,
               "the axes of a tensor are listed");

static void describe_tensor(const ternary_gguf_tensor *tensor, collet_ternary_matrix *m)
{
    char type[24];
    collet_status status;

    m->ndim = (int32_t)tensor->ndim;
    memcpy(m->shape, tensor->shape, tensor->ndim * sizeof *m->shape);
    snprintf(m->type, sizeof m->type, "%s", ternary_gguf_tensor_type(tensor, type));
    ternary_gguf_name(tensor, m->name);
    m->fault = ternary_gguf_fault(tensor, &status);
}

static void describe_safetensor(const ternary_safetensors_tensor *tensor, collet_ternary_matrix *m)
{
    int packed = tensor->dtype == COLLET_U8 && !tensor->fault;

    m->ndim = (int32_t)tensor->ndim;
    memcpy(m->shape, tensor->shape, tensor->ndim * sizeof *m->shape);
    if (packed)
        m->shape[0] = tensor->rows;
    m->has_scale = (uint32_t)packed;
    m->has_bias = packed && tensor->bias;
    snprintf(m->type, sizeof m->type, "%s", packed ? "BitNet" : tensor->type);
    ternary_tensor_name(tensor->name, strlen(tensor->name), m->name);
    m->fault = tensor->fault ? tensor->fault : tensor->reason;
}

static void describe_array(const io_npy *npy, collet_ternary_matrix *m)
{
    m->ndim = npy->ndim;
    memcpy(m->shape, npy->shape, (size_t)npy->ndim * sizeof *m->shape);
    snprintf(m->type, sizeof m->type, "%s", collet_dtype_name(npy->dtype));
}

collet_status collet_ternary_file_matrix_at(const collet_ternary_file *file,
                                            collet_ternary_matrix *matrix, size_t at,
                                            collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_ternary_matrix all = {0};
    ternary_source source;
    int64_t index = ternary_file_index(at);

    collet_status status = ternary_file_check_index(file, index, err);
    if (status != COLLET_OK)
        return status;
    if (file->kind == COLLET_TERNARY_FILE_T2)
        describe_layer(&file->t2.layers[index], &all);
    else if (file->kind == COLLET_TERNARY_FILE_GGUF)
        describe_tensor(&file->gguf.tensors[index], &all);
    else if (file->kind == COLLET_TERNARY_FILE_SAFETENSORS)
        describe_safetensor(&file->safetensors.tensors[index], &all);
    else
        describe_array(&file->npy, &all);
    if (ternary_source_open(file, index, &source, NULL) == COLLET_OK) {
        all.content = source.content;
        all.rows = source.rows;
        all.columns = source.columns;
        all.row_bytes = (uint64_t)source.row_bytes;
        all.format = source.format;
        all.dtype = source.dtype;
        ternary_source_close(&source);
    }
    io_struct_out(matrix, &all, sizeof all);
    return COLLET_OK;
}
