/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a process may use: limits of control groups (versions 1 and 2, in a simulated
 * file system) and of setrlimit, and how libcore follows them. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/fixture.h"
#include "util/host_memory.h"
#include "util/memory_limit.h"

#define MIB ((uint64_t)1 << 20)

static char root[] = "/tmp/collet-memory-XXXXXX";

static void put(const char *directory, const char *file, const char *text)
{
    char path[512], command[600];
    snprintf(command, sizeof command, "mkdir -p %s%s", root, directory);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s%s/%s", root, directory, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static collet_memory_limit limit_of(const char *self)
{
    collet_memory_limit l;
    memory_limit_read(root, self, &l);
    return l;
}

static int make_root(void **state)
{
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

/* ---- Control groups -------------------------------------------------------------------------- */

TEST(no_group_limits)
{
    collet_memory_limit l = limit_of("0::/none\n");
    assert_true(l.machine > 64 * MIB && l.total == l.machine && !*l.by);
    assert_true(l.available > 0 && l.available <= l.machine);
    l = limit_of("garbage\n");
    assert_true(l.total == l.machine);
}

/* Nested groups, as systemd and Slurm create them: any parent may have the smallest limit. */
TEST(version_2)
{
    put("/a/b/c", "memory.max", "max\n");
    put("/a/b", "memory.max", "50331648\n");
    put("/a", "memory.max", "134217728\n");
    collet_memory_limit l = limit_of("0::/a/b/c\n");
    assert_int_equal(l.total, 48 * MIB);
    assert_string_equal(l.by, "memory.max of the cgroup /a/b");
    put("/a/b/c", "memory.high", "33554432\n");
    put("/a/b/c", "memory.current", "20971520\n");
    put("/a/b/c", "memory.stat", "anon 1\nfile 7\ninactive_file 4194304\nactive_file 9\n");
    l = limit_of("0::/a/b/c\n");
    assert_int_equal(l.total, 32 * MIB);
    assert_int_equal(l.available, 16 * MIB); /* 32 - (20 - 4) */
    assert_string_equal(l.by, "memory.high of the cgroup /a/b/c");
    put("/a", "memory.current", "130023424\n"); /* 124 of 128 MiB: a parent has less memory left */
    l = limit_of("0::/a/b/c\n");
    assert_true(l.total == 32 * MIB && l.available == 4 * MIB);
    put("/a", "memory.current", "234217728\n");
    assert_int_equal(limit_of("0::/a/b/c\n").available, 0);
}

TEST(version_1)
{
    static const char *const self =
        "12:cpu,cpuacct:/x\n4:memory:/slurm/uid_0/job_7/step_0\n0::/none\n";
    put("/memory/slurm/uid_0/job_7", "memory.limit_in_bytes", "67108864\n");
    put("/memory/slurm/uid_0/job_7/step_0", "memory.limit_in_bytes", "9223372036854771712\n");
    put("/memory/slurm/uid_0/job_7", "memory.usage_in_bytes", "33554432\n");
    put("/memory/slurm/uid_0/job_7", "memory.stat",
        "cache 5\ninactive_file 1\ntotal_inactive_file 1048576\n");
    collet_memory_limit l = limit_of(self);
    assert_true(l.total == 64 * MIB && l.available == 33 * MIB);
    assert_string_equal(l.by, "memory.limit_in_bytes of the cgroup /slurm/uid_0/job_7");
    assert_int_equal(limit_of("4:cpu:/slurm/uid_0/job_7\n").total, l.machine);
}

/* In a container the process's group is mounted as the root of the group file system, so the group's
 * path does not exist there. */
TEST(in_a_container)
{
    put("", "memory.max", "100663296\n");
    collet_memory_limit l = limit_of("0::/docker/0123456789ab\n");
    assert_int_equal(l.total, 96 * MIB);
    assert_string_equal(l.by, "memory.max of the cgroup /");
    assert_int_equal(limit_of("0::/\n").total, 96 * MIB);
    put("", "memory.max", "max\n");
}

/* ---- Limits of resources --------------------------------------------------------------------- */

#define CHECK(condition)                                                                           \
    if (!(condition))                                                                              \
    return __LINE__ % 250 + 1

static int under_limit(void)
{
    const struct rlimit as = {1024 * MIB, RLIM_INFINITY}, data = {512 * MIB, RLIM_INFINITY};
    collet_memory_limit l = {.struct_size = sizeof l};
    collet_memory_stats m = {.struct_size = sizeof m};
    open_shared(SCALAR_PLUGIN, NULL, NULL);
    CHECK(!setrlimit(RLIMIT_AS, &as) && !collet_memory_limit_read(&l, NULL));
    CHECK(l.total == 1024 * MIB && l.available < 1024 * MIB && strstr(l.by, "ulimit -v"));
    void *used = mmap(NULL, 100 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(used != MAP_FAILED && !collet_memory(cx, &m, "host"));
    CHECK(m.total == 1024 * MIB && m.available <= l.available - 99 * MIB);
    CHECK(!setrlimit(RLIMIT_DATA, &data) && !collet_memory(cx, &m, "host"));
    CHECK(m.total == 512 * MIB && memory_limit_total() == 512 * MIB);
    collet_device_info d = {.struct_size = sizeof d};
    CHECK(!collet_device_info_at(rt, &d, 0, 0, NULL) && d.memory_bytes == 512 * MIB);
    /* At most a sixteenth of the limit, 32 MiB, is kept when memory is freed. */
    void *a = host_memory_create(20 * MIB), *b = host_memory_create(20 * MIB);
    CHECK(a && b);
    host_memory_free(a);
    host_memory_free(b);
    CHECK(host_memory_kept() == 20 * MIB);
    close_shared();
    return 0;
}

TEST(limits_of_resources)
{
    int status = -1;
    if (ADDRESS_SANITIZER || THREAD_SANITIZER)
        skip(); /* sanitizers need terabytes of addresses */
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        _exit(under_limit());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(arguments)
{
    collet_error err;
    collet_memory_limit l = {.struct_size = 0};
    assert_int_equal(collet_memory_limit_read(NULL, &err), COLLET_INVALID);
    assert_int_equal(collet_memory_limit_read(&l, &err), COLLET_INVALID);
}

TEST_GROUP(make_root, remove_root)
