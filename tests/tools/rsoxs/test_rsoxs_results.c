/* SPDX-License-Identifier: Apache-2.0 */
/* Tests collet-rsoxs --integrate and --png: the contents of the files, and runs that are resumed,
 * killed or refused. */

#include "rsoxs_runs.h"

#include <collet/scatter.h>
#include <dirent.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#undef ENERGIES
#define ENERGIES 12
#define RINGS_MAX 64
#define CHI COLLET_SCATTER_CHI

#ifdef COLLET_TEST_CAIRO
#define PNG "--png"
#else
#define PNG "--quiet"
#endif

/* ---- Files ----------------------------------------------------------------------------------- */

/* Writes a morphology of one material: z slices of y rows. */
static void write_film(const char *name, hsize_t z, hsize_t y)
{
    static double values[Z * Y * X];
    const hsize_t shape[] = {z, y, X};
    const char *const sets[] = {"Vfrac", "S", "Theta", "Psi"};
    hid_t file = create_morphology(name, 1);
    for (int s = 0; s < 4; s++) {
        char path[40];
        for (int i = 0; i < Z * Y * X; i++)
            values[i] = s ? (double)(i * 2654435761 % 1000) / 1000 : 1;
        snprintf(path, sizeof path, "/Euler_Angles/Mat_1_%s", sets[s]);
        assert_true(H5LTmake_dataset_double(file, path, 3, shape, values) >= 0);
    }
    H5Fclose(file);
}

/* The energies descend. */
static void write_energies(const char *name, const char *more)
{
    char text[400] = "MorphologyType = 0;\nEnergies = [";
    for (int i = ENERGIES - 1; i >= 0; i--)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d.0%s", 280 + i,
                 i ? ", " : "];\n");
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "EAngleRotation = [0.0, 30.0, 330.0];\n%s", more);
    write_text(name, text);
}

static void expect(tool_result r, int status, const char *text)
{
    tool_expect(&r, status);
    if (*text && !strstr(status ? r.err : r.out, text))
        fail_msg("'%s' is not in: %s%s", text, r.out, r.err);
}

#define FILM(status, text, ...) expect(RSOXS("film.h5", __VA_ARGS__), status, text)

static int set_up(void **state)
{
    rsoxs_set_up(state);
    write_film("flat.h5", 1, Y);
    write_film("row.h5", Z, 1);
    write_energies("config.txt", "CaseType = 0;\nRotMask = true;\n");
    write_energies("beams.txt", "CaseType = 1;\nlistKVectors = ({k = [0.0, 0.0, 1.0];}, "
                                "{k = [0.6, 0.0, 0.8];});\nRotMask = false;\n");
    FILM(0, "", "-o", "whole", "--integrate", PNG);
    return 0;
}

static void expect_same(const char *a, const char *b)
{
    OWNED(io_bytes) x = io_load(io_path(directory, a)), y = io_load(io_path(directory, b));
    if (x.size != y.size || memcmp(x.data, y.data, x.size) != 0)
        fail_msg("%s and %s differ", a, b);
}

/* The directory has every file of whole/, with the same bytes. */
static void expect_whole(const char *name)
{
    char path[64], other[320], mine[320];
    int count = 0;
    snprintf(path, sizeof path, "%s", io_path(directory, "whole"));
    DIR *d = opendir(io_path(directory, "whole"));
    assert_non_null(d);
    for (const struct dirent *entry; (entry = readdir(d)) != NULL; count++)
        if (*entry->d_name != '.') {
            snprintf(mine, sizeof mine, "whole/%s", entry->d_name);
            snprintf(other, sizeof other, "%s/%s", name, entry->d_name);
            expect_same(mine, other);
        }
    closedir(d);
    assert_true(count >= ENERGIES + 1);
}

/* ---- Integrals ------------------------------------------------------------------------------- */

