/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of q_z: the sums of squares before and after the transforms are equal (Parseval), and patterns that are
 * interpolated between nodes converge as the coefficients of Chebyshev's polynomials decay. */
#include <complex.h>

#include "backend.h"
#include "morphologies.h"

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* An array of numbers, which are converted to the dtype. */
static collet_array *array_of(collet_dtype dtype, int32_t ndim, const int64_t *shape, const double *numbers)
{
    collet_array *array;
    int64_t count = 1;
    for (int32_t i = 0; i < ndim; i++)
        count *= shape[i];
    float *single = malloc((size_t)count * sizeof *single);
    for (int64_t i = 0; i < count; i++)
        single[i] = (float)numbers[i];
    assert_ok(cx, collet_array_from(cx, &array, dtype, ndim, shape, dtype == COLLET_F64 ? (const void *)numbers : single));
    free(single);
    return array;
}

/* The amplitudes of one field [L, Y, X] at nodes; interval: the same middle and half width for each pixel. */
static collet_array *amplitudes_of(collet_dtype dtype, const int64_t *n, const double *field, int64_t depth,
                                   const double *nodes, const double interval[2])
{
    collet_dtype spectrum = dtype == COLLET_F64 ? COLLET_C128 : COLLET_C64;
    collet_scatter_params params = {.struct_size = sizeof params, .layers = (uint32_t)n[0], .thickness = 1.0};
    int64_t pixels = n[1] * n[2];
    double *intervals = malloc((size_t)(2 * pixels) * sizeof *intervals);
    for (int64_t i = 0; i < 2 * pixels; i++)
        intervals[i] = interval[i / pixels];
    collet_array *fields = array_of(dtype, 4, SHAPE(1, n[0], n[1], n[2]), field), *planes, *out;
    collet_array *places = array_of(COLLET_F64, 2, SHAPE(2, depth), nodes);
    collet_array *of_pixels = array_of(COLLET_F64, 3, SHAPE(2, n[1], n[2]), intervals);
    assert_ok(cx, collet_array_create(cx, &planes, spectrum, 4, SHAPE(1, n[0], n[1], n[2] / 2 + 1)));
    assert_ok(cx, collet_array_create(cx, &out, spectrum, 4, SHAPE(depth, 1, n[1], n[2])));
    assert_ok(cx, collet_op_fft(cx, planes, fields, 2, 0));
    assert_ok(cx, collet_op_scatter_amplitudes(cx, out, planes, places, of_pixels, NULL, &params));
    collet_array_destroy(fields);
    collet_array_destroy(planes);
    collet_array_destroy(places);
    collet_array_destroy(of_pixels);
    free(intervals);
    return out;
}

/* L nodes divide a full turn of the phase into equal parts: the sum of |amplitude|^2 over nodes and pixels is L Y X
 * times the sum of |field|^2. */
TEST(sums_of_squares_are_kept)
{
    static const int64_t shapes[][3] = {{1, 16, 18}, {8, 15, 20}, {33, 12, 17}, {64, 9, 9}};
    for (int wide = 0; wide < 2; wide++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const int64_t *n = shapes[k];
            int64_t voxels = n[0] * n[1] * n[2];
            collet_dtype dtype = wide ? COLLET_F64 : COLLET_F32;
            uint64_t seed = k + 3;
            FREED(double) *field = malloc((size_t)voxels * sizeof *field),
                          *nodes = calloc((size_t)(2 * n[0]), sizeof *nodes);
            double expected = 0, found = 0;
            for (int64_t i = 0; i < voxels; i++) {
                field[i] = random_number(&seed);
                expected += field[i] * field[i] * (double)voxels;
            }
            for (int64_t d = 0; d < n[0]; d++)
                nodes[d] = (double)d / (double)n[0];
            OWNED(collet_array) *out =
                amplitudes_of(dtype, n, field, n[0], nodes, (const double[]){0.3, 2 * PI});
            FREED(void) *values = malloc((size_t)voxels * (wide ? 16 : 8));
            assert_ok(cx, collet_array_read(cx, out, values, (size_t)voxels * (wide ? 16 : 8)));
            for (int64_t i = 0; i < 2 * voxels; i++) {
                double x = wide ? ((double *)values)[i] : (double)((float *)values)[i];
                found += x * x;
            }
            if (!(fabs(found / expected - 1) <= (wide ? 1e-13 : 2e-6)))
                fail_msg("%s, %d layers: %.16g and %.16g", wide ? "f64" : "f32", (int)n[0], found, expected);
        }
}

