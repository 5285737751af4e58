/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit() while other threads compute: the process ends with its exit status, although destructors of libraries free
 * memory that running calls of these libraries use. Each case runs in a separate process.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <collet/collet.h>
#include <collet/ops.h>
#include <collet/ops.h>
#include <collet/ops.h>

#include "common/test.h"

#define N 200
#define THREADS 4
#define TIMES (ADDRESS_SANITIZER ? 1 : 8)
#define STATUS 7

/* ---- The operations -------------------------------------------------------------------------- */

static collet_runtime *rt;
static const char *backend;

typedef struct arrays {
    collet_array *a, *b, *c, *values, *info, *steps, *line, *spectrum;
} arrays;

static double ones[N * N];

/* All elements of inputs are 1. */
static int make_arrays(collet_context *cx, collet_dtype from, collet_dtype to, arrays *x)
{
    static const int64_t square[] = {N, N}, side[] = {N}, line[] = {N * N};
    static const int64_t half[] = {N * N / 2 + 1};
    collet_array *wide = NULL;
    return collet_array_from(cx, &wide, COLLET_F64, 2, square, ones) ||
           collet_array_create(cx, &x->a, from, 2, square) || collet_op_copy(cx, x->a, wide) ||
           collet_array_create(cx, &x->b, to, 2, square) ||
           collet_array_create(cx, &x->c, to, 2, square) ||
           collet_array_create(cx, &x->values, to, 1, side) ||
           collet_array_create(cx, &x->info, COLLET_I32, 0, NULL) ||
           collet_array_create(cx, &x->steps, COLLET_I32, 1, side) ||
           collet_array_from(cx, &x->line, COLLET_F64, 1, line, ones) ||
           collet_array_create(cx, &x->spectrum, COLLET_C128, 1, half);
}

static collet_status product(collet_context *cx, const arrays *x)
{
    return collet_op_matmul(cx, x->b, x->a, x->a);
}

static collet_status lu(collet_context *cx, const arrays *x)
{
    return collet_op_lu(cx, x->steps, x->b, x->c, x->info, x->a);
}

static collet_status svd(collet_context *cx, const arrays *x)
{
    return collet_op_svd(cx, x->b, x->values, x->c, x->info, x->a);
}

static collet_status exponential(collet_context *cx, const arrays *x)
{
    return collet_op_exp(cx, x->b, x->a);
}

static collet_status spectrum(collet_context *cx, const arrays *x)
{
    return collet_op_fft(cx, x->spectrum, x->line, 1, 0);
}

typedef struct operation {
    const char *name;
    collet_status (*run)(collet_context *cx, const arrays *x);
    collet_dtype from, to;
    double first; /* element of b */
} operation;

enum { PRODUCT_F64 = 1, EXP = 6, OPERATIONS = 8 };

static const operation operations[OPERATIONS] = {
    {"product f32", product, COLLET_F32, COLLET_F32, N},
    {"product f64", product, COLLET_F64, COLLET_F64, N},
    {"product bf16", product, COLLET_BF16, COLLET_F32, N},
    {"product i8", product, COLLET_I8, COLLET_I32, N},
    {"lu", lu, COLLET_F64, COLLET_F64, 1},
    {"svd", svd, COLLET_F64, COLLET_F64, 0},
    {"exp", exponential, COLLET_F64, COLLET_F64, 2.718281828459045},
    {"fft", spectrum, COLLET_F64, COLLET_F64, 0},
};

/* ---- In the process that exits --------------------------------------------------------------- */

static _Atomic int computing;

static collet_context *begin(const operation *o, arrays *x)
{
    collet_context *cx = NULL;
    if (collet_context_create(rt, &cx, NULL) || collet_set_backend(cx, backend))
        _exit(77);
    if (make_arrays(cx, o->from, o->to, x)) {
        fprintf(stderr, "%s: %s\n", o->name, collet_last_error(cx));
        _exit(2);
    }
    return cx;
}

static void run(const operation *o, collet_context *cx, const arrays *x)
{
    if (o->run(cx, x) || collet_finish(cx)) {
        fprintf(stderr, "%s: %s\n", o->name, collet_last_error(cx));
        _exit(3);
    }
}

static void *compute(void *argument)
{
    const operation *o = argument;
    arrays x = {.a = NULL};
    collet_context *cx = begin(o, &x);
    run(o, cx, &x);
    atomic_fetch_add(&computing, 1);
    for (;;)
        run(o, cx, &x);
    return NULL;
}

/* Opens the libraries without computing: the backend accepts the call, and libcore then refuses it
 * because the output is acquired. So the libraries' constructors do not run later, when exit() is
 * called. (cpu_openmp cannot delay exit() during a constructor.) */
static void open_libraries(const operation *o, collet_context *cx, const arrays *x)
{
    collet_array *out = o->run == spectrum ? x->spectrum : x->b;
    void *data;
    if (collet_array_acquire(cx, out, &data, COLLET_READ) || o->run(cx, x) != COLLET_BUSY ||
        collet_array_release(cx, out)) {
        fprintf(stderr, "%s: %s\n", o->name, collet_last_error(cx));
        _exit(3);
    }
}

static void *compute_first(void *argument)
{
    const operation *o = argument;
    arrays x = {.a = NULL};
    collet_context *cx = begin(o, &x);
    open_libraries(o, cx, &x);
    atomic_fetch_add(&computing, 1);
    run(o, cx, &x);
    return NULL;
}

/* Exits while a library prepares compiled kernels or tables in its first call. */
static void exit_in_first_call(const operation *o, const char *microseconds)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, compute_first, (void *)(uintptr_t)o) != 0)
        _exit(4);
    while (!atomic_load(&computing))
        sched_yield();
    usleep((useconds_t)atoi(microseconds));
}

