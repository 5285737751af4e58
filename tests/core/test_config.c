/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: their sources, and the plugins that receive them. */
#include <sched.h>

#include "common/support.h"

/* The process that probes a backend passes the backend's settings to the plugin. */
TEST(settings_reach_the_probe)
{
    static const char *const settings[] = {"remote.devices=9", "remote.devices=3", NULL};
    OWNED(collet_runtime) *three = runtime_with(REMOTE_PLUGIN, settings);
    collet_backend_info info = {.struct_size = sizeof info};
    assert_int_equal(collet_backend_info_at(three, &info, 0, NULL), COLLET_OK);
    assert_int_equal(info.state, COLLET_BACKEND_USABLE);
    assert_int_equal(info.device_count, 3);
}

/* A path with a leading '+' is prepended to the path of lower-priority sources. */
TEST(a_path_is_added_in_front)
{
    setenv("COLLET_PLUGIN_PATH", SCALAR_PLUGIN, 1);
    OWNED(collet_runtime) *both = runtime_with("+" REMOTE_PLUGIN, NULL);
    unsetenv("COLLET_PLUGIN_PATH");
    assert_int_equal(collet_backend_count(both), 2);
    for (size_t i = 0; i < collet_setting_count(both); i++) {
        collet_setting s = {.struct_size = sizeof s};
        assert_int_equal(collet_setting_at(both, &s, i, NULL), COLLET_OK);
        if (!strcmp(s.key, "plugin_path"))
            assert_string_equal(s.value, REMOTE_PLUGIN ":" SCALAR_PLUGIN);
    }
}

static void assert_threads(const collet_runtime_options *options, const char *value,
                           const char *source)
{
    OWNED(collet_runtime) *threads = NULL;
    assert_int_equal(collet_runtime_create(&threads, options, NULL), COLLET_OK);
    for (size_t i = 0; i < collet_setting_count(threads); i++) {
        collet_setting s = {.struct_size = sizeof s};
        assert_int_equal(collet_setting_at(threads, &s, i, NULL), COLLET_OK);
        if (strcmp(s.key, "num_threads") != 0)
            continue;
        assert_string_equal(s.value, value);
        assert_string_equal(s.source, source);
    }
}

static void keep_text(void *user, int32_t level, const char *text)
{
    if (level == COLLET_LOG_WARNING)
        snprintf(user, COLLET_ERROR_TEXT, "%s", text);
}

/* Every other source overrides a program's defaults; invalid defaults are refused. */
TEST(a_program_has_defaults)
{
    static const char *const three[] = {"num_threads=3", NULL}, *const five[] = {"num_threads=5",
                                                                                 NULL};
    static const char *const wrong[] = {"num_thread=3", NULL};
    static const char *const absent[] = {"nosuch.library=/library", NULL};
    char warning[COLLET_ERROR_TEXT] = "";
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = SCALAR_PLUGIN, .defaults = three};
    collet_runtime *none = NULL;
    collet_error err;
    assert_threads(&options, "3", "default");
    setenv("COLLET_NUM_THREADS", "4", 1);
    assert_threads(&options, "4", "environment");
    options.settings = five;
    assert_threads(&options, "5", "program");
    unsetenv("COLLET_NUM_THREADS");
    options.log = keep_text; /* a default for a missing backend gives no warning */
    options.log_user = warning;
    options.defaults = absent;
    options.settings = NULL;
    assert_threads(&options, "0", "default");
    assert_string_equal(warning, "");
    options.defaults = wrong;
    assert_error(collet_runtime_create(&none, &options, &err), COLLET_INVALID, err,
                 "defaults of the program");
}

/* The warning names the machine as the reason if no setting limits the number of threads. */
TEST(more_threads_than_processors)
{
    static const char *const many[] = {"num_threads=1000000", NULL};
    char text[COLLET_ERROR_TEXT] = "", reason[128];
    collet_runtime *most = NULL;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = SCALAR_PLUGIN,
                                      .settings = many,
                                      .log = keep_text,
                                      .log_user = text};
    cpu_set_t first, own;
    long machine = sysconf(_SC_NPROCESSORS_ONLN);
    assert_int_equal(sched_getaffinity(0, sizeof own, &own), 0);
    if (CPU_COUNT(&own) < machine || machine < 2)
        skip();
    assert_int_equal(collet_runtime_create(&most, &options, NULL), COLLET_OK);
    collet_runtime_destroy(most);
    snprintf(reason, sizeof reason,
             "is 1000000, but this machine has %ld processors: %ld threads are", machine, machine);
    assert_contains(text, reason);
    CPU_ZERO(&first);
    CPU_SET((size_t)sched_getcpu(), &first);
    assert_int_equal(sched_setaffinity(0, sizeof first, &first), 0);
    assert_int_equal(collet_runtime_create(&most, &options, NULL), COLLET_OK);
    collet_runtime_destroy(most);
    assert_int_equal(sched_setaffinity(0, sizeof own, &own), 0);
    snprintf(reason, sizeof reason, "affinity of this thread allows 1 of %ld (", machine);
    assert_contains(text, reason);
}
