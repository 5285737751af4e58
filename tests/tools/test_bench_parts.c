/* SPDX-License-Identifier: Apache-2.0 */
/* Tests parts of backend-bench whose faults nobody would notice in its figures. */
#include <stdatomic.h>

#include "common/test.h"
#include "bench/base/heap.h"
#include "bench/ops/inputs.h"
#include "bench/base/shape.h"
#include "common/stats.h"
#include "bench/bandwidth/team.h"
#include "bench/calibrate/choices.h"
#include "bench/calibrate/rates.h"
#include "cpu_openmp/providers/ways.h"

/* assert_float_equal compares floats. */
static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

TEST(test_stats)
{
    double samples[100];
    tool_stats s;
    for (int i = 0; i < 100; i++)
        samples[i] = 2.0 * (100 - i);
    tool_stats_of(samples, 100, 2, &s);
    assert_int_equal(s.samples, 100);
    assert_int_equal(s.calls_per_sample, 2);
    assert_near(s.mean, 50.5, 1e-12);
    assert_near(s.median, 50.5, 1e-12);
    assert_near(s.p95, 95.05, 1e-12);
    assert_near(s.p99, 99.01, 1e-12);
    assert_near(s.min, 1, 1e-12);
    assert_near(s.max, 100, 1e-12);
    assert_near(s.std, sqrt(99 * 101 / 12.0), 1e-12);
    double one[] = {3};
    tool_stats_of(one, 1, 1, &s);
    assert_near(s.median, 3, 0);
    assert_near(s.p99, 3, 0);
    assert_near(s.std, 0, 0);
    double numpy[] = {3, 1, 4, 1, 5, 9, 2, 6}; /* compared with NumPy 2.4 */
    tool_stats_of(numpy, 8, 1, &s);
    assert_near(s.std, 2.5708704751503917, 1e-15);
    assert_near(s.p95, 7.95, 1e-14);
    assert_near(s.p99, 8.79, 1e-14);
    double unknown[] = {1, NAN, 2};
    tool_stats_of(unknown, 3, 1, &s);
    assert_true(s.samples == 3 && isnan(s.mean) && isnan(s.p99) && isnan(s.min));
}

