/* SPDX-License-Identifier: Apache-2.0 */
/* The exact grid (option `grid`): properties that the pattern of every film must have. */
#include <complex.h>

#include "backend.h"
#include "gradient.h"
#include "morphologies.h"

/* A film that owns its arrays. It has two materials with Euler angles, and vacuum fills the rest of each voxel. */
typedef struct film {
    int64_t shape[3];
    double *array[3][4];
    collet_scatter_material material[3];
    collet_scatter_constants constants[ENERGIES * 3];
    double voxel;
    const double *energies;
    double direction[3], detector[3], angles[3];
    uint32_t material_frame;
} film;

static const double energies[ENERGIES] = {285.2, 270.0, 320.5};

/* Makes a film of vacuum. Two materials have optical constants; the constants of vacuum are 0. */
static void make_empty(film *f, int64_t z, int64_t y, int64_t x)
{
    uint64_t state = 3;
    size_t voxels = (size_t)(z * y * x);
    *f = (film){.shape = {z, y, x}, .voxel = 2.5, .energies = energies, .angles = {0, 15, 165}};
    for (int m = 0; m < 3; m++) {
        for (int a = 0; a < 4; a++)
            f->array[m][a] = calloc(voxels, sizeof(double));
        f->material[m] = (collet_scatter_material){.struct_size = sizeof f->material[m],
                                                   .dtype = COLLET_F64,
                                                   .volume = f->array[m][0]};
        if (m < 2) {
            f->material[m].alignment = f->array[m][1];
            f->material[m].theta = f->array[m][2];
            f->material[m].psi = f->array[m][3];
        }
    }
    for (size_t i = 0; i < voxels; i++)
        f->array[2][0][i] = 1;
    for (int i = 0; i < ENERGIES * 3; i++)
        if (i % 3 < 2)
            f->constants[i] = (collet_scatter_constants){
                2e-3 * random_number(&state), 2e-3 * random_number(&state),
                2e-3 * random_number(&state), 2e-3 * random_number(&state)};
}

static void free_film(film *f)
{
    for (int m = 0; m < 3; m++)
        for (int a = 0; a < 4; a++)
            free(f->array[m][a]);
}

static void set_voxel(film *f, int64_t i, const double values[8])
{
    for (int m = 0; m < 2; m++)
        for (int a = 0; a < 4; a++)
            f->array[m][a][i] = values[4 * m + a];
    f->array[2][0][i] = 1 - values[0] - values[4];
}

static void get_voxel(const film *f, int64_t i, double values[8])
{
    for (int m = 0; m < 2; m++)
        for (int a = 0; a < 4; a++)
            values[4 * m + a] = f->array[m][a][i];
}

static void make_random_film(film *f, int64_t z, int64_t y, int64_t x)
{
    uint64_t state = 7;
    make_empty(f, z, y, x);
    for (int64_t i = 0; i < z * y * x; i++) {
        double part = random_number(&state), values[8];
        for (int m = 0; m < 2; m++) {
            values[4 * m] = (m ? 1 - part : part) * 0.9;
            values[4 * m + 1] = random_number(&state);
            values[4 * m + 2] = PI * random_number(&state);
            values[4 * m + 3] = 2 * PI * random_number(&state);
        }
        set_voxel(f, i, values);
    }
}

static collet_scatter_options options_of_film(const film *f, collet_dtype dtype)
{
    collet_scatter_options o = COLLET_SCATTER_OPTIONS;
    o.dtype = dtype;
    memcpy(o.shape, f->shape, sizeof o.shape);
    memcpy(o.direction, f->direction, sizeof o.direction);
    memcpy(o.detector, f->detector, sizeof o.detector);
    memcpy(o.angles, f->angles, sizeof o.angles);
    o.voxel = f->voxel;
    o.material_frame = f->material_frame;
    o.n_materials = 3;
    o.materials = f->material;
    o.n_energies = ENERGIES;
    o.energies = f->energies;
    o.constants = f->constants;
    return o;
}

static double *patterns(const film *f, collet_dtype dtype)
{
    collet_scatter_options o = options_of_film(f, dtype);
    assert_int_equal(o.grid, COLLET_SCATTER_EXACT);
    return patterns_of(cx, &o);
}

static double tolerance(collet_dtype dtype)
{
    return dtype == COLLET_F64 ? 1e-11 : 2e-5;
}

