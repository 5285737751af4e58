/* SPDX-License-Identifier: Apache-2.0 */
/* The adjoint of the fields: from the slices to the voxels of each material.
 * Tests: tests/engines/scatter/test_scatter_gradients.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/ops/fft.h>

#include "scatter/adjoint/adjoint.h"
#include "scatter/arrays.h"
#include "scatter/methods.h"

#define PI 3.14159265358979323846

typedef struct complex_number {
    double re, im;
} complex_number;

typedef struct slices_job {
    scatter_adjoint *a;
    int64_t m, first, count;
    void *planes;
    complex_number *phase; /* [Z]: exp(-2 pi i j / Z) */
    complex_number *middle; /* [fields]: cotangents of q = 0, with options.neighbours */
} slices_job;

/* A row of pixels, with the phases of a layer. */
typedef struct row {
    int64_t y;
    double *re, *im;             /* [X]: sums over the slices */
    double *phase_re, *phase_im; /* [depth, X] */
    double *step_re, *step_im;   /* [depth, X]: on the exact grid, the phases from one layer to the next */
} row;

/* Slice d of pixel (y, x) is one element of the spectrum along z. Returns the index of this element; -1: there is
 * none. */
static int64_t element_of(const collet_scatter *s, int64_t d, int64_t y, int64_t x)
{
    const int64_t *n = s->options.shape;
    int64_t i = y * n[2] + x, z = s->range[i] + d;
    return d < s->range[n[1] * n[2] + i] && z >= 0 && z < n[0] ? (n[0] / 2 - z + n[0]) % n[0] : -1;
}

/* On the exact grid: the phase of a layer at each node, exp(i q_z z) with z from the middle of the film. */
static void fill_exact_phases(const slices_job *j, row *r, int64_t layer)
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

static void fill_phases(const slices_job *j, row *r, int64_t layer)
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

static void sum_slices(const slices_job *j, const row *r, int64_t field)
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

/* Writes row b of the half spectrum: the sum of `same`, the row of pixels that the forward run computes from row b, and
 * the conjugate of `other`, the row of pixels that it computes from row -b. */
static void fold(const slices_job *j, int64_t plane, int64_t b, const row *same, const row *other)
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
    const slices_job *j = argument;
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

/* Moves the cotangents of the pixel at q = 0 from the slices to j->middle, so that run_pairs does not use
 * them. */
static void take_middle(const slices_job *j)
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
static void return_middle(const slices_job *j)
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
static void add_element(const slices_job *j, int64_t plane, int64_t b, int64_t c, double re,
                        double im)
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

/* Divides the cotangents of q = 0 among its neighbours. There are four neighbours, and two more along z if there are
 * several slices. */
static void share_middle(const slices_job *j)
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

/* The adjoint of scatter_slices: from slices of the spectra to the half spectra of layers. The adjoint of the forward
 * transform of real numbers is Re sum over k of G exp(+i k r). This sum equals Y X times the inverse transform of the
 * half spectrum (G(k) + conj G(-k)) / 2. */

/* Writes the cotangents of the half spectra of layers first .. first+count-1 of material m to `planes`
 * [fields, count, Y, X / 2 + 1]. The inverse transforms of `planes` are the cotangents of the fields. */
