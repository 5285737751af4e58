/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <collet/collet.h>

#include "probe.h"

/* What parent and child share. */
typedef struct page {
    int64_t returned; /* the body came back: an exit without that is the body's own */
    unsigned char result[];
} page;

/* Of the process, which is a probe and nothing else. */
static int64_t probe_ends_us = INT64_MAX;

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void trial_limit(int64_t milliseconds)
{
    probe_ends_us = now_us() + milliseconds * 1000;
}

/* Only the probe itself answers, and no child outlives it. */
static _Noreturn void child_main(page *shared, pid_t parent,
                                 void (*body)(void *argument, void *result), void *argument)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(PROBE_DESCRIPTOR);
    if (getppid() != parent)
        _exit(1);
    body(argument, shared->result);
    shared->returned = 1;
    _exit(0);
}

/* Whether the child ended in time; it is reaped in any case. */
static int wait_for(pid_t pid, int32_t milliseconds, int *status)
{
    int64_t deadline = now_us() + (int64_t)milliseconds * 1000;
    for (long pause = 50000;; pause += pause < 1000000 ? pause : 0) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid)
            return 1;
        if (got == 0 && now_us() >= deadline) {
            kill(pid, SIGKILL);
            while (waitpid(pid, status, 0) < 0 && errno == EINTR)
                continue;
            return 0;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
}

static collet_status outcome(const page *shared, int in_time, int status, int32_t milliseconds,
                             collet_error *err)
{
    if (!in_time)
        return collet_fail(err, COLLET_FAILED, "not done after %d ms", milliseconds);
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        return collet_fail(err, COLLET_FAILED, "crashed (SIG%s)", name ? name : "?");
    }
    if (!shared->returned)
        return collet_fail(err, COLLET_FAILED, "ended the process (status %d)",
                           WEXITSTATUS(status));
    return COLLET_OK;
}

collet_status trial_run(const collet_host *host, void (*body)(void *argument, void *result),
                        void *argument, void *result, uint64_t bytes, int32_t milliseconds,
                        collet_error *err)
{
    int status = 0;
    (void)host;
    if (bytes > TRIAL_MAX_RESULT || milliseconds <= 0)
        return collet_fail(err, COLLET_INVALID, "a trial of %d ms with a result of %llu bytes",
                           milliseconds, (unsigned long long)bytes);
    int64_t half_us = (probe_ends_us - now_us()) / 2;
    if (half_us < (int64_t)milliseconds * 1000)
        milliseconds = half_us > 1000 ? (int32_t)(half_us / 1000) : 1;
    size_t size = sizeof(page) + (size_t)bytes;
    page *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for a trial");
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        child_main(shared, parent, body, argument);
    collet_status ended =
        pid < 0 ? collet_fail(err, COLLET_UNAVAILABLE, "a trial cannot fork: %s", strerror(errno))
                : COLLET_OK;
    if (ended == COLLET_OK) {
        int in_time = wait_for(pid, milliseconds, &status);
        ended = outcome(shared, in_time, status, milliseconds, err);
    }
    if (ended == COLLET_OK && bytes)
        memcpy(result, shared->result, (size_t)bytes);
    munmap(shared, size);
    return ended;
}
