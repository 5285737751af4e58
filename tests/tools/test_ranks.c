/* SPDX-License-Identifier: Apache-2.0 */
/* Which backend each MPI rank of a host uses. (ranks.sh tests whole jobs.) */

#include "common/test.h"
#include "common/ranks.h"

static void expect(int64_t rank, int64_t size, const char *choice, const char *own)
{
    const tool_ranks ranks = {.place = {rank, size}};
    collet_error err;
    char text[600];

    assert_success(tool_ranks_backend(&ranks, choice, text, sizeof text, &err), err);
    assert_string_equal(text, own);
}

TEST(lists_begin_with_another_device)
{
    expect(0, 1, "cuda:0,cuda:1", "");
    expect(0, 2, "cuda:0,cuda:1", "cuda:0,cuda:1");
    expect(1, 2, "cuda:0,cuda:1,cpu_openmp", "cuda:1,cpu_openmp,cuda:0");
    expect(3, 4, "cuda:0,cuda:1", "cuda:1,cuda:0");
    expect(1, 2, "cpu_openmp:0", "cpu_openmp:0");
    setenv("COLLET_BACKEND", "cpu_openmp:0,cpu_scalar:0", 1);
    expect(1, 2, NULL, "cpu_scalar:0,cpu_openmp:0");
    unsetenv("COLLET_BACKEND");
}

TEST(devices_that_are_alike_are_divided)
{
    expect(0, 2, "remote,cpu_openmp", "remote:0,cpu_openmp");
    expect(1, 2, "remote,cpu_openmp", "remote:1,cpu_openmp");
    expect(2, 3, "remote,cpu_openmp", "remote:0,cpu_openmp"); /* more ranks than devices */
    expect(1, 2, "cpu_openmp", "");                           /* one device: no choice to make */
    expect(0, 1, "remote,cpu_openmp", "");
}

TEST(wrong_names_are_errors)
{
    const tool_ranks ranks = {.place = {0, 2}};
    collet_error err;
    char text[600];

    assert_int_equal(tool_ranks_backend(&ranks, "nothing", text, sizeof text, &err),
                     COLLET_UNKNOWN_BACKEND);
}

int main(void)
{
    char directory[] = "/tmp/test_ranks.XXXXXX", path[64];
    FILE *file;

    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/remote.conf", directory);
    file = fopen(path, "w");
    if (file == NULL || fputs("remote.alike = 1\n", file) < 0 || fclose(file) != 0)
        return 1;
    setenv("COLLET_CONFIG", path, 1);
    setenv("COLLET_PLUGIN_PATH",
           COLLET_TEST_REMOTE "/remote.so:" COLLET_TEST_PLUGINS
                              "/cpu_openmp.so:" COLLET_TEST_PLUGINS "/cpu_scalar.so",
           1);
    int failed = test_run();
    remove(path);
    remove(directory);
    return failed;
}