TEST(test_shapes)
{
    bench_shape shape;
    char line[BENCH_SHAPE_TEXT];
    assert_true(bench_shape_parse("10000x3x2K", &shape));
    assert_int_equal(shape.count, 3);
    assert_int_equal(shape.extents[2], 2048);
    assert_string_equal(bench_shape_text(shape.count, shape.extents, line), "10000x3x2048");
    assert_string_equal(bench_shape_text(0, shape.extents, line), "()");
    assert_true(bench_shape_parse("64M", &shape) && shape.extents[0] == 64 << 20);
    assert_true(bench_shape_parse("3G", &shape) && shape.extents[0] == (int64_t)3 << 30);
    static const char *const wrong[] = {"",
                                        "x",
                                        "3x",
                                        "x3",
                                        "3xx4",
                                        "-3",
                                        "0",
                                        "3.5",
                                        "3T",
                                        "3KK",
                                        "99999999999999999999",
                                        "4G x4",
                                        "2147483648x2147483648x2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (bench_shape_parse(wrong[i], &shape))
            fail_msg("'%s' was parsed as a shape", wrong[i]);
}

TEST(test_heap)
{
    void *volatile memory;
    uint64_t before = bench_heap_allocations();
    memory = malloc(10);
    assert_int_equal(bench_heap_allocations() - before, 1);
    memory = realloc(memory, 100000);
    assert_int_equal(bench_heap_allocations() - before, 2);
    free(memory);
    memory = calloc(10, 10);
    free(memory);
    assert_int_equal(bench_heap_allocations() - before, 3);
    memory = aligned_alloc(64, 128);
    assert_int_equal((uintptr_t)memory % 64, 0);
    free(memory);
    if (!THREAD_SANITIZER) /* TSan's hooks do not see aligned_alloc */
        assert_int_equal(bench_heap_allocations() - before, 4);
    assert_true(bench_heap_resident() > 100000);
}

/* Each input has the properties that its letter requires. With an invalid input the tool would
 * measure an error path. */
TEST(test_inputs)
{
    const bench_operand tensors = {'i', COLLET_F64, 3, {100, 3, 3}};
    const bench_operand rotations = {'r', COLLET_F64, 3, {100, 3, 3}};
    const bench_operand positive = {'p', COLLET_F32, 1, {1000}};
    double m[900];
    float p[1000], q[1000];
    assert_int_equal(bench_operand_size(&tensors), 900);
    bench_input_fill(&tensors, 0, m);
    for (const double *t = m; t < m + 900; t += 9) {
        double minor = t[0] * t[4] - t[1] * t[3];
        double det = t[0] * (t[4] * t[8] - t[5] * t[7]) - t[1] * (t[3] * t[8] - t[5] * t[6]) +
                     t[2] * (t[3] * t[7] - t[4] * t[6]);
        assert_true(t[1] == t[3] && t[2] == t[6] && t[5] == t[7]);
        assert_true(t[0] > 0 && minor > 0 && det > 0);
    }
    bench_input_fill(&rotations, 0, m);
    for (const double *r = m; r < m + 900; r += 9)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                assert_near(r[3 * i] * r[3 * k] + r[3 * i + 1] * r[3 * k + 1] +
                                r[3 * i + 2] * r[3 * k + 2],
                            i == k, 1e-12);
    const bench_operand definite = {'s', COLLET_F64, 3, {100, 3, 3}};
    bench_input_fill(&definite, 0, m);
    for (const double *t = m; t < m + 900; t += 9)
        for (int i = 0; i < 3; i++) {
            double off_diagonal = fabs(t[3 * i + (i + 1) % 3]) + fabs(t[3 * i + (i + 2) % 3]);
            assert_true(t[4 * i] > off_diagonal &&
                        t[3 * i + (i + 1) % 3] == t[3 * ((i + 1) % 3) + i]);
        }
    bench_input_fill(&positive, 0, p);
    bench_input_fill(&positive, 1, q);
    int32_t equal = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(p[i] >= 0.5f && p[i] < 2.0f);
        equal += p[i] == q[i];
    }
    assert_true(equal < 10);
}

/* backend-bench converts f16 and bf16 with its own code. */
TEST(test_halves)
{
    const bench_operand f16 = {'p', COLLET_F16, 1, {1000}}, bf16 = {'p', COLLET_BF16, 1, {1000}};
    const bench_operand f32 = {'p', COLLET_F32, 1, {1000}};
    uint16_t h[1000], b[1000];
    float f[1000];
    bench_input_fill(&f16, 0, h);
    bench_input_fill(&bf16, 0, b);
    bench_input_fill(&f32, 0, f);
    for (int i = 0; i < 1000; i++) {
        double from_f16 = ldexp(1 + (h[i] & 0x3ff) / 1024.0, (h[i] >> 10 & 31) - 15);
        double from_bf16 = ldexp(1 + (b[i] & 0x7f) / 128.0, (b[i] >> 7 & 255) - 127);
        assert_near(from_f16, (double)f[i], 2.0 / 1024);
        assert_near(from_bf16, (double)f[i], 2.0 / 128);
    }
}

typedef struct touched {
    _Atomic int32_t parts[4];
    _Atomic int32_t threads;
} touched;

static void touch(void *user, int32_t thread, int32_t threads)
{
    touched *t = user;
    atomic_fetch_add(&t->parts[thread], 1);
    atomic_store(&t->threads, threads);
}

TEST(test_team)
{
    double samples[60];
    for (int32_t threads = 1; threads <= 4; threads++) {
        touched t = {0};
        bench_team team = {threads, 4, touch, &t, 50, 0, samples, 20, 60};
        bench_team_run(&team);
        assert_int_equal(team.count, 60);
        for (int64_t i = 20; i < team.count; i++)
            assert_true(samples[i] >= 0);
        assert_int_equal(t.threads, threads);
        for (int32_t i = 0; i < 4; i++)
            assert_int_equal(t.parts[i], i < threads ? 51 : 0);
    }
}

/* Tests backend-bench calibrate: how it keeps rates of earlier runs, and which implementations its summary names. */

OWNS(cJSON, cJSON_Delete)