/* Compares each energy's pattern, pixel by pixel, relative to the larger of the pixel and `floor` times the peak. */
static void assert_same(const film *f, const double *a, const double *b, double limit, double floor,
                        const char *what)
{
    int64_t pixels = f->shape[1] * f->shape[2];
    for (int64_t e = 0; e < ENERGIES; e++) {
        const double *p = a + e * pixels, *q = b + e * pixels;
        double peak = 0;
        for (int64_t i = 0; i < pixels; i++)
            peak = fmax(peak, isnan(p[i]) ? 0 : p[i]);
        assert_true(peak > 0);
        for (int64_t i = 0; i < pixels; i++)
            if (isnan(p[i]) != isnan(q[i]) ||
                fabs(p[i] - q[i]) > limit * fmax(fabs(p[i]), floor * peak))
                fail_msg("%s: energy %d, row %d, column %d: %.12g and %.12g", what, (int)e,
                         (int)(i / f->shape[2]), (int)(i % f->shape[2]), p[i], q[i]);
    }
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* q_z of a pixel for a beam along z. */
static double qz_of(const film *f, int64_t e, int64_t i)
{
    double k = 2 * PI * f->energies[e] / 1239.84197;
    double qy = (double)(i / f->shape[2] - f->shape[1] / 2) * 2 * PI / ((double)f->shape[1] * f->voxel);
    double qx = (double)(i % f->shape[2] - f->shape[2] / 2) * 2 * PI / ((double)f->shape[2] * f->voxel);
    return sqrt(k * k - qx * qx - qy * qy) - k;
}

/* L identical layers have the pattern of one layer times |sum of exp(i q_z a l)|^2, at every pixel. */
TEST(identical_layers_have_the_closed_form)
{
    static const int64_t layers[] = {3, 8, 32, 64};
    for (int wide = 0; wide < 2; wide++)
        for (size_t n = 0; n < sizeof layers / sizeof *layers; n++) {
            film one, many;
            collet_dtype dtype = wide ? COLLET_F64 : COLLET_F32;
            make_random_film(&one, 1, 18, 20);
            make_empty(&many, layers[n], 18, 20);
            for (int64_t i = 0; i < layers[n] * 18 * 20; i++) {
                double values[8];
                get_voxel(&one, i % (18 * 20), values);
                set_voxel(&many, i, values);
            }
            one.angles[2] = many.angles[2] = 0; /* one angle, 0: no image is turned */
            double *a = patterns(&one, dtype), *b = patterns(&many, dtype), most = 0;
            for (int64_t i = 0; i < ENERGIES * 18 * 20; i++) {
                double qz = qz_of(&one, i / (18 * 20), i % (18 * 20));
                double complex sum = 0;
                for (int64_t l = 0; l < layers[n]; l++)
                    sum += cexp(I * qz * one.voxel * (double)l);
                most = fmax(most, fabs(qz) * (double)layers[n] * one.voxel / (2 * PI));
                /* pixels whose phase changes by more than half a turn from layer to layer have no value */
                a[i] *= fabs(qz) > PI / one.voxel ? (double)NAN : creal(sum * conj(sum));
            }
            assert_true(most > (double)layers[n] / 5);
            assert_same(&one, a, b, wide ? 1e-9 : 1e-3, wide ? 1e-12 : 1e-5, "identical layers");
            free(a);
            free(b);
            free_film(&one);
            free_film(&many);
        }
}

/* Copies a film into a larger film. It begins at layer z, row y and column x; rows and columns wrap round. */
static void place_film(film *to, const film *from, int64_t z, int64_t y, int64_t x)
{
    const int64_t *n = from->shape;
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        double values[8];
        int64_t l = i / n[2] / n[1] + z, r = (i / n[2] % n[1] + y) % to->shape[1];
        get_voxel(from, i, values);
        set_voxel(to, (l * to->shape[1] + r) * to->shape[2] + (i % n[2] + x) % to->shape[2], values);
    }
}

