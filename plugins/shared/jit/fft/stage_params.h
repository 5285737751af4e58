/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a launch of fft_stage (fft.dev). */
#ifndef COLLET_JIT_FFT_STAGE_PARAMS_H
#define COLLET_JIT_FFT_STAGE_PARAMS_H

#define FFT_TILE 128   /* maximum columns per group */
#define FFT_OUTER 7    /* maximum number of axes other than the axis of the line */
#define FFT_RADICES 12 /* maximum passes per stage */

typedef struct fft_stage_params {
    i64 lines, first;          /* lines of this launch; the number of its first line */
    i64 columns, all_columns;  /* columns of a line; columns of all lines of the launch */
    i64 stride;                /* the product of the radices of earlier stages */
    i64 in_step, out_step;     /* stride along the line, in elements */
    i64 in_line, out_line;     /* stride between lines of the launch; 0: given by `extent` */
    i64 in_length, out_length; /* elements of a line that exist in memory */
    i64 n;                     /* half spectra: the length of the line */
    i64 roots, fine, coarse, chirp, spectrum; /* offsets in the table (fft.c) */
    i64 extent[FFT_OUTER], in_other[FFT_OUTER], out_other[FFT_OUTER];
    i32 outer, fine_bits;
    i32 radix, tile_bits; /* a group has 1 << tile_bits columns */
    i32 flags, passes;
    i32 small[FFT_RADICES]; /* the radices of the passes */
} fft_stage_params;

/* Flags. */
#define LINES_FIRST 1 /* adjacent columns belong to adjacent lines */
#define IN_ALONG 2    /* adjacent items read adjacent elements of a column */
#define OUT_ALONG 4
#define IN_REAL 8
#define IN_HALF 16
#define IN_SWAPPED 32 /* swaps real and imaginary parts, for an inverse transform */
#define IN_CHIRP 64
#define OUT_TURNED 128 /* multiplies by the twiddle factors of the stage */
#define OUT_SPECTRUM 256
#define OUT_CHIRP 512
#define OUT_SWAPPED 1024
#define OUT_REAL 2048
/* All elements of the line exist in memory, and reading or writing changes them at most by a swap of their parts. */
#define IN_PLAIN 4096
#define OUT_PLAIN 8192

#endif
