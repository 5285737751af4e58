/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "report.h"
#include "source.h"

#include "common/interrupt.h"
#include "common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct info_job {
    const ternary_options *options;
    ternary_session session;
    ternary_report report;
    tool_progress progress;
    int64_t weights_done, bytes_done;
} info_job;

/* ---- Counting codes ------------------------------------------------------------------------ */

static void count_codes(const int8_t *codes, int64_t count, ternary_report_layer *layer)
{
    int64_t minus = 0, zero = 0, plus = 0;

    for (int64_t i = 0; i < count; i++) {
        minus += codes[i] == -1;
        zero += codes[i] == 0;
        plus += codes[i] == 1;
    }
    layer->minus += minus;
    layer->zero += zero;
    layer->plus += plus;
    layer->invalid += count - minus - zero - plus;
}

static collet_status note_progress(info_job *job, int64_t weights, int64_t bytes, collet_error *err)
{
    job->weights_done += weights;
    job->bytes_done += bytes;
    tool_progress_update(&job->progress, job->weights_done, job->bytes_done, 0);
    return ternary_check_signal(err);
}

/* The codes of a packed layer, or of a source that holds codes. */
static collet_status count_layer(info_job *job, const ternary_packed *packed,
                                 const ternary_source *source, ternary_report_layer *layer,
                                 collet_error *err)
{
    int64_t most = ternary_rows_at_a_time(layer->rows, layer->columns);
    int8_t *codes = malloc((size_t)most * (size_t)layer->columns);
    collet_status status = COLLET_OK;

    if (!codes)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for counting codes");
    layer->counted = 1;
    for (int64_t first = 0; first < layer->rows && status == COLLET_OK; first += most) {
        int64_t count = layer->rows - first < most ? layer->rows - first : most;
        int32_t invalid = 0;
        if (packed)
            status = ternary_packed_codes(&job->session, packed, first, count, codes, NULL,
                                          &invalid, err);
        else
            ternary_source_rows(source, first, count, codes);
        if (status != COLLET_OK)
            break;
        count_codes(codes, count * layer->columns, layer);
        layer->invalid += invalid;
        layer->zero -= invalid; /* which they became */
        status = note_progress(job, count * layer->columns,
                               (int64_t)layer->bytes / layer->rows * count, err);
    }
    free(codes);
    return status;
}

/* ---- Kinds of files ------------------------------------------------------------------------ */

static collet_status describe_t2(info_job *job, const char *path, collet_error *err)
{
    collet_t2_file file;
    collet_status status = collet_t2_open(path, &file, err);

    if (status == COLLET_OK)
        status = ternary_report_begin(&job->report, path, "t2", collet_mapping_size(file.mapping),
                                      file.count, err);
    if (status == COLLET_OK)
        tool_progress_begin(&job->progress, "weights", (int64_t)job->report.bytes,
                            job->options->quiet);
    for (uint32_t i = 0; status == COLLET_OK && i < file.count; i++) {
        const collet_t2_layer *from = &file.layers[i];
        ternary_report_layer *layer = &job->report.layers[i];
        ternary_packed packed = ternary_packed_of_layer(&file, i);
        memcpy(layer->name, from->name, sizeof from->name);
        layer->kind = ternary_format_name(from->format);
        layer->rows = from->rows;
        layer->columns = from->columns;
        layer->bytes = from->weights_bytes;
        layer->packed = 1;
        layer->in_network = 1;
        layer->flags = from->flags;
        layer->activations = from->activations;
        layer->threshold = from->threshold;
        status = collet_t2_verify(&file, i, tool_interrupt_signal, err);
        if (status == COLLET_OK)
            status = count_layer(job, &packed, NULL, layer, err);
    }
    tool_progress_end(&job->progress);
    collet_t2_close(&file);
    return status;
}

/* An .npy file, or one tensor of a GGUF file. */
static collet_status describe_source(info_job *job, const char *text, collet_error *err)
{
    ternary_source source;
    collet_status status = ternary_source_open(text, &source, err);

    if (status != COLLET_OK)
        return status;
    int blocks = source.kind == TERNARY_BLOCKS;
    uint64_t row = blocks ? (uint64_t)source.packed.row_bytes
                          : (uint64_t)source.columns * collet_dtype_size(source.dtype);
    status = ternary_report_begin(&job->report, text, source.tensor ? "gguf" : "npy",
                                  (uint64_t)source.rows * row, 1, err);
    if (status == COLLET_OK) {
        ternary_report_layer *layer = job->report.layers;
        layer->kind =
            blocks ? ternary_format_name(source.packed.format) : collet_dtype_name(source.dtype);
        layer->rows = source.rows;
        layer->columns = source.columns;
        layer->bytes = job->report.bytes;
        layer->packed = blocks;
        tool_progress_begin(&job->progress, "weights", (int64_t)layer->bytes, job->options->quiet);
        if (source.kind != TERNARY_FLOATS)
            status = count_layer(job, blocks ? &source.packed : NULL, &source, layer, err);
        tool_progress_end(&job->progress);
    }
    ternary_source_close(&source);
    return status;
}

static collet_status list_tensors(info_job *job, const char *path, collet_error *err)
{
    collet_gguf gguf;
    collet_status status = collet_gguf_open(path, &gguf, err);

    if (status == COLLET_OK)
        status = ternary_report_tensors(&gguf, job->options->json, err);
    collet_gguf_close(&gguf);
    return status;
}

collet_status ternary_info(const ternary_options *options, collet_error *err)
{
    const char *text = options->arguments[0];
    info_job job = {.options = options};
    int kind;

    (void)ternary_file_kind(text, &kind, NULL); /* of "FILE:TENSOR" there may be none */
    if (kind == TERNARY_FILE_GGUF)
        return list_tensors(&job, text, err);
    collet_status status = ternary_session_open(&job.session, options, err);
    if (status == COLLET_OK)
        status = kind == TERNARY_FILE_T2 ? describe_t2(&job, text, err)
                                         : describe_source(&job, text, err);
    if (status == COLLET_OK)
        status = ternary_report_print(&job.report, options->json, err);
    ternary_report_free(&job.report);
    ternary_session_close(&job.session);
    return status;
}
