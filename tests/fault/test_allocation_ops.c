/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every op in a new context, on operands that overlap where they may, while allocation number N of
 * the call fails: scratch, temporaries, what a context makes on first use. The call reports it, its
 * outputs stay as they were, nothing leaks, and the same call then succeeds.
 */
#include "failing_malloc.h"
#include "common/fixture.h"
#include "common/op_call.h"

static int set_up(void **state)
{
    (void)state;
    static const char *const settings[] = {"cache=off", "log=off", NULL};
    open_shared(OPENMP_PLUGIN ":" SCALAR_PLUGIN, settings, NULL);
    return 0;
}

/* Runs the call once with allocation `n` failing; 1 when it did not come to that. */
static int run_without(const op_call *c, const char *backend, long n)
{
    collet_context *fresh = context_of(rt);
    assert_ok(fresh, collet_set_backend(fresh, backend));
    long before = allocation_outstanding;
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
    if (allocation_outstanding > before)
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

/* The number of allocations that the call makes. */
static long fail_each(const op_call *c, const char *backend)
{
    long n = 0;
    make_outputs_old(c);
    while (!run_without(c, backend, n))
        n++;
    return n;
}

/* Small calls allocate where their kernel wants scratch, and nowhere else. */
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

/* An input that the output overlaps is copied first. */
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
    assert_ok(cx, collet_array_wrap(cx, &c.array[0], COLLET_F32, 1, &n, NULL, memory, NULL, NULL));
    assert_ok(cx,
              collet_array_wrap(cx, &c.array[1], COLLET_F32, 1, &n, NULL, memory + 1, NULL, NULL));
    assert_true(fail_each(&c, "cpu_scalar") >= 3); /* array, storage, memory */
    op_call_free(&c);
}

/* A sum that is shared by threads has results of each to keep. */
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
    assert_ok(cx, collet_fill(cx, c.array[1], one));
    long without = fail_each(&c, "cpu_scalar"), with = fail_each(&c, "cpu_openmp");
    print_message("%ld allocations without scratch, %ld with\n", without, with);
    assert_true(with > without);
    op_call_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_one_thread),
        cmocka_unit_test(on_all_threads),
        cmocka_unit_test(temporaries),
        cmocka_unit_test(scratch),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
