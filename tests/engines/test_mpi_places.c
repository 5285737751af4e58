/* SPDX-License-Identifier: Apache-2.0 */
/* Lists processors in the order of nodes and cores, and divides them among ranks. */
#include "common/test.h"
#include "mpi/places.h"

#include <sys/stat.h>

#define N 8

static char root[] = "/tmp/test_mpi_places.XXXXXX";

static void make_directory(const char *format, int a, int b)
{
    char path[200];
    int n = snprintf(path, sizeof path, "%s", root);

    snprintf(path + n, sizeof path - (size_t)n, format, a, b);
    assert_int_equal(mkdir(path, 0777), 0);
}

/* A simulated system: core i has the processors i and i + 4; odd cores are in node 1. */
static int make_system(void **state)
{
    assert_non_null(mkdtemp(root));
    make_directory("/cpu", 0, 0);
    for (int i = 0; i < N; i++) {
        char path[200];

        make_directory("/cpu/cpu%d", i, 0);
        make_directory("/cpu/cpu%d/topology", i, 0);
        make_directory("/cpu/cpu%d/node%d", i, i % 4 == 1 || i % 4 == 3);
        snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/thread_siblings_list", root, i);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%d,%d\n", i % 4, i % 4 + 4);
        assert_int_equal(fclose(file), 0);
    }
    return 0;
}

static int remove_system(void **state)
{
    char command[200];

    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

TEST(nodes_then_cores)
{
    int processors[N] = {7, 6, 5, 4, 3, 2, 1, 0}, nodes[N], first, end;
    char text[100];

    mpi_sort_processors(root, processors, nodes, N);
    assert_memory_equal(processors, ((int[]){0, 4, 2, 6, 1, 5, 3, 7}), sizeof processors);
    assert_memory_equal(nodes, ((int[]){0, 0, 0, 0, 1, 1, 1, 1}), sizeof nodes);
    mpi_part(N, 1, 2, &first, &end);
    mpi_describe_processors(processors + first, nodes + first, end - first, text, sizeof text);
    assert_string_equal(text, "processors 1,3,5,7 of NUMA node 1");
    mpi_describe_processors(processors, nodes, N, text, sizeof text);
    assert_string_equal(text, "processors 0-7");
    mpi_describe_processors(processors, nodes, N, text, 13);
    assert_string_equal(text, "processors 0");
}

TEST(without_files)
{
    int processors[3] = {5, 3, 4}, nodes[3];
    char text[100];

    mpi_sort_processors("/none", processors, nodes, 3);
    assert_memory_equal(processors, ((int[]){3, 4, 5}), sizeof processors);
    mpi_describe_processors(processors, nodes, 3, text, sizeof text);
    assert_string_equal(text, "processors 3-5");
    mpi_describe_processors(processors, nodes, 1, text, sizeof text);
    assert_string_equal(text, "processor 3");
}

/* Each processor is in exactly one part. */
TEST(parts)
{
    int first, end, last = 0;

    for (int i = 0; i < 3; i++) {
        mpi_part(N, i, 3, &first, &end);
        assert_int_equal(first, last);
        assert_in_range(end - first, 2, 3);
        last = end;
    }
    assert_int_equal(last, N);
}

TEST_GROUP(make_system, remove_system)
