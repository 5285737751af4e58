/* SPDX-License-Identifier: Apache-2.0 */
/* Tests --devices of collet-extract and collet-ternary: the files, and the report of a device that fails. */

#include "directory.h"
#include "ternary_runs.h"

#define INPUTS 40
#define OUTPUTS 6
#define VECTORS 900

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(io_path(directory, name), "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    static int8_t w[OUTPUTS * INPUTS];
    static float x[VECTORS * INPUTS];

    directory = io_make_directory();
    for (int i = 0; i < OUTPUTS * INPUTS; i++)
        w[i] = (int8_t)(i * 7 % 3 - 1);
    for (int i = 0; i < VECTORS * INPUTS; i++)
        x[i] = (float)(i * 7919 % 1009) / 500 - 1;
    ternary_npy(directory, "w.npy", "|i1", OUTPUTS, INPUTS, w);
    ternary_npy(directory, "x.npy", "<f4", VECTORS, INPUTS, x);
    RUN_OK(directory, "pack", "w.npy", "-o", "m.t2");
    return 0;
}

static int tear_down(void **state)
{
    io_remove_directory(directory);
    return 0;
}

/* Adds the test backend `remote`, with the settings in a configuration file. */
static void use_remote(void *user)
{
    setenv("COLLET_CONFIG", user, 1);
    setenv("COLLET_PLUGIN_PATH",
           COLLET_TEST_REMOTE "/remote.so:" COLLET_TEST_PLUGINS
                              "/cpu_openmp.so:" COLLET_TEST_PLUGINS "/cpu_scalar.so",
           1);
}

/* Runs a program with these settings; it ends with `status`. */
static tool_result run(const char *settings, int status, const char *const *args)
{
    char *path = strdup(io_path(directory, "remote.conf"));
    const tool_setup setup = {.directory = directory, .prepare = use_remote, .user = path};

    write_text("remote.conf", settings);
    tool_result r = tool_run(args[0], args + 1, &setup);
    free(path);
    tool_expect(&r, status);
    return r;
}

/* Repeats the run until it gives a warning: the good device may do everything before the other fails. */
static tool_result run_until_warned(const char *const *args)
{
    tool_result r = run("", 0, args);

    for (int i = 0; i < 20 && !strstr(r.err, "warning"); i++)
        r = run("", 0, args);
    return r;
}

/* The run must exit with `status` and print `text`. */
static void expect(const char *settings, int status, const char *text, const char *const *args)
{
    tool_result r = run(settings, status, args);

    assert_contains(status ? r.err : r.out, text);
}
#define EXPECT(settings, status, text, ...)                                                        \
    expect(settings, status, text, (const char *const[]){__VA_ARGS__, NULL})
#define TERNARY_RUN "collet-ternary", "run", "m.t2", "x.npy", "--force"

