/* SPDX-License-Identifier: Apache-2.0 */
/* methods.h - fields of a morphology, and the two methods that compute patterns from them. */
#pragma once

#include "scatter/state.h"

/* Computes the fields of layers first .. first+count-1 of material m, multiplied by the window,
 * into `out` [fields, count, Y, X]. */
collet_status scatter_fields(collet_scatter *s, int64_t m, int64_t first, int64_t count,
                             collet_array *out);

/* Gets the arrays of layers first .. first+count-1 of material m, until the next call. */
collet_status scatter_view_layers(collet_scatter *s, int64_t m, int64_t first, int64_t count,
                                  collet_scatter_material *view);
/* Multiplies layers [fields, count, Y, X] by the window, if one is set. */
collet_status scatter_window(collet_scatter *s, int64_t first, int64_t count, collet_array *a);

/* Finds the slices next to Ewald's sphere that energies first .. end-1 need: fills `range`, which
 * may be NULL, and returns the largest number of slices of a pixel; -1: out of memory. */
int64_t scatter_depth(const collet_scatter *s, int64_t first, int64_t end, int32_t *range);
/* The number of nodes of the exact grid that energies first .. end-1 need. */
int64_t scatter_exact_depth(const collet_scatter *s, int64_t first, int64_t end);
/* Sets s->nodes. */
collet_status scatter_exact_nodes(collet_scatter *s, collet_error *err);
/* Sets s->interval for energies first .. end-1. */
void scatter_exact_intervals(collet_scatter *s, int64_t first, int64_t end);
/* Parameters of scatter_amplitudes and scatter_intensities, for all layers. */
collet_scatter_params scatter_exact_params(const collet_scatter *s);
/* Creates arrays of s->nodes and s->interval; with one node in the middle of the intervals if `single`. */
collet_status scatter_exact_arrays(collet_scatter *s, int single, collet_array **nodes, collet_array **interval);
/* Sets the s->depth elements of `shares`: the amplitude of a pixel at q_z = q is the sum of the amplitudes at its
 * nodes, each multiplied by its share. */
void scatter_exact_shares(const collet_scatter *s, int64_t pixel, double q, double *shares);
/* Makes s->slices for the energies of the pass to which s->next belongs. */
collet_status scatter_slices(collet_scatter *s);

/* Both functions compute the patterns of `count` energies, from s->next on, into s->out. */
collet_status scatter_fast(collet_scatter *s, int64_t count);
collet_status scatter_direct(collet_scatter *s, int64_t count);

/* k [count, 3]: wave vectors of energies; q of columns, rows and slices; for each pixel the position of Ewald's
 * sphere, as a slice and a fraction. */
typedef struct scatter_sphere {
    collet_array *k, *q[3];
    collet_array *slice, *fraction; /* [1, Y, X] */
} scatter_sphere;
/* Creates k of `count` energies from `energy` on, and q. Call scatter_sphere_free also after a failure. */
collet_status scatter_waves(collet_scatter *s, int64_t energy, int64_t count,
                            scatter_sphere *sphere);
/* Creates all arrays for one energy. */
collet_status scatter_sphere_make(collet_scatter *s, int64_t energy, scatter_sphere *sphere);
void scatter_sphere_free(scatter_sphere *sphere);
/* Sums images [count, K, Y, X] by weights [angles, K], rotates them back, and writes the mean over
 * the angles to the first `count` patterns of s->out. */
collet_status scatter_mean(collet_scatter *s, collet_array *images, int64_t kinds,
                           const double *weights, int64_t first, int64_t count);
