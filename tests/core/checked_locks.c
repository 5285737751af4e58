/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the C library's mutexes in a test program. Aborts if a thread unlocks a mutex that it has not locked,
 * locks a mutex twice, or destroys a locked mutex. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef int call(pthread_mutex_t *mutex);

static int checked(const char *name, pthread_mutex_t *mutex)
{
    union {
        void *address;
        call *function;
    } next = {dlsym(RTLD_NEXT, name)};
    int code = next.function(mutex);
    if (code) {
        fprintf(stderr, "%s: error %d\n", name, code);
        abort();
    }
    return code;
}

#pragma GCC visibility push(default)
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    *mutex = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return checked("pthread_mutex_lock", mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return checked("pthread_mutex_unlock", mutex);
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return checked("pthread_mutex_destroy", mutex);
}
#pragma GCC visibility pop
