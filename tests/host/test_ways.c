/* SPDX-License-Identifier: Apache-2.0 */
/* Which implementation computes a call, from texts of measurements. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_openmp/providers/ways.h"

static const char *measured, *calibrated, *wish;
static const ways_kind *kind = &openmp_ways;
static int use_calibrated = 1;
static int skipped, impossible;
static char last[512];

static const char *config(const collet_host *host, const char *key)
{
    (void)host;
    return strstr(key, "measured") ? measured : strstr(key, "calibrated") ? calibrated : wish;
}

static void count_skipped(const collet_host *host, int32_t level, const char *format, ...)
{
    va_list arguments;
    (void)host;
    va_start(arguments, format);
    vsnprintf(last, sizeof last, format, arguments);
    va_end(arguments);
    assert_int_equal(level, COLLET_LOG_WARNING);
    skipped += strstr(last, "is skipped") != NULL;
    impossible += strstr(last, "is not possible") != NULL;
}

static const collet_host host = {.config = config, .log = count_skipped};

static const ways *read_texts(const char *by_probe, const char *by_bench, const char *by_user)
{
    static ways w;
    measured = by_probe;
    calibrated = by_bench;
    wish = by_user;
    skipped = impossible = 0;
    last[0] = '\0';
    ways_read(&w, &host, kind, use_calibrated);
    return &w;
}

#define F32 WAY_PRODUCT(WAY_F32, WAY_SQUARE)
#define F64 WAY_PRODUCT(WAY_F64, WAY_SQUARE)
#define LU WAY_OP(WAY_LU, WAY_F64, 0)
#define CHOSEN(w, key, side, usual) ways_choose(w, key, side, usual, NULL)

static void the_usual_way_without_measurements(void **state)
{
    (void)state;
    const ways *w = read_texts(NULL, "", NULL);
    assert_int_equal(CHOSEN(w, F32, 256, WAY_ONEDNN), WAY_ONEDNN);
    assert_int_equal(CHOSEN(w, LU, 10, WAY_OWN), WAY_OWN);
}

static void the_fastest_at_the_nearest_side(void **state)
{
    (void)state;
    const ways *w =
        read_texts("f32/64:own=50,openblas=40,onednn=30 f32/256:own=60.5,openblas=108.3,"
                   "onednn=91 f64/64:own=9,openblas=8",
                   NULL, NULL);
    assert_int_equal(CHOSEN(w, F32, 100, WAY_ONEDNN), WAY_OWN);
    assert_int_equal(CHOSEN(w, F32, 150, WAY_ONEDNN), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, F32, 400, WAY_ONEDNN), WAY_OPENBLAS);
    /* A tenth more is not enough for the probe, but for a calibration; far above more is needed. */
    w = read_texts("f64/100:own=11,openblas=10", NULL, NULL);
    assert_int_equal(CHOSEN(w, F64, 100, WAY_OPENBLAS), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, F64, 100, WAY_OWN), WAY_OWN);
    w = read_texts(NULL, "f64/100:own=11,openblas=10", NULL);
    assert_int_equal(CHOSEN(w, F64, 150, WAY_OPENBLAS), WAY_OWN);
    assert_int_equal(CHOSEN(w, F64, 200, WAY_OPENBLAS), WAY_OPENBLAS);
    w = read_texts(NULL, "f64/100:own=13,openblas=10", NULL);
    assert_int_equal(CHOSEN(w, F64, 2000, WAY_OPENBLAS), WAY_OWN);
    /* Rows of whole pages that were not measured are as others, but far from them. */
    w = read_texts("f64/100:own=13,openblas=10 f64-page/300:own=1,openblas=2", NULL, NULL);
    assert_int_equal(CHOSEN(w, F64 + WAY_PAGE, 100, WAY_OPENBLAS), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, F64 + WAY_PAGE, 300, WAY_OWN), WAY_OPENBLAS);
    w = read_texts("f64/100:own=14,openblas=10", NULL, NULL);
    assert_int_equal(CHOSEN(w, F64 + WAY_PAGE, 100, WAY_OPENBLAS), WAY_OWN);
    /* Far below what was measured nothing is known; a library that has no rate is never chosen. */
    w = read_texts("f64/100:own=9", NULL, NULL);
    assert_int_equal(CHOSEN(w, F64, 60, WAY_OPENBLAS), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, F64, 80, WAY_OPENBLAS), WAY_OWN);
    assert_int_equal(skipped, 0);
}

