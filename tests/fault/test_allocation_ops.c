/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every op in a new context while allocation number N of the call fails: scratch, temporaries of
 * overlapping operands, objects that a context creates on first use. The call reports it, its
 * outputs are unchanged, nothing leaks, and the same call then succeeds.
 */
#include "failing_malloc.h"
#include "common/fixture.h"
#include "common/op_call.h"

/* FAILING_PLUGINS: allocations of the plugins fail too. */
#ifdef FAILING_PLUGINS
#define PLUGINS FAILING_PLUGINS
#else
#define PLUGINS OPENMP_PLUGIN ":" SCALAR_PLUGIN
#endif

static int set_up(void **state)
{
    (void)state;
    static const char *const settings[] = {"cache=off", "log=off", NULL};
    open_shared(PLUGINS, settings, NULL);
    return 0;
}

/* Runs the call with allocation `n` failing; returns 1 if it makes fewer. Checks for leaks only the
 * last of three times: a device caches objects from its first uses. */
static int run_without(const op_call *c, const char *backend, long n, int time)
{
    long before = allocation_outstanding;
    collet_context *fresh = context_of(rt);
    assert_ok(fresh, collet_set_backend(fresh, backend));
    allocation_failed = 0;
    allocation_countdown = n;
    collet_status status = op_call_run(c, fresh);
    allocation_countdown = -1;
    if (!allocation_failed) {
        assert_ok(fresh, status);
        collet_context_destroy(fresh);
        return 1;
    }
    if (status != COLLET_NO_MEMORY && status != COLLET_REFUSED)
        fail_msg("%s on %s, allocation %ld: %s", c->info.name, backend, n,
                 collet_status_name(status));
    assert_true(*collet_last_error(fresh) != '\0');
    op_call_assert_old(c, cx);
    collet_context_destroy(fresh);
    if (time == 2 && allocation_outstanding > before)
        fail_msg("%s on %s, allocation %ld: %ld blocks leaked", c->info.name, backend, n,
                 allocation_outstanding - before);
    return 0;
}

static void make_outputs_old(const op_call *c)
{
    static unsigned char bytes[OP_CALL_BYTES];
    memset(bytes, OP_CALL_OLD, sizeof bytes);
    for (uint32_t k = 0; k < c->info.n_out; k++)
        assert_ok(cx, collet_array_write(cx, c->array[k], bytes, op_call_bytes(c, k)));
}

/* Fails each allocation of the call; returns their number. */
static long fail_each(const op_call *c, const char *backend)
{
    long n = 0;
    make_outputs_old(c);
    while (!run_without(c, backend, n, 0) && !run_without(c, backend, n, 1) &&
           !run_without(c, backend, n, 2))
        n++;
    return n;
}

/* Small calls allocate only the scratch of their kernels. */
static long every_op(const char *backend)
{
    long failures = 0;
    for (size_t i = 0; i < collet_op_count(rt); i++) {
        op_call c;
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        op_call_arrays(&c, cx);
        failures += fail_each(&c, backend);
        op_call_free(&c);
    }
    print_message("%s: %ld failures\n", backend, failures);
    return failures;
}

static void on_one_thread(void **state)
{
    (void)state;
    (void)every_op("cpu_scalar");
}

static void on_all_threads(void **state)
{
    (void)state;
    assert_true(every_op("cpu_openmp") > 10);
}

/* An input that overlaps the output is copied to a temporary. */
static void temporaries(void **state)
{
    static float memory[64];
    const int64_t n = 32;
    op_call c;
    (void)state;
    for (size_t i = 0; i < collet_op_count(rt); i++) {
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        if (c.info.id == COLLET_OP_EXP)
            break;
    }
    c.operand[0].ndim = c.operand[1].ndim = 1;
    c.operand[0].shape[0] = c.operand[1].shape[0] = n;
    assert_ok(cx,
              collet_array_wrap(cx, &c.array[0], COLLET_F32, 1, &n, NULL, memory, 0, NULL, NULL));
    assert_ok(
        cx, collet_array_wrap(cx, &c.array[1], COLLET_F32, 1, &n, NULL, memory + 1, 0, NULL, NULL));
    assert_true(fail_each(&c, "cpu_scalar") >= 3); /* array, storage, memory */
    op_call_free(&c);
}

