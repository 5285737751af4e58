/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench: it measures every op and reports as documented; figures are not checked. */

#include "json_expect.h"

#include <collet/collet.h>

#define QUICK "--seconds", "0.01"
#define BENCH(...) TOOL("backend-bench", __VA_ARGS__)

/* assert_float_equal compares floats. */
static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void set_variable(void *user)
{
    putenv(user);
}

static tool_result bench_with(const char *variable, const char *const *args)
{
    const tool_setup setup = {.prepare = set_variable, .user = (void *)(uintptr_t)variable};
    return tool_run("backend-bench", args, &setup);
}

#define BENCH_WITH(variable, ...) bench_with(variable, (const char *const[]){__VA_ARGS__, NULL})

static const cJSON *result_of(const cJSON *root, int index)
{
    const cJSON *result = cJSON_GetArrayItem(member(root, "results"), index);
    if (!result)
        fail_msg("no result %d", index);
    return result;
}

static void check_times(const cJSON *times)
{
    double minimum = number_of(times, "min"), maximum = number_of(times, "max");
    static const char *const between[] = {"mean", "median", "p95", "p99"};
    assert_true(minimum > 0);
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        double t = number_of(times, between[i]);
        assert_true(t >= 0.999 * minimum && t <= 1.001 * maximum);
    }
    assert_true(number_of(times, "p99") >= number_of(times, "p95"));
    assert_true(number_of(times, "p95") >= number_of(times, "median"));
    assert_true(number_of(times, "std") >= 0);
}

static void check_result(const cJSON *r)
{
    double bytes = number_of(r, "bytes"), median;
    if (strcmp(text_of(r, "status"), "COLLET_OK"))
        fail_msg("%s: %s", text_of(r, "backend"), text_of(r, "error"));
    check_times(member(r, "call_seconds"));
    median = number_of(member(r, "call_seconds"), "median");
    assert_true(number_of(r, "samples") >= 3);
    assert_true(number_of(r, "calls_per_sample") >= 1);
    assert_true(bytes > 0);
    assert_near(number_of(r, "gb_per_s"), 1e-9 * bytes / median, 1e-6);
    assert_near(number_of(r, "calls_per_second") * median, 1, 1e-6);
    assert_int_equal((int)number_of(member(r, "memory_delta"), "array_bytes"), 0);
    number_of(member(r, "memory_delta"), "resident_bytes");
    const cJSON *rounds = member(r, "rounds"), *round;
    assert_int_equal(cJSON_GetArraySize(rounds), 10);
    cJSON_ArrayForEach(round, rounds)
    {
        assert_true(number_of(round, "median") >= number_of(member(r, "call_seconds"), "min"));
        assert_true(number_of(round, "median") <= number_of(member(r, "call_seconds"), "max"));
        assert_true(number_of(round, "jitter") >= 0);
        assert_true(number_of(round, "peak_bytes") > 1 << 20);
    }
}

static void refused(tool_result result, int status, const char *text)
{
    tool_expect(&result, status);
    assert_string_equal(result.out, "");
    assert_contains(result.err, text);
}

/* ---- Ops --------------------------------------------------------------------------------- */

/* Measures all ops except `evaluate`. That op needs a program, so its row in the list has no shape
 * to measure. */
static const char *const op_names[][2] = {
#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, params, alias, split, check,       \
                  measure, summary)                                                                \
    {#name, measure},
#include <collet/ops.def>
};

TEST(every_op_has_a_case)
{
    tool_result r = BENCH("--list", "--json");
    OWNED(cJSON) *root = parsed(&r, 0);
    for (size_t i = 0; i < sizeof op_names / sizeof *op_names; i++) {
        const cJSON *row, *found = NULL;
        cJSON_ArrayForEach(row, member(root, "cases")) if (!strcmp(text_of(row, "case"),
                                                                   op_names[i][0])) found = row;
        if (!*op_names[i][1])
            continue;
        if (!found)
            fail_msg("%s cannot be measured", op_names[i][0]);
        assert_string_equal(text_of(found, "op"), op_names[i][0]);
    }
}

/* What limits the speed of each op at its default shape, memory or compute, as a measurement
 * reports it. */