/* One layer, one angle, the field along x. Each pixel of the pattern is divided by k^4 (1 - s_x^2 / k^2). The sum over
 * all pixels is then Y X times the sum of |p|^2 over the voxels. */
TEST(patterns_of_one_layer_keep_the_sum)
{
    enum { Y = 20, X = 18 };
    static const double energy = 320.5, voxel = 5.0;
    double k = 2 * PI * energy / 1239.84197, step = 2 * PI / voxel;
    const collet_scatter_constants constants[] = {{1e-3, 2e-4, 1e-3, 2e-4}, {0, 0, 0, 0}};
    double complex index = 1 - 1e-3 + I * 2e-4, p = (index * index - 1) / (4 * PI);
    for (int wide = 0; wide < 2; wide++) {
        double volume[2][Y * X], expected = 0, found = 0;
        uint64_t seed = 5;
        for (int i = 0; i < Y * X; i++) {
            volume[0][i] = random_number(&seed);
            volume[1][i] = 1 - volume[0][i];
            expected += volume[0][i] * volume[0][i] * creal(p * conj(p)) * Y * X;
        }
        collet_scatter_material materials[2];
        for (int m = 0; m < 2; m++)
            materials[m] = (collet_scatter_material){
                .struct_size = sizeof *materials, .dtype = COLLET_F64, .volume = volume[m]};
        collet_scatter_options o = COLLET_SCATTER_OPTIONS;
        o.dtype = wide ? COLLET_F64 : COLLET_F32;
        memcpy(o.shape, SHAPE(1, Y, X), sizeof o.shape);
        o.voxel = voxel;
        o.n_materials = 2;
        o.materials = materials;
        o.n_energies = 1;
        o.energies = &energy;
        o.constants = constants;
        double *values = patterns_of(cx, &o);
        for (int i = 0; i < Y * X; i++) {
            double x = (i % X - X / 2) * step / X;
            found += values[i] / (k * k * (k * k - x * x));
        }
        free(values);
        if (!(fabs(found / expected - 1) <= (wide ? 1e-13 : 1e-6)))
            fail_msg("%s: %.16g and %.16g", wide ? "f64" : "f32", found, expected);
    }
}

/* Chebyshev's nodes and their barycentric weights. */
static void make_nodes(double *nodes, int64_t depth)
{
    for (int64_t d = 0; d < depth; d++) {
        double angle = PI * ((double)d + 0.5) / (double)depth;
        nodes[d] = cos(angle);
        nodes[depth + d] = (d % 2 ? -1.0 : 1.0) * sin(angle);
    }
}

/* Returns the largest error of intensities that are interpolated between `depth` nodes, for some energies. The error is
 * relative to the square of the sum of the layers' magnitudes. There is one field along x; the beam is along z. */
