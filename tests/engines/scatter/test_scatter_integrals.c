/* SPDX-License-Identifier: Apache-2.0 */
/* Integration of patterns: analytic patterns, NaN, detectors that are not square, and the output
 * file. */

#include "directory.h"

#include <collet/scatter.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#define PI 3.14159265358979323846
#define CHI COLLET_SCATTER_CHI
#define ENERGY 285.0
#define SIDE 160 /* longest side of a detector, in pixels */
#define RINGS_MAX (2 * SIDE)

static const double k = 2 * PI * ENERGY / 1239.84197;

static double values[SIDE * SIDE];
static float polar[CHI * RINGS_MAX], mean[RINGS_MAX], parallel[RINGS_MAX], perpendicular[RINGS_MAX],
    anisotropy[RINGS_MAX];
static double q[RINGS_MAX];
static int64_t rings_count;
static const collet_scatter_integrals integrals = {.struct_size = sizeof integrals,
                                                   .polar = polar,
                                                   .mean = mean,
                                                   .parallel = parallel,
                                                   .perpendicular = perpendicular,
                                                   .anisotropy = anisotropy};

/* ---- Patterns -------------------------------------------------------------------------------- */

static collet_scatter_rings make_rings(int64_t y, int64_t x)
{
    return (collet_scatter_rings){
        .struct_size = sizeof(collet_scatter_rings), .y = y, .x = x, .voxel = 4};
}

/* A function that changes little over one pixel, which is about 0.01 wide on a detector of SIDE pixels. */
static double radial(double length)
{
    return 1 + exp(-length * length / 0.18);
}

/* |q| of a point on the detector; if the rings are flat, its distance from the centre. */
static double length_of(const collet_scatter_rings *r, double qy, double qx)
{
    const double *u = r->direction;
    double norm = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]), beam[3] = {0, 0, k};
    for (int a = 0; a < 3 && norm > 0; a++)
        beam[a] = k * u[a] / norm;
    double sx = beam[0] + qx, sy = beam[1] + qy;
    double qz = r->flat ? 0 : sqrt(k * k - sx * sx - sy * sy) - beam[2];
    return sqrt(qx * qx + qy * qy + qz * qz);
}

/* Fills the pattern with radial(length) * (1 + a cos 2 chi). */
static void fill(const collet_scatter_rings *r, double a)
{
    for (int64_t y = 0; y < r->y; y++)
        for (int64_t x = 0; x < r->x; x++) {
            double qy = (double)(y - r->y / 2) * 2 * PI / ((double)r->y * r->voxel);
            double qx = (double)(x - r->x / 2) * 2 * PI / ((double)r->x * r->voxel);
            double twice = 2 * atan2(qy, qx);
            values[y * r->x + x] = radial(length_of(r, qy, qx)) * (1 + a * cos(twice));
        }
}

static void integrate(const collet_scatter_rings *r)
{
    collet_error err;
    memset(polar, 1, sizeof polar);
    if (collet_scatter_rings_q(r, &rings_count, NULL, &err) ||
        collet_scatter_rings_q(r, &rings_count, q, &err) || rings_count > RINGS_MAX ||
        collet_scatter_integrate(r, &integrals, ENERGY, COLLET_F64, values, &err))
        fail_msg("%s", err.text);
}

