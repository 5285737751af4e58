/* SPDX-License-Identifier: Apache-2.0 */
/* The adjoint of scatter_slices: from slices of the spectra to the half spectra of layers. The
 * forward transform of real numbers has the adjoint Re sum over k of G exp(+i k r), which is the
 * inverse transform, times Y X, of the half spectrum (G(k) + conj G(-k)) / 2.
 * Tests: tests/engines/scatter/test_scatter_gradients.c */
#include "scatter/adjoint/planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct complex_number {
    double re, im;
} complex_number;

typedef struct job {
    scatter_adjoint *a;
    int64_t m, first, count;
    void *planes;
    complex_number *phase; /* [Z]: exp(-2 pi i j / Z) */
    complex_number
        *middle; /* [fields]: cotangents of q = 0, with options.neighbours */
} job;

/* A row of pixels, with the phases of a layer. */
typedef struct row {
    int64_t y;
    double *re, *im;             /* [X]: sums over the slices */
    double *phase_re, *phase_im; /* [depth, X] */
    double *step_re, *step_im;   /* [depth, X]: on the exact grid, the phases from one layer to the next */
} row;

/* Slice d of pixel (y, x) is one element of the spectrum along z: returns its index; -1: there is none. */
static int64_t element_of(const collet_scatter *s, int64_t d, int64_t y, int64_t x)
{
    const int64_t *n = s->options.shape;
    int64_t i = y * n[2] + x, z = s->range[i] + d;
    return d < s->range[n[1] * n[2] + i] && z >= 0 && z < n[0] ? (n[0] / 2 - z + n[0]) % n[0] : -1;
}

/* On the exact grid: the phase of a layer at each node, exp(i q_z z) with z from the middle of the film. */
static void fill_exact_phases(const job *j, row *r, int64_t layer)
{
    const collet_scatter *s = j->a->s;
    const int64_t *n = s->options.shape;
    double first = ((double)j->first - (double)(n[0] - 1) / 2) * s->options.voxel;
    for (int64_t i = 0; i < s->depth * n[2]; i++) {
        int64_t pixel = r->y * n[2] + i % n[2];
        double re = r->phase_re[i], im = r->phase_im[i];
        if (layer > 0) {
            r->phase_re[i] = re * r->step_re[i] - im * r->step_im[i];
            r->phase_im[i] = re * r->step_im[i] + im * r->step_re[i];
            continue;
        }
        double q = s->interval[pixel] + s->interval[n[1] * n[2] + pixel] * s->nodes[i / n[2]];
        int none = isnan(q);
        r->phase_re[i] = none ? 0.0 : cos(q * first);
        r->phase_im[i] = none ? 0.0 : sin(q * first);
        r->step_re[i] = none ? 0.0 : cos(q * s->options.voxel);
        r->step_im[i] = none ? 0.0 : sin(q * s->options.voxel);
    }
}

static void fill_phases(const job *j, row *r, int64_t layer)
{
    const collet_scatter *s = j->a->s;
    const int64_t *n = s->options.shape;
    if (scatter_is_exact(s)) {
        fill_exact_phases(j, r, layer);
        return;
    }
    for (int64_t d = 0; d < s->depth; d++)
        for (int64_t x = 0; x < n[2]; x++) {
            int64_t element = element_of(s, d, r->y, x);
            complex_number p = {0.0, 0.0};
            if (element >= 0)
                p = j->phase[element * (j->first + layer) % n[0]];
            r->phase_re[d * n[2] + x] = p.re;
            r->phase_im[d * n[2] + x] = p.im;
        }
}

/* sum += conj(phase) number */
static void add_wide(int64_t n, double *restrict re, double *restrict im,
                     const double *restrict phase_re, const double *restrict phase_im,
                     const double *restrict number)
{
    for (int64_t x = 0; x < n; x++) {
        re[x] += phase_re[x] * number[2 * x] + phase_im[x] * number[2 * x + 1];
        im[x] += phase_re[x] * number[2 * x + 1] - phase_im[x] * number[2 * x];
    }
}

static void add_narrow(int64_t n, double *restrict re, double *restrict im,
                       const double *restrict phase_re, const double *restrict phase_im,
                       const float *restrict number)
{
    for (int64_t x = 0; x < n; x++) {
        double a = (double)number[2 * x], b = (double)number[2 * x + 1];
        re[x] += phase_re[x] * a + phase_im[x] * b;
        im[x] += phase_re[x] * b - phase_im[x] * a;
    }
}

