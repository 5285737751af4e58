/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every function of collet.h in a child of fork, with a runtime, a context and an array of
 * the parent. The parent's threads are at work when it forks. Each function returns FORKED or does no
 * harm, and no function hangs. The test fails if a function of the header is not called here. The macro
 * UNMARKED simulates a system that accepts MADV_WIPEONFORK but ignores it, as QEMU does.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common/fixture.h"

#define ALL OPENMP_PLUGIN ":" REMOTE_PLUGIN ":" SCALAR_PLUGIN

#ifdef UNMARKED
__attribute__((visibility("default"))) int madvise(void *address, size_t bytes, int advice)
{
    if (advice != MADV_WIPEONFORK && advice != -1)
        return (int)syscall(SYS_madvise, address, bytes, advice);
    return 0; /* accepted and ignored, as by the emulator QEMU */
}
#endif

/* ---- The list -------------------------------------------------------------------------------- */

#define FUNCTIONS_MAX 200
static const char *listed[FUNCTIONS_MAX];
static int listed_count, wrong;

static void note(const char *function, int right)
{
    if (strncmp(function, "collet_op_", 10) != 0) /* collet_op_* are inline functions */
        listed[listed_count++] = function;
    if (!right) {
        fprintf(stderr, "%s does not do in a child of fork what it should\n", function);
        wrong++;
    }
}

static collet_array *a, *wrapped;
static collet_timestamp *timestamp;
static collet_error err;
static int deleted;

#define FORKED(function, ...) note(#function, function(__VA_ARGS__) == COLLET_FORKED)
/* A function of a context returns FORKED, and the context's error text names fork. */
#define REFUSED(function, ...)                                                                     \
    note(#function, function(cx, __VA_ARGS__) == COLLET_FORKED &&                                  \
                        strstr(collet_last_error(cx), "before fork") != NULL)
#define HARMLESS(function, condition) note(#function, condition)

static void nothing_of_a_runtime(void)
{
    collet_memory_limit memory = {.struct_size = sizeof memory};
    HARMLESS(collet_status_name, !strcmp(collet_status_name(COLLET_FORKED), "COLLET_FORKED"));
    HARMLESS(collet_status_text, *collet_status_text(COLLET_FORKED));
    HARMLESS(collet_fail, collet_fail(&err, COLLET_IO, "x") == COLLET_IO);
    HARMLESS(collet_fail_text, collet_fail_text(&err, COLLET_IO, "x") == COLLET_IO);
    HARMLESS(collet_dtype_name, !strcmp(collet_dtype_name(COLLET_F32), "f32"));
    HARMLESS(collet_dtype_size, collet_dtype_size(COLLET_F32) == 4);
    HARMLESS(collet_dtype_promote, collet_dtype_promote(COLLET_I32, COLLET_F32) == COLLET_F64);
    HARMLESS(collet_memory_limit_read, collet_memory_limit_read(&memory, &err) == COLLET_OK);
    HARMLESS(collet_process_end, collet_process_end(0, &err) == COLLET_OK);
    HARMLESS(collet_set_thread_limit, collet_set_thread_limit(0, &err) == COLLET_OK);
    HARMLESS(collet_thread_limit, collet_thread_limit() == 0);
    HARMLESS(collet_version, !strcmp(collet_version(), COLLET_VERSION));
    HARMLESS(collet_version_number, collet_version_number() == COLLET_VERSION_NUMBER);
    HARMLESS(collet_ternary_bytes, collet_ternary_bytes(COLLET_TERNARY_T2, 256) == 64);
}

