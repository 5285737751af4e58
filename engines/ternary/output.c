/* SPDX-License-Identifier: Apache-2.0 */
#include "ternary/output.h"

#include "io/npy.h"

#include <stdlib.h>

static collet_status output_new(collet_ternary_output **out, const char *path, collet_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? (collet_status)COLLET_OK
                : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
}

collet_status ternary_output_npy(collet_ternary_output **out, const char *path, collet_dtype dtype,
                                 int64_t rows, int32_t ndim, const int64_t *shape,
                                 collet_error *err)
{
    char head[COLLET_NPY_HEAD];
    size_t length = collet_npy_head(head, dtype, rows, ndim, shape);
    collet_status status = output_new(out, path, err);

    if (status == COLLET_OK)
        status = collet_spool_create(path, COLLET_SPOOL_OUTPUT, &(*out)->spool, err);
    if (status == COLLET_OK)
        status = collet_spool_write((*out)->spool, head, length, err);
    return status;
}

collet_status ternary_output_t2(collet_ternary_output **out, const char *path,
                                collet_t2_layer *layers, uint32_t count, collet_error *err)
{
    uint64_t size;

    collet_status status = collet_t2_lay_out(path, layers, count, &size, err);
    if (status == COLLET_OK)
        status = output_new(out, path, err);
    if (status == COLLET_OK)
        status = collet_t2_writer_create(path, layers, count, size, &(*out)->writer, err);
    if (status == COLLET_OK)
        (*out)->bytes = (int64_t)size;
    return status;
}

collet_status ternary_output_add(collet_ternary_output *output, const void *bytes, uint64_t n,
                                 collet_error *err)
{
    return output->writer ? collet_t2_writer_add(output->writer, bytes, n, err)
                          : collet_spool_write(output->spool, bytes, (size_t)n, err);
}

collet_status ternary_output_finish(collet_ternary_output *output, collet_error *err)
{
    if (output->writer)
        return collet_t2_writer_link(output->writer, err);
    output->bytes = collet_spool_size(output->spool);
    return collet_spool_link(output->spool, err);
}

collet_status ternary_output_end(collet_ternary_output **out, collet_ternary_output *output,
                                 collet_status status, collet_error *err)
{
    if (status == COLLET_OK && output)
        status = ternary_output_finish(output, err);
    if (status == COLLET_OK)
        *out = output;
    else
        collet_ternary_output_free(output);
    return status;
}

collet_status collet_ternary_output_publish(collet_ternary_output *output, collet_error *err)
{
    return output->writer ? collet_t2_writer_rename(output->writer, err)
                          : collet_spool_rename(output->spool, err);
}

void collet_ternary_output_free(collet_ternary_output *output)
{
    if (!output)
        return;
    collet_t2_writer_free(output->writer);
    collet_spool_free(output->spool);
    free(output);
}

int64_t collet_ternary_output_bytes(const collet_ternary_output *output)
{
    return output->bytes;
}

int64_t collet_ternary_output_weights(const collet_ternary_output *output)
{
    return output->weights;
}
