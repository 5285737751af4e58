/* SPDX-License-Identifier: Apache-2.0 */
/* Under a limit on the size of files (ulimit -f) libcore and its backends must not end the program
 * when they write caches, traces or shared memory. The signal SIGXFSZ ends a program by default. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "common/support.h"

#define PATH                                                                                       \
    SCALAR_PLUGIN ":" OPENMP_PLUGIN ":" COLLET_TEST_PLUGINS "/opencl.so:" COLLET_TEST_PLUGINS      \
                  "/worker.so"

static char directory[] = "/tmp/collet-limit-XXXXXX";

/* Exits with 0 after a result, 1 after an error. */
static void compute(const char *backend, rlim_t bytes)
{
    char cache[64], trace[64];
    const char *const settings[] = {cache, trace, NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = PATH, .settings = settings};
    collet_runtime *rt;
    collet_context *cx;
    collet_error err;
    float x[3] = {1, 2, 3};
    snprintf(cache, sizeof cache, "cache_dir=%s/%s", directory, backend);
    snprintf(trace, sizeof trace, "trace=%s/trace.json", directory);
    signal(SIGXFSZ, SIG_DFL);
    if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}) ||
        collet_runtime_create(&rt, &options, &err) != COLLET_OK ||
        collet_context_create(rt, &cx, &err) != COLLET_OK)
        _exit(1);
    collet_array *a = NULL;
    int fine = collet_set_backend(cx, backend) == COLLET_OK &&
               collet_array_from(cx, &a, COLLET_F32, 1, (const int64_t[]){3}, x) == COLLET_OK &&
               collet_op_exp(cx, a, a) == COLLET_OK && collet_finish(cx) == COLLET_OK;
    _exit(!fine);
}

TEST(no_limit_ends_the_program)
{
    static const char *const backends[] = {"cpu_scalar", "cpu_openmp", "opencl",
                                           "worker:cpu_scalar"};
    static const rlim_t limits[] = {0, 1, 4096, 65536, 1 << 20};
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++)
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            int status = 0;
            pid_t child = fork();
            if (!child)
                compute(backends[b], limits[i]);
            assert_int_equal(waitpid(child, &status, 0), child);
            if (!WIFEXITED(status))
                fail_msg("%s, %llu bytes: signal %d", backends[b], (unsigned long long)limits[i],
                         WTERMSIG(status));
            if (b < 2 && WEXITSTATUS(status)) /* these backends write no files */
                fail_msg("%s, %llu bytes: an error", backends[b], (unsigned long long)limits[i]);
        }
}

/* A call that fails names the limit. */
TEST(the_limit_is_named)
{
    struct rlimit before, none;
    collet_backend_info info = {.struct_size = sizeof info};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    world w = open_world(PATH, NULL, "cpu_scalar");
    assert_ok(w.cx, collet_set_backend(w.cx, "worker:cpu_scalar"));
    collet_array *a = floats(w.cx, 3, 1);
    assert_int_not_equal(collet_op_neg(w.cx, a, a), COLLET_OK);
    assert_text_has(w.cx, "the limit on the size of files (ulimit -f)");
    collet_array_destroy(a);
    assert_ok(w.cx, collet_set_backend(w.cx, "cpu_scalar"));
    for (size_t i = 0; i < collet_backend_count(w.rt); i++) {
        assert_int_equal(collet_backend_info_at(w.rt, &info, i, NULL), COLLET_OK);
        if (!strcmp(info.name, "opencl") && strstr(info.reason, "PoCL"))
            assert_contains(info.reason, "(ulimit -f)");
    }
    close_world(w);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static int tear_down_all(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

TEST_GROUP(NULL, tear_down_all)

int main(void)
{
    if (!mkdtemp(directory) || setenv("POCL_CACHE_DIR", directory, 1)) /* nothing kept there */
        return 1;
    return test_run();
}
