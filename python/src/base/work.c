/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_interrupt.py, python/tests/test_scatter.py */
#include "work.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "runtime.h"

#define LISTEN 30000000 /* nanoseconds between two checks for signals */
#define QUICK 10000000  /* nanoseconds: shorter work need not be interruptible */
#define KNOWN 512       /* entries for work that is known to be quick; a power of two */

typedef struct worker {
    pthread_cond_t called;
    work *job; /* NULL: none */
} worker;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended; /* a job has ended; waits use the monotonic clock */
static worker *idle;
static int64_t abandoned;             /* jobs that run without their caller */
static atomic_uint waiting;           /* threads in work_wait_for */
static _Thread_local int main_thread; /* 1: this is the main thread, -1: it is not, 0: unknown */

int64_t work_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int work_on_main_thread(void)
{
    if (!main_thread)
        main_thread = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return main_thread > 0;
}

/* The entry for a fingerprint; it contains the fingerprint if such work was quick when it last ran. */
static uint64_t *known(uint64_t print)
{
    static uint64_t prints[KNOWN];
    return &prints[print >> 32 & (KNOWN - 1)];
}

static uint64_t with_backend(uint64_t print)
{
    return print ^ (uintptr_t)runtime_last_backend();
}

int work_is_quick(uint64_t print)
{
    print = with_backend(print);
    return runtime_last_backend() && *known(print) == print;
}

void work_learn(uint64_t print, int64_t nanoseconds)
{
    print = with_backend(print);
    uint64_t *place = known(print);
    if (nanoseconds < QUICK)
        *place = print;
    else if (*place == print)
        *place = 0;
}

/* ---- The threads -------------------------------------------------------------------------- */

static int drop(void *job)
{
    work *w = job;
    w->drop(w);
    return 0;
}

static void perform(work *w)
{
    int64_t start = work_now();
    w->status = w->run(w, w->context);
    w->nanoseconds = work_now() - start;
    if (w->status != COLLET_OK && !*w->text)
        snprintf(w->text, sizeof w->text, "%s", collet_last_error(w->context));
}

/* Ends a job whose caller no longer waits for it. */
static void end_abandoned(work *w)
{
    collet_context_destroy(w->context);
    runtime_enter(-1);
    pthread_mutex_lock(&mutex);
    abandoned--;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&mutex);
    while (Py_IsInitialized() && Py_AddPendingCall(drop, w)) /* many are pending */
        usleep(1000);
}

static void *serve(void *argument)
{
    worker *self = argument;
    int alone = 0; /* 1: another thread is idle, so this thread ends */
    pthread_mutex_lock(&mutex);
    while (!alone) {
        while (!self->job)
            pthread_cond_wait(&self->called, &mutex);
        work *w = self->job;
        pthread_mutex_unlock(&mutex);
        perform(w);
        pthread_mutex_lock(&mutex);
        w->finished = 1;
        pthread_cond_broadcast(&ended);
        if (w->abandoned) {
            pthread_mutex_unlock(&mutex);
            end_abandoned(w);
            pthread_mutex_lock(&mutex);
        }
        self->job = NULL;
        alone = idle != NULL;
        if (!alone)
            idle = self;
    }
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&self->called);
    free(self);
    return NULL;
}

/* Gives the job to an idle or a new worker; NULL: no thread could be started. The caller holds the mutex. */
static worker *start(work *w)
{
    pthread_t thread;
    worker *fresh = idle ? idle : calloc(1, sizeof *fresh);
    if (!fresh)
        return NULL;
    fresh->job = w;
    if (fresh == idle) {
        idle = NULL;
        pthread_cond_signal(&fresh->called);
        return fresh;
    }
    pthread_cond_init(&fresh->called, NULL);
    if (!pthread_create(&thread, NULL, serve, fresh)) {
        pthread_detach(thread);
        return fresh;
    }
    pthread_cond_destroy(&fresh->called);
    free(fresh);
    return NULL;
}

/* ---- The caller --------------------------------------------------------------------------- */

