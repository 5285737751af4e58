/* SPDX-License-Identifier: Apache-2.0 */
/* libcollet-scatter: the fast and the direct method, compared with each other and with analytic patterns. */

#include "backend.h"
#include "morphologies.h"

static int several_passes; /* how often the smallest limit of memory needed several passes */

/* Compares the fast method (in f64, in f32, with little memory) with the direct method in f64. */
static void compare(const morphology *m, collet_scatter_options o, const char *what)
{
    int64_t pixels = o.shape[1] * o.shape[2];
    o.method = COLLET_SCATTER_DIRECT;
    FREED(double) *direct = patterns_of(cx, &o);
    for (int kind = 0; kind < 3; kind++) {
        int64_t passes = 0;
        o.method = COLLET_SCATTER_FAST;
        o.dtype = kind == 1 ? COLLET_F32 : COLLET_F64;
        o.memory = kind == 2 ? least_memory(cx, o, &passes) : 0;
        several_passes += passes > 1;
        FREED(double) *fast = patterns_of(cx, &o);
        for (int64_t e = 0; e < o.n_energies; e++) {
            double off = difference(direct + e * pixels, fast + e * pixels, pixels);
            if (off > (kind == 1 ? 2e-5 : 1e-12))
                fail_msg("%s, energy %d, kind %d: %g of the peak", what, (int)e, kind, off);
        }
    }
}

TEST(methods_agree)
{
    static const int64_t shapes[][3] = {{6, 12, 16}, {1, 14, 10}, {5, 9, 11}, {8, 16, 8}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < SCATTER_CASES; k++) {
            if (ADDRESS_SANITIZER && i != k / 2 % 4)
                continue; /* under ASan each case has only one of the shapes */
            collet_scatter_constants constants[ENERGIES * MATERIALS];
            morphology m;
            int64_t materials = 1 + (int64_t)(i + k) % MATERIALS;
            make_random(&m, shapes[i], materials, (int)(i + k) % 2, materials > 1 && k % 3 == 0);
            collet_scatter_options o = options_of(&m, shapes[i], constants);
            set_case(&o, &scatter_cases[k]);
            compare(&m, o, scatter_cases[k].what);
            free_morphology(&m);
        }
    assert_true(several_passes > 0);
}

TEST(the_callers_rounding_changes_nothing)
{
    static const int64_t shape[] = {5, 9, 11};
    collet_scatter_constants constants[ENERGIES * MATERIALS];
    char name[2][COLLET_SCATTER_NAME];
    double *patterns[2];
    morphology m;
    make_random(&m, shape, 2, 0, 0);
    collet_scatter_options o = options_of(&m, shape, constants);
    for (int i = 0; i < 2; i++) {
        if (i)
            unusual_floating();
        patterns[i] = patterns_of(cx, &o);
        collet_scatter_file_name(name[i], 280.121);
        usual_floating();
    }
    assert_string_equal(name[0], "Energy_280.12.h5");
    assert_string_equal(name[1], name[0]);
    assert_memory_equal(patterns[0], patterns[1],
                        ENERGIES * (size_t)(shape[1] * shape[2]) * sizeof *patterns[0]);
    free(patterns[0]);
    free(patterns[1]);
    free_morphology(&m);
}

/* If the Ewald sphere lies outside the slices at a pixel, even by less than half a slice, the pixel
 * has no nearest slice. */
TEST(nearest_slices_end_with_the_sphere)
{
    static const int64_t shape[] = {5, 3, 15};
    static const double energy[] = {823.0, 860.0, 900.0, 823.0};
    collet_scatter_constants constants[4 * MATERIALS];
    morphology m;
    make_random(&m, shape, 2, 0, 0);
    for (uint32_t mask = 0; mask < 2; mask++)
        for (int first = 0; first < 2; first++) {
            collet_scatter_options o = options_of(&m, shape, constants);
            o.voxel = 1.0;
            o.nearest = 1;
            o.mask = mask;
            o.energies = energy + first;
            o.angles[2] = mask ? 165.0 : 0.0;
            compare(&m, o, "nearest slices at the ends");
        }
    free_morphology(&m);
}

/* A pattern has the same bits whichever energies are computed together with it: after an
 * interruption the missing energies are computed without the other energies. */
