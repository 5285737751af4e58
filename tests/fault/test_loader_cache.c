/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cache of probe results: when an entry is used, and that invalid entries are ignored.
 *
 * A mark in the cached capabilities distinguishes a cached result from a new result.
 */
#include "loader_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "plugins/probe_cache.h"

#define MARK "XooXgood" /* replaces zoo_good in the cached capabilities: same length */

static char cache[PATH_MAX];

static int setup(void **state)
{
    if (fixture_setup(state))
        return -1;
    fixture *f = *state;
    fixture_add(f, "good", "good.so");
    snprintf(cache, sizeof cache, "%s", fixture_path(f, "kept/here"));
    f->options.cache_directory = cache;
    return 0;
}

/* The only file of the cache, or NULL. */
static const char *cached_file(void)
{
    static char path[2 * PATH_MAX];
    const char *found = NULL;
    DIR *directory = opendir(cache);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        if (entry->d_name[0] != '.') {
            assert_null(found);
            snprintf(path, sizeof path, "%s/%s", cache, entry->d_name);
            found = path;
        } else {
            assert_true(strlen(entry->d_name) <= 2); /* no temporary files are left */
        }
    if (directory)
        closedir(directory);
    return found;
}

static void overwrite(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Scans once, and marks the cached result. */
static void cache_marked(fixture *f)
{
    size_t count;
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_good");
    const char *path = cached_file();
    assert_non_null(path);
    char *text = fixture_read(path, &count), *name = strstr(text, "capabilities\":\"");
    assert_non_null(name);
    name = strstr(name, "zoo_good");
    assert_non_null(name);
    memcpy(name, MARK, strlen(MARK));
    overwrite(path, text, count);
    free(text);
}

/* A file name in a manifest may lead to standard input, which the program must keep. */
TEST_WITH(standard_input_is_left_alone, setup, fixture_teardown)
{
    fixture *f = *state;
    const char *depends[] = {"/dev/stdin"};
    manifest m = {.name = "zoo_good", .depends = depends, .depends_count = 1};
    file_identity file = {0};
    probe_cache_key key = {
        .directory = cache, .path = f->path, .manifest = &m, .file = &file, .threads = 1};
    probe_report report = {.code = NULL};
    int ends[2], input = dup(0);
    char letter = 0;
    fixture_scan(f); /* makes the cache's directory */
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(dup2(ends[0], 0), 0);
    assert_false(probe_cache_get(&key, &report));
    assert_int_equal(read(0, &letter, 1), 1);
    assert_int_equal(letter, 'x');
    close(ends[0]);
    dup2(input, 0);
    close(input);
}

/* Scans again; returns whether the result came from the cache. */
static int was_used(fixture *f)
{
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_good");
    return strstr(fixture_plugin(f, "zoo_good")->capabilities, MARK) != NULL;
}

TEST_WITH(cached_and_used, setup, fixture_teardown)
{
    struct stat st;
    cache_marked(*state);
    assert_true(was_used(*state));
    size_t count;
    char *text = fixture_read(cached_file(), &count);
    assert_contains(text, fixture_path(*state, "good.so"));
    free(text);
    assert_int_equal(stat(cache, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(cached_file(), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

TEST_WITH(stale_by_file, setup, fixture_teardown)
{
    fixture *f = *state;
    cache_marked(f);
    fixture_add(f, "good", "good.so");
    assert_false(was_used(f));
}

/* Another collet-probe makes the cache stale. An update of libcore does the same, because
 * collet-probe contains libcore. */
TEST_WITH(stale_by_probe, setup, fixture_teardown)
{
    fixture *f = *state;
    size_t count;
    cache_marked(f);
    char *program = fixture_read(f->options.probe_program, &count);
    fixture_write(f, "collet-probe", program, count);
    free(program);
    f->options.probe_program = fixture_path(f, "collet-probe");
    assert_int_equal(chmod(f->options.probe_program, 0700), 0);
    assert_false(was_used(f));
}

TEST_WITH(stale_by_environment, setup, fixture_teardown)
{
    cache_marked(*state);
    assert_int_equal(setenv("ZOO_SOMETHING", "1", 1), 0);
    assert_true(was_used(*state));
    assert_int_equal(setenv("ZOO_DRIVER_OPTION", "1", 1), 0);
    assert_false(was_used(*state));
    assert_int_equal(unsetenv("ZOO_DRIVER_OPTION"), 0);
    assert_int_equal(unsetenv("ZOO_SOMETHING"), 0);
}

TEST_WITH(stale_by_settings, setup, fixture_teardown)
{
    fixture *f = *state;
    const char *settings[] = {"zoo_own_op.devices=3", NULL};
    cache_marked(f);
    f->options.settings = settings;
    assert_false(was_used(f));
}

static int count_cached(void)
{
    int count = 0;
    DIR *directory = opendir(cache);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

TEST_WITH(stale_by_limits, setup, fixture_teardown)
{
    static const __rlimit_resource_t limits[] = {RLIMIT_AS,     RLIMIT_DATA,  RLIMIT_STACK,
                                                 RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_MEMLOCK};
    cache_marked(*state);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit all, fewer;
        assert_int_equal(getrlimit(limits[i], &all), 0);
        fewer = all;
        fewer.rlim_cur =
            all.rlim_cur == RLIM_INFINITY ? (rlim_t)1 << 62 : all.rlim_cur - all.rlim_cur / 8;
        assert_int_equal(setrlimit(limits[i], &fewer), 0);
        int used = was_used(*state);
        assert_int_equal(setrlimit(limits[i], &all), 0);
        assert_true(!used || all.rlim_cur < 8);
    }
}

/* If a program alternates between two configurations, it probes only once for each. */
TEST_WITH(several_results, setup, fixture_teardown)
{
    fixture *f = *state;
    static const char *const settings[] = {"zoo_own_op.devices=3", NULL};
    cache_marked(f);
    f->options.settings = settings;
    assert_false(was_used(f));
    assert_int_equal(count_cached(), 2);
    f->options.settings = NULL;
    assert_true(was_used(f));
}

TEST_WITH(bounded, setup, fixture_teardown)
{
    fixture *f = *state;
    static char number[32];
    static const char *const settings[] = {number, NULL};
    f->options.settings = settings;
    for (int i = 0; i < PROBE_CACHE_FILES + 3; i++) {
        snprintf(number, sizeof number, "zoo.number=%d", i);
        fixture_scan(f);
        assert_int_equal(count_cached(), i < PROBE_CACHE_FILES ? i + 1 : PROBE_CACHE_FILES);
    }
}

/* A writer that was killed leaves its temporary file, which a later writer removes. */
TEST_WITH(left_behind, setup, fixture_teardown)
{
    fixture *f = *state;
    static const char *const settings[] = {"zoo_own_op.devices=3", NULL};
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    fixture_scan(f);
    fixture_write(f, "kept/here/.probe-1-2.json.1.2", "{", 1);
    fixture_write(f, "kept/here/.probe-1-2.json.1.3", "{", 1);
    fixture_write(f, "kept/here/.other", "{", 1);
    assert_int_equal(
        utimensat(AT_FDCWD, fixture_path(f, "kept/here/.probe-1-2.json.1.2"), times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, fixture_path(f, "kept/here/.other"), times, 0), 0);
    f->options.settings = settings;
    fixture_scan(f);
    assert_int_equal(access(fixture_path(f, "kept/here/.probe-1-2.json.1.2"), F_OK), -1);
    assert_int_equal(access(fixture_path(f, "kept/here/.probe-1-2.json.1.3"), F_OK), 0);
    assert_int_equal(access(fixture_path(f, "kept/here/.other"), F_OK), 0);
}

TEST_WITH(hostile_contents, setup, fixture_teardown)
{
    size_t count;
    cache_marked(*state);
    FREED(char) *good = fixture_read(cached_file(), &count);
    char *key = strstr(good, "\"key\":\"") + 7, *bad = malloc(2 * count + 400000);
    assert_non_null(bad);
    const struct {
        const char *format;
    } hostile[] = {
        {"%s x"},
        {"%.100s"},
        {"{\"format\":2,\"format\":2,%s"},
        {"[%s]"},
        {"{\"format\":3,\"key\":\"%.44s\",\"code\":\"ok\",\"reason\":\"\",\"capabilities\":\"{}"
         "\"}"},
        {"{\"format\":2,\"key\":\"%.44s\",\"code\":\"ok\",\"reason\":\"\",\"capabilities\":\"{}"
         "\"}"},
        {"{\"format\":2,\"key\":\"%.44s\",\"code\":\"denied\",\"reason\":\"so\"}"},
        {"{\"format\":2,\"key\":\"%.44s\",\"code\":7,\"reason\":\"so\"}"},
        {""},
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        const char *argument = strstr(hostile[i].format, "%.44s") ? key : good;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int n = sprintf(bad, hostile[i].format, argument);
#pragma GCC diagnostic pop
        overwrite(cached_file(), bad, (size_t)n);
        if (was_used(*state))
            fail_msg("used: %s", hostile[i].format);
    }
    memset(bad, ' ', 2 * count);
    overwrite(cached_file(), bad, 2 * count);
    assert_false(was_used(*state));
    free(bad);
}

TEST_WITH(hostile_file, setup, fixture_teardown)
{
    fixture *f = *state;
    char moved[PATH_MAX];
    cache_marked(f);
    assert_true(was_used(f));
    snprintf(moved, sizeof moved, "%s", fixture_path(f, "moved.json"));

    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s", cached_file());
    assert_int_equal(chmod(path, 0666), 0);
    assert_false(was_used(f)); /* and replaced by a valid file */
    assert_null(strstr(fixture_plugin(f, "zoo_good")->capabilities, MARK));

    cache_marked(f);
    if (!geteuid() && !chown(path, 54321, 54321))
        assert_false(was_used(f));

    cache_marked(f);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(symlink(moved, path), 0);
    assert_false(was_used(f));

    cache_marked(f);
    assert_int_equal(link(path, fixture_path(f, "second.json")), 0);
    assert_false(was_used(f));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(was_used(f));
}

TEST_WITH(hostile_directory, setup, fixture_teardown)
{
    fixture *f = *state;
    char target[PATH_MAX];
    snprintf(target, sizeof target, "%s", fixture_path(f, "kept/target"));
    cache_marked(f);
    assert_int_equal(chmod(cache, 0755), 0);
    assert_false(was_used(f));
    assert_int_equal(chmod(cache, 0700), 0);
    assert_true(was_used(f));
    if (!geteuid() && !chown(cache, 54321, 54321)) {
        assert_false(was_used(f));
        assert_int_equal(chown(cache, 0, 0), 0);
    }
    assert_int_equal(rename(cache, target), 0);
    assert_int_equal(symlink("target", cache), 0);
    assert_false(was_used(f));
}

/* In a program without standard input, descriptor 0 is used like any other, and is closed
 * afterwards. */
TEST_WITH(without_a_standard_input, setup, fixture_teardown)
{
    fixture *f = *state;
    int input = fcntl(0, F_DUPFD_CLOEXEC, 3);
    assert_true(input > 0);
    close(0);
    cache_marked(f);
    int used = was_used(f);
    assert_int_equal(chmod(cache, 0755), 0);
    int others = was_used(f), left = fcntl(0, F_GETFD);
    dup2(input, 0);
    close(input);
    assert_true(used);
    assert_false(others);
    assert_int_equal(left, -1);
}

TEST_WITH(cannot_be_written, setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_write(f, "file", "", 0);
    snprintf(cache, sizeof cache, "%s", fixture_path(f, "file/below"));
    assert_false(was_used(f));
    f->options.cache_directory = "relative";
    assert_false(was_used(f));
    assert_int_equal(access("relative", F_OK), -1);
}

/* Nothing is written beyond the limit on file size: such a write would end the program
 * (SIGXFSZ). */
TEST_WITH(no_larger_than_allowed, setup, fixture_teardown)
{
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    fixture_scan(*state);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    fixture_assert_proven(*state, "zoo_good");
    assert_null(cached_file());
}

/* Results that may change are probed again; results that depend only on the file are cached. */
TEST_WITH(what_is_cached, setup, fixture_teardown)
{
    fixture *f = *state;
    static const struct {
        const char *zoo, *code;
        int kept;
    } cases[] = {
        {"crash_entry", "crash-in-entry", 0},
        {"unresolved_symbol", "unresolved-symbol", 0},
        {"capabilities_fail", "capabilities-failed", 0},
        {"null_slot", "vtable-slot", 1},
        {"missing_entry", "missing-entry", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cached_file())
            unlink(cached_file());
        fixture_add(f, cases[i].zoo, "good.so");
        for (int scan = 0; scan < 2; scan++) {
            fixture_scan(f);
            fixture_assert_refused(f, "good.so", "probe", cases[i].code, "");
            assert_int_equal(cached_file() != NULL, cases[i].kept);
        }
    }
}

TEST_WITH(no_device_is_probed_again, setup, fixture_teardown)
{
    fixture *f = *state;
    const char *settings[] = {"zoo_own_op.devices=0", NULL};
    fixture_add(f, "own_op", "good.so");
    f->options.settings = settings;
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_own_op");
    assert_null(cached_file());
}