/* Waits until the next check for signals. */
static void listen(void)
{
    int64_t end = work_now() + LISTEN;
    const struct timespec until = {.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
    pthread_cond_timedwait(&ended, &mutex, &until);
}

/* Waits without the GIL; with `begin` starts the job first. 1: the job is finished; 0: it is time to
 * check for signals; -1: no thread could be started. */
static int wait_for(work *w, int begin)
{
    PyThreadState *state = runtime_leave();
    pthread_mutex_lock(&mutex);
    int result = begin && !start(w) ? -1 : 0;
    if (!result && !w->finished)
        listen();
    if (!result)
        result = w->finished;
    pthread_mutex_unlock(&mutex);
    runtime_return(state);
    return result;
}

/* After an exception of a signal handler: leaves the job running and returns 1. Returns -1 if the job has finished
 * already. */
static int leave(work *w)
{
    pthread_mutex_lock(&mutex);
    int finished = w->finished;
    w->abandoned = 1;
    abandoned += !finished;
    if (!finished)
        runtime_enter(1);
    pthread_mutex_unlock(&mutex);
    if (!finished)
        return 1;
    runtime_give_back(&w->lent);
    w->drop(w);
    return -1;
}

static void run_here(work *w)
{
    PyThreadState *state = runtime_leave();
    perform(w);
    runtime_return(state);
}

/* Ends finished work, and returns the result that work_run returns. */
static int end(work *w)
{
    if (w->status != COLLET_OK) {
        error_raise(w->status, w->text);
        w->drop(w);
        return -1;
    }
    runtime_called(w->context);
    if (w->print)
        work_learn(w->print, w->nanoseconds);
    return 0;
}

int work_run(work *w)
{
    int done;
    if (!w->context && !(w->context = runtime_context())) {
        w->drop(w);
        return -1;
    }
    w->quick |= w->print && !runtime_waits() && work_is_quick(w->print);
    if (w->quick || !work_on_main_thread()) {
        run_here(w);
        return end(w);
    }
    runtime_lend(&w->lent);
    for (done = wait_for(w, 1); !done; done = wait_for(w, 0)) {
        if (PyErr_CheckSignals())
            return leave(w);
        if (w->lent.generation != runtime_generation()) { /* a handler forked: this child has no worker */
            error_raise(COLLET_FORKED,
                        "this process was forked by a signal's handler during a call of collet");
            return -1;
        }
    }
    runtime_give_back(&w->lent);
    if (done < 0) {
        w->status = COLLET_NO_MEMORY;
        snprintf(w->text, sizeof w->text, "no thread for the work could be started");
    }
    return end(w);
}

int work_wait_for(const atomic_uint *count)
{
    uint64_t generation = runtime_generation();
    while (*count) {
        PyThreadState *state = runtime_leave();
        pthread_mutex_lock(&mutex);
        waiting++;
        if (*count)
            listen();
        waiting--;
        pthread_mutex_unlock(&mutex);
        runtime_return(state);
        if (PyErr_CheckSignals())
            return -1;
        if (generation != runtime_generation()) { /* a handler forked: no thread of this child computes */
            error_raise(COLLET_FORKED, "this process was forked by a signal's handler while it "
                                       "waited for another thread of collet");
            return -1;
        }
    }
    return 0;
}

void work_wake(void)
{
    if (!waiting)
        return;
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&mutex);
}

int work_settle(void)
{
    for (int64_t left = 1; left;) {
        PyThreadState *state = runtime_leave();
        pthread_mutex_lock(&mutex);
        if (abandoned)
            listen();
        left = abandoned;
        pthread_mutex_unlock(&mutex);
        runtime_return(state);
        if (PyErr_CheckSignals())
            return -1;
    }
    return 0;
}

static int make_ended(void)
{
    pthread_condattr_t attributes;
    return pthread_condattr_init(&attributes) ||
           pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) ||
           pthread_cond_init(&ended, &attributes);
}

/* The child does not have the parent's threads. */
static void in_child(void)
{
    pthread_mutex_init(&mutex, NULL);
    make_ended();
    idle = NULL;
    abandoned = 0;
    waiting = 0;
    main_thread = 1;
}

int work_prepare(void)
{
    if (!make_ended() && !pthread_atfork(NULL, NULL, in_child))
        return 0;
    PyErr_NoMemory();
    return -1;
}