static void of_a_runtime(void)
{
    collet_backend_info backend = {.struct_size = sizeof backend};
    collet_device_info device = {.struct_size = sizeof device};
    collet_plugin_record record = {.struct_size = sizeof record};
    collet_setting setting = {.struct_size = sizeof setting};
    collet_ops_info op = {.struct_size = sizeof op};
    collet_dtype dtypes[COLLET_MAX_OPERANDS] = {COLLET_F32, COLLET_F32, COLLET_F32};
    collet_array_spec specs[COLLET_MAX_OPERANDS] = {{COLLET_F32, 0, {0}}, {COLLET_F32, 0, {0}}};
    collet_context *own = NULL;
    uint32_t id = 0;
    char params[256];
    FORKED(collet_backend_info_at, rt, &backend, 0, &err);
    FORKED(collet_calibration_write, rt, NULL, 0, "remote", "{}", &err);
    FORKED(collet_device_info_at, rt, &device, 0, 0, &err);
    FORKED(collet_record_at, rt, &record, 0, &err);
    FORKED(collet_setting_at, rt, &setting, 0, &err);
    FORKED(collet_context_create, rt, &own, &err);
    FORKED(collet_ops_find, rt, &id, "add", &err);
    FORKED(collet_ops_at, rt, &op, 0, &err);
    FORKED(collet_ops_describe, rt, COLLET_OP_ADD, &op, &err);
    FORKED(collet_ops_signature, rt, COLLET_OP_ADD, dtypes, 0, &err);
    FORKED(collet_ops_defaults, rt, COLLET_OP_SUM, params, sizeof params, 1, &err);
    FORKED(collet_ops_infer, rt, COLLET_OP_ADD, specs, specs, sizeof *specs, NULL, &err);
    HARMLESS(collet_backend_count, collet_backend_count(rt) == 3);
    HARMLESS(collet_record_count, collet_record_count(rt) == 0);
    HARMLESS(collet_setting_count, collet_setting_count(rt) > 0);
    HARMLESS(collet_ops_count, collet_ops_count(rt) > 50);
    FORKED(collet_backend_has_kernel, rt, "cpu_scalar", COLLET_OP_ADD, dtypes, 3, &err);
}

static void of_a_context(void)
{
    collet_counters counters = {.struct_size = sizeof counters};
    collet_memory_stats stats = {.struct_size = sizeof stats};
    collet_native_device native = {.struct_size = sizeof native};
    collet_pinned *none = NULL;
    collet_timestamp *time = NULL;
    int64_t elapsed = 0;
    void *queue = NULL;
    collet_array *out = NULL;
    const int64_t four = 4;
    float memory[4] = {0};
    const collet_array *ins[] = {a, a};
    char words[8];
    REFUSED(collet_set_backend, "auto");
    FORKED(collet_finish, cx);
    REFUSED(collet_context_counters, &counters);
    REFUSED(collet_memory, &stats, "host");
    REFUSED(collet_memory_reset_peak, "host");
    FORKED(collet_trim, cx);
    REFUSED(collet_array_create, &out, COLLET_F32, 1, &four);
    REFUSED(collet_array_full, &out, COLLET_F32, 1, &four, 1);
    REFUSED(collet_array_from, &out, COLLET_F32, 1, &four, memory);
    REFUSED(collet_array_wrap, &out, COLLET_F32, 1, &four, NULL, memory, 0, NULL, NULL);
    REFUSED(collet_native_describe, &native, "host");
    REFUSED(collet_native_queue, &queue, "host");
    REFUSED(collet_array_wrap_on, &out, "host", COLLET_F32, 1, &four, NULL, memory, 0, 0, NULL,
            NULL);
    REFUSED(collet_array_from_dlpack, &out, NULL);
    REFUSED(collet_pinned_create, &none, &queue, "remote", 8);
    HARMLESS(collet_pinned_destroy, (collet_pinned_destroy(NULL), 1));
    REFUSED(collet_timestamp_take, &time, "remote");
    REFUSED(collet_timestamp_elapsed, timestamp, timestamp, &elapsed, NULL);
    HARMLESS(collet_timestamp_destroy, (collet_timestamp_destroy(timestamp), 1));
    REFUSED(collet_call, COLLET_OP_ADD, &a, ins, NULL);
    REFUSED(collet_explain, COLLET_OP_ADD, words, sizeof words, &a, ins, NULL);
    HARMLESS(collet_context_runtime, collet_context_runtime(cx) == rt);
    HARMLESS(collet_last_error, strstr(collet_last_error(cx), "before fork") != NULL);
    HARMLESS(collet_last_status, collet_last_status(cx) == COLLET_FORKED);
    HARMLESS(collet_get_backend, !strcmp(collet_get_backend(cx), "remote"));
    HARMLESS(collet_last_backend, !strcmp(collet_last_backend(cx), "remote"));
    HARMLESS(collet_set_fallback, (collet_set_fallback(cx, 1), 1));
    HARMLESS(collet_get_fallback, collet_get_fallback(cx) == 1);
}

