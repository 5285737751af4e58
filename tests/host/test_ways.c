/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which implementation computes a call, given texts of measurements. */

#include "common/test.h"
#include "cpu_openmp/providers/ways.h"

static const char *measured, *calibrated, *wish;
static const ways_kind *kind = &openmp_ways;
static int use_calibrated = 1;
static int skipped, impossible;
static char last[512];

static const char *config(const collet_host *host, const char *key)
{
    return strstr(key, "measured") ? measured : strstr(key, "calibrated") ? calibrated : wish;
}

static void count_skipped(const collet_host *host, int32_t level, const char *format, ...)
{
    va_list arguments;
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

#define OWN WAY_OWN
#define BLAS WAY_OPENBLAS
#define DNN WAY_ONEDNN
#define LU_F32 WAY_OP(WAY_LU, WAY_F32, 0)
#define F32_PAGE WAY_PRODUCT(WAY_F32, WAY_PAGE)

/* clang-format off */
static const struct {
    const char *probe, *bench, *user;
    int key;
    double side;
    way usual, chosen;
} choices[] = {
    /* If nothing was measured, the choice is the default. */
    {NULL, "", NULL, F32, 256, DNN, DNN},
    {NULL, "", NULL, LU, 10, OWN, OWN},
    /* The choice is the fastest implementation at the nearest measured side. */
#define RATES "f32/64:own=50,openblas=40,onednn=30 f32/256:own=60.5,openblas=108.3,onednn=91 f64/64:own=9,openblas=8"
    {RATES, NULL, NULL, F32, 100, DNN, OWN},
    {RATES, NULL, NULL, F32, 150, DNN, BLAS},
    {RATES, NULL, NULL, F32, 400, DNN, BLAS},
    /* A calibrated rate that is higher by a tenth changes the choice. A rate that the probe measured must be higher by
     * more than a tenth. For a side far above the measured side, the difference must be larger. */
    {"f64/100:own=11,openblas=10", NULL, NULL, F64, 100, BLAS, BLAS},
    {"f64/100:own=11,openblas=10", NULL, NULL, F64, 100, OWN, OWN},
    {NULL, "f64/100:own=11,openblas=10", NULL, F64, 150, BLAS, OWN},
    {NULL, "f64/100:own=11,openblas=10", NULL, F64, 200, BLAS, BLAS},
    {NULL, "f64/100:own=13,openblas=10", NULL, F64, 2000, BLAS, OWN},
    /* If matrices whose rows are whole pages were not measured, the rates of other matrices apply to them, as if these
     * rates were measured at a side far from the call's side. */
    {"f64/100:own=13,openblas=10 f64-page/300:own=1,openblas=2", NULL, NULL, F64 + WAY_PAGE, 100, BLAS, BLAS},
    {"f64/100:own=13,openblas=10 f64-page/300:own=1,openblas=2", NULL, NULL, F64 + WAY_PAGE, 300, OWN, BLAS},
    {"f64/100:own=14,openblas=10", NULL, NULL, F64 + WAY_PAGE, 100, BLAS, OWN},
    /* Far below the measured sides no rates are used. A library without a rate is never chosen. */
    {"f64/100:own=9", NULL, NULL, F64, 60, BLAS, BLAS},
    {"f64/100:own=9", NULL, NULL, F64, 80, BLAS, OWN},
    /* A calibration replaces the probe's rates for the keys that it has. */
#define PROBE "f32/256:own=1,openblas=2 f64/256:own=1,openblas=2"
#define BENCH "f32/256:own=3,openblas=2 lu-f64/48:own=1,openblas=7"
    {PROBE, BENCH, NULL, F32, 256, BLAS, OWN},
    {PROBE, BENCH, NULL, F64, 256, OWN, BLAS},
    {PROBE, BENCH, NULL, LU, 48, OWN, BLAS},
    {PROBE, BENCH, NULL, LU_F32, 48, OWN, OWN},
    /* A calibration that ended early has few sides: a far side does not replace the probe's near side. */
#define NEAR "f32/64:own=9,openblas=2 f32/256:own=2,openblas=9 f32/512:own=1,openblas=9"
    {NEAR, "f32/64:own=1,openblas=2", NULL, F32, 64, OWN, BLAS},
    {NEAR, "f32/64:own=1,openblas=2", NULL, F32, 90, OWN, BLAS},
#define FAR "f32/64:own=9,openblas=2 f32/256:own=9,openblas=2"
    {FAR, "f32/64:own=1,openblas=2", NULL, F32, 64, OWN, BLAS},
    {FAR, "f32/64:own=1,openblas=2", NULL, F32, 200, BLAS, OWN},
    {FAR, "f32/64:own=1,openblas=2", NULL, F32, 4000, BLAS, OWN},
    /* Below all calibrated sides, the probe's rates are used. */
    {"f32/64:own=9,openblas=2", "f32/500:own=1,openblas=2", NULL, F32, 64, BLAS, OWN},
    /* The user's choice takes precedence over all rates. */
#define PAGES "f32/256:own=1,openblas=2 f32-page/256:own=1,openblas=2"
    {PAGES, NULL, "f32=onednn lu=own", F32, 256, BLAS, DNN},
    {PAGES, NULL, "f32=onednn lu=own", F32_PAGE, 256, BLAS, DNN},
    {PAGES, NULL, "f32=onednn lu=own", LU, 256, BLAS, OWN},
    {PAGES, NULL, "f32=onednn lu=own", F64, 256, BLAS, BLAS},
    {PAGES, NULL, "own", F32, 256, BLAS, OWN},
    {PAGES, NULL, " own,\tf32=openblas, lu=openblas,", F64, 256, BLAS, OWN},
    {PAGES, NULL, " own,\tf32=openblas, lu=openblas,", F32, 256, OWN, BLAS},
    {PAGES, NULL, " own,\tf32=openblas, lu=openblas,", LU, 256, OWN, BLAS},
    /* A choice without a key applies to all keys that the implementation supports. */
    {NULL, NULL, "onednn", F32, 256, BLAS, DNN},
    {NULL, NULL, "onednn", F64, 256, BLAS, BLAS},
    {NULL, NULL, "onednn", LU, 256, BLAS, BLAS},
};
/* clang-format on */

TEST(the_way_of_a_call)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const ways *w = read_texts(choices[i].probe, choices[i].bench, choices[i].user);
        way chosen = CHOSEN(w, choices[i].key, choices[i].side, choices[i].usual);
        if (chosen != choices[i].chosen || skipped + impossible)
            fail_msg("choice %zu: %d, not %d; %s", i, (int)chosen, (int)choices[i].chosen, last);
    }
    /* A near calibrated side is used, even if the probe has a nearer side. */
    const way_point *p;
    (void)ways_choose(read_texts("f32/400:own=9,openblas=2", "f32/500:own=1,openblas=2", NULL), F32, 400, OWN, &p);
    assert_float_equal(p->side, 500, 0);
}

