/* SPDX-License-Identifier: Apache-2.0 */
#include "block.h"
#include "commands.h"
#include "io/utf8.h"

#include "common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One layer, from what was named to what is written. */
typedef struct pack_layer {
    ternary_source source;
    ternary_recipe recipe;
    float *scale, *bias; /* rows; NULL: absent */
    float *given;        /* --scale */
} pack_layer;

typedef struct pack_job {
    const ternary_options *options;
    ternary_session session;
    pack_layer *layers;
    collet_t2_layer *table;
    uint32_t count;
    collet_t2_writer *writer;
    tool_progress progress;
    int64_t weights_done;
    uint64_t bytes_done, bytes;
} pack_job;

/* ---- Preparing ----------------------------------------------------------------------------- */

/* What follows the last slash, or the tensor, cut to fit; what a name must not have as '?'. */
static void name_layer(collet_t2_layer *entry, const ternary_source *source)
{
    const char *slash = strrchr(source->text, '/'), *name = slash ? slash + 1 : source->text;
    char text[COLLET_GGUF_NAME];
    size_t length;

    if (source->tensor)
        name = collet_gguf_name(source->tensor, text);
    length = strlen(name);
    if (!source->tensor && length > 4 && strcmp(name + length - 4, ".npy") == 0)
        length -= 4;
    collet_utf8_copy(entry->name, sizeof entry->name, name, length);
}

static collet_status read_floats(const char *path, const char *what, int64_t rows, int one_for_all,
                                 float **out, collet_error *err)
{
    if (!path)
        return COLLET_OK;
    *out = calloc((size_t)rows, sizeof **out);
    if (!*out)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
    return ternary_read_floats(path, what, rows, one_for_all, *out, err);
}

static collet_status prepare_layer(pack_job *job, uint32_t index, collet_error *err)
{
    const ternary_layer_options *wanted = &job->options->layers[index];
    pack_layer *layer = &job->layers[index];
    collet_t2_layer *entry = &job->table[index];

    const char *output = job->options->output;
    collet_status status = ternary_source_open(wanted->weights, &layer->source, err);
    if (status == COLLET_OK)
        status = ternary_check_output(output, ternary_source_path(&layer->source), err);
    if (status == COLLET_OK)
        status = ternary_check_output(output, wanted->bias, err);
    if (status == COLLET_OK)
        status = ternary_check_output(output, wanted->scale, err);
    if (status == COLLET_OK)
        status = read_floats(wanted->bias, "bias", layer->source.rows, 0, &layer->bias, err);
    if (status == COLLET_OK)
        status = read_floats(wanted->scale, "scale", layer->source.rows, 1, &layer->given, err);
    if (status != COLLET_OK)
        return status;
    layer->recipe = (ternary_recipe){.quantize = wanted->quantize,
                                     .threshold = wanted->threshold,
                                     .format = job->options->format,
                                     .scale = layer->given};
    entry->format = job->options->format;
    entry->rows = layer->source.rows;
    entry->columns = layer->source.columns;
    entry->activations = wanted->activations == TERNARY_ACTIVATIONS_UNSAID ? COLLET_TERNARY_INT8
                                                                           : wanted->activations;
    entry->threshold = wanted->activations_threshold;
    entry->flags = (wanted->relu ? COLLET_T2_RELU : 0) | (layer->bias ? COLLET_T2_BIAS : 0);
    if (ternary_recipe_scales(&layer->recipe, &layer->source)) {
        entry->flags |= COLLET_T2_SCALE;
        layer->scale = calloc((size_t)entry->rows, sizeof *layer->scale);
        if (!layer->scale)
            return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its scales",
                               wanted->weights);
    }
    name_layer(entry, &layer->source);
    return COLLET_OK;
}