static void sum_slices(const job *j, const row *r, int64_t field)
{
    const collet_scatter *s = j->a->s;
    int64_t Y = s->options.shape[1], X = s->options.shape[2];
    memset(r->re, 0, (size_t)X * sizeof *r->re);
    memset(r->im, 0, (size_t)X * sizeof *r->im);
    for (int64_t d = 0; d < s->depth; d++) {
        int64_t at = 2 * (((d * s->plan.fields + s->parts[j->m].first + field) * Y + r->y) * X);
        const double *re = r->phase_re + d * X, *im = r->phase_im + d * X;
        if (scatter_is_wide(s))
            add_wide(X, r->re, r->im, re, im, (const double *)j->a->slice_cotangents + at);
        else
            add_narrow(X, r->re, r->im, re, im, (const float *)j->a->slice_cotangents + at);
    }
}

/* Writes row b of the half spectrum: the sum of the row of pixels `same`, which reads this row, and the
 * conjugate of the row of pixels `other`, which reads row -b. */
static void fold(const job *j, int64_t plane, int64_t b, const row *same, const row *other)
{
    const collet_scatter *s = j->a->s;
    int64_t Y = s->options.shape[1], X = s->options.shape[2], half = X / 2;
    int64_t at = 2 * (plane * Y + b) * (half + 1);
    double *wide = (double *)j->planes + at, factor = 0.5 * (double)(Y * X);
    float *narrow = (float *)j->planes + at;
    for (int64_t c = 0; c <= half; c++) {
        int64_t x = half - c, mirror = (half + c) % X;
        double re = factor * (same->re[x] + other->re[mirror]);
        double im = factor * (same->im[x] - other->im[mirror]);
        if (scatter_is_wide(s)) {
            wide[2 * c] = re;
            wide[2 * c + 1] = im;
        } else {
            narrow[2 * c] = (float)re;
            narrow[2 * c + 1] = (float)im;
        }
    }
}

/* Writes rows b and -b of the half spectra, for b = begin .. end - 1. */
static void run_pairs(void *argument, int64_t begin, int64_t end, int thread)
{
    const job *j = argument;
    const collet_scatter *s = j->a->s;
    int64_t Y = s->options.shape[1], X = s->options.shape[2];
    row rows[2];
    double *memory = j->a->scratch[thread];
    for (int i = 0; i < 2; i++) {
        rows[i] = (row){0,
                        memory,
                        memory + X,
                        memory + 2 * X,
                        memory + (2 + s->depth) * X,
                        memory + (2 + 2 * s->depth) * X,
                        memory + (2 + 3 * s->depth) * X};
        memory += (2 + 4 * s->depth) * X;
    }
    for (int64_t b = begin; b < end; b++) {
        int64_t pair[2] = {b, (Y - b) % Y};
        int two = pair[0] != pair[1];
        for (int i = 0; i <= two; i++)
            rows[i].y = (Y / 2 - pair[i] + Y) % Y;
        for (int64_t layer = 0; layer < j->count; layer++) {
            for (int i = 0; i <= two; i++)
                fill_phases(j, &rows[i], layer);
            for (int64_t f = 0; f < s->parts[j->m].count; f++) {
                for (int i = 0; i <= two; i++)
                    sum_slices(j, &rows[i], f);
                for (int i = 0; i <= two; i++)
                    fold(j, f * j->count + layer, pair[i], &rows[i], &rows[two - i]);
            }
        }
    }
}

/* ---- q = 0 ----------------------------------------------------------------------------------- */

/* Moves the cotangents of the pixel at q = 0 from the slices to job->middle, so that run_pairs does not use
 * them. */
static void take_middle(const job *j)
{
    const collet_scatter *s = j->a->s;
    int64_t Y = s->options.shape[1], X = s->options.shape[2], y = Y / 2, x = X / 2;
    for (int64_t d = 0; d < s->depth; d++)
        for (int64_t f = 0; f < s->parts[j->m].count && element_of(s, d, y, x) == 0; f++) {
            int64_t at = ((d * s->plan.fields + s->parts[j->m].first + f) * Y + y) * X + x;
            double *wide = (double *)j->a->slice_cotangents + 2 * at;
            float *narrow = (float *)j->a->slice_cotangents + 2 * at;
            if (scatter_is_wide(s)) {
                j->middle[f] = (complex_number){wide[0], wide[1]};
                wide[0] = wide[1] = 0.0;
            } else {
                j->middle[f] = (complex_number){(double)narrow[0], (double)narrow[1]};
                narrow[0] = narrow[1] = 0.0F;
            }
        }
}

