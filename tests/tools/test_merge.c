/* SPDX-License-Identifier: Apache-2.0 */
/* collet-merge: merged parts of a run equal the results of the whole run; which files it refuses. */

#include "directory.h"
#include "extract_runs.h"

static void run(const char *program, int status, const char *message, const char *const *args)
{
    const tool_setup setup = {.directory = directory};
    tool_result result = tool_run(program, args, &setup);

    EXPECT_ERR(result, status, message);
}

#define MERGE(status, message, ...)                                                                \
    run("collet-merge", status, message, (const char *const[]){__VA_ARGS__, NULL})

/* Computes frames start .. stop - 1 of the peptide. */
static void part(const char *name, const char *start, const char *stop, const char *keys,
                 const char *selection)
{
    const char *const args[] = {
        "-q",          "--force", "-o",        name,         "--keys",           keys,
        "--start",     start,     "--stop",    stop,         "--each",           "residue",
        "--selection", selection, "--backend", "cpu_scalar", PEPTIDE "conf.gro", PEPTIDE "traj.trr",
        NULL};

    run("collet-extract", 0, "", args);
}

#define KEYS "time_ps,com,L_vector,k_rot"

TEST(parts_of_a_run)
{
    static const char *const keys[] = {"time_ps", "com", "L_vector", "k_rot"};
    part("whole.npz", "0", "51", KEYS, "all");
    part("a.npz", "0", "20", KEYS, "all");
    part("b.npz", "15", "40", KEYS, "all");
    part("c.npz", "40", "51", KEYS, "all");
    MERGE(0, "", "-q", "-o", "out.npz", "a.npz", "b.npz", "c.npz");

    npz merged = npz_open(io_path(directory, "out.npz"));
    npz whole = npz_open(io_path(directory, "whole.npz"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int64_t rows;
        size_t n, m;
        const double *found = npz_f64(&merged, keys[i], &rows, &n);
        const double *expected = npz_f64(&whole, keys[i], NULL, &m);
        assert_int_equal(rows, 51);
        assert_int_equal(n, m);
        assert_memory_equal(found, expected, n * sizeof *found);
    }
    npy_array labels = npz_find(merged.bytes.data, merged.bytes.size, "bodies");
    npy_array same = npz_find(whole.bytes.data, whole.bytes.size, "bodies");
    assert_int_equal(labels.size, same.size);
    assert_memory_equal(labels.data, same.data, same.size);
    npz_close(&merged);
    npz_close(&whole);

    static const int kept[] = {15, 25, 11}, left[] = {5, 0, 0};
    io_bytes text = io_load(io_path(directory, "out.meta.json"));
    cJSON *meta = cJSON_ParseWithLength((const char *)text.data, text.size);
    assert_int_equal((int)cJSON_GetNumberValue(meta_at(meta, "frames/count")), 51);
    assert_string_equal(cJSON_GetStringValue(meta_at(meta, "selection/text")), "all");
    for (int k = 0; k < 3; k++) {
        const cJSON *entry = cJSON_GetArrayItem(meta_at(meta, "parts"), k);
        assert_int_equal((int)cJSON_GetNumberValue(meta_at(entry, "frames")), kept[k]);
        assert_int_equal((int)cJSON_GetNumberValue(meta_at(entry, "frames_left_out")), left[k]);
    }
    cJSON_Delete(meta);
    free(text.data);

    MERGE(1, "out.npz already exists", "-o", "out.npz", "a.npz");
    MERGE(0, "", "-q", "--force", "-o", "out.npz", "a.npz");
}

static void expect_frames(const char *name, int64_t expected)
{
    OWNED_NPZ file = npz_open(io_path(directory, name));
    int64_t rows;
    size_t n;
    const double *times = npz_f64(&file, "time_ps", &rows, &n);
    assert_int_equal(rows, expected);
    for (int64_t i = 1; i < rows; i++)
        assert_true(times[i] > times[i - 1]);
}

/* Runs collet-merge, which must print exactly `warnings` to standard error. */
static void warned(int status, const char *warnings, const char *const *args)
{
    const tool_setup setup = {.directory = directory};
    tool_result result = tool_run("collet-merge", args, &setup);
    tool_expect(&result, status);
    assert_string_equal(result.err, warnings);
}

#define WARNED(status, warnings, ...)                                                              \
    warned(status, warnings, (const char *const[]){__VA_ARGS__, NULL})
#define WARNING "collet-merge: warning: "

/* The frames of the peptide are 0.01 ps apart. */
TEST(any_order_of_names)
{
    part("whole.npz", "0", "51", KEYS, "all");
    part("part1.npz", "0", "20", KEYS, "all");
    part("part10.npz", "40", "51", KEYS, "all");
    part("part2.npz", "20", "40", KEYS, "all");
    WARNED(0, "", "-q", "-o", "sorted.npz", "part1.npz", "part10.npz", "part2.npz");
    expect_frames("sorted.npz", 51);
    WARNED(0, "", "--check", "part10.npz", "part1.npz", "part2.npz");
    WARNED(0, WARNING "part2.npz is left out: all its times are in whole.npz\n", "-q", "--check",
           "part2.npz", "whole.npz");
}

TEST(gaps_overlaps_and_repeats_are_said)
{
    static const char gap[] = WARNING "there are no frames between 0.19 ps, where a.npz ends, and 0.4 ps, where c.npz begins\n";
    part("a.npz", "0", "20", KEYS, "all");
    part("b.npz", "15", "40", KEYS, "all");
    part("c.npz", "40", "51", KEYS, "all");
    part("within.npz", "3", "7", KEYS, "all");
    WARNED(3, gap, "-q", "--check", "c.npz", "a.npz");
    WARNED(0, gap, "-q", "-o", "gap.npz", "c.npz", "a.npz");
    expect_frames("gap.npz", 31);
    io_bytes text = io_load(io_path(directory, "gap.meta.json"));
    cJSON *meta = cJSON_ParseWithLength((const char *)text.data, text.size);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(meta_at(meta, "warnings"), 0)),
                        "there are no frames between 0.19 ps, where a.npz ends, and 0.4 ps, where c.npz begins");
    cJSON_Delete(meta);
    free(text.data);
    WARNED(0, WARNING "b.npz replaces the last 5 frames of a.npz, from 0.15 ps on\n", "-q", "-o", "overlap.npz", "c.npz",
           "b.npz", "a.npz");
    expect_frames("overlap.npz", 51);
    WARNED(0, WARNING "within.npz is left out: all its times are in a.npz\n", "-q", "-o", "within_a.npz", "within.npz",
           "a.npz");
    expect_frames("within_a.npz", 20);
    const char *const sparse[] = {"-q", "--step", "2", "-o", "sparse.npz", "--keys", KEYS, "--each", "residue",
                                  PEPTIDE "conf.gro", PEPTIDE "traj.trr", NULL};
    run("collet-extract", 0, "", sparse);
    MERGE(1, "within.npz (0.03 to 0.06 ps) lies within sparse.npz (0 to 0.5 ps) but has other times: leave one of them out",
          "--check", "within.npz", "sparse.npz");
    MERGE(2, "--check writes nothing: leave out -o", "--check", "-o", "no.npz", "a.npz");
}

