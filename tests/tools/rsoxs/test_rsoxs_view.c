/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of morphologies: their numbers, and collet-rsoxs view. */

#include "directory.h"
#include "tool_run.h"

#ifdef COLLET_TEST_CAIRO
#include <cairo.h>
#endif
#include <collet/scatter.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#define Z 3
#define Y 4
#define X 5
#define VOXELS (Z * Y * X)

/* ---- Files ----------------------------------------------------------------------------------- */

/* Field 0 to 3 (fraction, S, theta, psi) of voxel i. Some voxels have no material, some no
 * alignment. */
static double value(int field, int64_t i)
{
    const double values[] = {i % 5 ? 0.25 + (double)i / 100 : 0, i % 3 ? (double)i / 64 : 0,
                             0.1 + (double)i / 50, (double)i / 30 - 1};
    return values[field];
}

/* The value that the slice must show; NaN without material or alignment. */
static double expected(int field, int64_t i)
{
    int material = value(0, i) > 0, aligned = material && value(1, i) > 0;
    return (field == 1 && !material) || (field > 1 && !aligned) ? NAN : value(field, i);
}

static hid_t make_file(const char *name, const char *group)
{
    const hsize_t one = 1;
    const double size = 2, count = 1;
    hid_t file = H5Fcreate(io_path(directory, name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    H5Gclose(H5Gcreate2(file, "/Morphology_Parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5LTmake_dataset_double(file, "/Morphology_Parameters/PhysSize", 1, &one, &size);
    H5LTmake_dataset_double(file, "/Morphology_Parameters/NumMaterial", 1, &one, &count);
    return file;
}

/* Writes a dataset with the axes Z, Y, X; `reversed`: stored, and labelled, as X, Y, Z. */
static void write_set(hid_t file, const char *name, int width, int reversed, const double *values)
{
    static const char *const labels[] = {"Z", "Y", "X"};
    double stored[VOXELS * 3];
    const hsize_t shape[] = {reversed ? X : Z, Y, reversed ? Z : X, 3};
    for (int z = 0, i = 0; z < Z; z++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++, i++)
                memcpy(stored + (reversed ? (x * Y + y) * Z + z : i) * width, values + i * width,
                       (size_t)width * sizeof *values);
    assert_true(H5LTmake_dataset_double(file, name, width > 1 ? 4 : 3, shape, stored) >= 0);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    for (unsigned a = 0; a < 3; a++)
        H5DSset_label(set, a, labels[reversed ? 2 - a : a]);
    H5Dclose(set);
}

static void write_euler(const char *name, int reversed)
{
    static const char *const names[] = {"Vfrac", "S", "Theta", "Psi"};
    hid_t file = make_file(name, "/Euler_Angles");
    for (int f = 0; f < 4; f++) {
        double values[VOXELS];
        char path[40];
        for (int64_t i = 0; i < VOXELS; i++)
            values[i] = value(f, i);
        snprintf(path, sizeof path, "/Euler_Angles/Mat_1_%s", names[f]);
        write_set(file, path, 1, reversed, values);
    }
    H5Fclose(file);
}

static void write_vectors(const char *name, int reversed)
{
    double vectors[VOXELS][3], unaligned[VOXELS];
    hid_t file = make_file(name, "/Vector_Morphology");
    for (int64_t i = 0; i < VOXELS; i++) {
        double v = value(0, i), s = value(1, i), theta = value(2, i), psi = value(3, i);
        vectors[i][0] = sqrt(v * s) * sin(theta) * cos(psi);
        vectors[i][1] = sqrt(v * s) * sin(theta) * sin(psi);
        vectors[i][2] = sqrt(v * s) * cos(theta);
        unaligned[i] = v - v * s;
    }
    write_set(file, "/Vector_Morphology/Mat_1_alignment", 3, reversed, vectors[0]);
    write_set(file, "/Vector_Morphology/Mat_1_unaligned", 1, reversed, unaligned);
    H5Fclose(file);
}

static int set_up(void **state)
{
    make_directory(state);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    write_euler("film.h5", 0);
    write_euler("film_xyz.h5", 1);
    write_vectors("vectors.h5", 0);
    write_vectors("vectors_xyz.h5", 1);
    return 0;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void check_slice(const char *name, uint32_t field, uint32_t axis, int64_t at)
{
    static const int64_t steps[] = {Y * X, X, 1}, extents[] = {Z, Y, X};
    uint32_t across = axis == 0 ? 1 : 0, along = axis == 2 ? 1 : 2;
    collet_scatter_slice slice = {.struct_size = sizeof slice};
    collet_error err;
    if (collet_scatter_read_slice(&slice, io_path(directory, name), 1, field, axis, at, &err))
        fail_msg("%s", err.text);
    assert_int_equal(slice.rows, extents[across]);
    assert_int_equal(slice.columns, extents[along]);
    assert_true(slice.voxel == 2);
    for (int64_t y = 0; y < slice.rows; y++)
        for (int64_t x = 0; x < slice.columns; x++) {
            double want =
                expected((int)field, at * steps[axis] + y * steps[across] + x * steps[along]);
            double got = (double)slice.values[y * slice.columns + x];
            if (isnan(want) ? !isnan(got) : !(fabs(got - want) < 1e-6))
                fail_msg("%s, field %u, axis %u, %d: %g at %d, %d, expected %g", name, field, axis,
                         (int)at, got, (int)y, (int)x, want);
        }
    collet_scatter_slice_destroy(&slice);
}

TEST(slices_have_the_numbers_of_the_file)
{
    static const char *const names[] = {"film.h5", "film_xyz.h5", "vectors.h5", "vectors_xyz.h5"};
    static const int64_t last[] = {Z - 1, Y - 1, X - 1};
    for (int file = 0; file < 4; file++)
        for (uint32_t field = 0; field <= COLLET_SCATTER_PSI; field++)
            for (uint32_t axis = 0; axis < 3; axis++) {
                check_slice(names[file], field, axis, 1);
                check_slice(names[file], field, axis, last[axis]);
            }
}

TEST(bad_slices_are_refused)
{
    collet_scatter_slice slice = {.struct_size = sizeof slice};
    collet_error err;
    assert_int_equal(collet_scatter_read_slice(&slice, NULL, 1, 0, 0, 0, &err), COLLET_INVALID);
    assert_int_equal(collet_scatter_read_slice(NULL, "film.h5", 1, 0, 0, 0, &err),
                     COLLET_INVALID);
    assert_int_equal(collet_scatter_read_slice(&slice, "film.h5", 1, 4, 0, 0, &err),
                     COLLET_INVALID);
    assert_int_equal(collet_scatter_read_slice(&slice, "film.h5", 1, 0, 3, 0, &err),
                     COLLET_INVALID);
    collet_scatter_slice_destroy(NULL);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static tool_setup setup;

static tool_result view_in(const char *const *args)
{
    setup.directory = directory;
    return tool_run("collet-rsoxs", args, &setup);
}

/* Runs collet-rsoxs with these arguments; it must exit with `status` and print `text`. */
#define EXPECT(status, text, ...)                                                                  \
    do {                                                                                           \
        tool_result r_ = view_in((const char *const[]){"view", __VA_ARGS__, NULL});                \
        tool_expect(&r_, status);                                                                  \
        assert_contains(r_.err, text);                                                             \
    } while (0)

#ifdef COLLET_TEST_CAIRO
TEST(large_files_are_refused)
{
    setup = (tool_setup){.prepare = tool_limit_files, .user = "100"};
    EXPECT(1, "large.png: writing failed after 0 bytes: File too large", "film.h5", "-o",
           "large.png");
    setup = (tool_setup){0};
    assert_int_not_equal(access(io_path(directory, "large.png"), F_OK), 0);
}

static uint32_t pixel(cairo_surface_t *s, double x, double y)
{
    uint32_t rgb;
    const unsigned char *data = cairo_image_surface_get_data(s);
    int stride = cairo_image_surface_get_stride(s);
    memcpy(&rgb, data + (int)y * stride + 4 * (int)x, 4);
    return rgb & 0xffffff;
}

static cairo_surface_t *open_picture(const char *name)
{
    cairo_surface_t *s = cairo_image_surface_create_from_png(io_path(directory, name));
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    return s;
}

static double lightness(uint32_t rgb)
{
    return 0.21 * (rgb >> 16) + 0.72 * (rgb >> 8 & 255) + 0.07 * (rgb & 255);
}

/* The map in the picture begins at (88, 44) and has 128 pixels per voxel. Row 0 is at the
 * bottom. */
TEST(pictures_show_the_slice)
{
    EXPECT(0, "", "film.h5", "--at", "1", "-o", "fraction.png");
    EXPECT(0, "", "film.h5", "--at", "1", "--field", "psi", "-o", "psi.png");
    cairo_surface_t *fraction = open_picture("fraction.png"), *psi = open_picture("psi.png");
    assert_int_equal(cairo_image_surface_get_width(fraction), 640 + 88 + 132);
    assert_int_equal(cairo_image_surface_get_height(fraction), 512 + 44 + 62);
    double before = -1;
    for (int y = 0; y < Y; y++)
        for (int x = 0; x < X; x++) {
            double px = 88 + 128 * x + 64, py = 44 + 512 - 128 * y - 64;
            double light = lightness(pixel(fraction, px, py));
            if (x == 0) /* no material */
                assert_int_equal(pixel(fraction, px, py), pixel(fraction, 88 + 64, 44 + 448));
            else if (light <= before)
                fail_msg("the colour at %d, %d is not lighter than the one before", x, y);
            before = x == 0 ? before : light;
            int nan = isnan(expected(3, (Y + y) * X + x));
            assert_int_equal(pixel(psi, px, py) == 0xc8c8c8, nan);
        }
    cairo_surface_destroy(fraction);
    cairo_surface_destroy(psi);
}

/* A file name that is not valid UTF-8, and a title that is too long for the picture. */
TEST(names_of_files_are_any_bytes)
{
    char name[] = "a very long name of a morphology, with \xff in it, that none would give a film";
    assert_int_equal(link(io_path(directory, "film.h5"), io_path(directory, name)), 0);
    EXPECT(0, "", name, "--axis", "x", "-o", "named.png");
    cairo_surface_destroy(open_picture("named.png"));
}

TEST(the_same_slice_is_the_same_file)
{
    EXPECT(0, "", "film.h5", "--axis", "x", "--field", "S", "-o", "a.png");
    EXPECT(0, "", "film.h5", "--axis", "x", "--field", "S", "-o", "b.png");
    OWNED(io_bytes) a = io_load(io_path(directory, "a.png"));
    OWNED(io_bytes) b = io_load(io_path(directory, "b.png"));
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}
#endif

/* ---- Image files ----------------------------------------------------------------------------- */

/* Finds an array in a .vti file of `size` bytes. The file's header gives the place of the array's
 * numbers. */
static const float *array_of(const char *bytes, long size, const char *name, int width)
{
    char start[80];
    uint64_t length;
    unsigned long offset;
    snprintf(start, sizeof start, "Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" ",
             name, width);
    const char *element = strstr(bytes, start);
    const char *data = strstr(bytes, "<AppendedData encoding=\"raw\">\n_");
    if (!element || !data || sscanf(element + strlen(start), "offset=\"%lu\"/>", &offset) != 1)
        fail_msg("there is no array %s", name);
    data = strchr(data, '_') + 1 + offset;
    assert_true(data + sizeof length <= bytes + size);
    memcpy(&length, data, sizeof length);
    assert_int_equal(length, VOXELS * (size_t)width * sizeof(float));
    assert_true(data + sizeof length + length <= bytes + size);
    return (const float *)(const void *)(data + sizeof length);
}

static char *read_image(const char *name, long *size)
{
    FILE *f = fopen(io_path(directory, name), "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = ftell(f);
    rewind(f);
    char *bytes = calloc((size_t)*size + 1, 1);
    assert_int_equal(fread(bytes, 1, (size_t)*size, f), *size);
    fclose(f);
    assert_contains(bytes, "<VTKFile type=\"ImageData\"",
                    "<ImageData WholeExtent=\"0 5 0 4 0 3\" Origin=\"0 0 0\" "
                    "Spacing=\"2 2 2\">\n<Piece Extent=\"0 5 0 4 0 3\">\n<CellData>");
    assert_string_equal(bytes + *size - strlen("\n</AppendedData>\n</VTKFile>\n"),
                        "\n</AppendedData>\n</VTKFile>\n");
    return bytes;
}

TEST(image_files_have_all_voxels)
{
    static const char *const names[] = {"Mat_1_Vfrac", "Mat_1_S", "Mat_1_Theta", "Mat_1_Psi"};
    long size;
    for (int reversed = 0; reversed < 2; reversed++) {
        EXPECT(0, "", reversed ? "film_xyz.h5" : "film.h5", "-o", "film.vti", "--force");
        FREED(char) *bytes = read_image("film.vti", &size);
        for (int f = 0; f < 4; f++) {
            const float *found = array_of(bytes, size, names[f], 1);
            for (int64_t i = 0; i < VOXELS; i++) {
                float v;
                memcpy(&v, found + i, sizeof v);
                assert_true(v == (float)value(f, i));
            }
        }
        free(bytes);
        EXPECT(0, "", reversed ? "vectors_xyz.h5" : "vectors.h5", "-o", "vectors.vti", "--force");
        bytes = read_image("vectors.vti", &size);
        const float *found = array_of(bytes, size, "Mat_1_alignment", 3);
        array_of(bytes, size, "Mat_1_unaligned", 1);
        for (int64_t i = 0; i < VOXELS; i++) {
            float s[3];
            memcpy(s, found + 3 * i, sizeof s);
            double aligned = value(0, i) * value(1, i), z = sqrt(aligned) * cos(value(2, i));
            assert_true(fabs((double)(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) - aligned) < 1e-6);
            assert_true(fabs((double)s[2] - z) < 1e-6);
        }
    }
}

TEST(absent_alignment_is_shown_as_0)
{
    collet_scatter_slice slice = {.struct_size = sizeof slice};
    collet_error err;
    long size;
    write_euler("plain.h5", 0);
    hid_t file = H5Fopen(io_path(directory, "plain.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/Euler_Angles/Mat_1_S", H5P_DEFAULT);
    H5Fclose(file);
    for (uint32_t field = 0; field < 4; field++) {
        assert_int_equal(collet_scatter_read_slice(&slice, io_path(directory, "plain.h5"), 1,
                                                   field, 0, 1, &err),
                         COLLET_OK);
        for (int64_t i = 0; i < Y * X; i++) {
            float v = slice.values[i];
            int none = field > 1 || (field == 1 && value(0, Y * X + i) == 0);
            assert_true(none ? isnan(v) : field == 1 ? v == 0 : v == (float)value(0, Y * X + i));
        }
        collet_scatter_slice_destroy(&slice);
    }
    EXPECT(0, "", "plain.h5", "-o", "plain.vti", "--force");
    FREED(char) *bytes = read_image("plain.vti", &size);
    array_of(bytes, size, "Mat_1_Psi", 1);
    assert_null(strstr(bytes, "Mat_1_S\""));
}

TEST(bad_arguments_are_explained)
{
    assert_int_equal(symlink("film.h5", io_path(directory, "film.png")), 0);
    EXPECT(1, "the output film.png would replace the input film.h5", "film.h5", "-o", "film.png");
    EXPECT(1, "the output film.png would replace the input", "film.png", "-o", "film.png");
    EXPECT(2, "a morphology is required", "-o", "no.png");
    EXPECT(2, "-o is required", "film.h5");
    EXPECT(2, "does not end in .png or .vti", "film.h5", "-o", "no.jpg");
    EXPECT(2, "at is for pictures", "film.h5", "-o", "no.vti", "--at", "1");
    EXPECT(1, "absent.h5: cannot be read: No such file", "absent.h5", "-o", "no.vti");
    EXPECT(1, "absent/no.vti: cannot be written", "film.h5", "-o", "absent/no.vti");
    assert_int_not_equal(access(io_path(directory, "no.vti"), F_OK), 0);
    EXPECT(2, "one morphology is expected", "film.h5", "film.h5", "-o", "no.png");
    EXPECT(2, "--axis: 'w' is not z, y or x", "film.h5", "--axis", "w", "-o", "no.png");
    EXPECT(2, "--axis: '' is not z, y or x", "film.h5", "--axis", "", "-o", "no.png");
    EXPECT(2, "--field: 'phi' is not", "film.h5", "--field", "phi", "-o", "no.png");
    EXPECT(2, "--at: '-1' is not a whole number", "film.h5", "--at", "-1", "-o", "no.png");
    EXPECT(2, "--material: '0' is not a whole number", "film.h5", "--material", "0", "-o",
           "no.png");
    EXPECT(1, "film.h5 has materials 1 to 1; there is no material 2", "film.h5", "--material", "2",
           "-o", "no.png");
    EXPECT(1, "has voxels 0 to 3 along y; there is no voxel 4", "film.h5", "--axis", "y", "--at",
           "4", "-o", "no.png");
    EXPECT(1, "absent.h5: cannot be read: No such file", "absent.h5", "-o", "no.png");
    EXPECT(1,
#ifdef COLLET_TEST_CAIRO
           "absent/no.png: cannot be written: there is no directory absent/; create it",
#else
           "built without cairo: install libcairo2-dev",
#endif
           "film.h5", "-o", "absent/no.png");
    assert_int_not_equal(access(io_path(directory, "no.png"), F_OK), 0);
}

TEST_GROUP(set_up, remove_directory)
