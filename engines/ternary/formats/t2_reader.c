/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/engines/test_io_weight_limits.c,
 * tests/fuzz/fuzz_t2.c */
#include "t2_format.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((uint64_t)4 << 20)

int ternary_t2_recognise(const uint8_t *bytes, uint64_t size)
{
    return size >= 8 && memcmp(bytes, T2_MAGIC, 8) == 0;
}

/* ---- Head and table ------------------------------------------------------------------------ */

static collet_status check_head(const char *path, const t2_head *head, uint64_t size,
                                collet_error *err)
{
    static const uint8_t zeros[sizeof head->zeros];

    if (head->order != T2_ORDER)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: the file has another byte order, or is damaged", path);
    if (head->version != T2_VERSION)
        return collet_fail(err, COLLET_UNSUPPORTED,
                           "%s: .t2 version %u is not supported (version %u is)", path,
                           head->version, T2_VERSION);
    if (head->size != size)
        return collet_fail(
            err, COLLET_FORMAT, "%s: %s: it has %llu bytes, but its header states %llu", path,
            head->size > size ? "the file is truncated" : "the file is too long",
            (unsigned long long)size, (unsigned long long)head->size);
    if (head->zero != 0 || memcmp(head->zeros, zeros, sizeof zeros) != 0 || head->layers < 1 ||
        head->layers > (size - sizeof *head) / sizeof(ternary_t2_layer))
        return collet_fail(err, COLLET_FORMAT, "%s: the file is damaged: its header is invalid",
                           path);
    return COLLET_OK;
}

/* The format determines every offset. So this function computes the offsets of the layers and compares them with the
 * offsets in the table. */
static collet_status read_table(ternary_t2_file *file, const char *path,
                                const ternary_t2_layer *table, collet_error *err)
{
    uint64_t size = io_mapping_size(file->mapping), laid_out;

    memcpy(file->layers, table, file->count * sizeof *table);
    for (uint32_t i = 0; i < file->count; i++)
        if (table[i].rows < 0 || table[i].columns < 0)
            return collet_fail(err, COLLET_OVERFLOW,
                               "%s: layer %u has 2^63 or more rows or columns", path, i);
    collet_status status = ternary_t2_lay_out(path, file->layers, file->count, &laid_out, err);
    for (uint32_t i = 0; i < file->count && status == COLLET_OK; i++)
        if (memcmp(&file->layers[i], &table[i], sizeof *table) != 0)
            status =
                collet_fail(err, COLLET_FORMAT,
                            "%s: the file is damaged: the offsets of layer %u are wrong", path, i);
    if (status == COLLET_OK && laid_out != size)
        status = collet_fail(err, COLLET_FORMAT,
                             "%s: the file is damaged: its layers take %llu bytes, but it has %llu",
                             path, (unsigned long long)laid_out, (unsigned long long)size);
    return status;
}

static collet_status read_file(ternary_t2_file *file, const char *path, collet_error *err)
{
    const uint8_t *bytes = io_mapping_data(file->mapping);
    uint64_t size = io_mapping_size(file->mapping);
    t2_head head;

    if (!ternary_t2_recognise(bytes, size))
        return collet_fail(err, COLLET_FORMAT, "%s: not a .t2 file", path);
    if (size < sizeof head)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is truncated: it ends inside its header", path);
    memcpy(&head, bytes, sizeof head);
    collet_status status = check_head(path, &head, size, err);
    if (status != COLLET_OK)
        return status;
    const ternary_t2_layer *table = (const ternary_t2_layer *)(const void *)(bytes + sizeof head);
    if (head.checksum != t2_head_sum(&head, table))
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is damaged: the checksum of its header differs", path);
    file->count = head.layers;
    file->layers = calloc(head.layers, sizeof *file->layers);
    if (!file->layers)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its %u layers", path,
                           head.layers);
    return read_table(file, path, table, err);
}

collet_status ternary_t2_open(const char *path, ternary_t2_file *out, collet_error *err)
{
    memset(out, 0, sizeof *out);
    collet_status status = io_mapping_open(path, &out->mapping, err);
    if (status == COLLET_OK)
        status = read_file(out, path, err);
    if (status != COLLET_OK)
        ternary_t2_close(out);
    return status;
}

void ternary_t2_close(ternary_t2_file *file)
{
    io_mapping_close(file->mapping);
    free(file->layers);
    memset(file, 0, sizeof *file);
}

/* ---- Data ---------------------------------------------------------------------------------- */

static uint8_t *at(const ternary_t2_file *file, uint64_t offset)
{
    return offset ? io_mapping_data(file->mapping) + offset : NULL;
}

uint8_t *ternary_t2_weights(const ternary_t2_file *file, uint32_t index)
{
    return at(file, file->layers[index].weights_offset);
}

float *ternary_t2_scale(const ternary_t2_file *file, uint32_t index)
{
    return (float *)(void *)at(file, file->layers[index].scale_offset);
}

float *ternary_t2_bias(const ternary_t2_file *file, uint32_t index)
{
    return (float *)(void *)at(file, file->layers[index].bias_offset);
}

/* Adds the bytes to the checksum in chunks, so that a file larger than memory can be checked. Returns 0 if `stop`
 * ended the work. */
static int sum_piece(const ternary_t2_file *file, ternary_t2_sum *sum, uint64_t offset,
                     uint64_t bytes, int (*stop)(void *user), void *user)
{
    for (uint64_t done = 0; offset > 0 && done < bytes; done += CHUNK_BYTES) {
        uint64_t n = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
        if (stop && stop(user))
            return 0;
        ternary_t2_sum_add(sum, at(file, offset + done), n);
        io_mapping_passed(file->mapping, offset + done, n);
    }
    return 1;
}

collet_status ternary_t2_verify(const ternary_t2_file *file, uint32_t index,
                                int (*stop)(void *user), void *user, collet_error *err)
{
    const ternary_t2_layer *layer = &file->layers[index];
    uint64_t floats = (uint64_t)layer->rows * sizeof(float);
    ternary_t2_sum sum;

    ternary_t2_sum_begin(&sum);
    if (!sum_piece(file, &sum, layer->weights_offset, layer->weights_bytes, stop, user) ||
        !sum_piece(file, &sum, layer->scale_offset, floats, stop, user) ||
        !sum_piece(file, &sum, layer->bias_offset, floats, stop, user))
        return collet_fail(err, COLLET_CANCELLED, "cancelled by the caller");
    if (ternary_t2_sum_end(&sum) != layer->checksum)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: the file is damaged: the checksum of layer %u differs",
                           io_mapping_path(file->mapping), index);
    return COLLET_OK;
}
