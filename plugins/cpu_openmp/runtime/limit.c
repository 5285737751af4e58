/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_cpu_limit.c */
#include "limit.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include <collet/extensions.h>

/* The process has one limit, because all devices share the threads. Each host reports the smaller of the system's
 * limit and its COLLET_NUM_THREADS. The largest of these numbers is the limit here. A
 * host with a smaller COLLET_NUM_THREADS applies it itself when it opens its devices. */
static struct {
    pthread_mutex_t lock;
    limit_host *first;       /* protected by `lock` */
    _Atomic int64_t seconds; /* time of the last update */
    _Atomic int32_t threads; /* 0: no host, no limit */
    int32_t (*_Atomic program)(void); /* a host's function for the program's limit, or NULL */
} quota = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int32_t (*program_limit(const collet_host *host))(void)
{
    const collet_host_threads_extension *e =
        host->extension ? host->extension(host, COLLET_EXTENSION_HOST_THREADS) : NULL;
    return e ? e->limit : NULL;
}

void limit_follow(limit_host *h, const collet_host *host)
{
    pthread_mutex_lock(&quota.lock);
    *h = (limit_host){host, quota.first};
    quota.first = h;
    atomic_store(&quota.program, program_limit(host));
    pthread_mutex_unlock(&quota.lock);
}

void limit_unfollow(limit_host *h)
{
    pthread_mutex_lock(&quota.lock);
    limit_host **at = &quota.first;
    while (*at && *at != h)
        at = &(*at)->next;
    if (*at)
        *at = h->next;
    atomic_store(&quota.program, quota.first ? program_limit(quota.first->host) : NULL);
    pthread_mutex_unlock(&quota.lock);
}

/* Initialises the lock again, because another thread of the parent may have held it during fork(). */
void limit_forget(void)
{
    pthread_mutex_init(&quota.lock, NULL);
}

/* One thread updates the limit; meanwhile others use the last result. */
static void look_at_hosts(int64_t seconds)
{
    int32_t most = 0;
    if (pthread_mutex_trylock(&quota.lock) != 0)
        return;
    atomic_store_explicit(&quota.seconds, seconds, memory_order_relaxed);
    for (const limit_host *h = quota.first; h; h = h->next) {
        int32_t threads = h->host->threads(h->host);
        most = threads > most ? threads : most;
    }
    atomic_store_explicit(&quota.threads, most, memory_order_relaxed);
    pthread_mutex_unlock(&quota.lock);
}

/* The number of processors that the calling thread may use; 0: unknown, or OpenMP has bound the thread. */
static int32_t processors(void)
{
    cpu_set_t set;
    if (omp_get_proc_bind() != omp_proc_bind_false || sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    return CPU_COUNT(&set);
}

int32_t limit_threads(int32_t threads)
{
    static _Thread_local int64_t looked;
    static _Thread_local int32_t affinity;
    int32_t (*program)(void) = atomic_load_explicit(&quota.program, memory_order_relaxed);
    int32_t most = program ? program() : 0;
    struct timespec t;
    threads = most > 0 && most < threads ? most : threads;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    if (atomic_load_explicit(&quota.seconds, memory_order_relaxed) != t.tv_sec)
        look_at_hosts(t.tv_sec);
    int32_t hosts = atomic_load_explicit(&quota.threads, memory_order_relaxed);
    if (hosts == 0)
        return threads;
    if (looked != t.tv_sec) {
        looked = t.tv_sec;
        affinity = processors();
    }
    threads = hosts < threads ? hosts : threads;
    return affinity > 0 && affinity < threads ? affinity : threads;
}