static void extract_paths(const char *out, const char *start, const char *stop)
{
    const char *const args[] = {"-q", "--force", "-o", out, "--keys", "time_ps,com", "--pbc", "nojump", "--start", start,
                                "--stop", stop, PEPTIDE "conf.gro", PEPTIDE "traj.trr", NULL};
    run("collet-extract", 0, "", args);
}

/* python/tests/md/test_md_paths.py tests paths of molecules that cross the boundary of the box. */
TEST(paths_are_continued)
{
    size_t n, m;

    extract_paths("whole.npz", "0", "51");
    extract_paths("a.npz", "0", "20");
    extract_paths("b.npz", "20", "51");
    MERGE(0, "", "-q", "-o", "paths.npz", "b.npz", "a.npz");
    OWNED_NPZ merged = npz_open(io_path(directory, "paths.npz")),
    whole = npz_open(io_path(directory, "whole.npz"));
    const double *found = npz_f64(&merged, "com", NULL, &n), *expected = npz_f64(&whole, "com", NULL, &m);
    assert_int_equal(n, m);
    assert_memory_equal(found, expected, n * sizeof *found);
}

static void extract_drift(const char *out, const char *start, const char *stop, const char *keys, const char *drift,
                          const char *of)
{
    const char *const args[] = {"-q", "--force", "-o", out, "--keys", keys, "--start", start, "--stop", stop, "--drift", drift,
                                PEPTIDE "conf.gro", PEPTIDE "traj.trr", of ? "--drift-of" : NULL, of, NULL};
    run("collet-extract", 0, "", args);
}

/* Saves two frames of a file without a box: positions are moved. */
static void save_boxless(void)
{
    static const char text[] = "two t= 0\n2\n"
                               "    1SOL     OW    1   0.000   0.000   0.000\n"
                               "    1SOL    HW1    2   0.100   0.000   0.000\n   0 0 0\n"
                               "two t= 1\n2\n"
                               "    1SOL     OW    1   0.500   0.000   0.000\n"
                               "    1SOL    HW1    2   0.600   0.000   0.000\n   0 0 0\n";

    io_save(io_path(directory, "boxless.gro"), text, sizeof text - 1);
}