TEST(energies_do_not_meet)
{
    enum { ALL = 40, FIRST = 23 };
    static const int64_t shape[] = {4, 24, 24};
    double several[ALL];
    collet_scatter_constants constants[ALL * MATERIALS];
    morphology m;
    make_random(&m, shape, 2, 0, 0);
    for (int i = 0; i < ALL; i++)
        several[i] = 250.0 + 5 * i;
    for (uint32_t mask = 0; mask < 2; mask++) {
        collet_scatter_options o = options_of(&m, shape, constants);
        for (int i = 0; i < 2 * ALL; i++)
            constants[i] = (collet_scatter_constants){1e-3, 1e-4 * (i % 7), 2e-3, 1e-4};
        o.dtype = COLLET_F32;
        o.mask = mask;
        o.angles[1] = 30.0;
        o.angles[2] = 330.0;
        o.n_energies = ALL;
        o.energies = several;
        FREED(double) *all = patterns_of(cx, &o);
        o.n_energies = ALL - FIRST;
        o.energies = several + FIRST;
        o.constants = constants + FIRST * o.n_materials;
        FREED(double) *rest = patterns_of(cx, &o);
        assert_memory_equal(all + FIRST * 24 * 24, rest,
                            (size_t)((ALL - FIRST) * 24 * 24) * sizeof *rest);
    }
    free_morphology(&m);
}

/* ---- Analytic patterns ------------------------------------------------------------------------
 */

#define BINS 18
#define LOW 0.06
#define HIGH 1.0 /* 1/nm */

/* The fraction of a voxel that lies within a ball of radius r (a disk if the depth is 1), from 4
 * samples per axis. */
static double inside(const int64_t *shape, int64_t z, int64_t y, int64_t x, double r)
{
    int flat = shape[0] == 1, count = 0;
    double from = hypot(hypot((double)(y - shape[1] / 2), (double)(x - shape[2] / 2)),
                        flat ? 0 : (double)(z - shape[0] / 2));
    if (fabs(from - r) > 2)
        return from < r;
    for (int i = 0; i < 64; i++) {
        double dz = flat ? 0 : (double)(z - shape[0] / 2) + (i / 16 - 1.5) / 4;
        double dy = (double)(y - shape[1] / 2) + (i / 4 % 4 - 1.5) / 4;
        double dx = (double)(x - shape[2] / 2) + (i % 4 - 1.5) / 4;
        count += dx * dx + dy * dy + dz * dz < r * r;
    }
    return count / 64.0;
}

/* Three isotropic materials: within the radius r[0], between r[0] and r[1], and outside. */
static void make_balls(morphology *m, const int64_t *shape, const double r[2])
{
    *m = (morphology){.materials = 3, .voxels = shape[0] * shape[1] * shape[2]};
    for (int k = 0; k < 3; k++) {
        m->array[k][0] = malloc((size_t)m->voxels * sizeof(double));
        m->material[k] = (collet_scatter_material){
            .struct_size = sizeof m->material[k], .dtype = COLLET_F64, .volume = m->array[k][0]};
    }
    for (int64_t i = 0; i < m->voxels; i++) {
        int64_t z = i / shape[2] / shape[1], y = i / shape[2] % shape[1], x = i % shape[2];
        double core = inside(shape, z, y, x, r[0]), ball = inside(shape, z, y, x, r[1]);
        m->array[0][0][i] = core;
        m->array[1][0][i] = ball - core;
        m->array[2][0][i] = 1 - ball;
    }
}

/* Volume times form factor, in voxels of 1 nm. */
static double ball_factor(double q, double r, int flat)
{
    double x = q * r;
    if (flat)
        return PI * r * r * (x > 0 ? 2 * j1(x) / x : 1);
    double f = x > 1e-4 ? 3 * (sin(x) - x * cos(x)) / (x * x * x) : 1;
    return 4.0 / 3 * PI * r * r * r * f;
}

