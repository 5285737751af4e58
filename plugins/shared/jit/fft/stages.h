/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - how a transform of one length is computed on a device: its stages and their table.
 *
 * A stage is a self-sorting pass (Stockham) with a radix of up to a few thousand. A group computes the
 * transforms of as many columns as fit into local memory, by passes of small radices. A line that fits needs
 * one stage. A length with a prime factor above FFT_PRIME_MAX (shared/host/fft/plan.h) uses Bluestein's
 * algorithm, which runs the stages for the length of the convolution twice.
 */
#pragma once

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/types.h"

#include "stage_params.h"

#define FFT_STAGES_MAX 12

typedef struct fft_stage_plan {
    int64_t radix;  /* the length of the stage's transforms */
    int64_t stride; /* the product of the radices of earlier stages */
    int32_t passes;
    int32_t small[FFT_RADICES];
    int64_t roots; /* offset in the table: exp(-2 pi i k / radix), k < radix */
} fft_stage_plan;

/* The plan for a length and type. Offsets in the table count its pairs {re, im}. */
typedef struct fft_stages {
    int64_t n, inner; /* as in fft_line */
    int32_t wide;     /* f64, else f32 */
    int32_t count;    /* stages for length `inner` */
    fft_stage_plan stage[FFT_STAGES_MAX];
    /* exp(-2 pi i e / inner) is coarse[e >> fine_bits] * fine[e & (1 << fine_bits) - 1]. Only if there are several
     * stages. */
    int32_t fine_bits;
    int64_t fine, coarse;
    int64_t chirp, spectrum; /* offsets of the tables of fft_line; only if inner != n */
    int64_t pairs;           /* size of the table */
} fft_stages;

/* Elements that a group holds in local memory on this device, a power of two. */
int32_t fft_capacity(const jit_traits *t, int wide);

/* n >= 1 */
void fft_stages_of(fft_stages *s, const jit_traits *t, int64_t n, int wide);

/* Fills the table, computed in f64 and rounded once. A jit_table_fill whose argument is an fft_stages. */
int fft_stages_fill(void *bytes, const void *stages);