TEST(drift_must_agree)
{
    const char *const moved[] = {"-q", "--force", "-o", "moved.npz", "--keys", "time_ps,com", "--drift", "linear",
                                 "boxless.gro", "boxless.gro", NULL};
    extract_drift("kept.npz", "20", "51", "time_ps,k_rot", "keep", NULL);
    extract_drift("a.npz", "0", "20", "time_ps,k_rot", "linear", "all");
    extract_drift("b.npz", "20", "51", "time_ps,k_rot", "linear", "all");
    extract_drift("other.npz", "20", "51", "time_ps,k_rot", "both", "all");
    extract_drift("part.npz", "20", "51", "time_ps,k_rot", "linear", "name CA");
    MERGE(0, "", "-q", "-o", "drift.npz", "a.npz", "b.npz");
    expect_frames("drift.npz", 51);
    io_bytes text = io_load(io_path(directory, "drift.meta.json"));
    cJSON *meta = cJSON_ParseWithLength((const char *)text.data, text.size);
    assert_string_equal(cJSON_GetStringValue(meta_at(meta, "drift/drift")), "linear");
    cJSON_Delete(meta);
    free(text.data);
    MERGE(1, "a.npz and other.npz differ in the drift that was removed (--drift)", "-o", "no.npz", "a.npz", "other.npz");
    MERGE(1, "a.npz and kept.npz differ in the drift that was removed (--drift)", "-o", "no.npz", "a.npz", "kept.npz");
    MERGE(1, "a.npz and part.npz differ in the system whose drift was removed (--drift-of)", "-o", "no.npz", "a.npz", "part.npz");
    save_boxless();
    run("collet-extract", 0, "", moved);
    npz file = npz_open(io_path(directory, "moved.npz"));
    const double *com = npz_f64(&file, "com", NULL, NULL);
    assert_true(com[0] > 0 && com[3] - com[0] < 1e-6 && com[0] - com[3] < 1e-6);
    npz_close(&file);
    MERGE(1, "moved.npz: the keys com and positions cannot be joined, because --drift moved", "-o", "no.npz", "moved.npz", "moved.npz");
    MERGE(0, "", "-q", "-o", "one.npz", "--force", "moved.npz");
}

TEST(what_cannot_be_merged)
{
    part("a.npz", "0", "5", KEYS, "all");
    part("keys.npz", "5", "9", "time_ps,com", "all");
    MERGE(1, "a.npz and keys.npz differ in their keys", "-o", "no.npz", "a.npz", "keys.npz");
    part("other.npz", "5", "9", KEYS, "resid 1:3");
    MERGE(1, "differ in their selections", "-o", "no.npz", "a.npz", "other.npz");
    part("rmsd.npz", "0", "5", "time_ps,rmsd", "all");
    part("rmsd2.npz", "5", "9", "time_ps,rmsd", "all");
    MERGE(1, "differ in the reference of the key rmsd", "-o", "no.npz", "rmsd.npz", "rmsd2.npz");
    part("untimed.npz", "0", "5", "com", "all");
    MERGE(1, "untimed.npz: it has no times", "-o", "no.npz", "untimed.npz");
    MERGE(1, "would replace the input", "--force", "-o", "a.npz", "a.npz");
    MERGE(1, "absent.npz: its meta file absent.meta.json cannot be opened", "-o", "no.npz",
          "absent.npz");

    io_bytes meta = io_load(io_path(directory, "keys.meta.json"));
    io_save(io_path(directory, "a.meta.json"), meta.data, meta.size);
    MERGE(1, "a.npz: its meta file a.meta.json belongs to other results", "-o", "no.npz", "a.npz");
    io_save(io_path(directory, "a.meta.json"), meta.data, meta.size / 2);
    MERGE(1, "a.meta.json: it is not JSON", "-o", "no.npz", "a.npz");
    free(meta.data);
    io_bytes cut = io_load(io_path(directory, "keys.npz"));
    io_save(io_path(directory, "keys.npz"), cut.data, cut.size / 2);
    MERGE(1, "keys.npz: it cannot be opened as an .npz file", "-o", "no.npz", "keys.npz");
    free(cut.data);

    MERGE(1, "out.npz.shards: it cannot be opened as an .npz file: No such file", "out.npz.shards");

    MERGE(2, "name the file to write", "a.npz");
    MERGE(2, "the output is an .npz file", "-o", "out.csv", "a.npz");
    MERGE(2, "give the results to merge", "-o", "out.npz");
    MERGE(2, "--help", "--unknown");
    assert_int_equal(access(io_path(directory, "no.npz"), F_OK), -1);
}

TEST_GROUP(make_directory, remove_directory)
