/* SPDX-License-Identifier: Apache-2.0 */
/* Tests collet-rsoxs make, which writes a morphology and expected.json: the patterns computed from the morphology
 * agree with expected.json. */

#include "io/numerals.h"
#include "rsoxs_runs.h"

#include <dirent.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <signal.h>
#include <sys/stat.h>

#define PI 3.14159265358979323846
#define BINS 18

static char *read_text(const char *name)
{
    char *text = calloc(1, 100000);
    FILE *f = fopen(io_path(directory, name), "r");
    assert_non_null(f);
    assert_true(fread(text, 1, 99999, f) > 0);
    fclose(f);
    return text;
}

static float *read_image(const char *name, hsize_t shape[2])
{
    hid_t file = H5Fopen(io_path(directory, name), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5LTget_dataset_info(file, "/K0/projection", shape, NULL, NULL) >= 0);
    float *values = malloc(shape[0] * shape[1] * sizeof *values);
    assert_true(H5LTread_dataset_float(file, "/K0/projection", values) >= 0);
    H5Fclose(file);
    return values;
}

static double number(const cJSON *list, int i)
{
    return cJSON_GetNumberValue(cJSON_GetArrayItem(list, i));
}

/* Checks the rms of log10(ring / expected ring), and the totals of the rings. */
static void check_rings(const float *image, const hsize_t n[2], const cJSON *edges,
                        const cJSON *expected)
{
    double found[BINS] = {0}, sum = 0, total = 0, ideal = 0;
    int64_t count[BINS] = {0}, rows = (int64_t)n[0], columns = (int64_t)n[1];
    assert_int_equal(cJSON_GetArraySize(edges), BINS + 1);
    for (int64_t i = 0; i < rows * columns; i++) {
        double qy = 2 * PI * (double)(i / columns - rows / 2) / (double)rows;
        double qx = 2 * PI * (double)(i % columns - columns / 2) / (double)columns;
        double q = hypot(qx, qy);
        for (int b = 0; b < BINS; b++)
            if (!isnan(image[i]) && q >= number(edges, b) && q < number(edges, b + 1)) {
                found[b] += (double)image[i];
                count[b]++;
            }
    }
    for (int b = 0; b < BINS; b++) {
        assert_true(count[b] > 0);
        sum += pow(log10(found[b] / (double)count[b] / number(expected, b)), 2);
        total += found[b];
        ideal += number(expected, b) * (double)count[b];
    }
    if (!(sqrt(sum / BINS) <= 0.025) || !(fabs(total / ideal - 1) <= 0.03))
        fail_msg("rms of log10 %g, total %g of the expected one", sqrt(sum / BINS), total / ideal);
}

/* Makes `name`, validates and computes it, and compares the patterns with expected.json. */
static void compare(const char *name, const char *const *args, int formula)
{
    const char *all[24] = {"make", "-o", name, "-q"};
    char morphology[80], configuration[80], patterns[80], text[200];
    for (int i = 0; args[i]; i++)
        all[4 + i] = args[i];
    tool_result r = rsoxs_with(NULL, all);
    tool_expect(&r, 0);
    assert_string_equal(r.out, "");
    snprintf(morphology, sizeof morphology, "%s/morphology.h5", name);
    snprintf(configuration, sizeof configuration, "%s/config.txt", name);
    snprintf(patterns, sizeof patterns, "%s/patterns", name);
    EXPECT(0, "no fault", "validate", morphology, "-c", configuration);
    EXPECT(0, "pattern", morphology, "-c", configuration, "--q-grid", "exact", "-o", patterns);
    snprintf(text, sizeof text, "%s/expected.json", name);
    FREED(char) *json = read_text(text);
    cJSON *root = cJSON_Parse(json), *energy;
    const cJSON *edges = cJSON_GetObjectItem(root, "q");
    assert_true(!edges == !formula);
    int energies = 0;
    cJSON_ArrayForEach(energy, cJSON_GetObjectItem(root, "energies"))
    {
        hsize_t n[2];
        locale_t before = io_numerals_begin();
        snprintf(text, sizeof text, "%s/Energy_%.2f.h5", patterns,
                 cJSON_GetNumberValue(cJSON_GetObjectItem(energy, "energy")));
        io_numerals_end(before);
        float *image = read_image(text, n);
        double zero = (double)image[n[0] / 2 * n[1] + n[1] / 2];
        double ideal = cJSON_GetNumberValue(cJSON_GetObjectItem(energy, "zero"));
        if (!(fabs(zero / ideal - 1) < 1e-5))
            fail_msg("%s: %g at q = 0, expected %g", text, zero, ideal);
        if (formula)
            check_rings(image, n, edges, cJSON_GetObjectItem(energy, "intensity"));
        free(image);
        energies++;
    }
    assert_true(energies > 0);
    cJSON_Delete(root);
}
#define COMPARE(name, formula, ...) compare(name, (const char *const[]){__VA_ARGS__, NULL}, formula)

