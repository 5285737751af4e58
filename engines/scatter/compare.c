/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the patterns of a grid with slices with the patterns of the exact grid, for the middle of a film.
 * Tests: tests/engines/scatter/test_scatter_exact.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "io/struct.h"
#include "scatter/checks.h"
#include "scatter/state.h"
#include "scatter/voxels.h"

#define SIDE 64      /* rows and columns of voxels that are compared */
#define BRIGHT 1e-3 /* pixels with less than this part of the brightest pixel's intensity are not compared */

/* The middle of a film. */
typedef struct part {
    const collet_scatter_options *film;
    int64_t first[2], side[2]; /* rows, columns */
    void *arrays[4];           /* one layer of the film, if the film's options have `layers` */
} part;

/* Sets `from` to the arrays of a layer of a material of the film. */
static collet_status view_layer(const part *p, int64_t m, int64_t layer, const void *from[4],
                                collet_error *err)
{
    const collet_scatter_options *film = p->film;
    const collet_scatter_material *material = &film->materials[m];
    int64_t voxels = film->shape[1] * film->shape[2], size = material->dtype == COLLET_F64 ? 8 : 4;
    int vectors = material->kind == COLLET_SCATTER_VECTOR;
    const void *given[] = {vectors ? material->direction : material->volume,
                           vectors ? material->unaligned : material->alignment, material->theta,
                           material->psi};
    for (int i = 0; i < 4; i++)
        from[i] = film->layers ? p->arrays[i]
                  : given[i]   ? (const char *)given[i] + layer * voxels * size * (vectors && i == 0 ? 3 : 1)
                               : NULL;
    return film->layers ? film->layers(film->layers_user, p->arrays, m, layer, 1, err) : COLLET_OK;
}

/* Copies the part's layers of a material: collet_scatter_layers_fn. */
static collet_status copy_layers(void *user, void *const *arrays, int64_t m, int64_t first,
                                 int64_t count, collet_error *err)
{
    const part *p = user;
    const void *from[4];
    uint32_t kind = p->film->materials[m].kind;
    size_t size = p->film->materials[m].dtype == COLLET_F64 ? 8 : 4;
    int n = kind == COLLET_SCATTER_EULER ? 4 : kind == COLLET_SCATTER_VECTOR ? 2 : 1;
    collet_status status = COLLET_OK;
    for (int64_t l = 0; l < count && status == COLLET_OK; l++) {
        status = view_layer(p, m, first + l, from, err);
        for (int64_t row = 0; row < p->side[0] * n && status == COLLET_OK; row++) {
            int64_t i = row / p->side[0], y = row % p->side[0];
            size_t width = size * (kind == COLLET_SCATTER_VECTOR && i == 0 ? 3 : 1);
            int64_t at = (p->first[0] + y) * p->film->shape[2] + p->first[1];
            memcpy((char *)arrays[i] + (size_t)((l * p->side[0] + y) * p->side[1]) * width,
                   (const char *)from[i] + (size_t)at * width, (size_t)p->side[1] * width);
        }
    }
    return status;
}

/* Computes the pattern of one energy into `values`. */
static collet_status compute(collet_context *context, const collet_scatter_options *o, double *values,
                             collet_error *err)
{
    const collet_scatter_pattern *pattern;
    collet_scatter *s;
    collet_status status = collet_scatter_create(context, &s, o, err);
    if (status == COLLET_OK)
        status = collet_scatter_next(s, &pattern, err);
    for (int64_t i = 0; status == COLLET_OK && i < pattern->y * pattern->x; i++)
        values[i] = pattern->dtype == COLLET_F64 ? ((const double *)pattern->values)[i]
                                                 : (double)((const float *)pattern->values)[i];
    collet_scatter_destroy(s);
    return status;
}

