/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - how a transform of one length is computed on a device: its stages and their table.
 *
 * A stage is a self-sorting pass (Stockham) of a radix of up to thousands. A group computes the
 * transforms of its radix in local memory, by passes of small radices, of as many columns as fit.
 * A line that fits is one stage. A length with a prime factor above FFT_PRIME_MAX
 * (shared/host/fft/plan.h) is convolved with a chirp (Bluestein): the stages of the convolution's
 * length, twice.
 */
#ifndef COLLET_JIT_FFT_STAGES_H
#define COLLET_JIT_FFT_STAGES_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/types.h"

#include "stage_params.h"

#define FFT_STAGES_MAX 12

typedef struct fft_stage_plan {
    int64_t radix;  /* of the stage */
    int64_t stride; /* the product of the radices before */
    int32_t passes;
    int32_t small[FFT_RADICES];
    int64_t roots; /* in the table: exp(-2 pi i k / radix), k < radix */
} fft_stage_plan;

/* What length and type say. Places in the table count its pairs {re, im}. */
typedef struct fft_stages {
    int64_t n, inner; /* as in fft_line */
    int32_t wide;     /* f64, else f32 */
    int32_t count;    /* stages of `inner` */
    fft_stage_plan stage[FFT_STAGES_MAX];
    /* exp(-2 pi i e / inner) as coarse[e >> fine_bits] * fine[e & (1 << fine_bits) - 1]; only where
     * there are several stages. */
    int32_t fine_bits;
    int64_t fine, coarse;
    int64_t chirp, spectrum; /* as in fft_line; where inner != n */
    int64_t pairs;           /* of the table */
} fft_stages;

/* Elements that a group of this device holds in local memory, a power of two. */
int32_t fft_room(const jit_traits *t, int wide);

/* n >= 1 */
void fft_stages_of(fft_stages *s, const jit_traits *t, int64_t n, int wide);

/* The table's bytes, computed in f64 and rounded once; a jit_table_fill of a fft_stages. */
int fft_stages_fill(void *bytes, const void *stages);

#endif
