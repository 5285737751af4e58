/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_ewald, scatter_projection, scatter_slices, scatter_images: pixels.
 * Tests: conformance/scatter/sphere.c */
#include "scatter.h"

#include <math.h>

#include "numbers.h"
#include "pattern.h"

#define PI 3.14159265358979323846

/* The first pixel of row e Y + y of an operand with the axes E, Y, X or Y, X. */
static char *pixels(const collet_operand *o, int64_t row)
{
    int32_t axis = o->ndim - 2;
    int64_t e = row / o->shape[axis], y = row % o->shape[axis];
    return cpu_at(o) + (axis ? e * cpu_step(o, 0) : 0) + y * cpu_step(o, axis);
}

static int32_t slice_at(const collet_operand *slice, int64_t row, int64_t x)
{
    return *(const int32_t *)(const void *)(pixels(slice, row) + x * cpu_last_step(slice));
}

/* ---- Ewald's sphere -------------------------------------------------------------------------- */

/* The position, in units of slices, where the Ewald sphere meets the pixel (qx, qy); NaN outside the slices. */
static double position(const double k[3], double qx, double qy, const collet_operand *qz)
{
    int64_t count = qz->shape[0];
    double x = k[0] + qx, y = k[1] + qy;
    double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2] - x * x - y * y;
    if (!(square >= 0.0) || count == 0)
        return NAN;
    if (count == 1)
        return 0.0;
    double first = scatter_number(qz, 0), last = scatter_number(qz, count - 1);
    double at = (sqrt(square) - k[2] - first) / ((last - first) / (double)(count - 1));
    return at >= 0.0 && at <= (double)(count - 1) ? at : NAN;
}

void cpu_scatter_ewald(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_scatter_params *params = call->params;
    const collet_operand *slice = operand_of(call, 0), *fraction = operand_of(call, 1);
    const collet_operand *qx = operand_of(call, 3), *qy = operand_of(call, 4);
    int64_t Y = slice->shape[1], X = slice->shape[2];
    for (int64_t row = begin; row < end; row++) {
        double k[3], y = scatter_number(qy, row % Y);
        read_vector(operand_of(call, 2), row / Y, k);
        for (int64_t i = 0; i < X; i++) {
            double at = position(k, scatter_number(qx, i), y, operand_of(call, 5));
            int outside = isnan(at);
            double whole = params->nearest ? round(at) : floor(at);
            *(int32_t *)(void *)(pixels(slice, row) + i * cpu_last_step(slice)) =
                outside ? -1 : (int32_t)whole;
            set_real(pixels(fraction, row) + i * cpu_last_step(fraction), is_wide(fraction),
                     outside || params->nearest ? 0.0 : at - whole);
        }
    }
}

/* ---- Spectra --------------------------------------------------------------------------------- */

complex_number scatter_element(const scatter_spectrum *s, int64_t z, int64_t y, int64_t x)
{
    if (!s->half || x <= s->extent[2] / 2)
        return complex_at(s->at + z * s->step[0] + y * s->step[1] + x * s->step[2], s->wide);
    y = (s->extent[1] - y) % s->extent[1];
    x = s->extent[2] - x;
    complex_number a = complex_at(s->at + y * s->step[1] + x * s->step[2], s->wide);
    return (complex_number){a.re, -a.im};
}

/* The mean of the neighbours of element 0, 0, 0: six neighbours along three axes or, with one slice, four along two. */
static complex_number about_zero(const scatter_spectrum *s)
{
    complex_number sum = {0.0, 0.0};
    int first = s->extent[0] == 1;
    for (int axis = first; axis < 3; axis++) {
        int64_t up[3] = {0}, down[3] = {0};
        up[axis] = 1 % s->extent[axis];
        down[axis] = s->extent[axis] - 1;
        sum = add(sum, add(scatter_element(s, up[0], up[1], up[2]), scatter_element(s, down[0], down[1], down[2])));
    }
    return scaled(sum, first ? 0.25 : 1.0 / 6.0);
}

