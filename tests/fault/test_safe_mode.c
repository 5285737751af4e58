/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a probe that dies is repeated in safe mode, and that the probe's results are passed to
 * the plugin. */
#include <fcntl.h>
#include <sys/resource.h>

#include "common/test.h"

#include <collet/collet.h>

#define PLUGIN COLLET_TEST_ZOO "/zoo_fragile.so"
#define CRASHED                                                                                    \
    "the probe crashed in its capabilities (SIGILL); last output: trying the library 100 %s"

static char cache[80];
static const char *timeout = "probe_timeout=60";

/* The results of one runtime. */
typedef struct found {
    int32_t state;
    char capabilities[1024], records[4096]; /* "stage code accepted reason\n" */
    char reason[1100];                      /* the error of opening the backend or its device */
} found;

static void add_record(void *user, const collet_plugin_record *record)
{
    found *f = user;
    size_t used = strlen(f->records);
    snprintf(f->records + used, sizeof f->records - used, "%s %s %d %s\n", record->stage,
             record->code, record->accepted, record->reason);
}

static found run_probe(const char *first, const char *second)
{
    const char *settings[] = {timeout, first, second, NULL};
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = PLUGIN,
                                      .backend = "zoo_fragile",
                                      .settings = settings};
    collet_backend_info info = {.struct_size = sizeof info};
    found f = {.state = -1};
    assert_success(collet_runtime_create(&rt, &options, &err), err);
    assert_int_equal(collet_backend_info_at(rt, &info, 0, NULL), COLLET_OK);
    f.state = info.state;
    snprintf(f.capabilities, sizeof f.capabilities, "%s",
             info.capabilities ? info.capabilities : "");
    for (size_t i = 0; i < collet_record_count(rt); i++) {
        collet_plugin_record record = {.struct_size = sizeof record};
        assert_int_equal(collet_record_at(rt, &record, i, NULL), COLLET_OK);
        add_record(&f, &record);
    }
    assert_int_equal(collet_context_create(rt, &cx, &err), COLLET_UNAVAILABLE);
    snprintf(f.reason, sizeof f.reason, "%s", err.text);
    collet_runtime_destroy(rt);
    return f;
}

static long probe_of(const found *f)
{
    const char *number = strstr(f->capabilities, "\"probe\":");
    assert_non_null(number);
    return strtol(number + strcspn(number, "0123456789"), NULL, 10);
}

/* The crash appears in the capabilities and in the records, and is passed to the plugin when it is
 * opened. */
TEST(a_crash)
{
    found f = run_probe("cache=off", "zoo_fragile.dies=crash");
    assert_int_equal(f.state, COLLET_BACKEND_USABLE);
    assert_contains(f.capabilities, "\"safe_mode\":\"" CRASHED "\"");
    assert_contains(f.records, "probe crash-in-capabilities 0 crashed in its capabilities (SIGILL)",
                    "probe ok 1 in safe mode: " CRASHED);
    assert_contains(f.reason, "in_probe: none, safe_mode: " CRASHED);
}

TEST(an_exit)
{
    found f = run_probe("cache=off", "zoo_fragile.dies=exit");
    assert_int_equal(f.state, COLLET_BACKEND_USABLE);
    assert_contains(f.reason, "the probe ended the process in its capabilities (status 3)");
}

/* Makes the reports in the cache old. */
static void time_passes(void)
{
    char command[160];
    snprintf(command, sizeof command, "touch -t 200001010000 '%s'/probe-*",
             cache + strlen("cache_dir="));
    assert_int_equal(system(command), 0);
}

TEST(a_crash_is_remembered)
{
    found first = run_probe(cache, "zoo_fragile.dies=crash");
    time_passes();
    found second = run_probe(cache, "zoo_fragile.dies=crash");
    assert_true(probe_of(&first) == probe_of(&second));
    assert_contains(second.records, "probe ok 1 in safe mode: " CRASHED);
    assert_contains(second.reason, "safe_mode: " CRASHED);
}