static void assert_merged(const char *now, const char *old, const char *expected)
{
    FREED(char) *all = rates_merged(now, old);
    assert_string_equal(all, expected);
}

/* A short run replaces only those rates of a longer run that it measured again. */
TEST(earlier_rates_stay)
{
    assert_merged("f32/64:own=5", "f32/64:own=1,openblas=2 f32/256:own=3 f32-page/64:own=4",
                  "f32/64:own=5 f32/256:own=3 f32-page/64:own=4");
    assert_merged("f32/64:own=5", "f32/640:own=1 f32/6:own=2",
                  "f32/64:own=5 f32/640:own=1 f32/6:own=2");
    assert_merged("f32/64:own=5", NULL, "f32/64:own=5");
    assert_merged("", "f32/64:own=5", " f32/64:own=5");
}

static const choice at_256 = {.key = "f64",
                              .side = 256,
                              .names = {"own", "openblas", "onednn"},
                              .rates = {73.7, 72.1, NAN},
                              .before = 0,
                              .now = 1};

/* The summary names the implementation that the backends will choose, by the same rule. */
TEST(the_way_that_will_be_taken)
{
    static const double rates[][CHOICE_WAYS] = {
        {73.7, 72.1, 0}, {80, 72.1, 0}, {75.7, 72, 76}, {1, 2, 3}, {10, 10, 10.4}};
    char which[128];
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (int usual = 0; usual < CHOICE_WAYS; usual++) {
            const double *r = rates[i];
            ways w = {.kind = &openmp_ways};
            const int key = WAY_PRODUCT(WAY_F32, WAY_SQUARE);
            memset(w.forced, WAY_NOT_FORCED, sizeof w.forced);
            w.calibrated[key] =
                (way_list){1, {{.side = 100, .rate = {r[0], r[1], r[2]}, .calibrated = 1}}};
            snprintf(which, sizeof which, "rates %d, usual way %d", (int)i, usual);
            if (choice_by(r, usual) != ways_choose(&w, key, 100, usual, NULL))
                fail_msg("%s", which);
        }
    assert_int_equal(choice_by(at_256.rates, -1), 0);
    assert_int_equal(choice_by(at_256.rates, 2), 0);
}

/* Returns the text that choices_tell prints. */
static const char *told(choice *choices, int32_t count, int32_t expected)
{
    static char words[1024];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int before = dup(1);
    assert_true(before >= 0 && dup2(fileno(file), 1) == 1);
    int32_t changed = choices_tell("cpu_openmp", choices, count, NULL);
    fflush(stdout);
    assert_int_equal(dup2(before, 1), 1);
    close(before);
    rewind(file);
    words[fread(words, 1, sizeof words - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(changed, expected);
    return words;
}

TEST(what_changes_is_told)
{
    choice other = at_256, same = at_256, unknown = at_256, f32 = at_256;
    other.side = 1000;
    other.rates[1] = 90;
    same.now = 0;
    unknown.side = 64;
    unknown.before = -1;
    snprintf(f32.key, sizeof f32.key, "f32");
    f32.before = 1;
    f32.now = 0;
    choice choices[] = {other, at_256, same, unknown, f32};
    assert_string_equal(
        told(choices, 5, 4),
        "cpu_openmp, f32: own at 256 (before openblas: 73.7 instead of 72.1 GF/s, 1.02 times as "
        "fast)\n"
        "cpu_openmp, f64: openblas at 64, openblas at 256 (before own: 72.1 instead of 73.7 GF/s; "
        "it is the default, and own is less than 5 % faster), openblas at 1000 (before own: 90 "
        "instead of 73.7 GF/s, 1.22 times as fast)\n");
    assert_string_equal(told(&same, 1, 0), "");
    assert_string_equal(told(NULL, 0, 0), "");
    OWNED(cJSON) *list = cJSON_CreateArray();
    assert_int_equal(choices_tell("cpu_openmp", choices, 5, list), 4);
    FREED(char) *row = cJSON_PrintUnformatted(cJSON_GetArrayItem(list, 2));
    assert_string_equal(row, "{\"op\":\"f64/256\",\"before\":\"own\",\"now\":\"openblas\"}");
}
