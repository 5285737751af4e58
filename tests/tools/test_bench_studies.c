/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench compare, sweep, roofline and trajectory, --csv and --against; figures are not
 * checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json_expect.h"
#include "tool_run.h"

#include "bench/studies/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUICK "--seconds", "0.02", "--backend", "cpu_scalar,cpu_openmp"
#define BENCH(...) TOOL("backend-bench", __VA_ARGS__)

static char path[] = "/tmp/collet-bench-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void refused(tool_result result, int status, const char *text)
{
    tool_expect(&result, status);
    assert_string_equal(result.out, "");
    assert_contains(result.err, text);
    tool_free(&result);
}

/* Writes the report with its times multiplied. */
static void write_report(const cJSON *report, double factor)
{
    static const char *const times[] = {"median", "low", "high"};
    cJSON *copy = cJSON_Duplicate(report, 1), *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(copy, "results")) for (size_t i = 0; i < 3; i++)
        cJSON_GetObjectItem(row, times[i])
            ->valuedouble *= factor;
    char *text = cJSON_Print(copy);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(text);
    cJSON_Delete(copy);
}

/* ---- Commands ---------------------------------------------------------------------------- */

static void compares(void **state)
{
    tool_result r = BENCH("compare", "add", "1000", QUICK, "--dtype", "f32,f64", "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *row;
    int rows = 0;
    (void)state;
    cJSON_ArrayForEach(row, member(root, "results"))
    {
        assert_string_equal(text_of(row, "backend"), rows % 2 ? "cpu_openmp" : "cpu_scalar");
        assert_string_equal(text_of(row, "signature"), rows < 2 ? "f:ff" : "d:dd");
        assert_string_equal(text_of(row, "shape"), "1000");
        assert_true(number_of(row, "min") <= number_of(row, "median"));
        assert_true(number_of(row, "median") <= number_of(row, "p95"));
        assert_true(number_of(row, "p95") <= number_of(row, "p99"));
        assert_true(number_of(row, "p99") <= number_of(row, "max"));
        assert_true(number_of(row, "low") <= number_of(row, "high"));
        assert_true(fabs(number_of(row, "calls_per_second") * number_of(row, "median") - 1) < 1e-6);
        assert_true(number_of(row, "peak_bytes") > 1 << 20);
        assert_true(rows % 2 || number_of(row, "speedup") == 1);
        rows++;
    }
    assert_int_equal(rows, 4);
    cJSON_Delete(root);
}

static void prints_csv(void **state)
{
    tool_result r = BENCH("compare", "add", "1000", QUICK, "--csv");
    int commas[4] = {0}, line = 0;
    (void)state;
    tool_expect(&r, 0);
    assert_int_equal(strncmp(r.out, "backend,op,signature,shape,median,", 34), 0);
    assert_contains(r.out, "\r\ncpu_openmp,add,f:ff,1000,");
    for (const char *c = r.out; *c && line < 4; c++) {
        commas[line] += *c == ',';
        line += *c == '\n';
    }
    assert_int_equal(line, 3);
    assert_int_equal(commas[0], 18);
    assert_int_equal(commas[1], 18);
    assert_int_equal(commas[2], 18);
    tool_free(&r);
}

static void finds_regressions(void **state)
{
    (void)state;
    tool_result r = BENCH("compare", "add", "1000", QUICK, "--json");
    cJSON *root = parsed(&r, 0);
    write_report(root, 0.001);
    r = BENCH("compare", "add", "1000", QUICK, "--json", "--against", path);
    assert_contains(r.err, "2 rows are slower than in ");
    cJSON *again = parsed(&r, 1);
    const cJSON *row = cJSON_GetArrayItem(member(again, "results"), 1);
    assert_string_equal(text_of(row, "verdict"), "slower");
    assert_true(number_of(row, "change") > 100);
    cJSON_Delete(again);
    write_report(root, 1000);
    r = BENCH("compare", "add", "1000", QUICK, "--against", path);
    tool_expect(&r, 0);
    assert_contains(r.out, "faster");
    tool_free(&r);
    r = BENCH("compare", "add", "999", QUICK, "--against", path);
    tool_expect(&r, 0);
    assert_contains(r.out, "new");
    tool_free(&r);
    refused(BENCH("sweep", "add", "1000", QUICK, "--against", path), 2,
            "it is not a report of 'backend-bench sweep --json'");
    refused(BENCH("compare", "add", QUICK, "--against", "/nowhere/x"), 1,
            "--against /nowhere/x: No such file");
    cJSON_Delete(root);
}

static void sweeps(void **state)
{
    tool_result r = BENCH("sweep", "matmul", "16x32x16", QUICK, "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *row;
    double size = 0;
    int rows = 0, fastest = 0;
    (void)state;
    cJSON_ArrayForEach(row, member(root, "results"))
    {
        assert_true(number_of(row, "size") >= size);
        size = number_of(row, "size");
        fastest += number_of(row, "to_fastest") == 1;
        rows++;
    }
    assert_int_equal((int)size, 16 * 32 * 16);
    assert_true(rows >= 8);
    assert_int_equal(rows, 2 * fastest);
    assert_true(cJSON_IsArray(member(root, "crossovers")));
    cJSON_Delete(root);
}

static void rooflines(void **state)
{
    tool_result r = BENCH("roofline", "add", "matmul", "--shape", "64x64x64", "--seconds", "0.01",
                          "--backend", "cpu_openmp", "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *add = cJSON_GetArrayItem(member(root, "results"), 0);
    const cJSON *matmul = cJSON_GetArrayItem(member(root, "results"), 1);
    const cJSON *roofs = cJSON_GetArrayItem(member(root, "roofs"), 0);
    (void)state;
    double bandwidth = number_of(roofs, "gb_per_s"), peak = number_of(roofs, "gflop_per_s");
    assert_true(cJSON_IsNull(member(add, "intensity")));
    assert_string_equal(text_of(add, "bound"), "memory");
    assert_true(number_of(add, "roof") == bandwidth);
    /* 2 x 64^3 operations, 3 x 64^2 elements of 4 bytes */
    double intensity = number_of(matmul, "intensity");
    assert_true(fabs(intensity - 64.0 / 6) < 1e-9);
    assert_true(fabs(number_of(matmul, "roof") - fmin(peak, intensity * bandwidth)) < 1e-6 * peak);
    cJSON_Delete(root);
}

static void trajectories(void **state)
{
    tool_result r = BENCH("trajectory", "add", "1000", QUICK, "--json");
    cJSON *root = parsed(&r, 0);
    const cJSON *row = cJSON_GetArrayItem(member(root, "results"), 1);
    (void)state;
    assert_true(number_of(row, "calls") >= 10);
    assert_true(number_of(row, "jitter") >= 0);
    assert_int_equal((int)number_of(row, "array_bytes"), 0);
    assert_string_equal(text_of(row, "leak"), "no leak");
    cJSON_Delete(root);
}

static void wrong_commands(void **state)
{
    (void)state;
    refused(BENCH("compare"), 2, "compare: name an op that --list lists");
    refused(BENCH("sweep", "ad"), 2, "'ad'");
    refused(BENCH("dispatch", "--csv"), 2, "--csv is for compare, sweep, roofline and trajectory");
    refused(BENCH("add", "--against", path), 2, "--against is for compare");
    refused(BENCH("compare", "add", "--csv", "--json"), 2, "--csv and --json exclude each other");
}

/* ---- Verdicts ---------------------------------------------------------------------------- */

static void verdicts(void **state)
{
    const double flat[] = {1, 1.01, 0.99, 1, 1.02, 0.98}, rising[] = {1, 2, 3, 4, 5, 6};
    const double noisy[] = {1, 3, 1, 3, 1, 3};
    (void)state;
    assert_true(fabs(study_drift(rising, 6) - 5 / 3.5) < 1e-12);
    assert_true(fabs(study_drift(flat, 6)) < 0.05);
    assert_true(study_drifts(rising, 6));
    assert_false(study_drifts(flat, 6));
    assert_false(study_drifts(noisy, 6));
    assert_true(study_jitter(noisy, 6, 2) == 1);
    assert_true(study_leaks(rising, 6, 0));
    assert_false(study_leaks(rising, 6, 5));
    assert_false(study_leaks(noisy, 6, 0));
    assert_false(study_leaks((const double[]){0, 9, 9, 9, 9, 9}, 6, 0)); /* a cache */
}

static void roofs(void **state)
{
    (void)state;
    assert_true(study_roof(NAN, 40, 300) == 40); /* without operations: bytes */
    assert_true(study_roof(2, 40, 300) == 80);   /* below the ridge, 7.5 */
    assert_true(study_roof(10, 40, 300) == 300);
    assert_true(study_roof(7.5, 40, 300) == 300);
}

/* With the argument "roofline" that test alone: its buffers are large against the last cache. */
int main(int argc, char **argv)
{
    const struct CMUnitTest large[] = {cmocka_unit_test(rooflines)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roofs),          cmocka_unit_test(compares),
        cmocka_unit_test(prints_csv),     cmocka_unit_test(finds_regressions),
        cmocka_unit_test(sweeps),         cmocka_unit_test(trajectories),
        cmocka_unit_test(wrong_commands), cmocka_unit_test(verdicts),
    };
    return argc > 1 && !strcmp(argv[1], "roofline")
               ? cmocka_run_group_tests(large, NULL, NULL)
               : cmocka_run_group_tests(tests, make_file, remove_file);
}
