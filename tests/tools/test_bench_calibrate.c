/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench calibrate on a fake device and cpu_scalar; figures are not checked. */
#include <signal.h>

#include "common/count_files.h"
#include "json_expect.h"

#include <sys/stat.h>

#define PLUGINS COLLET_TEST_REMOTE "/remote.so:" COLLET_TEST_PLUGINS "/cpu_scalar.so"
#define CALIBRATE(...) TOOL("backend-bench", "calibrate", __VA_ARGS__)

static char cache[] = "/tmp/collet-calibrate-XXXXXX";

static int set_up(void **state)
{
    return !mkdtemp(cache) || setenv("COLLET_CACHE_DIR", cache, 1) ||
           setenv("COLLET_PLUGIN_PATH", PLUGINS, 1) || setenv("COLLET_PROBE", "on", 1) ||
           setenv("COLLET_CALIBRATION", "on", 1) || setenv("COLLET_MEASURE", "on", 1);
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", cache);
    return system(command);
}

static void refused(tool_result r, const char *text)
{
    EXPECT_ERR(r, 2, text);
}

TEST(wrong_command_lines)
{
    refused(CALIBRATE("nosuch"), "there is no backend and no op 'nosuch'");
    refused(CALIBRATE("matmul", "observables/forces"), "no op 'observables/forces'");
    refused(CALIBRATE("--dtype", "f32,i32"), "'i32' is none of f32 and f64");
    refused(CALIBRATE("--check", "--dtype", "c64"), "'c64' is none of f32, i32, i64 and f64");
    refused(CALIBRATE("--check", "--dry-run"), "--check keeps nothing, so it excludes --dry-run");
    refused(CALIBRATE("--shape", "64"), "--shape is not an option of calibrate");
    refused(CALIBRATE("remote:1"), "name backends, without devices");
    refused(TOOL("backend-bench", "dispatch", "--dry-run"),
            "--dry-run is not an option of dispatch");
    assert_int_equal(count_files(cache, "calibration-"), 0);
}

/* If the result cannot be written, the tool reports this before it measures for a minute. */
TEST(a_cache_that_is_switched_off)
{
    assert_int_equal(setenv("COLLET_CACHE", "off", 1), 0);
    tool_result r = CALIBRATE("--seconds", "600");
    assert_int_equal(unsetenv("COLLET_CACHE"), 0);
    EXPECT_ERR(r, 1, "cannot be kept: there is no directory of the cache");
    assert_string_equal(r.out, "");
}

TEST(dry_runs_keep_nothing)
{
    tool_result r = CALIBRATE("--dry-run", "--seconds", "0.0001");
    tool_expect(&r, 0);
    assert_null(strstr(r.err, ", -"));
    r = CALIBRATE("--dry-run", "--seconds", "0.3");
    EXPECT_OUT(r, 0, "go to other backends than before");
    assert_contains(r.err, "the time was enough for ");
    assert_int_equal(count_files(cache, "calibration-"), 0);
}

TEST(says_that_it_is_not_used)
{
    assert_int_equal(setenv("COLLET_MEASURE", "off", 1), 0);
    tool_result r = CALIBRATE("cpu_scalar", "--seconds", "0.1");
    assert_int_equal(setenv("COLLET_MEASURE", "on", 1), 0);
    EXPECT_ERR(r, 0, "the setting measure is off: the calibration is not used");
}

static const cJSON *calibration_of(const cJSON *root, const char *backend)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, member(root, "results")) if (!strcmp(text_of(row, "backend"), backend))
    {
        assert_contains(text_of(row, "path"), cache);
        return member(row, "calibration");
    }
    fail_msg("%s is not in the report", backend);
    return NULL;
}