static void assert_explained(const ways *w, int key, double side, way usual, const char *expected)
{
    char written[256] = "";
    text t = {.at = written, .capacity = sizeof written};
    ways_explain(&t, w, key, side, usual);
    assert_string_equal(written, expected);
}

TEST(impossible_ways)
{
    static const char *const wrong[] = {"f64=onednn",    "lu=onednn",   "c64=onednn",
                                        "bf16=openblas", "i8=openblas", "f64-page=onednn"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        read_texts(NULL, NULL, wrong[i]);
        assert_int_equal(impossible, 1);
        assert_int_equal(skipped, 0);
    }
    read_texts(NULL, NULL, "c64-page=own"); /* no key */
    assert_int_equal(skipped, 1);
    const ways *w = read_texts("f64/256:own=9,openblas=1", NULL, "f64=onednn");
    assert_string_equal(last, "cpu_openmp.ways: 'f64=onednn' is not possible, and the default is "
                              "used: onednn does not compute f64");
    assert_int_equal(CHOSEN(w, F64, 256, WAY_OPENBLAS), WAY_OPENBLAS);
    assert_explained(
        w, F64, 256, WAY_OPENBLAS,
        "openblas is the default; onednn, which the setting cpu_openmp.ways chooses, "
        "does not compute f64");
}

