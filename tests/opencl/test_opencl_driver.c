/* SPDX-License-Identifier: Apache-2.0 */
/* The opencl backend without a loader, platform or device, and on devices that fail: libraries of
 * this directory replace the loader. */

#include "opencl_support.h"

#include <linux/capability.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NOBODY 65534 /* a user */

static world open_with(const char *library)
{
    char setting[600];
    const char *const settings[] = {"cache=off", setting, NULL};
    snprintf(setting, sizeof setting, "opencl.library=%s", library);
    return open_world(OPENCL_PLUGIN ":" SCALAR_PLUGIN, settings, NULL);
}

#define FAKE(name) COLLET_TEST_FAKES "/libfake_cl_" name ".so"

/* Capabilities report missing requirements; the other backends work. */
TEST(missing_drivers_are_reported)
{
    static const char *const cases[][2] = {
        {"/nowhere/libOpenCL.so.1", "/nowhere/libOpenCL.so.1 cannot be opened: no OpenCL loader"},
        {FAKE("lacks"), "has no clEnqueueBarrierWithWaitList: OpenCL 1.2 is needed"},
        {FAKE("no_platform"), "finds no platform: no driver is installed (CL_PLATFORM_NOT_FOUND"},
        {FAKE("no_device"), "no device: the 1 OpenCL platform reports none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(world) w = open_with(cases[i][0]);
        assert_status(w.cx, collet_set_backend(w.cx, "opencl"), COLLET_UNAVAILABLE, cases[i][1]);
        assert_ok(w.cx, collet_set_backend(w.cx, "auto"));
        OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
        assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
        assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    }
}

TEST(a_device_without_f64_has_fewer_rows)
{
    const int64_t n = 4, frames[] = {1, 2, 3};
    OWNED(world) w = open_with(FAKE("plain"));
    assert_ok(w.cx, collet_set_backend(w.cx, "opencl"));
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4), *d = NULL;
    OWNED(collet_array) *positions = NULL, *masses = empty_floats(w.cx, 2), *com = NULL,
                        *wide_com = NULL;
    assert_ok(w.cx, collet_array_create(w.cx, &positions, COLLET_F32, 3, frames));
    assert_ok(w.cx, collet_array_create(w.cx, &com, COLLET_F32, 2, (int64_t[]){1, 3}));
    assert_ok(w.cx, collet_array_create(w.cx, &wide_com, COLLET_F64, 2, (int64_t[]){1, 3}));
    assert_ok(w.cx, collet_array_create(w.cx, &d, COLLET_F64, 1, &n));
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_status(w.cx, collet_op_div(w.cx, c, a, a), COLLET_UNSUPPORTED);
    assert_status(w.cx, collet_op_add(w.cx, d, d, d), COLLET_UNSUPPORTED);
    assert_status(w.cx, collet_op_copy(w.cx, d, a), COLLET_UNSUPPORTED);
    assert_ok(w.cx, collet_op_com(w.cx, com, positions, masses));
    assert_string_equal(collet_last_backend(w.cx), "opencl");
    assert_status(w.cx, collet_op_com(w.cx, wide_com, positions, masses), COLLET_UNSUPPORTED);
}

TEST(a_driver_without_times_fails)
{
    collet_timestamp *t = NULL;
    int64_t elapsed = 7;
    world w = open_with(FAKE("plain"));
    assert_ok(w.cx, collet_timestamp_take(w.cx, &t, "opencl"));
    assert_status(w.cx, collet_timestamp_elapsed(w.cx, t, t, &elapsed, NULL), COLLET_FAILED,
                  "the time of a marker: CL_PROFILING_INFO_NOT_AVAILABLE");
    assert_int_equal(elapsed, 7);
    collet_timestamp_destroy(t);
    close_world(w);
}

TEST(failed_compilation_is_refused)
{
    OWNED(world) w = open_with(FAKE("compiles_nothing"));
    assert_ok(w.cx, collet_set_backend(w.cx, "opencl"));
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = floats(w.cx, 4, 7);
    for (int i = 0; i < 2; i++) {
        assert_status(w.cx, collet_op_add(w.cx, c, a, a), COLLET_REFUSED,
                      "elementwise.dev: compilation failed (CL_BUILD_PROGRAM_FAILURE",
                      "this compiler does not support it");
    }
    const float kept[] = {7, 8, 9, 10};
    assert_floats(w.cx, c, kept);
}

typedef struct messages {
    int count;
    char last[400];
} messages;

static void count_message(void *user, int32_t level, const char *text)
{
    messages *m = user;
    if (level != COLLET_LOG_INFO || !strstr(text, "compiling kernels"))
        return;
    m->count++;
    snprintf(m->last, sizeof m->last, "%s", text);
}

