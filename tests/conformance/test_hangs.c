/* SPDX-License-Identifier: Apache-2.0 */
/* Runs backend-check on a plugin whose kernels never return, and checks the time that backend-check
 * takes and its report. */
#include "common/test.h"

#include <sys/wait.h>

#define ONE "--op add --sig f:ff --timeout 1"
#define ONE_CASE "--op add --sig f:ff --case 4 --timeout 1"
#define THREE "--quick --timeout 1"
#define THREE_JSON "--json --sample --timeout 1"
#define LIMIT "--timeout 0 --limit 2 --sample"
#define LONG "--timeout 3 --op add --sig f:ff"

/* All runs of backend-check run at the same time, because they only wait. */
static struct {
    const char *arguments;
    FILE *output;
} runs[] = {{ONE, NULL},        {ONE_CASE, NULL}, {THREE, NULL},
            {THREE_JSON, NULL}, {LIMIT, NULL},    {LONG, NULL}};
#define RUNS (sizeof runs / sizeof *runs)

static FILE *start(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "%s %s %s 2>&1", COLLET_TEST_CHECK, arguments,
             COLLET_TEST_REMOTE "/remote.so");
    return popen(command, "r");
}

static int start_all(void **state)
{
    for (size_t i = 0; i < RUNS; i++)
        runs[i].output = start(runs[i].arguments);
    return 0;
}

/* Reads the output of backend-check, stderr included. backend-check must exit with `status`. */
static void check(const char *arguments, int status, char text[8192])
{
    FILE *pipe = NULL;
    for (size_t i = 0; i < RUNS && !pipe; i++)
        pipe = strcmp(runs[i].arguments, arguments) ? NULL : runs[i].output;
    pipe = pipe ? pipe : start(arguments);
    assert_non_null(pipe);
    text[fread(text, 1, 8191, pipe)] = '\0';
    int ended = pclose(pipe);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != status)
        fail_msg("%s: expected status %d, got %d: %s", arguments, status, WEXITSTATUS(ended), text);
}

TEST(one_that_hangs_is_a_failure)
{
    char text[8192];
    check(ONE, 1, text);
    assert_contains(text, "case 2: add f32(1)", "it did not return in time (--timeout)",
                    "--op add --sig f:ff --case 2 --seed 1",
                    "      1 case failed; case 2: ", "0 rows passed, 1 failed, 0 skipped");
    assert_null(strstr(text, "not checked"));
    check(ONE_CASE, 1, text);
    assert_contains(text, "case 4: add");
}

TEST(the_third_ends_the_run)
{
    char text[8192];
    check(THREE, 3, text);
    assert_contains(
        text, "FAIL  mul", "0 rows passed, 3 failed, 0 skipped",
        "ended after 3 calls that did not return within 1 s (--timeout): ", "not checked");
    assert_null(strstr(text, "FAIL  copy"));
    check(THREE_JSON, 3, text);
    assert_contains(text, "4 rows were not checked", "\"exit_status\":\t3");
}

TEST(the_limit_ends_the_run)
{
    char text[8192];
    time_t before = time(NULL);
    check(LIMIT, 3, text);
    assert_true(time(NULL) - before < 60);
    assert_contains(text, "ended after 2 s (--limit) during case ", ": add f32(",
                    ": 7 rows were not checked", " s; 7 rows not checked\n");
    assert_null(strstr(text, "FAIL"));
}

TEST(what_takes_long_is_named)
{
    char text[8192];
    check(LONG, 1, text);
    assert_contains(text, "backend-check: row 1 of 1, ", "s so far; case 2: add f32(1)",
                    "of at most 3 s so far\n");
}

TEST(in_process_nothing_can_end_a_call)
{
    static const char *const options[] = {"--in-process --timeout 1", "--limit 0 --in-process"};
    char text[8192];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        check(options[i], 2, text);
        assert_contains(text,
                        "--in-process cannot end a call: --timeout and --limit have no effect");
    }
    check("--timeout 0.001", 2, text);
    assert_contains(text,
                    "--timeout must be a whole number of seconds from 0 to 1000000, not '0.001'");
}

TEST_GROUP(start_all, NULL)
