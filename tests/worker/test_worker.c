/* SPDX-License-Identifier: Apache-2.0 */
/* The backend `worker`: results, and worker processes that crash, hang, are killed, are missing, or
 * send wrong data. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/support.h"

#define WORKER_PLUGIN COLLET_TEST_PLUGINS "/worker.so"
#define BAD_PLUGIN COLLET_TEST_WORKER "/bad.so"
#define LARGE (1 << 20)
#define ALL WORKER_PLUGIN ":" BAD_PLUGIN ":" SCALAR_PLUGIN

/* ---- Processes ------------------------------------------------------------------------------- */

/* The parent of process `pid` if it runs the program collet-worker, else 0. */
static pid_t parent_of_worker(pid_t pid)
{
    char path[64], text[512] = "", name[32], state;
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    if (!fgets(text, sizeof text, f))
        text[0] = '\0';
    fclose(f);
    if (sscanf(text, "%*d (%31[^)]) %c %d", name, &state, &parent) != 3 || state == 'Z' ||
        strcmp(name, "collet-worker") != 0)
        return 0;
    return (pid_t)parent;
}

/* The worker process of a process; 0: it has none. */
static pid_t worker_of(pid_t parent)
{
    DIR *processes = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *e = readdir(processes); e && !found; e = readdir(processes)) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 0 && parent_of_worker(pid) == parent)
            found = pid;
    }
    closedir(processes);
    return found;
}

static void assert_no_worker(pid_t parent)
{
    double limit = test_seconds(CLOCK_MONOTONIC) + 10;
    while (worker_of(parent) && test_seconds(CLOCK_MONOTONIC) < limit)
        usleep(1000);
    assert_int_equal(worker_of(parent), 0);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

typedef collet_status (*binary)(collet_context *, collet_array *, const collet_array *,
                                const collet_array *);

/* Makes a call and reads its result; returns the status of the first function that failed. */
static collet_status call(collet_context *cx, binary f)
{
    float got[4];
    collet_array *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    collet_status status = f(cx, c, a, a);
    if (status == COLLET_OK)
        status = collet_array_read(cx, c, got, sizeof got);
    collet_array_destroy(a);
    collet_array_destroy(c);
    return status;
}

static void negate_on(collet_context *cx, const char *backend)
{
    const float expected[] = {-1, -2, -3, -4};
    assert_ok(cx, collet_set_backend(cx, backend));
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_neg(cx, c, a));
    assert_floats(cx, c, expected);
}

/* ---- What works ------------------------------------------------------------------------------ */

TEST(work_is_done_in_another_process)
{
    world w = open_world(ALL, NULL, NULL);
    negate_on(w.cx, "auto");
    assert_int_equal(worker_of(getpid()), 0);
    negate_on(w.cx, "worker:bad");
    assert_string_equal(collet_last_backend(w.cx), "worker:bad");
    const pid_t worker = worker_of(getpid());
    assert_true(worker > 0);
    /* A job scheduler signals every process of a job. The worker must ignore the signals: the
     * program decides when to end. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(kill(worker, (int[]){SIGHUP, SIGINT, SIGTERM}[i]), 0);
    negate_on(w.cx, "worker:bad");
    negate_on(w.cx, "worker:cpu_scalar:0");
    close_world(w);
    assert_no_worker(getpid());
}

static int threads_of(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e = tasks ? readdir(tasks) : NULL; e; e = readdir(tasks))
        count += e->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* Threads of the served backend start when a call first uses them. */
TEST(thread_limit_holds_in_the_worker)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2)
        skip();
    OWNED(world) w = open_world(ALL ":" COLLET_TEST_PLUGINS "/cpu_openmp.so", NULL, NULL);
    OWNED(collet_array) *a = empty_floats(w.cx, LARGE), *c = empty_floats(w.cx, LARGE);
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    int counts[2];
    assert_ok(w.cx, collet_set_backend(w.cx, "worker:cpu_openmp"));
    for (int lifted = 0; lifted < 2; lifted++) {
        assert_int_equal(collet_set_thread_limit(!lifted, NULL), COLLET_OK);
        assert_ok(w.cx, collet_op_fill(w.cx, a, &one));
        for (int i = 0; i < 3; i++)
            assert_ok(w.cx, collet_op_exp(w.cx, c, a));
        assert_ok(w.cx, collet_finish(w.cx));
        counts[lifted] = threads_of(worker_of(getpid()));
    }
    assert_true(counts[0] > 0 && counts[1] > counts[0]);
}

/* A device of `worker` has the kernels of the backend that it serves, for every op and
 * signature. */