/* Not cached: the machine may just have been busy. */
TEST(a_hang_is_not_remembered)
{
    const char *dies = "zoo_fragile.dies=hang";
    timeout = "probe_timeout=1";
    found first = run_probe(cache, dies), second = run_probe(cache, dies);
    timeout = "probe_timeout=60";
    assert_int_equal(first.state, COLLET_BACKEND_USABLE);
    assert_contains(first.reason,
                    "safe_mode: the probe hung in its capabilities (no response after");
    assert_true(probe_of(&first) != probe_of(&second));
}

/* Under a limit on address space the plugin would hang each time, so the hang is remembered. But
 * the machine may only have been busy, so the plugin is probed again on another day. */
TEST(a_hang_with_little_memory_is_remembered)
{
    const char *dies = "zoo_fragile.dies=hang";
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    if (strcmp(COLLET_SANITIZER, "none") != 0 || before.rlim_cur != RLIM_INFINITY)
        skip(); /* sanitizers map terabytes */
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){UINT64_C(1) << 40, before.rlim_max}), 0);
    timeout = "probe_timeout=1";
    found first = run_probe(cache, dies), second = run_probe(cache, dies);
    time_passes();
    found third = run_probe(cache, dies);
    timeout = "probe_timeout=60";
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(first.state, COLLET_BACKEND_USABLE);
    assert_contains(first.reason, "with limited address space: ulimit -v");
    assert_true(probe_of(&first) == probe_of(&second));
    assert_true(probe_of(&first) != probe_of(&third));
}

TEST(a_crash_in_safe_mode)
{
    found f = run_probe("cache=off", "zoo_fragile.dies=always");
    assert_int_equal(f.state, COLLET_BACKEND_UNAVAILABLE);
    assert_contains(f.reason, "crashed in its capabilities (SIGILL)");
}

TEST(what_the_user_sets)
{
    const char *off = "zoo_fragile.safe_mode=off", *on = "zoo_fragile.safe_mode=on";
    assert_int_equal(run_probe(off, "zoo_fragile.dies=crash").state, COLLET_BACKEND_UNAVAILABLE);
    found f = run_probe(on, "zoo_fragile.dies=crash");
    assert_int_equal(f.state, COLLET_BACKEND_USABLE);
    assert_null(strstr(f.records, "crash"));
    assert_contains(f.reason, "safe_mode: on");
}

TEST(choices_are_remembered)
{
    char expected[64];
    found first = run_probe(cache, NULL), second = run_probe(cache, NULL);
    assert_string_equal(first.capabilities, second.capabilities); /* same probe process */
    snprintf(expected, sizeof expected, "probe: %ld, in_probe: none, safe_mode: none",
             probe_of(&first));
    assert_contains(first.reason, expected);
    assert_contains(second.reason, expected);
    assert_contains(run_probe("cache=off", "zoo_fragile.probe=mine").reason, "probe: mine,");
}

TEST(nothing_is_inherited)
{
    int file = open("/dev/null", O_RDONLY);
    assert_true(file > 0);
    assert_true(dup2(file, 77) == 77);
    assert_contains(run_probe("cache=off", NULL).capabilities, "\"descriptors\": 0");
    assert_int_equal(close(77), 0);
    assert_int_equal(close(file), 0);
}

TEST(without_a_probe)
{
    assert_contains(run_probe("probe=off", NULL).reason,
                    "probe: none, in_probe: none, safe_mode: none");
}

static int make_cache(void **state)
{
    strcpy(cache, "cache_dir=/tmp/collet-safe-XXXXXX");
    return mkdtemp(cache + strlen("cache_dir=")) ? 0 : -1;
}

static int remove_cache(void **state)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", cache + strlen("cache_dir="));
    return system(command);
}

TEST_GROUP(make_cache, remove_cache)
