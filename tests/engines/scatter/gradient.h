/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.h - the gradient of a film for fixed cotangents. */
#ifndef TESTS_ENGINES_SCATTER_GRADIENT_H
#define TESTS_ENGINES_SCATTER_GRADIENT_H

#include <collet/scatter.h>

#include "common/fixture.h"

/* Returns dL / d(volume fraction) of the first of at most 3 materials: `voxels` numbers, which the caller frees. Uses
 * `values` cotangents that depend only on their index. */
static double *volume_gradient(const collet_scatter_options *o, int64_t voxels, int64_t values)
{
    double *volume = calloc((size_t)voxels, sizeof *volume), *cotangents = calloc((size_t)values, 8);
    collet_scatter_derivatives d[3] = {{.struct_size = sizeof *d, .volume = volume},
                                       {.struct_size = sizeof *d},
                                       {.struct_size = sizeof *d}};
    collet_scatter_gradients g = {.struct_size = sizeof g, .materials = d};
    collet_scatter *s;
    collet_error err;
    for (int64_t i = 0; i < values; i++)
        cotangents[i] = 1 + cos((double)i);
    if (collet_scatter_create(cx, &s, o, &err) || collet_scatter_differentiate(s, cotangents, &g, &err))
        fail_msg("%s", err.text);
    collet_scatter_destroy(s);
    free(cotangents);
    return volume;
}

#endif