/* Moves the cotangents of q = 0 back into the slices. */
static void return_middle(const job *j)
{
    const collet_scatter *s = j->a->s;
    int64_t Y = s->options.shape[1], X = s->options.shape[2], y = Y / 2, x = X / 2;
    for (int64_t d = 0; d < s->depth; d++)
        for (int64_t f = 0; f < s->parts[j->m].count && element_of(s, d, y, x) == 0; f++) {
            int64_t at = ((d * s->plan.fields + s->parts[j->m].first + f) * Y + y) * X + x;
            for (int i = 0; i < 2; i++) {
                double value = i ? j->middle[f].im : j->middle[f].re;
                if (scatter_is_wide(s))
                    ((double *)j->a->slice_cotangents)[2 * at + i] = value;
                else
                    ((float *)j->a->slice_cotangents)[2 * at + i] = (float)value;
            }
        }
}

/* Adds a number to element (b, c) of the spectrum of real data. Half of it goes to (b, c), and the conjugate of
 * the other half to (-b, -c); only elements with columns up to X / 2 are stored. */
static void add_element(const job *j, int64_t plane, int64_t b, int64_t c, double re, double im)
{
    const collet_scatter *s = j->a->s;
    int64_t Y = s->options.shape[1], X = s->options.shape[2];
    for (int conjugate = 0; conjugate < 2; conjugate++) {
        int64_t line = conjugate ? (Y - b) % Y : b, column = conjugate ? (X - c) % X : c;
        int64_t at = 2 * ((plane * Y + line) * (X / 2 + 1) + column);
        double factor = 0.5 * (double)(Y * X);
        if (column > X / 2)
            continue;
        for (int i = 0; i < 2; i++) {
            double value = factor * (i == 0 ? re : conjugate ? -im : im);
            if (scatter_is_wide(s))
                ((double *)j->planes)[at + i] += value;
            else
                ((float *)j->planes)[at + i] += (float)value;
        }
    }
}

/* Divides the cotangents of q = 0 among its neighbours: four, and two more along z if there are several
 * slices. */
static void share_middle(const job *j)
{
    const collet_scatter *s = j->a->s;
    const int64_t *n = s->options.shape;
    double share = n[0] == 1 ? 0.25 : 1.0 / 6;
    const int64_t at[4][2] = {{1 % n[1], 0}, {n[1] - 1, 0}, {0, 1 % n[2]}, {0, n[2] - 1}};
    for (int64_t f = 0; f < s->parts[j->m].count; f++)
        for (int64_t layer = 0; layer < j->count; layer++) {
            complex_number v = j->middle[f];
            double along = j->phase[(j->first + layer) % n[0]].re / 3;
            int64_t plane = f * j->count + layer;
            for (int i = 0; i < 4; i++)
                add_element(j, plane, at[i][0], at[i][1], share * v.re, share * v.im);
            if (n[0] > 1)
                add_element(j, plane, 0, 0, along * v.re, along * v.im);
        }
}

void scatter_adjoint_planes(scatter_adjoint *a, int64_t m, int64_t first, int64_t count,
                            void *planes)
{
    const int64_t *n = a->s->options.shape;
    complex_number middle[SCATTER_FIELDS] = {{0.0, 0.0}};
    job j = {.a = a,
             .m = m,
             .first = first,
             .count = count,
             .planes = planes,
             .phase = malloc((size_t)n[0] * sizeof *j.phase),
             .middle = middle};
    if (!j.phase) {
        a->no_memory = 1;
        return;
    }
    for (int64_t i = 0; i < n[0]; i++) {
        double angle = -2 * PI * (double)i / (double)n[0];
        j.phase[i] = (complex_number){cos(angle), sin(angle)};
    }
    if (a->s->options.neighbours)
        take_middle(&j);
    scatter_parallel(a->threads, n[1] / 2 + 1, 1, run_pairs, &j);
    if (a->s->options.neighbours) {
        share_middle(&j);
        return_middle(&j);
    }
    free(j.phase);
}
