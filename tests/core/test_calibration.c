/* SPDX-License-Identifier: Apache-2.0 */
/* Calibrations written by hand: which backend they make "auto" choose, and which files libcore
 * ignores. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common/count_files.h"
#include "common/support.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN
#define MADE "{\"format\":1,\"made\":\"2026-11-27T15:40:00Z\","
#define FAST_TRANSFERS "\"transfer\":{\"to_device\":1e12,\"to_host\":1e12,\"latency\":1e-7},"

/* By priority, cpu_scalar comes first. From 2,000 elements on, remote is faster. */
#define SCALAR MADE "\"times\":{\"add f32\":[[100,1e-7],[1000000,1e-3]]}}"
#define REMOTE_TIMES "\"times\":{\"add f32\":[[100,1e-6],[1000000,1e-5]]}}"
#define REMOTE MADE FAST_TRANSFERS REMOTE_TIMES

static char directory[64], setting[96];
static char logged[1024];
static int kills; /* nonzero: the next write writes half of its bytes, then kills the process */

/* Replaces the C library's write, in libcore too. */
__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t count)
{
    ssize_t written = syscall(SYS_write, fd, bytes, kills ? count / 2 : count);
    if (kills)
        raise(SIGKILL);
    return written;
}

static int set_up(void **state)
{
    strcpy(directory, "/tmp/collet-calibration-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(setting, sizeof setting, "cache_dir=%s", directory);
    return 0;
}

static int tear_down(void **state)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

static void keep_log(void *user, int32_t level, const char *text)
{
    if (level <= COLLET_LOG_WARNING)
        snprintf(logged + strlen(logged), sizeof logged - strlen(logged), "%s\n", text);
}

/* `more`: an additional setting, or NULL. */
static world open_calibrated(const char *more)
{
    const char *settings[] = {setting, "probe=on", "calibration=on", more ? more : "measure=on",
                              NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = BOTH, .log = keep_log, .settings = settings};
    world w = {NULL, NULL};
    collet_error err;
    logged[0] = '\0';
    assert_success(collet_runtime_create(&w.rt, &options, &err), err);
    w.cx = context_of(w.rt);
    return w;
}

static void write_one(const world *w, const char *backend, const char *text, char path[256])
{
    collet_error err;
    assert_success(collet_calibration_write(w->rt, path, path ? 256 : 0, backend, text, &err), err);
}

static void write_both(const char *scalar, const char *remote)
{
    OWNED(world) w = open_calibrated(NULL);
    write_one(&w, "cpu_scalar", scalar, NULL);
    write_one(&w, "remote", remote, NULL);
}

static const char *file_of(collet_runtime *rt, const char *backend)
{
    collet_backend_info info = {.struct_size = sizeof info};
    for (size_t i = 0; collet_backend_info_at(rt, &info, i, NULL) == COLLET_OK; i++)
        if (!strcmp(info.name, backend))
            return info.calibration;
    return NULL;
}

/* The backend that "auto" chooses for a call whose operands are in the memory of the backend
 * `space` (NULL: on the host). */
static const char *runs_on(const world *w, uint32_t op, collet_dtype dtype, int64_t n,
                           const char *space)
{
    const collet_scalar one = {.dtype = COLLET_F64, .value.f64 = 1};
    collet_array *a = NULL, *c = NULL;
    assert_ok(w->cx, collet_array_create(w->cx, &a, dtype, 1, &n));
    assert_ok(w->cx, collet_array_create(w->cx, &c, dtype, 1, &n));
    assert_ok(w->cx, collet_set_backend(w->cx, space ? space : "cpu_scalar"));
    assert_ok(w->cx, collet_op_fill(w->cx, a, &one));
    assert_ok(w->cx, collet_set_backend(w->cx, "auto"));
    assert_ok(w->cx, collet_call(w->cx, op, &c, (const collet_array *const[]){a, a}, NULL));
    collet_array_destroy(a);
    collet_array_destroy(c);
    return collet_last_backend(w->cx);
}

TEST_WITH(auto_follows_the_table, set_up, tear_down)
{
    OWNED(world) w = open_calibrated(NULL);
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100000, NULL), "cpu_scalar");
    assert_string_equal(file_of(w.rt, "remote"), "");
    close_world(w);
    write_both(SCALAR, REMOTE);
    w = open_calibrated(NULL);
    assert_contains(file_of(w.rt, "remote"), directory, "/calibration-remote-");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 1, NULL), "cpu_scalar");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 1000, NULL), "cpu_scalar");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100000, NULL), "remote");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 3000000, NULL), "remote");
    /* Neither mul nor add in f64 was measured. remote does not support i32. */
    assert_string_equal(runs_on(&w, COLLET_OP_MUL, COLLET_F32, 100000, NULL), "cpu_scalar");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F64, 100000, NULL), "cpu_scalar");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_I32, 100000, NULL), "cpu_scalar");
    assert_int_equal(counters_of(w.cx).fallbacks, 0);
    close_world(w);
    w = open_calibrated("calibration=off");
    assert_string_equal(file_of(w.rt, "remote"), "");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100000, NULL), "cpu_scalar");
}

