/* SPDX-License-Identifier: Apache-2.0 */
/* Work that may take long. Python handles signals on the main thread. So the main thread gives its work
 * to another thread and waits; Ctrl-C can interrupt this wait. Work that has begun cannot be
 * stopped: it continues to its end with its context, and the main thread gets another context. All
 * functions need the GIL unless stated otherwise. */
#pragma once

#include <stdatomic.h>

#include "runtime.h"

typedef struct work work;
struct work {
    collet_status (*run)(work *w, collet_context *context); /* called without the GIL, on any thread */
    void (*drop)(work *w);   /* frees *w and the objects that it refers to; called with the GIL */
    int quick;               /* 1: runs on the calling thread, and Ctrl-C does not interrupt it */
    uint64_t print;          /* fingerprint: such work is quick if it was quick before; 0: none */
    int64_t nanoseconds;     /* time that `run` took */
    collet_context *context; /* from here on set by work_run */
    runtime_lent lent;
    collet_status status;
    int finished, abandoned;
    char text[COLLET_ERROR_TEXT]; /* why it failed; "": the context has the text */
};

/* Nanoseconds of the monotonic clock. Any thread, without the GIL too. */
int64_t work_now(void);

/* 1 if the calling thread is the main thread. */
int work_on_main_thread(void);

/* Whether work with this fingerprint (not 0) took less than 10 ms with the backend of the last
 * call, so that it need not be interruptible. work_learn records the time after the work. */
int work_is_quick(uint64_t print);
void work_learn(uint64_t print, int64_t nanoseconds);

/*
 * Runs *w in the calling thread's context. Before the call, the fields that work_run sets must be 0, but w->context
 * may be runtime_context(): then no Python code runs before the work begins. Quick work, and work of threads other than
 * the main thread, runs on the calling thread. Returns 0: `w` is still the caller's. -1 with an exception: the work
 * failed, and `w` was dropped. 1 with the exception of a signal: the work continues, and `w` is dropped later.
 */
int work_run(work *w);

/* Waits until *count is 0. Other threads change *count without the GIL, and call work_wake when it is 0. Handlers of
 * signals run meanwhile. 0, or -1 with an exception: of a handler, or because a handler forked this process. */
int work_wait_for(const atomic_uint *count);
void work_wake(void);

/* Waits for the work that continued after a signal. 0, or -1 with the exception of another
 * signal. */
int work_settle(void);

/* Initialises this file, also for children of fork. 0, or -1 with an exception. */
int work_prepare(void);
