/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how libcore interprets the report if system calls fail in collet-probe (failing_probe). */
#include <errno.h>
#include <limits.h>
#include <sys/wait.h>

#include "common/test.h"
#include "plugins/probe.h"

#define PROGRAM COLLET_TEST_BIN "/../tests/failing_probe"

typedef struct failing_case {
    const char *call; /* FAILING_CALL */
    int error;
    const char *code, *reason;
} failing_case;

static const failing_case cases[] = {
    {"none:0", 1, "ok", ""},
    {"syscall:0", ENOSYS, "ok", ""},
    {"signalfd:0", EMFILE, "probe-unavailable",
     "cannot start the process that tries the plugin: Too many open files"},
    {"fork:0", EAGAIN, "probe-unavailable",
     "cannot start the process that tries the plugin: Resource temporarily unavailable"},
    {"getppid:0", EPERM, "probe-unavailable", "reported nothing"},
    {"open:0", EMFILE, "changed", "the file can no longer be opened: Too many open files"},
    {"fstat:0", EIO, "unreadable", "cannot be examined: Input/output error"},
    {"waitpid:0", EINTR, "ok", ""},
    {"write:0", EIO, "ok", ""},
    {"write:4", EIO, "exit-in-capabilities", "ended the process in its capabilities (status 0)"},
    {"write:4", EINTR, "ok", ""},
    {"write:4", -1, "ok", ""}, /* writes half, then the rest */
};

static void expect(const failing_case *c, int64_t timeout_ms)
{
    const probe_request request = {.program = PROGRAM,
                                   .path = COLLET_TEST_ZOO "/zoo_good.so",
                                   .threads = 1,
                                   .timeout_ms = timeout_ms};
    collet_error err = {COLLET_OK, ""};
    probe_report report;
    char text[64];
    snprintf(text, sizeof text, "%s:%d", c->call, c->error);
    assert_int_equal(setenv("FAILING_CALL", text, 1), 0);
    assert_int_equal(probe_run(&request, &report, 1, &err), COLLET_OK);
    if (strcmp(report.code, c->code) || !strstr(report.reason, c->reason))
        fail_msg("%s: %s: %s", text, report.code, report.reason);
    probe_report_clear(&report);
}

TEST(calls)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(&cases[i], 20000);
    expect(&cases[0], (int64_t)INT_MAX * 2);
    print_message("%zu calls\n", sizeof cases / sizeof *cases);
}

TEST(started_by_hand)
{
    assert_int_equal(setenv("FAILING_CALL", "", 1), 0);
    int status = system("'" PROGRAM "' 2>/dev/null");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}