/* At 1 GB/s the transfer to remote takes longer than cpu_scalar needs for 100,000 elements. If the
 * operands are already on remote, remote is faster. */
TEST_WITH(transfers_count, set_up, tear_down)
{
    write_both(SCALAR, MADE
               "\"transfer\":{\"to_device\":1e9,\"to_host\":1e9,\"latency\":1e-6}," REMOTE_TIMES);
    OWNED(world) w = open_calibrated(NULL);
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100000, NULL), "cpu_scalar");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100000, "remote"), "remote");
    /* Below the crossover auto chooses the device that holds the operands, as without
     * calibration. */
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100, "remote"), "remote");
}

/* If a backend is faster by less than a tenth, the choice stays the same. */
TEST_WITH(a_little_is_not_enough, set_up, tear_down)
{
    write_both(SCALAR,
               MADE FAST_TRANSFERS "\"times\":{\"add f32\":[[100,9.5e-8],[1000000,9.5e-4]]}}");
    OWNED(world) w = open_calibrated(NULL);
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100000, NULL), "cpu_scalar");
}

#define SLOW MADE "\"times\":{\"add f32\":[[100,1e-6],[1000000,1e-3]]}}"

/* For a dtype that was not measured, a backend must be faster by more than for a measured dtype. */
TEST_WITH(other_dtypes, set_up, tear_down)
{
    static const char *const faster[] = {
        MADE "\"times\":{\"add f32\":[[100,7e-7],[1000000,7e-4]]}}",
        MADE "\"times\":{\"add f32\":[[100,4e-7],[1000000,4e-4]]}}",
    };
    static const char *const settings[] = {setting, "probe=on", "calibration=on", NULL};
    for (int i = 0; i < 2; i++) {
        OWNED(world) w = open_world(OPENMP_PLUGIN ":" SCALAR_PLUGIN, settings, NULL);
        write_one(&w, "cpu_openmp", SLOW, NULL);
        write_one(&w, "cpu_scalar", faster[i], NULL);
        close_world(w);
        w = open_world(OPENMP_PLUGIN ":" SCALAR_PLUGIN, settings, NULL);
        assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 1000, NULL), "cpu_scalar");
        assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_I32, 1000, NULL),
                            i ? "cpu_scalar" : "cpu_openmp");
    }
}

/* Predicted times are printed in a unit that suits their size. */
TEST_WITH(units, set_up, tear_down)
{
    static const char *const expected[] = {
        ": 0.1 ns: ", ": 100.0 ns: ", ": 100.00 us: ", ": 100.000 ms: ", ": 100.000 s: "};
    const int64_t n = 1;
    char text[4096], times[128];
    double seconds = 1e-10;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        snprintf(times, sizeof times, MADE "\"times\":{\"add f32\":[[1,%g]]}}", seconds);
        write_both(times, REMOTE);
        world w = open_calibrated(NULL);
        collet_array *a = NULL;
        assert_ok(w.cx, collet_array_create(w.cx, &a, COLLET_F32, 1, &n));
        assert_ok(w.cx, collet_explain(w.cx, COLLET_OP_ADD, text, sizeof text, &a,
                                       (const collet_array *const[]){a, a}, NULL));
        assert_contains(text, expected[i], ", inputs 0, results 0.\n");
        collet_array_destroy(a);
        close_world(w);
        seconds *= 1e3;
    }
}

/* A calibration lists `where` under the dtype of the selected numbers, because the condition is always bool. */
TEST_WITH(conditions_do_not_count, set_up, tear_down)
{
    static const char *const settings[] = {setting, "probe=on", "calibration=on", NULL};
    const collet_dtype dtypes[] = {COLLET_F32, COLLET_F64};
    const int64_t n = 1000;
    OWNED(world) w = open_world(OPENMP_PLUGIN ":" SCALAR_PLUGIN, settings, NULL);
    write_one(&w, "cpu_openmp",
              MADE "\"times\":{\"where f32\":[[100,1e-3]],\"where f64\":[[100,1e-6]]}}", NULL);
    write_one(&w, "cpu_scalar",
              MADE "\"times\":{\"where f32\":[[100,1e-4]],\"where f64\":[[100,1e-4]]}}", NULL);
    close_world(w);
    w = open_world(OPENMP_PLUGIN ":" SCALAR_PLUGIN, settings, NULL);
    for (int i = 0; i < 2; i++) {
        OWNED(collet_array) *condition = NULL, *a = NULL;
        assert_ok(w.cx, collet_array_create(w.cx, &condition, COLLET_BOOL, 1, &n));
        assert_ok(w.cx, collet_array_create(w.cx, &a, dtypes[i], 1, &n));
        const collet_scalar one = {.dtype = COLLET_F64, .value.f64 = 1};
        assert_ok(w.cx, collet_op_fill(w.cx, condition, &one));
        assert_ok(w.cx, collet_op_fill(w.cx, a, &one));
        assert_ok(w.cx, collet_op_where(w.cx, a, condition, a, a));
        assert_string_equal(collet_last_backend(w.cx), i ? "cpu_openmp" : "cpu_scalar");
    }
}