/* The element of the spectrum for pixel x, y and slice z. Pixels and slices are ordered by q, with q = 0 at index
 * N / 2. */
static complex_number at_pixel(const scatter_spectrum *s, int64_t z, int64_t y, int64_t x, int neighbours)
{
    const int64_t *n = s->extent;
    int64_t a = (n[0] / 2 - z + n[0]) % n[0], b = (n[1] / 2 - y + n[1]) % n[1];
    int64_t c = (n[2] / 2 - x + n[2]) % n[2];
    return neighbours && a == 0 && b == 0 && c == 0 ? about_zero(s) : scatter_element(s, a, b, c);
}

/* Spectrum i of an operand of the axes i, Z, Y, X. */
static scatter_spectrum spectrum_of(const collet_operand *o, int64_t i)
{
    return (scatter_spectrum){.at = cpu_at(o) + i * cpu_step(o, 0),
                      .extent = {o->shape[1], o->shape[2], o->shape[3]},
                      .step = {cpu_step(o, 1), cpu_step(o, 2), cpu_step(o, 3)},
                      .wide = is_wide(o)};
}

/* ---- Slices ---------------------------------------------------------------------------------- */

int64_t cpu_scatter_layers(const collet_kernel_call *call)
{
    const collet_scatter_params *params = call->params;
    return params->layers ? params->layers : params->layer + operand_of(call, 1)->shape[1];
}

/* exp(-2 pi i a z / n) */
static complex_number phase(int64_t a, int64_t z, int64_t n)
{
    double angle = -2 * PI * (double)(a * z % n) / (double)n;
    return (complex_number){cos(angle), sin(angle)};
}

/* The contribution of layer l to slice `index` of field f at pixel y, x. */
static complex_number of_layer(const collet_kernel_call *call, int64_t f, int64_t l, int64_t index,
                               int64_t y, int64_t x)
{
    const collet_scatter_params *params = call->params;
    const collet_operand *layers = operand_of(call, 1);
    int64_t Y = layers->shape[2], X = operand_of(call, 0)->shape[3];
    int64_t Z = cpu_scatter_layers(call);
    scatter_spectrum s = {.at = cpu_at(layers) + f * cpu_step(layers, 0) + l * cpu_step(layers, 1),
                  .extent = {1, Y, X},
                  .step = {0, cpu_step(layers, 2), cpu_step(layers, 3)},
                  .half = layers->shape[3] != X,
                  .wide = is_wide(layers)};
    int64_t z = params->layer + l, b = (Y / 2 - y + Y) % Y, c = (X / 2 - x + X) % X;
    if (!params->neighbours || index != 0 || b != 0 || c != 0)
        return times(scatter_element(&s, 0, b, c), phase(index, z, Z));
    if (Z == 1)
        return about_zero(&s);
    /* The mean of six neighbours: two are in the adjacent slices, four in this slice. */
    return add(scaled(scatter_element(&s, 0, 0, 0), phase(1, z, Z).re / 3),
               scaled(about_zero(&s), 2.0 / 3));
}

void cpu_scatter_slices_pixel(const collet_kernel_call *call, int64_t row, int64_t x)
{
    const collet_operand *out = operand_of(call, 0), *layers = operand_of(call, 1);
    const collet_operand *range = operand_of(call, 2), *before = operand_of(call, 3);
    int64_t Y = out->shape[2], Z = cpu_scatter_layers(call), d = row / Y, y = row % Y;
    int64_t z = slice_at(range, y, x) + d;
    int inside = d < slice_at(range, Y + y, x) && z >= 0 && z < Z;
    for (int64_t f = 0; f < out->shape[1]; f++) {
        complex_number sum = {0.0, 0.0};
        if (operand_present(before))
            sum = complex_at(cpu_at(before) + d * cpu_step(before, 0) + f * cpu_step(before, 1) +
                                 y * cpu_step(before, 2) + x * cpu_step(before, 3),
                             is_wide(before));
        for (int64_t l = 0; inside && l < layers->shape[1]; l++)
            sum = add(sum, of_layer(call, f, l, (Z / 2 - z + Z) % Z, y, x));
        set_complex(cpu_at(out) + d * cpu_step(out, 0) + f * cpu_step(out, 1) +
                        y * cpu_step(out, 2) + x * cpu_step(out, 3),
                    is_wide(out), sum);
    }
}