TEST(keeps_what_it_measured)
{
    tool_result r = CALIBRATE("--seconds", "0.5", "--json");
    OWNED(cJSON) *root = parsed(&r, 0);
    const cJSON *remote = calibration_of(root, "remote"),
                *scalar = calibration_of(root, "cpu_scalar");
    assert_true(number_of(member(remote, "transfer"), "to_device") > 1e6);
    assert_true(number_of(member(remote, "transfer"), "latency") > 0);
    assert_null(cJSON_GetObjectItem(scalar, "transfer"));
    const cJSON *points = member(member(scalar, "times"), "matmul f32"), *point;
    double before = 0; /* spikes are removed */
    cJSON_ArrayForEach(point, points)
    {
        assert_true(cJSON_GetArrayItem(point, 1)->valuedouble >= before);
        before = cJSON_GetArrayItem(point, 1)->valuedouble;
    }
    assert_true(cJSON_GetArraySize(points) > 1);
    member(scalar, "made");
    cJSON_Delete(root);
    assert_int_equal(count_files(cache, "calibration-"), 2);
    /* A second run, for one backend, keeps the results that it does not measure again. */
    r = CALIBRATE("cpu_scalar", "--seconds", "0.1", "--json");
    root = parsed(&r, 0);
    assert_true(cJSON_GetArraySize(member(root, "results")) == 1);
    member(member(calibration_of(root, "cpu_scalar"), "times"), "matmul f32");
    cJSON_Delete(root);
    r = TOOL("backend-info", "--json");
    root = parsed(&r, 0);
    const cJSON *row;
    cJSON_ArrayForEach(row, member(root, "backends"))
        assert_contains(text_of(row, "calibration"), cache);
}