/* The intensity |chi V f|^2 k^4 (1 - (qx / k)^2) of two concentric balls; the field is along x. */
static double analytic(const collet_scatter_constants *c, const double r[2], int flat, double k,
                       double qx, double qy)
{
    double qz = flat ? 0 : sqrt(k * k - qx * qx - qy * qy) - k;
    double q = sqrt(qx * qx + qy * qy + qz * qz), re = 0, im = 0;
    for (int i = 0; i < 2; i++) {
        double d = c[i].delta_parallel - (i == 0 ? c[1].delta_parallel : 0);
        double b = c[i].beta_parallel - (i == 0 ? c[1].beta_parallel : 0);
        /* the difference of chi = (n^2 - 1) / (4 pi), to second order: core minus shell, then shell
         * minus vacuum */
        double s0 = c[i].delta_parallel, t0 = c[i].beta_parallel;
        double s1 = i == 0 ? c[1].delta_parallel : 0, t1 = i == 0 ? c[1].beta_parallel : 0;
        double v = ball_factor(q, r[i], flat) / (4 * PI);
        re += v * (-2 * d + s0 * s0 - t0 * t0 - s1 * s1 + t1 * t1);
        im += v * (2 * b - 2 * s0 * t0 + 2 * s1 * t1);
    }
    return (re * re + im * im) * k * k * k * k * (1 - qx * qx / k / k);
}

/* Compares the radial means from q = LOW to HIGH with the analytic means: the rms difference of
 * their logarithms, and the totals. */
static void check_radial(const double *image, const collet_scatter_options *o, const double r[2])
{
    double found[BINS] = {0}, ideal[BINS] = {0}, total = 0, expected = 0, sum = 0;
    double k = 2 * PI * o->energies[0] / 1239.84197;
    int64_t n = o->shape[1];
    for (int64_t i = 0; i < n * n; i++) {
        double qy = (double)(i / n - n / 2) * 2 * PI / (double)n;
        double qx = (double)(i % n - n / 2) * 2 * PI / (double)n, q = hypot(qx, qy);
        if (isnan(image[i]) || q < LOW || q >= HIGH)
            continue;
        int bin = (int)((q - LOW) / (HIGH - LOW) * BINS);
        double value = analytic(o->constants, r, o->shape[0] == 1, k, qx, qy);
        found[bin] += image[i];
        ideal[bin] += value;
        total += image[i];
        expected += value;
    }
    for (int b = 0; b < BINS; b++)
        sum += pow(log10(found[b] / ideal[b]), 2);
    if (!(sqrt(sum / BINS) <= 0.025) || !(fabs(total / expected - 1) <= 0.03))
        fail_msg("rms of log10 %g, total %g of the analytic total", sqrt(sum / BINS),
                 total / expected);
}

TEST(balls_scatter_as_computed)
{
    static const struct {
        int64_t shape[3];
        double r[2];
    } cases[] = {{{128, 128, 128}, {0, 20}}, {{128, 128, 128}, {12, 20}}, {{1, 512, 512}, {0, 35}}};
    static const double energy = 285.0;
    if (ADDRESS_SANITIZER)
        skip(); /* large volumes are slow, and the other tests run the same code */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const collet_scatter_constants constants[3] = {
            {1.3e-3, 4e-4, 1.3e-3, 4e-4}, {-6e-4, 9e-4, -6e-4, 9e-4}, {0, 0, 0, 0}};
        collet_scatter_options o = COLLET_SCATTER_OPTIONS;
        morphology m;
        make_balls(&m, cases[i].shape, cases[i].r);
        memcpy(o.shape, cases[i].shape, sizeof o.shape);
        o.voxel = 1.0;
        o.grid = COLLET_SCATTER_EXACT;
        o.n_materials = 3;
        o.materials = m.material;
        o.n_energies = 1;
        o.energies = &energy;
        o.constants = constants;
        FREED(double) *image = patterns_of(cx, &o);
        check_radial(image, &o, cases[i].r);
        free_morphology(&m);
    }
}

/* The intensity of an image near q = 0. */
static double near_zero(const double *image, const int64_t *shape, double voxel)
{
    double sum = 0;
    for (int64_t i = 0; i < shape[1] * shape[2]; i++) {
        double y = (double)(i / shape[2] - shape[1] / 2), x = (double)(i % shape[2] - shape[2] / 2);
        if (hypot(x, y) * 2 * PI / (double)shape[1] / voxel < 0.12 && (x != 0 || y != 0))
            sum += image[i];
    }
    return sum;
}

#define SMALL 64
#define DIRECTIONS 18

