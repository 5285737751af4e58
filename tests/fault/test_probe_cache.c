/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cache of probe results, without probes: which results are kept, and which files are
 * valid.
 */
#include "loader_fixture.h"

#include <dirent.h>
#include <fcntl.h>

#include "plugins/probe_cache.h"

#define DEVICE                                                                                     \
    "{\"jit\":false,\"parallel\":false,\"gpu\":false,\"device_count\":1,"                          \
    "\"devices\":[{\"name\":\"d\"}]}"
#define NO_DEVICE                                                                                  \
    "{\"jit\":false,\"parallel\":false,\"gpu\":false,\"device_count\":0,\"reason\":\"none\""
#define QUOTED                                                                                     \
    "{\\\"jit\\\":false,\\\"parallel\\\":false,\\\"gpu\\\":false,\\\"device_count\\\":1,"          \
    "\\\"devices\\\":[{\\\"name\\\":\\\"d\\\"}]}"
#define FORTY "-234567890123456789012345678901234567890"
#define LONG FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY
#define KEPT "{\"format\":2,\"key\":\"%.44s\""

/* In the last report but one, the reason is too long. In the other reports a member is missing or
 * contradicts another member. */
static const char *const unusable[] = {
    "{\"format\":2,\"code\":\"entry-null\",\"reason\":\"so\"}",
    "{\"format\":2,\"key\":\"%.43s\",\"code\":\"entry-null\",\"reason\":\"so\"}",
    KEPT ",\"reason\":\"so\"}",
    KEPT ",\"code\":\"entry-null\"}",
    KEPT ",\"code\":\"vtable-" FORTY "1\",\"reason\":\"so\"}",
    KEPT ",\"code\":\"entry-null\",\"reason\":\"so\",\"capabilities\":\"" QUOTED "\"}",
    KEPT ",\"code\":\"ok\",\"reason\":\"so\",\"capabilities\":\"" QUOTED "\"}",
    KEPT ",\"code\":\"entry-null\",\"reason\":\"" LONG LONG "\"}",
    KEPT ",\"code\":\"ok\",\"reason\":\"\"}",
};

static char cache[PATH_MAX];

static int set_up(void **state)
{
    if (fixture_setup(state))
        return -1;
    snprintf(cache, sizeof cache, "%s", fixture_path(*state, "kept/here"));
    return 0;
}

static probe_cache_key sample_key(const fixture *f)
{
    static const char *depends[] = {"ZOO_*", COLLET_TEST_NOTHING, "/proc/sys/kernel", "/dev/null"};
    static const manifest m = {.name = "zoo_good", .depends = depends, .depends_count = 4};
    static const file_identity file = {0};
    return (probe_cache_key){
        .directory = cache, .path = f->path, .manifest = &m, .file = &file, .threads = 1};
}

/* Stores a report and returns whether the cache finds it again. */
static int kept(const probe_cache_key *key, const char *code, const char *capabilities)
{
    const probe_report report = {.code = (char *)(uintptr_t)code,
                                 .reason = (char *)(uintptr_t)(capabilities ? "" : "so"),
                                 .capabilities = (char *)(uintptr_t)capabilities};
    probe_report got = {.code = NULL};
    probe_cache_put(key, &report, 0);
    int found = probe_cache_get(key, &got);
    if (found)
        assert_string_equal(got.code, code);
    probe_report_clear(&got);
    return found;
}

/* The name of the only report. */
static const char *cached_file(void)
{
    static char name[NAME_MAX + 1];
    DIR *directory = opendir(cache);
    struct dirent *entry;
    assert_non_null(directory);
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            snprintf(name, sizeof name, "%s", entry->d_name);
    closedir(directory);
    return name;
}

