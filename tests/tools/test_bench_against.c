/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench against: libraries that are correct, wrong, crash or are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json_expect.h"
#include "tool_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BENCH(...) TOOL("backend-bench", __VA_ARGS__)
#define SMALL                                                                                      \
    "--shape", "23x24x25", "--backend", "cpu_scalar", "--seconds", "0.01", "--threads", "1"

/* COLLET_TEST_REFERENCES contains a stand-in for BLIS, COLLET_TEST_NO_REFERENCES invalid files for
 * all libraries. */
static void set_libraries(void *user)
{
    static char references[] = "LD_LIBRARY_PATH=" COLLET_TEST_REFERENCES;
    static char none[] = "LD_LIBRARY_PATH=" COLLET_TEST_NO_REFERENCES;
    char *how = user;
    putenv(strcmp(how, "FAKE_BLIS=absent") ? references : none);
    putenv(how);
}

static cJSON *compared(const char *how, const char *op, int status)
{
    const char *const args[] = {"against", op, SMALL, "--dtype", "f32", "--json", NULL};
    const tool_setup setup = {.prepare = set_libraries, .user = (void *)(uintptr_t)how};
    tool_result r = tool_run("backend-bench", args, &setup);
    return parsed(&r, status);
}

static const cJSON *first_result(const cJSON *root)
{
    assert_int_equal(cJSON_GetArraySize(member(root, "results")), 1);
    return cJSON_GetArrayItem(member(root, "results"), 0);
}

static const cJSON *blis_of(const cJSON *result)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, member(result, "libraries"))
    {
        if (!strcmp(text_of(row, "library"), "blis"))
            return row;
    }
    fail_msg("blis is not reported");
    return NULL;
}

static void test_a_library_is_measured(void **state)
{
    cJSON *root = compared("FAKE_BLIS=right", "matmul", 0);
    const cJSON *result = first_result(root), *blis = blis_of(result);
    double own = number_of(member(result, "call_seconds"), "median"), ratio;
    (void)state;
    assert_string_equal(text_of(result, "status"), "COLLET_OK");
    assert_string_equal(text_of(result, "backend"), "cpu_scalar");
    assert_string_equal(text_of(result, "signature"), "f:ff");
    if (strcmp(text_of(blis, "state"), "measured") && strcmp(text_of(blis, "state"), "slower"))
        fail_msg("%s: %s", text_of(blis, "state"), text_of(blis, "text"));
    assert_contains(text_of(blis, "text"), "of a test");
    assert_contains(text_of(blis, "text"), "seven");
    ratio = number_of(member(blis, "call_seconds"), "median") / own;
    assert_true(fabs(number_of(blis, "ratio") / ratio - 1) < 1e-6);
    assert_true(number_of(member(result, "best"), "ratio_fastest") > 0);
    cJSON_Delete(root);
}

static void test_different_results_are_not_compared(void **state)
{
    cJSON *root = compared("FAKE_BLIS=wrong", "matmul", 0);
    const cJSON *blis = blis_of(first_result(root));
    (void)state;
    assert_string_equal(text_of(blis, "state"), "failed");
    assert_contains(text_of(blis, "text"), "its result differs");
    assert_null(cJSON_GetObjectItemCaseSensitive(blis, "ratio"));
    assert_string_not_equal(text_of(member(first_result(root), "best"), "library"), "blis");
    cJSON_Delete(root);
}

static void test_a_crash_is_reported(void **state)
{
    cJSON *root = compared("FAKE_BLIS=crash", "matmul", 0);
    const cJSON *blis = blis_of(first_result(root));
    (void)state;
    assert_string_equal(text_of(blis, "state"), "failed");
    assert_contains(text_of(blis, "text"), "signal 6");
    cJSON_Delete(root);
}

