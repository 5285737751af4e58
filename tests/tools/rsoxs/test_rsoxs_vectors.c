/* SPDX-License-Identifier: Apache-2.0 */
/* Morphologies of vectors: /Vector_Morphology, and /vector_morphology, as CyRSoXS 1.1 called it. */

#include "rsoxs_runs.h"

#include <collet/scatter.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#define VOXELS (Z * Y * X)

static const char *const names[] = {"new", "old"};

/* Adds a group with two materials. `factor`: the length of the vectors. If it is 1, half of each material is
 * aligned. */
static void write_vectors(const char *name, const char *group, double factor)
{
    static double vectors[VOXELS][3], unaligned[VOXELS];
    const hsize_t shape[] = {Z, Y, X, 3};
    hid_t file = H5Fopen(io_path(directory, name), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int m = 0; m < 2; m++) {
        char path[60];
        for (int64_t i = 0; i < VOXELS; i++) {
            double some = (double)(i * 2654435761 % 1000) / 1000, part = m ? 1 - some : some;
            for (int c = 0; c < 3; c++)
                vectors[i][c] = factor * sqrt(part / 2) * (c == 0 ? 0.48 : c == 1 ? 0.64 : 0.6);
            unaligned[i] = part * (1 - factor * factor / 2);
        }
        snprintf(path, sizeof path, "%s/Mat_%d_alignment", group, m + 1);
        assert_true(H5LTmake_dataset_double(file, path, 4, shape, vectors[0]) >= 0);
        snprintf(path, sizeof path, "%s/Mat_%d_unaligned", group, m + 1);
        assert_true(H5LTmake_dataset_double(file, path, 3, shape, unaligned) >= 0);
    }
    H5Fclose(file);
}

/* A file without groups of materials. */
static void write_parameters(const char *name)
{
    hid_t file = create_morphology(name, 2);
    assert_true(H5Ldelete(file, "/Euler_Angles", H5P_DEFAULT) >= 0);
    H5Fclose(file);
}

static int set_up(void **state)
{
    rsoxs_set_up(state);
    write_parameters("new.h5");
    write_vectors("new.h5", "/Vector_Morphology", 1);
    write_parameters("old.h5");
    write_vectors("old.h5", "/vector_morphology", 1);
    write_parameters("both.h5"); /* the group of the old name has other vectors */
    write_vectors("both.h5", "/vector_morphology", 0.5);
    write_vectors("both.h5", "/Vector_Morphology", 1);
    write_text("vectors.txt", "CaseType = 0;\nMorphologyType = 1;\nEnergies = [281.0];\n"
                              "EAngleRotation = [0.0, 10.0, 350.0];\nRotMask = true;\n");
    return 0;
}

static char *read_all(const char *name, size_t *size)
{
    FILE *file = fopen(io_path(directory, name), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* Fails unless two patterns have the same numbers. */
static void expect_same_patterns(const char *a, const char *b)
{
    static float values[2][Y * X];
    const char *const folders[] = {a, b};
    for (int i = 0; i < 2; i++)
        assert_int_equal(collet_scatter_read_pattern(values[i], io_path(directory, folders[i]), 281.0, 0, Y, X, NULL),
                         COLLET_OK);
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    assert_true(values[0][Y * X / 2 + X / 2 + 1] > 0);
}

TEST(both_names_give_the_same_patterns)
{
    EXPECT(0, "1 pattern ", "new.h5", "-c", "vectors.txt", "-o", "new");
    EXPECT(0, "1 pattern ", "old.h5", "-c", "vectors.txt", "-o", "old");
    expect_same_patterns("new", "old");
}

TEST(the_new_name_comes_first)
{
    EXPECT(0, "1 pattern ", "new.h5", "-c", "vectors.txt", "-o", "first");
    EXPECT(0, "1 pattern ", "both.h5", "-c", "vectors.txt", "-o", "both");
    expect_same_patterns("first", "both");
}

TEST(both_names_are_validated)
{
    EXPECT(0, "old.h5: no fault\n", "validate", "old.h5");
    EXPECT(0, "old.h5: no fault\n", "validate", "old.h5", "-c", "vectors.txt");
    tool_result r = RSOXS("validate", "old.h5", "-c", "config.txt");
    EXPECT_OUT(r, 1,
               "there is no group /Euler_Angles; the file has /vector_morphology: set "
               "MorphologyType to 1");
    write_parameters("fewer.h5");
    write_vectors("fewer.h5", "/vector_morphology", 1);
    hid_t file = H5Fopen(io_path(directory, "fewer.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "/vector_morphology/Mat_2_unaligned", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    r = RSOXS("validate", "fewer.h5");
    EXPECT_OUT(r, 1, "there is no dataset /vector_morphology/Mat_2_unaligned");
    write_parameters("none.h5");
    r = RSOXS("validate", "none.h5", "-c", "vectors.txt");
    EXPECT_OUT(r, 1, "there is no group /Vector_Morphology\n");
}

TEST(both_names_are_converted_to_the_same_image)
{
    char *bytes[2];
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        char from[20], to[20];
        snprintf(from, sizeof from, "%s.h5", names[i]);
        snprintf(to, sizeof to, "%s.vti", names[i]);
        tool_result r = RSOXS("view", from, "-o", to);
        tool_expect(&r, 0);
        bytes[i] = read_all(to, &sizes[i]);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

TEST(both_names_give_the_same_slices)
{
    for (uint32_t field = 0; field <= COLLET_SCATTER_PSI; field++) {
        collet_scatter_slice slices[2] = {{.struct_size = sizeof *slices}, {.struct_size = sizeof *slices}};
        for (int i = 0; i < 2; i++) {
            char name[20];
            snprintf(name, sizeof name, "%s.h5", names[i]);
            assert_int_equal(collet_scatter_read_slice(&slices[i], io_path(directory, name), 2, field, 0, 1, NULL),
                             COLLET_OK);
        }
        assert_int_equal(slices[0].rows, Y);
        assert_memory_equal(slices[0].values, slices[1].values, Y * X * sizeof(float));
        for (int i = 0; i < 2; i++)
            collet_scatter_slice_destroy(&slices[i]);
    }
}

/* These files do not say along which axis the beam is. */
TEST(files_of_before_version_1_are_refused)
{
    const double count = 2;
    write_parameters("igor.h5");
    write_vectors("igor.h5", "/vector_morphology", 1);
    hid_t file = H5Fopen(io_path(directory, "igor.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "/Morphology_Parameters", H5P_DEFAULT) >= 0);
    hid_t group = H5Gcreate2(file, "/igor_parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5LTmake_dataset_double(group, "igormaterialnum", 0, NULL, &count) >= 0);
    H5Gclose(group);
    H5Fclose(file);
    tool_result r = RSOXS("validate", "igor.h5", "-c", "vectors.txt");
    EXPECT_OUT(r, 1, "igor.h5: this is a morphology of CyRSoXS before 1.0 (/igor_parameters)");
    r = RSOXS("igor.h5", "-c", "vectors.txt", "-o", "igor");
    EXPECT_ERR(r, 1, "up to 0.7 it was the first, later the third component of vectors");
}

TEST_GROUP(set_up, rsoxs_tear_down)