TEST_WITH(contents, set_up, fixture_teardown)
{
    fixture *f = *state;
    const probe_cache_key key = sample_key(f);
    probe_report report;
    char text[2048], file[NAME_MAX + 32];
    assert_false(kept(&key, "crash-in-entry", NULL));
    assert_false(kept(&key, "ok", NO_DEVICE "}"));
    assert_false(kept(&key, "ok", NO_DEVICE ",\"lasting\":false}"));
    assert_true(kept(&key, "ok", NO_DEVICE ",\"lasting\":true}"));
    assert_true(kept(&key, "ok", DEVICE));
    assert_true(kept(&key, "entry-null", NULL));
    snprintf(file, sizeof file, "kept/here/%s", cached_file());
    for (size_t i = 0; i < sizeof unusable / sizeof *unusable; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int n = snprintf(text, sizeof text, unusable[i], cached_file());
#pragma GCC diagnostic pop
        int fd = open(fixture_path(f, file), O_WRONLY | O_TRUNC);
        assert_int_equal(write(fd, text, (size_t)n), n);
        assert_int_equal(close(fd), 0);
        if (probe_cache_get(&key, &report))
            fail_msg("used: %s", text);
    }
    assert_int_equal(truncate(fixture_path(f, file), 3 << 20), 0);
    assert_false(probe_cache_get(&key, &report));
    assert_int_equal(truncate(fixture_path(f, file), 0), 0);
    assert_false(probe_cache_get(&key, &report));
}

TEST_WITH(variables, set_up, fixture_teardown)
{
    const probe_cache_key key = sample_key(*state);
    probe_report report = {.code = NULL};
    char **before = environ, *none[] = {NULL};
    assert_true(kept(&key, "entry-null", NULL));
    assert_int_equal(setenv("LD_PRELOADED", "1", 1), 0); /* another variable */
    assert_true(probe_cache_get(&key, &report));
    probe_report_clear(&report);
    assert_int_equal(unsetenv("LD_PRELOADED"), 0);
    assert_int_equal(setenv("ZOO_1", "1", 1), 0);
    assert_false(probe_cache_get(&key, &report));
    assert_int_equal(unsetenv("ZOO_1"), 0);
    environ = none;
    int empty = kept(&key, "entry-null", NULL);
    environ = NULL;
    int absent = probe_cache_get(&key, &report);
    environ = before;
    probe_report_clear(&report);
    assert_true(empty && absent);
}

/* If the library that a setting names is replaced, the stored result is not used. */
TEST_WITH(files_of_settings, set_up, fixture_teardown)
{
    fixture *f = *state;
    char library[PATH_MAX + 32];
    const char *settings[] = {library, "zoo.other=" COLLET_TEST_NOTHING, "zoo.word=file", NULL};
    probe_cache_key key = sample_key(f);
    probe_report report = {.code = NULL};
    fixture_write(f, "library", "one", 3);
    snprintf(library, sizeof library, "zoo.library=%s", fixture_path(f, "library"));
    key.settings = settings;
    assert_true(kept(&key, "entry-null", NULL));
    assert_true(probe_cache_get(&key, &report));
    probe_report_clear(&report);
    fixture_write(f, "library", "other", 5);
    assert_false(probe_cache_get(&key, &report));
}

TEST_WITH(names, set_up, fixture_teardown)
{
    fixture *f = *state;
    probe_cache_key key = sample_key(f);
    static char deep[2 * PATH_MAX];
    assert_true(kept(&key, "entry-null", NULL));
    fixture_write(f, "kept/here/probe" FORTY FORTY, "", 0); /* not a file of the cache */
    assert_true(kept(&key, "entry-null", NULL));
    assert_int_equal(access(fixture_path(f, "kept/here/probe" FORTY FORTY), F_OK), 0);
    snprintf(deep, sizeof deep, "%s/%0*d", f->directory, PATH_MAX, 0);
    key.directory = deep;
    assert_false(kept(&key, "entry-null", NULL));
    fixture_write(f, "file", "", 0);
    key.directory = fixture_path(f, "file/below/it");
    assert_false(kept(&key, "entry-null", NULL));
}

TEST_WITH(identities, set_up, fixture_teardown)
{
    const file_identity a = {1, 2, 3, 4, 5, 6, 7};
    assert_true(file_identity_equal(&a, &a));
    for (size_t i = 0; i < sizeof a / sizeof(uint64_t); i++) {
        file_identity b = a;
        ((unsigned char *)&b)[i * sizeof(uint64_t)]++;
        assert_false(file_identity_equal(&a, &b));
    }
}