#define NEAR(value, expected, tolerance)                                                           \
    do {                                                                                           \
        double v_ = (double)(value), e_ = (expected);                                              \
        if (!(fabs(v_ - e_) <= (tolerance)))                                                       \
            fail_msg("%s: %s = %.9g, expected %.9g", __func__, #value, v_, e_);                    \
    } while (0)

/* Whether ring j lies on the detector completely and is so large that chi is nearly constant within
 * a pixel. */
static int is_whole(const collet_scatter_rings *r, int64_t j)
{
    double least = PI / r->voxel - 2 * PI / ((double)(r->y < r->x ? r->y : r->x) * r->voxel);
    return j > 12 && q[j] < 0.95 * least;
}

static void check(const collet_scatter_rings *r, double a, double tolerance)
{
    double half = (r->wedge > 0 ? r->wedge : 90) / 2 * PI / 180;
    double swing = a * sin(2 * half) / (2 * half);
    int whole = 0;
    fill(r, a);
    integrate(r);
    for (int64_t j = 0; j < rings_count; j++) {
        if (!is_whole(r, j))
            continue;
        double f = radial(q[j]);
        whole++;
        NEAR(mean[j], f, tolerance);
        NEAR(parallel[j], f * (1 + swing), tolerance);
        NEAR(perpendicular[j], f * (1 - swing), tolerance);
        NEAR(anisotropy[j], swing, tolerance);
        for (int i = 0; i < CHI; i++)
            NEAR(polar[i * rings_count + j], f * (1 + a * cos(2 * (i - 179.5) * PI / 180)),
                 tolerance);
    }
    assert_true(whole > 10);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(analytic_patterns_are_integrated)
{
    collet_scatter_rings r = make_rings(SIDE, SIDE);
    check(&r, 0.5, 4e-3);
    r.flat = 1;
    check(&r, 0.5, 4e-3);
    r.wedge = 20;
    check(&r, -0.7, 5e-3);
    r.wedge = 0.5;
    check(&r, -0.7, 5e-3);
    r.wedge = 45.5;
    check(&r, 0.7, 5e-3);
    r.wedge = 180;
    check(&r, 0.7, 5e-3);
}

TEST(rings_of_tilted_beams_have_one_length_of_q)
{
    collet_scatter_rings r = make_rings(SIDE, SIDE);
    memcpy(r.direction, (const double[]){0.3, -0.2, 2}, sizeof r.direction);
    memcpy(r.detector, (const double[]){-0.3, 0.2, 2}, sizeof r.detector); /* no warp */
    check(&r, 0.2, 4e-3);
}

/* A tilt of 60 degrees halves the image along x: a feature at q moves to q / 2. */
TEST(rings_of_warped_images_are_those_of_q)
{
    static double plain[CHI * 400], shown[SIDE * SIDE];
    collet_scatter_rings r = make_rings(SIDE, SIDE);
    fill(&r, 0.2);
    integrate(&r);
    for (int64_t i = 0; i < CHI * rings_count; i++)
        plain[i] = (double)polar[i];
    for (int64_t i = 0; i < SIDE * SIDE; i++)
        shown[i] = (double)values[i];
    memcpy(r.detector, (const double[]){sin(PI / 3), 0, cos(PI / 3)}, sizeof r.detector);
    for (int64_t y = 0; y < SIDE; y++)
        for (int64_t x = 0; x < SIDE; x++) {
            int64_t from = SIDE / 2 + 2 * (x - SIDE / 2);
            values[y * SIDE + x] = from >= 0 && from < SIDE ? shown[y * SIDE + from] : (double)NAN;
        }
    integrate(&r);
    for (int64_t j = 0; j < 12; j++)
        for (int i = 0; i < CHI; i++)
            NEAR(polar[i * rings_count + j], plain[i * rings_count + j], 5e-2);
}

TEST(detectors_need_not_be_square)
{
    collet_scatter_rings r = make_rings(SIDE / 2, SIDE);
    check(&r, 0.5, 1.2e-2);
    NEAR(q[1], 2 * PI / (SIDE * 4.0), 1e-12);
    r = make_rings(SIDE, SIDE / 2 + 1);
    check(&r, 0.5, 1.2e-2);
    r = make_rings(2, 3);
    fill(&r, 0);
    integrate(&r);
    NEAR(mean[0], values[1 * 3 + 1], 1e-6);
}

/* The first ring is the pixel at q = 0, and the last ring reaches the corner. */
TEST(rings_reach_from_centre_to_corner)
{
    collet_scatter_rings r = make_rings(10, 12);
    r.flat = 1;
    fill(&r, 0);
    values[5 * 12 + 6] = 7;
    integrate(&r);
    NEAR(mean[0], 7, 0);
    NEAR(anisotropy[0], 0, 0);
    double corner = hypot(PI / 4, PI / 4);
    assert_true(q[rings_count - 1] <= corner && corner - q[rings_count - 1] < q[1]);
    /* With an even number of pixels, the detector extends one pixel further towards -x than towards
     * +x: the last ring has values only towards -x. */
    assert_true(isnan(polar[179 * rings_count + 6]));
    assert_true(isfinite(polar[5]));
}

TEST(pixels_without_value_are_left_out)
{
    collet_scatter_rings r = make_rings(64, 64);
    fill(&r, 0);
    for (int64_t i = 0; i < 64; i++)
        values[63 * 64 + i] = values[i * 64 + 63] = NAN;
    for (int64_t y = 40; y < 44; y++)
        for (int64_t x = 40; x < 44; x++)
            values[y * 64 + x] = NAN;
    integrate(&r);
    int blank = 0;
    for (int64_t j = 0; j < rings_count; j++)
        if (is_whole(&r, j)) {
            NEAR(mean[j], radial(q[j]), 1e-2);
            for (int i = 0; i < CHI; i++)
                blank += isnan(polar[i * rings_count + j]);
        }
    assert_true(blank > 20);
    for (int64_t i = 0; i < 64 * 64; i++)
        values[i] = NAN;
    collet_error err;
    assert_error(collet_scatter_integrate(&r, &integrals, ENERGY, COLLET_F64, values, &err),
                 COLLET_INVALID, err, "cannot be integrated");
    for (int64_t j = 0; j < rings_count; j++)
        assert_true(isnan(mean[j]) && isnan(parallel[j]) && isnan(perpendicular[j]) &&
                    isnan(anisotropy[j]));
    for (int64_t i = 0; i < 64 * 64; i++)
        values[i] = 0;
    integrate(&r);
    assert_true(mean[10] == 0 && parallel[10] == 0 && isnan(anisotropy[10]));
}

/* Integration is linear, and f32 patterns give the same results as f64 patterns. */
TEST(integration_is_linear)
{
    static float narrow[64 * 64];
    static float before[CHI * RINGS_MAX];
    collet_scatter_rings r = make_rings(64, 64);
    collet_scatter_integrals only = {.struct_size = sizeof only, .polar = polar};
    collet_error err;
    fill(&r, 0.3);
    integrate(&r);
    memcpy(before, polar, sizeof before);
    for (int i = 0; i < 64 * 64; i++)
        narrow[i] = (float)(3 * values[i]);
    memset(polar, 1, sizeof polar);
    mean[5] = 99;
    assert_int_equal(collet_scatter_integrate(&r, &only, ENERGY, COLLET_F32, narrow, &err),
                     COLLET_OK);
    for (int64_t i = 0; i < CHI * rings_count; i++)
        if (!isnan(before[i]))
            NEAR(polar[i], 3 * (double)before[i], 1e-5);
    assert_true(mean[5] == 99);
}

TEST(bad_rings_are_refused)
{
    static const struct {
        collet_scatter_rings rings;
        const char *text;
    } cases[] = {
        {{.y = 1, .x = 9, .voxel = 1}, "1 x 9 pixels (Y, X); at least 2 x 2 are needed"},
        {{.y = 9, .x = 9}, "voxel is 0 nm"},
        {{.y = 9, .x = 9, .voxel = -1}, "voxel is -1 nm"},
        {{.y = 9, .x = 9, .voxel = 1e-320}, "voxel is 9.99989e-321 nm"},
        {{.y = 9, .x = 9, .voxel = INFINITY}, "voxel is inf nm"},
        {{.y = 9, .x = 9, .voxel = 1, .wedge = 181}, "wedge is 181 degrees"},
        {{.y = 9, .x = 9, .voxel = 1, .wedge = NAN}, "wedge is nan degrees"},
        {{.y = 9, .x = 9, .voxel = 1, .wedge = -1}, "wedge is -1 degrees"},
        {{.y = 9, .x = 9, .voxel = 1, .flat = 2}, "flat must be 0 or 1"},
        {{.y = 9, .x = 9, .voxel = 1, .direction = {0, 0, -1}}, "direction has a negative z"},
        {{.y = 9, .x = 9, .voxel = 1, .direction = {NAN, 0, 1}},
         "all components of direction must be finite"},
    };
    collet_scatter_rings good = make_rings(9, 9);
    collet_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_scatter_rings r = cases[i].rings;
        r.struct_size = sizeof r;
        assert_error(collet_scatter_rings_q(&r, &rings_count, NULL, &err), COLLET_INVALID, err,
                     cases[i].text);
        assert_int_equal(
            collet_scatter_integrate(&r, &integrals, ENERGY, COLLET_F64, values, &err),
            COLLET_INVALID);
    }
    assert_int_equal(collet_scatter_integrate(&good, &integrals, 0, COLLET_F64, values, &err),
                     COLLET_INVALID);
    assert_int_equal(collet_scatter_integrate(&good, &integrals, 1, COLLET_I32, values, &err),
                     COLLET_INVALID);
    assert_int_equal(collet_scatter_integrate(&good, &integrals, 1, COLLET_F64, NULL, &err),
                     COLLET_INVALID);
    assert_int_equal(collet_scatter_integrate(&good, NULL, 1, COLLET_F64, values, &err),
                     COLLET_INVALID);
}

/* ---- The file -------------------------------------------------------------------------------- */

#define BEAMS 2
#define ENERGIES 3

static float *counted(int64_t count, float first)
{
    float *list = malloc((size_t)count * sizeof *list);
    for (int64_t i = 0; i < count; i++)
        list[i] = first + (float)i;
    return list;
}

static herr_t add_name(hid_t set, unsigned dimension, hid_t scale, void *text)
{
    char name[20] = "";
    assert_true(H5DSget_scale_name(scale, name, sizeof name) > 0);
    snprintf((char *)text + strlen(text), 80 - strlen(text), "%s%s", dimension ? " " : "", name);
    return 0;
}

/* The names of the scales of an array's dimensions. */
static void check_dimensions(hid_t file, const char *name, int axes, const char *expected)
{
    char text[80] = "";
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    for (int i = 0; i < axes; i++) {
        assert_int_equal(H5DSget_num_scales(set, (unsigned)i), 1);
        H5DSiterate_scales(set, (unsigned)i, NULL, add_name, text);
    }
    assert_string_equal(text, expected);
    H5Dclose(set);
}

static void check_text(hid_t file, const char *set, const char *attribute, const char *expected)
{
    char *text = NULL;
    hid_t a = H5Aopen_by_name(file, set, attribute, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(a >= 0);
    hid_t type = H5Aget_type(a);
    assert_true(H5Tis_variable_str(type) > 0);
    assert_true(H5Aread(a, type, &text) >= 0);
    assert_string_equal(text, expected);
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(a);
}

static void check_numbers(hid_t file, const char *name, int64_t count, double first)
{
    FREED(double) *read = malloc((size_t)count * sizeof *read);
    assert_true(H5LTread_dataset_double(file, name, read) >= 0);
    for (int64_t i = 0; i < count; i++)
        NEAR(read[i], first + (double)i, 0);
}

TEST(integrals_are_written_with_their_axes)
{
    const double beams[BEAMS][3] = {{0, 0, 1}, {0.6, 0, 0.8}}, energies[] = {280, 285.5, 290};
    double read[RINGS_MAX], wedge;
    const collet_scatter_rings r = make_rings(8, 10);
    collet_error err;
    assert_int_equal(collet_scatter_rings_q(&r, &rings_count, q, &err), COLLET_OK);
    int64_t rows = BEAMS * ENERGIES * rings_count;
    collet_scatter_integrals in = {.struct_size = sizeof in,
                                   .polar = counted(CHI * rows, 0.5f),
                                   .mean = counted(rows, 1),
                                   .parallel = counted(rows, 2),
                                   .perpendicular = counted(rows, 3),
                                   .anisotropy = counted(rows, 4)};
    const char *path = io_path(directory, "integrated.h5");
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            collet_scatter_write_integrals(i ? io_path(directory, "again.h5") : path, &r, BEAMS,
                                           beams, ENERGIES, energies, &in, "some", &err),
            COLLET_OK);
    assert_int_equal(collet_scatter_integrals_written(path, "some", NULL), COLLET_OK);
    assert_int_equal(collet_scatter_integrals_written(path, "others", &err), COLLET_INVALID);
    assert_non_null(strstr(err.text, "other settings: 'some', not 'others'"));
    assert_int_equal(collet_scatter_integrals_written("absent", "some", NULL), COLLET_NOT_FOUND);
    assert_int_equal(io_count_entries(directory), 2);
    hid_t file = H5Fopen(io_path(directory, "integrated.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    check_dimensions(file, "I_chi", 4, "beam energy chi q");
    check_dimensions(file, "I", 3, "beam energy q");
    check_dimensions(file, "A", 3, "beam energy q");
    check_dimensions(file, "direction_x", 1, "beam");
    check_numbers(file, "I_chi", CHI * rows, 0.5);
    check_numbers(file, "I", rows, 1);
    check_numbers(file, "I_parallel", rows, 2);
    check_numbers(file, "I_perpendicular", rows, 3);
    check_numbers(file, "A", rows, 4);
    check_numbers(file, "chi", CHI, -179.5);
    check_numbers(file, "beam", BEAMS, 0);
    assert_true(H5LTread_dataset_double(file, "energy", read) >= 0 && read[1] == 285.5);
    assert_true(H5LTread_dataset_double(file, "q", read) >= 0 && read[3] == q[3]);
    assert_true(H5LTread_dataset_double(file, "direction_x", read) >= 0 && read[1] == 0.6);
    assert_true(H5LTget_attribute_double(file, "/", "wedge_degrees", &wedge) >= 0 && wedge == 90);
    check_text(file, "q", "units", "1/nm");
    check_text(file, "q", "long_name", "length of q on Ewald's sphere");
    check_text(file, "energy", "units", "eV");
    check_text(file, "chi", "units", "degree");
    check_text(file, "I_chi", "units", "1/nm^4");
    H5Fclose(file);
    io_bytes a = io_load(io_path(directory, "integrated.h5"));
    io_bytes b = io_load(io_path(directory, "again.h5"));
    assert_true(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
    free(a.data);
    free(b.data);
    free(in.mean);
    in.mean = NULL;
    assert_int_equal(collet_scatter_write_integrals("no", &r, BEAMS, beams, ENERGIES, energies,
                                                    &in, "some", &err),
                     COLLET_INVALID);
    free(in.polar);
    free(in.parallel);
    free(in.perpendicular);
    free(in.anisotropy);
}

/* ---- The adjoint ----------------------------------------------------------------------------- */

/* The weight of integral i of an array in the loss. */
static double weight_of(int array, int64_t i)
{
    return sin(0.7 * (double)i + array) / (array == 0 ? CHI : 1);
}

/* Computes the integrals in f64 and returns the loss. */
static double loss_of(const collet_scatter_rings *r, const collet_scatter_integrals *wide)
{
    static const int first[] = {0, 1, 1, 1, 1};
    double *const arrays[] = {wide->polar, wide->mean, wide->parallel, wide->perpendicular,
                              wide->anisotropy};
    double sum = 0;
    collet_error err;
    assert_success(collet_scatter_integrate(r, wide, ENERGY, COLLET_F64, values, &err), err);
    for (int a = 0; a < 5; a++)
        for (int64_t i = 0; i < rings_count * (first[a] ? 1 : CHI); i++)
            sum += isnan(arrays[a][i]) ? 0 : weight_of(a, i) * arrays[a][i];
    return sum;
}

TEST(the_adjoint_is_that_of_differences)
{
    static double numbers[CHI * RINGS_MAX], others[4][RINGS_MAX], gradient[64 * 48];
    static double weights[CHI * RINGS_MAX], more[4][RINGS_MAX];
    const collet_scatter_integrals wide = {sizeof wide, 1,         numbers,  others[0],
                                           others[1],   others[2], others[3]};
    const collet_scatter_integrals by = {sizeof by, 1,       weights, more[0],
                                         more[1],   more[2], more[3]};
    collet_error err;
    for (uint32_t flat = 0; flat < 2; flat++) {
        collet_scatter_rings r = make_rings(64, 48);
        r.flat = flat;
        r.wedge = flat ? 0 : 40;
        if (!flat)
            r.direction[0] = 0.2, r.direction[2] = 1;
        collet_scatter_rings_q(&r, &rings_count, NULL, NULL);
        for (int i = 0; i < 64 * 48; i++)
            values[i] = i % 97 == 5 ? NAN : 2 + sin(i) + cos(0.1 * i);
        for (int64_t i = 0; i < CHI * rings_count; i++)
            weights[i] = weight_of(0, i);
        for (int64_t i = 0; i < 4 * rings_count; i++)
            more[i / rings_count][i % rings_count] =
                weight_of((int)(i / rings_count) + 1, i % rings_count);
        assert_int_equal(collet_scatter_integrate_adjoint(&r, &by, ENERGY, COLLET_F64, values,
                                                          gradient, &err),
                         COLLET_OK);
        for (int i = 0; i < 64 * 48; i += 13) {
            double before = values[i], loss[2];
            if (isnan(before)) {
                assert_true(gradient[i] == 0);
                continue;
            }
            for (int side = 0; side < 2; side++) {
                values[i] = before + (side ? 1e-5 : -1e-5);
                loss[side] = loss_of(&r, &wide);
            }
            values[i] = before;
            double measured = (loss[1] - loss[0]) / 2e-5;
            if (!(fabs(measured - gradient[i]) < 1e-7))
                fail_msg("flat %u, pixel %d: %g, but the differences give %g", flat, i, gradient[i],
                         measured);
        }
    }
    assert_int_equal(collet_scatter_integrate_adjoint(&(collet_scatter_rings){0}, NULL,
                                                      ENERGY, COLLET_F64, values, gradient,
                                                      &err),
                     COLLET_INVALID);
}

TEST_GROUP(make_directory, remove_directory)