/* The name of a calibration file depends on the capabilities of the backend's devices. */
TEST_WITH(another_machine_finds_no_file, set_up, tear_down)
{
    write_both(SCALAR, REMOTE);
    OWNED(world) w = open_calibrated("remote.devices=3");
    assert_string_equal(file_of(w.rt, "remote"), "");
    assert_true(*file_of(w.rt, "cpu_scalar"));
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100000, NULL), "cpu_scalar");
}

/* With measure=off, earlier measurements are ignored too. */
TEST_WITH(without_measurements, set_up, tear_down)
{
    write_both(SCALAR, REMOTE);
    for (int i = 0; i < 2; i++) {
        OWNED(world) w = open_calibrated(i ? "measure=off" : "measure=on");
        assert_int_equal(i, !*file_of(w.rt, "remote"));
    }
}

/* The name also depends on the size of the plugin's file, but not on the file's path. */
TEST_WITH(another_build_finds_no_file, set_up, tear_down)
{
    const char *settings[] = {setting, "probe=on", "calibration=on", NULL};
    char copy[96], command[512];
    write_both(SCALAR, REMOTE);
    snprintf(copy, sizeof copy, "%s/copy.so", directory);
    snprintf(command, sizeof command, "cp '%s' '%s'", SCALAR_PLUGIN, copy);
    for (int build = 0; build < 2; build++) {
        assert_int_equal(0, system(command));
        world w = open_world(copy, settings, NULL);
        assert_int_equal(build == 0, *file_of(w.rt, "cpu_scalar") != '\0');
        close_world(w);
        snprintf(command, sizeof command, "printf x >> '%s'", copy);
    }
}

static const char *const malformed[][2] = {
    {"", "JSON"},
    {"{}", "format is not 1"},
    {"{\"format\":2,\"made\":\"\"}", "format is not 1"},
    {"{\"format\":1}", "made"},
    {MADE "\"calibrated\":1}", "calibrated must be a string"},
    {MADE "\"transfer\":{\"to_device\":1}}", "transfer must have"},
    {MADE "\"transfer\":{\"to_device\":1,\"to_host\":-1,\"latency\":1}}", "transfer must have"},
    {MADE "\"transfer\":{\"to_device\":1e-300,\"to_host\":1,\"latency\":1}}", "transfer must have"},
    {MADE "\"times\":[]}", "times must be an object"},
    {MADE "\"times\":{\"bad f32\":[[1,1]]}}", "'bad f32' is not an op"},
    {MADE "\"times\":{\"add f16\":[[1,1]]}}", "'add f16' is not an op"},
    {MADE "\"times\":{\"add\":[[1,1]]}}", "'add' is not an op"},
    {MADE "\"times\":{\"add f32\":1}}", "is not an op with a list"},
    {MADE "\"times\":{\"add f32\":[]}}", "no points"},
    {MADE "\"times\":{\"add f32\":[[1]]}}", "pairs"},
    {MADE "\"times\":{\"add f32\":[[1,0]]}}", "pairs"},
    {MADE "\"times\":{\"add f32\":[[0.5,1]]}}", "pairs"},
    {MADE "\"times\":{\"add f32\":[[2,1],[2,1]]}}", "pairs"},
    {MADE "\"times\":{\"add f32\":[[1,1]],\"add f32\":[[1,1]]}}", "duplicate"},
    {MADE "\"times\":{\"add f32\":[[1,1]]}} ", NULL},
};

/* A malformed calibration is refused when a program writes it. A malformed file is ignored, with a
 * warning. */
TEST_WITH(malformed_files, set_up, tear_down)
{
    char path[256];
    collet_error err;
    write_both(SCALAR, REMOTE);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        const char *text = malformed[i][0], *part = malformed[i][1];
        world w = open_calibrated(NULL);
        assert_true(*file_of(w.rt, "remote"));
        snprintf(path, sizeof path, "%s", file_of(w.rt, "remote"));
        collet_status status = collet_calibration_write(w.rt, NULL, 0, "remote", text, &err);
        close_world(w);
        assert_int_equal(status, part ? COLLET_FORMAT : COLLET_OK);
        if (!part)
            continue;
        assert_contains(err.text, part);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
        w = open_calibrated(NULL);
        assert_string_equal(file_of(w.rt, "remote"), "");
        assert_contains(logged, path, "is ignored: ", *text ? part : "it is empty");
        write_one(&w, "remote", REMOTE, NULL);
        close_world(w);
    }
}

