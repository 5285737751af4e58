/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft_stages.h - how a transform of one length is computed on a device: its stages and their table.
 *
 * A stage is a self-sorting pass (Stockham) of a radix of up to thousands, whose own transform a
 * group computes in local memory by passes of small radices: of as many columns as there is room
 * for, or, on processors, of as many as a vector has numbers. A line that fits there is one stage.
 * Lengths with a prime factor above FFT_PRIME_MAX (cpu/fft_plan.h) are convolved with a chirp
 * (Bluestein): the stages of the convolution's length, twice; on processors as fft_convolution.h
 * says.
 */
#ifndef COLLET_JIT_FFT_STAGES_H
#define COLLET_JIT_FFT_STAGES_H

#include "shared/jit/runtime/launch.h"

#define FFT_STAGES_MAX 12
#define FFT_RADICES_MAX 12

typedef struct fft_stage_plan {
    int64_t radix;  /* of the stage */
    int64_t stride; /* the product of the radices before */
    int32_t passes;
    int32_t small[FFT_RADICES_MAX];
    int64_t roots; /* in the table: exp(-2 pi i k / radix), k < radix */
    /* On processors, where the neighbouring columns t < fft_lanes of the stage turn by different
     * angles: exp(-2 pi i stride t k / inner) for its elements k: for each k, all real parts, then
     * all imaginary ones. */
    int64_t steps;
} fft_stage_plan;

/* A line of a convolution in scratch, and its tables (fft_convolution.h). */
typedef struct fft_rows {
    int64_t length, count; /* of a row: the last radix; of rows */
    int64_t pitch;         /* elements from row to row */
    int64_t chirped;       /* elements of a column that the chirp has; 0: it has one column */
} fft_rows;

/* What length and type say. Places in the table count its pairs {re, im}. */
typedef struct fft_stages {
    int64_t n, inner; /* as in fft_line */
    int64_t real;     /* the length 2 n of real lines whose pairs are transformed; else 0 */
    int32_t wide;     /* f64, else f32 */
    int32_t count;    /* stages of `inner` */
    fft_stage_plan stage[FFT_STAGES_MAX];
    /* exp(-2 pi i e / inner) as coarse[e >> fine_bits] * fine[e & (1 << fine_bits) - 1]; several
     * stages alone have them. */
    int32_t fine_bits;
    int64_t fine, coarse;
    int32_t lanes;           /* fft_lanes; 0: not on processors */
    int64_t halves;          /* exp(-2 pi i k / real), k <= real / 4 */
    int64_t chirp, spectrum; /* as in fft_line; where inner != n */
    fft_rows rows;           /* of a convolution of several stages on processors */
    int64_t pairs;           /* of the table */
} fft_stages;

/* Columns that a processor computes together, a power of two. */
static inline int32_t fft_lanes(int wide)
{
    return wide ? 8 : 16;
}

/* Elements that a group of this device holds in local memory, a power of two; on processors, of
 * each of fft_lanes columns. */
int32_t fft_room(const jit_traits *t, int wide);

/* n >= 1; `halved`: of real lines, n even and without prime factors above FFT_PRIME_MAX. */
void fft_stages_of(fft_stages *s, const jit_traits *t, int64_t n, int wide, int halved);

/* Whether launches convolve as fft_convolution.h says. */
static inline int fft_is_convolved(const fft_stages *s)
{
    return s->lanes && s->inner != s->n;
}

/* The table's bytes, computed in f64 and rounded once; a jit_table_fill of a fft_stages. */
int fft_stages_fill(void *bytes, const void *stages);

#endif