/* A sum divided among threads needs scratch for their partial results. */
static void scratch(void **state)
{
    const int64_t n = (int64_t)1 << 22;
    const collet_scalar one = {.dtype = COLLET_F64, .value.f64 = 1};
    op_call c;
    (void)state;
    for (size_t i = 0; i < collet_op_count(rt); i++) {
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        if (c.info.id == COLLET_OP_SUM)
            break;
    }
    op_call_arrays(&c, cx);
    c.params.reduce.axes = 1;
    c.operand[0].ndim = 0;
    collet_array_free(c.array[0]);
    collet_array_free(c.array[1]);
    assert_ok(cx, collet_array_create(cx, &c.array[0], COLLET_F32, 0, NULL));
    assert_ok(cx, collet_array_create(cx, &c.array[1], COLLET_F32, 1, &n));
    assert_ok(cx, collet_fill(cx, c.array[1], &one));
    long without = fail_each(&c, "cpu_scalar"), with = fail_each(&c, "cpu_openmp");
    print_message("%ld allocations without scratch, %ld with\n", without, with);
    assert_true(with > without);
    op_call_free(&c);
}

#ifdef FAILING_PLUGINS
/* Opens cpu_scalar once with allocation `n` failing; returns 1 if it makes fewer. */
static int open_without(long n)
{
    static const char *const settings[] = {"cache=off", "log=off", NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = PLUGINS, .settings = settings};
    collet_runtime *runtime = NULL;
    collet_context *context = NULL;
    collet_error err = {0};
    long before = allocation_outstanding;
    allocation_failed = 0;
    allocation_countdown = n;
    collet_status status = collet_runtime_create(&runtime, &options, &err);
    if (status == COLLET_OK)
        status = collet_context_create(&context, runtime, &err);
    if (status == COLLET_OK)
        status = collet_set_backend(context, "cpu_scalar");
    allocation_countdown = -1;
    if (!allocation_failed)
        assert_int_equal(status, COLLET_OK);
    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
    if (allocation_outstanding > before)
        fail_msg("allocation %ld: %ld blocks leaked", n, allocation_outstanding - before);
    return !allocation_failed;
}

static void opening(void **state)
{
    long n = 0;
    (void)state;
    while (!open_without(n))
        n++;
    print_message("%ld failures\n", n);
    assert_true(n > 20);
}

static int fft_without(collet_array *out, const collet_array *in, const char *backend, long n,
                       int time)
{
    long before = allocation_outstanding;
    collet_context *fresh = context_of(rt);
    const collet_fft_params params = {.struct_size = sizeof params, .axes = 1};
    assert_ok(fresh, collet_set_backend(fresh, backend));
    allocation_failed = 0;
    allocation_countdown = n;
    collet_status status = collet_call(fresh, COLLET_OP_FFT, &out, &in, &params);
    if (status == COLLET_OK)
        status = collet_finish(fresh);
    allocation_countdown = -1;
    int failed = allocation_failed;
    if (!failed)
        assert_ok(fresh, status);
    else if (status != COLLET_OK && status != COLLET_NO_MEMORY && status != COLLET_REFUSED)
        fail_msg("fft on %s, allocation %ld: %s", backend, n, collet_status_name(status));
    collet_context_destroy(fresh);
    if (time == 2 && failed && status != COLLET_OK && allocation_outstanding > before)
        fail_msg("fft on %s, allocation %ld: %ld blocks leaked", backend, n,
                 allocation_outstanding - before);
    return !failed;
}

/* Plans for lengths with small factors, by convolution, and divided among threads. Plans are
 * cached, so an allocation of a length fails only at its first use. */
static void fft_plans(void **state)
{
    static const int64_t lengths[] = {360, 4099, 1 << 18};
    static const char *const backends[] = {"cpu_scalar", "cpu_openmp"};
    (void)state;
    for (size_t b = 0; b < 2; b++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            collet_array *in, *out;
            const collet_scalar one = {.dtype = COLLET_C128, .value.c128 = {1, 0}};
            long n = 0;
            assert_ok(cx, collet_array_create(cx, &in, COLLET_C128, 1, &lengths[i]));
            assert_ok(cx, collet_array_create(cx, &out, COLLET_C128, 1, &lengths[i]));
            assert_ok(cx, collet_fill(cx, in, &one));
            while (!fft_without(out, in, backends[b], n, 0) &&
                   !fft_without(out, in, backends[b], n, 1) &&
                   !fft_without(out, in, backends[b], n, 2))
                n++;
            print_message("%s: %ld failures for %lld points\n", backends[b], n,
                          (long long)lengths[i]);
            assert_true(n >= 3);
            collet_array_free(in);
            collet_array_free(out);
        }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef FAILING_PLUGINS
        cmocka_unit_test(opening),       cmocka_unit_test(fft_plans),
#endif
        cmocka_unit_test(on_one_thread), cmocka_unit_test(on_all_threads),
        cmocka_unit_test(temporaries),   cmocka_unit_test(scratch),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
