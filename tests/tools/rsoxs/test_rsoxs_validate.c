/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs validate. */

#include "rsoxs_runs.h"

#include <hdf5.h>
#include <hdf5_hl.h>
#include <sys/stat.h>

/* Runs `validate` with the arguments, fails unless it prints `text`. */
#define VALIDATE(status, text, ...)                                                                \
    do {                                                                                           \
        tool_result r_ = RSOXS("validate", __VA_ARGS__);                                           \
        tool_expect(&r_, status);                                                                  \
        assert_string_equal(r_.out, text);                                                         \
    } while (0)

TEST(every_fault_of_a_morphology_is_listed)
{
    VALIDATE(0, "film.h5: no fault\n", "film.h5");
    VALIDATE(0, "film.h5: no fault\n", "film.h5", "-c", "config.txt");
    write_morphology(
        "bad.h5", &(flaws){.missing = "Mat_1_Theta", .nan = "Mat_2_Vfrac", .large = "Mat_1_Vfrac"});
    VALIDATE(1,
             "error: bad.h5: there is no dataset /Euler_Angles/Mat_1_Theta\n"
             "error: bad.h5: /Euler_Angles/Mat_2_Vfrac: the volume fraction of material 2 must be "
             "from 0 to 1, but is not in 1 voxel: nan at z 0, y 1, x 5\n"
             "error: bad.h5: the sum of the materials' volume fractions must be 1, but is not in 1 "
             "voxel: 1.2 "
             "at z 2, y 0, x 3\n"
             "bad.h5: 3 errors, 0 warnings\n",
             "bad.h5", "-c", "config.txt");
    write_morphology("bad.h5", &(flaws){.narrow = "Mat_2_Vfrac", .nan = "Mat_1_Psi"});
    VALIDATE(1,
             "error: bad.h5: /Euler_Angles/Mat_2_Vfrac has 3 x 19 x 24 voxels (Z, Y, X), but the "
             "datasets before have 3 x 20 x 24\n"
             "error: bad.h5: /Euler_Angles/Mat_1_Psi: psi of material 1 must be finite, but is not "
             "in 1 voxel: "
             "nan at z 0, y 1, x 5\n"
             "bad.h5: 2 errors, 0 warnings\n",
             "bad.h5");
    write_huge("huge.h5");
    tool_result r = RSOXS("validate", "huge.h5");
    EXPECT_OUT(r, 1, "/Euler_Angles/Mat_1_Vfrac must have at least 1 and at most 2^40 voxels");
    VALIDATE(1,
             "error: none.h5: cannot be read: No such file or directory\n"
             "none.h5: 1 error, 0 warnings\n",
             "none.h5");
}

/* The voxels are read in three parts; axes are X, Y, Z. */
/* CyRSoXS's grid rotates images about the middle of the detector, which is not q = 0 if the number of pixels is
 * odd. */
TEST(turns_of_odd_detectors_are_told)
{
    EXPECT(0, "", "make", "sphere", "--size", "6,9,10", "--radius", "2", "--angles", "0,15,165", "-q", "-o", "odd");
    EXPECT(0, "odd/morphology.h5: 9 x 10 pixels: the grid cyrsoxs rotates images about the middle", "validate",
           "odd/morphology.h5", "-c", "odd/config.txt");
    EXPECT(0, "", "make", "sphere", "--size", "6,8,10", "--radius", "2", "--angles", "0,15,165", "-q", "-o", "even");
    EXPECT(0, "even/morphology.h5: no fault", "validate", "even/morphology.h5", "-c", "even/config.txt");
}