TEST(malformed_parts_are_skipped)
{
    static const char *const wrong[] = {
        "f32",           "f32/",           "f32/x:own=1", "f32/0:own=1",    "f33/64:own=1",
        "f32/64:mine=1", "f32/64:own=",    "f32/64:own",  "f32/64:own=1,",  "f32/64",
        "f32/64:own=1;", "f32/64:own=1e3", "/64:own=1",   "f32/64:own=1,2", "f32/-64:own=1"};
    char item[64];
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
    /* Keys for which the backend has only one implementation. */
    read_texts("f32-batch/64:own=1,openblas=2", "fft-c64/64:own=1,openblas=2", "f16=own fft=own");
    assert_int_equal(skipped, 4);
    /* Further skipped items are only counted. */
    const ways *w = read_texts(NULL, NULL, "a b c d e f g own");
    assert_int_equal(skipped, 3);
    assert_string_equal(last, "cpu_openmp.ways: 4 more such items");
    assert_int_equal(CHOSEN(w, F32, 64, WAY_ONEDNN), WAY_OWN);
}

/* More points than fit are skipped, and written points can be read again. */
TEST(points_are_written_and_read)
{
    char written[2048] = "";
    text t = {.at = written, .capacity = sizeof written};
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

/* A backend with other implementations, and calls with several products or matrices. */
TEST(another_backend)
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

TEST(forms)
{
    assert_int_equal(ways_form(100, 100, 100, 0), WAY_SQUARE);
    assert_int_equal(ways_form(1024, 1024, 1024, 1), WAY_PAGE);
    assert_int_equal(ways_form(512, 512, 16, 1), WAY_INNER + WAY_PAGE);
    assert_int_equal(ways_form(16, 512, 512, 0), WAY_ROWS);
    assert_int_equal(ways_form(512, 8, 512, 0), WAY_COLUMNS);
    assert_int_equal(ways_form(512, 17, 512, 0), WAY_SQUARE);
    assert_int_equal(ways_form(16, 32, 512, 0), WAY_SQUARE);
    assert_int_equal(ways_form(1, 1, 1, 0), WAY_SQUARE);
}

TEST(reasons)
{
    assert_explained(read_texts("f32/256:own=61.25,onednn=91", NULL, NULL), F32, 300, WAY_ONEDNN,
                     "the probe measured for f32 at side 256: own 61.2, onednn 91 GF/s");
    assert_explained(read_texts("f64/100:own=14,openblas=10", NULL, NULL), F64 + WAY_PAGE, 100,
                     WAY_OPENBLAS,
                     "the probe measured for f64 at side 100: own 14, openblas 10 GF/s");
    assert_explained(read_texts(NULL, NULL, "own"), F32, 300, WAY_ONEDNN,
                     "chosen by the setting cpu_openmp.ways");
    assert_explained(read_texts(NULL, NULL, NULL), LU, 300, WAY_OPENBLAS,
                     "openblas is the default; lu-f64 was not measured here");
    assert_explained(read_texts(NULL, "lu-f64/48:own=2.6,openblas=13.1", NULL), LU, 48, WAY_OWN,
                     "backend-bench calibrate measured for lu-f64 at side 48: own 2.6, openblas "
                     "13.1 GF/s");
    /* Another implementation is faster, but not by enough. */
    assert_explained(
        read_texts(NULL, "f64/256:own=73.7,openblas=72.1", NULL), F64, 256, WAY_OPENBLAS,
        "backend-bench calibrate measured for f64 at side 256: own 73.7, openblas 72.1 "
        "GF/s; openblas is the default, which stays unless another is 5 % faster");
    assert_explained(
        read_texts("f64/256:own=80,openblas=72", NULL, NULL), F64, 256, WAY_OPENBLAS,
        "the probe measured for f64 at side 256: own 80, openblas 72 GF/s; openblas is "
        "the default, which stays unless another is 15 % faster");
    assert_explained(
        read_texts("f64/256:own=90,openblas=72", NULL, NULL), F64, 999, WAY_OPENBLAS,
        "the probe measured for f64 at side 256: own 90, openblas 72 GF/s; openblas is "
        "the default, which stays unless another is 32 % faster");
}