static void of_an_array(void)
{
    collet_array *out = NULL;
    void *address = NULL;
    uint64_t offset = 0;
    struct DLManagedTensorVersioned *tensor = NULL;
    float memory[4] = {0};
    const int64_t four = 4, first = 0;
    collet_scalar value = {.dtype = COLLET_F32};
    REFUSED(collet_array_slice, a, &out, 0, 0, 2, 1);
    REFUSED(collet_array_select, a, &out, 0, 1);
    REFUSED(collet_array_text, a, (char *)memory, sizeof memory);
    REFUSED(collet_array_permute, a, &out, NULL);
    REFUSED(collet_array_diagonal, a, &out);
    REFUSED(collet_array_windows, a, &out, 0, 1);
    REFUSED(collet_array_reshape, a, &out, 1, &four);
    REFUSED(collet_array_broadcast, a, &out, 1, &four);
    REFUSED(collet_array_real, a, &out);
    REFUSED(collet_array_imag, a, &out);
    REFUSED(collet_array_low, a, &out, COLLET_I8);
    REFUSED(collet_array_read, a, memory, sizeof memory);
    REFUSED(collet_array_write, a, memory, sizeof memory);
    REFUSED(collet_array_read_element, a, &value, &first);
    REFUSED(collet_array_write_element, a, &first, &value);
    REFUSED(collet_array_acquire, a, &address, COLLET_READ);
    REFUSED(collet_array_release, a);
    REFUSED(collet_array_prefetch, a, "host");
    REFUSED(collet_array_acquire_on, a, &address, &offset, "host", COLLET_READ);
    REFUSED(collet_array_release_on, a, "host");
    REFUSED(collet_array_to_dlpack, a, &tensor, "host", COLLET_READ);
    HARMLESS(collet_array_dtype, collet_array_dtype(a) == COLLET_F32);
    HARMLESS(collet_array_ndim, collet_array_ndim(a) == 1);
    HARMLESS(collet_array_shape, collet_array_shape(a)[0] == 4);
    HARMLESS(collet_array_strides, collet_array_strides(a)[0] == 1);
    HARMLESS(collet_array_is_shared, !collet_array_is_shared(a));
    HARMLESS(collet_array_is_on_host, (collet_array_is_on_host(a) & ~1) == 0);
    HARMLESS(collet_array_host_address, !collet_array_host_address(a, COLLET_READ));
    HARMLESS(collet_array_size, collet_array_size(a) == 4);
    HARMLESS(collet_array_runtime, collet_array_runtime(a) == rt);
}

static void kernels_of_arrays(void)
{
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    uint32_t mask = 0;
    REFUSED(collet_ops_axes, COLLET_OP_SUM, &mask, a, NULL, 0);
    REFUSED(collet_op_fill, a, &one);
    REFUSED(collet_op_axpy, a, &one, a, a);
    REFUSED(collet_op_transpose, a, a, NULL);
    REFUSED(collet_op_sum, a, a, NULL, 0, 1);
    REFUSED(collet_op_mean, a, a, NULL, 0, 1);
    REFUSED(collet_op_min, a, a, NULL, 0, 1);
    REFUSED(collet_op_max, a, a, NULL, 0, 1);
    REFUSED(collet_op_argmax, a, a, NULL, 0, 1);
    REFUSED(collet_op_argmin, a, a, NULL, 0, 1);
    REFUSED(collet_op_prod, a, a, NULL, 0, 1);
    REFUSED(collet_op_any, a, a, NULL, 0, 1);
    REFUSED(collet_op_all, a, a, NULL, 0, 1);
    REFUSED(collet_op_count_nonzero, a, a, NULL, 0, 1);
    REFUSED(collet_op_var, a, a, NULL, 0, 1, 0);
    REFUSED(collet_op_std, a, a, NULL, 0, 1, 0);
    REFUSED(collet_op_uniform, a, 1, 0);
    REFUSED(collet_op_normal, a, 1, 0);
    REFUSED(collet_op_exponential, a, 1, 0);
    REFUSED(collet_op_integers, a, a, a, 1, 0);
    REFUSED(collet_op_variate, a, a, NULL, NULL, COLLET_VARIATE_GAMMA, 1, 0);
}