static void scatter_adjoint_planes(scatter_adjoint *a, int64_t m, int64_t first, int64_t count,
                                   void *planes)
{
    const int64_t *n = a->s->options.shape;
    complex_number middle[SCATTER_FIELDS] = {{0.0, 0.0}};
    slices_job j = {.a = a,
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

typedef struct job {
    const scatter_adjoint *a;
    const collet_scatter_material *view; /* values of the layers */
    scatter_part part;
    const collet_scatter_derivatives *to; /* derivatives of the whole morphology */
    const void *fields;                      /* cotangents: [fields, count, Y, X] */
    double share;                            /* 1 / number of layers whose mean is one layer of fields */
    double by_fraction;     /* scatter_adjoint.by_fraction: fields 0 and 1 add up to the fraction */
    int64_t voxels, before; /* voxels of these layers, and of the layers before them */
} job;

static double number(const void *array, int wide, int64_t i)
{
    return wide ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* Adds to a gradient, which may be NULL. */
static void add(const job *j, void *array, int64_t i, double value)
{
    if (array && j->view->dtype == COLLET_F64)
        ((double *)array)[i] += value;
    else if (array)
        ((float *)array)[i] += (float)value;
}

/* Takes the cotangents of fields 0 .. 6 of a voxel. */
static void take(const job *j, int64_t i, double b[SCATTER_FIELDS])
{
    for (int64_t f = 0; f < j->part.count; f++)
        b[f] = (f < 2 ? j->by_fraction : 0.0) +
               j->share * number(j->fields, scatter_is_wide(j->a->s), f * j->voxels + i);
}

/* fields: V - V S, V S, V S s s^T, with s = (cos psi sin theta, sin psi sin theta, cos theta) */
static void euler(const job *j, int64_t i, const double b[SCATTER_FIELDS])
{
    int wide = j->view->dtype == COLLET_F64;
    int64_t at = j->before + i;
    double volume = number(j->view->volume, wide, i);
    double alignment = number(j->view->alignment, wide, i);
    double product = 0.0, by_theta = 0.0, by_psi = 0.0;
    if (volume != 0.0 || alignment != 0.0) {
        double theta = number(j->view->theta, wide, i), psi = number(j->view->psi, wide, i);
        double st = sin(theta), ct = cos(theta), sp = sin(psi), cp = cos(psi);
        double x = cp * st, y = sp * st, z = ct;
        double by_x = 2 * b[2] * x + b[3] * y + b[4] * z, by_y = b[3] * x + 2 * b[5] * y + b[6] * z;
        double by_z = b[4] * x + b[6] * y;
        product = (by_x * x + by_y * y + by_z * z) / 2;
        by_theta = by_x * cp * ct + by_y * sp * ct - by_z * st;
        by_psi = by_y * x - by_x * y;
    }
    double by_aligned = b[1] - b[0] + product;
    add(j, j->to->volume, at, alignment != 0.0 ? b[0] + alignment * by_aligned : b[0]);
    add(j, j->to->alignment, at, volume != 0.0 ? volume * by_aligned : 0.0);
    if (volume * alignment != 0.0) {
        add(j, j->to->theta, at, volume * alignment * by_theta);
        add(j, j->to->psi, at, volume * alignment * by_psi);
    }
}

/* fields: the unaligned fraction, |s|^2, s s^T */
static void vectors(const job *j, int64_t i, const double b[SCATTER_FIELDS])
{
    int wide = j->view->dtype == COLLET_F64;
    double s[3];
    for (int a = 0; a < 3; a++)
        s[a] = number(j->view->direction, wide, 3 * i + a);
    const double by[3] = {2 * (b[1] + b[2]) * s[0] + b[3] * s[1] + b[4] * s[2],
                          b[3] * s[0] + 2 * (b[1] + b[5]) * s[1] + b[6] * s[2],
                          b[4] * s[0] + b[6] * s[1] + 2 * b[1] * s[2]};
    for (int a = 0; a < 3; a++)
        add(j, j->to->direction, 3 * (j->before + i) + a, by[a]);
    add(j, j->to->unaligned, j->before + i, b[0]);
}

static void run_voxels(void *argument, int64_t begin, int64_t end, int thread)
{
    const job *j = argument;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        double b[SCATTER_FIELDS];
        take(j, i, b);
        if (j->part.count == 1)
            add(j, j->to->volume, j->before + i, b[0]);
        else if (j->view->direction)
            vectors(j, i, b);
        else
            euler(j, i, b);
    }
}

/* Adds the gradients of some layers, from the cotangents of their fields. */
static collet_status add_voxels(scatter_adjoint *a, int64_t m, int64_t first, int64_t count,
                                const void *fields)
{
    collet_scatter *s = a->s;
    const int64_t *n = s->options.shape;
    collet_scatter_material view;
    job j = {.a = a,
             .view = &view,
             .part = s->parts[m],
             .to = &a->out.materials[m],
             .fields = fields,
             .share = 1.0 / (double)s->thickness,
             .by_fraction = a->by_fraction[m],
             .voxels = count * n[1] * n[2],
             .before = first * n[1] * n[2]};
    collet_status status = scatter_view_layers(s, m, first, count, &view);
    if (status == COLLET_OK)
        scatter_parallel(a->threads, j.voxels, 1024, run_voxels, &j);
    return status;
}

/* Adds the gradients of layers from `first` on. With options.collapse one layer of fields is the mean of all
 * layers along z. */
static collet_status read_fields(scatter_adjoint *a, int64_t m, int64_t first, int64_t count,
                                 collet_array *fields)
{
    collet_scatter *s = a->s;
    void *values;
    if (collet_array_acquire(s->context, fields, &values, COLLET_READ) != COLLET_OK)
        return scatter_failed(s, collet_last_status(s->context), "reading fields");
    collet_status status = COLLET_OK;
    for (int64_t z = 0; z < s->thickness && status == COLLET_OK; z++)
        status = add_voxels(a, m, first + z, count, values);
    collet_array_release(s->context, fields);
    return status;
}

static collet_status add_layers(scatter_adjoint *a, int64_t m, int64_t first, int64_t count)
{
    collet_scatter *s = a->s;
    const int64_t *n = s->options.shape;
    collet_array *planes = NULL, *fields = NULL;
    int64_t parts = s->parts[m].count;
    void *values;
    collet_status status = scatter_array(s, &planes, scatter_complex(s), 4,
                                         SCATTER_SHAPE(parts, count, n[1], n[2] / 2 + 1));
    if (status == COLLET_OK)
        status =
            scatter_array(s, &fields, s->options.dtype, 4, SCATTER_SHAPE(parts, count, n[1], n[2]));
    if (status == COLLET_OK &&
        collet_array_acquire(s->context, planes, &values, COLLET_WRITE) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "writing spectra");
    if (status == COLLET_OK) {
        scatter_adjoint_planes(a, m, first, count, values);
        collet_array_release(s->context, planes);
        if (a->no_memory)
            status = collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for phases");
    }
    if (status == COLLET_OK && collet_op_fft(s->context, fields, planes, 2, 1) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "the FFT");
    if (status == COLLET_OK)
        status = scatter_window(s, first, count, fields);
    if (status == COLLET_OK)
        status = read_fields(a, m, first, count, fields);
    collet_array_destroy(planes);
    collet_array_destroy(fields);
    return status == COLLET_OK ? scatter_step(s, "differentiating") : status;
}

collet_status scatter_adjoint_fields(scatter_adjoint *a)
{
    collet_scatter *s = a->s;
    int64_t layers = s->options.shape[0];
    collet_status status = COLLET_OK;
    for (int64_t first = 0; first < layers && status == COLLET_OK; first += s->layers) {
        int64_t count = layers - first < s->layers ? layers - first : s->layers;
        for (int64_t m = 0; m < s->options.n_materials && status == COLLET_OK; m++)
            status = add_layers(a, m, first, count);
    }
    return status;
}
