/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_files.c, tests/engines/test_io_weights.c */
#include "ternary/output.h"

#include "io/npy.h"
#include "io/spool.h"
#include "ternary/formats/t2_format.h"

#include <stdlib.h>
#include <string.h>

#define PIECES 3u /* pieces of a layer: weights, scale, bias */

struct collet_ternary_output {
    io_spool *spool;
    int64_t bytes, weights;
    /* The following are for .t2 files only. */
    ternary_t2_layer *layers; /* NULL: an .npy file */
    uint32_t count;
    uint64_t
        piece;     /* first incomplete piece: PIECES * layer + piece; PIECES * count: none */
    uint64_t done; /* bytes of this piece that are written */
    ternary_t2_sum sum;
};

/* ---- Creation -------------------------------------------------------------------------------- */

static collet_status output_new(collet_ternary_output **out, const char *path, collet_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? io_spool_create(path, IO_SPOOL_OUTPUT, &(*out)->spool, err)
                : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
}

collet_status ternary_output_npy(collet_ternary_output **out, const char *path, collet_dtype dtype,
                                 int64_t rows, int32_t ndim, const int64_t *shape,
                                 collet_error *err)
{
    char head[IO_NPY_HEAD];
    size_t length = io_npy_head(head, dtype, rows, ndim, shape);
    collet_status status = output_new(out, path, err);

    return status == COLLET_OK ? io_spool_write((*out)->spool, head, length, err) : status;
}

collet_status ternary_output_t2(collet_ternary_output **out, const char *path,
                                ternary_t2_layer *layers, uint32_t count, int64_t weights,
                                collet_error *err)
{
    uint64_t size;
    collet_status status = ternary_t2_lay_out(path, layers, count, &size, err);

    if (status == COLLET_OK)
        status = output_new(out, path, err);
    if (status != COLLET_OK)
        return status;
    collet_ternary_output *o = *out;
    o->layers = malloc(count * sizeof *layers);
    if (!o->layers)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
    memcpy(o->layers, layers, count * sizeof *layers);
    o->count = count;
    o->bytes = (int64_t)size;
    o->weights = weights;
    ternary_t2_sum_begin(&o->sum);
    return COLLET_OK;
}

void collet_ternary_output_destroy(collet_ternary_output *output)
{
    if (!output)
        return;
    io_spool_free(output->spool);
    free(output->layers);
    free(output);
}

/* ---- Layers of a .t2 file -------------------------------------------------------------------- */

static uint64_t piece_bytes(const collet_ternary_output *o)
{
    const ternary_t2_layer *layer = &o->layers[o->piece / PIECES];
    const uint64_t offsets[PIECES] = {0, layer->scale_offset, layer->bias_offset};

    if (o->piece % PIECES == 0)
        return layer->weights_bytes;
    return offsets[o->piece % PIECES] ? (uint64_t)layer->rows * sizeof(float) : 0;
}

/* Skips complete pieces. */
static void advance(collet_ternary_output *o)
{
    while (o->piece < PIECES * (uint64_t)o->count && o->done == piece_bytes(o)) {
        o->done = 0;
        o->piece++;
        if (o->piece % PIECES == 0) {
            o->layers[o->piece / PIECES - 1].checksum = ternary_t2_sum_end(&o->sum);
            ternary_t2_sum_begin(&o->sum);
        }
    }
}

/* Writes zeros up to the start of the piece. Header and table later replace the zeros before the first piece. */
static collet_status pad(collet_ternary_output *o, collet_error *err)
{
    static const uint8_t zeros[4096];
    const ternary_t2_layer *layer = &o->layers[o->piece / PIECES];
    const uint64_t offsets[PIECES] = {layer->weights_offset, layer->scale_offset,
                                      layer->bias_offset};
    uint64_t missing;
    collet_status status = COLLET_OK;

    while (status == COLLET_OK &&
           (missing = offsets[o->piece % PIECES] - (uint64_t)io_spool_position(o->spool)) > 0)
        status = io_spool_write(o->spool, zeros,
                                missing < sizeof zeros ? (size_t)missing : sizeof zeros, err);
    return status;
}

collet_status ternary_output_add(collet_ternary_output *o, const void *bytes, uint64_t n,
                                 collet_error *err)
{
    collet_status status = COLLET_OK;

    if (!o->layers)
        return io_spool_write(o->spool, bytes, (size_t)n, err);
    if (n > 0 && (o->piece == PIECES * (uint64_t)o->count || n > piece_bytes(o) - o->done))
        return collet_fail(err, COLLET_INVALID, "%s: more data than announced",
                           io_spool_path(o->spool));
    if (n > 0 && o->done == 0)
        status = pad(o, err);
    if (status == COLLET_OK)
        status = io_spool_write(o->spool, bytes, (size_t)n, err);
    if (status != COLLET_OK)
        return status;
    ternary_t2_sum_add(&o->sum, bytes, n);
    o->done += n;
    advance(o);
    return COLLET_OK;
}

static collet_status write_head(collet_ternary_output *o, collet_error *err)
{
    t2_head head = {
        .version = T2_VERSION, .order = T2_ORDER, .size = (uint64_t)o->bytes, .layers = o->count};

    if (o->piece != PIECES * (uint64_t)o->count)
        return collet_fail(err, COLLET_INVALID, "%s: less data than announced",
                           io_spool_path(o->spool));
    memcpy(head.magic, T2_MAGIC, sizeof head.magic);
    head.checksum = t2_head_sum(&head, o->layers);
    collet_status status = io_spool_seek(o->spool, 0, err);
    if (status == COLLET_OK)
        status = io_spool_write(o->spool, &head, sizeof head, err);
    if (status == COLLET_OK)
        status = io_spool_write(o->spool, o->layers, o->count * sizeof *o->layers, err);
    return status;
}

/* ---- Completion ------------------------------------------------------------------------------ */

collet_status ternary_output_end(collet_ternary_output **out, collet_ternary_output *output,
                                 collet_status status, collet_error *err)
{
    if (status == COLLET_OK && output) {
        if (output->layers)
            status = write_head(output, err);
        else
            output->bytes = io_spool_size(output->spool);
        if (status == COLLET_OK)
            status = io_spool_link(output->spool, err);
    }
    if (status == COLLET_OK)
        *out = output;
    else
        collet_ternary_output_destroy(output);
    return status;
}

collet_status collet_ternary_output_publish(collet_ternary_output *output, int32_t replace,
                                            collet_error *err)
{
    collet_status status = io_spool_rename(output->spool, replace, err);

    return status == COLLET_OK ? io_spool_sync(output->spool, err) : status;
}

uint64_t collet_ternary_output_bytes(const collet_ternary_output *output)
{
    return (uint64_t)output->bytes;
}

int64_t collet_ternary_output_weights(const collet_ternary_output *output)
{
    return output->weights;
}
