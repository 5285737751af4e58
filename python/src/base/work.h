/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that may take long. Python handles signals on the main thread, so another thread does its
 * work while the main thread waits and Ctrl-C can interrupt the wait. Work that has begun cannot be
 * stopped: it continues to its end with its context, and the main thread gets another context. All
 * functions need the GIL unless stated otherwise.
 */
#ifndef PYTHON_SRC_BASE_WORK_H
#define PYTHON_SRC_BASE_WORK_H

#include <stdatomic.h>

#include "runtime.h"

typedef struct work work;
struct work {
    collet_status (*run)(work *w, collet_context *context); /* without the GIL, on any thread */
    void (*drop)(work *w);   /* frees *w and what it refers to; with the GIL */
    int quick;               /* 1: it need not be interruptible */
    uint64_t print;          /* fingerprint of work that is quick if it was before; 0: none */
    int64_t nanoseconds;     /* time that `run` took */
    collet_context *context; /* of work_run from here on */
    runtime_lent lent;
    collet_status status;
    int finished, abandoned;
    char text[COLLET_ERROR_TEXT]; /* of the failure; "" after `run`: the context has it */
};

/* Nanoseconds of the monotonic clock. Any thread, without the GIL too. */
int64_t work_now(void);

/* 1 if the calling thread is the main one. */
int work_on_main_thread(void);

/* Whether work with this fingerprint, not 0, took less than 10 ms with the backend of the last
 * call, so that it need not be interruptible. The second function records that after the work. */
int work_is_quick(uint64_t print);
void work_learn(uint64_t print, int64_t nanoseconds);

/* Runs *w, whose other fields are 0, in the calling thread's context. With w->context set, which is
 * runtime_context(), no code of Python runs before the work begins. 0: `w` is still the caller's.
 * -1 with the exception of its failure; 1 with the exception of a signal, while the work continues:
 * `w` is dropped, perhaps later. Quick work, and work of other threads than the main one, runs on
 * the calling thread. */
int work_run(work *w);

/* Waits until *count, which other threads change without the GIL, is 0; they call work_wake then. Signals are
 * heard. 0, or -1 with an exception, of a handler or since this is a forked child. */
int work_wait_for(const atomic_uint *count);
void work_wake(void);

/* Waits for the work that continued after a signal. 0, or -1 with the exception of another
 * signal. */
int work_settle(void);

/* Prepares for fork too. 0, or -1 with an exception. */
int work_prepare(void);

#endif
