/* SPDX-License-Identifier: Apache-2.0 */
/* The adjoint of the polarisation and its intensity. With the fields s0 .. s6 of a material the
 * polarisability is N = sum over materials of (c0 s0 + c1 s1) 1 + c2 Q, where Q has the elements
 * xx, xy, xz, yy, yz = s2 .. s6 and the trace s1; p1 = N e1, p2 = N e2. A field p has the intensity
 * |F|^2, F = k^2 p - s (s p).
 * Tests: tests/engines/scatter/test_scatter_gradients.c */
#include "scatter/adjoint/segment.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Complex numbers of adjacent pixels. */
typedef struct numbers {
    double re[TILE], im[TILE];
} numbers;

/* to += c from */
INLINE void add_times(numbers *restrict to, const double c[2], const double *restrict re,
                      const double *restrict im, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        to->re[i] += c[0] * re[i] - c[1] * im[i];
        to->im[i] += c[0] * im[i] + c[1] * re[i];
    }
}

/* The polarisability: [0] its isotropic part, [1] .. [6] the trace and xx, xy, xz, yy, yz of the anisotropic part. */
INLINE void polarisability(const scatter_segment *g, numbers part[7])
{
    memset(part, 0, 7 * sizeof *part);
    for (int64_t m = 0; m < g->materials; m++) {
        const double *re = g->re + g->parts[m].first * TILE;
        const double *im = g->im + g->parts[m].first * TILE;
        add_times(&part[0], g->c[m][0], re, im, g->n);
        if (g->parts[m].count == 1)
            continue;
        add_times(&part[0], g->c[m][1], re + TILE, im + TILE, g->n);
        for (int f = 1; f < SCATTER_FIELDS; f++)
            add_times(&part[f], g->c[m][2], re + f * TILE, im + f * TILE, g->n);
    }
}

/* Sets p to the polarisations p1 and p2 of pixel i, for an electric field along e1 and e2: real and imaginary
 * parts of three components each. */
INLINE void polarisation(const scatter_segment *g, const numbers part[7], int64_t i, double p[2][6])
{
    static const int element[3][3] = {{2, 3, 4}, {3, 5, 6}, {4, 6, -1}};
    for (int which = 0; which < 2; which++) {
        const double *at[7];
        for (int f = 0; f < 7; f++)
            at[f] = which ? part[f].im : part[f].re;
        double zz = at[1][i] - at[2][i] - at[5][i];
        for (int j = 0; j < 6; j++) {
            const double *e = g->axis[j / 3];
            double sum = at[0][i] * e[j % 3];
            for (int b = 0; b < 3; b++)
                sum += (element[j % 3][b] < 0 ? zz : at[element[j % 3][b]][i]) * e[b];
            p[which][j] = sum;
        }
    }
}

/* k^2 v - s (s v) */
INLINE void across(const double v[3], const double s[3], double square, double out[3])
{
    double along = v[0] * s[0] + v[1] * s[1] + v[2] * s[2];
    for (int a = 0; a < 3; a++)
        out[a] = square * v[a] - s[a] * along;
}

/* Replaces p1, p2 of pixel i by their cotangents, from the cotangents of the three images. */
INLINE void three_images(const scatter_segment *g, int64_t i, const double s[3], double p[6])
{
    double f[6], d[6];
    double first = g->weight[i] * (g->images[0][i] + g->images[1][i]);
    double second = g->weight[i] * (g->images[0][i] - g->images[1][i]);
    double both = g->weight[i] * g->images[2][i];
    across(p, s, g->square, f);
    across(p + 3, s, g->square, f + 3);
    for (int a = 0; a < 3; a++) {
        d[a] = first * f[a] + both * f[3 + a];
        d[3 + a] = second * f[3 + a] + both * f[a];
    }
    across(d, s, g->square, p);
    across(d + 3, s, g->square, p + 3);
}