static double *read_set(const char *file_name, const char *name, hsize_t *count)
{
    hid_t file = H5Fopen(io_path(directory, file_name), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    *count = (hsize_t)H5Sget_simple_extent_npoints(space);
    double *values = malloc(*count * sizeof *values);
    assert_true(H5LTread_dataset_double(file, name, values) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return values;
}

static int same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The integrals of one pattern in the file equal the integrals in the pattern's own file. */
static void check_pattern(const char *name, const collet_scatter_rings *rings, int64_t beam,
                          int64_t beams, int mask)
{
    static float pattern[Y * X], polar[CHI * RINGS_MAX], mean[RINGS_MAX], anisotropy[RINGS_MAX];
    const collet_scatter_integrals own = {
        .struct_size = sizeof own, .polar = polar, .mean = mean, .anisotropy = anisotropy};
    char file[64], path[256];
    int64_t n;
    hsize_t count;
    snprintf(file, sizeof file, "%s/integrated.h5", name);
    snprintf(path, sizeof path, "%s", io_path(directory, name));
    FREED(double) *energies = read_set(file, "energy", &count), *q = read_set(file, "q", &count);
    FREED(double) *a = read_set(file, "A", &count), *i = read_set(file, "I", &count);
    FREED(double) *all = read_set(file, "I_chi", &count);
    assert_int_equal(collet_scatter_rings_q(rings, &n, NULL, NULL), COLLET_OK);
    assert_int_equal(count, beams * ENERGIES * n * CHI);
    assert_true(q[1] > 0);
    for (int e = 0; e < ENERGIES; e++) {
        int64_t row = (beam * ENERGIES + e) * n;
        assert_true(energies[e] == 280 + e);
        assert_int_equal(
            collet_scatter_read_pattern(pattern, path, energies[e], beam, Y, X, NULL),
            COLLET_OK);
        for (int p = 0; mask && p < Y * X; p++)
            pattern[p] = pattern[p] == 0 ? NAN : pattern[p];
        assert_int_equal(
            collet_scatter_integrate(rings, &own, energies[e], COLLET_F32, pattern, NULL),
            COLLET_OK);
        for (int64_t j = 0; j < n; j++)
            assert_true(same(a[row + j], (double)anisotropy[j]) &&
                        same(i[row + j], (double)mean[j]));
        for (int64_t j = 0; j < CHI * n; j++)
            assert_true(same(all[row * CHI + j], (double)polar[j]));
        assert_true(mean[1] > 0 && isfinite(anisotropy[1]));
    }
}

TEST(integrals_are_those_of_the_patterns)
{
    collet_scatter_rings rings = {.struct_size = sizeof rings, .y = Y, .x = X, .voxel = 2};
    check_pattern("whole", &rings, 0, 1, 1);
    FILM(0, "beams/integrated.h5: I(q, chi), I(q), wedges and A(q) of 12 energies", "-c",
         "beams.txt", "-o", "beams", "--integrate", "--wedge", "30");
    rings.wedge = 30;
    check_pattern("beams", &rings, 0, 2, 0);
    rings.direction[0] = 0.6;
    rings.direction[2] = 0.8;
    check_pattern("beams", &rings, 1, 2, 0);
    expect(RSOXS("flat.h5", "-o", "flat", "--integrate", "--json"), 0,
           "\"integrals\":\t\"integrated.h5\"");
    rings = (collet_scatter_rings){
        .struct_size = sizeof rings, .flat = 1, .y = Y, .x = X, .voxel = 2};
    check_pattern("flat", &rings, 0, 1, 1);
}

TEST(kept_patterns_are_integrated_too)
{
    FILM(0, "5 patterns", "-o", "some", "--energies", "281,283,284,288,291");
    FILM(0, "5 patterns of an earlier run kept\n7 patterns", "-o", "some", "--resume",
         "--integrate");
    expect_same("whole/integrated.h5", "some/integrated.h5");
    FILM(0, "12 patterns of an earlier run kept\nnothing was left", "-o", "some", "--resume",
         "--integrate", "--energies", "280,281,282,283,284,285,286,287,288,289,290,291");
    expect_same("whole/integrated.h5", "some/integrated.h5");
    FILM(0, "of 1 energy", "-o", "some", "--resume", "--integrate", "--energies", "285");
    hsize_t count;
    double *energies = read_set("some/integrated.h5", "energy", &count);
    assert_true(count == 1 && energies[0] == 285);
    free(energies);
    /* A pattern that is a link to another file is not read. */
    hid_t file = H5Fopen(io_path(directory, "some/Energy_286.00.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "/K0/projection", H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_external("Energy_285.00.h5", "/K0/projection", file, "/K0/projection",
                                   H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    FILM(1, "Energy_286.00.h5: /K0/projection has no pattern of", "-o", "some", "--resume",
         "--integrate", "--energies", "286");
}

TEST(existing_integrals_are_kept)
{
    FILM(0, "", "-o", "kept", "--integrate", "--energies", "281");
    FILM(1, "kept/integrated.h5 exists: --resume and --force replace it", "-o", "kept",
         "--integrate", "--energies", "282");
    assert_int_not_equal(access(io_path(directory, "kept/Energy_282.00.h5"), F_OK), 0);
    FILM(0, "integrals: 72.5 KiB", "-o", "kept", "--integrate", "--energies", "282", "--plan");
    /* A private file that --force replaces stays private. */
    struct stat st;
    assert_int_equal(chmod(io_path(directory, "kept/integrated.h5"), 0640), 0);
    FILM(0, "of 1 energy", "-o", "kept", "--integrate", "--energies", "281", "--force");
    assert_int_equal(stat(io_path(directory, "kept/integrated.h5"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

/* ---- Killed and stopped ---------------------------------------------------------------------- */

static int signal_sent;

static void pause_a_while(pid_t program)
{
    static uint64_t random = 3;
    random = random * 6364136223846793005u + 1442695040888963407u;
    usleep((useconds_t)(random >> 33) % 150000);
    kill(program, signal_sent);
}

TEST(killed_runs_are_resumed)
{
    const char *const args[] = {"film.h5", "-o", "killed", "--resume", "--integrate", PNG, NULL};
    const tool_setup setup = {.meanwhile = pause_a_while};
    for (int i = 0; i < 24; i++) {
        signal_sent = i % 4 ? SIGKILL : SIGTERM;
        tool_result r = rsoxs_with(&setup, args);
        if (r.status != 0 && r.status != 128 + signal_sent)
            fail_msg("status %d: %s%s", r.status, r.out, r.err);
    }
    FILM(0, "", "-o", "killed", "--resume", "--integrate", PNG);
    expect_whole("killed");
}

/* A run is killed before a file gets its name: a pattern, its picture, the map or the integrals.
 * The files that it leaves are complete, and the next run removes its temporary files. */
TEST(killed_between_files)
{
    static const char *const files[] = {"Energy_280.00.h5",
#ifdef COLLET_TEST_CAIRO
                                        "Energy_280.00.png", "intensity.png",
#endif
                                        "integrated.h5"};
    const char *const args[] = {"film.h5",  "-o",          "torn", "--energies", "280",
                                "--resume", "--integrate", PNG,    NULL};
    const int count = (int)(sizeof files / sizeof *files);
    FREED(char) *torn = strdup(io_path(directory, "torn"));
    for (int n = 0; n < count; n++) {
        char call[2] = {(char)('1' + n), '\0'};
        const tool_setup setup = {.prepare = tool_kill_at, .user = call};
        expect(rsoxs_with(&setup, args), 128 + SIGKILL, "");
        for (int i = 0; i < count; i++)
            assert_int_equal(access(io_path(torn, files[i]), F_OK), i < n ? 0 : -1);
        assert_int_equal(io_count_entries(torn), n + 1); /* one is hidden */
        expect(rsoxs_with(NULL, args), 0, "");
        assert_int_equal(io_count_entries(torn), count);
        for (int i = n + 1 < count ? 0 : count; i < count; i++)
            remove(io_path(torn, files[i]));
    }
    /* The directory is flushed. */
    const tool_setup setup = {.prepare = tool_kill_at, .user = "0"};
    expect(rsoxs_with(&setup, args), 128 + SIGKILL, "");
}

/* While a run is stopped at its first pattern, another run writes the second pattern. */
static void write_second(pid_t program)
{
    siginfo_t stopped;
    assert_int_equal(waitid(P_PID, (id_t)program, &stopped, WSTOPPED | WEXITED | WNOWAIT), 0);
    FILM(0, "", "-o", "twice", "--energies", "280", "--dtype", "f64");
    kill(program, SIGCONT);
}

TEST(two_runs_into_one_directory)
{
    const char *const args[] = {"film.h5", "-o", "twice", "--energies", "280,285", NULL};
    const tool_setup setup = {.prepare = tool_kill_at, .user = "-1", .meanwhile = write_second};
    expect(rsoxs_with(&setup, args), 1, "another directory (-o) to keep both");
}

/* The patterns exist already, so only writing the results can fail. */
TEST(full_disks_are_reported)
{
    const tool_setup setup = {.prepare = tool_limit_files, .user = "100"};
    FILM(0, "", "-o", "full", "--energies", "280");
    expect(rsoxs_with(&setup, (const char *const[]){"film.h5", "-o", "full", "--resume",
                                                    "--energies", "280", "--integrate", NULL}),
           1,
           "full/integrated.h5: writing failed after 0 bytes: File too large "
           "(limit on the size of files, ulimit -f); complete "
           "files are kept, --resume continues");
#ifdef COLLET_TEST_CAIRO
    expect(rsoxs_with(&setup, (const char *const[]){"film.h5", "-o", "full", "--resume",
                                                    "--energies", "280", "--png", NULL}),
           1, "full/Energy_280.00.png: writing failed after 0 bytes: File too large (limit on");
#endif
    assert_int_equal(io_count_entries(io_path(directory, "full")), 1);
}

/* ---- Pictures, arguments --------------------------------------------------------------------- */

#ifdef COLLET_TEST_CAIRO
static void check_size(const char *name, int width, int height)
{
    OWNED(io_bytes) b = io_load(io_path(directory, name));
    static const unsigned char signature[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    assert_true(b.size > 1000 && memcmp(b.data, signature, 16) == 0);
    assert_int_equal(b.data[18] << 8 | b.data[19], width);
    assert_int_equal(b.data[22] << 8 | b.data[23], height);
}

/* A map has at least 640 x 640 pixels, and a whole number of pixels for each pixel of the pattern:
 * 24 * 27 = 648. The other terms are the margins. */
TEST(pictures_are_drawn)
{
    check_size("whole/Energy_280.00.png", 648 + 223, 648 + 107);
    check_size("whole/intensity.png", 960 + 330, 720 + 159);
    FILM(0, "pictures of 2 patterns, and of I(q, E), in drawn", "-c", "beams.txt", "-o", "drawn",
         "--png", "--energies", "283");
    check_size("drawn/Energy_283.00_K0.png", 648 + 223, 648 + 107);
    check_size("drawn/Energy_283.00_K1.png", 648 + 223, 648 + 107);
    check_size("drawn/intensity_K1.png", 960 + 330, 720 + 159);
    assert_int_not_equal(access(io_path(directory, "drawn/integrated.h5"), F_OK), 0);
}
#else
TEST(pictures_are_refused)
{
    FILM(1, "built without cairo: install libcairo2-dev and build it again", "-o", "no", "--png");
}
#endif

TEST(bad_arguments_are_explained)
{
    FILM(2, "--wedge needs --integrate", "--wedge", "20");
    FILM(2, "--wedge: '0' is not a width", "--integrate", "--wedge", "0");
    FILM(2, "--wedge: '181' is not a width", "--integrate", "--wedge", "181");
    FILM(2, "--wedge: 'nan' is not a width", "--integrate", "--wedge", "nan");
    FILM(2, "--wedge: '9x' is not a width", "--integrate", "--wedge", "9x");
    expect(RSOXS("row.h5", "-o", "no", "--integrate"), 1,
           "1 x 24 pixels (Y, X); at least 2 x 2 are needed");
    assert_int_not_equal(access(io_path(directory, "no"), F_OK), 0);
}

TEST_GROUP(set_up, rsoxs_tear_down)