/* Empty layers above and below, and a shift in the plane, change nothing; with oblique beams too. */
TEST(empty_layers_and_shifts_change_nothing)
{
    for (int wide = 0; wide < 2; wide++)
        for (int kind = 0; kind < 4; kind++) {
            film small, large;
            collet_dtype dtype = wide ? COLLET_F64 : COLLET_F32;
            make_random_film(&small, 5, 12, 15);
            make_empty(&large, kind == 2 ? 5 : 19, 12, 15);
            place_film(&large, &small, kind == 2 ? 0 : kind == 1 ? 14 : 6, kind >= 2 ? 7 : 0, kind >= 2 ? 4 : 0);
            if (kind == 3)
                small.direction[0] = large.direction[0] = 0.2, small.direction[2] = large.direction[2] = 1;
            small.material_frame = large.material_frame = kind == 1;
            FREED(double) *a = patterns(&small, dtype), *b = patterns(&large, dtype);
            assert_same(&small, a, b, tolerance(dtype), 1e-4, "empty layers");
            free_film(&small);
            free_film(&large);
        }
}

/* ---- Symmetries ------------------------------------------------------------------------------ */

/* Makes a film that is rotated or mirrored about the middle voxel: voxel x, y, z moves to a x + b y, c x + d y, z, with
 * m = {{a, b}, {c, d}}. The sides are odd and equal. */
static void turned_film(film *to, const film *from, const int m[2][2])
{
    int64_t Z = from->shape[0], N = from->shape[1], middle = N / 2;
    make_empty(to, Z, N, N);
    for (int64_t i = 0; i < Z * N * N; i++) {
        int64_t x = i % N - middle, y = i / N % N - middle;
        int64_t u = m[0][0] * x + m[0][1] * y + middle, v = m[1][0] * x + m[1][1] * y + middle;
        double values[8];
        get_voxel(from, i, values);
        for (int k = 0; k < 2; k++) {
            double s[2] = {cos(values[4 * k + 3]), sin(values[4 * k + 3])};
            values[4 * k + 3] = atan2(m[1][0] * s[0] + m[1][1] * s[1], m[0][0] * s[0] + m[0][1] * s[1]);
        }
        set_voxel(to, (i / N / N * N + v) * N + u, values);
    }
}

/* If the film is rotated by 90 or 180 degrees or mirrored, the pattern is rotated or mirrored in the same way. */
TEST(patterns_turn_with_the_film)
{
    static const int turns[][2][2] = {{{0, -1}, {1, 0}}, {{-1, 0}, {0, -1}}, {{-1, 0}, {0, 1}}, {{0, 1}, {1, 0}}};
    for (int wide = 0; wide < 2; wide++)
        for (size_t t = 0; t < sizeof turns / sizeof *turns; t++) {
            const int(*m)[2] = turns[t];
            int swaps = m[0][0] == 0, frame = !swaps;
            film film_, turned;
            collet_dtype dtype = wide ? COLLET_F64 : COLLET_F32;
            make_random_film(&film_, 4, 13, 13);
            turned_film(&turned, &film_, m);
            /* Each film has one angle, 0 for a field along x. If x and y are swapped, so is the field: 90. */
            film_.angles[0] = film_.angles[1] = film_.angles[2] = 0;
            turned.angles[0] = turned.angles[2] = swaps ? 90 : 0;
            turned.angles[1] = 0;
            film_.material_frame = turned.material_frame = (uint32_t)frame;
            FREED(double) *a = patterns(&film_, dtype), *b = patterns(&turned, dtype);
            FREED(double) *expected = malloc(ENERGIES * 169 * sizeof *expected);
            /* Images are turned back by the angle, so that the field is along x in the pattern. */
            for (int64_t i = 0; i < ENERGIES * 169; i++) {
                int64_t x = i % 13 - 6, y = i / 13 % 13 - 6;
                int64_t u = m[0][0] * x + m[0][1] * y, v = m[1][0] * x + m[1][1] * y, s = u;
                if (swaps) { /* by -90 degrees */
                    u = v;
                    v = -s;
                }
                expected[i / 169 * 169 + (v + 6) * 13 + u + 6] = a[i];
            }
            assert_same(&film_, expected, b, tolerance(dtype) * 10, 1e-4, t == 0 ? "a quarter turn" : t == 1 ? "half a turn" : t == 2 ? "a mirror" : "a diagonal mirror");
            free_film(&film_);
            free_film(&turned);
        }
}

/* The order of the materials changes nothing. With twice the edge of a voxel and half the energy the intensity is a
 * sixteenth, because it has the factor k^4. */
