/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation number N fails, for N = 0, 1, ... until everything succeeds: each failure returns a
 * status with a text, nothing leaks, and the next attempt is unaffected. The wrappers of
 * failing_malloc.h and the sanitizer detect leaks.
 */

#include "common/failing_malloc.h"
#include "common/support.h"

typedef struct session {
    collet_runtime *rt;
    collet_context *cx;
    collet_array *a, *b, *c, *view;
} session;

/* Together with the arrays of `calls`, the arrays of this function need more than the device's
 * memory. So libcore must free some memory. */
static collet_status use_and_free(session *s)
{
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    collet_status status = COLLET_OK;
    for (int64_t n = 16; n < 22 && status == COLLET_OK; n++) {
        OWNED(collet_array) *a = NULL;
        status = collet_array_create(s->cx, &a, COLLET_F32, 1, &n);
        if (status == COLLET_OK)
            status = collet_op_fill(s->cx, a, &one);
    }
    return status;
}

static collet_status calls(session *s, const char *backend)
{
    const int64_t shape[] = {2, 8}, eight = 8;
    float values[16] = {1, 2, 3, 4}, sink[16];
    collet_status status = collet_set_backend(s->cx, backend);
    if (status == COLLET_OK)
        status = collet_array_from(s->cx, &s->a, COLLET_F32, 2, shape, values);
    if (status == COLLET_OK)
        status = collet_array_from(s->cx, &s->b, COLLET_F32, 1, &eight, values);
    if (status == COLLET_OK)
        status = collet_array_create(s->cx, &s->c, COLLET_F32, 2, shape);
    if (status == COLLET_OK)
        status = collet_op_add(s->cx, s->c, s->a, s->b);
    if (status == COLLET_OK)
        status = use_and_free(s);
    if (status == COLLET_OK)
        status = collet_array_permute(s->cx, s->c, &s->view, NULL);
    if (status == COLLET_OK)
        status = collet_array_read(s->cx, s->view, sink, sizeof sink);
    return status;
}

static collet_status whole_session(const char *backend, collet_error *err)
{
    static const char *const settings[] = {"cache=off", "log=off", "remote.memory=300", NULL};
    session s = {0};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = REMOTE_PLUGIN ":" SCALAR_PLUGIN,
                                      .settings = settings};
    collet_status status = collet_runtime_create(&s.rt, &options, err);
    if (status == COLLET_OK)
        status = collet_context_create(s.rt, &s.cx, err);
    if (status == COLLET_OK) {
        status = calls(&s, backend);
        if (status != COLLET_OK)
            collet_fail(err, status, "%s", collet_last_error(s.cx));
    }
    collet_array_destroy(s.a);
    collet_array_destroy(s.b);
    collet_array_destroy(s.c);
    collet_array_destroy(s.view);
    collet_context_destroy(s.cx);
    collet_runtime_destroy(s.rt);
    return status;
}

/*
 * If an allocation fails, the session reports the failure. A session that lost only a plugin (a
 * record says so) or a log message may succeed.
 */
static void every_allocation_may_fail(const char *backend)
{
    collet_error err = {COLLET_OK, ""};
    long reported = 0, n = 0;
    assert_int_equal(whole_session(backend, &err), COLLET_OK);
    for (;; n++) {
        long before = allocation_outstanding;
        memset(&err, 0, sizeof err);
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status = whole_session(backend, &err);
        allocation_countdown = -1;
        if (allocation_outstanding != before)
            fail_msg("allocation %ld: %ld blocks leaked (%s)", n, allocation_outstanding - before,
                     err.text);
        if (!allocation_failed) {
            assert_int_equal(status, COLLET_OK);
            break;
        }
        if (status != COLLET_OK && !err.text[0])
            fail_msg("allocation %ld: %s without a text", n, collet_status_name(status));
        reported += status != COLLET_OK;
    }
    print_message("%s: %ld allocations, %ld failures reported\n", backend, n, reported);
    assert_true(n > 30 && reported > 20);
}

TEST(on_host_memory)
{
    every_allocation_may_fail("cpu_scalar");
}

TEST(on_device_memory)
{
    every_allocation_may_fail("remote,cpu_scalar");
}
