/* SPDX-License-Identifier: Apache-2.0 */
/* --shard: the texts that it accepts, the variables of Slurm, and the division of work. */

#include "common/test.h"
#include "common/shard.h"

static void expect(const char *text, int64_t shard, int64_t n_shards)
{
    tool_shard read = {0};
    collet_error err;

    if (tool_shard_read(text, &read, &err) != COLLET_OK)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(read.shard, shard);
    assert_int_equal(read.n_shards, n_shards);
}

static void expect_fault(const char *text, const char *fault)
{
    tool_shard read = {7, 8};
    collet_error err;

    assert_int_equal(tool_shard_read(text, &read, &err), COLLET_INVALID);
    if (!strstr(err.text, fault))
        fail_msg("'%s' is not in: %s", fault, err.text);
    assert_true(read.shard == 7 && read.n_shards == 8);
}

TEST(texts)
{
    static const char *const others[] = {"",    "3",   "/",     "3/",    "/4",     "3/4/5",
                                         "a/4", "3/b", "1.5/4", "Slurm", "slurm/4"};
    expect("1/1", 1, 1);
    expect("3/100", 3, 100);
    expect("1000000000/1000000000", TOOL_SHARDS, TOOL_SHARDS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_fault(others[i], "is neither I/N, as in 3/100, nor slurm");
    expect_fault("1/0", "there are 1 to 1000000000 shards");
    expect_fault("1/-4", "there are 1 to 1000000000 shards");
    expect_fault("1/1000000001", "there are 1 to 1000000000 shards");
    expect_fault("0/4", "shards of 4 are numbered from 1 to 4");
    expect_fault("5/4", "shards of 4 are numbered from 1 to 4");
}

/* NULL: not set. */
static void set_array(const char *id, const char *min, const char *max, const char *step,
                      const char *count)
{
    const char *const names[] = {"ID", "MIN", "MAX", "STEP", "COUNT"};
    const char *const values[] = {id, min, max, step, count};

    for (int i = 0; i < 5; i++) {
        char name[32] = "SLURM_ARRAY_TASK_";
        strcat(name, names[i]);
        if (values[i])
            setenv(name, values[i], 1);
        else
            unsetenv(name);
    }
}

TEST(slurm)
{
    set_array("3", "1", "100", "1", "100");
    expect("slurm", 3, 100);
    set_array("0", "0", "9", "1", "10");
    expect("slurm", 1, 10);
    set_array("9", "1", "13", "4", "4");
    expect("slurm", 3, 4);
    set_array("5", "5", "5", "1", "1");
    expect("slurm", 1, 1);
    set_array("3", "1", "100", "1", NULL);
    expect_fault("slurm", "SLURM_ARRAY_TASK_COUNT is not set: run in a job array");
    set_array("3", NULL, "100", "1", "100");
    expect_fault("slurm", "SLURM_ARRAY_TASK_MIN is not set");
    set_array("three", "1", "100", "1", "100");
    expect_fault("slurm", "SLURM_ARRAY_TASK_ID is 'three', not a whole number");
    set_array("17", "3", "31", "1", "14"); /* --array=3,17,20-31 */
    expect_fault("slurm", "are not MIN to MAX in equal steps");
    set_array("4", "1", "13", "4", "4");
    expect_fault("slurm", "are not MIN to MAX in equal steps");
    set_array("14", "1", "13", "1", "13");
    expect_fault("slurm", "are not MIN to MAX in equal steps");
    set_array("1", "1", "1", "0", "1");
    expect_fault("slurm", "are not MIN to MAX in equal steps");
}

TEST(each_thing_is_in_one_shard)
{
    const tool_shard last = {TOOL_SHARDS, TOOL_SHARDS};
    for (int64_t count = 0; count < 40; count++)
        for (int64_t n = 1; n < 50; n++) {
            int64_t next = 0;
            for (int64_t i = 1; i <= n; i++) {
                int64_t first = tool_shard_first((tool_shard){i, n}, count),
                        end = tool_shard_end((tool_shard){i, n}, count);
                assert_int_equal(first, next);
                assert_true(end - first == count / n || end - first == (count + n - 1) / n);
                next = end;
            }
            assert_int_equal(next, count);
        }
    assert_int_equal(tool_shard_first(last, INT64_MAX), INT64_MAX - INT64_MAX / TOOL_SHARDS - 1);
    assert_int_equal(tool_shard_end(last, INT64_MAX), INT64_MAX);
}
