/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of every op on threads with a small stack: collet.h promises how much stack a call needs. */
#include <pthread.h>
#include <sys/mman.h>

#include "common/fixture.h"
#include "common/op_call.h"

/* The usable stack after pthread_attr_setstacksize(48 KiB): one page less, for the guard. */
#define STACK (44 * 1024)

typedef struct job {
    void (*work)(void *user);
    void *user;
} job;

static void *work_main(void *argument)
{
    job *j = argument;
    j->work(j->user);
    return NULL;
}

/* Runs work(user) on a small stack above inaccessible memory: work that needs more stack gets SIGSEGV. */
static void on_small_stack(void (*work)(void *user), void *user)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, STACK + 16 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    char *stack = memory + 16 * page;
    assert_int_equal(mprotect(stack, STACK, PROT_READ | PROT_WRITE), 0);
    job j = {work, user};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, work_main, &j), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    munmap(memory, STACK + 16 * page);
}

static collet_status status;

static void run_call(void *user)
{
    status = op_call_run(user, cx);
    if (status == COLLET_OK)
        status = collet_finish(cx);
}

static void run_op(size_t index, int large)
{
    collet_error err;
    op_call c;
    for (int sig = 0; op_call_describe(&c, rt, index, sig, 0); sig++) {
        if (large)
            op_call_stretch(&c, 16, 64);
        if (op_call_infer_given(&c, &err) !=
            COLLET_OK) /* a rule allows only the first signature */
            continue;
        op_call_arrays(&c, cx);
        on_small_stack(run_call, &c);
        op_call_free(&c);
        if (status != COLLET_OK)
            fail_msg("%s %s: %s", c.info.name, c.sig, collet_status_name(status));
    }
}

/* Creates a runtime on the small stack and calls ops; `user` is the name of the backend. */
static void run_first(void *user)
{
    const collet_runtime_options options = {.struct_size = sizeof options,
                                            .plugin_path = OPENMP_PLUGIN ":" SCALAR_PLUGIN};
    const float values[] = {1, 2, 3};
    const int64_t shape[] = {3};
    OWNED(collet_runtime) *runtime = NULL;
    OWNED(collet_context) *context = NULL;
    OWNED(collet_array) *a = NULL;
    status = collet_runtime_create(&runtime, &options, NULL);
    status |= collet_context_create(runtime, &context, NULL);
    status |= collet_set_backend(context, user);
    status |= collet_array_from(context, &a, COLLET_F32, 1, shape, values);
    status |= collet_op_add(context, a, a, a);
}

/* Calls functions for arrays, views and messages; `user` is NULL. */
static void run_others(void *user)
{
    const int64_t shape[] = {3, 5}, wrong[] = {4};
    float values[15] = {1, 2, 3};
    OWNED(collet_array) *a = NULL, *turned = NULL, *out = NULL, *other = NULL;
    status = collet_array_from(cx, &a, COLLET_F32, 2, shape, values);
    status |= collet_array_permute(cx, a, &turned, NULL);
    status |= collet_array_create(cx, &out, COLLET_F32, 2, shape);
    status |= collet_array_create(cx, &other, COLLET_F32, 1, wrong);
    status |= collet_op_exp(cx, out, a);
    status |= collet_array_read(cx, out, values, sizeof values);
    status |= collet_array_read(cx, turned, values, sizeof values);
    if (collet_op_add(cx, out, a, other) == COLLET_OK ||
        collet_set_backend(cx, "none") == COLLET_OK)
        status = COLLET_FAILED;
}

/* Operands whose axes have different orders in memory, with elements of 1 to 16 bytes: kernels transpose
 * tiles of elements. */
static void run_turned(void *user)
{
    static const collet_dtype dtypes[] = {COLLET_U8, COLLET_F32, COLLET_F64, COLLET_C128};
    const int64_t shape[] = {300, 300};
    status = COLLET_OK;
    for (int i = 0; i < 4; i++) {
        OWNED(collet_array) *a = NULL, *turned = NULL, *out = NULL;
        status |= collet_array_create(cx, &a, dtypes[i], 2, shape);
        status |= collet_array_create(cx, &out, dtypes[i], 2, shape);
        status |= collet_array_permute(cx, a, &turned, NULL);
        status |= collet_op_mul(cx, a, a, a);
        status |= collet_op_add(cx, out, turned, turned);
        status |= collet_op_add(cx, out, a, turned);
        status |= collet_finish(cx);
    }
}

static void every_op(const char *backend)
{
    const struct timespec second = {.tv_sec = 1, .tv_nsec = 100000000};
    on_small_stack(run_first, (void *)(uintptr_t)backend);
    assert_int_equal(status, COLLET_OK);
    open_shared(OPENMP_PLUGIN ":" SCALAR_PLUGIN, NULL, backend);
    collet_array *a = floats(cx, 4, 1);
    assert_ok(cx, collet_op_add(cx, a, a, a)); /* opens the device */
    collet_array_destroy(a);
    on_small_stack(run_others, NULL);
    assert_int_equal(status, COLLET_OK);
    on_small_stack(run_turned, NULL);
    assert_int_equal(status, COLLET_OK);
    for (size_t i = 0; i < op_call_count(rt); i++)
        for (int large = 0; large < 2; large++)
            run_op(i, large);
    /* Once a second a kernel queries which processors it may use. */
    nanosleep(&second, NULL);
    run_op(0, 1);
    nanosleep(&second, NULL);
    run_op(op_call_count(rt) - 1, 1);
    close_shared();
}

TEST(every_op_of_cpu_scalar)
{
    every_op("cpu_scalar");
}

TEST(every_op_of_cpu_openmp)
{
    every_op("cpu_openmp");
}