/* Runs three programs; returns the number of messages about their compilation. */
static int compile_three(const char *library, const char *cache, messages *m)
{
    char setting[600];
    const char *const settings[] = {cache, setting, "log=info", NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = OPENCL_PLUGIN,
                                      .settings = settings,
                                      .log = count_message,
                                      .log_user = m};
    collet_error err = {COLLET_OK, ""};
    world w;
    snprintf(setting, sizeof setting, "opencl.library=%s", library);
    assert_success(collet_runtime_create(&w.rt, &options, &err), err);
    w.cx = context_of(w.rt);
    collet_array *a = floats(w.cx, 4, 1);
    assert_ok(w.cx, collet_set_backend(w.cx, "opencl"));
    assert_ok(w.cx, collet_op_add(w.cx, a, a, a));
    assert_ok(w.cx, collet_op_neg(w.cx, a, a));
    assert_ok(w.cx, collet_op_mul(w.cx, a, a, a));
    collet_array_destroy(a);
    close_world(w);
    return m->count;
}

TEST(compilation_is_reported)
{
    messages kept = {0, ""}, not_kept = {0, ""};
    char directory[] = "/tmp/collet-test-XXXXXX", setting[64], expected[64], command[64];
    assert_non_null(mkdtemp(directory));
    snprintf(setting, sizeof setting, "cache_dir=%s", directory);
    snprintf(expected, sizeof expected, "kept in %s/kernels", directory);
    assert_int_equal(compile_three(FAKE("slow"), setting, &kept), 3);
    assert_non_null(
        strstr(kept.last, "compiling kernels for opencl:0: program 3 (elementwise), 1."));
    assert_contains(kept.last, expected);
    assert_int_equal(compile_three(FAKE("plain"), "cache=off", &not_kept), 3);
    assert_contains(not_kept.last, "not kept, because the cache is off");
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    assert_int_equal(system(command), 0);
}

/* The next wait reports a kernel that failed, with its name. The device remains usable. */
TEST(a_failed_kernel_is_named)
{
    float got[4];
    OWNED(world) w = open_with(FAKE("fails"));
    assert_ok(w.cx, collet_set_backend(w.cx, "opencl"));
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_status(w.cx, collet_finish(w.cx), COLLET_FAILED,
                  "kernel flat of elementwise (-DPROGRAM=add_f32_", "CL_OUT_OF_RESOURCES");
    assert_status(w.cx, collet_array_read(w.cx, c, got, sizeof got), COLLET_FAILED);
    const float kept[] = {1, 2, 3, 4};
    assert_floats(w.cx, a, kept);
    assert_ok(w.cx, collet_finish(w.cx));
}

TEST(unresponsive_device_is_lost)
{
    float got[4];
    OWNED(world) w = open_with(FAKE("dies"));
    assert_ok(w.cx, collet_set_backend(w.cx, "opencl,cpu_scalar"));
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4),
                        *e = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_status(w.cx, collet_finish(w.cx), COLLET_DEVICE_LOST, "the device no longer responds");
    assert_status(w.cx, collet_array_read(w.cx, c, got, sizeof got), COLLET_DEVICE_LOST);
    assert_ok(w.cx, collet_op_add(w.cx, e, a, a));
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    const float expected[] = {2, 4, 6, 8};
    assert_floats(w.cx, e, expected);
}

TEST(a_driver_short_of_memory_refuses)
{
    const int64_t n = 1000;
    OWNED(world) w = open_with(FAKE("short"));
    assert_ok(w.cx, collet_set_backend(w.cx, "opencl"));
    OWNED(collet_array) *large = NULL, *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_array_create(w.cx, &large, COLLET_F32, 1, &n));
    assert_status(w.cx, collet_op_add(w.cx, large, large, large), COLLET_REFUSED,
                  "cannot allocate 4000 bytes of device memory");
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_ok(w.cx, collet_finish(w.cx));
}

static void *pass(void *argument)
{
    return argument;
}

/* Sets a limit so that this user may start no more threads. A process of root changes its user for
 * this, but can still read all files. */
static int give_up_threads(void)
{
    const struct rlimit none = {1, 1};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct kept[2] = {
        {.effective = 1 << CAP_DAC_READ_SEARCH, .permitted = 1 << CAP_DAC_READ_SEARCH}};
    pthread_t thread;
    return setrlimit(RLIMIT_NPROC, &none) == 0 &&
           (geteuid() != 0 || (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setuid(NOBODY) == 0 &&
                               syscall(SYS_capset, &header, kept) == 0)) &&
           pthread_create(&thread, NULL, pass, NULL) != 0;
}

static int refuses_without_threads(void)
{
    world w = open_with(FAKE("pocl")); /* before the limit, so the probe can start threads */
    collet_array *a = floats(w.cx, 4, 1);
    if (!give_up_threads())
        return SKIPPED;
    if (collet_set_backend(w.cx, "opencl") == COLLET_OK)
        assert_status(w.cx, collet_op_add(w.cx, a, a, a), COLLET_UNAVAILABLE);
    assert_text_has(w.cx, "the system starts no more threads");
    return 0;
}

TEST(a_driver_without_threads_is_unavailable)
{
    int status = -1;
    pid_t process = fork();
    if (process == 0)
        _exit(refuses_without_threads());
    assert_int_equal(waitpid(process, &status, 0), process);
    if (status == SKIPPED << 8)
        skip();
    assert_int_equal(status, 0);
}
