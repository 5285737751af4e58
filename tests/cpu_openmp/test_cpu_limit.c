/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of processors that cpu_openmp may use changes while it runs: calls follow the affinity of
 * their thread, the quota of the cgroup (versions 1 and 2) and the program's own limit. The test of the
 * quota needs permission to create a cgroup.
 */

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <collet/collet.h>
#include <collet/ops/array.h>

#include "common/test.h"

#define LENGTH (1 << 18)

/* Seconds of processor time. Worker threads that take part in calls use more time than this within
 * LOOK seconds, even if other programs leave them little time. Sleeping workers use no time. */
#define USED 1e-4
#define LOOK 0.2
#define LIMIT 30 /* seconds within which calls must follow a change */

typedef struct program {
    collet_runtime *rt;
    collet_context *cx;
    collet_array *a, *b, *sum;
} program;

static int program_begin(program *p)
{
    static const int64_t shape[] = {LENGTH};
    const collet_scalar zero = {.dtype = COLLET_F64};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS "/cpu_openmp.so",
                                      .backend = "cpu_openmp"};
    *p = (program){.rt = NULL};
    return !collet_runtime_create(&p->rt, &options, NULL) &&
           !collet_context_create(p->rt, &p->cx, NULL) &&
           !collet_array_create(p->cx, &p->a, COLLET_F64, 1, shape) &&
           !collet_array_create(p->cx, &p->b, COLLET_F64, 1, shape) &&
           !collet_array_create(p->cx, &p->sum, COLLET_F64, 0, NULL) &&
           !collet_op_fill(p->cx, p->a, &zero);
}

static void program_end(program *p)
{
    collet_array_destroy(p->a);
    collet_array_destroy(p->b);
    collet_array_destroy(p->sum);
    collet_context_destroy(p->cx);
    collet_runtime_destroy(p->rt);
}

/* Makes calls for LOOK seconds. Returns the processor time of the other threads in seconds;
 * negative: a result was wrong. */
static double workers_use(program *p)
{
    double end = test_seconds(CLOCK_MONOTONIC) + LOOK, sum = LENGTH;
    double others = test_seconds(CLOCK_PROCESS_CPUTIME_ID) - test_seconds(CLOCK_THREAD_CPUTIME_ID);
    while (test_seconds(CLOCK_MONOTONIC) < end && sum == LENGTH) {
        if (collet_op_exp(p->cx, p->b, p->a) || collet_op_sum(p->cx, p->sum, p->b, NULL, 0, 0) ||
            collet_array_read(p->cx, p->sum, &sum, sizeof sum))
            return -1;
    }
    others =
        test_seconds(CLOCK_PROCESS_CPUTIME_ID) - test_seconds(CLOCK_THREAD_CPUTIME_ID) - others;
    return sum != LENGTH ? -1 : others > 0 ? others : 0;
}

/* Whether workers take part in calls within LIMIT seconds. If with_workers is 0: whether, within
 * LIMIT seconds, there are several measurements in a row in which no worker takes part. cpu_openmp
 * follows a change within a second. But other programs may delay its threads, so that workers start
 * late or go to sleep late. */
static int follows(program *p, int with_workers)
{
    double begin = test_seconds(CLOCK_MONOTONIC), used = 0;
    int times = with_workers ? 1 : 4;
    for (int seen = 0; seen < times; seen = (used > USED) == with_workers ? seen + 1 : 0) {
        if (used < 0 || test_seconds(CLOCK_MONOTONIC) - begin > LIMIT)
            return 0;
        used = workers_use(p);
    }
    return used >= 0;
}

TEST(test_affinity_changes)
{
    cpu_set_t all, one;
    program p;
    int cpu = 0;
    assert_int_equal(0, sched_getaffinity(0, sizeof all, &all));
    if (CPU_COUNT(&all) < 2)
        skip();
    assert_true(program_begin(&p));
    assert_true(follows(&p, 1));
    while (!CPU_ISSET((size_t)cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_int_equal(0, sched_setaffinity(0, sizeof one, &one));
    assert_true(follows(&p, 0));
    assert_int_equal(0, sched_setaffinity(0, sizeof all, &all));
    assert_true(follows(&p, 1));
    program_end(&p);
}

TEST(test_program_limits)
{
    cpu_set_t all;
    collet_error err;
    program p;
    assert_int_equal(0, sched_getaffinity(0, sizeof all, &all));
    assert_int_equal(collet_thread_limit(), 0);
    assert_int_equal(collet_set_thread_limit(-1, &err), COLLET_INVALID);
    assert_int_equal(collet_thread_limit(), 0);
    if (CPU_COUNT(&all) < 2)
        skip();
    assert_int_equal(collet_set_thread_limit(1, NULL), COLLET_OK);
    assert_int_equal(collet_thread_limit(), 1);
    assert_true(program_begin(&p)); /* a device that is opened under the limit */
    assert_true(follows(&p, 0));
    assert_int_equal(collet_set_thread_limit(1000, NULL), COLLET_OK);
    assert_true(follows(&p, 1));
    assert_int_equal(collet_set_thread_limit(1, NULL), COLLET_OK);
    assert_true(follows(&p, 0));
    assert_int_equal(collet_set_thread_limit(0, NULL), COLLET_OK);
    assert_true(follows(&p, 1));
    program_end(&p);
}

/* ---- cgroup -----------------------------------------------------------------------------------
 */

typedef struct group {
    char path[PATH_MAX / 2];
    int version;
} group;

static int write_file(const group *g, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", g->path, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    int written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return written;
}

/* Sets the quota to `percent` of a processor in periods of 100 ms; 0: no quota. */
static int set_quota(const group *g, int percent)
{
    char text[64] = "max";
    if (g->version == 1)
        snprintf(text, sizeof text, "%d", percent ? 1000 * percent : -1);
    else if (percent)
        snprintf(text, sizeof text, "%d 100000", 1000 * percent);
    return write_file(g, g->version == 1 ? "cpu.cfs_quota_us" : "cpu.max", text);
}

static int group_make(group *g)
{
    static const char *const roots[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup"};
    for (int i = 0; i < 2; i++) {
        g->version = i + 1;
        snprintf(g->path, sizeof g->path, "%s/collet-test-%d", roots[i], (int)getpid());
        if (mkdir(g->path, 0755) != 0)
            continue;
        if (set_quota(g, 0))
            return 1;
        rmdir(g->path);
    }
    return 0;
}

/* Runs in the cgroup of the test. Returns 0 if calls followed every quota. */
static int be_limited(const group *g)
{
    program p;
    if (!write_file(g, "cgroup.procs", "0"))
        return 77;
    if (!program_begin(&p) || !follows(&p, 1))
        return 1;
    static const int quotas[] = {100, 150, 50, 0};
    for (int i = 0; i < 4; i++) {
        if (!set_quota(g, quotas[i]) || !follows(&p, quotas[i] == 0 || quotas[i] > 100))
            return 2 + i;
    }
    program_end(&p);
    return 0;
}

TEST(test_quota_changes)
{
    group g;
    int status = -1;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || !group_make(&g)) {
        print_message("no cgroup can be made for a quota of processors\n");
        skip();
    }
    pid_t child = fork();
    if (child == 0)
        _exit(be_limited(&g));
    pid_t ended = waitpid(child, &status, 0);
    rmdir(g.path);
    assert_int_equal(child, ended);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("%s: a process cannot be moved there\n", g.path);
        skip();
    }
    assert_int_equal(0, WEXITSTATUS(status));
}
