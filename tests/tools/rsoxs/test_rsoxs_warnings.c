/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs: empty results, and warnings about suspicious files. */

#include "rsoxs_runs.h"

#include <hdf5.h>
#include <hdf5_hl.h>

/* Fails unless both directories have the same pattern at 281 eV, which is not empty. */
static void expect_same_pattern(const char *first, const char *second)
{
    const char *const directories[] = {first, second};
    float patterns[2][Y * X];
    int numbers = 0;
    for (int i = 0; i < 2; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s/Energy_281.00.h5", directories[i]);
        hid_t file = H5Fopen(io_path(directory, name), H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(H5LTread_dataset_float(file, "/K0/projection", patterns[i]) >= 0);
        H5Fclose(file);
    }
    for (int i = 0; i < Y * X; i++) {
        numbers += isfinite(patterns[0][i]) && patterns[0][i] > 0;
        assert_true(patterns[0][i] == patterns[1][i] ||
                    (isnan(patterns[0][i]) && isnan(patterns[1][i])));
    }
    assert_true(numbers > Y * X / 4);
}

/* Runs collet-rsoxs with these arguments; it must succeed, and its standard error must be
 * `text`. */
#define EXPECT_SAID(text, ...)                                                                     \
    do {                                                                                           \
        tool_result r_ = RSOXS(__VA_ARGS__, "--energies", "281", "-q");                            \
        tool_expect(&r_, 0);                                                                       \
        assert_string_equal(r_.err, text);                                                         \
    } while (0)

/* `validate` must find no fault and print `text`. */
static void expect_valid(const char *morphology, const char *text)
{
    tool_result r = RSOXS("validate", morphology, "-c", "config.txt");
    EXPECT_OUT(r, 0, text);
}

/* A run without --q-grid reports once how large the errors of the default grid are. */
TEST(the_default_grid_is_told)
{
    const char *const args[] = {"film.h5", "-o", "told", "--energies", "280", NULL};
    tool_setup setup = {.directory = directory};
    tool_result r = tool_run("collet-rsoxs", args, &setup);
    EXPECT_ERR(r, 0,
               "warning: the default --q-grid cyrsoxs interpolates intensities between slices, as "
               "CyRSoXS does: "
               "at 280 eV, in the middle of film.h5, they are ",
               " times the exact intensities, and their sum ",
               "; --q-grid exact computes the exact intensities\n");
    assert_null(strstr(strstr(r.err, "--q-grid exact") + 1, "warning"));
    EXPECT_SAID("", "film.h5", "-o", "exact", "--energies", "280", "--q-grid", "exact");
}

TEST(angles_of_unaligned_voxels_are_not_looked_at)
{
    write_morphology("zero.h5", &(flaws){.zero = "Mat_1_S"});
    EXPECT_SAID("", "zero.h5", "-o", "zero");
    const char *const angles[] = {"Mat_1_Theta", "Mat_1_Psi"};
    for (int i = 0; i < 2; i++) {
        write_morphology("nan.h5", &(flaws){.zero = "Mat_1_S", .nan = angles[i]});
        for (int direct = 0; direct < 2; direct++) {
            const char *out = direct ? "direct" : "fast";
            EXPECT_SAID("", "nan.h5", "-o", out, "--force", "--method", out);
            if (!direct)
                expect_same_pattern("zero", out);
        }
        expect_valid("nan.h5", "nan.h5: no fault\n");
    }
    write_morphology("nan.h5", &(flaws){.nan = "Mat_1_Theta"});
    EXPECT(1, "theta of material 1 must be finite, but is not in 1 voxel", "nan.h5", "-o", "no");
}

TEST(an_absent_alignment_is_0)
{
    static const char said[] = "collet-rsoxs: warning: absent.h5: material 1 has angles, but no "
                               "dataset S: it is treated as "
                               "unaligned\n";
    write_morphology("absent.h5", &(flaws){.missing = "Mat_2_S"});
    EXPECT_SAID("", "film.h5", "-o", "film");
    EXPECT_SAID("", "absent.h5", "-o", "absent2");
    expect_same_pattern("film", "absent2");
    expect_valid("absent.h5", "absent.h5: no fault\n");
    write_morphology("absent.h5", &(flaws){.missing = "Mat_1_S"});
    EXPECT_SAID(said, "absent.h5", "-o", "absent1");
    expect_valid("absent.h5", strchr(said, 'w'));
}

TEST(suspicious_files_are_told_by_runs_too)
{
    write_morphology("degrees.h5", &(flaws){.degrees = "Mat_1_Theta"});
    EXPECT_SAID("collet-rsoxs: warning: degrees.h5: material 1 has angles of up to 57.2675; "
                "angles must be in radians\n",
                "degrees.h5", "-o", "degrees");
    /* A run that reads more or fewer layers at a time also warns only once. */
    EXPECT_SAID("collet-rsoxs: warning: degrees.h5: material 1 has angles of up to 57.2675; "
                "angles must be in radians\n",
                "degrees.h5", "-o", "degrees", "--force", "--method", "direct", "--backend",
                "cpu_scalar");
    write_constants("Material1.txt", ENERGIES);
    FILE *f = fopen(io_path(directory, "Material1.txt"), "a");
    fputs("EnergyDataA: { Energy = 281.0; BetaPara = -1e-5; BetaPerp = 3e-5; DeltaPara = 1e-4; "
          "DeltaPerp = 0.5; }\nEnergyDataB: { Energy = 500.0; }\n",
          f);
    fclose(f);
    tool_result r = RSOXS("film.h5", "-o", "twice", "--energies", "281", "-q");
    tool_result v = RSOXS("validate", "film.h5", "-c", "config.txt");
    write_constants("Material1.txt", ENERGIES);
    tool_expect(&r, 0);
    tool_expect(&v, 1); /* the last group is faulty, but the run does not need it */
    static const char *const told[] = {
        "line 41: EnergyDataA is not used, because it has the same energy, 281 eV, as EnergyData1",
        "line 41: beta of EnergyDataA is negative", "line 41: a constant of EnergyDataA is 0.1",
        "line 42: EnergyDataB has no number called DeltaPara"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (!strstr(r.err, told[i]) || !strstr(v.out, told[i]))
            fail_msg("'%s' is not in: %s and: %s", told[i], r.err, v.out);
}

/* If energies are given in keV, not eV, the Ewald sphere is smaller than a pixel: the patterns are
 * empty. */
TEST(empty_patterns_are_errors)
{
    static const char text[] = "at 0.281 eV Ewald's sphere meets no pixel of the detector: its "
                               "radius is 0.00142 1/nm";
    write_text("keV.txt", "CaseType = 0; MorphologyType = 0; Energies = [0.281];\n"
                          "EAngleRotation = [0.0, 10.0, 350.0];\n");
    write_text("Material1.txt", "EnergyData0: { Energy = 0.281; BetaPara = 1e-5; BetaPerp = 3e-5; "
                                "DeltaPara = 1.5e-4; DeltaPerp = -2e-4; }\n");
    write_text("Material2.txt", "EnergyData0: { Energy = 0.281; BetaPara = 0; BetaPerp = 0; "
                                "DeltaPara = 0; DeltaPerp = 0.0; }\n");
    tool_result v = RSOXS("validate", "film.h5", "-c", "keV.txt");
    for (int i = 0; i < 3; i++)
        EXPECT(1, text, "film.h5", "-c", "keV.txt", "-o", "keV",
               i == 0   ? "-q"
               : i == 1 ? "--integrate"
                        : "--plan");
    write_constants("Material1.txt", ENERGIES);
    write_constants("Material2.txt", ENERGIES);
    EXPECT_OUT(v, 1, text);
    assert_contains(
        v.out,
        "warning: keV.txt: the energy 0.281 eV is outside the X-ray range; energies must be in eV");
}

/* Earlier versions and other programs may have written empty patterns. */
TEST(empty_patterns_of_others_are_not_integrated)
{
    float values[Y * X];
    EXPECT_SAID("", "film.h5", "-o", "others");
    for (int i = 0; i < Y * X; i++)
        values[i] = NAN;
    hid_t file = H5Fopen(io_path(directory, "others/Energy_281.00.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "/K0/projection", H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    EXPECT(1, "others/Energy_281.00.h5: the pattern at 281 eV cannot be integrated", "film.h5",
           "-o", "others", "--energies", "281", "--resume", "--integrate");
}

TEST(nothing_scatters_is_told)
{
    static const char said[] = "warning: config.txt: at 280 eV the optical constants of all "
                               "materials are 0, so the pattern is 0\n";
    FILE *f = fopen(io_path(directory, "Material1.txt"), "w");
    for (int i = 0; i < ENERGIES; i++)
        fprintf(f,
                "EnergyData%d: { Energy = %d.0; BetaPara = 0; BetaPerp = 0; DeltaPara = 0; "
                "DeltaPerp = 0; }\n",
                i, 280 + i);
    fclose(f);
    FILE *to = fopen(io_path(directory, "Material2.txt"), "w");
    FILE *from = fopen(io_path(directory, "Material1.txt"), "r");
    for (int c; (c = fgetc(from)) != EOF;)
        fputc(c, to);
    fclose(from);
    fclose(to);
    tool_result r = RSOXS("film.h5", "-o", "vacuum", "--energies", "281", "-q");
    tool_result v = RSOXS("validate", "film.h5", "-c", "config.txt");
    write_constants("Material1.txt", ENERGIES);
    write_constants("Material2.txt", ENERGIES);
    tool_expect(&r, 0);
    tool_expect(&v, 0);
    assert_contains(r.err, said);
    assert_contains(v.out, said);
}

/* If labels cannot be read, no order of the axes is assumed. */
TEST(unreadable_labels_are_errors)
{
    const hsize_t count = 3;
    const char texts[3][100] = {"X", "Y", "Z"};
    write_morphology("long.h5", &(flaws){0});
    hid_t file = H5Fopen(io_path(directory, "long.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "/Euler_Angles/Mat_1_Vfrac", H5P_DEFAULT);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);
    H5Tset_size(type, sizeof *texts);
    hid_t attribute = H5Acreate2(set, "DIMENSION_LABELS", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, texts) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
    EXPECT(1, "the labels of the axes of /Euler_Angles/Mat_1_Vfrac cannot be read", "long.h5", "-o",
           "long");
}

TEST(films_are_read_without_locks)
{
    tool_result r = rsoxs_with(&(tool_setup){.prepare = tool_preload,
                                             .user = COLLET_TEST_BIN "/../tests/libno_locks.so"},
                               (const char *const[]){"film.h5", "-o", "no_locks", NULL});
    tool_expect(&r, 0);
}

TEST_GROUP(rsoxs_set_up, rsoxs_tear_down)
