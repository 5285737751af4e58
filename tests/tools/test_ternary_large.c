/* SPDX-License-Identifier: Apache-2.0 */
/* 100 million weights: memory is bounded, the file takes 2 bits per weight, and the progress line is
 * shown and erased. */

#include "directory.h"
#include "json_expect.h"
#include "ternary_runs.h"

#include <sys/resource.h>
#include <sys/stat.h>

#define MEMORY_KIB (24 * 1024) /* less than the smaller of the two files */

#define SIDE (WATCHED ? 4000 : 10000)

static int set_up(void **state)
{
    directory = io_make_directory();
    ternary_npy(directory, "w.npy", "|i1", SIDE, SIDE, NULL);
    return 0;
}

/* Turns probing off: the probe would load the drivers of other backends, which use more memory than
 * the work. */
static void without_probe(void *user)
{
    setenv("COLLET_PROBE", "off", 1);
}

static void expect_little_memory(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    if (!WATCHED && usage.ru_maxrss > MEMORY_KIB)
        fail_msg("%ld KiB of memory", usage.ru_maxrss);
}

/* The memory that `collet-ternary run` uses does not grow with its input, whatever the axes of the vectors. */
TEST(memory_of_run)
{
    static const char *const shapes[] = {"(300000, 80)", "(1, 300000, 80)"};
    const char *args[] = {"run", "r.t2", "x.npy", "-o", "y.npy", "--force", "--backend", "cpu_scalar", NULL};
    const tool_setup setup = {.directory = directory, .prepare = without_probe};

    ternary_npy(directory, "r.npy", "|i1", 4, 80, NULL);
    const char *pack_args[] = {"pack", "r.npy", "-o", "r.t2", "--backend", "cpu_scalar", NULL};
    tool_result packed = tool_run("collet-ternary", pack_args, &setup);
    tool_expect(&packed, 0);
    for (size_t i = 0; i < (WATCHED ? 1 : sizeof shapes / sizeof *shapes); i++) {
        ternary_npy_shaped(directory, "x.npy", "|i1", shapes[i], 300000 * 80, NULL);
        tool_result result = tool_run("collet-ternary", args, &setup);
        tool_expect(&result, 0);
        assert_memory_equal(result.out, "300000 vectors of 80 numbers to 4, by cpu_scalar", 48);
        expect_little_memory();
    }
}

TEST(memory)
{
    const char *args[] = {"pack", "w.npy", "-o", "w.t2", "--backend", "cpu_scalar", NULL};
    const char *info_args[] = {"info", "w.t2", "--backend", "cpu_scalar", "--json", NULL};
    const tool_setup setup = {.directory = directory, .prepare = without_probe};
    struct stat st;

    tool_result result = tool_run("collet-ternary", args, &setup);
    tool_expect(&result, 0);
    if (!WATCHED)
        assert_string_equal(result.out, "w.t2: 100000000 weights in 1 layer, 24.4 MiB as t2\n");
    assert_int_equal(stat(io_path(directory, "w.t2"), &st), 0);
    assert_true(st.st_size <= 25 << 20);
    result = tool_run("collet-ternary", info_args, &setup);
    cJSON *info = parsed(&result, 0);
    const cJSON *layer = cJSON_GetArrayItem(member(info, "layers"), 0);
    assert_true(number_of(layer, "zero") == (double)SIDE * SIDE);
    assert_true(number_of(member(info, "memory"), "packed") <= 25 << 20);
    cJSON_Delete(info);
    expect_little_memory();
}

/* A terminal shows the progress line, which is erased before the warning that all codes are 0. */
TEST(progress)
{
    const char *args[] = {"pack", "p.npy", "-o", "p.t2", "--force", "--backend", "cpu_scalar", NULL};
    const tool_setup setup = {.directory = directory, .terminal = 1};
    tool_result result;

    /* The line appears after 0.1 s. Which size takes that long depends on the machine and the build. */
    for (int rows = 1000;; rows *= 2) {
        ternary_npy(directory, "p.npy", "|i1", rows, 10000, NULL);
        result = tool_run("collet-ternary", args, &setup);
        tool_expect(&result, 0);
        if (strstr(result.err, " weights, "))
            break;
        assert_true(rows < 1000 << 8);
    }
    assert_contains(result.err, " left\033[K",
                    "\r\033[Kcollet-ternary: warning: p.npy: 100 % of the ");
}

TEST_GROUP(set_up, remove_directory)