/* The intensity near q = 0 of a ball of one material in vacuum, aligned along theta and psi. */
static double of_ball(collet_scatter_options o, double alignment, double theta, double psi)
{
    static const int64_t shape[] = {SMALL, SMALL, SMALL};
    static const double r[] = {12, 12};
    morphology m;
    make_balls(&m, shape, r);
    for (int a = 1; a < 4; a++) {
        m.array[0][a] = malloc((size_t)m.voxels * sizeof(double));
        for (int64_t i = 0; i < m.voxels; i++)
            m.array[0][a][i] = a == 1 ? alignment : a == 2 ? theta : psi;
    }
    m.material[0].alignment = m.array[0][1];
    m.material[0].theta = m.array[0][2];
    m.material[0].psi = m.array[0][3];
    memcpy(o.shape, shape, sizeof o.shape);
    o.materials = m.material;
    o.n_materials = 3;
    double *image = patterns_of(cx, &o), sum = near_zero(image, shape, o.voxel);
    free(image);
    free_morphology(&m);
    return sum;
}

static collet_scatter_options ball_options(const double *energy,
                                           const collet_scatter_constants *constants)
{
    collet_scatter_options o = COLLET_SCATTER_OPTIONS;
    o.voxel = 1.0;
    o.grid = COLLET_SCATTER_EXACT;
    o.n_energies = 1;
    o.energies = energy;
    o.constants = constants;
    return o;
}

/* Images are rotated back in q, not in pixels. So the image of a disk is the same at every angle of rotation, also on a
 * detector that is not square. */
