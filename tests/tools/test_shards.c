/* SPDX-License-Identifier: Apache-2.0 */
/* Tests collet-extract --shard and collet-merge on a directory: command lines, killed runs, 100
 * shards. tests/engines/test_trajectory_shards.c tests the results. */

#include "directory.h"
#include "extract_runs.h"

static void run_with(const char *program, int status, const char *message, tool_setup setup,
                     const char *const *args)
{
    setup.directory = directory;
    tool_result result = tool_run(program, args, &setup);

    tool_expect(&result, status);
    assert_contains(*result.err ? result.err : result.out, message);
}

#define MERGE(status, message, ...)                                                                \
    run_with("collet-merge", status, message, (tool_setup){0},                                     \
             (const char *const[]){__VA_ARGS__, NULL})

#define RUN "--backend", "cpu_scalar", "--keys", "com,axes", PEPTIDE "conf.gro", PEPTIDE "traj.trr"
#define EXTRACT_IN(setup, status, message, ...)                                                    \
    run_with("collet-extract", status, message, setup,                                             \
             (const char *const[]){RUN, __VA_ARGS__, NULL})
#define PLAIN(status, message, ...) EXTRACT_IN((tool_setup){0}, status, message, __VA_ARGS__)

static void shard(int i, int n, int killed)
{
    char text[32];

    snprintf(text, sizeof text, "%d/%d", i, n);
    EXTRACT_IN(((tool_setup){.prepare = killed ? tool_kill_at : NULL, .user = "1"}),
               killed ? 128 + 9 : 0, "", "-q", "-o", "out.npz", "--shard", text);
}

/* The meta file without the members that differ from run to run. */
static cJSON *read_meta(const char *name)
{
    io_bytes text = io_load(io_path(directory, name));
    cJSON *meta = cJSON_ParseWithLength((const char *)text.data, text.size);

    free(text.data);
    assert_non_null(meta);
    cJSON_DeleteItemFromObject(meta, "created");
    cJSON_DeleteItemFromObject(meta, "counters");
    cJSON_DeleteItemFromObject(meta, "timing");
    return meta;
}

TEST(hundred_shards)
{
    static const int killed[] = {4, 50, 99};
    PLAIN(0, "", "-q", "-o", "out.npz");
    OWNED(io_bytes) expected = io_load(io_path(directory, "out.npz"));
    OWNED(cJSON) *meta = read_meta("out.meta.json");

    for (int k = 0; k < 100; k++) {
        int i = (k * 37 + 11) % 100 + 1;
        shard(i, 100, i == killed[0] || i == killed[1] || i == killed[2]);
    }
    assert_int_equal(io_count_entries(io_path(directory, "out.npz.shards")), 1 + 100 - 3 + 3);
    MERGE(1, "shards 4, 50, 99 of 100 are missing", "--force", "out.npz.shards");
    for (int k = 0; k < 3; k++)
        shard(killed[k], 100, 0);
    assert_int_equal(io_count_entries(io_path(directory, "out.npz.shards")), 1 + 100);
    MERGE(1, "out.npz already exists", "out.npz.shards");
    unlink(io_path(directory, "out.npz"));
    unlink(io_path(directory, "out.meta.json"));
    MERGE(0, "out.npz: 51 frames in ", "out.npz.shards/");

    OWNED(io_bytes) found = io_load(io_path(directory, "out.npz"));
    OWNED(cJSON) *same = read_meta("out.meta.json");
    assert_int_equal(found.size, expected.size);
    assert_memory_equal(found.data, expected.data, found.size);
    assert_true(cJSON_Compare(meta, same, 1));
}

static void set_array(void *user)
{
    const char *const *values = user;

    setenv("SLURM_ARRAY_TASK_ID", values[0], 1);
    setenv("SLURM_ARRAY_TASK_MIN", values[1], 1);
    setenv("SLURM_ARRAY_TASK_MAX", values[2], 1);
    setenv("SLURM_ARRAY_TASK_STEP", values[3], 1);
    setenv("SLURM_ARRAY_TASK_COUNT", values[4], 1);
}

