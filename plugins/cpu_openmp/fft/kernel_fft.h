/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_fft.h - Fourier transforms: of several lines, one per vector lane; of a single short line; and the two steps
 * of a long line that is split into rows and columns. */
#pragma once

#include <stdint.h>

#include "shared/host/fft/group.h"

/*
 * A line of n = rows * columns elements as a matrix; element j is in row j / columns. First each column
 * is transformed, and its element k is multiplied by exp(-2 pi i column k / n). Then each row is
 * transformed: element k' of row k is output k + rows k' (Gentleman and Sande 1966; Bailey 1990).
 */
typedef struct fft_split {
    int64_t n, rows, columns;
    fft_line column_line, row_line; /* lines of `rows` and of `columns` elements */
    /* Element k of column lanes * g + l has the factor start[g][k] * step[k][l]. start[g][k] is a
     * complex number; step[k] is a vector of real parts and a vector of imaginary parts. */
    void *start, *step;
    uint64_t bytes;
} fft_split;

/* How the numbers of a long line are read and written. */
typedef struct fft_ends {
    int32_t real_in, real_out;           /* 1: memory has no imaginary parts */
    int32_t exchanged_in, exchanged_out; /* inverse: real and imaginary parts are exchanged */
    double scale;
} fft_ends;

/* Elements of one line in memory: at + j * step, the imaginary part `part` bytes later. */
typedef struct fft_span {
    char *at;
    int64_t step, part;
} fft_span;

/* The functions for one dtype. */
typedef struct fft_functions {
    int32_t lanes;
    /* Transforms a group of lines; a and b hold fft_axis_pairs pairs of vectors each. */
    void (*group)(const fft_group *g, void *a, void *b);
    /* Transforms one line, without vectors; a and b hold pairs of numbers. */
    void (*single)(const fft_group *g, void *a, void *b);
    /* Transforms the columns first .. first + lanes - 1, as far as they exist, from `in` to `work`. `work` holds
     * round_up(rows, lanes) * columns pairs. `first` is a multiple of lanes. a, b: `rows` pairs of
     * vectors each. */
    void (*columns)(const fft_split *s, const fft_ends *e, const fft_span *in, int64_t first,
                    void *work, void *a, void *b);
    /* Transforms rows first .. first + lanes - 1 of `work` to `out`; overwrites `work`. b: `columns` pairs. */
    void (*rows)(const fft_split *s, const fft_ends *e, const fft_span *out, int64_t first,
                 void *work, void *b);
    /* Each function computes elements begin .. end-1 of a line z of pairs {re, im}.
     * load      reads z from a view; `mirrored`: the view holds the half spectrum of n elements
     * store     writes z to a view
     * chirp     multiplies z by l->chirp; elements beyond the chirp become 0
     * spectrum  multiplies z by l->spectrum, then exchanges real and imaginary parts
     * unchirp   exchanges real and imaginary parts, then multiplies z by l->chirp */
    void (*load)(void *z, const fft_span *in, int64_t n, int32_t real, int32_t exchanged,
                 int32_t mirrored, int64_t begin, int64_t end);
    void (*store)(const fft_span *out, const void *z, int32_t real, int32_t exchanged, double scale,
                  int64_t begin, int64_t end);
    void (*chirp)(const fft_line *l, void *z, int64_t begin, int64_t end);
    void (*spectrum)(const fft_line *l, void *z, int64_t begin, int64_t end);
    void (*unchirp)(const fft_line *l, void *z, int64_t begin, int64_t end);
    /* A real line of even length n is transformed as a complex line z of n/2 pairs. Each function computes
     * outputs k and n/2 - k for begin <= k < end <= n/4 + 1.
     * split  computes the half spectrum from the transform of z; may be in place
     * join   computes from the half spectrum the z of the inverse transform, with parts exchanged */
    void (*split)(const fft_axis *axis, const fft_span *out, const fft_span *z, int64_t begin,
                  int64_t end);
    void (*join)(const fft_axis *axis, void *z, const fft_span *in, int64_t begin, int64_t end);
} fft_functions;

typedef struct fft_kernels {
    fft_functions of[2]; /* f32, f64 */
} fft_kernels;