static void test_absent_libraries_are_reported(void **state)
{
    cJSON *root = compared("FAKE_BLIS=absent", "matmul", 1);
    const cJSON *result = first_result(root), *row;
    (void)state;
    assert_true(cJSON_IsNull(member(result, "best")));
    assert_true(cJSON_GetArraySize(member(result, "libraries")) >= 3);
    cJSON_ArrayForEach(row, member(result, "libraries"))
    {
        assert_string_equal(text_of(row, "state"), "absent");
        assert_contains(text_of(row, "text"), COLLET_TEST_NO_REFERENCES);
    }
    cJSON_Delete(root);
}

/* With the prefix of PyPI's builds; the stand-in has the kernels that it is told to have. */
static void test_more_builds_of_openblas(void **state)
{
    const char *const args[] = {
        "against", "matmul", SMALL,        "--dtype",
        "f32",     "--json", "--openblas", COLLET_TEST_BUILD "," COLLET_TEST_NOTHING "/libopenblas.so",
        NULL};
    const tool_setup setup = {.prepare = set_libraries,
                              .user = (void *)(uintptr_t) "FAKE_BLIS=absent"};
    tool_result r = tool_run("backend-bench", args, &setup);
    cJSON *root = parsed(&r, 0);
    const cJSON *row;
    int32_t measured = 0, absent = 0;
    (void)state;
    cJSON_ArrayForEach(row, member(first_result(root), "libraries"))
    {
        const cJSON *file = member(row, "file"), *setting = member(row, "setting");
        if (cJSON_IsNull(file))
            continue;
        assert_string_equal(text_of(row, "library"), "openblas");
        if (strcmp(file->valuestring, COLLET_TEST_BUILD) != 0) {
            assert_string_equal(text_of(row, "state"), "absent");
            assert_contains(text_of(row, "text"), COLLET_TEST_NOTHING "/libopenblas.so");
            absent++;
        } else {
            assert_true(number_of(row, "ratio") > 0);
            assert_contains(text_of(row, "text"),
                            cJSON_IsNull(setting) ? "core Prescott" : setting->valuestring);
            measured++;
        }
    }
    assert_true(measured > 0 && absent == measured);
    cJSON_Delete(root);
}

/* Collet's level is a limit for the libraries, too. */
static void test_the_level_limits_libraries(void **state)
{
    const cJSON *row;
    int32_t nehalem = 0;
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    assert_int_equal(setenv("COLLET_ISA", "v2", 1), 0);
    cJSON *root = compared("FAKE_BLIS=absent", "matmul", 1);
    assert_int_equal(unsetenv("COLLET_ISA"), 0);
    cJSON_ArrayForEach(row, member(first_result(root), "libraries"))
    {
        const char *setting = text_of(row, "setting");
        assert_true(!strcmp(setting, "Nehalem") || !strcmp(setting, "SSE41"));
        nehalem += !strcmp(setting, "Nehalem");
    }
    assert_int_equal(nehalem, 1);
    cJSON_Delete(root);
}

static cJSON *fft_compared(const char *threads)
{
    const char *const args[] = {"against",   "fft",        "--shape",   "64",
                                "--backend", "cpu_scalar", "--threads", threads,
                                "--seconds", "0.01",       "--json",    NULL};
    const tool_setup setup = {.prepare = set_libraries,
                              .user = (void *)(uintptr_t) "FAKE_BLIS=absent"};
    tool_result r = tool_run("backend-bench", args, &setup);
    return parsed(&r, 1);
}

/* Threads can cost more than they gain: with several threads a library is also measured with one.
 */
static void test_fft_is_compared_with_one_thread_too(void **state)
{
    static const char *const threads[] = {"1", "2"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        cJSON *root = fft_compared(threads[i]);
        const cJSON *result = cJSON_GetArrayItem(member(root, "results"), 0);
        const cJSON *list = member(result, "libraries");
        int several = number_of(member(root, "host"), "threads") > 1;
        assert_int_equal(cJSON_GetArraySize(list), several ? 2 : 1);
        assert_true(cJSON_IsNull(member(cJSON_GetArrayItem(list, 0), "setting")));
        if (several)
            assert_string_equal(text_of(cJSON_GetArrayItem(list, 1), "setting"), "1 thread");
        cJSON_Delete(root);
    }
}