TEST(what_bounds_a_case)
{
    static const char *const bounds[][2] = {{"add", "memory"},
                                            {"matmul", "compute"},
                                            {"fft", "compute"},
                                            {"ternary_matmul", "memory"},
                                            {"ternary_linear", "memory"}};
    tool_result r = BENCH("--list", "--json");
    OWNED(cJSON) *root = parsed(&r, 0);
    const cJSON *row;
    size_t found = 0;
    cJSON_ArrayForEach(row, member(root, "cases"))
    {
        for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
            if (strcmp(text_of(row, "case"), bounds[i][0]))
                continue;
            assert_string_equal(text_of(row, "bound"), bounds[i][1]);
            found++;
        }
    }
    assert_int_equal(found, sizeof bounds / sizeof *bounds);
}

static const char *small_shape(const char *extents)
{
    static const char *const shapes[][2] = {{"...", "5x6x7"},
                                            {"...,M,K,N", "2x5x6x7"},
                                            {"F,N", "5x7"},
                                            {"F", "9"},
                                            {"...,K", "4x5x3"},
                                            {"N", "11"},
                                            {"...,M,K", "3x5x6"},
                                            {"...,M,N", "2x6x4"},
                                            {"...,N,R", "2x5x3"},
                                            {"...,N", "3x5"},
                                            {"...,N,K", "2x5x7"},
                                            {"N,K", "11x5"},
                                            {"...,V", "5x6"},
                                            {"Z,Y,X", "3x4x5"},
                                            {"M,Z,Y,X", "2x3x4x5"},
                                            {"E,X,Y,Z", "2x5x4x3"},
                                            {"F,L,Y,H,X,D", "2x2x4x3x4x2"},
                                            {"F,L,Y,H,D,X", "2x2x4x3x2x4"},
                                            {"D,F,Y,X,E,K", "2x3x4x5x2x2"},
                                            {"D,F,Y,X,E,Z,K", "2x3x4x5x2x3x2"},
                                            {"E,K,Y,X,A", "2x3x4x5x3"}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strcmp(shapes[i][0], extents))
            return shapes[i][1];
    fail_msg("no small shape for %s", extents);
    return NULL;
}

TEST(every_case_runs)
{
    tool_result r = BENCH("--list", "--json");
    OWNED(cJSON) *list = parsed(&r, 0);
    const cJSON *row;
    cJSON_ArrayForEach(row, member(list, "cases"))
    {
        r = BENCH(text_of(row, "case"), small_shape(text_of(row, "extents")), "--backend",
                  "cpu_scalar", "--json", "--seconds", "0.001");
        OWNED(cJSON) *root = parsed(&r, 0);
        assert_string_equal(text_of(root, "op"), text_of(row, "op"));
        assert_int_equal(cJSON_GetArraySize(member(root, "results")), 1);
        check_result(result_of(root, 0));
    }
}

/* The test backend's clock counts 1,000 ns a kernel. */
TEST(device_clock)
{
    static const char *const backends[] = {"remote", "remote:1", "auto"};
    static const char counted[] = "remote.kernel_ns = 1000\n";
    char directory[] = "/tmp/collet-bench-XXXXXX", config[sizeof directory + 8];
    assert_non_null(mkdtemp(directory));
    snprintf(config, sizeof config, "%s/conf", directory);
    FILE *file = fopen(config, "w");
    assert_non_null(file);
    fputs(counted, file);
    assert_int_equal(fclose(file), 0);
    setenv("COLLET_CONFIG", config, 1);
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        tool_result r = BENCH_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_REMOTE "/remote.so", "add",
                                   "--shape", "1K", "--backend", backends[i], "--json", QUICK);
        OWNED(cJSON) *root = parsed(&r, 0);
        const cJSON *row = result_of(root, 0), *times = member(row, "device_seconds");
        double samples = number_of(row, "device_samples");
        check_result(row);
        assert_true(samples >= 1 && samples <= 64);
        assert_near(number_of(times, "min"), 1e-6, 1e-12);
        assert_near(number_of(times, "max"), 1e-6, 1e-12);
    }
    tool_result r = BENCH_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_REMOTE "/remote.so", "add",
                               "--shape", "1K", QUICK);
    EXPECT_OUT(r, 0, "; 1.00 us by the device's clock; memory");
    unsetenv("COLLET_CONFIG");
    unlink(config);
    rmdir(directory);
    r = BENCH("add", "--shape", "1K", "--backend", "cpu_scalar", "--json", QUICK);
    OWNED(cJSON) *root = parsed(&r, 0);
    assert_true(cJSON_IsNull(member(result_of(root, 0), "device_seconds")));
}

