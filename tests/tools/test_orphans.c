/* SPDX-License-Identifier: Apache-2.0 */
/* A hanging child process ends with the tool that started it, however the tool ends. */

#include "directory.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define START_SECONDS 60
#define END_SECONDS 10
#define PAUSE_US 5000

static int set_up(void **state)
{
    directory = io_make_directory();
    setenv("HANGS_HERE", io_path(directory, "hangs"), 1);
    /* Orphans become children of this process, which can then wait for them. */
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Starts a process group, which is killed if the test fails. */
static pid_t start(char *const *args)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        setpgid(0, 0);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(125);
        execv(args[0], args);
        _exit(126);
    }
    setpgid(child, child);
    return child;
}

static void kill_and_fail(pid_t group, const char *what)
{
    kill(-group, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    fail_msg("%s", what);
}

static void expect_no_orphans(char *const *args, int signal_number)
{
    const char *path = io_path(directory, "hangs");
    pid_t tool = start(args), pid = 0;

    for (int64_t us = 0; access(path, F_OK) != 0; us += PAUSE_US) {
        if (us > START_SECONDS * INT64_C(1000000) || waitpid(tool, NULL, WNOHANG) != 0)
            kill_and_fail(tool, "the tool ended or did not reach the hang");
        usleep(PAUSE_US);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(kill(tool, signal_number), 0);
    for (int64_t us = 0; us < END_SECONDS * INT64_C(1000000) && pid >= 0; us += PAUSE_US) {
        pid = waitpid(-1, NULL, WNOHANG);
        if (pid == 0)
            usleep(PAUSE_US);
    }
    if (pid >= 0)
        kill_and_fail(tool, "a child process outlives the tool");
    assert_int_equal(errno, ECHILD);
}

TEST(test_checks)
{
    static char *const args[] = {
        COLLET_TEST_BIN "/backend-check", COLLET_TEST_BROKEN, "--op", "transpose", "--quick", NULL};

    expect_no_orphans(args, SIGKILL);
}

TEST_GROUP(set_up, remove_directory)
