/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of the opencl backend by CLBlast, on PoCL. Layouts, batches and error codes are tested with
 * a stand-in in this directory that multiplies on the host; then the real library is tested. Skipped if
 * no driver has a device.
 */
#include <dlfcn.h>

#include "../../plugins/opencl/clblast.h"
#include "opencl_support.h"

#if __has_include(<clblast_c.h>)
#include <clblast_c.h>
/* Enumerations: int in the backend, unsigned in CLBlast; the calling convention is the same. */
_Static_assert(sizeof(CLBlastLayout) == sizeof(int) && sizeof(CLBlastTranspose) == sizeof(int) &&
                   (int)CLBlastLayoutRowMajor == CLBLAST_ROWS &&
                   (int)CLBlastTransposeNo == CLBLAST_AS_IS &&
                   (int)CLBlastTransposeYes == CLBLAST_TRANSPOSED,
               "as clblast_c.h has them");
#endif

#define FAKE(name) COLLET_TEST_FAKES "/libfake_clblast_" name ".so"

/* The same as in libraries/clblast.c. */
typedef struct fake_clblast {
    int calls, fails_from, status;
} fake_clblast;

/* `library`: the value of opencl.clblast; NULL: not set. `more`: an additional setting, or NULL. */
static world open_set(const char *library, const char *more)
{
    char setting[600];
    const char *const settings[] = {"cache=off", setting, more, NULL};
    snprintf(setting, sizeof setting, "opencl.clblast=%s", library ? library : "");
    return open_world(OPENCL_PLUGIN ":" SCALAR_PLUGIN, settings, "opencl");
}

static world open_with(const char *library)
{
    return open_set(library, NULL);
}

static fake_clblast *fresh_fake(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fake_clblast *fake = library ? dlsym(library, "fake") : NULL;
    assert_non_null(fake);
    *fake = (fake_clblast){0, 1000000, 0};
    return fake;
}

/* ---- A product ------------------------------------------------------------------------------- */

#define BATCH 3
#define ROWS 40
#define COLUMNS 36
#define INNER 530 /* more than CLBlast sums in one pass */

typedef struct shape {
    collet_dtype dtype;
    int64_t batch;                            /* 0: no batch */
    int a_transposed, b_transposed, b_shared; /* b_shared: one b for the whole batch */
} shape;

/* `count` matrices (0: one matrix without a batch axis) of rows x columns ones. If `transposed`, a view of
 * columns x rows in memory. */
static collet_array *ones(collet_context *cx, collet_dtype dtype, int64_t count, int64_t rows,
                          int64_t columns, int transposed)
{
    const int64_t stored[3] = {count, transposed ? columns : rows, transposed ? rows : columns};
    const int32_t skip = count ? 0 : 1, swap3[] = {0, 2, 1}, swap2[] = {1, 0};
    const collet_scalar one = {.dtype = COLLET_F64, .value.f64 = 1};
    collet_array *all = NULL, *view = NULL;
    assert_ok(cx, collet_array_create(cx, &all, dtype, 3 - skip, stored + skip));
    assert_ok(cx, collet_op_fill(cx, all, &one));
    assert_ok(cx, collet_array_permute(cx, all, &view, count ? swap3 : swap2));
    collet_array_destroy(transposed ? all : view);
    return transposed ? view : all;
}

/* Multiplies ones; check_opencl_clblast_matmul multiplies other numbers. */
static void assert_product(collet_context *cx, const shape *s)
{
    static double got[BATCH * ROWS * COLUMNS];
    int64_t shape_of_c[3] = {s->batch, ROWS, COLUMNS}, count = s->batch ? s->batch : 1;
    int32_t skip = s->batch ? 0 : 1;
    int64_t n = count * ROWS * COLUMNS;
    OWNED(collet_array) *c = NULL, *wide = NULL;
    OWNED(collet_array) *a = ones(cx, s->dtype, s->batch, ROWS, INNER, s->a_transposed);
    OWNED(collet_array) *b =
        ones(cx, s->dtype, s->b_shared ? 0 : s->batch, INNER, COLUMNS, s->b_transposed);
    assert_ok(cx, collet_array_create(cx, &c, s->dtype, 3 - skip, shape_of_c + skip));
    assert_ok(cx, collet_array_create(cx, &wide, COLLET_F64, 3 - skip, shape_of_c + skip));
    assert_ok(cx, collet_op_matmul(cx, c, a, b));
    assert_string_equal(collet_last_backend(cx), "opencl");
    assert_ok(cx, collet_op_copy(cx, wide, c));
    assert_ok(cx, collet_array_read(cx, wide, got, (size_t)n * sizeof *got));
    for (int64_t i = 0; i < n; i++)
        assert_true(got[i] == INNER);
}

static const shape plain = {COLLET_F32, 0, 0, 0, 0};

