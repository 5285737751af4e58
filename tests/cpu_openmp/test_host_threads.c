/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_openmp next to other threads and processes: contexts on several threads, a program that uses
 * OpenMP itself, children of fork(). Every result is right and nothing hangs.
 */
#include "common/test.h"

#include <dirent.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <collet/collet.h>
#include <collet/ops.h>
#include <collet/ops.h>
#include <collet/ops.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if defined(SANITIZED)
#define CHILDREN 3
#define N 96
#else
#define CHILDREN 6
#define N 192
#endif
#define LENGTH (1 << 18)
#define NOBODY 65534 /* a user */

static collet_runtime *rt;

static collet_runtime *make_runtime(void)
{
    collet_error err = {COLLET_OK, ""};
    collet_runtime *runtime = NULL;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS "/cpu_openmp.so",
                                      .backend = "cpu_openmp"};
    if (collet_runtime_create(&runtime, &options, &err) != COLLET_OK)
        fprintf(stderr, "%s\n", err.text);
    return runtime;
}

/* ---- Calls of several kinds; 0: a wrong result or a failure -----------------------------------
 */

static double entry(int64_t i, int64_t j)
{
    return (double)((i * 5 + j * 3) % 7 - 3);
}

/* Products of small integers are exact in every type. */
static int product_is_right(collet_context *cx, collet_dtype from, collet_dtype to)
{
    static const int64_t shape[] = {N, N};
    collet_array *wide = NULL, *a = NULL, *c = NULL;
    double *m = malloc(sizeof(double) * N * N);
    int right = m != NULL;
    for (int64_t i = 0; right && i < N * N; i++)
        m[i] = entry(i / N, i % N);
    right = right && !collet_array_from(cx, &wide, COLLET_F64, 2, shape, m) &&
            !collet_array_create(cx, &a, from, 2, shape) &&
            !collet_array_create(cx, &c, to, 2, shape) && !collet_op_copy(cx, a, wide) &&
            !collet_op_matmul(cx, c, a, a) && !collet_op_copy(cx, wide, c) &&
            !collet_array_read(cx, wide, m, sizeof(double) * N * N);
    for (int64_t i = 0; right && i < N; i += 17) {
        for (int64_t j = 0; j < N; j++) {
            double sum = 0;
            for (int64_t k = 0; k < N; k++)
                sum += entry(i, k) * entry(k, j);
            right = right && m[i * N + j] == sum;
        }
    }
    collet_array_destroy(wide);
    collet_array_destroy(a);
    collet_array_destroy(c);
    free(m);
    return right;
}

/* Computes LENGTH ones as exp(0), and checks their sum and their half spectrum: the sum, then
 * zeros. */
static int sums_are_right(collet_context *cx)
{
    static const int64_t shape[] = {LENGTH}, half[] = {LENGTH / 2 + 1};
    collet_array *a = NULL, *z = NULL, *s = NULL;
    const collet_scalar zero = {.dtype = COLLET_F64};
    double sum = 0, spectrum[2] = {0};
    int right = !collet_array_create(cx, &a, COLLET_F64, 1, shape) &&
                !collet_array_create(cx, &z, COLLET_C128, 1, half) &&
                !collet_array_create(cx, &s, COLLET_F64, 0, NULL) &&
                !collet_op_fill(cx, a, &zero) && !collet_op_exp(cx, a, a) &&
                !collet_op_sum(cx, s, a, NULL, 0, 0) &&
                !collet_array_read(cx, s, &sum, sizeof sum) && !collet_op_fft(cx, z, a, 1, 0);
    void *data = NULL;
    if (right && !collet_array_acquire(cx, z, &data, COLLET_READ)) {
        spectrum[0] = ((const double *)data)[0];
        spectrum[1] = ((const double *)data)[3];
        right = !collet_array_release(cx, z);
    }
    collet_array_destroy(a);
    collet_array_destroy(z);
    collet_array_destroy(s);
    return right && sum == LENGTH && fabs(spectrum[0] - LENGTH) < 1e-6 && fabs(spectrum[1]) < 1e-6;
}