TEST(voxels_of_large_files_are_counted)
{
    const hsize_t shape[] = {700, 600, 23};
    const char *const labels[] = {"X", "Y", "Z"};
    const double two = 2;
    const hsize_t one = 1;
    const size_t voxels = 700 * 600 * 23;
    float *values = malloc(voxels * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < voxels; i++)
        values[i] = 1;
    values[(600 * 699 + 7) * 23 + 21] = 2; /* x 699, y 7, z 21 */
    values[(600 * 3 + 8) * 23 + 2] = -1;
    hid_t file = H5Fcreate(io_path(directory, "large.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "/Morphology_Parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(H5Gcreate2(file, "/Vector_Morphology", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5LTmake_dataset_double(file, "/Morphology_Parameters/PhysSize", 1, &one, &two);
    H5LTmake_dataset_double(file, "/Morphology_Parameters/NumMaterial", 1, &one, &two);
    H5LTmake_dataset_float(file, "/Vector_Morphology/Mat_1_unaligned", 3, shape, values);
    hid_t set = H5Dopen2(file, "/Vector_Morphology/Mat_1_unaligned", H5P_DEFAULT);
    for (unsigned a = 0; a < 3; a++)
        assert_true(H5DSset_label(set, a, labels[a]) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    free(values);
    VALIDATE(1,
             "error: large.h5: there is no dataset /Vector_Morphology/Mat_1_alignment\n"
             "error: large.h5: there is no dataset /Vector_Morphology/Mat_2_unaligned\n"
             "error: large.h5: there is no dataset /Vector_Morphology/Mat_2_alignment\n"
             "error: large.h5: /Vector_Morphology/Mat_1_unaligned: the unaligned fraction of "
             "material 1 must be from 0 to 1, but is not in 2 voxels: -1 at z 2, y 8, x 3; 2 at z "
             "21, y 7, x "
             "699\n"
             "large.h5: 4 errors, 0 warnings\n",
             "large.h5");
}

TEST(every_fault_of_a_configuration_is_listed)
{
    VALIDATE(0, "config.txt: no fault\n", "config.txt");
    write_text("faulty.txt", "CaseType = 7;\nEnergies = [280.0, 280.001, 390.0, -5.0];\n"
                             "EAngleRotation = [0.0, 10.0];\nWindowingType = 9;\nFoo = 3;\n");
    VALIDATE(1,
             "error: faulty.txt, line 1: CaseType must be a number from 0 to 2\n"
             "error: faulty.txt: MorphologyType is missing; the key Foo is unknown\n"
             "error: faulty.txt, line 4: WindowingType must be a number from 0 to 1\n"
             "error: faulty.txt: the energies 280 and 280.001 have the same file name "
             "Energy_280.00.h5, which has two decimals: give energies in eV that differ by 0.01 or "
             "more\n"
             "error: faulty.txt, line 3: EAngleRotation has 2 numbers; it must have 3\n"
             "error: Material1.txt: there is no EnergyData for 390, -5 eV\n"
             "error: Material2.txt: there is no EnergyData for 390, -5 eV\n"
             "error: faulty.txt: energy 4 is -5 eV; it must be positive and finite\n"
             "warning: faulty.txt: the key Foo is unknown and not used\n"
             "faulty.txt: 8 errors, 1 warning\n",
             "faulty.txt");
    write_text("constants.txt",
               "EnergyData0: { Energy = 280.0; DeltaPara = 1.5e-4; DeltaPerp = 0.5; }\n"
               "EnergyData1: { Energy = 281.0; BetaPara = -1e-5; BetaPerp = 3e-5; DeltaPara = "
               "1.5e-4; DeltaPerp = -0.2; }\n"
               "EnergyData2: { Energy = 281.0; BetaPara = 1e-5; BetaPerp = 3e-5; DeltaPara = "
               "1.5e-4; DeltaPerp = -2e-4; }\n");
    write_configuration("three.txt", "280.0", 3, "");
    VALIDATE(1,
             "error: constants.txt, line 1: EnergyData0 has no number called BetaPara\n"
             "error: constants.txt, line 1: EnergyData0 has no number called BetaPerp\n"
             "error: constants.txt: there is no EnergyData for 282 eV\n"
             "warning: constants.txt, line 2: beta of EnergyData1 is negative\n"
             "warning: constants.txt, line 2: a constant of EnergyData1 is 0.1 or more; with soft "
             "X-rays values are usually about 0.001\n"
             "warning: constants.txt, line 3: EnergyData2 is not used, because it has the same "
             "energy, 281 eV, as EnergyData1\n"
             "constants.txt: 3 errors, 3 warnings\n",
             "constants.txt", "-c", "three.txt");
}

/* A table of constants in other units. */
TEST(a_constant_is_named)
{
    static const char text[] = "Material1.txt, line 2: DeltaPara of EnergyData0 is 13175; it must "
                               "be from -1000 to 1000";
    write_text("Material1.txt",
               "EnergyDataA: { Energy = 1.0; DeltaPara = 0.0; DeltaPerp = 2000.0; BetaPara = 0.0; "
               "BetaPerp = 0.0; }\n"
               "EnergyData0: { Energy = 280.0; DeltaPara = 13175.0; DeltaPerp = 0.0; BetaPara = "
               "0.0; BetaPerp = 0.0; }\n");
    write_configuration("one.txt", "280.0", 1, "");
    tool_result v = RSOXS("validate", "one.txt"), r = RSOXS("film.h5", "-c", "one.txt");
    write_constants("Material1.txt", ENERGIES);
    tool_expect(&v, 1);
    EXPECT_ERR(r, 1, text);
    assert_contains(v.out, text);
    assert_non_null(
        strstr(v.out, "error: Material1.txt, line 1: DeltaPerp of EnergyDataA is 2000"));
    assert_contains(v.out, "one.txt: 2 errors");
}

TEST(other_kinds_of_files_are_told)
{
    static const char text[] = "neither HDF5 nor a configuration nor optical constants\n";
    write_text("x.vti", "<?xml version=\"1.0\"?>\n<VTKFile/>\n");
    write_text("x.json", "{\n  \"a\": 1\n}\n");
    write_text("later.txt", "CaseType = 0;\nEnergies 3;\n");
    static const char *const names[] = {"x.vti", "x.json", "later.txt"};
    for (int i = 0; i < 3; i++) {
        tool_result v = RSOXS("validate", names[i]);
        tool_expect(&v, 1);
        if (!strstr(v.out, "syntax error") || (strstr(v.out, text) != NULL) != (i < 2))
            fail_msg("%s: %s", names[i], v.out);
    }
    EXPECT(1, "x.vti: not an HDF5 file; morphologies", "x.vti");
}

TEST(an_absent_configuration_is_told)
{
    assert_int_equal(rename(io_path(directory, "config.txt"), io_path(directory, "c.txt")), 0);
    tool_result r = RSOXS("film.h5");
    assert_int_equal(rename(io_path(directory, "c.txt"), io_path(directory, "config.txt")), 0);
    EXPECT_ERR(r, 1,
               "config.txt: cannot be opened: No such file or directory; name a "
               "configuration by -c FILE\n");
}

TEST(findings_are_printed_as_json)
{
    write_morphology("bad.h5", &(flaws){.nan = "Mat_2_Vfrac"});
    tool_result r = RSOXS("validate", "bad.h5", "--json");
    EXPECT_OUT(r, 1, "\"kind\":\t\"error\"", "\"dataset\":\t\"/Euler_Angles/Mat_2_Vfrac\"",
               "\"first\":\t[[0, 1, 5]]", "\"errors\":\t1");
    EXPECT(2, "a file is required", "validate");
    EXPECT(2, "one file is expected", "validate", "film.h5", "film.h5");
}

/* HDF5 links to other files, in the path of a dataset or in its place, are not followed: the file
 * could be a pipe. */
TEST(other_files_are_not_followed)
{
    static const char *const names[] = {"/Euler_Angles/Mat_1_Vfrac", "/Euler_Angles",
                                        "/Morphology_Parameters/PhysSize"};
    static const char *const found[] = {"/Euler_Angles/Mat_1_Vfrac", "/Euler_Angles/Mat_1_Vfrac",
                                        "/Morphology_Parameters/PhysSize"};
    write_morphology("target.h5", &(flaws){0});
    assert_int_equal(mkfifo(io_path(directory, "pipe"), 0600), 0);
    EXPECT(0, "no fault", "validate", "target.h5");
    for (int i = 0; i < 6; i++) {
        char text[120];
        write_morphology("linked.h5", &(flaws){0});
        hid_t file = H5Fopen(io_path(directory, "linked.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(file, names[i % 3], H5P_DEFAULT) >= 0);
        assert_true(H5Lcreate_external(i < 3 ? "target.h5" : "pipe", names[i % 3], file,
                                       names[i % 3], H5P_DEFAULT, H5P_DEFAULT) >= 0);
        H5Fclose(file);
        snprintf(text, sizeof text, "linked.h5: the values of %s are in other datasets or files",
                 found[i % 3]);
        EXPECT(1, text, "linked.h5", "-o", "linked");
        tool_result r = RSOXS("validate", "linked.h5");
        EXPECT_OUT(r, 1, text);
    }
    write_morphology("linked.h5", &(flaws){0});
    hid_t file = H5Fopen(io_path(directory, "linked.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t space = H5Screate(H5S_SCALAR), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(properties, "pipe", 0, sizeof(double));
    H5Ldelete(file, names[2], H5P_DEFAULT);
    H5Dclose(
        H5Dcreate2(file, names[2], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
    EXPECT(1, "PhysSize are in other datasets or files", "linked.h5", "-o", "linked");
    tool_result r = RSOXS("validate", "pipe");
    EXPECT_OUT(r, 1, "pipe: not a regular file");
}

TEST_GROUP(rsoxs_set_up, rsoxs_tear_down)