TEST(turns_are_in_q)
{
    static const int64_t shape[] = {1, 96, 160};
    static const double r[2] = {6, 6}, energy = 285.0;
    const collet_scatter_constants constants[3] = {
        {1e-3, 4e-4, 1e-3, 4e-4}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    morphology m;
    make_balls(&m, shape, r);
    collet_scatter_options o = ball_options(&energy, constants);
    o.dtype = COLLET_F64;
    o.mask = 1;
    memcpy(o.shape, shape, sizeof o.shape);
    o.materials = m.material;
    o.n_materials = 3;
    o.angles[1] = 10;
    FREED(double) *one = patterns_of(cx, &o);
    o.angles[2] = 350;
    double *all = patterns_of(cx, &o), peak = 0, worst = 0;
    for (int64_t i = 0; i < 96 * 160; i++)
        peak = fmax(peak, one[i]);
    for (int64_t y = 20; y < 76; y++) /* these pixels have a value at every angle */
        for (int64_t x = 36; x < 124; x++)
            worst = fmax(worst, fabs(all[y * 160 + x] - one[y * 160 + x]));
    if (!(peak > 0 && worst <= 0.03 * peak))
        fail_msg("the mean over a circle differs by %g of the peak", worst / peak);
    free(all);
    free_morphology(&m);
}

/* |n^2 - 1|^2 */
static double contrast(double delta, double beta)
{
    double re = delta * delta - beta * beta - 2 * delta, im = 2 * beta * (1 - delta);
    return re * re + im * im;
}

TEST(contrast_is_that_of_the_constants)
{
    const collet_scatter_constants constants[2][3] = {{{1.3e-3, 4e-4, 1.3e-3, 4e-4}},
                                                      {{-6e-4, 2.1e-3, -6e-4, 2.1e-3}}};
    static const double energies_used[] = {285.0, 290.0};
    double found[2];
    for (int i = 0; i < 2; i++) {
        collet_scatter_options o = ball_options(&energies_used[i], constants[i]);
        found[i] = of_ball(o, 0, 0, 0) / pow(energies_used[i], 4);
    }
    double ratio = contrast(1.3e-3, 4e-4) / contrast(-6e-4, 2.1e-3);
    if (!(fabs(found[0] / found[1] / ratio - 1) <= 5e-3))
        fail_msg("the ratio is %g, not %g", found[0] / found[1], ratio);
}

/* The intensity follows |(1 - k k^T) (N^2 - 1) E|^2, here for E along x and k along z. */
TEST(orientation_is_that_of_the_tensor)
{
    static const double energy = 285.0;
    const collet_scatter_constants aligned[3] = {{1.3e-3, 4e-4, -6e-4, 9e-4}};
    const collet_scatter_constants plain[3] = {{1e-3, 0, 1e-3, 0}};
    double unit = of_ball(ball_options(&energy, plain), 0, 0, 0) / contrast(1e-3, 0);
    for (int i = 0; i < DIRECTIONS; i += ADDRESS_SANITIZER ? 7 : 1) {
        double theta = PI * (i % 6 + 0.5) / 6, psi = 2 * PI * (i / 6) / 3 + 0.3, c[2][2];
        double s[2] = {cos(psi) * sin(theta), sin(psi) * sin(theta)}, ideal = 0;
        double found = of_ball(ball_options(&energy, aligned), 1, theta, psi) / unit;
        for (int k = 0; k < 2; k++) {
            double d = k ? -6e-4 : 1.3e-3, b = k ? 9e-4 : 4e-4;
            c[k][0] = d * d - b * b - 2 * d;
            c[k][1] = 2 * b * (1 - d);
        }
        for (int a = 0; a < 2; a++)
            for (int part = 0; part < 2; part++) {
                double p = (c[0][part] - c[1][part]) * s[a] * s[0] + (a == 0 ? c[1][part] : 0);
                ideal += p * p;
            }
        if (!(fabs(found / ideal - 1) <= 0.01))
            fail_msg("theta %g, psi %g: %g, not %g", theta, psi, found, ideal);
    }
}

/* `image`, made by a beam tilted in the plane of `axis` (0: x, 1: y), equals `flat` narrowed by
 * `scale` along that axis. Each pixel is interpolated from four pixels. A NaN among them
 * gives NaN, also with weight 0. */
static void check_narrower(const double *flat, const double *image, const int64_t *n, int axis,
                           double scale, int mask)
{
    for (int64_t i = 0; i < n[1] * n[2]; i++) {
        int64_t at[] = {i % n[2], i / n[2]}, step = axis ? n[2] : 1, count = n[2 - axis];
        double from = (double)count / 2 + ((double)at[axis] - (double)count / 2) / scale;
        int64_t beside = at[!axis] + 1 < n[1 + axis] ? n[2] + 1 - step : 0;
        double expected = mask ? 0.0 : NAN;
        from = fabs(from - round(from)) < 1e-9 ? round(from) : from;
        if (from >= 0 && from <= (double)(count - 1)) {
            double low = floor(from), w = from - low;
            const double *first = flat + i + ((int64_t)low - at[axis]) * step;
            const double *next = first + (low + 1 < (double)count ? step : 0);
            expected = *first * (1 - w) + *next * w + 0 * (first[beside] + next[beside]);
        }
        if (isnan(expected) != isnan(image[i]) ||
            fabs(expected - image[i]) > 1e-12 * fabs(expected))
            fail_msg("axis %d, pixel %d: %g, not %g", axis, (int)i, image[i], expected);
    }
}

/* A tilt t of the beam narrows an image by cos t. Tilts of beam and detector together narrow it by
 * cos 2 t; opposite tilts leave it unchanged. */
TEST(images_are_warped_on_the_detector)
{
    static const int64_t shapes[][3] = {{4, 16, 16}, {3, 12, 17}};
    const double t = 0.3;
    for (int i = 0; i < 8; i++) {
        const int64_t *n = shapes[i % 2];
        int axis = i / 2 % 2;
        collet_scatter_constants constants[ENERGIES * MATERIALS];
        morphology m;
        make_random(&m, n, 2, 0, 0);
        collet_scatter_options o = options_of(&m, n, constants);
        o.dtype = COLLET_F64;
        o.n_energies = 1;
        o.mask = 1;
        o.angles[0] = o.angles[2] = 20.0; /* one angle; without the mask its zeros are NaN */
        o.direction[axis] = sin(t);
        o.direction[2] = o.detector[2] = cos(t);
        o.detector[axis] = -sin(t);
        FREED(double) *flat = patterns_of(cx, &o);
        o.mask = i >= 4;
        for (int64_t j = 0; j < n[1] * n[2] && !o.mask; j++)
            flat[j] = flat[j] == 0 ? NAN : flat[j];
        for (int turned = 0; turned < 2; turned++) {
            o.detector[axis] = turned ? sin(t) : 0.0;
            FREED(double) *image = patterns_of(cx, &o);
            check_narrower(flat, image, n, axis, turned ? cos(2 * t) : cos(t), i / 4);
        }
        free_morphology(&m);
    }
}

/* A detector that faces the sample gives the same bits as no direction at all. A detector that is
 * edge-on or turned away is refused. */
TEST(detectors_that_face_the_sample_change_nothing)
{
    static const int64_t n[] = {4, 10, 12};
    static const double faulty[][3] = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}, {NAN, 0, 1}};
    collet_scatter_constants constants[ENERGIES * MATERIALS];
    collet_scatter *s;
    collet_error err;
    morphology m;
    make_random(&m, n, 2, 0, 0);
    collet_scatter_options o = options_of(&m, n, constants);
    o.angles[2] = 0.0;
    FREED(double) *none = patterns_of(cx, &o);
    o.detector[2] = 2.0;
    FREED(double) *facing = patterns_of(cx, &o);
    assert_memory_equal(none, facing, (size_t)(n[1] * n[2] * o.n_energies) * sizeof *none);
    for (size_t i = 0; i < sizeof faulty / sizeof *faulty; i++) {
        memcpy(o.detector, faulty[i], sizeof o.detector);
        assert_error(collet_scatter_create(cx, &s, &o, &err), COLLET_INVALID, err,
                     "the detector's normal is");
    }
    free_morphology(&m);
}