TEST(units_and_order_do_not_matter)
{
    static const double halves[ENERGIES] = {285.2 / 2, 270.0 / 2, 320.5 / 2};
    film f;
    make_random_film(&f, 5, 10, 11);
    FREED(double) *a = patterns(&f, COLLET_F64);
    f.voxel *= 2;
    f.energies = halves;
    FREED(double) *b = patterns(&f, COLLET_F64);
    for (int64_t i = 0; i < ENERGIES * 110; i++)
        b[i] *= 16;
    assert_same(&f, a, b, 1e-11, 1e-4, "units");
    f.voxel /= 2;
    f.energies = energies;
    collet_scatter_material material = f.material[0];
    f.material[0] = f.material[1];
    f.material[1] = material;
    for (int e = 0; e < ENERGIES; e++) {
        collet_scatter_constants c = f.constants[3 * e];
        f.constants[3 * e] = f.constants[3 * e + 1];
        f.constants[3 * e + 1] = c;
    }
    free(b);
    b = patterns(&f, COLLET_F64);
    assert_same(&f, a, b, 1e-11, 1e-4, "the order of materials");
    free_film(&f);
}

/* ---- Sums over voxels ------------------------------------------------------------------------ */

/* The polarisation of voxel i at energy number e, times 4 pi, for a unit electric field along x. */
static void polarisation(const film *f, int64_t i, int64_t e, double complex p[3])
{
    double values[8];
    get_voxel(f, i, values);
    p[0] = p[1] = p[2] = 0;
    for (int m = 0; m < 2; m++) {
        const collet_scatter_constants *c = &f->constants[3 * e + m];
        double complex along = 1 - c->delta_parallel + I * c->beta_parallel;
        double complex across = 1 - c->delta_perpendicular + I * c->beta_perpendicular;
        double complex mean = (along + 2 * across) / 3;
        double aligned = values[4 * m] * values[4 * m + 1], st = sin(values[4 * m + 2]);
        double s[3] = {cos(values[4 * m + 3]) * st, sin(values[4 * m + 3]) * st, cos(values[4 * m + 2])};
        p[0] += (values[4 * m] - aligned) * (mean * mean - 1) + aligned * (across * across - 1);
        for (int a = 0; a < 3; a++)
            p[a] += aligned * (along * along - across * across) * s[a] * s[0];
    }
}

/* Without rotation each pixel is |k^2 P - s (s P)|^2. P is the sum of p exp(i q r) over all voxels, p is a voxel's
 * polarisation, and s is the wave vector of the scattered beam. */
TEST(patterns_are_sums_over_voxels)
{
    film f;
    make_random_film(&f, 4, 7, 8);
    f.angles[1] = f.angles[2] = 0;
    FREED(double) *a = patterns(&f, COLLET_F64),
                  *expected = malloc(ENERGIES * 56 * sizeof *expected);
    for (int64_t n = 0; n < ENERGIES * 56; n++) {
        int64_t e = n / 56, pixel = n % 56;
        double k = 2 * PI * f.energies[e] / 1239.84197;
        double q[3] = {(double)(pixel % 8 - 4) * 2 * PI / (8 * f.voxel),
                       (double)(pixel / 8 - 3) * 2 * PI / (7 * f.voxel), qz_of(&f, e, pixel)};
        double s[3] = {q[0], q[1], k + q[2]};
        double complex sum[3] = {0}, along = 0;
        for (int64_t i = 0; i < 4 * 56; i++) {
            double complex p[3];
            polarisation(&f, i, e, p);
            double phase = f.voxel * (q[0] * (double)(i % 8) + q[1] * (double)(i / 8 % 7) +
                                      q[2] * (double)(i / 56));
            for (int c = 0; c < 3; c++)
                sum[c] += p[c] / (4 * PI) * cexp(I * phase);
        }
        for (int c = 0; c < 3; c++)
            along += s[c] * sum[c];
        expected[n] = 0;
        for (int c = 0; c < 3; c++)
            expected[n] += pow(cabs(k * k * sum[c] - s[c] * along), 2);
    }
    assert_same(&f, expected, a, 1e-10, 1e-6, "sums over voxels");
    free_film(&f);
}

/* A blob of density exp(-r M r / 2). Its transform is a Gauss function too, so each pixel has a closed form, for beams
 * of any direction. The density is nearly 0 at the edges, and the transform is below rounding at the largest q. */
