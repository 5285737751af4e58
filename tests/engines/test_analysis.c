/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of libcollet-analysis against sums over all pairs of frames. The linker wraps the
 * allocators of the library. */
#include <collet/analysis.h>

#include "common/failing_malloc.h"
#include "common/fixture.h"
#include "common/ternary_support.h"

static collet_error failure;

#define assert_done(got)                                                                           \
    do {                                                                                           \
        collet_status done = (got);                                                                \
        if (done != COLLET_OK)                                                                     \
            print_error("%s\n", failure.text);                                                     \
        assert_int_equal(done, COLLET_OK);                                                         \
    } while (0)

/* Numbers that differ, between -1 and 1. */
static void fill(double *x, int64_t n)
{
    uint32_t seed = 12345;
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (double)(seed >> 8) / (1 << 23) - 1;
    }
}

enum { CORRELATION, DISPLACEMENT };

/* The mean of the product or of the squared difference of frames t and t + k, over all bodies and times t.
 * Reads frames first .. first + n - 1; a frame has `row` numbers. */
static double pair_mean(const double *x, int64_t first, int64_t n, int64_t row, int64_t bodies,
                        int64_t k, int what)
{
    long double sum = 0;
    for (int64_t t = first; t < first + n - k; t++)
        for (int64_t i = 0; i < row; i++) {
            double a = x[t * row + i], b = x[(t + k) * row + i];
            sum += what == CORRELATION ? a * b : (b - a) * (b - a);
        }
    return (double)sum / (double)(n - k) / (double)bodies;
}

static double limit = 1e-12;

static void assert_close(double got, double expected)
{
    if (!(fabs(got - expected) <= limit * fmax(1, fabs(expected))))
        fail_msg("%.17g, not %.17g", got, expected);
}

static void check_curves(int32_t ndim, const int64_t *shape, int64_t blocks, int drift)
{
    int64_t frames = shape[0], bodies = ndim == 3 ? shape[1] : 1;
    int64_t row = ndim == 1 ? 1 : bodies * shape[ndim - 1], length = blocks ? frames / blocks : 0;
    FREED(double) *x = calloc((size_t)(frames * (row + 1) + blocks * length + 1), sizeof *x);
    double *whole = x + frames * row, *parts = whole + frames;
    fill(x, frames * row);
    for (int64_t i = 0; drift && i < frames * row; i++)
        x[i] += 3 * (double)(i / row) + 7;
    OWNED(collet_array) *a = array_of(cx, COLLET_F64, ndim, shape, x);
    for (int what = CORRELATION; what <= DISPLACEMENT; what++) {
        assert_done(what == CORRELATION
                        ? collet_analysis_autocorrelation(cx, whole, parts, a, blocks, 0, &failure)
                        : collet_analysis_displacement(cx, whole, parts, a, blocks, &failure));
        for (int64_t k = 0; k < frames; k++)
            assert_close(whole[k], pair_mean(x, 0, frames, row, bodies, k, what));
        for (int64_t i = 0; i < blocks * length; i++)
            assert_close(parts[i],
                         pair_mean(x, i / length * length, length, row, bodies, i % length, what));
    }
}

TEST(curves_are_sums_over_pairs)
{
    for (int64_t frames = 1; frames <= 70; frames++) {
        check_curves(1, SHAPE(frames), frames % 4, 0);
        check_curves(3, SHAPE(frames, 2, 3), frames % 7, 0);
    }
    check_curves(2, SHAPE(41, 3), 5, 1);
    check_curves(2, SHAPE(41, 1), 41, 0);
    check_curves(3, SHAPE(100, 1, 1), 3, 1);
    limit = 1e-11;                             /* for sums of 240,000 numbers */
    check_curves(3, SHAPE(9, 80000, 3), 2, 0); /* more bodies than are loaded at a time */
    limit = 1e-12;
}

TEST(mean_is_subtracted)
{
    double x[20], whole[20], sum = 0;
    fill(x, 20);
    for (int i = 0; i < 20; i++)
        sum += x[i];
    OWNED(collet_array) *a = array_of(cx, COLLET_F64, 1, SHAPE(20), x);
    assert_done(collet_analysis_autocorrelation(cx, whole, NULL, a, 0, 1, &failure));
    for (int i = 0; i < 20; i++)
        x[i] -= sum / 20;
    for (int64_t k = 0; k < 20; k++)
        assert_close(whole[k], pair_mean(x, 0, 20, 1, 1, k, CORRELATION));
}