/* The last rotation, even by 0 degrees, turns the pixels next to a NaN into NaN, as in CyRSoXS. */
TEST(pixels_next_to_none_are_none)
{
    static const int64_t n[] = {4, 16, 19};
    collet_scatter_constants constants[ENERGIES * MATERIALS];
    morphology m;
    int more = 0;
    make_random(&m, n, 2, 0, 0);
    collet_scatter_options o = options_of(&m, n, constants);
    for (int turned = 0; turned < 2; turned++) {
        o.angles[0] = o.angles[2] = turned ? 33.0 : 0.0;
        o.mask = 1;
        FREED(double) *masked = patterns_of(cx, &o);
        o.mask = 0;
        FREED(double) *whole = patterns_of(cx, &o);
        for (int64_t i = 0; i < n[1] * n[2]; i++) {
            int64_t right = i % n[2] + 1 < n[2] ? 1 : 0, below = i / n[2] + 1 < n[1] ? n[2] : 0;
            int none = masked[i] == 0 || masked[i + right] == 0 || masked[i + below] == 0 ||
                       masked[i + right + below] == 0;
            more += none && masked[i] != 0;
            assert_true(none ? isnan(whole[i]) : whole[i] == masked[i]);
        }
    }
    assert_true(more > 40);
    free_morphology(&m);
}

TEST(newer_options_are_refused)
{
    static const int64_t shape[] = {2, 4, 4};
    struct {
        collet_scatter_options known;
        int64_t unknown;
    } newer;
    collet_scatter_constants constants[ENERGIES * MATERIALS];
    collet_scatter *s;
    collet_error err;
    morphology m;
    make_random(&m, shape, 2, 0, 0);
    newer.known = options_of(&m, shape, constants);
    newer.known.struct_size = sizeof newer;
    newer.unknown = 0;
    assert_int_equal(collet_scatter_create(cx, &s, &newer.known, &err), COLLET_OK);
    collet_scatter_destroy(s);
    newer.unknown = 1;
    assert_int_equal(collet_scatter_create(cx, &s, &newer.known, &err), COLLET_INVALID);
    newer.unknown = 0;
    newer.known.omit_zero = 2;
    assert_int_equal(collet_scatter_create(cx, &s, &newer.known, &err), COLLET_INVALID);
    newer.known.omit_zero = 0;
    newer.known.attenuation = 2;
    assert_int_equal(collet_scatter_create(cx, &s, &newer.known, &err), COLLET_INVALID);
    newer.known.struct_size = 0;
    assert_int_equal(collet_scatter_create(cx, &s, &newer.known, &err), COLLET_INVALID);
    assert_null(s);
    free_morphology(&m);
}

TEST_GROUP(set_up, tear_down)

int main(int argc, char **argv)
{
    return take_backend(argc, argv) ? test_run() : SKIPPED;
}