TEST(blobs_have_the_closed_form_under_any_beam)
{
    enum { N = 48, PIXELS = N * N };
    static const double beams[][3] = {{0, 0, 1}, {0.3, 0, 1}, {-0.2, 0.4, 1}}, half = (N - 1) / 2.0;
    static const double c[3][3] = {{9, 0, 3}, {0, 6, -1}, {3, -1, 7}}; /* the inverse of M, in voxels^2 */
    double m[3][3], det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[j][i] = c[(i + 1) % 3][(j + 1) % 3] * c[(i + 2) % 3][(j + 2) % 3] -
                      c[(i + 1) % 3][(j + 2) % 3] * c[(i + 2) % 3][(j + 1) % 3];
    for (int i = 0; i < 3; i++)
        det += c[0][i] * m[i][0];
    film f;
    make_empty(&f, N, N, N);
    f.angles[1] = f.angles[2] = 0;
    f.voxel = 2.0;
    for (int64_t i = 0; i < (int64_t)N * PIXELS; i++) {
        double r[3] = {(double)(i % N) - half, (double)(i / N % N) - half, (double)(i / PIXELS) - half}, sum = 0;
        for (int a = 0; a < 9; a++)
            sum += r[a / 3] * m[a / 3][a % 3] * r[a % 3] / det;
        set_voxel(&f, i, (const double[]){exp(-sum / 2), 0, 0, 0, 0, 0, 0, 0});
    }
    for (size_t b = 0; b < 3; b++) {
        memcpy(f.direction, beams[b], sizeof f.direction);
        for (int i = 0; i < 3; i++) /* with this detector the pattern is not warped */
            f.detector[i] = i < 2 ? -beams[b][i] : beams[b][i];
        FREED(double) *a = patterns(&f, COLLET_F64),
                      *expected = malloc(ENERGIES * PIXELS * sizeof *expected);
        double norm = sqrt(beams[b][0] * beams[b][0] + beams[b][1] * beams[b][1] + 1);
        for (int64_t i = 0; i < ENERGIES * PIXELS; i++) {
            const collet_scatter_constants *o = &f.constants[i / PIXELS * 3];
            double k = 2 * PI * f.energies[i / PIXELS] / 1239.84197, s[3], q[3], exponent = 0;
            double x = beams[b][0] / norm, y = beams[b][1] / norm, z = 1 / norm;
            /* The field is along the x axis after the rotation that takes the z axis to the beam. */
            double e[3] = {1 - x * x / (1 + z), -x * y / (1 + z), -x};
            q[0] = (double)(i % N - N / 2) * 2 * PI / (N * f.voxel);
            q[1] = (double)(i / N % N - N / 2) * 2 * PI / (N * f.voxel);
            s[0] = k * x + q[0];
            s[1] = k * y + q[1];
            s[2] = sqrt(k * k - s[0] * s[0] - s[1] * s[1]);
            q[2] = s[2] - k * z;
            for (int n = 0; n < 9; n++)
                exponent += q[n / 3] * c[n / 3][n % 3] * q[n % 3] * f.voxel * f.voxel / 2;
            double complex index = 1 - (o->delta_parallel + 2 * o->delta_perpendicular) / 3 +
                                   I * (o->beta_parallel + 2 * o->beta_perpendicular) / 3;
            double complex p = (index * index - 1) / (4 * PI) * pow(2 * PI, 1.5) * sqrt(det) * exp(-exponent);
            double along = (s[0] * e[0] + s[1] * e[1] + s[2] * e[2]) / k;
            int inside = fabs(q[2]) <= PI / f.voxel; /* NaN: no sphere */
            expected[i] = inside ? creal(p * conj(p)) * pow(k, 4) * (1 - along * along) : (double)NAN;
        }
        assert_same(&f, expected, a, 1e-7, 1e-6, "a blob");
    }
    free_film(&f);
}

/* ---- q = 0 ----------------------------------------------------------------------------------- */