static collet_status prepare(pack_job *job, collet_error *err)
{
    uint64_t size;
    collet_status status = COLLET_OK;

    job->count = job->options->n_layers;
    job->layers = calloc(job->count, sizeof *job->layers);
    job->table = calloc(job->count, sizeof *job->table);
    if (!job->layers || !job->table)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for %u layers", job->count);
    for (uint32_t i = 0; i < job->count && status == COLLET_OK; i++)
        status = prepare_layer(job, i, err);
    if (status == COLLET_OK)
        status = collet_t2_lay_out(job->options->output, job->table, job->count, &size, err);
    if (status == COLLET_OK)
        status = collet_t2_writer_create(job->options->output, job->table, job->count, size,
                                         &job->writer, err);
    if (status == COLLET_OK)
        status = ternary_session_open(&job->session, job->options, err);
    job->bytes = status == COLLET_OK ? size : 0;
    return status;
}

/* ---- Working ------------------------------------------------------------------------------- */

static collet_status pack_rows(pack_job *job, uint32_t index, ternary_block *block,
                               collet_error *err)
{
    pack_layer *layer = &job->layers[index];
    uint64_t row_bytes = job->table[index].row_bytes;
    int64_t rows = layer->source.rows;
    collet_status status = COLLET_OK;

    for (int64_t first = 0; first < rows && status == COLLET_OK; first += block->most) {
        int64_t count = rows - first < block->most ? rows - first : block->most;
        status = ternary_block_pack(&job->session, &layer->source, &layer->recipe, first, count,
                                    block, err);
        if (status == COLLET_OK)
            status =
                collet_t2_writer_add(job->writer, block->bytes, (uint64_t)count * row_bytes, err);
        if (status == COLLET_OK)
            status = ternary_check_signal(err);
        if (layer->scale)
            memcpy(layer->scale + first, block->scale, (size_t)count * sizeof(float));
        job->weights_done += count * layer->source.columns;
        job->bytes_done += (uint64_t)count * row_bytes;
        tool_progress_update(&job->progress, job->weights_done, (int64_t)job->bytes_done, 0);
    }
    return status;
}

static collet_status pack_one(pack_job *job, uint32_t index, collet_error *err)
{
    const pack_layer *layer = &job->layers[index];
    uint64_t floats = (uint64_t)layer->source.rows * sizeof(float);
    ternary_block block;

    collet_status status = ternary_block_create(&layer->source, job->options->format, &block, err);
    if (status == COLLET_OK)
        status = pack_rows(job, index, &block, err);
    if (status == COLLET_OK && layer->scale)
        status = collet_t2_writer_add(job->writer, layer->scale, floats, err);
    if (status == COLLET_OK && layer->bias)
        status = collet_t2_writer_add(job->writer, layer->bias, floats, err);
    ternary_block_free(&block);
    return status;
}

static void summarise(const pack_job *job)
{
    printf("%s: %lld weights in %u layer%s, %.2f MiB as %s\n", job->options->output,
           (long long)job->weights_done, job->count, job->count == 1 ? "" : "s",
           (double)job->bytes / 0x1p20, ternary_format_name(job->options->format));
}

collet_status ternary_pack(const ternary_options *options, collet_error *err)
{
    pack_job job = {.options = options};

    collet_status status = prepare(&job, err);
    tool_progress_begin(&job.progress, "weights", (int64_t)job.bytes, options->quiet);
    for (uint32_t i = 0; i < job.count && status == COLLET_OK; i++)
        status = pack_one(&job, i, err);
    tool_progress_end(&job.progress);
    if (status == COLLET_OK)
        status = collet_t2_writer_link(job.writer, err);
    if (status == COLLET_OK && !options->quiet)
        summarise(&job);
    if (status == COLLET_OK)
        status = ternary_flush_said(err);
    if (status == COLLET_OK)
        status = collet_t2_writer_rename(job.writer, err);
    collet_t2_writer_free(job.writer);
    for (uint32_t i = 0; job.layers && i < job.count; i++) {
        ternary_source_close(&job.layers[i].source);
        free(job.layers[i].scale);
        free(job.layers[i].bias);
        free(job.layers[i].given);
    }
    free(job.layers);
    free(job.table);
    ternary_session_close(&job.session);
    return status;
}
