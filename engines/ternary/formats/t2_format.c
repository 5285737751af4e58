/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/engines/test_io_weight_limits.c,
 * tests/fuzz/fuzz_t2.c */
#include <collet/ops/ternary.h>

#include "t2_format.h"

#include "io/utf8.h"

#include <math.h>
#include <string.h>

/* ---- Checksums ----------------------------------------------------------------------------- */

/* Mixes a word into h. With the same word, different h give different results; with the same h, different words give
 * different results. So a change of a single word always changes the checksum. */
static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return h << 29 | h >> 35;
}

static void mix_block(uint64_t lanes[4], const uint8_t *bytes)
{
    uint64_t words[4];

    memcpy(words, bytes, sizeof words);
    for (int i = 0; i < 4; i++)
        lanes[i] = mix(lanes[i], words[i]);
}

void ternary_t2_sum_begin(ternary_t2_sum *sum)
{
    for (uint64_t i = 0; i < 4; i++)
        sum->lanes[i] = UINT64_C(0xC0117E70) + i;
    sum->bytes = 0;
}

void ternary_t2_sum_add(ternary_t2_sum *sum, const void *bytes, uint64_t n)
{
    const uint8_t *from = bytes;
    uint64_t lanes[4], held = sum->bytes % 32;

    sum->bytes += n;
    if (held > 0) {
        uint64_t more = n < 32 - held ? n : 32 - held;
        memcpy(sum->rest + held, from, more);
        from += more;
        n -= more;
        if (held + more < 32)
            return;
        mix_block(sum->lanes, sum->rest);
    }
    memcpy(lanes, sum->lanes, sizeof lanes);
    for (; n >= 32; from += 32, n -= 32)
        mix_block(lanes, from);
    memcpy(sum->lanes, lanes, sizeof lanes);
    if (n > 0)
        memcpy(sum->rest, from, n);
}

uint64_t ternary_t2_sum_end(ternary_t2_sum *sum)
{
    uint64_t held = sum->bytes % 32, h = 0;

    for (uint64_t i = 0; i * 8 < held; i++) {
        uint64_t word = 0;
        memcpy(&word, sum->rest + i * 8, held - i * 8 < 8 ? held - i * 8 : 8);
        sum->lanes[i] = mix(sum->lanes[i], word);
    }
    for (int i = 0; i < 4; i++)
        h = mix(h, sum->lanes[i]);
    return mix(h, sum->bytes);
}

uint64_t t2_head_sum(const t2_head *head, const ternary_t2_layer *table)
{
    t2_head copy = *head;
    ternary_t2_sum sum;

    copy.checksum = 0;
    ternary_t2_sum_begin(&sum);
    ternary_t2_sum_add(&sum, &copy, sizeof copy);
    ternary_t2_sum_add(&sum, table, head->layers * sizeof *table);
    return ternary_t2_sum_end(&sum);
}

/* ---- Layout -------------------------------------------------------------------------------- */

static collet_status check_name(const char *path, ternary_t2_layer *layer, uint32_t index,
                                collet_error *err)
{
    size_t length = strnlen(layer->name, TERNARY_T2_NAME);

    if (length == TERNARY_T2_NAME)
        return collet_fail(err, COLLET_INVALID, "%s: the name of layer %u has no terminating NUL",
                           path, index);
    for (size_t at = 0; at < length;) {
        size_t n = io_utf8_character(layer->name + at, length - at);
        if (n == 0)
            return collet_fail(err, COLLET_INVALID,
                               "%s: the name of layer %u is not UTF-8, or has a control or "
                               "hidden character",
                               path, index);
        at += n;
    }
    memset(layer->name + length, 0, TERNARY_T2_NAME - length);
    return COLLET_OK;
}

static collet_status check_layer(const char *path, ternary_t2_layer *layer, uint32_t index,
                                 collet_error *err)
{
    if (layer->rows < 1 || layer->columns < 1 || layer->columns > INT32_MAX)
        return collet_fail(
            err, COLLET_INVALID,
            "%s: layer %u has %lld x %lld weights; rows must be 1 or more, columns 1 to 2^31 - 1",
            path, index, (long long)layer->rows, (long long)layer->columns);
    if (layer->format >= COLLET_TERNARY_FORMATS ||
        (layer->flags & ~(TERNARY_T2_RELU | TERNARY_T2_SCALE | TERNARY_T2_BIAS)) ||
        layer->activations > COLLET_TERNARY_INT4)
        return collet_fail(
            err, COLLET_INVALID,
            "%s: layer %u has a format (%u), flags (%u) or activations (%u) that are not known",
            path, index, layer->format, layer->flags, layer->activations);
    if (!isfinite(layer->threshold) || layer->threshold < 0 ||
        (layer->threshold > 0 && layer->activations != COLLET_TERNARY_TERNARY))
        return collet_fail(
            err, COLLET_INVALID,
            "%s: layer %u has the threshold %g, which is not allowed for its activations", path,
            index, (double)layer->threshold);
    return check_name(path, layer, index, err);
}

/* Sets *offset to the next multiple of the alignment and adds `bytes`; 0: more than 64 bits. */
static int place(uint64_t *end, uint64_t bytes, uint64_t *offset)
{
    if (__builtin_add_overflow(*end, T2_ALIGNMENT - 1, end))
        return 0;
    *offset = *end / T2_ALIGNMENT * T2_ALIGNMENT;
    return !__builtin_add_overflow(*offset, bytes, end) && *end <= INT64_MAX;
}

static int place_layer(ternary_t2_layer *layer, int64_t row_bytes, uint64_t *end)
{
    uint64_t floats;

    layer->scale_offset = layer->bias_offset = 0;
    return !__builtin_mul_overflow(layer->rows, row_bytes, &layer->weights_bytes) &&
           !__builtin_mul_overflow((uint64_t)layer->rows, sizeof(float), &floats) &&
           place(end, layer->weights_bytes, &layer->weights_offset) &&
           (!(layer->flags & TERNARY_T2_SCALE) || place(end, floats, &layer->scale_offset)) &&
           (!(layer->flags & TERNARY_T2_BIAS) || place(end, floats, &layer->bias_offset));
}

collet_status ternary_t2_lay_out(const char *path, ternary_t2_layer *layers, uint32_t count,
                                 uint64_t *size, collet_error *err)
{
    uint64_t end = sizeof(t2_head) + (uint64_t)count * sizeof *layers;

    if (count < 1)
        return collet_fail(err, COLLET_INVALID, "%s: a .t2 file needs at least one layer", path);
    for (uint32_t i = 0; i < count; i++) {
        ternary_t2_layer *layer = &layers[i];
        collet_status status = check_layer(path, layer, i, err);
        if (status != COLLET_OK)
            return status;
        if (i > 0 && layer->columns != layers[i - 1].rows)
            return collet_fail(
                err, COLLET_SHAPE,
                "%s: layer %u has %lld columns, but layer %u before it has %lld rows", path, i,
                (long long)layer->columns, i - 1, (long long)layers[i - 1].rows);
        int64_t bytes = collet_ternary_bytes(layer->format, layer->columns);
        if (bytes < 0)
            return collet_fail(err, COLLET_SHAPE,
                               "%s: layer %u has %lld columns; tq2_0 and tq1_0 need a multiple of "
                               "256",
                               path, i, (long long)layer->columns);
        if (!place_layer(layer, bytes, &end))
            return collet_fail(err, COLLET_OVERFLOW,
                               "%s: layer %u of %lld x %lld weights ends beyond 2^63 bytes", path,
                               i, (long long)layer->rows, (long long)layer->columns);
    }
    *size = end;
    return COLLET_OK;
}