static void calibration_replaces_the_probe_key_by_key(void **state)
{
    (void)state;
    const ways *w = read_texts("f32/256:own=1,openblas=2 f64/256:own=1,openblas=2",
                               "f32/256:own=3,openblas=2 lu-f64/48:own=1,openblas=7", NULL);
    assert_int_equal(CHOSEN(w, F32, 256, WAY_OPENBLAS), WAY_OWN);
    assert_int_equal(CHOSEN(w, F64, 256, WAY_OWN), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, LU, 48, WAY_OWN), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, WAY_OP(WAY_LU, WAY_F32, 0), 48, WAY_OWN), WAY_OWN);
}

/* A calibration that was ended early has few sides: a far one does not hide the probe's near one. */
static void the_nearer_of_probe_and_calibration(void **state)
{
    (void)state;
    const way_point *p;
    const ways *w =
        read_texts("f32/64:own=9,openblas=2 f32/256:own=2,openblas=9 f32/512:own=1,openblas=9",
                   "f32/64:own=1,openblas=2", NULL);
    assert_int_equal(CHOSEN(w, F32, 64, WAY_OWN), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, F32, 90, WAY_OWN), WAY_OPENBLAS);
    w = read_texts("f32/64:own=9,openblas=2 f32/256:own=9,openblas=2", "f32/64:own=1,openblas=2",
                   NULL);
    assert_int_equal(CHOSEN(w, F32, 64, WAY_OWN), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, F32, 200, WAY_OPENBLAS), WAY_OWN);
    assert_int_equal(CHOSEN(w, F32, 4000, WAY_OPENBLAS), WAY_OWN);
    /* A calibrated side that is near counts, though the probe has a nearer one. */
    w = read_texts("f32/400:own=9,openblas=2", "f32/500:own=1,openblas=2", NULL);
    (void)ways_choose(w, F32, 400, WAY_OWN, &p);
    assert_float_equal(p->side, 500, 0);
    /* Below all that was calibrated, the probe's. */
    w = read_texts("f32/64:own=9,openblas=2", "f32/500:own=1,openblas=2", NULL);
    assert_int_equal(CHOSEN(w, F32, 64, WAY_OPENBLAS), WAY_OWN);
}

static void assert_explained(const ways *w, int key, double side, way usual, const char *expected)
{
    char written[256] = "";
    text t = {.at = written, .capacity = sizeof written};
    ways_explain(&t, w, key, side, usual);
    assert_string_equal(written, expected);
}

static void impossible_ways(void **state)
{
    static const char *const wrong[] = {"f64=onednn",    "lu=onednn",   "c64=onednn",
                                        "bf16=openblas", "i8=openblas", "f64-page=onednn"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        read_texts(NULL, NULL, wrong[i]);
        assert_int_equal(impossible, 1);
        assert_int_equal(skipped, 0);
    }
    read_texts(NULL, NULL, "c64-page=own"); /* no key */
    assert_int_equal(skipped, 1);
    const ways *w = read_texts("f64/256:own=9,openblas=1", NULL, "f64=onednn");
    assert_string_equal(last, "cpu_openmp.ways: 'f64=onednn' is not possible, and the usual way is "
                              "taken: onednn does not compute f64");
    assert_int_equal(CHOSEN(w, F64, 256, WAY_OPENBLAS), WAY_OPENBLAS);
    assert_explained(
        w, F64, 256, WAY_OPENBLAS,
        "openblas is the usual way; onednn, which the setting cpu_openmp.ways chooses, "
        "does not compute f64");
    /* For all: of those that it computes. */
    w = read_texts(NULL, NULL, "onednn");
    assert_int_equal(impossible, 0);
    assert_int_equal(CHOSEN(w, F32, 256, WAY_OPENBLAS), WAY_ONEDNN);
    assert_int_equal(CHOSEN(w, F64, 256, WAY_OPENBLAS), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, LU, 256, WAY_OPENBLAS), WAY_OPENBLAS);
}

static void the_user_decides(void **state)
{
    (void)state;
    const char *rates = "f32/256:own=1,openblas=2 f32-page/256:own=1,openblas=2";
    const ways *w = read_texts(rates, NULL, "f32=onednn lu=own");
    assert_int_equal(CHOSEN(w, F32, 256, WAY_OPENBLAS), WAY_ONEDNN);
    assert_int_equal(CHOSEN(w, WAY_PRODUCT(WAY_F32, WAY_PAGE), 256, WAY_OPENBLAS), WAY_ONEDNN);
    assert_int_equal(CHOSEN(w, LU, 256, WAY_OPENBLAS), WAY_OWN);
    assert_int_equal(CHOSEN(w, F64, 256, WAY_OPENBLAS), WAY_OPENBLAS);
    w = read_texts(rates, NULL, "own");
    assert_int_equal(CHOSEN(w, F32, 256, WAY_OPENBLAS), WAY_OWN);
    assert_int_equal(skipped, 0);
    w = read_texts(rates, NULL, " own,\tf32=openblas, lu=openblas,");
    assert_int_equal(CHOSEN(w, F64, 256, WAY_OPENBLAS), WAY_OWN);
    assert_int_equal(CHOSEN(w, F32, 256, WAY_OWN), WAY_OPENBLAS);
    assert_int_equal(CHOSEN(w, LU, 256, WAY_OWN), WAY_OPENBLAS);
    assert_int_equal(skipped + impossible, 0);
}

