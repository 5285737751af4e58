/* SPDX-License-Identifier: Apache-2.0 */
/* in_child.h - runs a test of the thread team in a child process, because a child has its own team. Include
 * it after cmocka.h. */
#ifndef TESTS_CPU_OPENMP_IN_CHILD_H
#define TESTS_CPU_OPENMP_IN_CHILD_H

#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void doze(int milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
}

/* Returns the result of `right`, called in a child process; false if the child dies. */
static bool in_child(bool (*right)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(right() ? 0 : 1);
    }
    assert_int_equal(child, waitpid(child, &status, 0));
    return status == 0;
}

#endif