void cpu_scatter_slices(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++)
        for (int64_t x = 0; x < operand_of(call, 0)->shape[3]; x++)
            cpu_scatter_slices_pixel(call, row, x);
}

/* ---- Intensity ------------------------------------------------------------------------------- */

double scatter_intensity(const complex_number p[3], const double s[3], double k_square)
{
    complex_number along = {0.0, 0.0};
    double sum = 0.0;
    for (int a = 0; a < 3; a++)
        along = add(along, scaled(p[a], s[a]));
    for (int a = 0; a < 3; a++) {
        complex_number field = add(scaled(p[a], k_square), scaled(along, -s[a]));
        sum += field.re * field.re + field.im * field.im;
    }
    return sum;
}

void cpu_scatter_projection(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_scatter_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *spectra = operand_of(call, 1);
    const collet_operand *slice = operand_of(call, 2), *fraction = operand_of(call, 3);
    int64_t X = out->shape[1], Z = spectra->shape[1];
    double k[3];
    read_vector(operand_of(call, 4), 0, k);
    for (int64_t y = begin; y < end; y++) {
        for (int64_t x = 0; x < X; x++) {
            int64_t z = slice_at(slice, y, x);
            double w =
                real_at(pixels(fraction, y) + x * cpu_last_step(fraction), is_wide(fraction));
            double sum = z < 0 || z >= Z ? NAN : 0.0;
            for (int64_t i = 0; i < 2 && z >= 0 && z + i < Z && (i == 0 || w != 0.0); i++) {
                double s[3] = {k[0] + scatter_number(operand_of(call, 5), x),
                               k[1] + scatter_number(operand_of(call, 6), y),
                               k[2] + scatter_number(operand_of(call, 7), z + i)};
                complex_number p[3];
                for (int a = 0; a < 3; a++) {
                    scatter_spectrum of = spectrum_of(spectra, a);
                    p[a] = at_pixel(&of, z + i, y, x, params->neighbours != 0);
                }
                sum += (i ? w : 1.0 - w) * scatter_intensity(p, s, scatter_dot(k, k));
            }
            set_real(cpu_at(out) + y * cpu_step(out, 0) + x * cpu_step(out, 1), is_wide(out), sum);
        }
    }
}

void scatter_at_angle(const complex_number amplitude[6], const double k[3], double angle,
                     complex_number p[3])
{
    double c = cos(angle), s = sin(angle), norm = sqrt(scatter_dot(k, k));
    complex_number q[3], along = {0.0, 0.0};
    for (int a = 0; a < 3; a++)
        p[a] = add(scaled(amplitude[a], c), scaled(amplitude[3 + a], s));
    if (norm == 0.0)
        return;
    for (int a = 0; a < 3; a++) {
        q[a] = p[a];
        along = add(along, scaled(p[a], k[a] / norm));
    }
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, d = (a + 2) % 3;
        complex_number cross = add(scaled(q[d], k[b] / norm), scaled(q[b], -k[d] / norm));
        p[a] = add(add(scaled(q[a], c), scaled(cross, -s)), scaled(along, k[a] / norm * (1.0 - c)));
    }
}

void scatter_three_parts(const complex_number amplitude[6], const double s[3], double k_square,
                        double part[3])
{
    double first = scatter_intensity(amplitude, s, k_square),
           second = scatter_intensity(amplitude + 3, s, k_square);
    complex_number both[3];
    for (int a = 0; a < 3; a++)
        both[a] = add(amplitude[a], amplitude[3 + a]);
    part[0] = (first + second) / 2;
    part[1] = (first - second) / 2;
    part[2] = (scatter_intensity(both, s, k_square) - first - second) / 2;
}