/* f32, and a view whose rows are not contiguous. */
TEST(other_layouts)
{
    double x[3 * 30], whole[30], same[30];
    float narrow[3 * 30];
    fill(x, 90);
    for (int i = 0; i < 90; i++)
        x[i] = narrow[i] = (float)x[i];
    OWNED(collet_array) *a = array_of(cx, COLLET_F64, 2, SHAPE(3, 30), x), *turned = NULL;
    OWNED(collet_array) *b = array_of(cx, COLLET_F32, 2, SHAPE(3, 30), narrow), *small = NULL;
    assert_ok(cx, collet_array_permute(cx, a, &turned, NULL));
    assert_ok(cx, collet_array_permute(cx, b, &small, NULL));
    assert_done(collet_analysis_autocorrelation(cx, whole, NULL, turned, 0, 0, &failure));
    assert_done(collet_analysis_autocorrelation(cx, same, NULL, small, 0, 0, &failure));
    double sum = 0;
    for (int i = 0; i < 90; i++)
        sum += x[i] * x[i];
    assert_close(whole[0], sum / 30);
    assert_memory_equal(whole, same, sizeof whole);
}

/* Two axes, on cones about z: C1 = cos^2 + sin^2 cos(t), S^2 = P2(cos)^2. */
TEST(rotor_on_a_cone)
{
    enum { FRAMES = 60, BLOCKS = 3, LENGTH = FRAMES / BLOCKS };
    const double step = 2 * acos(-1.0) * (int)BLOCKS / (int)FRAMES, cone[] = {0.7, 1.1};
    double u[FRAMES][2][3], c1[FRAMES], c2[FRAMES], parts[2][FRAMES], s2[BLOCKS], expected = 0;
    collet_analysis_rotation_curves curves = {.struct_size = sizeof curves,
                                              .c1 = c1,
                                              .c2 = c2,
                                              .c1_parts = parts[0],
                                              .c2_parts = parts[1],
                                              .s2_without = s2};
    for (int t = 0; t < FRAMES; t++)
        for (int b = 0; b < 2; b++) {
            double angle = step * t, length = b ? 1e200 : 1e-200;
            u[t][b][0] = length * sin(cone[b]) * cos(angle);
            u[t][b][1] = length * sin(cone[b]) * sin(angle);
            u[t][b][2] = length * cos(cone[b]);
        }
    OWNED(collet_array) *a = array_of(cx, COLLET_F64, 3, SHAPE(FRAMES, 2, 3), u);
    assert_done(collet_analysis_rotation(cx, &curves, a, BLOCKS, &failure));
    for (int b = 0; b < 2; b++)
        expected += pow(1.5 * cos(cone[b]) * cos(cone[b]) - 0.5, 2) / 2;
    assert_close(curves.s2, expected);
    for (int i = 0; i < BLOCKS; i++) /* a whole turn each */
        assert_close(s2[i], expected);
    for (int k = 0; k < FRAMES; k++) {
        double one = 0, two = 0;
        for (int b = 0; b < 2; b++) {
            double z = cos(cone[b]), r = sin(cone[b]);
            double cosine = z * z + r * r * cos(step * k);
            one += cosine / 2;
            two += (1.5 * cosine * cosine - 0.5) / 2;
        }
        assert_close(c1[k], one);
        assert_close(c2[k], two);
        assert_close(parts[0][k], one); /* of a period */
        assert_close(parts[1][k], two);
    }
}

TEST(errors_are_the_jackknife)
{
    const double parts[3][2] = {{1, 5}, {2, 3}, {6, 1}};
    double errors[2], ratios[3] = {4.0 / 8, 6.0 / 7, 8.0 / 3}, mean = 0, sum = 0;
    assert_done(collet_analysis_errors(errors, parts[0], 3, 2, 0, &failure));
    /* The standard deviation divided by the square root of the number of values, times Student's quantile. */
    const double student = 1.3213, factor = errors[0] / sqrt((4 + 1 + 9) / 2.0 / 3);
    assert_true(fabs(factor - student) < 2e-3);
    assert_close(errors[1], factor * sqrt((4 + 0 + 4) / 2.0 / 3));
    assert_done(collet_analysis_errors(errors, parts[0], 3, 2, 1, &failure));
    for (int i = 0; i < 3; i++)
        mean += ratios[i] / 3;
    for (int i = 0; i < 3; i++)
        sum += (ratios[i] - mean) * (ratios[i] - mean);
    assert_close(errors[0], 0);
    assert_close(errors[1], factor * sqrt(sum * 2 / 3));
    assert_int_equal(collet_analysis_errors(errors, parts[0], 1, 2, 0, &failure), COLLET_INVALID);
}