static void malformed_parts_are_skipped(void **state)
{
    static const char *const wrong[] = {
        "f32",           "f32/",           "f32/x:own=1", "f32/0:own=1",    "f33/64:own=1",
        "f32/64:mine=1", "f32/64:own=",    "f32/64:own",  "f32/64:own=1,",  "f32/64",
        "f32/64:own=1;", "f32/64:own=1e3", "/64:own=1",   "f32/64:own=1,2", "f32/-64:own=1"};
    char item[64];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)snprintf(item, sizeof item, "%s f64/64:own=2,openblas=1", wrong[i]);
        const ways *w = read_texts(item, NULL, NULL);
        assert_int_equal(skipped, 1);
        assert_int_equal(CHOSEN(w, F64, 64, WAY_OPENBLAS), WAY_OWN);
        assert_int_equal(CHOSEN(w, F32, 64, WAY_ONEDNN), WAY_ONEDNN);
    }
    read_texts(NULL, NULL, "mine f3=own  own=f32");
    assert_int_equal(skipped, 3);
    read_texts(NULL, NULL, "=own f32=usual");
    assert_int_equal(skipped, 2);
    /* Keys for which the backend has one way alone. */
    read_texts("f32-batch/64:own=1,openblas=2", "fft-c64/64:own=1,openblas=2", "f16=own fft=own");
    assert_int_equal(skipped, 4);
    /* The others are counted. */
    const ways *w = read_texts(NULL, NULL, "a b c d e f g own");
    assert_int_equal(skipped, 3);
    assert_string_equal(last, "cpu_openmp.ways: 4 more such items");
    assert_int_equal(CHOSEN(w, F32, 64, WAY_ONEDNN), WAY_OWN);
}

/* More points than there is room for, and what is written can be read. */
static void points_are_written_and_read(void **state)
{
    char written[2048] = "";
    text t = {.at = written, .capacity = sizeof written};
    (void)state;
    for (int i = 0; i < WAYS_POINTS + 3; i++) {
        way_point p = {.side = 10.0 * (i + 1), .rate = {1.0 + i, 0.0, 1000.5}};
        ways_write(&t, &openmp_ways, WAY_PRODUCT(WAY_I8, WAY_COLUMNS), &p);
    }
    const ways *w = read_texts(written, NULL, NULL);
    const way_list *list = &w->measured[WAY_PRODUCT(WAY_I8, WAY_COLUMNS)];
    assert_int_equal(skipped, 0);
    assert_int_equal(list->count, WAYS_POINTS);
    assert_float_equal(list->point[2].side, 30.0, 0.0);
    assert_float_equal(list->point[2].rate[WAY_OWN], 3.0, 1e-12);
    assert_float_equal(list->point[2].rate[WAY_OPENBLAS], 0.0, 0.0);
    assert_float_equal(list->point[2].rate[WAY_ONEDNN], 1000.0, 1.0);
}

/* A backend with other ways, and calls of several products or matrices. */
static void another_backend(void **state)
{
    static const ways_kind device = {.backend = "device",
                                     .names = {"own", "library"},
                                     .range = {[1] = {1u << WAY_F32, 1u << WAY_FFT, 1u << WAY_FFT}},
                                     .types = 1u << WAY_F32,
                                     .forms = 1u << WAY_SQUARE | 1u << WAY_BATCH,
                                     .ops = 1u << WAY_FFT};
    const char *rates = "f32/64:own=1,library=3 f32-batch/64:own=3,library=1 "
                        "fft-c64/4096:own=1,library=3 fft-c64-batch/4096:own=3,library=1";
    enum { LIBRARY = 1 };
    (void)state;
    kind = &device;
    const ways *w = read_texts(NULL, rates, NULL);
    assert_int_equal(skipped, 0);
    assert_int_equal(CHOSEN(w, F32, 64, WAY_OWN), LIBRARY);
    assert_int_equal(CHOSEN(w, WAY_PRODUCT(WAY_F32, WAY_BATCH), 64, LIBRARY), WAY_OWN);
    assert_int_equal(CHOSEN(w, WAY_OP(WAY_FFT, WAY_C64, 0), 4096, WAY_OWN), LIBRARY);
    assert_int_equal(CHOSEN(w, WAY_OP(WAY_FFT, WAY_C64, 1), 4096, LIBRARY), WAY_OWN);
    assert_explained(w, WAY_OP(WAY_FFT, WAY_C64, 1), 4096, LIBRARY,
                     "backend-bench calibrate measured for fft-c64-batch at side 4096: own 3, "
                     "library 1 GF/s");
    w = read_texts(NULL, rates, "f32=own fft=own");
    assert_int_equal(CHOSEN(w, F32, 64, LIBRARY), WAY_OWN);
    assert_int_equal(CHOSEN(w, WAY_OP(WAY_FFT, WAY_C64, 0), 4096, LIBRARY), WAY_OWN);
    assert_explained(w, F32, 64, LIBRARY, "chosen by the setting device.ways");
    read_texts(NULL, "lu-f32/64:own=1,library=2 f64/64:own=1,library=2 f32/64:own=1,openblas=2",
               "openblas f32-page=own");
    assert_int_equal(skipped, 5);
    use_calibrated = 0;
    w = read_texts(NULL, rates, NULL);
    assert_int_equal(CHOSEN(w, F32, 64, WAY_OWN), WAY_OWN);
    use_calibrated = 1;
    kind = &openmp_ways;
}

