/* SPDX-License-Identifier: Apache-2.0 */
/* methods.h - from a morphology to fields, and by two methods to patterns. */
#ifndef ENGINES_SCATTER_METHODS_H
#define ENGINES_SCATTER_METHODS_H

#include "scatter/state.h"

/* The fields of layers first .. first+count-1 of material m, times the window, into `out` [fields,
 * count, Y, X]. */
collet_status scatter_fields(collet_scattering *s, int64_t m, int64_t first, int64_t count,
                             collet_array *out);

/* The slices about Ewald's sphere of energies first .. end-1: fills `range`, which may be NULL, and
 * returns how many a pixel has at most. */
int64_t scatter_depth(const collet_scattering *s, int64_t first, int64_t end, int32_t *range);
/* Makes s->slices for the energies of the pass that s->next is in. */
collet_status scatter_slices(collet_scattering *s);

/* `count` energies from s->next on, into s->out. */
collet_status scatter_fast(collet_scattering *s, int64_t count);
collet_status scatter_direct(collet_scattering *s, int64_t count);

/* k [count, 3] of energies and q of columns, rows and slices; places on Ewald's sphere. */
typedef struct scatter_sphere {
    collet_array *k, *q[3];
    collet_array *slice, *fraction; /* [1, Y, X] */
} scatter_sphere;
/* k of `count` energies from `energy` on, and q. To be freed after a failure, too. */
collet_status scatter_waves(collet_scattering *s, int64_t energy, int64_t count,
                            scatter_sphere *sphere);
/* Everything of one energy. */
collet_status scatter_sphere_make(collet_scattering *s, int64_t energy, scatter_sphere *sphere);
void scatter_sphere_free(scatter_sphere *sphere);
/* The mean of images [count, K, Y, X] by weights [angles, K] into the first `count` of s->out. */
collet_status scatter_mean(collet_scattering *s, collet_array *images, int64_t kinds,
                           const double *weights, int64_t first, int64_t count);

#endif
