/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the slices of the spectra that energies need, or the amplitudes at the nodes of the exact grid. Each field
 * of the morphology is transformed once in the planes of its layers. Along z only the slices next to Ewald's sphere are
 * computed, a small part of all elements.
 * Tests: tests/engines/scatter/test_scatter.c */
#include <math.h>
#include <stdlib.h>

#include <collet/ops/fft.h>

#include "scatter/arrays.h"
#include "scatter/geometry.h"
#include "scatter/methods.h"

#define ROUNDING 1e-6 /* in slices: backends may compute slightly different positions */

/* ---- Where the slices are -------------------------------------------------------------------- */

/* Returns the position at which the sphere of radius k crosses a pixel's line along z, in slices. Below 0 or
 * NaN: outside. */
static double place(const collet_scatter *s, double k, double qx, double qy)
{
    const double *axis = s->axis[2];
    int64_t count = s->options.shape[0];
    double x = k * axis[0] + qx, y = k * axis[1] + qy, square = k * k - x * x - y * y;
    if (count == 1)
        return square >= 0.0 ? 0.0 : NAN;
    double slice = (s->q[0][count - 1] - s->q[0][0]) / (double)(count - 1);
    return (sqrt(square) - k * axis[2] - s->q[0][0]) / slice;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the index of the first of `count` ascending radii whose position is at least `bound`; `count` if there is
 * none. Bisection works because positions grow with the radius. */
static int64_t first_of(const collet_scatter *s, const double *k, int64_t count, double bound,
                        double qx, double qy)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (place(s, k[middle], qx, qy) >= bound)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Sets *first to the first slice that a pixel needs for `count` ascending radii; returns the number of slices
 * that it needs. */
static int64_t range_of(const collet_scatter *s, const double *k, int64_t count, double qx,
                        double qy, int64_t *first)
{
    double last = (double)(s->options.shape[0] - 1);
    int64_t begin = first_of(s, k, count, -ROUNDING, qx, qy);
    int64_t end = first_of(s, k, count, last + ROUNDING, qx, qy);
    *first = -1;
    if (begin >= end)
        return 0;
    double low = place(s, k[begin], qx, qy) - ROUNDING, high = place(s, k[end - 1], qx, qy);
    low = s->options.nearest ? round(low) : floor(low);
    high = s->options.nearest ? round(high + ROUNDING) : ceil(high + ROUNDING);
    *first = low > 0.0 ? (int64_t)low : 0;
    return (int64_t)(high < last ? high : last) - *first + 1;
}

int64_t scatter_depth(const collet_scatter *s, int64_t first, int64_t end, int32_t *range)
{
    const int64_t *n = s->options.shape;
    int64_t depth = 1, pixels = n[1] * n[2], count = end - first, begin;
    double *k = malloc((size_t)count * sizeof *k);
    if (!k)
        return -1;
    for (int64_t e = first; e < end; e++)
        k[e - first] = scatter_wave(s->options.energies[e]);
    qsort(k, (size_t)count, sizeof *k, compare);
    for (int64_t i = 0; i < pixels; i++) {
        int64_t slices = range_of(s, k, count, s->q[2][i % n[2]], s->q[1][i / n[2]], &begin);
        depth = slices > depth ? slices : depth;
        if (range) {
            range[i] = (int32_t)begin;
            range[pixels + i] = (int32_t)slices;
        }
    }
    free(k);
    return depth;
}

/* ---- The slices ------------------------------------------------------------------------------ */

/* The arrays of one pass over the morphology. */
typedef struct pass {
    collet_array *range;            /* NULL: the grid is exact */
    collet_array *nodes, *interval; /* of the exact grid */
    collet_array *fields, *planes; /* [7 or 1, layers, Y, X or H] */
} pass;

/* Adds layers first .. first+count-1 of material m to the slices. */
static collet_status add_material(collet_scatter *s, const pass *p, int64_t m, int64_t first,
                                  int64_t count)
{
    const scatter_part *part = &s->parts[m];
    collet_scatter_params params = {.struct_size = sizeof params,
                                    .neighbours = s->options.neighbours,
                                    .layer = (uint32_t)first,
                                    .layers = (uint32_t)s->options.shape[0],
                                    .thickness = s->options.voxel};
    collet_array *some[2] = {NULL, NULL}, *view[2] = {NULL, NULL}, *slices = NULL;
    collet_array *const whole[2] = {p->fields, p->planes};
    collet_status status = COLLET_OK;
    for (int i = 0; i < 2 && status == COLLET_OK; i++) {
        status = scatter_at(s, &some[i], whole[i], 0, part->count, 0);
        if (status == COLLET_OK &&
            collet_array_slice(s->context, some[i], &view[i], 1, 0, count, 1) != COLLET_OK)
            status = scatter_failed(s, collet_last_status(s->context), "creating a view");
    }
    if (status == COLLET_OK)
        status = scatter_fields(s, m, first, count, view[0]);
    if (status == COLLET_OK && collet_op_fft(s->context, view[1], view[0], 2, 0) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "the FFT");
    if (status == COLLET_OK && collet_array_slice(s->context, s->slices, &slices, 1, part->first,
                                                  part->count, 1) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "creating a view");
    collet_array *before = first ? slices : NULL;
    collet_array *arrays[] = {slices, view[1], p->range, before};
    collet_array *exact[] = {slices, view[1], p->nodes, p->interval, before};
    if (status == COLLET_OK)
        status = p->range ? scatter_call(s, "scatter_slices", arrays, 1, &params)
                          : scatter_call(s, "scatter_amplitudes", exact, 1, &params);
    for (int i = 0; i < 2; i++) {
        collet_array_destroy(some[i]);
        collet_array_destroy(view[i]);
    }
    collet_array_destroy(slices);
    return status == COLLET_OK ? scatter_step(s, "transforming") : status;
}

static collet_status make_arrays(collet_scatter *s, pass *p)
{
    const int64_t *n = s->options.shape;
    int64_t maximum = 0;
    for (int64_t m = 0; m < s->options.n_materials; m++)
        maximum = s->parts[m].count > maximum ? s->parts[m].count : maximum;
    collet_status status =
        scatter_is_exact(s)
            ? scatter_exact_arrays(s, 0, &p->nodes, &p->interval)
            : collet_array_wrap(s->context, &p->range, COLLET_I32, 3, SCATTER_SHAPE(2, n[1], n[2]),
                                NULL, s->range, COLLET_WRAP_READONLY, NULL, NULL);
    if (status != COLLET_OK)
        return s->error.status ? s->error.status : scatter_failed(s, status, "writing the slices of pixels");
    status = scatter_array(s, &p->fields, s->options.dtype, 4,
                           SCATTER_SHAPE(maximum, s->layers, n[1], n[2]));
    if (status == COLLET_OK)
        status = scatter_array(s, &p->planes, scatter_complex(s), 4,
                               SCATTER_SHAPE(maximum, s->layers, n[1], n[2] / 2 + 1));
    if (status == COLLET_OK && !s->slices)
        status = scatter_array(s, &s->slices, scatter_complex(s), 4,
                               SCATTER_SHAPE(s->depth, s->plan.fields, n[1], n[2]));
    return status;
}

collet_status scatter_slices(collet_scatter *s)
{
    int64_t layers = s->options.shape[0], begin = s->next - s->next % s->span;
    int64_t left = s->options.n_energies - begin, end = begin + (left < s->span ? left : s->span);
    pass p = {0};
    s->sliced[0] = s->sliced[1] = 0;
    collet_array_destroy(s->images); /* frees memory for the slices; made again when needed */
    s->images = NULL;
    if (scatter_is_exact(s))
        scatter_exact_intervals(s, begin, end);
    else if (scatter_depth(s, begin, end, s->range) < 0)
        return collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for wave numbers");
    collet_status status = make_arrays(s, &p);
    for (int64_t first = 0; first < layers && status == COLLET_OK; first += s->layers) {
        int64_t count = layers - first < s->layers ? layers - first : s->layers;
        for (int64_t m = 0; m < s->options.n_materials && status == COLLET_OK; m++)
            status = add_material(s, &p, m, first, count);
    }
    collet_array_destroy(p.range);
    collet_array_destroy(p.nodes);
    collet_array_destroy(p.interval);
    collet_array_destroy(p.fields);
    collet_array_destroy(p.planes);
    if (status == COLLET_OK) {
        s->sliced[0] = begin;
        s->sliced[1] = end;
    }
    return status;
}
