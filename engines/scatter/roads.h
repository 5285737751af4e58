/* SPDX-License-Identifier: Apache-2.0 */
/* roads.h - from a morphology to fields, and by two roads to patterns. */
#ifndef COLLET_ENGINES_SCATTER_ROADS_H
#define COLLET_ENGINES_SCATTER_ROADS_H

#include "scatter/state.h"

/* The fields of material m, times the window, into `out` [count, Z, Y, X]. */
collet_status scatter_fields(collet_scattering *s, int64_t m, collet_array *out);
/* Multiplies an array whose last axes are Z, Y, X by the window, where there is one. */
collet_status scatter_window(collet_scattering *s, collet_array *a);

/* `count` energies from s->next on, into s->out. */
collet_status scatter_fast(collet_scattering *s, int64_t count);
collet_status scatter_direct(collet_scattering *s, int64_t count);

/* Slices and fractions of Ewald's sphere of `count` energies from `energy` on, and k [count, 3] and
 * q of columns, rows and slices. */
typedef struct scatter_sphere {
    collet_array *slice, *fraction, *k, *q[3];
} scatter_sphere;
collet_status scatter_sphere_make(collet_scattering *s, int64_t energy, int64_t count,
                                  scatter_sphere *sphere);
void scatter_sphere_free(scatter_sphere *sphere);
/* The mean of images [count, K, Y, X] by weights [angles, K] into the first `count` of s->out. */
collet_status scatter_mean(collet_scattering *s, collet_array *images, int64_t kinds,
                           const double *weights, int64_t first, int64_t count);

#endif