/* Invalid arguments do not hide FORKED. */
static void kernels_of_matrices(void)
{
    REFUSED(collet_op_solve, a, a, a, a);
    REFUSED(collet_op_fft, a, a, 7, 0);
    REFUSED(collet_op_fftshift, a, a, NULL, -1, 0);
    REFUSED(collet_op_ternary_pack, a, a, a, a, COLLET_TERNARY_T2);
    REFUSED(collet_op_ternary_unpack, a, a, a, a, COLLET_TERNARY_T2);
}

/* Calls the functions that are rows of the .def files, with `a` for each operand. */
#define OPERANDS_1 a
#define OPERANDS_2 OPERANDS_1, a
#define OPERANDS_3 OPERANDS_2, a
#define OPERANDS_4 OPERANDS_3, a
#define OPERANDS_5 OPERANDS_4, a
#define OPERANDS_6 OPERANDS_5, a
#define OPERANDS_7 OPERANDS_6, a
#define OPERANDS_8 OPERANDS_7, a
#define OPERANDS(...) COLLET_TYPED_PASTE(OPERANDS_, COLLET_TYPED_COUNT(__VA_ARGS__))
#define ROW_REFUSED(name, ...)                                                                     \
    if (collet_op_##name(cx, __VA_ARGS__) != COLLET_FORKED) {                                      \
        fprintf(stderr, "collet_op_" #name ": not FORKED\n");                                      \
        wrong++;                                                                                   \
    }

static void kernels_that_are_rows(void)
{
#define COLLET_CALL(NAME, name, outs, ins) ROW_REFUSED(name, OPERANDS outs, OPERANDS ins)
#define COLLET_CALL_PARAMS(NAME, name, outs, ins, type)                                            \
    ROW_REFUSED(name, OPERANDS outs, OPERANDS ins, NULL)
#include <collet/ops.def>
}

static void *compute(void *runtime)
{
    collet_context *own = NULL;
    int64_t n = 1 << 16;
    float sum = 0;
    collet_array *x = NULL, *total = NULL;
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    int failed =
        collet_context_create(runtime, &own, NULL) || collet_set_backend(own, "cpu_openmp") ||
        collet_array_create(own, &x, COLLET_F32, 1, &n) ||
        collet_array_create(own, &total, COLLET_F32, 0, NULL) || collet_op_fill(own, x, &one) ||
        collet_op_sum(own, total, x, NULL, 0, 0) || collet_array_read(own, total, &sum, sizeof sum);
    collet_array_destroy(x);
    collet_array_destroy(total);
    collet_context_destroy(own);
    return failed || sum != (float)n ? runtime : NULL;
}

/* Frees the parent's objects; then creates a runtime in the child, which must work on two
 * threads. */
static void life(void)
{
    const collet_runtime_options options = {.struct_size = sizeof options, .plugin_path = ALL};
    OWNED(collet_runtime) *own = NULL;
    pthread_t thread;
    void *failed = &own;
    HARMLESS(collet_array_destroy,
             (collet_array_destroy(a), collet_array_destroy(wrapped), deleted == 1));
    HARMLESS(collet_context_destroy, (collet_context_destroy(cx), 1));
    HARMLESS(collet_runtime_destroy, (collet_runtime_destroy(rt), 1));
    int created = collet_runtime_create(&own, &options, &err) == COLLET_OK;
    int started = created && pthread_create(&thread, NULL, compute, own) == 0;
    int right = started && !compute(own);
    if (started)
        pthread_join(thread, &failed);
    HARMLESS(collet_runtime_create, right && !failed);
}

/* ---- The header ------------------------------------------------------------------------------ */

/* Counts the functions of a header. A function that was not called is an error. */
static int compare_with_header(const char *path)
{
    static char text[1 << 17];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    int found = 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *at = text; (at = strstr(at, "\nCOLLET_API ")); found++) {
        char *end = strchr(at + 1, '('), *name = end;
        if (!end)
            break;
        at = end;
        while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z'))
            name--;
        int known = 0;
        for (int i = 0; i < listed_count; i++)
            known |= strlen(listed[i]) == (size_t)(end - name) &&
                     !strncmp(listed[i], name, (size_t)(end - name));
        if (!known)
            fprintf(stderr, "%.*s is not listed in test_fork.c\n", (int)(end - name), name);
        wrong += !known;
    }
    return found;
}

