/* SPDX-License-Identifier: Apache-2.0 */
/* Absorption: exp(-mu t), mu = 4 pi beta / lambda, along the beam through the whole film. At small angles the path of
 * a scattered ray is as long as the path of the beam, at whatever depth it is scattered.
 * Tests: tests/engines/scatter/test_scatter_gradients.c, python/tests/test_scatter_gradients.py */
#include "scatter/attenuation.h"

#include <math.h>

#include "scatter/geometry.h"
#include "scatter/voxels.h"

static double number(const void *array, collet_dtype dtype, int64_t i)
{
    return dtype == COLLET_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

collet_status scatter_count_fractions(collet_scatter *s, int64_t m, int64_t first, int64_t count,
                                      const collet_scatter_material *view)
{
    const void *unaligned = view->direction ? view->unaligned : view->volume;
    int64_t voxels = count * s->options.shape[1] * s->options.shape[2];
    double sum = 0.0;
    if (!s->options.attenuation || first != s->counted[m])
        return COLLET_OK;
    collet_status status =
        view->arrays ? scatter_sum_fractions(s->context, view, scatter_is_wide(s), first, count, &sum, &s->error) : COLLET_OK;
    for (int64_t i = 0; i < voxels && unaligned; i++)
        sum += number(unaligned, view->dtype, i);
    for (int64_t i = 0; i < 3 * voxels && view->direction; i++) {
        double x = number(view->direction, view->dtype, i);
        sum += x * x;
    }
    s->volumes[m] += sum;
    s->counted[m] += status == COLLET_OK ? count : 0;
    return status;
}

double scatter_absorption(const collet_scatter *s, int64_t energy)
{
    double columns = (double)(s->options.shape[1] * s->options.shape[2]);
    return 2 * scatter_wave(s->options.energies[energy]) * s->options.voxel /
           (columns * s->axis[2][2]);
}

double scatter_mean_beta(const collet_scatter_constants *n)
{
    return (n->beta_parallel + 2 * n->beta_perpendicular) / 3;
}

double scatter_transmission(const collet_scatter *s, int64_t energy)
{
    int64_t materials = s->options.n_materials;
    double sum = 0.0;
    for (int64_t m = 0; m < materials && s->options.attenuation; m++)
        sum += scatter_mean_beta(&s->options.constants[energy * materials + m]) * s->volumes[m];
    return exp(-sum * scatter_absorption(s, energy));
}