static void start_threads(const operation *o)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, compute, (void *)(uintptr_t)o) != 0)
            _exit(4);
        pthread_detach(thread);
    }
    while (atomic_load(&computing) < THREADS)
        usleep(500);
}

/* Runs every operation once and checks the first element of b if it is known. */
static void run_all(void)
{
    for (int i = 0; i < OPERATIONS; i++) {
        const operation *o = &operations[i];
        arrays x = {.a = NULL};
        void *data;
        collet_context *cx = begin(o, &x);
        run(o, cx, &x);
        if (collet_array_acquire(cx, x.b, &data, COLLET_READ))
            _exit(5);
        double first = o->to == COLLET_I32   ? *(int32_t *)data
                       : o->to == COLLET_F32 ? (double)*(float *)data
                                             : *(double *)data;
        if (o->first != 0 && first != o->first) {
            fprintf(stderr, "%s: %g, not %g\n", o->name, first, o->first);
            _exit(6);
        }
        if (collet_array_release(cx, x.b))
            _exit(5);
    }
}

static void exit_in_handler(int number)
{
    exit(STATUS);
}

/* Calls exit() during a product. */
static void exit_in_product(void)
{
    static const int64_t shape[] = {2000, 2000};
    const collet_scalar zero = {.dtype = COLLET_F64};
    collet_context *cx = NULL;
    collet_array *a = NULL, *b = NULL;
    if (collet_context_create(rt, &cx, NULL) || collet_array_create(cx, &a, COLLET_F64, 2, shape) ||
        collet_array_create(cx, &b, COLLET_F64, 2, shape) || collet_op_fill(cx, a, &zero))
        _exit(2);
    (void)signal(SIGVTALRM, exit_in_handler);
    (void)setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value.tv_usec = 100000}, NULL);
    _exit(collet_op_matmul(cx, b, a, a) ? 3 : 4);
}

/* The arguments: the backend, its plugin, the case (one of the names below, or an index of
 * operations[]), optionally a delay in microseconds (for exit_in_first_call). */
static int exiting_main(char **argv)
{
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options, .plugin_path = argv[2]};
    backend = argv[1];
    for (int i = 0; i < N * N; i++)
        ones[i] = 1.0;
    alarm(60);
    if (collet_runtime_create(&rt, &options, &err) != COLLET_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (strcmp(argv[3], "handlers") == 0) {
        atexit(run_all); /* before libraries are opened, so it runs after their handlers */
        run_all();
    } else if (strcmp(argv[3], "signal") == 0) {
        exit_in_product();
    } else if (argv[4]) {
        exit_in_first_call(&operations[atoi(argv[3])], argv[4]);
    } else {
        start_threads(&operations[atoi(argv[3])]);
        usleep((useconds_t)(getpid() % 16 * 500));
    }
    exit(STATUS);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Runs this program with these arguments and returns its exit status; delay may be NULL. */
static int status_of(const char *name, const char *which, const char *delay)
{
    char self[4096] = {0}, plugin[4096];
    int status = -1;
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    (void)snprintf(plugin, sizeof plugin, COLLET_TEST_PLUGINS "/%s.so", name);
    pid_t child = fork();
    if (child == 0) {
        setenv("LSAN_OPTIONS", "detect_leaks=0", 1); /* nothing is freed */
        execl(self, self, name, plugin, which, delay, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(child, waitpid(child, &status, 0));
    return status;
}

/* delay: microseconds between the first call and exit(); -1: exit() during a later call. */
static void exits_after(const char *name, int index, int delay)
{
    char which[16], microseconds[16];
    (void)snprintf(which, sizeof which, "%d", index);
    (void)snprintf(microseconds, sizeof microseconds, "%d", delay);
    int status = status_of(name, which, delay < 0 ? NULL : microseconds);
    if (strcmp(name, "opencl") == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS)
        fail_msg("%s, %s: %s %d", name, operations[index].name,
                 WIFEXITED(status) ? "status" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static void exits(const char *name, int index)
{
    exits_after(name, index, -1);
}

TEST(test_cpu_openmp)
{
    if (THREAD_SANITIZER)
        skip(); /* clang's OpenMP aborts if a thread's first call of OpenMP is during exit */
    for (int i = 0; i < TIMES * OPERATIONS; i++)
        exits("cpu_openmp", i % OPERATIONS);
}

TEST(test_first_calls)
{
    if (THREAD_SANITIZER)
        skip(); /* as above */
    for (int delay = 0; delay < 10000; delay += ADDRESS_SANITIZER ? 4000 : 2000)
        for (int i = 0; i < OPERATIONS; i++)
            exits_after("cpu_openmp", i, delay);
}

TEST(test_cpu_scalar)
{
    for (int i = 0; i < OPERATIONS; i++)
        exits("cpu_scalar", i);
}

/* Tests only two operations, because compiling many kernels takes seconds. */
TEST(test_opencl)
{
    exits("opencl", PRODUCT_F64);
    exits("opencl", EXP);
}

TEST(test_exit_handlers_compute)
{
    assert_int_equal(STATUS << 8, status_of("cpu_openmp", "handlers", NULL));
}

/* If a thread calls exit() during its own call, exit() does not wait for that call. */
TEST(test_exit_in_a_call)
{
    if (THREAD_SANITIZER)
        skip(); /* it delays signals */
    assert_int_equal(0, setenv("COLLET_NUM_THREADS", "1", 1));
    assert_int_equal(STATUS << 8, status_of("cpu_openmp", "signal", NULL));
    assert_int_equal(0, unsetenv("COLLET_NUM_THREADS"));
}

int main(int argc, char **argv)
{
    if (argc > 3)
        return exiting_main(argv);
    return test_run();
}
