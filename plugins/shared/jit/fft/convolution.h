/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft_convolution.h - on processors, the convolution with a chirp that stands for a transform whose
 * length has a large prime factor (Bluestein).
 *
 * Its columns stay in their places: stage i takes element k of column j to k too, times
 * exp(-2 pi i j k / (columns radix)), and the frequencies come in an order of their own. Going back
 * begins with the last stage, the product with the spectrum between them, all three in one launch
 * and in place; the others turn and transform in the opposite order. So `count` stages are 2 count
 * - 1 launches, and a line in scratch is of rows as long as the last radix, a little apart.
 */
#ifndef COLLET_JIT_FFT_CONVOLUTION_H
#define COLLET_JIT_FFT_CONVOLUTION_H

#include "stages.h"

/*
 * The length, 2^a 3^b 5^c >= least, that costs least, and its radices, of which none exceeds `room`
 * (a power of two >= 4 lanes); several are multiples of `lanes`. The number of stages.
 */
int32_t fft_convolution_of(int64_t least, int64_t room, int32_t lanes, int64_t *inner,
                           int64_t radix[FFT_STAGES_MAX]);

/*
 * The tables of several stages, of the n pairs of the chirp and the `inner` ones of its spectrum in
 * their order: by vectors of `lanes` real parts and `lanes` imaginary ones, the chirp for each
 * `lanes` neighbouring columns of the first stage, elements 0 .. rows.chirped - 1, zeros behind its
 * end; the spectrum for each `lanes` neighbouring rows, its elements.
 */
void fft_convolution_fill(void *bytes, const fft_stages *s, const void *chirp,
                          const void *spectrum);

#endif
