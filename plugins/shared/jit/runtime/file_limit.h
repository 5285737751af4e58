/* SPDX-License-Identifier: Apache-2.0 */
/* file_limit.h - writes beyond the limit on the size of files (RLIMIT_FSIZE) fail with EFBIG;
 * SIGXFSZ would end the program. Drivers write compiled kernels to files. */
#ifndef PLUGINS_SHARED_JIT_RUNTIME_FILE_LIMIT_H
#define PLUGINS_SHARED_JIT_RUNTIME_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

/* The thread's signal mask, and whether a SIGXFSZ was pending before. */
typedef struct file_limit {
    sigset_t mask;
    bool waited;
} file_limit;

static inline bool file_limit_waits(void)
{
    sigset_t waiting;
    sigpending(&waiting);
    return sigismember(&waiting, SIGXFSZ) == 1;
}

/* Blocks SIGXFSZ in the calling thread, to which the kernel sends it; file_limit_end must follow.
 */
static inline file_limit file_limit_begin(void)
{
    file_limit before = {.waited = file_limit_waits()};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, &before.mask);
    return before;
}

static inline void file_limit_end(const file_limit *before)
{
    const struct timespec now = {0, 0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    if (!before->waited && file_limit_waits())
        (void)sigtimedwait(&set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}

#endif
