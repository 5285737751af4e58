/* SPDX-License-Identifier: Apache-2.0 */
/* Tests collet-rsoxs: whole runs from files to files, interrupted runs, and bad input. */

#include "io/numerals.h"
#include "rsoxs_runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <collet/scatter.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define VOXELS (Z * Y * X)

/* The pattern in a file; the caller frees it. */
static float *read_pattern(const char *name)
{
    float *values = malloc(Y * X * sizeof *values);
    hid_t file = H5Fopen(io_path(directory, name), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5LTread_dataset_float(file, "/K0/projection", values) >= 0);
    H5Fclose(file);
    return values;
}

static char *read_bytes(const char *name, long *size)
{
    FILE *f = fopen(io_path(directory, name), "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = ftell(f);
    rewind(f);
    char *bytes = malloc((size_t)*size);
    assert_int_equal(fread(bytes, 1, (size_t)*size, f), *size);
    fclose(f);
    return bytes;
}

/* ---- Patterns -------------------------------------------------------------------------------- */

TEST(both_methods_write_the_same)
{
    EXPECT(0, "2 patterns", "film.h5", "-o", "fast", "--energies", "280,300", "--dtype", "f64");
    EXPECT(0, "2 patterns", "film.h5", "-o", "direct", "--energies", "280,300", "--dtype", "f64",
           "--method", "direct");
    float *a = read_pattern("fast/Energy_300.00.h5"), *b = read_pattern("direct/Energy_300.00.h5");
    float peak = 0;
    for (int i = 0; i < Y * X; i++)
        peak = a[i] > peak ? a[i] : peak;
    assert_true(peak > 0);
    for (int i = 0; i < Y * X; i++)
        assert_true(isnan(a[i]) ? isnan(b[i]) : fabsf(a[i] - b[i]) <= 1e-6f * peak);
    free(a);
    free(b);
    assert_int_not_equal(access(io_path(directory, "fast/Energy_281.00.h5"), F_OK), 0);
}

TEST(plans_are_printed)
{
    EXPECT(0, "3 x 20 x 24 voxels of 2 nm (Z, Y, X), 2 materials, 40 energies, 36 angles, 1 beam",
           "film.h5", "--plan");
    EXPECT(0, "8 fields, 8 transforms", "film.h5", "--plan");
    EXPECT(0, "\"transforms\":\t8", "film.h5", "--plan", "--json");
    EXPECT(0, "; chosen: the first of these that can be used\n", "film.h5", "--plan");
    EXPECT(0, "; chosen: the first of cpu_scalar that can be used\n", "film.h5", "--plan",
           "--backend", "cpu_scalar");
    EXPECT(0,
           "on worker:cpu_scalar, 32 energies at a time; chosen: the first of worker:cpu_scalar ",
           "film.h5", "--plan", "--backend", "worker:cpu_scalar");
    EXPECT(0, "\"backend\":\t\"cpu_scalar\"", "film.h5", "--plan", "--json", "--backend",
           "cpu_scalar");
    EXPECT(0, "  cpu_scalar (priority 10): ", "film.h5", "--plan", "--backend", "cpu_openmp");
    assert_int_not_equal(access(io_path(directory, "HDF5"), F_OK), 0);
    EXPECT(0, "2 patterns", "film.h5", "-o", "planned", "--energies", "281,282");
    EXPECT(0, " 3 energies (2 kept), 36 angles", "film.h5", "-o", "planned", "--plan", "--resume",
           "--energies", "281,282,283");
    EXPECT(0, "2 energies (2 kept), 1 beam\nnothing is left to compute\n", "film.h5", "-o",
           "planned", "--plan", "--resume", "--energies", "281,282");
}

TEST(full_output_is_reported)
{
    const tool_setup setup = {.prepare = tool_to_full_device};
    const char *const modes[] = {"--plan", "--json", "--resume"};
    for (int i = 0; i < 3; i++) {
        tool_result r = rsoxs_with(
            &setup, (const char *const[]){"film.h5", "--plan", modes[i], "-o", "unseen", NULL});
        EXPECT_ERR(r, 1, "standard output: No space left on device");
    }
}

static void use_remote(void *user)
{
    setenv("COLLET_CONFIG", user, 1);
    setenv("COLLET_PLUGIN_PATH",
           COLLET_TEST_REMOTE "/remote.so:" COLLET_TEST_PLUGINS "/cpu_openmp.so", 1);
}

static void expect_equal_files(const char *first, const char *second)
{
    long size, other;
    FREED(char) *a = read_bytes(first, &size), *b = read_bytes(second, &other);
    assert_int_equal(size, other);
    assert_memory_equal(a, b, (size_t)size);
}

static tool_result run_remote(const char *settings, const char *const *args)
{
    char *path = strdup(io_path(directory, "remote.conf"));
    const tool_setup setup = {.prepare = use_remote, .user = path};
    write_text("remote.conf", settings);
    tool_result r = rsoxs_with(&setup, args);
    free(path);
    return r;
}

static void expect_remote(const char *alike, const char *text, const char *const *args)
{
    tool_result r = run_remote(alike, args);
    EXPECT_OUT(r, 0, text);
}

#define REMOTE(alike, text, ...)                                                                   \
    expect_remote(alike, text, (const char *const[]){__VA_ARGS__, NULL})

/* The two devices of the test backend share the energies if they are of the same kind. */
TEST(several_devices_share_the_energies)
{
    write_configuration("windows.txt", "280.0", 10, "WindowingType = 1;\n"); /* windows multiply */
    REMOTE("remote.alike = 1\n", " on each of remote:0, remote:1\n", "film.h5", "--plan",
           "--backend", "remote,cpu_openmp");
    REMOTE("", "on cpu_openmp\n", "film.h5", "-c", "windows.txt", "-o", "alone", "--backend",
           "remote,cpu_openmp");
    REMOTE("remote.alike = 1\n", "on remote:0, remote:1\n", "film.h5", "-c", "windows.txt", "-o",
           "shared", "--backend", "remote,cpu_openmp");
    expect_equal_files("shared/Energy_288.00.h5", "alone/Energy_288.00.h5");
    EXPECT(0, " on each of cpu_openmp, cpu_scalar\n", "film.h5", "--plan", "--devices",
           "cpu_openmp,cpu_scalar");
    EXPECT(0, " energies a second, about ", "film.h5", "--plan", "--devices",
           "cpu_openmp,cpu_scalar");
    EXPECT(0, "\"part\":", "film.h5", "--plan", "--json", "--devices",
           "cpu_openmp,cpu_scalar");
    EXPECT(0, "\"devices\":\t[\"cpu_openmp\", \"cpu_scalar\"]", "film.h5", "--json", "--devices",
           "cpu_openmp,cpu_scalar", "-o", "two", "--dtype", "f64");
    /* If one device is lost, the other device does its part, and a message tells the user. */
    const char *const lost[] = {"film.h5", "-c",        "windows.txt",       "-o", "lost",
                                "--json",  "--backend", "remote,cpu_openmp", NULL};
    tool_result r = run_remote(
        "remote.alike = 1\nremote.faulty = 1\nremote.lose = 1\nremote.delay_us = 2000\n", lost);
    EXPECT_OUT(r, 0, "\"error\":\t\"remote:1,cpu_openmp: ");
    assert_contains(r.err, "warning: the device remote:1,cpu_openmp failed; the other devices "
                           "compute its part: remote:1,cpu_openmp: ");
    expect_equal_files("lost/Energy_288.00.h5", "alone/Energy_288.00.h5");
    r = run_remote("remote.alike = 1\nremote.lose = 1\n",
                   (const char *[]){"film.h5", "-c", "windows.txt", "-o", "all", "--backend",
                                    "remote,cpu_openmp", NULL});
    EXPECT_ERR(r, 1, ",cpu_openmp: ");
    EXPECT(1, "--devices: cpu_scalar is given twice", "film.h5", "--devices",
           "cpu_scalar,cpu_scalar");
    EXPECT(2, "--devices: ", "film.h5", "--devices", "cpu_openmp,nothing");
    EXPECT(2, "exclude each other", "film.h5", "--devices", "cpu_openmp", "--backend", "auto");
}

TEST(existing_patterns_are_kept)
{
    EXPECT(0, "1 pattern ", "film.h5", "-o", "kept", "--energies", "281");
    EXPECT(1, "kept/Energy_281.00.h5 exists", "film.h5", "-o", "kept", "--energies", "281");
    EXPECT(0, "1 pattern of an earlier run kept\n1 pattern ", "film.h5", "-o", "kept", "--energies",
           "281,282", "--resume");
    EXPECT(1,
           "kept/Energy_281.00.h5 was written with other settings: 'dc 0', not 'dc 1': give another "
           "directory (-o) to keep both, or --force to replace it",
           "film.h5", "-o", "kept", "--energies", "281", "--resume", "--dc", "neighbours");
    EXPECT(0, "2 patterns ", "film.h5", "-o", "kept", "--energies", "281,282", "--force");
    /* A pipe in place of a file is refused at once: the program must not wait for it. */
    assert_int_equal(mkfifo(io_path(directory, "kept/Energy_283.00.h5"), 0600), 0);
    EXPECT(1, "kept/Energy_283.00.h5: not a regular file", "film.h5", "-o", "kept", "--energies",
           "283", "--resume");
    remove(io_path(directory, "kept/Energy_283.00.h5"));
    hid_t file = H5Fopen(io_path(directory, "kept/Energy_281.00.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t type = H5Tcopy(H5T_C_S1), two = H5Screate_simple(1, &(hsize_t){100}, NULL);
    H5Tset_size(type, 300);
    assert_true(H5Adelete(file, "collet_settings") >= 0);
    hid_t many = H5Acreate2(file, "collet_settings", type, two, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(many >= 0);
    H5Aclose(many);
    H5Sclose(two);
    H5Tclose(type);
    H5Fclose(file);
    EXPECT(1,
           "kept/Energy_281.00.h5 was not written by collet-rsoxs: give another directory (-o) "
           "to keep both, or --force to replace it",
           "film.h5", "-o", "kept", "--energies", "281", "--resume");
    EXPECT(0, "1 pattern ", "film.h5", "-o", "kept", "--energies", "281", "--force");
    file = H5Fopen(io_path(directory, "kept/Energy_282.00.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    EXPECT(1, "kept/Energy_282.00.h5: the file is locked", "film.h5", "-o", "kept", "--energies",
           "282", "--resume");
    H5Fclose(file);
    /* A kept pattern does not depend on other energies in the configuration, but depends on the
     * optical constants. */
    write_configuration("fewer.txt", "280.0", 3, "");
    EXPECT(0, "2 patterns of an earlier run kept", "film.h5", "-c", "fewer.txt", "-o", "kept",
           "--energies", "281,282", "--resume");
    write_text("Material2.txt", "EnergyData0: { Energy = 281.0; BetaPara = 1e-5; BetaPerp = 3e-5; "
                                "DeltaPara = 1.5e-4; DeltaPerp = -2e-4; }\n");
    write_configuration("fewer.txt", "281.0", 1, "");
    EXPECT(1, "written with other settings", "film.h5", "-c", "fewer.txt", "-o", "kept",
           "--resume");
    write_constants("Material2.txt", ENERGIES);
}

static void write_case(const char *energy, int kind, int vectors, double k, double normal)
{
    char text[400];
    locale_t before = io_numerals_begin();
    snprintf(text, sizeof text,
             "CaseType = %d;\nMorphologyType = %d;\nEnergies = [%s];\n"
             "EAngleRotation = [0.0, 10.0, 350.0];\nlistKVectors = ({k = [%.1f, 0.0, 1.0];});\n"
             "DetectorCoordinates = [%.1f, 0.0, 1.0];\n",
             kind, vectors, energy, k, normal);
    io_numerals_end(before);
    write_text("case.txt", text);
}

/* Writes a file with both kinds of morphology. */
static void write_both(void)
{
    static const char *const names[] = {"Mat_1_unaligned", "Mat_1_alignment", "Mat_2_unaligned",
                                        "Mat_2_alignment"};
    static double values[VOXELS * 3];
    const hsize_t shape[] = {Z, Y, X, 3};
    write_morphology("both.h5", &(flaws){0});
    hid_t file = H5Fopen(io_path(directory, "both.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "/Vector_Morphology", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int i = 0; i < 4; i++) {
        char name[60];
        snprintf(name, sizeof name, "/Vector_Morphology/%s", names[i]);
        for (int v = 0; v < VOXELS * 3; v++)
            values[v] = i == 0;
        assert_true(H5LTmake_dataset_double(file, name, i % 2 ? 4 : 3, shape, values) >= 0);
    }
    H5Fclose(file);
}

/* With --resume, patterns of other settings are refused: energy, kind of morphology, beam, detector. */
TEST(patterns_of_other_settings_are_refused)
{
    static const struct {
        const char *energy;
        int kind, vectors;
        double k, normal;
    } cases[] = {{"280.0004", 2, 0, 0.1, 0.0},
                 {"280.0", 2, 1, 0.1, 0.0},
                 {"280.0", 2, 0, 0.3, 0.0},
                 {"280.0", 2, 0, 0.1, 0.3},
                 {"280.0", 0, 0, 0.1, 0.0}};
    write_both();
    write_case("280.0", 2, 0, 0.1, 0.0);
    EXPECT(0, "1 pattern ", "both.h5", "-c", "case.txt", "-o", "case");
    EXPECT(0, "1 pattern of an earlier run kept", "both.h5", "-c", "case.txt", "-o", "case",
           "--resume");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_case(cases[i].energy, cases[i].kind, cases[i].vectors, cases[i].k, cases[i].normal);
        EXPECT(1, "Energy_280.00.h5 was written with other settings: 'configuration ", "both.h5",
               "-c", "case.txt", "-o", "case", "--resume");
    }
}

/* If patterns are replaced, files made from them are removed too. Other files stay. */
TEST(companions_are_replaced)
{
    static const struct {
        const char *name;
        int stays;
    } files[] = {{"forced/integrated.h5", 0},         {"forced/intensity.png", 0},
                 {"forced/intensity_K1.png", 0},      {"forced/Energy_281.00.png", 0},
                 {"forced/Energy_281.00_K11.png", 0}, {"forced/Energy_282.00.png", 1},
                 {"forced/intensity_mine.png", 1},    {"forced/notes.txt", 1}};
    EXPECT(0, "1 pattern ", "film.h5", "-o", "forced", "--energies", "281");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_text(files[i].name, "old");
    EXPECT(0, "1 pattern ", "film.h5", "-o", "forced", "--energies", "281", "--force");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(access(io_path(directory, files[i].name), F_OK) == 0, files[i].stays);
}

/* A run neither replaces nor removes its input files, whatever path names them. */
TEST(inputs_are_never_replaced)
{
    static const struct {
        const char *name, *target; /* a link in the directory of the results, and its target */
    } links[] = {{"guard/integrated.h5", "../film.h5"},
                 {"guard/Energy_280.00_K3.png", "../Material2.txt"},
                 {"guard/intensity.png", "../config.txt"}};
    long size, other;
    FREED(char) *film = strdup(io_path(directory, "film.h5")),
                *before = read_bytes("film.h5", &size);
    assert_int_equal(mkdir(io_path(directory, "guard"), 0777), 0);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        assert_int_equal(symlink(links[i].target, io_path(directory, links[i].name)), 0);
        EXPECT(1, "would replace the input", "film.h5", "-o", "guard", "--force", "--energies",
               "280");
        remove(io_path(directory, links[i].name));
    }
    assert_int_equal(link(film, io_path(directory, "guard/Energy_280.00.h5")), 0);
    EXPECT(1, "the output guard/Energy_280.00.h5 would replace the input film.h5; choose another",
           "film.h5", "-o", "guard", "--force", "--energies", "280,281");
    EXPECT(1, "would replace the input", "guard/Energy_280.00.h5", "-o", "guard", "--force");
    assert_int_equal(io_count_entries(io_path(directory, "guard")), 1);
    EXPECT(0, "1 pattern ", "guard/Energy_280.00.h5", "-o", "guard", "--force", "--energies",
           "281");
    FREED(char) *after = read_bytes("guard/Energy_280.00.h5", &other);
    assert_int_equal(size, other);
    assert_memory_equal(before, after, (size_t)size);
}

/* The printed size is the size of the file without the gaps that HDF5 leaves. */
TEST(sizes_are_told)
{
    struct stat file;
    EXPECT(0, "1 pattern ", "film.h5", "-o", "sized", "--energies", "281");
    assert_int_equal(stat(io_path(directory, "sized/Energy_281.00.h5"), &file), 0);
    char settings[400] = "";
    hid_t h5 = H5Fopen(io_path(directory, "sized/Energy_281.00.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5LTget_attribute_string(h5, "/", "collet_settings", settings) >= 0);
    H5Fclose(h5);
    int64_t told = (int64_t)collet_scatter_file_bytes(1, Y, X, settings);
    assert_in_range(told, file.st_size - 2048, file.st_size + 2048);
}

static void pause_a_while(pid_t program)
{
    static uint64_t random = 1;
    random = random * 6364136223846793005u + 1442695040888963407u;
    usleep((useconds_t)(random >> 33) % 60000);
    kill(program, SIGKILL);
}

TEST(killed_runs_are_resumed)
{
    const char *const args[] = {"film.h5", "-o", "killed", "--resume", NULL};
    const tool_setup setup = {.meanwhile = pause_a_while};
    EXPECT(0, "40 patterns", "film.h5", "-o", "whole");
    for (int i = 0; i < 20; i++)
        rsoxs_with(&setup, args);
    EXPECT(0, "", "film.h5", "-o", "killed", "--resume");
    assert_int_equal(io_count_entries(io_path(directory, "killed")), ENERGIES);
    for (int i = 0; i < ENERGIES; i++) {
        char name[60];
        char other[60];
        snprintf(name, sizeof name, "whole/Energy_%d.00.h5", 280 + i);
        snprintf(other, sizeof other, "killed/Energy_%d.00.h5", 280 + i);
        expect_equal_files(name, other);
    }
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static const char *awaited; /* the run is interrupted when this file exists */

static void interrupt(pid_t program)
{
    for (int i = 0; i < 60000 && access(io_path(directory, awaited), F_OK) != 0; i++)
        usleep(1000);
    kill(program, SIGINT);
}

/* The number of files in the directory; -1: the directory does not exist. */
static int count_files(const char *name)
{
    DIR *d = opendir(io_path(directory, name));
    const struct dirent *entry;
    int count = 0;
    while (d && (entry = readdir(d)) != NULL) {
        count += entry->d_name[0] != '.';
        if (strstr(entry->d_name, ".h5."))
            fail_msg("%s is left", entry->d_name);
    }
    if (d)
        closedir(d);
    return d ? count : -1;
}

/* A run can be interrupted between two angles and between two energies, on one device and on two. */
TEST(interrupted_runs_end_soon)
{
    static const char *const args[][12] = {
        {"film.h5", "-c", "angles.txt", "-o", "angles", "--method", "direct", "--energies", "280"},
        {"film.h5", "-c", "angles.txt", "-o", "one", "--method", "direct"},
        {"film.h5", "-c", "angles.txt", "-o", "both", "--method", "direct", "--devices",
         "cpu_openmp,cpu_scalar"}};
    static const char *const files[] = {"angles", "one/Energy_280.00.h5", "both/Energy_280.00.h5"};
    FILE *f = fopen(io_path(directory, "angles.txt"), "w");
    assert_non_null(f);
    fprintf(f, "CaseType = 0;\nMorphologyType = 0;\nEAngleRotation = [0.0, 0.25, 359.0];\n"
               "RotMask = true;\nEnergies = [280.0, 281.0, 282.0, 283.0, 284.0, 285.0];\n");
    fclose(f);
    for (int i = 0; i < 3; i++) {
        const tool_setup setup = {.meanwhile = interrupt};
        awaited = files[i];
        tool_result r = rsoxs_with(&setup, args[i]);
        tool_expect(&r, 128 + SIGINT);
        assert_contains(r.err, "complete patterns are kept, --resume continues");
        int count = count_files(args[i][4]);
        if (i == 0 ? count != -1 : count < 1 || count > 5)
            fail_msg("%s has %d files", args[i][4], count);
    }
    EXPECT(0, "1 pattern of an earlier run kept", "film.h5", "-c", "angles.txt", "-o", "both",
           "--method", "direct", "--energies", "280", "--resume");
}

TEST(bad_morphologies_are_explained)
{
    static const struct {
        flaws flaws;
        const char *text;
    } cases[] = {
        {{.missing = "Mat_1_Theta"}, "there is no dataset /Euler_Angles/Mat_1_Theta"},
        {{.narrow = "Mat_2_Vfrac"},
         "/Euler_Angles/Mat_2_Vfrac has 3 x 19 x 24 voxels (Z, Y, X), "
         "but the datasets before have 3 x 20 x 24"},
        {{.nan = "Mat_1_Psi"},
         "bad.h5: /Euler_Angles/Mat_1_Psi: psi of material 1 must be finite, but is not in 1 "
         "voxel: nan at z 0, y 1, x 5"},
        {{.nan = "Mat_2_Vfrac"},
         "bad.h5: /Euler_Angles/Mat_2_Vfrac: the volume fraction of material 2 must be from 0 to "
         "1, but "
         "is not in 1 voxel: nan at z 0, y 1, x 5"},
        {{.large = "Mat_1_Vfrac"},
         "bad.h5: the sum of the materials' volume fractions must be 1, but is not in 1 voxel: 1.2 "
         "at "
         "z 2, y 0, x 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_morphology("bad.h5", &cases[i].flaws);
        EXPECT(1, cases[i].text, "bad.h5", "-o", "bad");
    }
    write_morphology("labels.h5", &(flaws){0});
    hid_t file = H5Fopen(io_path(directory, "labels.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    const int numbers[] = {1, 2, 3, 4, 5};
    H5LTset_attribute_int(file, "/Euler_Angles/Mat_1_Vfrac", "DIMENSION_LABELS", numbers, 5);
    H5Fclose(file);
    EXPECT(0, "", "labels.h5", "-o", "labels", "--energies", "280");
    file = H5Fopen(io_path(directory, "labels.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "/Euler_Angles/Mat_1_S", H5P_DEFAULT);
    H5DSset_label(set, 0, "X");
    H5DSset_label(set, 2, "Z");
    H5Dclose(set);
    H5Fclose(file);
    EXPECT(1,
           "the axes of /Euler_Angles/Mat_1_S are X, Y, Z, but the earlier datasets have the axes "
           "Z, Y, X",
           "labels.h5", "-o", "bad");
    write_morphology("cuboids.h5", &(flaws){0});
    file = H5Fopen(io_path(directory, "cuboids.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/Morphology_Parameters/PhysSize", H5P_DEFAULT);
    H5LTmake_dataset_double(file, "/Morphology_Parameters/PhysSize", 1, &(hsize_t){3},
                            (const double[]){2, 2, 3});
    H5Fclose(file);
    EXPECT(1, "cuboids.h5: /Morphology_Parameters/PhysSize has different elements, 2 and 3",
           "cuboids.h5", "-o", "bad");
    write_huge("huge.h5");
    EXPECT(1, "/Euler_Angles/Mat_1_Vfrac must have at least 1 and at most 2^40 voxels", "huge.h5");
    assert_int_equal(mkfifo(io_path(directory, "pipe"), 0600), 0);
    EXPECT(1, "pipe: not a regular file", "pipe");
    EXPECT(1, "pipe: this is a device or pipe", "film.h5", "-c", "pipe");
    EXPECT(1, "config.txt: not an HDF5 file; morphologies and patterns are HDF5 files",
           "config.txt");
    EXPECT(1, "config.txt: not an HDF5 file", "view", "config.txt", "-o", "x.png");
    file = H5Fopen(io_path(directory, "labels.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    EXPECT(1, "labels.h5: the file is locked, because another program writes it", "labels.h5");
    H5Fclose(file);
    assert_int_equal(truncate(io_path(directory, "labels.h5"), 20000), 0);
    EXPECT(1, "labels.h5: HDF5 cannot open the file: it is damaged", "labels.h5");
    EXPECT(1, "absent.h5: No such file", "absent.h5");
    assert_int_not_equal(access(io_path(directory, "bad"), F_OK), 0);
}

static void set_time(const char *name, time_t seconds)
{
    const struct timespec times[] = {{seconds, 0}, {seconds, 1}};
    assert_int_equal(utimensat(AT_FDCWD, io_path(directory, name), times, 0), 0);
}

static void note_change(void *user, const collet_scatter_finding *finding)
{
    set_time("other.h5", 2000);
    if (strstr(finding->text, "other.h5: the file was replaced or changed while it was read"))
        *(int *)user = 1;
}

/* A morphology file is refused if it is replaced, or written to, while the program reads its parts. */
TEST(replaced_morphologies_are_refused)
{
    static float values[4][VOXELS];
    void *const arrays[] = {values[0], values[1], values[2], values[3]};
    FREED(char) *path = strdup(io_path(directory, "first.h5"));
    FREED(char) *configuration = strdup(io_path(directory, "config.txt"));
    collet_scatter_input *input;
    collet_error err;
    int found = 0;
    write_morphology("first.h5", &(flaws){0});
    write_morphology("other.h5", &(flaws){.nan = "Mat_1_Vfrac"});
    assert_int_equal(collet_scatter_read(&input, NULL, configuration, COLLET_F32, &err), 0);
    assert_int_equal(collet_scatter_input_options(input)->n_energies, ENERGIES);
    assert_true(collet_scatter_input_options(input)->n_materials == 0);
    collet_scatter_input_destroy(input);
    assert_int_equal(collet_scatter_read(&input, path, configuration, COLLET_F32, &err), 0);
    const collet_scatter_options *o = collet_scatter_input_options(input);
    assert_int_equal(o->layers(o->layers_user, arrays, 0, 0, Z, &err), COLLET_OK);
    set_time("first.h5", 1000);
    assert_int_equal(o->layers(o->layers_user, arrays, 0, 0, Z, &err), COLLET_IO);
    collet_scatter_input_destroy(input);
    assert_int_equal(collet_scatter_read(&input, path, configuration, COLLET_F32, &err), 0);
    o = collet_scatter_input_options(input);
    set_time("other.h5", 1000);
    assert_int_equal(rename(io_path(directory, "other.h5"), path), 0);
    assert_error(o->layers(o->layers_user, arrays, 0, 0, Z, &err), COLLET_IO, err,
                 "first.h5: the file was replaced or changed while it was read");
    collet_scatter_input_destroy(input);
    assert_int_equal(rename(path, io_path(directory, "other.h5")), 0);
    free(path);
    path = strdup(io_path(directory, "other.h5"));
    assert_int_equal(collet_scatter_check(path, NULL, note_change, &found, &err), COLLET_OK);
    assert_true(found);
}

TEST(bad_configurations_are_explained)
{
    write_configuration("alike.txt", "281.001", 3, "");
    EXPECT(1,
           "the energies 281.001 and 281 have the same file name Energy_281.00.h5, which has two "
           "decimals: give energies in eV that differ by 0.01 or more",
           "film.h5", "-c", "alike.txt");
    write_configuration("beyond.txt", "380.5", 1, "");
    EXPECT(1, "Material1.txt: there is no EnergyData for 380.5 eV", "film.h5", "-c", "beyond.txt");
    write_configuration("nearest.txt", "280.0", 1, "EwaldsInterpolation = 0;\n");
    EXPECT(1, "nearest.txt: EwaldsInterpolation = 0 takes the nearest slice, but --q-grid exact has no slices", "film.h5",
           "-c", "nearest.txt", "--q-grid", "exact");
    write_configuration("window.txt", "280.0", 1, "WindowingType = 7;\n");
    EXPECT(1, "window.txt, line 6: WindowingType must be a number from 0 to 1", "film.h5", "-c",
           "window.txt");
    static const struct {
        const char *numbers, *text;
    } angles[] = {
        {"0.0, -1.0, 9.0", "from 0 by -1 to 9 degrees: the step is negative"},
        {"9.0, 1.0, 0.0", "from 9 by 1 to 0 degrees: the last is before the first"},
        {"0.0, 1.0, 1e9", "from 0 by 1 to 1e+09 degrees: at most 100000 are supported"},
        {"0.0, 1.0", "EAngleRotation has 2 numbers; it must have 3"},
    };
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        char text[160];
        snprintf(text, sizeof text,
                 "CaseType = 0;\nMorphologyType = 0;\nEnergies = [280.0];\n"
                 "EAngleRotation = [%s];\n",
                 angles[i].numbers);
        write_text("angles.txt", text);
        EXPECT(1, angles[i].text, "film.h5", "-c", "angles.txt");
        EXPECT(1, "collet-rsoxs: angles.txt", "film.h5", "-c", "angles.txt");
    }
    write_text("none.txt", "CaseType = 0;\nMorphologyType = 0;\nEnergies = [];\n");
    EXPECT(1, "none.txt, line 3: Energies is empty: at least one number is needed", "film.h5", "-c",
           "none.txt");
    EXPECT(1, "/proc/x: cannot be created", "film.h5", "-o", "/proc/x");
    write_text("edge.txt", "CaseType = 2;\nMorphologyType = 0;\nEAngleRotation = [0.0, 1.0, 2.0];\n"
                           "Energies = [280.0];\nlistKVectors = ({k = [0.0, 0.0, 1.0];});\n"
                           "DetectorCoordinates = [1.0, 0.0, 0.0];\n");
    EXPECT(1, "the detector's normal is 1, 0, 0", "film.h5", "-c", "edge.txt");
    write_text("empty.txt", "");
    EXPECT(1, "empty.txt: CaseType is missing", "film.h5", "-c", "empty.txt");
    write_text("misspelt.txt", "CaseTyp = 0;\nMorphologyType = 0;\n");
    EXPECT(1, "misspelt.txt: CaseType is missing; the key CaseTyp is unknown", "film.h5", "-c", "misspelt.txt");
    write_text("broken.txt", "CaseType = 0;\nEnergies = [280.0, 281];\n");
    EXPECT(1, "5.0 and 5 are of different types; write all numbers with a decimal point", "film.h5",
           "-c", "broken.txt");
    write_text("include.txt", "@include \"/\"\n");
    EXPECT(1, "include.txt: @include is not supported", "film.h5", "-c", "include.txt");
    write_text("marked.txt", "\xef\xbb\xbf" /* a byte order mark */
                             "CaseType = 0;\r\nMorphologyType = 0;\r\nEnergies = [280.0];\r\n"
                             "EAngleRotation = [0.0, 90.0, 0.0];\r\n");
    EXPECT(0, "1 pattern ", "film.h5", "-c", "marked.txt", "-o", "marked");
    write_configuration("unnamed.txt", "280.0", 1, "HDF5DirName = \"\";\n");
    EXPECT(1, "unnamed.txt, line 6: HDF5DirName must be the name of a directory", "film.h5", "-c",
           "unnamed.txt");
    write_configuration("unnamed.txt", "280.0", 1, "HDF5DirName = 5;\n");
    EXPECT(1, "unnamed.txt, line 6: HDF5DirName must be the name of a directory", "film.h5", "-c",
           "unnamed.txt");
    char far[5000]; /* longer than the buffer of a line */
    snprintf(far, sizeof far, "%4090s@include \"/\"\n", "");
    write_text("far.txt", far);
    EXPECT(1, "far.txt: @include is not supported", "film.h5", "-c", "far.txt");
    write_text("zeros.txt", "CaseType = 0;\n");
    assert_int_equal(truncate(io_path(directory, "zeros.txt"), 1000), 0);
    EXPECT(1, "zeros.txt: the file is not text in UTF-8: byte 14 is 0", "film.h5", "-c",
           "zeros.txt");
    assert_int_equal(truncate(io_path(directory, "zeros.txt"), (off_t)1 << 40), 0);
    EXPECT(1, "zeros.txt: the file has 1099511627776 bytes; at most 1048576 are allowed", "film.h5",
           "-c", "zeros.txt");
    EXPECT(1, "config.txt has no energy of 12 eV", "film.h5", "--energies", "12");
    EXPECT(2, "is not a list of energies", "film.h5", "--energies", "280,");
    EXPECT(2, "is not a size", "film.h5", "--memory", "much");
    EXPECT(2, "'none' is none of exact, cyrsoxs and fft", "film.h5", "--q-grid", "none");
    EXPECT(2, "--dc neighbours is for --q-grid cyrsoxs and fft", "film.h5", "--dc", "neighbours", "--q-grid", "exact");
    EXPECT(1, "memory is limited to 20480 bytes, but one energy needs", "film.h5", "--memory",
           "20K");
}

TEST(full_disks_are_reported)
{
    const char *const args[] = {"film.h5", "-o", "full", "--energies", "280", NULL};
    const tool_setup setup = {.prepare = tool_limit_files, .user = "100"};
    tool_result r = rsoxs_with(&setup, args);
    tool_expect(&r, 1);
    assert_contains(r.err, "full/Energy_280.00.h5: writing failed after 0 bytes: File too large "
                           "(limit on the size of files, ulimit -f)\n");
    assert_int_not_equal(access(io_path(directory, "full"), F_OK), 0);
}

static void as_another_user(void *unused)
{
    prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE); /* root's; others have none */
}

/* Before anything is computed. */
TEST(closed_directories_are_refused)
{
    const char *const args[] = {"film.h5", "-o", "closed", NULL};
    assert_int_equal(mkdir(io_path(directory, "closed"), 0555), 0);
    tool_result r = rsoxs_with(&(tool_setup){.prepare = as_another_user}, args);
    tool_expect(&r, 1);
    assert_contains(r.err, "closed: cannot be written to: Permission denied");
    r = rsoxs_with(&(tool_setup){.prepare = as_another_user},
                   (const char *const[]){"film.h5", "-o", "closed/new", NULL});
    tool_expect(&r, 1);
    assert_contains(r.err, "closed/new: cannot be created: Permission denied");
}

/* If the disk has no space for the patterns, the run is refused before anything is computed. */
TEST(disks_are_measured)
{
    const hsize_t shape[] = {1, 2048, 2048};
    write_morphology("wide.h5", &(flaws){.missing = "Mat_2_Vfrac"});
    hid_t file = H5Fopen(io_path(directory, "wide.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t space = H5Screate_simple(3, shape, NULL);
    static const char *const names[] = {"Mat_1_Vfrac", "Mat_1_S", "Mat_2_Vfrac", "Mat_2_S"};
    for (int i = 0; i < 4; i++) {
        char name[40];
        snprintf(name, sizeof name, "/Euler_Angles/%s", names[i]);
        H5Ldelete(file, name, H5P_DEFAULT);
        H5Dclose(
            H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5Sclose(space);
    H5Fclose(file);
    FILE *f = fopen(io_path(directory, "beams.txt"), "w");
    assert_non_null(f);
    fprintf(f, "CaseType = 1;\nMorphologyType = 0;\nEAngleRotation = [0.0, 10.0, 350.0];\n"
               "Energies = [280.0");
    for (int i = 1; i < ENERGIES; i++)
        fprintf(f, ", %d.0", 280 + i);
    fprintf(f, "];\nlistKVectors = (");
    for (int i = 0; i < 20000; i++)
        fprintf(f, "%s{k = [0.0, 0.0, 1.0];}", i ? ",\n" : "");
    fprintf(f, ");\n");
    fclose(f);
    EXPECT(1, "wide: no space left: the results need about 12.2 TiB, and there are", "wide.h5",
           "-c", "beams.txt", "-o", "wide");
    assert_int_not_equal(access(io_path(directory, "wide"), F_OK), 0);
}

TEST_GROUP(rsoxs_set_up, rsoxs_tear_down)
