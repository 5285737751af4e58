/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_average, and the table of the family.
 * Tests: conformance/scatter/average.c */
#include "scatter.h"

#include <math.h>

#include "between.h"
#include "numbers.h"

/* The weighted sum of the images of energy e at a pixel. */
static double weighted(const collet_operand *images, const char *weights, int64_t weight_step,
                       int weight_wide, int64_t e, int64_t y, int64_t x)
{
    const char *at = cpu_at(images) + e * cpu_step(images, 0) + y * cpu_step(images, 2) +
                     x * cpu_step(images, 3);
    double sum = 0.0;
    for (int64_t k = 0; k < images->shape[1]; k++) {
        double w = real_at(weights + k * weight_step, weight_wide);
        if (w != 0.0)
            sum += w * real_at(at + k * cpu_step(images, 1), is_wide(images));
    }
    return sum;
}

/* A pixel of the image of angle a after this image has been rotated back. */
static double turned(const collet_kernel_call *call, int64_t a, int64_t e, int64_t y, int64_t x)
{
    const collet_operand *images = operand_of(call, 1), *angles = operand_of(call, 2);
    const collet_operand *weights = operand_of(call, 3);
    double angle = real_at(cpu_at(angles) + a * cpu_step(angles, 0), is_wide(angles));
    double c = cos(angle), s = sin(angle), sum = 0.0;
    double cx = scatter_centre(call, images->shape[3]), cy = scatter_centre(call, images->shape[2]);
    double aspect = scatter_aspect(call);
    double dx = (double)x - cx, dy = (double)y - cy;
    between across = between_pixels(cx + c * dx - s * aspect * dy, images->shape[3]);
    between down = between_pixels(cy + s / aspect * dx + c * dy, images->shape[2]);
    if (across.low < 0 || down.low < 0)
        return NAN;
    for (int i = 0; i < 4; i++) {
        double w =
            (i % 2 ? across.high : 1.0 - across.high) * (i / 2 ? down.high : 1.0 - down.high);
        if (w != 0.0)
            sum += w * weighted(images, cpu_at(weights) + a * cpu_step(weights, 0),
                                cpu_step(weights, 1), is_wide(weights), e, down.low + i / 2,
                                across.low + i % 2);
    }
    return sum;
}

void cpu_scatter_average(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_scatter_average_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    int64_t angles = operand_of(call, 2)->shape[0];
    for (int64_t row = begin; row < end; row++) {
        int64_t e = row / out->shape[1], y = row % out->shape[1];
        for (int64_t x = 0; x < out->shape[2]; x++) {
            double sum = 0.0;
            int64_t count = 0;
            for (int64_t a = 0; a < angles; a++) {
                double value = turned(call, a, e, y, x);
                if (params->mask && isnan(value))
                    continue;
                sum += value;
                count++;
            }
            set_real(cpu_at(out) + e * cpu_step(out, 0) + y * cpu_step(out, 1) +
                         x * cpu_step(out, 2),
                     is_wide(out), count || !params->mask ? sum / (double)count : 0.0);
        }
    }
}

cpu_scatter_rows cpu_scatter(const collet_kernel_call *call, int64_t *rows)
{
    static const cpu_scatter_rows ops[] = {
        cpu_scatter_euler,      cpu_scatter_vector, cpu_scatter_polarisation, cpu_scatter_ewald,
        cpu_scatter_projection, cpu_scatter_slices, cpu_scatter_images,       cpu_scatter_average,
        cpu_scatter_amplitudes, cpu_scatter_intensities};
    const collet_operand *out = operand_of(call, 0);
    int32_t last = out->ndim - 1;
    *rows = out->shape[last - 1];
    /* Voxels: Z Y. Images: E Y. */
    if (call->op <= COLLET_OP_SCATTER_POLARISATION)
        *rows *= out->shape[1];
    else if (last > 1)
        *rows *= out->shape[0];
    return ops[call->op - COLLET_OP_SCATTER_EULER];
}