TEST(rows)
{
    tool_result r = BENCH("add", "--shape", "1K", "--dtype", "f32,f64", "--backend",
                          "cpu_scalar,cpu_scalar:0", "--threads", "1", "--json", QUICK);
    OWNED(cJSON) *root = parsed(&r, 0);
    const cJSON *host = member(root, "host");
    assert_string_equal(text_of(root, "tool"), "backend-bench");
    assert_string_equal(text_of(root, "collet"), COLLET_VERSION);
    /* The command is reported as typed: in the same order, and with lists such as "f64,bool"
     * whole. */
    const cJSON *command = member(root, "command");
    assert_int_equal(cJSON_GetArraySize(command), 13);
    assert_string_equal(cJSON_GetArrayItem(command, 1)->valuestring, "add");
    assert_string_equal(cJSON_GetArrayItem(command, 5)->valuestring, "f32,f64");
    text_of(host, "name");
    text_of(host, "cpu");
    assert_int_equal((int)number_of(host, "threads"), 1);
    assert_int_equal(cJSON_GetArrayItem(member(root, "shape"), 0)->valueint, 1024);
    assert_int_equal(cJSON_GetArraySize(member(root, "results")), 4);
    for (int i = 0; i < 4; i++) {
        const cJSON *row = result_of(root, i);
        check_result(row);
        assert_string_equal(text_of(row, "backend"), i % 2 ? "cpu_scalar:0" : "cpu_scalar");
        assert_string_equal(text_of(row, "signature"), i < 2 ? "f:ff" : "d:dd");
        assert_int_equal((int)number_of(row, "bytes"), 3 * 1024 * (i < 2 ? 4 : 8));
        assert_true(number_of(row, "ratio") > 0);
        assert_string_equal(text_of(row, "bound"), "memory");
        assert_true(cJSON_IsNull(member(row, "share")));
    }
}

TEST(work)
{
    tool_result r = BENCH("matmul", "8x16x32", "--backend", "cpu_scalar", "--json", QUICK);
    OWNED(cJSON) *root = parsed(&r, 0);
    assert_int_equal((int)number_of(result_of(root, 0), "flops"), 2 * 8 * 16 * 32);
    assert_true(number_of(result_of(root, 0), "gflop_per_s") > 0);
    assert_string_equal(text_of(result_of(root, 0), "bound"), "compute");
    cJSON_Delete(root);

    r = BENCH("sum", "8x16", "--axis", "-2", "--dtype", "d:f", "--backend", "cpu_scalar", "--json",
              QUICK);
    root = parsed(&r, 0);
    assert_string_equal(text_of(result_of(root, 0), "signature"), "d:f");
    assert_int_equal((int)number_of(result_of(root, 0), "bytes"), 8 * 16 * 4 + 16 * 8);
    cJSON_Delete(root);

    /* The reported dtype of a case is the dtype of its first input that is not bool, if there is one. */
    r = BENCH("where", "100", "--dtype", "f64,bool", "--backend", "cpu_scalar", "--json", QUICK);
    root = parsed(&r, 0);
    assert_string_equal(text_of(result_of(root, 0), "signature"), "d:Bdd");
    assert_string_equal(text_of(result_of(root, 1), "signature"), "f:Bff");
    cJSON_Delete(root);

    /* Outputs with other lengths than the input: 10 bins, and the length of the mask. */
    r = BENCH("histogram", "1000", "--backend", "cpu_scalar", "--json", QUICK);
    root = parsed(&r, 0);
    assert_int_equal((int)number_of(result_of(root, 0), "bytes"), 1000 * 4 + 10 * 8);
    cJSON_Delete(root);
    r = BENCH("compress", "1000", "--backend", "cpu_scalar", "--json", QUICK);
    root = parsed(&r, 0);
    assert_int_equal((int)number_of(result_of(root, 0), "bytes"), 1000 * (4 + 1 + 4) + 8);
}

TEST(table)
{
    tool_result r = BENCH("add", "1K", "--backend", "worker:cpu_scalar", QUICK);
    EXPECT_OUT(r, 0, "\nworker:cpu_scalar ");
    r = BENCH("add", "1K", "--backend", "cpu_scalar", QUICK);
    EXPECT_OUT(r, 0, "add f:ff, ... = 1024", "\ncpu_scalar ", "calls/s in ");
}

/* A terminal shows the current measurement; the line is erased before the table is printed. */
static void shows_progress(const char *line, const char *const *args)
{
    const tool_setup setup = {.terminal = 1};
    tool_result r = tool_run("backend-bench", args, &setup);
    EXPECT_ERR(r, 0, line);
    assert_string_equal(r.err + strlen(r.err) - 4, "\r\033[K");
}