/* A calibration file must satisfy the rules for files of the cache: permissions, owner, size. */
TEST_WITH(others_files, set_up, tear_down)
{
    char path[256];
    world w = open_calibrated(NULL);
    write_one(&w, "remote", REMOTE, path);
    close_world(w);
    assert_int_equal(chmod(path, 0644), 0);
    w = open_calibrated(NULL);
    assert_string_equal(file_of(w.rt, "remote"), "");
    assert_contains(logged, "is ignored: it must be a regular file of this user");
    close_world(w);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(truncate(path, ((off_t)1 << 20) + 1), 0);
    w = open_calibrated(NULL);
    assert_string_equal(file_of(w.rt, "remote"), "");
    assert_contains(logged, "is ignored: it has more than 1048576 bytes");
    close_world(w);
    assert_int_equal(chmod(directory, 0755), 0);
    w = open_calibrated(NULL);
    assert_string_equal(file_of(w.rt, "remote"), "");
    collet_error err;
    assert_error(collet_calibration_write(w.rt, NULL, 0, "remote", REMOTE, &err), COLLET_IO, err,
                 "only this user");
    close_world(w);
    assert_int_equal(chmod(directory, 0700), 0);
}

/* Before it measures, a program can test whether it can write a calibration: if the text is NULL, libcore
 * writes a file of the usual size and removes it. */
TEST_WITH(no_room, set_up, tear_down)
{
    struct rlimit before, little = {1000, RLIM_INFINITY};
    collet_error err;
    world w = open_calibrated(NULL);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    collet_status status = collet_calibration_write(w.rt, NULL, 0, "remote", NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, COLLET_IO);
    assert_contains(err.text, "File too large");
    assert_int_equal(collet_calibration_write(w.rt, NULL, 0, "remote", NULL, &err), COLLET_OK);
    close_world(w);
    assert_int_equal(count_files(directory, "calibration-"), 0);
}

/* A new file is kept even if the older files have times in the future. */
TEST_WITH(the_new_file_stays, set_up, tear_down)
{
    char path[256];
    const struct timespec tomorrow[] = {{time(NULL) + 86400, 0}, {time(NULL) + 86400, 0}};
    for (int i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "%s/calibration-old-%d.json", directory, i);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        assert_true(fd >= 0);
        assert_int_equal(futimens(fd, tomorrow), 0);
        close(fd);
    }
    OWNED(world) w = open_calibrated(NULL);
    write_one(&w, "remote", REMOTE, path);
    close_world(w);
    assert_int_equal(count_files(directory, "calibration-"), 64);
    w = open_calibrated(NULL);
    assert_string_equal(file_of(w.rt, "remote"), path);
}

TEST_WITH(refused, set_up, tear_down)
{
    collet_error err;
    OWNED(world) w = open_calibrated(NULL);
    assert_int_equal(collet_calibration_write(w.rt, NULL, 0, "nothing", REMOTE, &err),
                     COLLET_UNKNOWN_BACKEND);
    assert_int_equal(collet_calibration_write(w.rt, NULL, 0, "remote", NULL, &err), COLLET_OK);
    assert_string_equal(file_of(w.rt, "remote"), "");
    assert_int_equal(collet_calibration_write(w.rt, NULL, 8, "remote", REMOTE, &err),
                     COLLET_INVALID);
    close_world(w);
    w = open_calibrated("probe=off");
    assert_error(collet_calibration_write(w.rt, NULL, 0, "remote", REMOTE, &err),
                 COLLET_UNAVAILABLE, err, "it was not probed");
    close_world(w);
    w = open_calibrated("cache=off");
    assert_int_equal(collet_calibration_write(w.rt, NULL, 0, "remote", NULL, &err),
                     COLLET_IO);
    assert_error(collet_calibration_write(w.rt, NULL, 0, "remote", REMOTE, &err), COLLET_IO, err,
                 "there is no directory of the cache");
}

/* If the process is killed while it writes, the previous file stays in use. */
TEST_WITH(killed_in_the_middle, set_up, tear_down)
{
    write_both(SCALAR, REMOTE);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        world w = open_calibrated(NULL);
        kills = 1;
        collet_calibration_write(w.rt, NULL, 0, "remote", MADE "\"times\":{}}", NULL);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    OWNED(world) w = open_calibrated(NULL);
    assert_string_equal(logged, "");
    assert_string_equal(runs_on(&w, COLLET_OP_ADD, COLLET_F32, 100000, NULL), "remote");
}

int main(void)
{
    unsetenv("COLLET_MEASURE");
    return test_run();
}