TEST(formulas_agree)
{
    if (ADDRESS_SANITIZER)
        skip(); /* the volumes are large, and other tests run the same code */
    COMPARE("sphere", 1, "sphere", "--energies", "270,285", "--psi", "30", "--alignment", "0.7");
    COMPARE("shell", 1, "core-shell", "--radius", "12", "--thickness", "8");
    COMPARE("disk", 1, "sphere", "--size", "1,512,512", "--radius", "35");
    COMPARE("rod", 1, "cylinders", "--radius", "8", "--length", "60", "--theta", "40", "--psi",
            "70", "--alignment", "1");
    COMPARE("rods", 1, "cylinders", "--size", "64,256,256", "--count", "12", "--radius", "6",
            "--tilt", "20", "--alignment", "0.5");
}

TEST(all_shapes_have_the_expected_middle)
{
    COMPARE("radial", 0, "core-shell", "--size", "40,50,60", "--radius", "8", "--alignment", "0.9",
            "--angles", "0,15,165");
    COMPARE("grains", 0, "euler", "--size", "9,40,30", "--materials", "3", "--angles", "0,15,160",
            "--energies", "285,286.5");
    COMPARE("layer", 0, "euler", "--size", "1,64,64", "--materials", "1", "--pixel", "2.5");
    COMPARE("fine", 0, "euler", "--size", "4,16,20", "--grain", "0.5", "--alignment", "1");
}

/* Reads the volume fractions of a file. */
static float *read_fraction(const char *name)
{
    float *values = malloc(32 * 32 * 32 * sizeof *values);
    hid_t file = H5Fopen(io_path(directory, name), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5LTread_dataset_float(file, "/Euler_Angles/Mat_1_Vfrac", values) >= 0);
    H5Fclose(file);
    return values;
}

TEST(seeds_determine_places)
{
    static const char *const seeds[] = {"1", "1", "2"};
    float *values[3];
    for (int i = 0; i < 3; i++) {
        EXPECT(0, "seeds/film.h5: 32 x 32 x 32 voxels of 1 nm (Z, Y, X), 2 materials\n", "make",
               "sphere", "--size", "32", "--radius", "5", "--count", "4", "--seed", seeds[i], "-o",
               "seeds/film.h5", "--force");
        values[i] = read_fraction("seeds/film.h5");
    }
    assert_memory_equal(values[0], values[1], 32 * 32 * 32 * sizeof(float));
    assert_true(memcmp(values[0], values[2], 32 * 32 * 32 * sizeof(float)) != 0);
    double volume = 0;
    for (int i = 0; i < 32 * 32 * 32; i++)
        volume += (double)values[2][i];
    assert_true(fabs(volume / (4 * 4.0 / 3 * PI * 125) - 1) < 0.01);
    for (int i = 0; i < 3; i++)
        free(values[i]);
}