TEST(progress)
{
    static const char *const add[] = {"add", "1K", "--backend", "cpu_scalar", QUICK, NULL};
    static const char *const dispatch[] = {"dispatch", "--backend", "cpu_scalar", QUICK, NULL};
    static const char *const bandwidth[] = {"bandwidth", "1K", QUICK, NULL};
    shows_progress("\radd f:ff: inputs\033[K\radd f:ff: cpu_scalar\033[K", add);
    shows_progress("\radd f:ff: cpu_scalar, round 10 of 10\033[K", add);
    shows_progress("\rdispatch: cpu_scalar\033[K", dispatch);
    shows_progress("\rbandwidth: copy\033[K", bandwidth);
}

/* Without a terminal, each step is printed as a line, at most one line every half second. */
TEST(progress_in_a_pipe)
{
    static const char first[] = "backend-bench: add f:ff: inputs\n";
    tool_result quick = BENCH("add", "64", "--backend", "cpu_scalar", QUICK);
    tool_result slow = BENCH("add", "64", "--backend", "cpu_scalar", "--seconds", "2.5");
    tool_expect(&quick, 0);
    tool_expect(&slow, 0);
    assert_string_equal(quick.err, first);
    assert_memory_equal(slow.err, first, sizeof first - 1);
    assert_contains(slow.err, "backend-bench: add f:ff: cpu_scalar, round 10 of 10\n");
    assert_null(strchr(slow.err, '\r'));
}

/* ---- Dispatch and bandwidth -------------------------------------------------------------- */

TEST(test_dispatch)
{
    tool_result r = BENCH("dispatch", "--backend", "cpu_scalar", "--json", QUICK);
    OWNED(cJSON) *root = parsed(&r, 0);
    const cJSON *row = result_of(root, 0);
    check_times(member(row, "routed_seconds"));
    check_times(member(row, "direct_seconds"));
    assert_near(number_of(row, "overhead_ns"),
                1e9 * (number_of(member(row, "routed_seconds"), "median") -
                       number_of(member(row, "direct_seconds"), "median")),
                1e-6);
    assert_int_equal((int)number_of(row, "counted_calls"), 1000000);
    assert_int_equal((int)number_of(row, "allocations"), 0);
}

TEST(test_bandwidth)
{
    static const char *const kinds[] = {"read", "write", "copy"};
    tool_result r = BENCH("bandwidth", "1M", "--json", QUICK);
    cJSON *root = parsed(&r, 0);
    assert_int_equal((int)number_of(root, "buffer_bytes"), 1 << 20);
    for (int i = 0; i < 3; i++) {
        const cJSON *row = result_of(root, i), *tried;
        assert_string_equal(text_of(row, "kind"), kinds[i]);
        check_times(member(row, "call_seconds"));
        assert_int_equal((int)number_of(row, "bytes"), (i == 2 ? 2 : 1) << 20);
        cJSON_ArrayForEach(tried, member(root, "tried"))
        {
            if (!strcmp(text_of(tried, "kind"), kinds[i]))
                assert_true(number_of(tried, "gb_per_s") <= number_of(row, "gb_per_s"));
        }
    }
    cJSON_Delete(root);
    /* `bandwidth` needs no backend. */
    r = BENCH_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_NOTHING, "bandwidth", "1M", QUICK);
    tool_expect(&r, 0);
}

/* ---- Refusals ---------------------------------------------------------------------------- */

