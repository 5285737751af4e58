/* SPDX-License-Identifier: Apache-2.0 */
#include "io/spool.h"
#include "t2_format.h"

#include <stdlib.h>
#include <string.h>

#define PIECES 3u /* of a layer: weights, scale, bias */

struct collet_t2_writer {
    collet_spool *spool;
    collet_t2_layer *layers;
    uint32_t count;
    uint64_t size;
    uint64_t piece; /* PIECES * layer + which of its pieces */
    uint64_t done;  /* bytes of it */
    collet_t2_sum sum;
};

static uint64_t piece_bytes(const collet_t2_writer *w, uint64_t piece)
{
    const collet_t2_layer *layer = &w->layers[piece / PIECES];
    uint64_t floats = (uint64_t)layer->rows * sizeof(float);

    switch (piece % PIECES) {
    case 0:
        return layer->weights_bytes;
    case 1:
        return layer->scale_offset ? floats : 0;
    default:
        return layer->bias_offset ? floats : 0;
    }
}

/* Skips complete pieces, so that `piece` is the first incomplete one, or the end. */
static void advance(collet_t2_writer *w)
{
    while (w->piece < PIECES * (uint64_t)w->count && w->done == piece_bytes(w, w->piece)) {
        w->done = 0;
        w->piece++;
        if (w->piece % PIECES == 0) {
            w->layers[w->piece / PIECES - 1].checksum = collet_t2_sum_end(&w->sum);
            collet_t2_sum_begin(&w->sum);
        }
    }
}

collet_status collet_t2_writer_create(const char *path, const collet_t2_layer *layers,
                                      uint32_t count, uint64_t size, collet_t2_writer **out,
                                      collet_error *err)
{
    *out = NULL;
    collet_t2_writer *w = calloc(1, sizeof *w);
    if (w)
        w->layers = calloc(count, sizeof *w->layers);
    if (!w || !w->layers) {
        collet_t2_writer_free(w);
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
    }
    memcpy(w->layers, layers, count * sizeof *layers);
    w->count = count;
    w->size = size;
    collet_t2_sum_begin(&w->sum);
    collet_status status = collet_spool_create(path, COLLET_SPOOL_OUTPUT, &w->spool, err);
    if (status != COLLET_OK) {
        collet_t2_writer_free(w);
        return status;
    }
    *out = w;
    return COLLET_OK;
}

void collet_t2_writer_free(collet_t2_writer *w)
{
    if (!w)
        return;
    collet_spool_free(w->spool);
    free(w->layers);
    free(w);
}

/* Writes zeros up to `offset`; before the first piece header and table replace them later. */
static collet_status fill(collet_t2_writer *w, uint64_t offset, collet_error *err)
{
    static const uint8_t zeros[4096];
    collet_status status = COLLET_OK;

    while (status == COLLET_OK && (uint64_t)collet_spool_position(w->spool) < offset) {
        uint64_t missing = offset - (uint64_t)collet_spool_position(w->spool);
        status = collet_spool_write(w->spool, zeros,
                                    missing < sizeof zeros ? (size_t)missing : sizeof zeros, err);
    }
    return status;
}

collet_status collet_t2_writer_add(collet_t2_writer *w, const void *bytes, uint64_t n,
                                   collet_error *err)
{
    uint64_t last = PIECES * (uint64_t)w->count;

    if (n == 0)
        return COLLET_OK;
    if (w->piece == last || n > piece_bytes(w, w->piece) - w->done)
        return collet_fail(err, COLLET_INVALID, "%s: more data than were laid out",
                           collet_spool_path(w->spool));
    const collet_t2_layer *layer = &w->layers[w->piece / PIECES];
    const uint64_t offsets[PIECES] = {layer->weights_offset, layer->scale_offset,
                                      layer->bias_offset};
    collet_status status =
        w->done == 0 ? fill(w, offsets[w->piece % PIECES], err) : (collet_status)COLLET_OK;
    if (status == COLLET_OK)
        status = collet_spool_write(w->spool, bytes, (size_t)n, err);
    if (status != COLLET_OK)
        return status;
    collet_t2_sum_add(&w->sum, bytes, n);
    w->done += n;
    advance(w);
    return COLLET_OK;
}

static collet_status write_head(collet_t2_writer *w, collet_error *err)
{
    size_t table_bytes = w->count * sizeof(t2_entry);
    t2_entry *table = malloc(table_bytes);
    t2_head head = {.version = T2_VERSION, .order = T2_ORDER, .size = w->size, .layers = w->count};

    if (!table)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write its table",
                           collet_spool_path(w->spool));
    memcpy(head.magic, T2_MAGIC, sizeof head.magic);
    for (uint32_t i = 0; i < w->count; i++)
        t2_entry_of(&w->layers[i], &table[i]);
    head.checksum = t2_head_sum(&head, table, table_bytes);
    collet_status status = collet_spool_seek(w->spool, 0, err);
    if (status == COLLET_OK)
        status = collet_spool_write(w->spool, &head, sizeof head, err);
    if (status == COLLET_OK)
        status = collet_spool_write(w->spool, table, table_bytes, err);
    free(table);
    return status;
}

collet_status collet_t2_writer_link(collet_t2_writer *w, collet_error *err)
{
    if (w->piece != PIECES * (uint64_t)w->count)
        return collet_fail(err, COLLET_INVALID, "%s: fewer data than were laid out",
                           collet_spool_path(w->spool));
    collet_status status = write_head(w, err);
    return status == COLLET_OK ? collet_spool_link(w->spool, err) : status;
}

collet_status collet_t2_writer_rename(collet_t2_writer *w, collet_error *err)
{
    return collet_spool_rename(w->spool, err);
}