TEST(kernels_are_those_of_the_backend)
{
    const char *path = WORKER_PLUGIN ":" OPENMP_PLUGIN ":" BAD_PLUGIN;
    const char *const backends[] = {"cpu_openmp", "bad"};
    int have = 0;
    OWNED(world) w = open_world(path, NULL, NULL);
    for (size_t i = 0; i < 2 * collet_ops_count(w.rt); i++) {
        collet_ops_info op = {.struct_size = sizeof op};
        collet_dtype types[COLLET_MAX_OPERANDS];
        char worker[64];
        snprintf(worker, sizeof worker, "worker:%s", backends[i % 2]);
        assert_ok(w.cx, collet_ops_at(w.rt, &op, i / 2, NULL));
        uint32_t count = op.n_out + op.n_in;
        for (size_t k = 0; !collet_ops_signature(w.rt, op.id, types, k, NULL); k++) {
            collet_status has =
                collet_backend_has_kernel(w.rt, backends[i % 2], op.id, types, count, NULL);
            have += has == COLLET_OK;
            assert_int_equal(collet_backend_has_kernel(w.rt, worker, op.id, types, count, NULL),
                             has);
        }
    }
    assert_true(have > 300);
}

/* A worker may serve a backend that a program must not load. */
TEST(denied_backends_are_served)
{
    static const char *const settings[] = {"plugin_deny=bad", NULL};
    OWNED(world) w = open_world(ALL, settings, NULL);
    assert_status(w.cx, collet_set_backend(w.cx, "bad"), COLLET_UNAVAILABLE);
    negate_on(w.cx, "worker:bad");
}

/* Calls fill. Up to this call, which counts too, the worker's backend must have got `asked` calls of
 * its `accepts`. */
static void fill(collet_context *cx, collet_array *a, float value, float asked)
{
    const collet_scalar scalar = {.value.f32 = value, .dtype = COLLET_F32};
    const float expected[] = {asked, asked, asked, asked};
    assert_ok(cx, collet_op_fill(cx, a, &scalar));
    assert_floats(cx, a, expected);
}

/* The backend `worker` remembers accepted calls, but not refused calls. It asks again if the
 * parameters, shapes or offsets of a call differ. */
TEST(accepted_calls_are_remembered)
{
    const collet_scalar zero = {.dtype = COLLET_F32};
    OWNED(world) w = open_world(ALL, NULL, "worker:bad");
    OWNED(collet_array) *a = empty_floats(w.cx, 8), *five = empty_floats(w.cx, 5);
    collet_array *four[2], *three;
    for (int i = 0; i < 2; i++)
        assert_ok(w.cx, collet_array_slice(w.cx, a, &four[i], 0, 4 * i, 4, 1));
    assert_ok(w.cx, collet_array_slice(w.cx, a, &three, 0, 0, 3, 1));
    for (int i = 0; i < 2; i++)
        fill(w.cx, four[0], 1, 1);
    fill(w.cx, four[0], 2, 2);
    fill(w.cx, four[1], 2, 3);
    fill(w.cx, three, 2, 4);
    for (int i = 0; i < 2; i++)
        assert_status(w.cx, collet_op_fill(w.cx, five, &zero), COLLET_REFUSED);
    fill(w.cx, four[0], 1, 6);
    fill(w.cx, three, 7, 7);
    collet_array_destroy(three);
    for (int i = 0; i < 2; i++)
        collet_array_destroy(four[i]);
}

/* ---- What does not work ---------------------------------------------------------------------- */

/* The op `f` ends the worker of "worker:bad". The program continues. */
static void lose(binary f, const char *how)
{
    world w = open_world(ALL, NULL, "worker:bad");
    assert_status(w.cx, call(w.cx, f), COLLET_DEVICE_LOST, how);
    assert_int_not_equal(call(w.cx, f), COLLET_OK);
    assert_int_not_equal(collet_set_backend(w.cx, "worker:bad"), COLLET_OK);
    negate_on(w.cx, "worker:cpu_scalar");
    negate_on(w.cx, "cpu_scalar");
    assert_ok(w.cx, call(w.cx, f));
    close_world(w);
    assert_no_worker(getpid());
}

/* If the program waits for any child, it also collects the exit status of the worker. */
TEST(reaped_by_the_program)
{
    OWNED(world) w = open_world(ALL, NULL, NULL);
    negate_on(w.cx, "worker:bad");
    pid_t worker = worker_of(getpid());
    kill(worker, SIGKILL);
    (void)waitpid(worker, NULL, 0);
    assert_status(w.cx, call(w.cx, collet_op_div), COLLET_DEVICE_LOST);
}

TEST(a_crash_costs_the_device)
{
    lose(collet_op_add, "its process was ended by signal 11 (SIGSEGV) in add");
    lose(collet_op_mul, "its process ended with status 7 in mul");
}

