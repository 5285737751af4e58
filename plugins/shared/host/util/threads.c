/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl_driver.c */
#include "threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static void *pass(void *gate)
{
    (void)pthread_mutex_lock(gate);
    (void)pthread_mutex_unlock(gate);
    return NULL;
}

int threads_can_start(int count)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *threads = calloc(2 * (size_t)count + 1, sizeof *threads);
    sigset_t all, before;
    int started = 0;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* the started threads get no signals */
    (void)pthread_mutex_lock(&gate);
    while (threads && started < 2 * count &&
           pthread_create(&threads[started], NULL, pass, &gate) == 0)
        started++;
    (void)pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(threads);
    return started == 2 * count;
}
