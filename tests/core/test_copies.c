/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between devices: direct where the backend supports it, else through the host. */

#include "common/fixture.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN
#define N 64

/* Opens `remote` with kernels so slow that a missing wait always gives a wrong result. */
static void open_remote(const char *setting)
{
    const char *const settings[] = {"remote.delay_us=20000", setting, NULL};
    open_shared(BOTH, settings, NULL);
}

static void use_backend(const char *backend)
{
    assert_ok(cx, collet_set_backend(cx, backend));
}

/* Asserts that each element i of `n` is factor * (start + i). */
static void assert_scaled(const collet_array *a, int n, float start, float factor)
{
    float expected[N];
    for (int i = 0; i < n; i++)
        expected[i] = factor * (start + (float)i);
    assert_floats(cx, a, expected);
}

static void assert_moved(uint64_t to_device, uint64_t to_host, uint64_t direct)
{
    collet_counters c = counters_of(cx);
    assert_int_equal(c.bytes_to_device, to_device);
    assert_int_equal(c.bytes_to_host, to_host);
    assert_int_equal(c.bytes_direct, direct);
}

/* c is computed on device 0 and used on device 1 immediately. */
TEST_WITH(copies_bypass_the_host, NULL, tear_down)
{
    open_remote(NULL);
    OWNED(collet_array) *a = floats(cx, N, 1), *c = empty_floats(cx, N), *d = empty_floats(cx, N);
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, a, a));
    use_backend("remote:1");
    assert_ok(cx, collet_op_add(cx, d, c, c));
    assert_moved(4 * N, 0, 4 * N);
    assert_scaled(d, N, 1, 4);
    assert_moved(4 * N, 4 * N, 4 * N);
    /* c is now valid on both devices: no further transfers. */
    assert_ok(cx, collet_op_add(cx, d, c, c));
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, a, c, c));
    assert_moved(4 * N, 4 * N, 4 * N);
    assert_scaled(c, N, 1, 2);
}

/* Bytes that are valid on the host are uploaded from it; no other device is involved. */
TEST_WITH(host_bytes_are_uploaded, NULL, tear_down)
{
    open_remote(NULL);
    OWNED(collet_array) *a = floats(cx, N, 1), *c = empty_floats(cx, N), *d = empty_floats(cx, N);
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_scaled(c, N, 1, 2);
    use_backend("remote:1");
    assert_ok(cx, collet_op_add(cx, d, c, a));
    assert_moved(12 * N, 4 * N, 0);
}

/* The source is overwritten and freed as soon as the copy is enqueued, long before device 1 runs
 * the copy. */
TEST_WITH(the_source_is_reused_after_the_copy, NULL, tear_down)
{
    open_remote(NULL);
    OWNED(collet_array) *a = floats(cx, N, 1), *d = empty_floats(cx, N);
    collet_array *c = empty_floats(cx, N);
    OWNED(collet_array) *slow = empty_floats(cx, N);
    for (int round = 0; round < 3; round++) {
        use_backend("remote:0");
        assert_ok(cx, collet_op_add(cx, c, a, a));
        use_backend("remote:1");
        for (int i = 0; i < 4; i++)
            assert_ok(cx, collet_op_add(cx, slow, a, a));
        assert_ok(cx, collet_op_add(cx, d, c, a));
        use_backend("remote:0");
        assert_ok(cx, collet_op_mul(cx, c, c, c));
        assert_scaled(d, N, 1, 3);
    }
    use_backend("remote:1");
    assert_ok(cx, collet_op_mul(cx, d, c, a));
    collet_array_destroy(c);
    float expected[N];
    for (int i = 0; i < N; i++)
        expected[i] = 4 * (float)(1 + i) * (float)(1 + i) * (float)(1 + i);
    assert_floats(cx, d, expected);
    assert_int_equal(counters_of(cx).bytes_direct, 4 * 4 * N);
}

/* A round trip through both devices: a copy of a copy. */
TEST_WITH(a_copy_of_a_copy, NULL, tear_down)
{
    open_remote("remote.devices=3");
    OWNED(collet_array) *a = floats(cx, N, 1), *c = empty_floats(cx, N), *d = empty_floats(cx, N);
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, a, a));
    use_backend("remote:1");
    assert_ok(cx, collet_op_add(cx, c, c, c));
    use_backend("remote:2");
    assert_ok(cx, collet_op_add(cx, c, c, c));
    assert_ok(cx, collet_op_copy(cx, d, c));
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, d, d, d));
    assert_moved(4 * N, 0, 3 * 4 * N);
    assert_scaled(d, N, 1, 16);
}

TEST_WITH(refused_copies_go_through_the_host, NULL, tear_down)
{
    open_remote("remote.apart=1");
    OWNED(collet_array) *a = floats(cx, N, 1), *c = empty_floats(cx, N), *d = empty_floats(cx, N);
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, a, a));
    use_backend("remote:1");
    assert_ok(cx, collet_op_add(cx, d, c, c));
    assert_moved(8 * N, 4 * N, 0);
    assert_scaled(d, N, 1, 4);
}