TEST(bad_arguments_are_explained)
{
    EXPECT(2, "one of sphere, core-shell, cylinders and euler is required", "make", "-o", "a");
    EXPECT(2, "is expected, not 'cube'", "make", "cube", "-o", "a");
    EXPECT(2, "is expected, not 'euler'", "make", "sphere", "euler", "-o", "a");
    EXPECT(2, "-o is required", "make", "sphere");
    EXPECT(2, "--size: '4,5' is neither N nor Z,Y,X", "make", "sphere", "--size", "4,5");
    EXPECT(2, "--size: '1e6' has more than 2^40 voxels", "make", "sphere", "--size", "1e6");
    EXPECT(2, "--radius: '-3' is not a number", "make", "sphere", "--radius=-3");
    EXPECT(2, "--alignment: '2' is not a number from 0 to 1", "make", "sphere", "--alignment", "2");
    EXPECT(2, "--energies: '285,' is not a list", "make", "sphere", "--energies", "285,");
    EXPECT(2, "--energies: '-285' is not a list", "make", "sphere", "--energies=-285");
    EXPECT(2, "--angles: '0,0,10' is not FIRST,STEP,LAST", "make", "sphere", "--angles", "0,0,10");
    EXPECT(2, "of at most 100000 angles", "make", "sphere", "--angles", "0,1e-9,360");
    EXPECT(2, "of at most 100000 angles", "make", "sphere", "--angles", "0,1,1e300");
    EXPECT(2, "of at most 100000 angles", "make", "sphere", "--angles", "0,1,1e5");
    EXPECT(2, "--materials: 100 at most", "make", "euler", "--materials", "101");
    EXPECT(2, "--samples: 32 at most", "make", "euler", "--samples", "33");
    EXPECT(2, "cylinders need more than one layer", "make", "cylinders", "--size", "1,64,64", "-o",
           "a");
    EXPECT(1, "does not fit into 32 x 32 x 32 voxels", "make", "sphere", "--size", "32", "-o", "a");
    EXPECT(1, "does not fit into 32 x 32 x 32 voxels", "make", "sphere", "--size", "32", "--count",
           "3", "-o", "a");
    EXPECT(1, "without overlap", "make", "sphere", "--size", "32", "--radius", "7", "--count", "99",
           "-o", "a");
    EXPECT(1, "a/b/: cannot be created: No such file or directory", "make", "sphere", "-o", "a/b");
    EXPECT(1, "config.txt already exists: choose another name, or replace it (--force)", "make", "sphere", "-o", ".");
    assert_int_equal(mkdir(io_path(directory, "some"), 0777), 0);
    write_text("some/Material2.txt", "");
    EXPECT(1, "some/Material2.txt already exists: choose another name, or replace it (--force)", "make", "sphere", "-o", "some");
    assert_int_not_equal(access(io_path(directory, "a"), F_OK), 0);
}

static void expect_empty(const char *name)
{
    DIR *d = opendir(io_path(directory, name));
    const struct dirent *entry;
    assert_non_null(d);
    while ((entry = readdir(d)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            fail_msg("%s was left", entry->d_name);
    closedir(d);
}

/* Interrupts the program when the directory of the set exists: by then the program catches signals, and most
 * files are not written yet. */
static void interrupt(pid_t program)
{
    for (int i = 0; i < 30000 && access(io_path(directory, "large"), F_OK) != 0; i++)
        usleep(1000);
    kill(program, SIGTERM);
}

TEST(unfinished_files_are_removed)
{
    const char *const full[] = {"make", "sphere", "-o", "full", NULL};
    const char *const large[] = {"make", "euler", "-o", "large", "--size", "500,1000,100", NULL};
    tool_result r = rsoxs_with(&(tool_setup){.prepare = tool_limit_files, .user = "100000"}, full);
    EXPECT_ERR(r, 1,
               "full/morphology.h5: cannot be written: File too large "
               "(limit on the size of files, ulimit -f)\n");
    expect_empty("full");
    EXPECT(1, "full/: no space left: the voxels need about 7.28 TiB, and there are", "make",
           "sphere", "--size", "10000", "-o", "full");
    expect_empty("full");
    r = rsoxs_with(&(tool_setup){.meanwhile = interrupt}, large);
    tool_expect(&r, 128 + SIGTERM);
    assert_contains(r.err, "nothing was written");
    expect_empty("large");
}

#define SMALL "make", "sphere", "--size", "8", "--radius", "2", "--force", "-o", "set"

/* The program is killed before file number n gets its name: then there is no morphology file, and the other files
 * may be old. The next run removes the remaining files. An earlier failure changes nothing. */
TEST(sets_are_replaced_as_one)
{
    enum { FILES = 5 };
    const char *const other[] = {SMALL, "--energies", "290", NULL};
    const char *const large[] = {"make", "sphere", "--force", "-o", "set", NULL};
    FREED(char) *set = strdup(io_path(directory, "set"));
    EXPECT(0, "", SMALL);
    tool_result r = rsoxs_with(&(tool_setup){.prepare = tool_limit_files, .user = "100000"}, large);
    tool_expect(&r, 1);
    assert_int_equal(access(io_path(set, "morphology.h5"), F_OK), 0);
    for (int n = 1; n <= FILES; n++) {
        char call[2] = {(char)('0' + n), '\0'};
        r = rsoxs_with(&(tool_setup){.prepare = tool_kill_at, .user = call}, other);
        tool_expect(&r, 128 + SIGKILL);
        assert_int_equal(access(io_path(set, "morphology.h5"), F_OK), -1);
        /* For n == 1 the old morphology still exists under a temporary name. */
        assert_int_equal(io_count_entries(set), FILES - 1 + FILES - (n - 1) + (n == 1));
        EXPECT(0, "", SMALL);
        assert_int_equal(io_count_entries(set), FILES);
    }
}

TEST_GROUP(rsoxs_set_up, rsoxs_tear_down)
