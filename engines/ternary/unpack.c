/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a packed matrix to an .npy file.
 * Tests: tests/engines/test_ternary_files.c, tests/tools/test_ternary_pack.c */
#include "io/spool.h"
#include "ternary/output.h"
#include "ternary/source.h"

#include <stdlib.h>

#include <collet/floating.h>

typedef struct unpack_job {
    ternary_call *call;
    const ternary_source *source;
    uint32_t what;
    collet_ternary_output *output;
    /* buffers for the rows that are unpacked at a time */
    int8_t *codes;
    float *values, *block_scale;
} unpack_job;

static collet_status write_some(unpack_job *job, int64_t first, int64_t count)
{
    const ternary_source *source = job->source;
    uint64_t weights = (uint64_t)(count * source->columns);
    collet_error *err = &job->call->error;

    if (job->what == COLLET_TERNARY_WRITE_BYTES)
        return ternary_output_add(job->output, source->bytes + first * source->row_bytes,
                                  (uint64_t)(count * source->row_bytes), err);
    collet_status status =
        ternary_source_codes(job->call, source, first, count, job->codes, job->block_scale, NULL);
    if (status != COLLET_OK)
        return status;
    if (job->what == COLLET_TERNARY_WRITE_CODES)
        return ternary_output_add(job->output, job->codes, weights, err);
    ternary_source_values(source, first, count, job->codes, job->block_scale, job->values);
    return ternary_output_add(job->output, job->values, weights * sizeof *job->values, err);
}

static collet_status write_rows(unpack_job *job)
{
    const ternary_source *source = job->source;
    int64_t some = ternary_source_some(source, 0);
    size_t weights = (size_t)(some * source->columns);
    collet_status status = COLLET_OK;

    job->codes = malloc(weights);
    job->values = malloc(weights * sizeof *job->values);
    job->block_scale = malloc(ternary_source_scales(source, some) * sizeof *job->block_scale);
    if (!job->codes || !job->values || !job->block_scale)
        status = collet_fail(&job->call->error, COLLET_NO_MEMORY, "%s: no memory to unpack it",
                             source->text);
    for (int64_t first = 0, count; first < source->rows && status == COLLET_OK; first += count) {
        count = ternary_source_some(source, first);
        status = write_some(job, first, count);
        if (status == COLLET_OK)
            status = ternary_call_advance(job->call, count * source->columns);
    }
    free(job->codes);
    free(job->values);
    free(job->block_scale);
    return status;
}

static collet_status write_file(unpack_job *job, collet_ternary_output **out, const char *path)
{
    static const collet_dtype dtypes[] = {COLLET_I8, COLLET_F32, COLLET_U8};
    const ternary_source *source = job->source;
    int64_t columns = job->what == COLLET_TERNARY_WRITE_BYTES ? source->row_bytes : source->columns;

    collet_status status = ternary_output_npy(&job->output, path, dtypes[job->what], source->rows,
                                              1, &columns, &job->call->error);
    if (status == COLLET_OK)
        status = write_rows(job);
    return ternary_output_end(out, job->output, status, &job->call->error);
}

static collet_status file_unpack(ternary_call *call, collet_ternary_output **out, const char *path,
                                 const collet_ternary_file *file, int64_t index, uint32_t what)
{
    ternary_source source;
    unpack_job job = {.call = call, .source = &source, .what = what};

    collet_status status = ternary_source_open(file, index, &source, &call->error);
    if (status != COLLET_OK)
        return status;
    call->total = source.rows * source.columns;
    if (source.content != COLLET_TERNARY_PACKED)
        status =
            collet_fail(&call->error, COLLET_INVALID, "%s: the matrix is not packed", source.text);
    else if (what > COLLET_TERNARY_WRITE_BYTES)
        status = collet_fail(
            &call->error, COLLET_INVALID,
            "%s: cannot be unpacked as %u; 0 (codes), 1 (values) and 2 (bytes) are supported",
            source.text, what);
    else if (what == COLLET_TERNARY_WRITE_BYTES && source.format == COLLET_TERNARY_BITNET)
        status = collet_fail(&call->error, COLLET_INVALID,
                             "%s: a byte of a BitNet tensor has weights of four rows, so rows have "
                             "no bytes of their own; write codes or values",
                             source.text);
    if (status == COLLET_OK)
        status = io_spool_check_input(path, ternary_file_path(file), &call->error);
    if (status == COLLET_OK)
        status = ternary_verify(call, file, index);
    if (status == COLLET_OK)
        status = write_file(&job, out, path);
    ternary_source_close(&source);
    return status;
}

collet_status collet_ternary_file_unpack(collet_context *context, const collet_ternary_file *file,
                                         collet_ternary_output **out, const char *path,
                                         size_t index, uint32_t what,
                                         const collet_ternary_monitor *monitor, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;

    if (!context || !out || !path || !file)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    return ternary_call_end(
        &call, file_unpack(&call, out, path, file, ternary_file_index(index), what), err);
}
