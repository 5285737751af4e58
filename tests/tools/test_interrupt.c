/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that stop a tool: the first is recorded, the second terminates the program. */

#include "common/test.h"
#include "common/interrupt.h"

#include <signal.h>
#include <sys/wait.h>

#define LIVES 100 /* exit status of a process that no signal terminated */

/* The waitpid status of a process that ignores one signal and receives two in turn (0: no
 * signal). */
static int wait_status_of(int ignored, int first, int second)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        /* The program that runs the tests may ignore signals, as a background shell does. */
        signal(first, SIG_DFL);
        signal(second, SIG_DFL);
        signal(ignored, SIG_IGN);
        tool_interrupt_install();
        if (first && raise(first) != 0)
            _exit(1);
        if (tool_interrupt_signal() != (first == ignored ? 0 : first))
            _exit(2);
        if (second)
            raise(second);
        _exit(LIVES);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_lives(int status)
{
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), LIVES);
}

TEST(test_signals)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    for (int i = 0; i < 3; i++) {
        expect_lives(wait_status_of(0, signals[i], 0));
        expect_lives(wait_status_of(signals[i], signals[i], signals[i]));
        for (int k = 0; k < 3; k++) {
            int status = wait_status_of(0, signals[i], signals[k]);
            assert_true(WIFSIGNALED(status));
            assert_int_equal(WTERMSIG(status), signals[k]);
        }
    }
}
