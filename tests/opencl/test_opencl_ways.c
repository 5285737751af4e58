/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which implementation the opencl backend chooses for a product, by the setting opencl.ways, by a calibration, or
 * by default. The tests run on PoCL with a stand-in for CLBlast. Both implementations give the same results, and
 * collet_explain reports the choice. Skipped if no driver has a device.
 */
#include <dlfcn.h>

#include "opencl_support.h"

#define FAKE COLLET_TEST_FAKES "/libfake_clblast_plain.so"

/* The same as in libraries/clblast.c. */
typedef struct fake_clblast {
    int calls, fails_from, status;
} fake_clblast;

static char cache[] = "/tmp/collet-ways-XXXXXX";
static fake_clblast *fake;

static int set_up(void **state)
{
    void *library = dlopen(FAKE, RTLD_NOW | RTLD_LOCAL);
    fake = library ? dlsym(library, "fake") : NULL;
    return !fake || !mkdtemp(cache);
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", cache);
    return system(command);
}

/* `named`: sets opencl.clblast to the stand-in, which is then chosen by default. */
static world open_with(int named, const char *ways)
{
    char directory[64], library[600], way[64];
    const char *const settings[] = {directory, library, way, "probe=on", "calibration=on", "measure=on", NULL};
    snprintf(directory, sizeof directory, "cache_dir=%s", cache);
    snprintf(library, sizeof library, "opencl.clblast=%s", named ? FAKE : "");
    snprintf(way, sizeof way, "opencl.ways=%s", ways);
    return open_world(OPENCL_PLUGIN, settings, "opencl");
}

/* ---- A product ------------------------------------------------------------------------------- */

#define ROWS 48
#define INNER 300 /* two calls of CLBlast */
#define COLUMNS 40

typedef struct product {
    collet_array *c, *a, *b;
} product;

/* An array of ones. */
static collet_array *matrix(collet_context *cx, int64_t batch, int64_t rows, int64_t columns)
{
    const int64_t shape[] = {batch, rows, columns};
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    collet_array *a = NULL;
    assert_ok(cx, collet_array_create(cx, &a, COLLET_F32, batch > 1 ? 3 : 2, shape + (batch > 1 ? 0 : 1)));
    assert_ok(cx, collet_op_fill(cx, a, &one));
    return a;
}

static product make_product(collet_context *cx, int64_t batch)
{
    return (product){matrix(cx, batch, ROWS, COLUMNS), matrix(cx, batch, ROWS, INNER),
                     matrix(cx, batch, INNER, COLUMNS)};
}

static void free_product(product p)
{
    collet_array_destroy(p.a);
    collet_array_destroy(p.b);
    collet_array_destroy(p.c);
}

/* Computes a product of ones, and returns how many calls of the stand-in it took. */
static int calls_for(collet_context *cx, int64_t batch)
{
    product p = make_product(cx, batch);
    static float got[4 * ROWS * COLUMNS];
    size_t count = (size_t)batch * ROWS * COLUMNS;
    fake->calls = 0;
    assert_ok(cx, collet_op_matmul(cx, p.c, p.a, p.b));
    assert_ok(cx, collet_array_read(cx, p.c, got, count * sizeof *got));
    for (size_t i = 0; i < count; i++)
        assert_true(got[i] == INNER);
    free_product(p);
    return fake->calls;
}

/* The text of collet_explain about this product contains `part`. */
static void assert_explained(collet_context *cx, int64_t batch, const char *part)
{
    char text[4096];
    product p = make_product(cx, batch);
    collet_array *outs[] = {p.c};
    const collet_array *ins[] = {p.a, p.b};
    assert_ok(cx, collet_explain(cx, COLLET_OP_MATMUL, text, sizeof text, outs, ins, NULL));
    if (!strstr(text, part))
        fail_msg("'%s' lacks '%s'", text, part);
    free_product(p);
}

/* Stores these rates as if backend-bench calibrate had measured them. */
static void calibrate(const char *rates)
{
    char text[300];
    collet_error err = {COLLET_OK, ""};
    OWNED(world) w = open_with(1, "");
    snprintf(text, sizeof text,
             "{\"format\":1,\"made\":\"2026-11-27T15:40:00Z\",\"calibrated\":\"%s\"}", rates);
    assert_success(collet_calibration_write(w.rt, NULL, 0, "opencl", text, &err), err);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(the_setting_decides)
{
    OWNED(world) w = open_with(1, "");
    assert_int_equal(calls_for(w.cx, 1), 2);
    assert_explained(w.cx, 1, "How: CLBlast (" COLLET_TEST_FAKES);
    assert_explained(w.cx, 1, "; clblast is the default; f32 was not measured here.");
    close_world(w);
    w = open_with(1, "own");
    assert_int_equal(calls_for(w.cx, 1), 0);
    assert_explained(w.cx, 1, "How: own kernels; chosen by the setting opencl.ways.");
    close_world(w);
    w = open_with(1, "own f32=clblast f32-batch=own");
    assert_int_equal(calls_for(w.cx, 1), 2);
    assert_int_equal(calls_for(w.cx, 3), 0);
    assert_explained(w.cx, 3, "How: own kernels; chosen by the setting opencl.ways.");
}

TEST(the_calibration_decides)
{
    calibrate("f32/83:own=9,clblast=3.5 f32-batch/83:own=2,clblast=3");
    OWNED(world) w = open_with(1, "");
    assert_int_equal(calls_for(w.cx, 1), 0);
    assert_int_equal(calls_for(w.cx, 3), 2);
    assert_explained(
        w.cx, 1,
        "How: own kernels; backend-bench calibrate measured for f32 at side 83: own 9, "
        "clblast 3.5 GF/s.");
    close_world(w);
    /* The user's setting takes precedence. */
    w = open_with(1, "clblast");
    assert_int_equal(calls_for(w.cx, 1), 2);
    close_world(w);
    calibrate("f32/83:own=3.4,clblast=3.5");
    w = open_with(1, "");
    assert_int_equal(calls_for(w.cx, 1), 2);
}

/* The reasons why CLBlast is not called although it is chosen. */
TEST(what_is_not_there)
{
    const char *const settings[] = {"cache=off", "opencl.clblast=off", "opencl.ways=clblast", NULL};
    world w = open_world(OPENCL_PLUGIN, settings, "opencl");
    assert_int_equal(calls_for(w.cx, 1), 0);
    assert_explained(w.cx, 1, "How: own kernels; CLBlast is not used: opencl.clblast is off.");
    close_world(w);
    /* The default library is not opened for a CPU device, whatever opencl.ways says. */
    for (int forced = 0; forced < 2; forced++) {
        w = open_with(0, forced ? "clblast" : "");
        assert_int_equal(calls_for(w.cx, 1), 0);
        assert_explained(w.cx, 1,
                         "How: own kernels; CLBlast is not used on a processor, where its first "
                         "product takes seconds.");
        close_world(w);
    }
}

TEST_GROUP(set_up, tear_down)

int main(void)
{
    if (!has_devices(1))
        return SKIPPED;
    return test_run();
}
