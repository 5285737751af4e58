/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft_stage.h - what a launch of the kernels of fft has as its last argument: the `stage` of
 * fft_stage.dev, where its fields and flags are explained.
 */
#ifndef COLLET_JIT_FFT_STAGE_H
#define COLLET_JIT_FFT_STAGE_H

#include "stages.h"

typedef struct fft_stage {
    int64_t lines, first;
    int64_t columns, all_columns;
    int64_t stride;
    int64_t in_step, out_step;
    int64_t in_line, out_line;
    int64_t in_length, out_length;
    int64_t n;
    int64_t roots, fine, coarse, steps, halves, chirp, spectrum;
    int64_t extent[7], in_other[7], out_other[7];
    int32_t outer, fine_bits;
    int32_t radix, tile_bits;
    int32_t flags, passes;
    int32_t small[FFT_RADICES_MAX];
    int64_t tiles, each, run;
    int64_t in_lane, out_lane;
    int64_t in_ahead, out_ahead;
    int64_t in_part, out_part;
    int64_t in_row, out_row;
    int64_t in_run, out_run, in_block, out_block;
    int64_t skip, chirped, spectra;
    int32_t in_unit, out_unit;
    int32_t in_rows, out_rows;
    int32_t buffer[2];
} fft_stage;

enum {
    LINES_FIRST = 1,
    IN_ALONG = 2,
    OUT_ALONG = 4,
    IN_REAL = 8,
    IN_HALF = 16,
    IN_SWAPPED = 32,
    IN_CHIRP = 64,
    OUT_TURNED = 128,
    OUT_SPECTRUM = 256,
    OUT_CHIRP = 512,
    OUT_SWAPPED = 1024,
    OUT_REAL = 2048,
    IN_PLAIN = 4096,
    OUT_PLAIN = 8192,
    OF_COLUMNS = 16384,
    OUT_SPLIT = 32768,
    IN_JOINED = 65536,
    IN_TURNED = 131072,
    IN_PLACE = 262144,
    CONVOLVED = 524288
};

#endif
