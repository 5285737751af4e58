/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "io/npy.h"
#include "packed.h"
#include "source.h"
#include "io/spool.h"

#include "common/interrupt.h"
#include "common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unpack_job {
    const ternary_options *options;
    ternary_session session;
    collet_t2_file file; /* one of these two is open */
    ternary_source source;
    ternary_packed packed;
    collet_spool *spool;
} unpack_job;

/* ---- What is unpacked ---------------------------------------------------------------------- */

static collet_status open_layer(unpack_job *job, const char *path, collet_error *err)
{
    int64_t layer = job->options->layer;

    collet_status status = collet_t2_open(path, &job->file, err);
    if (status != COLLET_OK)
        return status;
    if (layer < 0 && job->file.count > 1)
        return collet_fail(err, COLLET_INVALID, "%s: which of its %u layers? Choose with --layer",
                           path, job->file.count);
    if (layer >= job->file.count)
        return collet_fail(err, COLLET_NOT_FOUND, "%s: has no layer %lld, of %u counted from 0",
                           path, (long long)layer, job->file.count);
    uint32_t index = layer < 0 ? 0 : (uint32_t)layer;
    job->packed = ternary_packed_of_layer(&job->file, index);
    return collet_t2_verify(&job->file, index, tool_interrupt_signal, err);
}

static collet_status open_tensor(unpack_job *job, const char *text, collet_error *err)
{
    collet_status status = ternary_source_open(text, &job->source, err);

    if (status != COLLET_OK)
        return status;
    if (job->source.kind != TERNARY_BLOCKS)
        return collet_fail(err, COLLET_INVALID, "%s: is not packed", text);
    if (job->options->layer > 0)
        return collet_fail(err, COLLET_INVALID, "%s: is one layer, --layer is for .t2 files", text);
    job->packed = job->source.packed;
    return COLLET_OK;
}

static collet_status open_packed(unpack_job *job, collet_error *err)
{
    const char *text = job->options->arguments[0];
    int kind;

    (void)ternary_file_kind(text, &kind, NULL); /* of "FILE:TENSOR" there may be none */
    collet_status status =
        kind == TERNARY_FILE_T2 ? open_layer(job, text, err) : open_tensor(job, text, err);
    if (status == COLLET_OK)
        status = ternary_check_output(job->options->output,
                                      collet_mapping_path(job->packed.mapping), err);
    return status;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static collet_status write_head(unpack_job *job, collet_error *err)
{
    const ternary_options *options = job->options;
    collet_dtype dtype = options->values ? COLLET_F32 : options->bytes ? COLLET_U8 : COLLET_I8;
    int64_t columns = options->bytes ? job->packed.row_bytes : job->packed.columns;
    char head[COLLET_NPY_HEAD];
    size_t length = collet_npy_head(head, dtype, job->packed.rows, 1, &columns);

    return collet_spool_write(job->spool, head, length, err);
}

static collet_status write_codes(unpack_job *job, int64_t first, int64_t count, int8_t *codes,
                                 float *block_scale, float *values, collet_error *err)
{
    const ternary_packed *packed = &job->packed;
    size_t weights = (size_t)(count * packed->columns);
    int32_t invalid = 0;

    collet_status status = ternary_packed_codes(&job->session, packed, first, count, codes,
                                                block_scale, &invalid, err);
    if (status == COLLET_OK && invalid > 0)
        status = ternary_packed_complain(&job->session, packed, first, count, codes, err);
    if (status != COLLET_OK)
        return status;
    if (!job->options->values)
        return collet_spool_write(job->spool, codes, weights, err);
    ternary_packed_values(packed, first, count, codes, block_scale, values);
    return collet_spool_write(job->spool, values, weights * sizeof *values, err);
}

static collet_status write_rows(unpack_job *job, collet_error *err)
{
    const ternary_packed *packed = &job->packed;
    int64_t most = ternary_rows_at_a_time(packed->rows, packed->columns);
    size_t weights = (size_t)(most * packed->columns);
    int8_t *codes = malloc(weights);
    float *values = malloc(job->options->values ? weights * sizeof *values : 1);
    float *block_scale = malloc((weights / TERNARY_BLOCK_WEIGHTS + 1) * sizeof *block_scale);
    tool_progress progress;
    collet_status status = COLLET_OK;

    if (!codes || !values || !block_scale)
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to unpack it", packed->what);
    tool_progress_begin(&progress, "weights", packed->rows * packed->row_bytes,
                        job->options->quiet);
    for (int64_t first = 0; first < packed->rows && status == COLLET_OK; first += most) {
        int64_t count = packed->rows - first < most ? packed->rows - first : most;
        if (job->options->bytes)
            status = collet_spool_write(job->spool, packed->bytes + first * packed->row_bytes,
                                        (size_t)(count * packed->row_bytes), err);
        else
            status = write_codes(job, first, count, codes, block_scale, values, err);
        if (status == COLLET_OK)
            status = ternary_check_signal(err);
        tool_progress_update(&progress, (first + count) * packed->columns,
                             (first + count) * packed->row_bytes, 0);
    }
    tool_progress_end(&progress);
    free(codes);
    free(values);
    free(block_scale);
    return status;
}

collet_status ternary_unpack(const ternary_options *options, collet_error *err)
{
    unpack_job job = {.options = options};

    collet_status status = open_packed(&job, err);
    if (status == COLLET_OK)
        status = ternary_session_open(&job.session, options, err);
    if (status == COLLET_OK)
        status = collet_spool_create(options->output, COLLET_SPOOL_OUTPUT, &job.spool, err);
    if (status == COLLET_OK)
        status = write_head(&job, err);
    if (status == COLLET_OK)
        status = write_rows(&job, err);
    if (status == COLLET_OK)
        status = collet_spool_link(job.spool, err);
    if (status == COLLET_OK && !options->quiet)
        printf("%s: %lld x %lld %s\n", options->output, (long long)job.packed.rows,
               (long long)(options->bytes ? job.packed.row_bytes : job.packed.columns),
               options->values  ? "values"
               : options->bytes ? "bytes"
                                : "codes");
    if (status == COLLET_OK)
        status = ternary_flush_said(err);
    if (status == COLLET_OK)
        status = collet_spool_rename(job.spool, err);
    collet_spool_free(job.spool);
    collet_t2_close(&job.file);
    ternary_source_close(&job.source);
    ternary_session_close(&job.session);
    return status;
}
