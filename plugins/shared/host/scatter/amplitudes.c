/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_amplitudes, scatter_intensities: each pixel at its own q_z.
 * Tests: conformance/scatter/amplitudes.c */
#include "scatter.h"

#include <math.h>

#include "numbers.h"
#include "pattern.h"

#define AT_A_TIME 8 /* fields */

/* Number (i, j) of a matrix. */
static double entry(const collet_operand *o, int64_t i, int64_t j)
{
    return real_at(cpu_at(o) + i * cpu_step(o, 0) + j * cpu_step(o, 1), is_wide(o));
}

/* The middle (which = 0) of a pixel's interval of q_z, or half its width (1). */
static double interval_at(const collet_operand *o, int64_t which, int64_t y, int64_t x)
{
    return real_at(cpu_at(o) + which * cpu_step(o, 0) + y * cpu_step(o, 1) + x * cpu_step(o, 2), 1);
}

static char *element_at(const collet_operand *o, int64_t a, int64_t b, int64_t y, int64_t x)
{
    return cpu_at(o) + a * cpu_step(o, 0) + b * cpu_step(o, 1) + y * cpu_step(o, 2) +
           x * cpu_step(o, 3);
}

/* ---- Amplitudes ------------------------------------------------------------------------------ */

/* Adds the layers to fields f .. f + count - 1 of a pixel, at q_z = q. */
static void add_layers(const collet_kernel_call *call, int64_t f, int64_t count, int64_t y,
                       int64_t x, double q, complex_number *sum)
{
    const collet_scatter_params *params = call->params;
    const collet_operand *planes = operand_of(call, 1);
    int64_t Y = planes->shape[2], X = operand_of(call, 0)->shape[3];
    int64_t b = (Y / 2 - y + Y) % Y, c = (X / 2 - x + X) % X;
    double middle = (double)(cpu_scatter_layers(call) - 1) / 2;
    scatter_spectrum s = {.extent = {1, Y, X},
                          .step = {0, cpu_step(planes, 2), cpu_step(planes, 3)},
                          .half = planes->shape[3] != X,
                          .wide = is_wide(planes)};
    for (int64_t l = 0; l < planes->shape[1]; l++) {
        double angle = q * params->thickness * ((double)(params->layer + l) - middle);
        complex_number turn = {cos(angle), sin(angle)};
        for (int64_t i = 0; i < count; i++) {
            s.at = cpu_at(planes) + (f + i) * cpu_step(planes, 0) + l * cpu_step(planes, 1);
            sum[i] = add(sum[i], times(scatter_element(&s, 0, b, c), turn));
        }
    }
}

void cpu_scatter_amplitudes(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *before = operand_of(call, 4);
    int64_t fields = out->shape[1], Y = out->shape[2], X = out->shape[3];
    for (int64_t i = begin * X; i < end * X; i++) {
        int64_t x = i % X, y = i / X % Y, d = i / X / Y;
        double q = interval_at(operand_of(call, 3), 0, y, x) +
                   interval_at(operand_of(call, 3), 1, y, x) * entry(operand_of(call, 2), 0, d);
        for (int64_t f = 0; f < fields; f += AT_A_TIME) {
            int64_t count = fields - f < AT_A_TIME ? fields - f : AT_A_TIME;
            complex_number sum[AT_A_TIME] = {{0.0, 0.0}};
            for (int64_t k = 0; k < count && operand_present(before); k++)
                sum[k] = complex_at(element_at(before, d, f + k, y, x), is_wide(before));
            if (!isnan(q))
                add_layers(call, f, count, y, x, q, sum);
            for (int64_t k = 0; k < count; k++)
                set_complex(element_at(out, d, f + k, y, x), is_wide(out), sum[k]);
        }
    }
}

/* ---- Intensities ----------------------------------------------------------------------------- */

/* Sets s to k + q on Ewald's sphere at the pixel qx, qy. Returns 0 if the sphere does not reach this pixel, or if
 * q_z is beyond the limit. */