/* The test matrix is diagonal, so its factors are known and its singular values are its elements. */
static int decompositions_are_right(collet_context *cx)
{
    static const int64_t shape[] = {N, N}, one[] = {N};
    collet_array *a = NULL, *u = NULL, *v = NULL, *s = NULL, *info = NULL;
    double *m = calloc(N * N, sizeof(double)), values[N];
    int right = m != NULL;
    for (int64_t i = 0; right && i < N; i++)
        m[i * N + i] = (double)(N - i);
    right = right && !collet_array_from(cx, &a, COLLET_F64, 2, shape, m) &&
            !collet_array_create(cx, &u, COLLET_F64, 2, shape) &&
            !collet_array_create(cx, &v, COLLET_F64, 2, shape) &&
            !collet_array_create(cx, &s, COLLET_F64, 1, one) &&
            !collet_array_create(cx, &info, COLLET_I32, 0, NULL) &&
            !collet_op_svd(cx, u, s, v, info, a) &&
            !collet_array_read(cx, s, values, sizeof values) && !collet_op_qr(cx, u, v, a);
    for (int64_t i = 0; right && i < N; i++)
        right = fabs(values[i] - (double)(N - i)) < 1e-9;
    collet_array_destroy(a);
    collet_array_destroy(u);
    collet_array_destroy(v);
    collet_array_destroy(s);
    collet_array_destroy(info);
    free(m);
    return right;
}

static int all_is_right(collet_runtime *runtime, int times)
{
    collet_context *cx = NULL;
    int right = runtime && !collet_context_create(runtime, &cx, NULL);
    for (int i = 0; right && i < times; i++)
        right = product_is_right(cx, COLLET_F32, COLLET_F32) &&
                product_is_right(cx, COLLET_F64, COLLET_F64) &&
                product_is_right(cx, COLLET_BF16, COLLET_F32) &&
                product_is_right(cx, COLLET_I8, COLLET_I32) && sums_are_right(cx) &&
                decompositions_are_right(cx);
    collet_context_destroy(cx);
    return right;
}

/* ---- Tests ------------------------------------------------------------------------------------
 */

static void *calls(void *right)
{
    *(int *)right = all_is_right(rt, 5);
    return NULL;
}

typedef struct product {
    collet_context *cx;
    int right;
} product;

static void *first_product(void *argument)
{
    product *p = argument;
    p->right = product_is_right(p->cx, COLLET_F64, COLLET_F64);
    return NULL;
}

/* In a process that has opened no library yet, one thread opens the first library while another thread forks. */
static int fork_after(int microseconds)
{
    pthread_t thread;
    collet_runtime *mine = make_runtime();
    product p = {.right = 0};
    int status = -1;
    alarm(120);
    if (!mine || collet_context_create(mine, &p.cx, NULL) != COLLET_OK ||
        pthread_create(&thread, NULL, first_product, &p) != 0)
        return 1;
    usleep((useconds_t)microseconds);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(all_is_right(make_runtime(), 1) ? 0 : 1);
    }
    (void)waitpid(child, &status, 0);
    (void)pthread_join(thread, NULL);
    return p.right && status == 0 ? 0 : 2;
}

TEST(children_of_a_thread_that_opens_libraries)
{
#if defined(SANITIZED)
    skip(); /* a sanitizer's runtime does not survive a fork during dlopen or pthread_once */
#endif
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t process = fork();
        if (process == 0)
            _exit(fork_after(2000 * i));
        assert_int_equal(process, waitpid(process, &status, 0));
        assert_int_equal(0, status);
    }
}

/* Sets a limit so that this process cannot start more threads. */
static int give_up_threads(void)
{
    const struct rlimit none = {1, 1};
    pthread_t thread;
    return setrlimit(RLIMIT_NPROC, &none) == 0 && (geteuid() != 0 || setuid(NOBODY) == 0) &&
           pthread_create(&thread, NULL, calls, &(int){0}) != 0;
}

/* The system refuses new threads before the process has opened a library. */
static int compute_without_threads(void)
{
    static const int64_t shape[] = {1};
    collet_runtime *mine = make_runtime();
    collet_context *cx = NULL;
    collet_array *a = NULL;
    if (!mine || collet_context_create(mine, &cx, NULL) ||
        collet_array_create(cx, &a, COLLET_F64, 1, shape) ||
        collet_op_fill(cx, a, &(collet_scalar){.dtype = COLLET_F64}))
        return 1;
    if (!give_up_threads())
        return 77;
    return all_is_right(mine, 2) ? 0 : 2;
}

/* The system refuses new threads after fork(). OpenBLAS stopped its threads before the fork and
 * cannot start them again. */
static int compute_without_threads_again(void)
{
    collet_runtime *mine = make_runtime();
    if (!mine || !all_is_right(mine, 1))
        return 1;
    pid_t process = fork();
    if (process == 0)
        _exit(0);
    if (process < 0 || waitpid(process, NULL, 0) != process)
        return 1;
    if (!give_up_threads())
        return 77;
    return all_is_right(mine, 2) ? 0 : 2;
}