static double error_of(const int64_t *n, const double *field, int64_t depth, double *r)
{
    enum { ENERGY = 7 };
    int64_t pixels = n[1] * n[2];
    double k[ENERGY][3] = {{0}}, weights[ENERGY][6][2] = {{{0}}}, *nodes = malloc((size_t)(2 * depth) * sizeof *nodes);
    double qx[64], qy[64], low = INFINITY, high = -INFINITY, worst = 0, sum = 0;
    for (int e = 0; e < ENERGY; e++) {
        k[e][2] = 1.9 + 0.1 * e;
        weights[e][0][0] = 1;
    }
    for (int64_t i = 0; i < n[2]; i++)
        qx[i] = (double)(i - n[2] / 2) * 0.9 / (double)n[2];
    for (int64_t i = 0; i < n[1]; i++)
        qy[i] = 1.1 + (double)i * 0.1 / (double)n[1];
    for (int64_t i = 0; i < ENERGY * pixels; i++) { /* one interval for all */
        double x = qx[i % n[2]], y = qy[i / n[2] % n[1]], z = k[i / pixels][2], q = sqrt(z * z - x * x - y * y) - z;
        low = fmin(low, q);
        high = fmax(high, q);
    }
    const double interval[] = {(low + high) / 2, (high - low) / 2};
    *r = interval[1] * (double)(n[0] - 1) / 2;
    make_nodes(nodes, depth);
    collet_array *amplitudes = amplitudes_of(COLLET_F64, n, field, depth, nodes, interval), *images;
    double *intervals = malloc((size_t)(2 * pixels) * sizeof *intervals);
    for (int64_t i = 0; i < 2 * pixels; i++)
        intervals[i] = interval[i / pixels];
    collet_array *inputs[] = {array_of(COLLET_F64, 2, SHAPE(2, depth), nodes), array_of(COLLET_F64, 3, SHAPE(2, n[1], n[2]), intervals),
                              NULL, array_of(COLLET_F64, 2, SHAPE(ENERGY, 3), &k[0][0]),
                              array_of(COLLET_F64, 1, SHAPE(n[2]), qx), array_of(COLLET_F64, 1, SHAPE(n[1]), qy)};
    collet_scatter_params params = {.struct_size = sizeof params, .layers = (uint32_t)n[0], .thickness = 1.0};
    assert_ok(cx, collet_array_from(cx, &inputs[2], COLLET_C128, 3, SHAPE(ENERGY, 6, 1), weights));
    assert_ok(cx, collet_array_create(cx, &images, COLLET_F64, 4, SHAPE(ENERGY, 3, n[1], n[2])));
    assert_ok(cx, collet_op_scatter_intensities(cx, images, amplitudes, inputs[0], inputs[1], inputs[2], inputs[3], inputs[4],
                                                inputs[5], NULL, &params));
    double *found = malloc((size_t)(ENERGY * 3 * pixels) * sizeof *found);
    assert_ok(cx, collet_array_read(cx, images, found, (size_t)(ENERGY * 3 * pixels) * sizeof *found));
    for (int64_t i = 0; i < n[0] * pixels; i++)
        sum += fabs(field[i]);
    for (int64_t i = 0; i < ENERGY * pixels; i++) {
        int64_t e = i / pixels, row = i / n[2] % n[1], column = i % n[2];
        double x = qx[column], y = qy[row], z = k[e][2], q = sqrt(z * z - x * x - y * y) - z;
        double complex a = 0; /* the sum over all voxels at the pixel's own q_z */
        for (int64_t v = 0; v < n[0] * pixels; v++)
            a += field[v] * cexp(I * (2 * PI * ((double)((column - n[2] / 2) * (v % n[2])) / (double)n[2] +
                                                (double)((row - n[1] / 2) * (v / n[2] % n[1])) / (double)n[1]) +
                                      q * ((double)(v / pixels) - (double)(n[0] - 1) / 2)));
        double factor = z * z * (z * z - x * x), half = factor * creal(a * conj(a)) / 2;
        worst = fmax(worst, fabs(found[(e * 3) * pixels + i % pixels] - half) / (factor * sum * sum));
    }
    for (int i = 0; i < 6; i++)
        collet_array_destroy(inputs[i]);
    collet_array_destroy(amplitudes);
    collet_array_destroy(images);
    free(found);
    free(intervals);
    free(nodes);
    return worst;
}

/* The error of an amplitude is at most 4 times the sum of |J_n(r)| from n = depth on, and the error of an intensity
 * at most twice this. The engine's number of nodes is the first n beyond r with |J_n(r)| < 1e-16: the error is then
 * as small as rounding errors. With half of the nodes the error is larger. */
TEST(interpolation_converges_as_bessel_functions_decay)
{
    static const int64_t n[] = {41, 3, 4};
    uint64_t seed = 9;
    double field[41 * 3 * 4], r, errors[40];
    for (int i = 0; i < 41 * 3 * 4; i++)
        field[i] = random_number(&seed) - 0.3;
    for (int64_t depth = 1; depth < 40; depth++) {
        double bound = 0;
        errors[depth] = error_of(n, field, depth, &r);
        for (int i = (int)depth; i < 80; i++)
            bound += 8 * fabs(jn(i, r));
        if (!(errors[depth] <= bound + 1e-14))
            fail_msg("%d nodes: the error is %g, its bound %g", (int)depth, errors[depth], bound);
    }
    int depth = 1;
    while (depth <= r || fabs(jn(depth, r)) > 1e-16)
        depth++;
    assert_true(depth < 40 && r > 2);
    if (!(errors[depth] < 1e-14 && errors[depth / 2] > 1e-10))
        fail_msg("r = %g: the error is %g with %d nodes, %g with half of them", r, errors[depth], depth, errors[depth / 2]);
}

TEST_GROUP(set_up, tear_down)

int main(int argc, char **argv)
{
    return take_backend(argc, argv) ? test_run() : SKIPPED;
}