static void forms(void **state)
{
    (void)state;
    assert_int_equal(ways_form(100, 100, 100, 0), WAY_SQUARE);
    assert_int_equal(ways_form(1024, 1024, 1024, 1), WAY_PAGE);
    assert_int_equal(ways_form(512, 512, 16, 1), WAY_INNER + WAY_PAGE);
    assert_int_equal(ways_form(16, 512, 512, 0), WAY_ROWS);
    assert_int_equal(ways_form(512, 8, 512, 0), WAY_COLUMNS);
    assert_int_equal(ways_form(512, 17, 512, 0), WAY_SQUARE);
    assert_int_equal(ways_form(16, 32, 512, 0), WAY_SQUARE);
    assert_int_equal(ways_form(1, 1, 1, 0), WAY_SQUARE);
}

static void reasons(void **state)
{
    (void)state;
    assert_explained(read_texts("f32/256:own=61.25,onednn=91", NULL, NULL), F32, 300, WAY_ONEDNN,
                     "the probe measured for f32 at side 256: own 61.2, onednn 91 GF/s");
    assert_explained(read_texts("f64/100:own=14,openblas=10", NULL, NULL), F64 + WAY_PAGE, 100,
                     WAY_OPENBLAS,
                     "the probe measured for f64 at side 100: own 14, openblas 10 GF/s");
    assert_explained(read_texts(NULL, NULL, "own"), F32, 300, WAY_ONEDNN,
                     "chosen by the setting cpu_openmp.ways");
    assert_explained(read_texts(NULL, NULL, NULL), LU, 300, WAY_OPENBLAS,
                     "openblas is the usual way; lu-f64 was not measured here");
    assert_explained(read_texts(NULL, "lu-f64/48:own=2.6,openblas=13.1", NULL), LU, 48, WAY_OWN,
                     "backend-bench calibrate measured for lu-f64 at side 48: own 2.6, openblas "
                     "13.1 GF/s");
    /* Another is faster, but not enough. */
    assert_explained(
        read_texts(NULL, "f64/256:own=73.7,openblas=72.1", NULL), F64, 256, WAY_OPENBLAS,
        "backend-bench calibrate measured for f64 at side 256: own 73.7, openblas 72.1 "
        "GF/s; openblas is the usual way, which stays unless another is 5 % faster");
    assert_explained(
        read_texts("f64/256:own=80,openblas=72", NULL, NULL), F64, 256, WAY_OPENBLAS,
        "the probe measured for f64 at side 256: own 80, openblas 72 GF/s; openblas is "
        "the usual way, which stays unless another is 15 % faster");
    assert_explained(
        read_texts("f64/256:own=90,openblas=72", NULL, NULL), F64, 999, WAY_OPENBLAS,
        "the probe measured for f64 at side 256: own 90, openblas 72 GF/s; openblas is "
        "the usual way, which stays unless another is 32 % faster");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_way_without_measurements),
        cmocka_unit_test(the_fastest_at_the_nearest_side),
        cmocka_unit_test(calibration_replaces_the_probe_key_by_key),
        cmocka_unit_test(the_nearer_of_probe_and_calibration),
        cmocka_unit_test(impossible_ways),
        cmocka_unit_test(the_user_decides),
        cmocka_unit_test(malformed_parts_are_skipped),
        cmocka_unit_test(points_are_written_and_read),
        cmocka_unit_test(another_backend),
        cmocka_unit_test(forms),
        cmocka_unit_test(reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