TEST(usage)
{
    tool_result help = BENCH("-h");
    EXPECT_OUT(help, 0, "--list");
    refused(BENCH("observabels"), 2, "the nearest is observables");
    refused(BENCH("observabels", "--json"), 2, "the nearest is observables");
    refused(BENCH("dispatch", "--backend", "auto"), 2, "not the name of one backend");
    refused(BENCH("dispatch", "--backend", "worker:cpu_scalar"), 1,
            "would measure its queue; measure it by `backend-bench add 1 --backend "
            "worker:cpu_scalar`");
    refused(BENCH("add", "--backend", "cpu_scalra"), 2, "did you mean 'cpu_scalar'");
    refused(BENCH("add", "10x"), 2, "'10x' is not a shape");
    refused(BENCH("add", "4611686018427387904x4"), 2, "is not a shape");
    refused(BENCH("com", "10"), 2, "the shape is F,N");
    refused(BENCH("matmul", "10x20"), 2, "the shape is ...,M,K,N");
    refused(BENCH("add", "1x1x1x1x1x1x1x1x1"), 2, "at most 8 axes");
    refused(BENCH("exp", "10", "--dtype", "i8"), 2, "(outputs:inputs, letters");
    refused(BENCH("add", "10", "--dtype", "f32,f23"), 2, "'f23'");
    refused(BENCH("sum", "10x10", "--axis", "2"), 2, "--axis");
    refused(BENCH("add", "--seconds", "0"), 2, "--seconds");
    refused(BENCH("add", "--threads", "none"), 2, "--threads");
    refused(BENCH("add", "--setting", "nosuch=1"), 2, "unknown setting 'nosuch'");
    refused(BENCH("add", "--backend", "cpu_scalar,"), 2, "empty");
    refused(BENCH("add", "10", "20"), 2, "only one measurement");
    refused(BENCH("bandwidth", "10x10"), 2, "a number of bytes");
    refused(BENCH("--json"), 2, "name a command that --help lists");
    refused(BENCH("add", "--busy", "0"), 2, "--busy");
    refused(BENCH("add", "--busy", "65"), 2, "at most 64");
    refused(BENCH("bandwidth", "--backend", "cuda"), 2, "--backend is not an option of bandwidth");
    refused(BENCH("bandwidth", "--dtype", "f64"), 2, "--dtype is not an option of bandwidth");
    refused(BENCH("bandwidth", "--axis", "0"), 2, "--axis is not an option of bandwidth");
    refused(BENCH("bandwidth", "--steal"), 2, "--steal is not an option of bandwidth");
    refused(BENCH("dispatch", "--busy", "1"), 2, "--busy is not an option of dispatch");
    refused(BENCH("dispatch", "--dtype", "f64"), 2, "--dtype is not an option of dispatch");
    refused(BENCH("dispatch", "1000"), 2, "--shape is not an option of dispatch");
    refused(BENCH("calibrate", "--steal"), 2, "--steal is not an option of calibrate");
    refused(BENCH("add", "--check"), 2, "--check is not an option of add");
    refused(BENCH("--list", "--backend", "cpu_scalar"), 2, "--backend is not an option of --list");
    refused(BENCH("--list", "add"), 2, "--list lists all ops: leave 'add' out");
}

/* ---- Busy processes ---------------------------------------------------------------------- */

TEST(test_busy)
{
    tool_result json =
        BENCH("exp", "64K", "--backend", "cpu_scalar", "--seconds", "0.2", "--busy", "3", "--json");
    cJSON *root = parsed(&json, 0);
    const cJSON *row = result_of(root, 0), *busy = member(row, "busy");
    double share = number_of(busy, "share"), threads = number_of(busy, "threads");
    double median = number_of(member(row, "call_seconds"), "median");
    assert_true(number_of(busy, "processes") == 3);
    check_times(member(busy, "call_seconds"));
    assert_true(threads > 0 && threads < 1.5 && share > 0 && share <= 1);
    assert_near(number_of(busy, "fair_seconds"), median / share, 1e-9 * median);
    assert_true(number_of(busy, "stolen") >= 0 && number_of(row, "stolen") <= 1);
    cJSON_Delete(root);

    tool_result r = BENCH("exp", "64K", "--backend", "cpu_scalar", QUICK, "--busy", "1", "--steal");
    assert_int_equal(0, r.status);
    assert_contains(r.out, "with 1 busy", "fair time", "stolen");
}

TEST(failures)
{
    static const char bad[] = "COLLET_PLUGIN_PATH=" COLLET_TEST_ZOO "/zoo_crash_entry.so";
    refused(BENCH_WITH(bad, "add", "10", "--backend", "zoo_crash_entry"), 77, "cannot be used");
    refused(BENCH_WITH("COLLET_PLUGIN_PATH=" COLLET_TEST_NOTHING, "add", "10"), 77,
            "no plugin was found");
    refused(BENCH("add", "10", "--dtype", "d:ff", "--backend", "cpu_scalar"), 2,
            "no signature for 'd:ff'");
    refused(BENCH("add", "10", "--dtype", "float32x", "--backend", "cpu_scalar"), 2,
            "no signature for 'float32x'");
    tool_result numpy =
        BENCH("fft", "10", "--dtype", "complex64", "--backend", "cpu_scalar", "--seconds", "0.01");
    EXPECT_OUT(numpy, 0, "c:c");
    refused(BENCH("add", "1024Gx1024", "--backend", "cpu_scalar"), 1, "out of host memory");
}