/* Computes the six sums of slice z at row e Y + y, pixel x. Returns 0 if the slice does not exist for this pixel. */
static int amplitude_of(const collet_kernel_call *call, int64_t row, int64_t x, int64_t z,
                        complex_number sum[6])
{
    const collet_operand *slices = operand_of(call, 1), *range = operand_of(call, 2);
    const collet_operand *weights = operand_of(call, 3);
    int64_t Y = slices->shape[2], e = row / Y, y = row % Y, d = z - slice_at(range, y, x);
    if (d < 0 || d >= slice_at(range, Y + y, x) || d >= slices->shape[0])
        return 0;
    for (int c = 0; c < 6; c++)
        sum[c] = (complex_number){0.0, 0.0};
    for (int64_t f = 0; f < slices->shape[1]; f++) {
        complex_number a =
            complex_at(cpu_at(slices) + d * cpu_step(slices, 0) + f * cpu_step(slices, 1) +
                           y * cpu_step(slices, 2) + x * cpu_step(slices, 3),
                       is_wide(slices));
        const char *w = cpu_at(weights) + e * cpu_step(weights, 0) + f * cpu_step(weights, 2);
        for (int c = 0; c < 6; c++)
            sum[c] =
                add(sum[c], times(a, complex_at(w + c * cpu_step(weights, 1), is_wide(weights))));
    }
    return 1;
}

/* Adds `share` times the images of slice z at row e Y + y, pixel x. */
static void add_slice(const collet_kernel_call *call, int64_t row, int64_t x, int64_t z,
                      double share)
{
    const collet_operand *out = operand_of(call, 0), *angles = operand_of(call, 8);
    int64_t e = row / out->shape[2], y = row % out->shape[2];
    complex_number amplitude[6], p[3];
    double k[3], parts[3];
    int present = amplitude_of(call, row, x, z, amplitude);
    read_vector(operand_of(call, 4), e, k);
    const double s[3] = {k[0] + scatter_number(operand_of(call, 5), x),
                         k[1] + scatter_number(operand_of(call, 6), y),
                         k[2] + scatter_number(operand_of(call, 7), z)};
    if (present && !operand_present(angles))
        scatter_three_parts(amplitude, s, scatter_dot(k, k), parts);
    for (int64_t i = 0; i < out->shape[1]; i++) {
        char *at = cpu_at(out) + e * cpu_step(out, 0) + i * cpu_step(out, 1) +
                   y * cpu_step(out, 2) + x * cpu_step(out, 3);
        double value = NAN;
        if (present && operand_present(angles)) {
            scatter_at_angle(amplitude, k, scatter_number(angles, i), p);
            value = scatter_intensity(p, s, scatter_dot(k, k));
        } else if (present) {
            value = parts[i];
        }
        set_real(at, is_wide(out), real_at(at, is_wide(out)) + share * value);
    }
}

void cpu_scatter_images(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_scatter_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *qz = operand_of(call, 7);
    int64_t X = out->shape[3];
    for (int64_t i = begin * X; i < end * X; i++) {
        int64_t row = i / X, x = i % X, e = row / out->shape[2], y = row % out->shape[2];
        double k[3];
        read_vector(operand_of(call, 4), e, k);
        double at = position(k, scatter_number(operand_of(call, 5), x), scatter_number(operand_of(call, 6), y), qz);
        double low = params->nearest ? round(at) : floor(at),
               share = params->nearest ? 0 : at - low;
        for (int64_t a = 0; a < out->shape[1]; a++)
            set_real(cpu_at(out) + e * cpu_step(out, 0) + a * cpu_step(out, 1) +
                         y * cpu_step(out, 2) + x * cpu_step(out, 3),
                     is_wide(out), isnan(at) ? NAN : 0.0);
        if (isnan(at))
            continue;
        add_slice(call, row, x, (int64_t)low, 1.0 - share);
        if (share != 0.0)
            add_slice(call, row, x, (int64_t)low + 1, share);
    }
}