/* A film without structure in its planes has intensity at q = 0 only, whatever the angles. */
TEST(no_pixel_gets_a_part_of_q_0)
{
    for (int kind = 0; kind < 3; kind++) {
        film f;
        make_empty(&f, 3, 12 + kind, 13);
        for (int64_t i = 0; i < 3 * (12 + kind) * 13; i++)
            set_voxel(&f, i, (const double[]){0.75, 0, 0, 0, 0, 0, 0, 0});
        collet_scatter_options o = options_of_film(&f, COLLET_F64);
        if (kind == 2) {
            o.direction[0] = 0.2;
            o.direction[2] = 1;
            memcpy(o.detector, (const double[]){0.3, -0.1, 0.8}, sizeof o.detector);
        }
        FREED(double) *a = patterns_of(cx, &o);
        int64_t pixels = (12 + kind) * 13, zero = (12 + kind) / 2 * 13 + 6;
        for (int64_t i = 0; i < ENERGIES * pixels; i++)
            if (i % pixels == zero ? !(a[i] > 0) : a[i] > 1e-20 * a[i / pixels * pixels + zero])
                fail_msg("kind %d, pixel %d: %g", kind, (int)i, a[i]);
        o.omit_zero = 1;
        FREED(double) *b = patterns_of(cx, &o);
        for (int64_t i = 0; i < ENERGIES * pixels; i++)
            assert_true(i % pixels == zero ? isnan(b[i]) : isnan(a[i]) ? isnan(b[i]) : a[i] == b[i]);
        free_film(&f);
    }
}

/* The options that choose slices, or that replace the value at q = 0 by its neighbours, belong to the other grids. */
TEST(options_of_other_grids_are_refused)
{
    film f;
    collet_error err;
    collet_scatter *s;
    make_random_film(&f, 2, 4, 4);
    for (int kind = 0; kind < 2; kind++) {
        collet_scatter_options o = options_of_film(&f, COLLET_F64);
        *(kind ? &o.nearest : &o.neighbours) = 1;
        assert_error(collet_scatter_create(cx, &s, &o, &err), COLLET_INVALID, err,
                     kind ? "nearest" : "neighbours");
    }
    free_film(&f);
}

/* ---- Parts and comparisons ------------------------------------------------------------------- */

/* If the range of all energies is given, an energy that is computed alone has the same bits as when all energies
 * are computed together. Both dtypes are tested. */
TEST(energies_of_a_range_have_the_same_bits)
{
    film f;
    make_random_film(&f, 6, 9, 12);
    f.direction[0] = 0.1;
    f.direction[2] = 1;
    for (int wide = 0; wide < 2; wide++) {
        collet_scatter_options o = options_of_film(&f, wide ? COLLET_F64 : COLLET_F32);
        FREED(double) *all = patterns_of(cx, &o);
        o.energy_range[0] = 270.0;
        o.energy_range[1] = 320.5;
        o.n_energies = 1;
        for (int64_t e = 0; e < ENERGIES; e++) {
            o.energies = energies + e;
            o.constants = f.constants + 3 * e;
            FREED(double) *one = patterns_of(cx, &o);
            assert_memory_equal(one, all + e * 108, 108 * sizeof *one);
        }
    }
    /* One or two energies, without a range: at q = 0 each q_z is 0, or a tiny number of either sign by rounding. */
    for (int i = 0; i < 40; i++) {
        const double energy[2] = {250.0 + i * 2.718, 251.0 + i * 2.718};
        collet_scatter_options o = options_of_film(&f, COLLET_F64);
        o.direction[1] = 0.013 * i;
        o.n_energies = 1 + i % 2;
        o.energies = energy;
        FREED(double) *some = patterns_of(cx, &o);
        for (int e = 0; e <= i % 2; e++)
            assert_true(some[e * 108 + 4 * 12 + 6] > 0);
    }
    collet_error err;
    collet_scatter *s;
    collet_scatter_options o = options_of_film(&f, COLLET_F64);
    o.energy_range[0] = 300;
    assert_error(collet_scatter_create(cx, &s, &o, &err), COLLET_INVALID, err,
                 "range of energies is 300 to 0 eV");
    free_film(&f);
}

/* A callback that reads layers of a film, as a program does for films that do not fit in memory. */
static collet_status read_layers(void *user, void *const *arrays, int64_t m, int64_t first, int64_t count,
                                 collet_error *err)
{
    const film *f = user;
    int64_t plane = f->shape[1] * f->shape[2];
    for (int a = 0; a < (m < 2 ? 4 : 1); a++)
        memcpy(arrays[a], f->array[m][a] + first * plane, (size_t)(count * plane) * sizeof(double));
    return COLLET_OK;
}

