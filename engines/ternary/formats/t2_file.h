/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t2_file.h - Collet's files of packed ternary layers (.t2), version 1.
 *
 * Numbers are in the byte order of the machine that writes, which a byte-order mark records:
 * little-endian on all machines in use. A machine with the other byte order refuses the file. Offsets
 * count from the start of the file.
 *
 *   header, 64 bytes
 *      0  8 bytes  magic: 89 43 4C 54 32 0D 0A 1A (hexadecimal)
 *      8  u32      version, 1
 *     12  u32      byte-order mark 0x01020304
 *     16  u64      size of the file
 *     24  u32      number of layers, at least 1
 *     28  u32      0
 *     32  u64      checksum of header and table, with this field as 0
 *     40  24 bytes 0
 *   table, 128 bytes a layer
 *      0  u32      format of the weights, COLLET_TERNARY_*
 *      4  u32      1: relu, 2: scale present, 4: bias present
 *      8  u64      rows M
 *     16  u64      columns K, below 2^31
 *     24  u32      activations, COLLET_TERNARY_INT8, _TERNARY, _F32 or _INT4
 *     28  f32      threshold of the activations
 *     32  u64      offset of the weights: M rows of collet_ternary_bytes(format, K) bytes
 *     40  u64      bytes of the weights
 *     48  u64      offset of the scale, M f32; 0: absent, every scale is 1; scales in the
 *                  blocks of tq2_0 and tq1_0 are ignored
 *     56  u64      offset of the bias, M f32; 0: absent
 *     64  u64      checksum of weights, scale and bias, one after another
 *     72  56 bytes name, UTF-8 without control characters, padded with at least one NUL
 *
 *   data, for each layer weights, scale, bias; each of these parts begins at the next multiple of 64. The padding
 *   before a part is 0. The file ends with the last part
 *
 * Each layer has as many columns as the layer before it has rows. The checksum of bytes: the bytes are read as u64
 * words; zeros fill up the last word. Four numbers h begin as 0xC0117E70 + 0..3. Word i changes number i mod 4:
 * h = rotate_left((h ^ word) * 0x9E3779B97F4A7C15, 29). The checksum is a fifth number h: it begins as 0, and is
 * changed in the same way by five words, the four numbers and then the number of bytes.
 */
#pragma once

#include <collet/ops/ternary.h>

#include "io/mapping.h"

#define TERNARY_T2_NAME 56 /* bytes of a layer's name with its NUL */
#define TERNARY_T2_RELU 1u
#define TERNARY_T2_SCALE 2u
#define TERNARY_T2_BIAS 4u

/* An entry of the table. */
typedef struct ternary_t2_layer {
    uint32_t format;
    uint32_t flags; /* TERNARY_T2_* */
    int64_t rows, columns;
    uint32_t activations;
    float threshold;
    /* These members, except for the checksum, are computed from the members above. */
    uint64_t weights_offset, weights_bytes;
    uint64_t scale_offset, bias_offset; /* 0: absent */
    uint64_t checksum;
    char name[TERNARY_T2_NAME];
} ternary_t2_layer;

_Static_assert(sizeof(ternary_t2_layer) == 128, "the table has no padding");

/* Checks the layers, computes their offsets, clears the bytes after the end of their names, and
 * sets *size to the size of the file. SHAPE if the rows of a layer differ from the columns of the
 * next; INVALID, OVERFLOW. The text of an error begins with `path`. */
collet_status ternary_t2_lay_out(const char *path, ternary_t2_layer *layers, uint32_t count,
                                 uint64_t *size, collet_error *err);

/* ---- Checksums ----------------------------------------------------------------------------- */

typedef struct ternary_t2_sum {
    uint64_t lanes[4];
    uint64_t bytes;
    uint8_t rest[32]; /* the last bytes % 32 bytes, not yet in a lane */
} ternary_t2_sum;

void ternary_t2_sum_begin(ternary_t2_sum *sum);
void ternary_t2_sum_add(ternary_t2_sum *sum, const void *bytes, uint64_t n);
uint64_t ternary_t2_sum_end(ternary_t2_sum *sum);

/* ---- Reading ------------------------------------------------------------------------------- */

typedef struct ternary_t2_file {
    io_mapping *mapping;
    ternary_t2_layer *layers;
    uint32_t count;
} ternary_t2_file;

int ternary_t2_recognise(const uint8_t *bytes, uint64_t size);

/* Opens a file and checks everything except the layers' data. COLLET_IO, NO_MEMORY, FORMAT, UNSUPPORTED (another
 * version or byte order), INVALID, OVERFLOW, SHAPE. The text names the file. */
collet_status ternary_t2_open(const char *path, ternary_t2_file *out, collet_error *err);
/* A zeroed struct is allowed. */
void ternary_t2_close(ternary_t2_file *file);

/* Reads all data of layer `index`: COLLET_FORMAT if its checksum differs. Calls `stop`, which may
 * be NULL, every few megabytes: COLLET_CANCELLED if it does not return 0. */
collet_status ternary_t2_verify(const ternary_t2_file *file, uint32_t index,
                                int (*stop)(void *user), void *user, collet_error *err);

/* Returns the data of a layer in the mapping; NULL if scale or bias is absent. */
uint8_t *ternary_t2_weights(const ternary_t2_file *file, uint32_t index);
float *ternary_t2_scale(const ternary_t2_file *file, uint32_t index);
float *ternary_t2_bias(const ternary_t2_file *file, uint32_t index);
