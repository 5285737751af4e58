/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - starts threads of a library. */
#pragma once

#include <pthread.h>
#include <signal.h>

/* pthread_create with all signals blocked, so that the program's threads handle them. */
static inline int io_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