/* OpenBLAS would raise SIGINT. */
TEST(threads_are_refused)
{
    static int (*const cases[])(void) = {compute_without_threads, compute_without_threads_again};
    for (int i = 0; i < 2; i++) {
        int status = -1;
        pid_t process = fork();
        if (process == 0) {
            alarm(120);
            _exit(cases[i]());
        }
        assert_int_equal(process, waitpid(process, &status, 0));
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            skip();
        assert_int_equal(0, status);
    }
}

static int threads_of_process(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));)
        count += task->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* Calls inside an OpenMP parallel region of the program use one thread each: they start no
 * workers. */
TEST(calls_inside_a_region)
{
    _Atomic int right = 0;
    int before = 0, inside = 0;
#pragma omp parallel num_threads(4)
    {
        collet_context *cx = NULL;
        atomic_fetch_add(&right, !collet_context_create(rt, &cx, NULL));
#pragma omp barrier
#pragma omp master
        before = threads_of_process();
#pragma omp barrier
        atomic_fetch_add(&right, sums_are_right(cx));
#pragma omp barrier
#pragma omp master
        inside = threads_of_process();
        collet_context_destroy(cx);
    }
    assert_int_equal(8, atomic_load(&right));
    assert_int_equal(before, inside);
    assert_true(all_is_right(rt, 1));
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
        assert_true(threads_of_process() > before);
}

TEST(contexts_on_eight_threads)
{
    pthread_t threads[8];
    int right[8] = {0};
    for (int i = 0; i < 8; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, calls, &right[i]));
    for (int i = 0; i < 8; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < 8; i++)
        assert_true(right[i]);
}

TEST(a_program_in_openmp)
{
    _Atomic int right = 0;
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(4)
        atomic_fetch_add(&right, all_is_right(rt, 1));
        assert_true(all_is_right(rt, 1));
    }
    assert_int_equal(12, atomic_load(&right));
}

static void doze(int milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
}

/* After the last call no thread keeps spinning, whichever library the call used. From 1 ms after
 * the call on, only a thread that other programs delayed may still spin for a moment. */
TEST(idle_after_calls)
{
    collet_context *cx = NULL;
    int (*const calls_of[])(collet_context *) = {sums_are_right, decompositions_are_right};
    assert_int_equal(0, collet_context_create(rt, &cx, NULL));
    for (int k = 0; k < 2; k++) {
        int busy = 0;
        for (int i = 0; i < 20; i++) {
            for (int j = 0; j < 3; j++)
                assert_true(calls_of[k](cx));
            doze(1);
            double before = test_seconds(CLOCK_PROCESS_CPUTIME_ID);
            doze(50);
            busy += test_seconds(CLOCK_PROCESS_CPUTIME_ID) - before > 1e-3;
        }
        assert_true(busy < 10);
    }
    collet_context_destroy(cx);
}

static _Atomic int stop;

static void *call_until_stopped(void *right)
{
    *(int *)right = 1;
    while (!atomic_load(&stop))
        *(int *)right &= all_is_right(rt, 1);
    return NULL;
}

/* Runs in a child. Its parent has made parallel calls and has other threads in calls. The parent's
 * runtime refuses calls, and a new runtime works. Returns the exit status. */
static int be_child(collet_context *old)
{
    alarm(120);
    if (collet_finish(old) != COLLET_FORKED)
        return 1;
    collet_runtime *mine = make_runtime();
    int right = all_is_right(mine, 2);
    collet_runtime_destroy(mine);
    return right ? 0 : 2;
}

TEST(children)
{
    pthread_t threads[2];
    int right[2] = {0}, status = -1;
    collet_context *cx = NULL;
    assert_int_equal(0, collet_context_create(rt, &cx, NULL));
    assert_true(all_is_right(rt, 1));
    for (int i = 0; i < 2; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, call_until_stopped, &right[i]));
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(be_child(cx));
        assert_true(all_is_right(rt, 1));
        assert_int_equal(child, waitpid(child, &status, 0));
        assert_int_equal(0, status);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
    assert_true(right[0] && right[1]);
    collet_context_destroy(cx);
}

static int begin(void **state)
{
    rt = make_runtime();
    return rt ? 0 : -1;
}

static int end(void **state)
{
    collet_runtime_destroy(rt);
    return 0;
}

TEST_GROUP(begin, end)