static void compare_with_headers(void)
{
    static const char *const headers[] = {"status.h", "runtime.h", "context.h",    "array.h",
                                          "native.h", "call.h",    "ops/ternary.h"};
    int found = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", COLLET_HEADERS, headers[i]);
        found += compare_with_header(path);
    }
    wrong += found != listed_count || found < 60;
}

/* ---- The test -------------------------------------------------------------------------------- */

#define BUSY 3
static atomic_int stop, started;

/* At any moment some of these threads hold locks. */
static void *busy(void *backend)
{
    collet_context *own = context_of(rt);
    collet_array *x = NULL;
    int64_t n = 1 << 12;
    int opened = 0;
    assert_ok(own, collet_set_backend(own, backend));
    while (!atomic_load(&stop)) {
        collet_plugin_record record = {.struct_size = sizeof record};
        assert_ok(own, collet_array_create(own, &x, COLLET_F32, 1, &n));
        assert_ok(own, collet_op_add(own, x, x, x));
        assert_int_equal(collet_record_at(rt, &record, 0, NULL), COLLET_OK);
        collet_array_destroy(x);
        assert_ok(own, collet_finish(own));
        atomic_fetch_add(&started, !opened);
        opened = 1;
    }
    collet_context_destroy(own);
    return NULL;
}

static void count_deletes(void *user)
{
    ++*(int *)user;
}

static int in_child(void)
{
    alarm(120); /* a call that hangs ends the child by a signal */
    nothing_of_a_runtime();
    of_a_runtime();
    of_a_context();
    of_an_array();
    kernels_of_arrays();
    kernels_of_matrices();
    kernels_that_are_rows();
    life();
    compare_with_headers();
    return wrong != 0;
}

/* Whether the parent's threads work when it forks. With the address sanitizer they do not: they may hold
 * locks of its allocator, and these locks would stay locked in the child. */
#if defined(__SANITIZE_ADDRESS__)
#define AT_WORK 0
#else
#define AT_WORK 1
#endif

static void stop_work(const pthread_t *threads)
{
    atomic_store(&stop, 1);
    for (int i = 0; i < BUSY; i++)
        pthread_join(threads[i], NULL);
}

TEST(every_function_in_a_child)
{
    static char *const backends[BUSY] = {"remote:0", "remote:1", "cpu_openmp"};
    float memory[4] = {0};
    const int64_t four = 4;
    pthread_t threads[BUSY];
    open_shared(ALL, NULL, "remote");
    a = floats(cx, 4, 0);
    assert_ok(cx, collet_array_wrap(cx, &wrapped, COLLET_F32, 1, &four, NULL, memory, 0,
                                    count_deletes, &deleted));
    assert_ok(cx, collet_op_add(cx, wrapped, a, a));
    assert_ok(cx, collet_timestamp_take(cx, &timestamp, "remote"));
    for (int i = 0; i < BUSY; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, busy, backends[i]), 0);
    fflush(NULL);
    while (atomic_load(&started) < BUSY) /* no child survives a fork during dlopen */
        usleep(100);
    if (!AT_WORK)
        stop_work(threads);
    for (int i = 0; i < 10; i++) {
        int status = -1;
        usleep(3000);
        pid_t child = fork();
        if (child == 0)
            _exit(in_child());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    if (AT_WORK)
        stop_work(threads);
    assert_floats(cx, a, (const float[]){0, 1, 2, 3});
    collet_timestamp_destroy(timestamp);
    collet_array_destroy(a);
    collet_array_destroy(wrapped);
    assert_int_equal(deleted, 1);
    assert_true(memory[3] == 6.0f);
    close_shared();
}
