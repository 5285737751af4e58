/* SPDX-License-Identifier: Apache-2.0 */
/* Packs weights of .npy, GGUF and safetensors files into a .t2 file.
 * Tests: tests/engines/test_ternary_files.c, tests/tools/test_ternary_pack.c */
#include "io/spool.h"
#include "io/struct.h"
#include "io/utf8.h"
#include "ternary/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

/* One layer: its files, and the data to be written. */
typedef struct pack_layer {
    collet_ternary_file *file;
    ternary_source source;
    ternary_recipe recipe;
    float *scale, *bias; /* one for each row; NULL: absent */
    float *given;        /* scales that were read from a file */
} pack_layer;

typedef struct pack_job {
    ternary_call *call;
    const char *path;
    uint32_t format, count;
    pack_layer *layers;
    ternary_t2_layer *table;
    collet_ternary_output *output;
} pack_job;

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Sets a layer's name: the part of the path after the last slash, or the tensor's name, cut to
 * fit. */
static void name_layer(ternary_t2_layer *entry, const ternary_source *source)
{
    const char *path = ternary_file_path(source->file), *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length;

    if (source->name[0])
        name = source->name;
    length = strlen(name);
    if (!source->name[0] && length > 4 && strcmp(name + length - 4, ".npy") == 0)
        length -= 4;
    io_utf8_copy(entry->name, sizeof entry->name, name, length);
}

/* Reads an .npy file with `count` floating-point numbers on one axis. With one_for_all = 1 the file may also have
 * a single number, which is repeated. Reads no file if `path` is NULL. `what` names the numbers in messages. The
 * caller frees *out, also after a failure. */
static collet_status read_floats(const char *path, const char *what, int64_t count, int one_for_all,
                                 float **out, collet_error *err)
{
    io_npy npy;
    collet_status status = path ? io_npy_open(path, &npy, err) : (collet_status)COLLET_OK;

    if (!path || status != COLLET_OK)
        return status;
    int64_t have = npy.rows * npy.row_elements;
    int floats = npy.dtype == COLLET_F16 || npy.dtype == COLLET_F32 || npy.dtype == COLLET_F64;
    void *raw = malloc((size_t)have * collet_dtype_size(npy.dtype) + 1);
    *out = malloc((size_t)count * sizeof **out);
    if (!raw || !*out)
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
    else if (!floats)
        status =
            collet_fail(err, COLLET_DTYPE, "%s: the elements are %s; a %s must be f2, f4 or f8",
                        path, collet_dtype_name(npy.dtype), what);
    else if (npy.ndim > 1 || (have != count && !(one_for_all && have == 1)))
        status =
            collet_fail(err, COLLET_SHAPE,
                        "%s: the array has %lld numbers on %d axes; a %s must have %lld on one "
                        "axis, one for each row of weights",
                        path, (long long)have, npy.ndim, what, (long long)count);
    if (status == COLLET_OK)
        io_npy_rows(&npy, 0, npy.rows, raw);
    for (int64_t i = 0; status == COLLET_OK && i < count; i++) {
        float number = (*out)[i] = (float)ternary_number(npy.dtype, raw, have == 1 ? 0 : i);
        if (!isfinite(number))
            status = collet_fail(err, COLLET_INVALID, "%s: number %lld is %g; a %s must be finite",
                                 path, (long long)i, (double)number, what);
    }
    free(raw);
    io_npy_close(&npy);
    return status;
}

static collet_status open_source(const char *name, pack_layer *layer, collet_error *err)
{
    int64_t index;

    if (!name)
        return collet_fail(err, COLLET_INVALID, "pack: a layer has no weights");
    collet_status status = collet_ternary_file_open(&layer->file, &index, name, err);
    if (status != COLLET_OK)
        return status;
    if (layer->file->kind == COLLET_TERNARY_FILE_T2)
        return collet_fail(err, COLLET_FORMAT, "%s: the file is already packed", name);
    if (ternary_file_has_tensors(layer->file) && index < 0)
        return collet_fail(err, COLLET_INVALID,
                           "%s: no tensor is named; write %s:TENSOR; 'collet-ternary info "
                           "%s' lists them",
                           name, name, name);
    return ternary_source_open(layer->file, index < 0 ? 0 : index, &layer->source, err);
}

static collet_status open_inputs(pack_job *job, const collet_ternary_source *requested,
                                 pack_layer *layer)
{
    collet_error *err = &job->call->error;

    collet_status status = open_source(requested->weights, layer, err);
    if (status == COLLET_OK)
        status = io_spool_check_input(job->path, ternary_file_path(layer->file), err);
    if (status == COLLET_OK)
        status = io_spool_check_input(job->path, requested->bias, err);
    if (status == COLLET_OK)
        status = io_spool_check_input(job->path, requested->scale, err);
    if (status == COLLET_OK)
        status = read_floats(requested->bias, "bias", layer->source.rows, 0, &layer->bias, err);
    if (status == COLLET_OK)
        status = read_floats(requested->scale, "scale", layer->source.rows, 1, &layer->given, err);
    if (status == COLLET_OK && !layer->bias) {
        layer->bias = layer->source.own_bias;
        layer->source.own_bias = NULL;
    }
    return status;
}

