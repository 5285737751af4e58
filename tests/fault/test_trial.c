/* SPDX-License-Identifier: Apache-2.0 */
/* What a plugin tries in its probe, and how its choices come back to it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <collet/collet.h>

#define PLUGIN COLLET_TEST_ZOO "/zoo_trials.so"

static char cache[64];

/* The reason that the device gives for not opening, after the capabilities were copied. */
static void open_one(const char *const *settings, char *capabilities, size_t size, char *reason,
                     size_t reason_size)
{
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = PLUGIN,
                                      .backend = "zoo_trials",
                                      .settings = settings};
    collet_backend_info info = {.struct_size = sizeof info};
    if (collet_runtime_create(&rt, &options, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    assert_int_equal(collet_backend_info_at(rt, 0, &info), COLLET_OK);
    snprintf(capabilities, size, "%s", info.capabilities);
    assert_int_equal(collet_context_create(&cx, rt, &err), COLLET_UNAVAILABLE);
    snprintf(reason, reason_size, "%s", err.text);
    collet_runtime_destroy(rt);
}

static void assert_holds(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

static void outcomes_are_told(void **state)
{
    const char *const settings[] = {"cache=off", NULL};
    char text[4096], reason[1100];
    (void)state;
    open_one(settings, text, sizeof text, reason, sizeof reason);
    assert_holds(text, "\"crash\": \"10 crashed (SIGILL) 21 -1\"");
    assert_holds(text, "\"hang\": \"10 not done after 100 ms 21 -1\"");
    assert_holds(text, "\"leave\": \"10 ended the process (status 0) 21 -1\"");
    assert_holds(text, "\"twice\": \"0  21 42\"");
    assert_holds(reason, "twice: 0  21 42, probe: ");
    assert_holds(reason, "trial: none");
    assert_null(strstr(reason, "probe: none"));
}

static void choices_are_remembered(void **state)
{
    char directory[80], first[4096], second[4096], reason[1100];
    const char *const settings[] = {directory, NULL};
    (void)state;
    snprintf(directory, sizeof directory, "cache_dir=%s", cache);
    open_one(settings, first, sizeof first, reason, sizeof reason);
    open_one(settings, second, sizeof second, reason, sizeof reason);
    assert_string_equal(first, second); /* with the number of the one probe that was run */
    const char *number = strstr(first, "\"probe\": \"");
    assert_non_null(number);
    char wanted[40];
    snprintf(wanted, sizeof wanted, "probe: %ld,", strtol(number + 10, NULL, 10));
    assert_holds(reason, wanted);
}

static void what_is_provisional_is_asked_again(void **state)
{
    char directory[80], first[4096], second[4096], reason[1100];
    const char *const settings[] = {directory, "zoo_trials.unsure=yes", NULL};
    (void)state;
    snprintf(directory, sizeof directory, "cache_dir=%s", cache);
    open_one(settings, first, sizeof first, reason, sizeof reason);
    open_one(settings, second, sizeof second, reason, sizeof reason);
    assert_string_not_equal(first, second);
}

static void what_is_set_counts_more(void **state)
{
    const char *const settings[] = {"cache=off", "zoo_trials.twice=mine", NULL};
    char text[4096], reason[1100];
    (void)state;
    open_one(settings, text, sizeof text, reason, sizeof reason);
    assert_holds(reason, "twice: mine, probe: ");
}

static void without_a_probe_there_is_none(void **state)
{
    const char *const settings[] = {"probe=off", NULL};
    char text[4096], reason[1100];
    (void)state;
    open_one(settings, text, sizeof text, reason, sizeof reason);
    assert_holds(reason, "twice: none, probe: none, trial: none");
}

static int make_cache(void **state)
{
    (void)state;
    strcpy(cache, "/tmp/collet-trial-XXXXXX");
    return mkdtemp(cache) ? 0 : -1;
}

static int remove_cache(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_are_told),
        cmocka_unit_test(choices_are_remembered),
        cmocka_unit_test(what_is_provisional_is_asked_again),
        cmocka_unit_test(what_is_set_counts_more),
        cmocka_unit_test(without_a_probe_there_is_none),
    };
    return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