/* If a kernel fails, or refuses only when it runs, only its result is lost. */
TEST(a_failure_costs_the_result)
{
    OWNED(world) w = open_world(ALL, NULL, "worker:bad");
    assert_status(w.cx, call(w.cx, collet_op_div), COLLET_FAILED,
                  "worker:bad: the card   is on fire");
    assert_status(w.cx, collet_finish(w.cx), COLLET_FAILED);
    negate_on(w.cx, "worker:bad");
    collet_array *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_abs(w.cx, c, a));
    assert_status(w.cx, collet_finish(w.cx), COLLET_FAILED, "not today: %s");
    collet_array_destroy(a);
    collet_array_destroy(c);
    negate_on(w.cx, "worker:bad");
}

/* The worker is killed while its queue is full of work. */
TEST(killed_at_work)
{
    int64_t n[] = {192, 192};
    static float data[192 * 192];
    const char *const others = "worker:cpu_scalar,cpu_scalar";
    world w = open_world(ALL, NULL, others);
    collet_array *a = NULL, *b = NULL, *c = NULL;
    for (int i = 0; i < 192 * 192; i++)
        data[i] = (float)(i % 192 == i / 192);
    assert_ok(w.cx, collet_array_from(w.cx, &a, COLLET_F32, 2, n, data));
    assert_ok(w.cx, collet_array_from(w.cx, &b, COLLET_F32, 2, n, data));
    assert_ok(w.cx, collet_array_create(w.cx, &c, COLLET_F32, 2, n));
    for (int i = 0; i < 60; i++)
        assert_ok(w.cx, collet_op_matmul(w.cx, c, a, b));
    assert_string_equal(collet_last_backend(w.cx), "worker:cpu_scalar");
    assert_int_equal(kill(worker_of(getpid()), SIGKILL), 0);
    assert_status(w.cx, collet_finish(w.cx), COLLET_DEVICE_LOST, "was ended by signal 9 (SIGKILL)");
    /* The inputs are still valid on the host. */
    assert_ok(w.cx, collet_op_matmul(w.cx, c, a, b));
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    assert_ok(w.cx, collet_array_read(w.cx, c, data, sizeof data));
    assert_true(data[193] == 1.0f && data[1] == 0.0f);
    collet_array_destroy(a);
    collet_array_destroy(b);
    collet_array_destroy(c);
    close_world(w);
    assert_no_worker(getpid());
}

TEST(a_hung_worker_costs_the_device)
{
    static const char *const settings[] = {"timeout=1", NULL};
    double start = test_seconds(CLOCK_MONOTONIC);
    world w = open_world(ALL, settings, "worker:bad");
    assert_status(w.cx, call(w.cx, collet_op_sub), COLLET_DEVICE_LOST);
    assert_true(test_seconds(CLOCK_MONOTONIC) - start < 8);
    assert_text_has(w.cx, "its process did not answer in 1000 ms");
    negate_on(w.cx, "cpu_scalar");
    close_world(w);
    assert_true(test_seconds(CLOCK_MONOTONIC) - start < 12);
    assert_no_worker(getpid());
}

static void refuse(const char *path, const char *const *settings, const char *backend,
                   const char *reason)
{
    OWNED(world) w = open_world(path, settings, NULL);
    assert_status(w.cx, collet_set_backend(w.cx, backend), COLLET_UNAVAILABLE, reason);
    negate_on(w.cx, "cpu_scalar");
}

/* Uses a configuration file with this text, from which the worker also reads the backend's
 * settings. */
static void with_file(const char *directory, const char *text, const char *reason)
{
    char file[96];
    snprintf(file, sizeof file, "%s/collet.conf", directory);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    setenv("COLLET_CONFIG", file, 1);
    refuse(ALL, NULL, "worker:bad", reason);
    unsetenv("COLLET_CONFIG");
    unlink(file);
}

TEST(openings_fail_with_a_reason)
{
    char directory[] = "/tmp/collet-worker-XXXXXX";
    assert_non_null(mkdtemp(directory));
    with_file(directory, "bad.open = crash\n", "its process was ended by signal 11 (SIGSEGV)");
    with_file(directory, "bad.open = exit\n", "its process ended with status 3");
    rmdir(directory);
    refuse(ALL, NULL, "worker:nonesuch",
           "worker:nonesuch: there is no backend 'nonesuch'; available: ");
    refuse(ALL, NULL, "worker:bad:x", "'bad:x' is not a backend that a worker serves");
    refuse(ALL, NULL, "worker:worker", "'worker' is not a backend that a worker serves");
    refuse(ALL, NULL, "worker:cpu_scalar:1", "cpu_scalar has only device 0");
    refuse(ALL, NULL, "worker", "name a backend: worker:NAME or worker:NAME:DEVICE");
    assert_no_worker(getpid());
}

