/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - how a transform of one length is computed: factors, twiddle factors, and for lengths
 * with large prime factors the convolution that replaces it.
 *
 * Lengths whose prime factors are at most FFT_PRIME_MAX use self-sorting passes (Stockham), decimation in
 * frequency. Other lengths use Bluestein's chirp transform (Rabiner, Schafer and Rader 1969), a cyclic
 * convolution of a length >= 2 n - 1 with small prime factors. Real transforms of even length use a complex
 * transform of half the length. Tables are computed in double and rounded once.
 */
#pragma once

#include <stdint.h>

#define FFT_PRIME_MAX 61
#define FFT_PASSES_MAX 64

/* The parameters that depend only on the length; no tables. */
typedef struct fft_form {
    int64_t n;
    int64_t inner; /* n, or the length of the convolution */
    int32_t passes;
    int32_t radix[FFT_PASSES_MAX]; /* factors of `inner`: 2, 4, 8, 16 or an odd prime */
} fft_form;

/* n >= 1. */
fft_form fft_form_of(int64_t n);

/* exp(-2 pi i k / n), 0 <= k < n. */
void fft_root(int64_t k, int64_t n, double root[2]);

/* A complex forward transform of one length. Tables are pairs {re, im} of f64 (wide) or f32. */
typedef struct fft_line {
    fft_form form;
    int32_t wide;
    /* Pass i, of length c and stride s (c s = inner): exp(-2 pi i p k / c) for p = 1 .. c / r - 1
     * and k = 1 .. r - 1, k fastest, from pair twiddle_at[i] on. */
    void *twiddle;
    int64_t twiddle_at[FFT_PASSES_MAX];
    /* Odd radices: {cos, sin} of 2 pi k / r, k < r, from pair root_at[i] on. */
    void *root;
    int64_t root_at[FFT_PASSES_MAX];
    void *chirp;    /* exp(-pi i j^2 / n), j < n; NULL unless inner != n */
    void *spectrum; /* transform, of length `inner`, of the conjugate chirp; NULL unless inner != n */
    uint64_t bytes;
} fft_line;

/* Returns 0 if out of memory; then nothing has to be freed. If `whole` is 0, the tables of the passes are not made,
 * because the caller has its own tables. */
int fft_line_make(fft_line *line, int64_t n, int wide, int whole);
/* Makes only the chirp and the spectrum, for a convolution of `inner` numbers; inner >= 2 n - 1 has only prime factors
 * up to FFT_PRIME_MAX and is not n. Returns 0 if out of memory, like fft_line_make. */
int fft_line_make_chirp(fft_line *line, int64_t n, int64_t inner, int wide);
void fft_line_clear(fft_line *line);

/* A transform along one axis: complex, or between n real numbers and the half spectrum. */
typedef struct fft_axis {
    int64_t n;
    int32_t real;  /* one side is real */
    fft_line line; /* its length is n, or n / 2 if the axis is real and n is even */
    void *half;    /* if real and n is even: exp(-2 pi i k / n), 0 <= k <= n / 4, in the type of the line's tables */
    uint64_t bytes;
} fft_axis;

/* 1 if a real axis is computed by a complex line of half its length. */
static inline int fft_is_halved(int64_t n, int real)
{
    return real && n % 2 == 0;
}

int fft_axis_make(fft_axis *axis, int64_t n, int real, int wide, int whole);
void fft_axis_clear(fft_axis *axis);

/* A transform has two buffers; returns the number of complex numbers in each. `length`: elements of
 * the complex line. `inner`: length of the transforms that compute it. */
static inline int64_t fft_pairs(int64_t length, int64_t inner)
{
    return inner > length + 1 ? inner : length + 1;
}

/* The same for an axis. */
int64_t fft_axis_pairs(int64_t n, int real);