static collet_status prepare_layer(pack_job *job, uint32_t index,
                                   const collet_ternary_source *requested)
{
    pack_layer *layer = &job->layers[index];
    ternary_t2_layer *entry = &job->table[index];

    collet_status status = open_inputs(job, requested, layer);
    if (status != COLLET_OK)
        return status;
    status = ternary_recipe_of(job->call, &layer->recipe, &layer->source, requested->quantize,
                               job->format);
    if (status != COLLET_OK)
        return status;
    layer->recipe.scale = layer->given;
    entry->format = job->format;
    entry->rows = layer->source.rows;
    entry->columns = layer->source.columns;
    entry->activations = requested->activations;
    entry->threshold = requested->threshold;
    entry->flags = (requested->relu ? TERNARY_T2_RELU : 0) | (layer->bias ? TERNARY_T2_BIAS : 0);
    if (ternary_recipe_scales(&layer->recipe, &layer->source)) {
        entry->flags |= TERNARY_T2_SCALE;
        layer->scale = calloc((size_t)entry->rows, sizeof *layer->scale);
        if (!layer->scale)
            return collet_fail(&job->call->error, COLLET_NO_MEMORY, "%s: no memory for its scales",
                               layer->source.text);
    }
    name_layer(entry, &layer->source);
    job->call->total += entry->rows * entry->columns;
    return COLLET_OK;
}

static collet_status prepare(pack_job *job, const collet_ternary_source *layers)
{
    const char *at = (const char *)layers;
    collet_status status = COLLET_OK;

    job->layers = calloc(job->count, sizeof *job->layers);
    job->table = calloc(job->count, sizeof *job->table);
    if (!job->layers || !job->table)
        return collet_fail(&job->call->error, COLLET_NO_MEMORY, "out of memory for %u layers",
                           job->count);
    for (uint32_t i = 0; i < job->count && status == COLLET_OK; i++, at += layers->struct_size) {
        status =
            io_struct_unknown(at, sizeof *layers, layers->struct_size, "pack", &job->call->error);
        if (status == COLLET_OK)
            status = prepare_layer(job, i, (const collet_ternary_source *)(const void *)at);
    }
    return status == COLLET_OK ? ternary_output_t2(&job->output, job->path, job->table, job->count,
                                                   job->call->total, &job->call->error)
                               : status;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static collet_status pack_one(pack_job *job, uint32_t index)
{
    const pack_layer *layer = &job->layers[index];
    collet_error *err = &job->call->error;
    uint64_t floats = (uint64_t)layer->source.rows * sizeof(float);

    collet_status status = ternary_pack_rows(job->call, &layer->source, &layer->recipe, NULL,
                                             job->output, layer->scale);
    if (status == COLLET_OK && layer->scale)
        status = ternary_output_add(job->output, layer->scale, floats, err);
    if (status == COLLET_OK && layer->bias)
        status = ternary_output_add(job->output, layer->bias, floats, err);
    return status;
}

static void free_job(pack_job *job)
{
    for (uint32_t i = 0; job->layers && i < job->count; i++) {
        ternary_recipe_free(&job->layers[i].recipe);
        ternary_source_close(&job->layers[i].source);
        collet_ternary_file_destroy(job->layers[i].file);
        free(job->layers[i].scale);
        free(job->layers[i].bias);
        free(job->layers[i].given);
    }
    free(job->layers);
    free(job->table);
}

static collet_status files_pack(pack_job *job, collet_ternary_output **out,
                                const collet_ternary_source *layers)
{
    if (job->count < 1 || layers->struct_size < sizeof *layers)
        return collet_fail(&job->call->error, COLLET_INVALID,
                           "pack: %u layers of struct_size %u; at least 1 layer and a struct_size "
                           "of %zu are needed",
                           job->count, job->count ? layers->struct_size : 0, sizeof *layers);
    collet_status status = prepare(job, layers);
    for (uint32_t i = 0; i < job->count && status == COLLET_OK; i++)
        status = pack_one(job, i);
    free_job(job);
    return ternary_output_end(out, job->output, status, &job->call->error);
}

collet_status collet_ternary_files_pack(collet_context *context, collet_ternary_output **out,
                                        const char *path, const collet_ternary_source *layers,
                                        uint32_t count, uint32_t format,
                                        const collet_ternary_monitor *monitor, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;
    pack_job job = {.call = &call, .path = path, .format = format, .count = count};

    if (!context || !out || !path || !layers)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    return ternary_call_end(&call, files_pack(&job, out, layers), err);
}