static void compare(collet_scatter_comparison *c, const double *exact, const double *other, int64_t pixels)
{
    double peak = 0.0, sums[2] = {0.0};
    for (int64_t i = 0; i < pixels; i++)
        peak = isfinite(exact[i]) && exact[i] > peak ? exact[i] : peak;
    c->low = c->high = (double)NAN;
    for (int64_t i = 0; i < pixels; i++) {
        if (!isfinite(exact[i] + other[i]) || !(exact[i] > BRIGHT * peak))
            continue;
        double ratio = other[i] / exact[i];
        c->low = ratio >= c->low ? c->low : ratio;
        c->high = ratio <= c->high ? c->high : ratio;
        sums[0] += exact[i];
        sums[1] += other[i];
    }
    c->total = sums[1] / sums[0];
}

/* Allocates one layer of the film for its callback, and the patterns of the part. */
static double *allocate(part *p)
{
    size_t voxels = (size_t)(p->film->shape[1] * p->film->shape[2]);
    int good = 1;
    for (int i = 0; i < 4 && p->film->layers; i++) {
        p->arrays[i] = malloc(voxels * 8 * (i == 0 ? 3 : 1));
        good &= p->arrays[i] != NULL;
    }
    return good ? malloc(2 * (size_t)(p->side[0] * p->side[1]) * sizeof(double)) : NULL;
}

/* Compares patterns of films whose options were checked. */
static collet_status compare_films(collet_context *context, collet_scatter_comparison *c,
                                   const collet_scatter_options *film, collet_error *err)
{
    collet_scatter_options o = *film;
    part p = {.film = film};
    for (int i = 0; i < 2; i++) {
        p.side[i] = film->shape[1 + i] < SIDE ? film->shape[1 + i] : SIDE;
        p.first[i] = (film->shape[1 + i] - p.side[i]) / 2;
        o.shape[1 + i] = p.side[i];
    }
    int64_t pixels = p.side[0] * p.side[1], energy = film->n_energies / 2;
    double *values = allocate(&p);
    collet_scatter_material *materials = calloc((size_t)o.n_materials, sizeof *materials);
    collet_status status =
        values && materials ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "no memory for a comparison");
    for (int64_t m = 0; m < o.n_materials && status == COLLET_OK; m++)
        materials[m] = (collet_scatter_material){.struct_size = sizeof *materials,
                                                 .dtype = film->materials[m].dtype,
                                                 .kind = film->materials[m].kind};
    o.struct_size = sizeof o;
    o.materials = materials;
    o.n_energies = 1;
    o.energies += energy;
    o.constants += energy * o.n_materials;
    o.layers = copy_layers;
    o.layers_user = &p;
    o.devices = NULL;
    o.progress = NULL;
    o.omit_zero = 1;
    if (status == COLLET_OK)
        status = compute(context, &o, values + pixels, err);
    o.grid = COLLET_SCATTER_EXACT;
    o.nearest = o.neighbours = 0;
    if (status == COLLET_OK)
        status = compute(context, &o, values, err);
    if (status == COLLET_OK) {
        c->energy = film->energies[energy];
        c->y = p.side[0];
        c->x = p.side[1];
        compare(c, values, values + pixels, pixels);
    }
    free(values);
    free(materials);
    for (int i = 0; i < 4; i++)
        free(p.arrays[i]);
    return status;
}

collet_status collet_scatter_compare(collet_context *context, collet_scatter_comparison *comparison,
                                     const collet_scatter_options *options, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_scatter_comparison c = {.low = 1.0, .high = 1.0, .total = 1.0};
    if (!context || !comparison || !options)
        return collet_fail(err, COLLET_INVALID, "%s is NULL",
                           !context      ? "context"
                           : !comparison ? "comparison"
                                         : "options");
    collet_scatter_options o, film;
    collet_scatter_material *held = NULL;
    collet_status status = scatter_take_options(&o, options, err);
    film = o;
    if (status == COLLET_OK && o.grid != COLLET_SCATTER_EXACT && o.shape[0] > 1 && !o.collapse) {
        status = scatter_hold_voxels(context, &o, &held, err);
        film.materials = held;
        if (status == COLLET_OK)
            status = compare_films(context, &c, &film, err);
    }
    if (status == COLLET_OK)
        io_struct_out(comparison, &c, sizeof c);
    scatter_release_voxels(context, &o, held);
    free((void *)(uintptr_t)o.materials);
    return status;
}