static void refuse(collet_dtype dtype, int32_t ndim, const int64_t *shape, const void *x,
                   collet_status expected, const char *words)
{
    double whole[60], parts[60], s2[9];
    collet_analysis_rotation_curves curves = {.struct_size = sizeof curves,
                                              .c1 = whole,
                                              .c2 = whole,
                                              .c1_parts = parts,
                                              .c2_parts = parts,
                                              .s2_without = s2};
    OWNED(collet_array) *a = array_of(cx, dtype, ndim, shape, x);
    assert_int_equal(collet_analysis_autocorrelation(cx, whole, parts, a, 2, 0, &failure),
                     expected);
    assert_contains(failure.text, words);
    assert_int_equal(collet_analysis_displacement(cx, whole, parts, a, 2, &failure), expected);
    assert_contains(failure.text, words);
    assert_int_not_equal(collet_analysis_rotation(cx, &curves, a, 2, &failure), COLLET_OK);
}

TEST(refusals)
{
    double x[24];
    collet_analysis_rotation_curves curves = {.struct_size = sizeof curves, .reserved = 1};
    fill(x, 24);
    refuse(COLLET_F64, 2, SHAPE(12, 2), x, COLLET_SHAPE, "1 or 3 components");
    refuse(COLLET_F64, 2, SHAPE(0, 3), x, COLLET_SHAPE, "no elements");
    refuse(COLLET_I32, 1, SHAPE(4), x, COLLET_DTYPE, "x is i32; it must be f32 or f64");
    x[13] = NAN;
    refuse(COLLET_F64, 3, SHAPE(4, 2, 3), x, COLLET_INVALID,
           "x is nan at frame 2, body 0, component 1: leave such frames out, or interpolate");
    refuse(COLLET_F64, 1, SHAPE(24), x, COLLET_INVALID, "x is nan at frame 13: leave");
    x[13] = -INFINITY;
    refuse(COLLET_F64, 2, SHAPE(8, 3), x, COLLET_INVALID, "x is -inf at frame 4, component 1");
    fill(x, 24);
    x[3] = 1e200;
    refuse(COLLET_F64, 1, SHAPE(24), x, COLLET_INVALID, "too large for f64");
    OWNED(collet_array) *a = array_of(cx, COLLET_F64, 2, SHAPE(8, 3), x);
    assert_error(collet_analysis_rotation(cx, &curves, a, 0, &failure), COLLET_INVALID, failure,
                 "reserved must be 0");
    assert_error(collet_analysis_displacement(cx, x, NULL, a, -1, &failure), COLLET_INVALID,
                 failure, "blocks is -1");
    collet_array_destroy(a);
    memset(x + 6, 0, 3 * sizeof *x);
    a = array_of(cx, COLLET_F64, 3, SHAPE(4, 2, 3), x);
    curves.reserved = 0;
    assert_error(collet_analysis_rotation(cx, &curves, a, 0, &failure), COLLET_INVALID, failure,
                 "axes have length 0 at frame 1, body 0");
}

static collet_status run_one(int which, const collet_array *a)
{
    double curves[4][12], s2[3];
    collet_analysis_rotation_curves rotation = {.struct_size = sizeof rotation,
                                                .c1 = curves[0],
                                                .c2 = curves[1],
                                                .c1_parts = curves[2],
                                                .c2_parts = curves[3],
                                                .s2_without = s2};
    if (which == CORRELATION)
        return collet_analysis_autocorrelation(cx, curves[0], curves[1], a, 3, 0, &failure);
    if (which == DISPLACEMENT)
        return collet_analysis_displacement(cx, curves[0], curves[1], a, 3, &failure);
    return collet_analysis_rotation(cx, &rotation, a, 3, &failure);
}

/* Each failure is NO_MEMORY, and leaks nothing under the sanitizers. */
TEST(no_memory)
{
    double x[36];
    fill(x, 36);
    OWNED(collet_array) *a = array_of(cx, COLLET_F64, 2, SHAPE(12, 3), x);
    for (int which = 0; which < 3; which++) {
        int n = 0;
        for (;; n++) {
            allocation_countdown = n;
            collet_status status = run_one(which, a);
            long left = allocation_countdown;
            allocation_countdown = -1;
            if (left >= 0) {
                assert_done(status);
                break;
            }
            assert_int_equal(status, COLLET_NO_MEMORY);
            assert_contains(failure.text, "no memory");
        }
        assert_true(n >= 7);
    }
}

TEST_GROUP(set_up_scalar, tear_down)