/* Replaces p1, p2 of pixel i by their cotangents, from the images of all angles, if each angle has its own image. */
INLINE void all_images(const scatter_segment *g, int64_t i, const double s[3], double p[6])
{
    double sum[6] = {0.0};
    for (int64_t angle = 0; angle < g->angles; angle++) {
        const double(*turn)[6] = g->turn[angle];
        double v[3] = {0.0}, f[3], back[3];
        for (int a = 0; a < 3; a++)
            for (int j = 0; j < 6; j++)
                v[a] += turn[a][j] * p[j];
        across(v, s, g->square, f);
        for (int a = 0; a < 3; a++)
            f[a] *= 2 * g->weight[i] * g->images[0][angle * g->image_step + i];
        across(f, s, g->square, back);
        for (int j = 0; j < 6; j++)
            for (int a = 0; a < 3; a++)
                sum[j] += turn[a][j] * back[a];
    }
    memcpy(p, sum, sizeof sum);
}

/* The cotangents of the polarisability of pixel i, in place of its elements. */
INLINE void cotangents(const scatter_segment *g, numbers part[7], int64_t i, double p[2][6])
{
    const double *e = g->axis[0], *h = g->axis[1];
    for (int which = 0; which < 2; which++) {
        const double *u = p[which], *v = p[which] + 3;
        double zz = u[2] * e[2] + v[2] * h[2], xx = u[0] * e[0] + v[0] * h[0];
        double yy = u[1] * e[1] + v[1] * h[1];
        const double out[7] = {xx + yy + zz,
                               zz,
                               xx - zz,
                               u[0] * e[1] + u[1] * e[0] + v[0] * h[1] + v[1] * h[0],
                               u[0] * e[2] + u[2] * e[0] + v[0] * h[2] + v[2] * h[0],
                               yy - zz,
                               u[1] * e[2] + u[2] * e[1] + v[1] * h[2] + v[2] * h[1]};
        for (int f = 0; f < 7; f++)
            *(which ? &part[f].im[i] : &part[f].re[i]) = out[f];
    }
}

INLINE void pixels(const scatter_segment *g, numbers part[7])
{
    for (int64_t i = 0; i < g->n; i++) {
        const double s[3] = {g->k[0] + g->qx[i], g->k[1] + g->qy, g->k[2] + g->qz[i]};
        double p[2][6];
        polarisation(g, part, i, p);
        for (int which = 0; which < 2; which++)
            if (g->angles)
                all_images(g, i, s, p[which]);
            else
                three_images(g, i, s, p[which]);
        cotangents(g, part, i, p);
    }
}

/* to += conj(c) from */
INLINE void spread(double *restrict to_re, double *restrict to_im, const double c[2],
                   const numbers *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        to_re[i] += c[0] * from->re[i] + c[1] * from->im[i];
        to_im[i] += c[0] * from->im[i] - c[1] * from->re[i];
    }
}

/* to += conj(s) from */
INLINE void collect(double *restrict to, const double *restrict re, const double *restrict im,
                    const numbers *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        to[i] += re[i] * from->re[i] + im[i] * from->im[i];
        to[TILE + i] += re[i] * from->im[i] - im[i] * from->re[i];
    }
}

INLINE void materials(const scatter_segment *g, const numbers part[7])
{
    for (int64_t m = 0; m < g->materials; m++) {
        int64_t first = g->parts[m].first * TILE, n = g->n;
        const double *re = g->re + first, *im = g->im + first;
        double *to_re = g->to_re + first, *to_im = g->to_im + first;
        double *to_c = g->to_c + m * 6 * TILE;
        spread(to_re, to_im, g->c[m][0], &part[0], n);
        collect(to_c, re, im, &part[0], n);
        if (g->parts[m].count == 1)
            continue;
        spread(to_re + TILE, to_im + TILE, g->c[m][1], &part[0], n);
        collect(to_c + 2 * TILE, re + TILE, im + TILE, &part[0], n);
        for (int f = 1; f < SCATTER_FIELDS; f++) {
            spread(to_re + f * TILE, to_im + f * TILE, g->c[m][2], &part[f], n);
            collect(to_c + 4 * TILE, re + f * TILE, im + f * TILE, &part[f], n);
        }
    }
}

INLINE void run(const scatter_segment *g)
{
    numbers part[7];
    polarisability(g, part);
    pixels(g, part);
    materials(g, part);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void run_avx2(const scatter_segment *g)
{
    run(g);
}
#endif

void scatter_segment_run(const scatter_segment *g)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        run_avx2(g);
    else
#endif
        run(g);
}