TEST(command_lines)
{
    static const char *array[] = {"6", "2", "8", "2", "4"};

    PLAIN(0, "own.csv.shards/1-of-2.npz: 25 frames of 51 in ", "-o", "own.csv", "--shard=1/2");
    PLAIN(1, "own.csv.shards/1-of-2.npz already exists", "-o", "own.csv", "--shard", "1/2");
    PLAIN(0, "own.csv.shards/1-of-2.npz: kept", "-o", "own.csv", "--shar", "1/2", "--res");
    PLAIN(2, "1-of-2.npz is of other work (drift: 0, not 1)", "-o", "own.csv", "--shard", "1/2", "--resume", "--drift", "linear");
    PLAIN(0, "1-of-2.npz: 25 frames", "-o", "own.csv", "--shard", "1/2", "--force");
    MERGE(1, "shard 2 of 2 is missing", "own.csv.shards");
    PLAIN(0, "2-of-2.npz: 26 frames", "-o", "own.csv", "--shard", "2/2");
    MERGE(0, "other.npz: 51 frames", "-o", "other.npz", "own.csv.shards");
    MERGE(0, "own.csv: 51 frames", "own.csv.shards");
    /* If the output's name ends with a slash, the output is a directory. */
    PLAIN(0, "", "-o", "folder/", "--shard", "1/1");
    MERGE(0, "folder: 51 frames", "folder.shards");
    free(io_load(io_path(directory, "folder/com.npy")).data);

    EXTRACT_IN(((tool_setup){.prepare = set_array, .user = array}), 0,
               "array.npz.shards/3-of-4.npz: 13 frames of 51", "-o", "array.npz", "--shard",
               "slurm");
    PLAIN(2, "--shard: '5/4': shards of 4", "--shard", "5/4");
    PLAIN(1, "--resume keeps shards, but traj.npz.shards has none", "--resume");
    PLAIN(2, "--plot and --json need the results of all shards", "--shard", "1/2", "--json");
    MERGE(1, "would replace the input", "--force", "-o", "own.csv.shards/1-of-2.npz",
          "own.csv.shards");
    MERGE(1, "absent.shards: it cannot be opened", "absent.shards");
    MERGE(2, "give one directory of shards, alone", "own.csv.shards", "folder.shards");
}

/* File names with letters of several bytes, with bytes that are not UTF-8, and with an unprintable
 * character. */
TEST(any_names)
{
    static const char *const names[] = {"\xe2\x9c\x93\xe6\x97\xa5 \xc3\x89.trr", "\xff\x80\x9f.trr",
                                        "\x7f\n%s.trr"};
    OWNED(io_bytes) whole = io_load(PEPTIDE "traj.trr");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        io_save(io_path(directory, names[i]), whole.data, whole.size);
        run_with("collet-extract", 0, "", (tool_setup){0},
                 (const char *const[]){"--backend", "cpu_scalar", "--keys", "com", "-o",
                                       "names.npz", PEPTIDE "conf.gro", names[i], "--shard", "1/1",
                                       "--force", NULL});
        MERGE(0, "names.npz: 51 frames", "--force", "names.npz.shards");
    }
}

TEST(damaged_shards)
{
    const char *const args[] = {"-q", "--force", "bad.npz.shards", NULL};
    const tool_setup setup = {.directory = directory};
    int refused = 0;
    int flips = 0;

    PLAIN(0, "", "-o", "bad.npz", "--shard", "1/1");
    OWNED(io_bytes) whole = io_load(io_path(directory, "bad.npz.shards/1-of-1.npz"));
    tool_result result = tool_run("collet-merge", args, &setup);
    tool_expect(&result, 0);
    io_bytes merged = io_load(io_path(directory, "bad.npz"));

    /* A checksum covers every byte of rows and notes. Names and dates are not used: damage to them
     * changes nothing. */
    for (size_t at = 200; at + 100 < whole.size; at += whole.size / 23, flips++) {
        whole.data[at] ^= 0x10;
        io_save(io_path(directory, "bad.npz.shards/1-of-1.npz"), whole.data, whole.size);
        whole.data[at] ^= 0x10;
        result = tool_run("collet-merge", args, &setup);
        if (result.status == 0) {
            OWNED(io_bytes) same = io_load(io_path(directory, "bad.npz"));
            assert_int_equal(same.size, merged.size);
            assert_memory_equal(same.data, merged.data, merged.size);
        } else {
            EXPECT_ERR(result, 1, "1-of-1.npz");
            refused++;
        }
    }
    assert_true(refused > 15 && flips - refused < 5);
    free(merged.data);

    /* --resume computes a shard again whose file is truncated or empty. */
    io_save(io_path(directory, "bad.npz.shards/1-of-1.npz"), whole.data, whole.size / 2);
    for (int i = 0; i < 2; i++) {
        PLAIN(0, "bad.npz.shards/1-of-1.npz: 51 frames", "-o", "bad.npz", "--shard", "1/1",
              "--resume");
        io_bytes again = io_load(io_path(directory, "bad.npz.shards/1-of-1.npz"));
        assert_int_equal(again.size, whole.size);
        assert_memory_equal(again.data, whole.data, whole.size);
        free(again.data);
        io_save(io_path(directory, "bad.npz.shards/1-of-1.npz"), "", 0);
    }
}

TEST_GROUP(make_directory, remove_directory)