/* The comparison reports quotients of the intensities of the two patterns. It compares only the middle of a large film. */
TEST(grids_are_compared)
{
    film f, large;
    collet_scatter_comparison c = {.struct_size = sizeof c}, of_layers = c, of_large = c;
    make_random_film(&f, 5, 64, 64);
    make_random_film(&large, 5, 90, 70);
    place_film(&large, &f, 0, 13, 3);
    collet_scatter_options o = options_of_film(&f, COLLET_F64);
    o.omit_zero = 1;
    double *exact = patterns_of(cx, &o), low = INFINITY, high = 0, sums[2] = {0}, peak = 0;
    o.grid = COLLET_SCATTER_FFT;
    FREED(double) *other = patterns_of(cx, &o);
    int64_t first = ENERGIES / 2 * 64 * 64;
    for (int64_t i = first; i < first + 64 * 64; i++)
        peak = fmax(peak, exact[i]);
    for (int64_t i = first; i < first + 64 * 64; i++)
        if (exact[i] > 1e-3 * peak && !isnan(other[i])) {
            low = fmin(low, other[i] / exact[i]);
            high = fmax(high, other[i] / exact[i]);
            sums[0] += exact[i];
            sums[1] += other[i];
        }
    o.omit_zero = 0;
    assert_int_equal(collet_scatter_compare(cx, &c, &o, NULL), COLLET_OK);
    assert_true(c.energy == 270.0 && c.y == 64 && c.x == 64);
    assert_true(fabs(c.low / low - 1) < 1e-9 && fabs(c.high / high - 1) < 1e-9);
    assert_true(fabs(c.total / (sums[1] / sums[0]) - 1) < 1e-9 && high > 1.01);
    for (int m = 0; m < 3; m++)
        f.material[m] = (collet_scatter_material){.struct_size = sizeof f.material[m],
                                                  .dtype = COLLET_F64,
                                                  .kind = m < 2 ? COLLET_SCATTER_EULER : COLLET_SCATTER_ISOTROPIC};
    o.layers = read_layers;
    o.layers_user = &f;
    assert_int_equal(collet_scatter_compare(cx, &of_layers, &o, NULL), COLLET_OK);
    assert_memory_equal(&of_layers, &c, sizeof c);
    o = options_of_film(&large, COLLET_F64);
    o.grid = COLLET_SCATTER_FFT;
    assert_int_equal(collet_scatter_compare(cx, &of_large, &o, NULL), COLLET_OK);
    assert_memory_equal(&of_large, &c, sizeof c);
    o.grid = COLLET_SCATTER_EXACT;
    assert_int_equal(collet_scatter_compare(cx, &c, &o, NULL), COLLET_OK);
    assert_true(c.low == 1 && c.high == 1 && c.total == 1);
    free(exact);
    free_film(&f);
    free_film(&large);
}

/* ---- Gradients ------------------------------------------------------------------------------- */

static double *gradient_of(const film *f)
{
    collet_scatter_options o = options_of_film(f, COLLET_F64);
    int64_t pixels = f->shape[1] * f->shape[2];
    return volume_gradient(&o, f->shape[0] * pixels, ENERGIES * pixels);
}

/* The voxels of a film have the same gradients with empty layers above and below it. */
TEST(empty_layers_do_not_change_gradients)
{
    film small, large;
    make_random_film(&small, 5, 9, 10);
    make_empty(&large, 17, 9, 10);
    place_film(&large, &small, 4, 0, 0);
    double *a = gradient_of(&small), *b = gradient_of(&large), most = 0;
    for (int64_t i = 0; i < 450; i++)
        most = fmax(most, fabs(a[i]));
    assert_true(most > 0);
    for (int64_t i = 0; i < 450; i++)
        if (!(fabs(a[i] - b[4 * 90 + i]) <= 1e-11 * most))
            fail_msg("voxel %d: %.12g and %.12g", (int)i, a[i], b[4 * 90 + i]);
    free(a);
    free(b);
    free_film(&small);
    free_film(&large);
}

TEST_GROUP(set_up, tear_down)

int main(int argc, char **argv)
{
    return take_backend(argc, argv) ? test_run() : SKIPPED;
}
