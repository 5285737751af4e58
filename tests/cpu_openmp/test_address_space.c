/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on address space (ulimit -v). If OpenBLAS cannot map its buffers, it tries again for ever. So
 * cpu_openmp gives OpenBLAS fewer threads or does not open the library, and reports a reason that
 * names the limit. No probe hangs or crashes, and products are right. Each test runs in a separate
 * process.
 */

#include <sys/resource.h>
#include <sys/wait.h>

#include <collet/collet.h>
#include <collet/ops/linalg.h>

#include "common/test.h"

#define N 600

static int wrong(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    return 1;
}

/* Checks the member `blas` of the capabilities. */
static int check_library(const char *capabilities)
{
    const char *blas = strstr(capabilities, "\"blas\": {\"library\": ");
    if (strstr(capabilities, "hung") || strstr(capabilities, "crashed") || !blas)
        return wrong("the capabilities", capabilities);
    blas += strlen("\"blas\": {\"library\": ");
    return strncmp(blas, "null", 4) == 0 && !strstr(blas, "(ulimit -v, -d)") &&
                   !strstr(blas, "cannot be opened (Debian")
               ? wrong("no reason", blas)
               : 0;
}

static int multiply(collet_context *cx)
{
    static double x[N * N];
    const int64_t shape[] = {N, N};
    collet_array *a, *c;
    for (int i = 0; i < N * N; i++)
        x[i] = 1;
    if (collet_array_from(cx, &a, COLLET_F64, 2, shape, x) ||
        collet_array_create(cx, &c, COLLET_F64, 2, shape) || collet_op_matmul(cx, c, a, a) ||
        collet_array_read(cx, c, x, sizeof x))
        return wrong("matmul", collet_last_error(cx));
    for (int i = 0; i < N * N; i++)
        if (x[i] != N)
            return wrong("matmul", "a wrong element");
    collet_array_destroy(a);
    collet_array_destroy(c);
    return 0;
}

static int work(const char *cache, rlim_t bytes)
{
    const char *const settings[] = {cache, NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS "/cpu_openmp.so",
                                      .backend = "cpu_openmp",
                                      .settings = settings};
    collet_backend_info info = {.struct_size = sizeof info};
    collet_runtime *rt;
    collet_context *cx;
    collet_error err = {.text = ""};
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
    if (collet_runtime_create(&rt, &options, &err) || collet_context_create(rt, &cx, &err) ||
        collet_backend_info_at(rt, &info, 0, &err))
        return wrong("the runtime", err.text);
    return check_library(info.capabilities) || multiply(cx);
}

TEST(every_limit)
{
    char directory[] = "/tmp/collet-space-XXXXXX", cache[64], command[64];
    assert_non_null(mkdtemp(directory));
    snprintf(cache, sizeof cache, "cache_dir=%s", directory);
    for (rlim_t megabytes = 150; megabytes <= 450; megabytes += 50) {
        int status = 0;
        pid_t child = fork();
        if (!child) {
            alarm(60); /* in case OpenBLAS tries for ever */
            _exit(work(cache, megabytes << 20));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status)
            fail_msg("%d MiB: %s %d", (int)megabytes, WIFSIGNALED(status) ? "signal" : "status",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}