static void expect_same(const char *first, const char *second)
{
    OWNED(io_bytes) a = io_load(io_path(directory, first)), b = io_load(io_path(directory, second));

    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

TEST(vectors_are_shared)
{
    EXPECT("", 0, "by cpu_openmp in", TERNARY_RUN, "-o", "one.npy", "--backend", "cpu_openmp");
    EXPECT("", 0, "by cpu_openmp, cpu_scalar in", TERNARY_RUN, "-o", "two.npy", "--devices",
           "cpu_openmp,cpu_scalar");
    expect_same("one.npy", "two.npy");
    EXPECT("", 0, "\"shares\":", TERNARY_RUN, "-o", "two.npy", "--json", "--devices",
           "cpu_openmp,cpu_scalar");
    EXPECT("", 0, " at a time; arrays: ", TERNARY_RUN, "--plan", "--devices",
           "cpu_openmp,cpu_scalar");
    EXPECT("", 0, " on each of cpu_openmp, cpu_scalar\n  cpu_openmp: ", TERNARY_RUN, "--plan",
           "--devices", "cpu_openmp,cpu_scalar");
    EXPECT("", 0, "\"part\":", TERNARY_RUN, "--plan", "--json", "--devices",
           "cpu_openmp,cpu_scalar");
    EXPECT("", 2, "exclude each other", TERNARY_RUN, "-o", "y.npy", "--devices", "cpu_openmp",
           "--backend", "auto");
    EXPECT("", 1, "devices: cpu_openmp is given twice", TERNARY_RUN, "-o", "y.npy", "--devices",
           "cpu_openmp,cpu_openmp");
    EXPECT("", 2, "devices: there is no backend", TERNARY_RUN, "-o", "y.npy", "--devices", "cpu_openmp,nothing");
}

/* The device remote:1 fails, because it has no kernel for the op. */
TEST(a_device_that_fails_is_told_of)
{
    tool_result r = run_until_warned((const char *const[]){
        TERNARY_RUN, "-o", "lost.npy", "--json", "--devices", "cpu_openmp,remote:1", NULL});
    assert_contains(r.err, "collet-ternary: warning: the device remote:1 failed; the other devices "
                           "compute its part: remote:1: ");
    assert_contains(r.out, "\"error\":\t\"remote:1: ");
    expect_same("one.npy", "lost.npy");
    r = run("", 1,
            (const char *const[]){TERNARY_RUN, "-o", "none.npy", "--devices", "remote:0,remote:1",
                                  NULL});
    assert_contains(r.err, "collet-ternary: remote:");
    assert_null(strstr(r.err, "warning"));
    assert_int_not_equal(access(io_path(directory, "none.npy"), F_OK), 0);
}

/* ---- collet-extract ------------------------------------------------------------------------- */

#define EXTRACT                                                                                    \
    "collet-extract", COLLET_TEST_DATA "/md/water/conf.gro",                                       \
        COLLET_TEST_DATA "/md/water/traj.trr", "--batch", "3"

TEST(frames_are_shared)
{
    EXPECT("", 0, "51 frames of 648 atoms", EXTRACT, "-o", "one/", "--backend", "cpu_openmp");
    EXPECT("", 0, "  cpu_openmp: 51 frames, ", EXTRACT, "-o", "alone/", "--devices", "cpu_openmp");
    EXPECT("", 0, " a second\n  cpu_scalar: ", EXTRACT, "-o", "two/", "--devices",
           "cpu_openmp,cpu_scalar");
    expect_same("one/L_vector.npy", "alone/L_vector.npy");
    expect_same("one/rmsd.npy", "alone/rmsd.npy");
    expect_same("one/time_ps.npy", "two/time_ps.npy");
    EXPECT("", 0, "3 frames at a time, ", EXTRACT, "--plan", "--devices", "cpu_openmp,cpu_scalar");
    EXPECT("", 0, " on each device\n  cpu_openmp: ", EXTRACT, "--plan", "--devices",
           "cpu_openmp,cpu_scalar");
    EXPECT("", 0, " on the device\n  cpu_openmp: ", EXTRACT, "--plan", "--backend", "cpu_openmp");
    EXPECT("", 0, "\"part\":", EXTRACT, "--plan", "--json", "--devices", "cpu_openmp,cpu_scalar");
    EXPECT("", 2, "exclude each other", EXTRACT, "--devices", "cpu_openmp", "--backend", "auto");
    EXPECT("", 2, "devices: cpu_openmp is given twice", EXTRACT, "-o", "none/", "--devices",
           "cpu_openmp,cpu_openmp");
}

/* Several devices also share the frames of a shard. */
TEST(frames_of_shards_are_shared)
{
    for (int i = 1; i <= 2; i++) {
        char shard[8];

        snprintf(shard, sizeof shard, "%d/2", i);
        EXPECT("", 0, "of-2.npz: ", EXTRACT, "-o", "shards/", "--devices", "cpu_openmp", "--shard",
               shard);
    }
    EXPECT("", 0, "51 frames", "collet-merge", "shards.shards");
    expect_same("one/L_vector.npy", "shards/L_vector.npy");
    expect_same("one/rmsd.npy", "shards/rmsd.npy");
}

TEST(a_device_of_extract_that_fails_is_told_of)
{
    tool_result r = run_until_warned((const char *const[]){
        EXTRACT, "-o", "lost/", "--json", "--devices", "cpu_openmp,remote:1", NULL});
    assert_contains(r.err,
                    "collet-extract: warning: the device remote:1 failed; the other devices "
                    "computed its part: remote:1: ");
    assert_contains(r.out, "\"error\":\t\"remote:1: ", "\"choice\":\t\"cpu_openmp,remote:1\"",
                    "\"the device remote:1 failed; the other devices computed its part: ");
    expect_same("one/L_vector.npy", "lost/L_vector.npy");
    r = run("", 1,
            (const char *const[]){EXTRACT, "-o", "none/", "--devices", "remote:0,remote:1", NULL});
    assert_contains(r.err, "collet-extract: remote:");
    assert_null(strstr(r.err, "warning"));
    assert_int_not_equal(access(io_path(directory, "none"), F_OK), 0);
}

TEST_GROUP(set_up, tear_down)