static void test_a_shape_is_measured_once_a_type(void **state)
{
    cJSON *root = fft_compared("1");
    (void)state;
    assert_int_equal(cJSON_GetArraySize(member(root, "results")), 2);
    cJSON_Delete(root);
}

static void refused(tool_result result, const char *text)
{
    tool_expect(&result, 2);
    assert_contains(result.err, text);
    tool_free(&result);
}

static void test_the_command_line(void **state)
{
    (void)state;
    refused(BENCH("against", "nonesuch"), "it does not compare the op 'nonesuch'");
    refused(BENCH("against", "fill"), "it does not compare the op 'fill'");
    refused(BENCH("against", "--shape", "8x8x8"), "needs exactly one op");
    refused(BENCH("against", "matmul", "lu", "--shape", "8x8x8"), "needs exactly one op");
    refused(BENCH("against", "matmul", "--shape", "8x"), "is no shape");
    refused(BENCH("against", "matmul", "--dtype", "f33"), "f33");
}

static void test_text(void **state)
{
    const char *const args[] = {"against", "matmul", SMALL, "--dtype", "f32", NULL};
    const tool_setup setup = {.prepare = set_libraries,
                              .user = (void *)(uintptr_t) "FAKE_BLIS=right"};
    tool_result r = tool_run("backend-bench", args, &setup);
    (void)state;
    tool_expect(&r, 0);
    assert_contains(r.out, "matmul f:ff 23x24x25");
    assert_contains(r.out, "of a test");
    assert_contains(r.out, "is the fastest library; Collet has");
    /* No terminal: the first step, then now and then a line. */
    assert_contains(r.err, "backend-bench: matmul f:ff, round 1 of 8: Collet\n");
    tool_free(&r);
}

/* LAPACK of the system's OpenBLAS computes the same; skipped where there is none. */
static void test_decompositions(void **state)
{
    static const char *const cases[][2] = {{"cholesky", "16"}, {"eigh", "16"},    {"lu", "14x14"},
                                           {"qr", "18x12"},    {"solve", "14x3"}, {"svd", "18x12"}};
    int measured = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cJSON *row;
        tool_result r =
            BENCH("against", cases[i][0], "--shape", cases[i][1], "--backend", "cpu_scalar",
                  "--seconds", "0.01", "--threads", "1", "--dtype", "f64", "--json");
        cJSON *root = parsed(&r, r.status);
        cJSON_ArrayForEach(row, member(first_result(root), "libraries"))
        {
            if (!strcmp(text_of(row, "state"), "failed"))
                fail_msg("%s: %s", cases[i][0], text_of(row, "text"));
            measured += !strcmp(text_of(row, "state"), "measured");
        }
        cJSON_Delete(root);
    }
    if (!measured)
        skip();
}

/* A terminal shows the current measurement; the line is erased at the end. */
static void test_progress(void **state)
{
    const char *const args[] = {"against", "matmul", SMALL, "--dtype", "f32", NULL};
    const tool_setup setup = {
        .prepare = set_libraries, .user = (void *)(uintptr_t) "FAKE_BLIS=right", .terminal = 1};
    tool_result r = tool_run("backend-bench", args, &setup);
    (void)state;
    tool_expect(&r, 0);
    assert_contains(r.err, "matmul f:ff, round 1 of 8: Collet\033[K");
    assert_contains(r.err, "round 1 of 8: blis");
    assert_contains(r.err, "round 8 of 8: Collet");
    assert_string_equal(r.err + strlen(r.err) - 4, "\r\033[K");
    tool_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_library_is_measured),
        cmocka_unit_test(test_different_results_are_not_compared),
        cmocka_unit_test(test_a_crash_is_reported),
        cmocka_unit_test(test_absent_libraries_are_reported),
        cmocka_unit_test(test_more_builds_of_openblas),
        cmocka_unit_test(test_the_level_limits_libraries),
        cmocka_unit_test(test_fft_is_compared_with_one_thread_too),
        cmocka_unit_test(test_a_shape_is_measured_once_a_type),
        cmocka_unit_test(test_the_command_line),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_decompositions),
        cmocka_unit_test(test_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