/* A kernel on device 0 fails after its output was copied: reading the copy reports the failure. */
TEST_WITH(a_copy_of_a_failed_result_fails, NULL, tear_down)
{
    float sink[N];
    open_remote("remote.fail=1");
    OWNED(collet_array) *a = floats(cx, N, 1), *c = empty_floats(cx, N), *d = empty_floats(cx, N);
    OWNED(collet_array) *both = empty_floats(cx, N);
    use_backend("remote:1");
    assert_ok(cx, collet_op_copy(cx, both, a)); /* call 1 of device 1 */
    collet_finish(cx);
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, a, a)); /* call 1 of device 0 */
    use_backend("remote:1");
    assert_ok(cx, collet_op_add(cx, d, c, a));
    assert_int_equal(counters_of(cx).bytes_direct, 4 * N);
    assert_status(cx, collet_array_read(cx, c, sink, sizeof sink), COLLET_FAILED);
    assert_status(cx, collet_op_add(cx, d, c, a), COLLET_FAILED);
}

TEST_WITH(bytes_of_a_lost_device_are_lost, NULL, tear_down)
{
    open_remote("remote.lose=2");
    OWNED(collet_array) *a = floats(cx, N, 1), *c = empty_floats(cx, N), *d = empty_floats(cx, N);
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_ok(cx, collet_op_add(cx, d, a, a));
    assert_status(cx, collet_finish(cx), COLLET_DEVICE_LOST);
    use_backend("remote:1");
    assert_status(cx, collet_op_add(cx, d, c, c), COLLET_DEVICE_LOST);
    assert_ok(cx, collet_op_add(cx, d, a, a));
    assert_scaled(d, N, 1, 2);
    assert_int_equal(counters_of(cx).bytes_direct, 0);
}

static void fill_stack(void)
{
    volatile char garbage[32768];
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = 0x55;
}

/* When the copy starts, libcore does not know yet that the target device is lost. It must first replace the
 * context's failed queue on that device. */
TEST_WITH(a_copy_to_a_lost_device_leaves_its_source, NULL, tear_down)
{
    const char *const settings[] = {"remote.fail=2", "remote.lose=5", NULL};
    open_shared(BOTH, settings, NULL);
    OWNED(collet_context) *other = context_of(rt);
    assert_ok(other, collet_set_backend(other, "remote:1"));
    OWNED(collet_array) *a = floats(cx, N, 1), *c = empty_floats(cx, N), *d = empty_floats(cx, N);
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, a, a));
    use_backend("remote:1");
    assert_ok(cx, collet_op_add(cx, d, c, c));
    for (int device = 0; device < 2; device++) {
        use_backend(device ? "remote:1" : "remote:0");
        assert_ok(cx, collet_op_add(cx, d, a, a));
        assert_status(cx, collet_finish(cx), COLLET_FAILED);
    }
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, a, a));
    for (int i = 0; i < 3; i++)
        assert_ok(other, collet_op_add(other, d, a, a));
    usleep(100000);
    use_backend("remote:1");
    fill_stack();
    assert_status(cx, collet_op_add(cx, d, c, c), COLLET_DEVICE_LOST);
    use_backend("remote:0");
    assert_ok(cx, collet_op_add(cx, c, c, a));
    assert_scaled(c, N, 1, 3);
}

/* Device 1 waits for device 0, which hangs: the error names device 0 as lost, and device 1
 * continues. */
static void the_device_that_hangs_is_lost(int finish)
{
    static const char *const settings[] = {"remote.hang=3", "timeout=1", NULL};
    float sink[4];
    open_shared(BOTH, settings, "remote:0");
    OWNED(collet_context) *other = context_of(rt);
    assert_ok(other, collet_set_backend(other, "remote:1"));
    OWNED(collet_array) *a = floats(cx, 4, 1), *x = empty_floats(cx, 4), *y = empty_floats(cx, 4),
                        *z = empty_floats(cx, 4);
    for (int i = 0; i < 3; i++)
        assert_ok(cx, collet_op_add(cx, x, a, a));
    assert_ok(other, collet_op_add(other, y, x, x));
    assert_int_equal(counters_of(other).bytes_direct, sizeof sink);
    assert_status(
        other, finish ? collet_finish(other) : collet_array_read(other, y, sink, sizeof sink),
        COLLET_DEVICE_LOST, "work on remote:0 that wrote these bytes failed: it did not finish");
    if (!finish) {
        use_backend("remote:1");
        assert_ok(cx, collet_op_add(cx, z, a, a));
        assert_scaled(z, 4, 1, 2);
    }
}

TEST_WITH(a_read_names_the_device_that_hangs, NULL, tear_down)
{
    the_device_that_hangs_is_lost(0);
}

TEST_WITH(finish_names_the_device_that_hangs, NULL, tear_down)
{
    the_device_that_hangs_is_lost(1);
}