/* Checks the backend's capabilities for text about CLBlast. */
static void assert_reported(const world *w, const char *part)
{
    for (size_t i = 0; i < collet_backend_count(w->rt); i++) {
        collet_backend_info info = {.struct_size = sizeof info};
        assert_int_equal(collet_backend_info_at(w->rt, &info, i, NULL), COLLET_OK);
        if (!strcmp(info.name, "opencl") && !strstr(info.capabilities, part))
            fail_msg("'%s' lacks '%s'", info.capabilities, part);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void every_layout_is_taken(void **state)
{
    static const shape shapes[] = {
        {COLLET_F32, 0, 0, 0, 0},     {COLLET_F64, 0, 0, 0, 0},     {COLLET_F32, 0, 1, 0, 0},
        {COLLET_F32, 0, 0, 1, 0},     {COLLET_F64, 0, 1, 1, 0},     {COLLET_F32, BATCH, 0, 0, 0},
        {COLLET_F64, BATCH, 1, 0, 0}, {COLLET_F32, BATCH, 0, 1, 0}, {COLLET_F32, BATCH, 0, 0, 1}};
    fake_clblast *fake = fresh_fake(FAKE("plain"));
    OWNED(world) w = open_with(FAKE("plain"));
    assert_reported(&w, "\"clblast\": \"" COLLET_TEST_FAKES);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        fake->calls = 0;
        assert_product(w.cx, &shapes[i]);
        /* The inner dimension is 530, and a call takes at most 256 of it. */
        assert_int_equal(fake->calls, 3);
    }
}

/* Collet's kernel computes the product, and the capabilities give the reason. */
static void unusable_libraries_are_reported(void **state)
{
    static const char *const cases[][2] = {
        {NULL, "not used on a processor, where its first product takes seconds"},
        {"off", "not used: opencl.clblast is off"},
        {"/nowhere/libclblast.so.1", "not found: /nowhere/libclblast.so.1"},
        {FAKE("lacks"), "not used: it has no CLBlastDgemmStridedBatched"},
        {FAKE("another"), "not used: it calls another OpenCL loader"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(world) w = open_with(cases[i][0]);
        assert_reported(&w, cases[i][1]);
        assert_product(w.cx, &plain);
    }
    assert_int_equal(fresh_fake(FAKE("lacks"))->calls, 0);
}

/* In safe mode CLBlast is not even opened, and Collet's kernels compute. */
static void safe_mode_does_not_open_clblast(void **state)
{
    static const char *const cases[][3] = {
        {FAKE("plain"), "opencl.safe_mode=on", "\"clblast\": \"not used in safe mode: on\""},
        {FAKE("plain"), "opencl.safe_mode=off", "\"clblast\": \"" COLLET_TEST_FAKES},
        {FAKE("crashes"), "opencl.safe_mode=on", "\"not used in safe mode: on\""},
        /* safe_mode is not set: the probe crashes and is repeated in safe mode. */
        {FAKE("crashes"), NULL, "\"not used in safe mode: the probe crashed in its capabilities"},
    };
    fake_clblast *fake = fresh_fake(FAKE("plain"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(world) w = open_set(cases[i][0], cases[i][1]);
        fake->calls = 0;
        assert_reported(&w, cases[i][2]);
        assert_product(w.cx, &plain);
        assert_int_equal(fake->calls, i == 1 ? 3 : 0);
    }
}

/* After an error of CLBlast the product is still correct, and CLBlast is not called again. */
static void an_error_disables_clblast(void **state)
{
    fake_clblast *fake = fresh_fake(FAKE("plain"));
    OWNED(world) w = open_with(FAKE("plain"));
    fake->fails_from = 1;
    fake->status = CL_INVALID_KERNEL_NAME;
    assert_product(w.cx, &plain);
    assert_int_equal(fake->calls, 2);
    assert_product(w.cx, &plain);
    assert_int_equal(fake->calls, 2);
}

static void a_memory_shortage_is_temporary(void **state)
{
    fake_clblast *fake = fresh_fake(FAKE("plain"));
    OWNED(world) w = open_with(FAKE("plain"));
    fake->fails_from = 0;
    fake->status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    assert_product(w.cx, &plain);
    assert_int_equal(fake->calls, 1);
    *fake = (fake_clblast){0, 1000000, 0};
    assert_product(w.cx, &plain);
    assert_int_equal(fake->calls, 3);
}

/* PoCL needs seconds to compile CLBlast's programs. So there is only one f32 product, in a separate
 * test. */
static void the_real_library_is_right(void **state)
{
    if (!dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL)) {
        print_message("no CLBlast: %s\n", dlerror());
        skip();
    }
    OWNED(world) w = open_with("libclblast.so.1");
    assert_reported(&w, "libclblast.so.1\"");
    assert_product(w.cx, &plain);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest real[] = {cmocka_unit_test(the_real_library_is_right)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_is_taken),
        cmocka_unit_test(unusable_libraries_are_reported),
        cmocka_unit_test(safe_mode_does_not_open_clblast),
        cmocka_unit_test(an_error_disables_clblast),
        cmocka_unit_test(a_memory_shortage_is_temporary),
    };
    if (!has_devices(1))
        return SKIPPED;
    if (argc > 1 && !strcmp(argv[1], "real"))
        return cmocka_run_group_tests(real, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