static int on_sphere(const collet_kernel_call *call, const double k[3], double qx, double qy,
                     double s[3])
{
    const collet_scatter_params *params = call->params;
    double square;
    s[0] = k[0] + qx;
    s[1] = k[1] + qy;
    square = scatter_dot(k, k) - s[0] * s[0] - s[1] * s[1];
    s[2] = sqrt(square);
    return square >= 0.0 && (params->limit == 0.0 || fabs(s[2] - k[2]) <= params->limit);
}

/* Adds `share` times the six sums at node d of row e Y + y, pixel x. */
static void add_node(const collet_kernel_call *call, int64_t row, int64_t x, int64_t d,
                     double share, complex_number sum[6])
{
    const collet_operand *amplitudes = operand_of(call, 1), *weights = operand_of(call, 4);
    int64_t Y = amplitudes->shape[2], e = row / Y, y = row % Y;
    for (int64_t f = 0; f < amplitudes->shape[1]; f++) {
        complex_number a =
            scaled(complex_at(element_at(amplitudes, d, f, y, x), is_wide(amplitudes)), share);
        const char *w = cpu_at(weights) + e * cpu_step(weights, 0) + f * cpu_step(weights, 2);
        for (int c = 0; c < 6; c++)
            sum[c] =
                add(sum[c], times(a, complex_at(w + c * cpu_step(weights, 1), is_wide(weights))));
    }
}

/* Interpolates the six sums at place t of the interval -1 .. 1, by the barycentric formula (Berrut and Trefethen, SIAM
 * Review 46, 2004, doi 10.1137/S0036144502417715). */
static void amplitudes_at(const collet_kernel_call *call, int64_t row, int64_t x, double t,
                          complex_number sum[6])
{
    const collet_operand *nodes = operand_of(call, 2);
    double total = 0.0;
    for (int c = 0; c < 6; c++)
        sum[c] = (complex_number){0.0, 0.0};
    for (int64_t d = 0; d < nodes->shape[1]; d++) {
        double away = t - entry(nodes, 0, d);
        if (away == 0.0) {
            for (int c = 0; c < 6; c++)
                sum[c] = (complex_number){0.0, 0.0};
            add_node(call, row, x, d, 1.0, sum);
            return;
        }
        total += entry(nodes, 1, d) / away;
        add_node(call, row, x, d, entry(nodes, 1, d) / away, sum);
    }
    for (int c = 0; c < 6; c++)
        sum[c] = scaled(sum[c], 1.0 / total);
}

void cpu_scatter_intensities(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *angles = operand_of(call, 8);
    int64_t X = out->shape[3];
    for (int64_t i = begin * X; i < end * X; i++) {
        int64_t row = i / X, x = i % X, e = row / out->shape[2], y = row % out->shape[2];
        complex_number amplitude[6], p[3];
        double k[3], s[3], parts[3] = {0.0};
        read_vector(operand_of(call, 5), e, k);
        double middle = interval_at(operand_of(call, 3), 0, y, x);
        double half = interval_at(operand_of(call, 3), 1, y, x);
        int inside = on_sphere(call, k, scatter_number(operand_of(call, 6), x),
                               scatter_number(operand_of(call, 7), y), s) &&
                     !isnan(middle) && operand_of(call, 2)->shape[1] > 0;
        if (inside)
            amplitudes_at(call, row, x, half == 0.0 ? 0.0 : (s[2] - k[2] - middle) / half,
                          amplitude);
        if (inside && !operand_present(angles))
            scatter_three_parts(amplitude, s, scatter_dot(k, k), parts);
        for (int64_t j = 0; j < out->shape[1]; j++) {
            double value = inside ? parts[j % 3] : NAN;
            if (inside && operand_present(angles)) {
                scatter_at_angle(amplitude, k, scatter_number(angles, j), p);
                value = scatter_intensity(p, s, scatter_dot(k, k));
            }
            set_real(element_at(out, e, j, y, x), is_wide(out), value);
        }
    }
}