/* ---- Another program in its place ------------------------------------------------------------ */

static void copy_file(const char *from, const char *to, mode_t mode)
{
    char bytes[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;)
        assert_int_equal(write(out, bytes, (size_t)n), n);
    close(in);
    close(out);
}

typedef struct place {
    char directory[64], plugin[96], program[96], path[512];
} place;

static place place_create(const char *program)
{
    place p = {.directory = "/tmp/collet-worker-XXXXXX"};
    assert_non_null(mkdtemp(p.directory));
    snprintf(p.plugin, sizeof p.plugin, "%s/worker.so", p.directory);
    snprintf(p.program, sizeof p.program, "%s/collet-worker", p.directory);
    snprintf(p.path, sizeof p.path, "%s:%s", p.plugin, SCALAR_PLUGIN);
    copy_file(WORKER_PLUGIN, p.plugin, 0755);
    if (program)
        copy_file(program, p.program, 0755);
    return p;
}

static void place_remove(const place *p)
{
    unlink(p->plugin);
    unlink(p->program);
    rmdir(p->directory);
}

TEST(the_program_is_missing)
{
    place p = place_create(NULL);
    refuse(p.path, NULL, "worker:cpu_scalar",
           "/collet-worker cannot be started: No such file or directory (it is installed beside");
    copy_file("/dev/null", p.program, 0644);
    refuse(p.path, NULL, "worker:cpu_scalar", "cannot be started: Permission denied");
    assert_int_equal(chmod(p.program, 0757), 0);
    refuse(p.path, NULL, "worker:cpu_scalar", "is not started: others may write to it, or own it");
    place_remove(&p);
}

static void fails_or_not(collet_context *cx, const char *backend)
{
    float got[4] = {0};
    if (collet_set_backend(cx, backend) != COLLET_OK)
        return;
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    if (collet_op_neg(cx, c, a) == COLLET_OK)
        (void)collet_array_read(cx, c, got, sizeof got);
}

/* Whatever the hostile worker sends or writes, the program gets an error or wrong numbers, and
 * continues. */
TEST(hostile_bytes)
{
    const char modes[] = "gvrasfm";
    char backend[32];
    place p = place_create(COLLET_TEST_HOSTILE);
    for (int seed = 0; seed < (int)sizeof modes * COLLET_TEST_SEEDS; seed++) {
        OWNED(world) w = open_world(p.path, NULL, NULL);
        char mode = modes[(size_t)seed % (sizeof modes - 1)];
        snprintf(backend, sizeof backend, "worker:%c%d", mode, seed);
        fails_or_not(w.cx, backend);
        if (mode == 'v')
            assert_text_has(w.cx, "its process is not collet-worker/1");
        /* Status 9 would mean that the worker was able to shrink the shared memory. */
        assert_null(strstr(collet_last_error(w.cx), "ended with status 9"));
        negate_on(w.cx, "cpu_scalar");
    }
    assert_no_worker(getpid());
    place_remove(&p);
}

/* ---- The end of the program ------------------------------------------------------------------ */

/* If a program is killed, its worker ends too, even if a child of fork continues. */
TEST(ends_with_the_program)
{
    int ends[2];
    pid_t other;
    assert_int_equal(pipe(ends), 0);
    pid_t program = fork();
    if (program == 0) {
        world w = open_world(ALL, NULL, NULL);
        negate_on(w.cx, "worker:bad");
        other = fork();
        if (other == 0) {
            close(ends[1]);
            sleep(60);
            _exit(0);
        }
        (void)!write(ends[1], &other, sizeof other);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &other, sizeof other), sizeof other);
    close(ends[0]);
    pid_t worker = worker_of(program);
    assert_int_not_equal(worker, 0);
    kill(program, SIGKILL);
    assert_int_equal(waitpid(program, NULL, 0), program);
    double limit = test_seconds(CLOCK_MONOTONIC) + 10;
    while (parent_of_worker(worker) && test_seconds(CLOCK_MONOTONIC) < limit)
        usleep(1000);
    kill(other, SIGKILL);
    assert_int_equal(parent_of_worker(worker), 0);
}

/* A child of fork gets FORKED, and its end does not end the worker. */
TEST(fork_leaves_it_to_the_parent)
{
    int status;
    OWNED(world) w = open_world(ALL, NULL, NULL);
    negate_on(w.cx, "worker:bad");
    pid_t child = fork();
    if (child == 0)
        _exit(collet_finish(w.cx) != COLLET_FORKED);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    negate_on(w.cx, "worker:bad");
}