/* The report contains the measurements even if the calibration file cannot be replaced at the end. */
TEST(reports_what_it_cannot_keep)
{
    char path[256];
    tool_result r = CALIBRATE("cpu_scalar", "--seconds", "0.1", "--json");
    OWNED(cJSON) *root = parsed(&r, 0);
    snprintf(path, sizeof path, "%s",
             text_of(cJSON_GetArrayItem(member(root, "results"), 0), "path"));
    cJSON_Delete(root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    r = CALIBRATE("cpu_scalar", "--seconds", "0.1", "--json");
    assert_int_equal(rmdir(path), 0);
    assert_contains(r.err, "cannot write ", "Is a directory");
    root = parsed(&r, 1);
    const cJSON *row = cJSON_GetArrayItem(member(root, "results"), 0);
    assert_string_equal(text_of(row, "path"), "");
    member(member(member(row, "calibration"), "times"), "matmul f32");
}

/* If only the second backend of auto's order was measured, auto still chooses the first. */
TEST(one_calibration_alone_changes_nothing)
{
    char other[] = "/tmp/collet-calibrate-XXXXXX", command[64];
    assert_non_null(mkdtemp(other));
    setenv("COLLET_CACHE_DIR", other, 1);
    tool_result r = CALIBRATE("remote", "copy", "--dtype", "f32", "--seconds", "0.3");
    EXPECT_OUT(r, 0, "0 of 1 ops and dtypes go to other backends than before");
    r = CALIBRATE("copy", "--dtype", "f32", "--dry-run", "--seconds", "0.3");
    EXPECT_OUT(r, 0, "0 of 1 ops and dtypes go to other backends than before");
    setenv("COLLET_CACHE_DIR", cache, 1);
    snprintf(command, sizeof command, "rm -r %s", other);
    assert_int_equal(system(command), 0);
}

static const cJSON *times_of(const cJSON *root)
{
    return member(member(cJSON_GetArrayItem(member(root, "results"), 0), "calibration"), "times");
}

TEST(measures_what_is_named)
{
    tool_result r = CALIBRATE("exp", "cpu_scalar", "sum", "--dtype", "f64", "--dry-run", "--json",
                              "--seconds", "4"); /* long enough to reach `sum` on a busy machine */
    cJSON *root = parsed(&r, 0);
    assert_int_equal(cJSON_GetArraySize(member(root, "results")), 1);
    assert_true(cJSON_GetArraySize(member(times_of(root), "exp f64")) > 1);
    assert_true(cJSON_GetArraySize(member(times_of(root), "sum f64")) > 1);
    /* The other times are from an earlier calibration and are kept. */
    const cJSON *item;
    cJSON_ArrayForEach(item, times_of(root))
        assert_true(!strcmp(item->string, "exp f64") || !strcmp(item->string, "sum f64") ||
                    strncmp(item->string, "exp", 3) != 0);
    cJSON_Delete(root);
}

TEST(measures_ways)
{
    setenv("COLLET_PLUGIN_PATH", COLLET_TEST_PLUGINS "/cpu_openmp.so", 1);
    tool_result r = CALIBRATE("--dry-run", "--seconds", "3", "--json", "matmul");
    setenv("COLLET_PLUGIN_PATH", PLUGINS, 1);
    OWNED(cJSON) *root = parsed(&r, 0);
    const cJSON *row = cJSON_GetArrayItem(member(root, "results"), 0);
    const char *text = text_of(member(row, "calibration"), "calibrated");
    /* Without a library there is nothing to compare. */
    assert_true(!*text || !strncmp(text, "f32/240:own=", 12));
    /* oneDNN has no f64 product: its column must not repeat the rate of OpenBLAS. */
    const char *f64 = strstr(text, " f64/240:own="), *onednn = f64 ? strstr(f64, "onednn") : NULL;
    assert_true(!onednn || onednn > f64 + strcspn(f64 + 1, " "));
    /* Products of other dtypes are measured before smaller products of f32. */
    assert_true(!strstr(text, " f32/64:own=") || strstr(text, " c64/256:own="));
    member(root, "cores");
}

/* Calibrates the opencl backend with a stand-in for CLBlast and returns the report. *text: the report's "calibrated";
 * *path: the file's path. Skips the test without a device. */
static cJSON *opencl_report(const char **path, const char **text)
{
    tool_result r = CALIBRATE("matmul", "--seconds", "0.5", "--json");
    if (r.status == 1 && strstr(r.err, "no backend can be used: opencl")) {
        print_message("no OpenCL device: %s\n", r.err);
        skip();
    }
    cJSON *root = parsed(&r, 0);
    const cJSON *row = cJSON_GetArrayItem(member(root, "results"), 0);
    *path = text_of(row, "path");
    *text = text_of(member(row, "calibration"), "calibrated");
    return root;
}

/* Compares Collet's kernels with a library on a device. Rates measured before at other sides are kept. */
TEST(measures_ways_of_a_device)
{
    char config[64];
    static char document[65536];
    const char *path, *text, *before = getenv("COLLET_CONFIG");
    FREED(char) *kept = strdup(before ? before : "");
    snprintf(config, sizeof config, "%s/collet.conf", cache);
    FILE *f = fopen(config, "w");
    assert_non_null(f);
    fprintf(f, "opencl.clblast = %s/libfake_clblast_plain.so\n", COLLET_TEST_LIBRARIES);
    fclose(f);
    setenv("COLLET_CONFIG", config, 1);
    setenv("COLLET_PLUGIN_PATH", COLLET_TEST_PLUGINS "/opencl.so", 1);
    cJSON *root = opencl_report(&path, &text);
    assert_int_equal(strncmp(text, "f32/240:own=", 12), 0);
    assert_contains(text, ",clblast=");
    assert_null(strstr(text, "-page"));
    const cJSON *change;
    cJSON_ArrayForEach(change, member(root, "changes"))
    {
        assert_string_not_equal(text_of(change, "before"), "");
        assert_string_not_equal(text_of(change, "before"), text_of(change, "now"));
    }
    f = fopen(path, "r+");
    assert_non_null(f);
    document[fread(document, 1, sizeof document - 1, f)] = '\0';
    char *side = strstr(document, "f32/240");
    assert_non_null(side);
    memcpy(side, "f32/999", 7);
    rewind(f);
    fputs(document, f);
    fclose(f);
    cJSON_Delete(root);
    root = opencl_report(&path, &text);
    assert_contains(text, "f32/240:own=", " f32/999:own=");
    cJSON_Delete(root);
    setenv("COLLET_PLUGIN_PATH", PLUGINS, 1);
    setenv("COLLET_CONFIG", kept, 1);
}

TEST(checks_auto)
{
    tool_result r = CALIBRATE("--check", "--seconds", "0.2", "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *row = cJSON_GetArrayItem(member(root, "results"), 0);
    assert_true(number_of(root, "geometric_mean") >= 1);
    assert_true(number_of(row, "ratio") >= 1);
    assert_true(cJSON_GetArraySize(member(root, "results")) == (int)number_of(root, "calls"));
    /* The most frequently used ops come first. */
    assert_int_equal(strncmp(text_of(row, "call"), "matmul ", 7), 0);
    assert_true(number_of(root, "ops_reached") < number_of(root, "ops_possible"));
    cJSON_Delete(root);
    r = CALIBRATE("--check", "--seconds", "0.2");
    EXPECT_OUT(r, 0, " times as long as the best one (geometric mean of ");
}

static void interrupt(pid_t program)
{
    usleep(300000);
    kill(program, SIGINT);
}

/* An interrupted run leaves the earlier files unchanged, and leaves no new files. */
TEST(interrupted)
{
    const tool_setup setup = {.meanwhile = interrupt};
    int before = count_files(cache, "calibration-");
    tool_result r = tool_run("backend-bench",
                             (const char *const[]){"calibrate", "--seconds", "30", NULL}, &setup);
    assert_int_equal(r.status, 128 + SIGINT);
    assert_int_equal(count_files(cache, "calibration-"), before);
}

TEST_GROUP(set_up, tear_down)
