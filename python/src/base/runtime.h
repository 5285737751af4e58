/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime of the process, made by its first use, and a context for each thread. All functions
 * need the GIL unless stated otherwise. */
#pragma once

#include "python.h"

/* The runtime; NULL with an exception. */
collet_runtime *runtime_get(void);

/* The context of the calling thread, with the choice of backend in force in the calling context of
 * Python (contextvars); NULL with an exception. */
collet_context *runtime_context(void);

/* The number (choices.h) of the choice in force; 0 with an exception. */
uint32_t runtime_choice(void);

/* The state that runtime_switch replaced. */
typedef struct runtime_switched {
    uint32_t choice, fixed;
    long long use, fixed_use;
} runtime_switched;

/* Gives the calling thread `choice` until runtime_switch_back(before), instead of the choice in force. Python code
 * that runs meanwhile (a finalizer) has `choice` too, except in its own collet.using. 0, or -1 with an exception. */
int runtime_switch(uint32_t choice, runtime_switched *before);
void runtime_switch_back(const runtime_switched *before);

/* A context that was taken away from its thread, and the thread's state that belongs to it. */
typedef struct runtime_lent {
    collet_context *context;
    uint64_t generation, chosen;
    long long use;
    uint32_t choice, fixed;
    long long fixed_use;
    const char *backend;
    int at_once;
} runtime_lent;

/* Takes the context of runtime_context() away from the calling thread. Until runtime_give_back the thread gets
 * a new context if it needs one. runtime_give_back replaces the new context by the original context, so callers may
 * keep the original. */
void runtime_lend(runtime_lent *lent);
void runtime_give_back(const runtime_lent *lent);

/* Grows with each new runtime (after fork, configure), so that objects of an earlier runtime
 * are not used. */
uint64_t runtime_generation(void);

/* 1 if the last kernel of the calling thread ran on a backend that computes in the host's memory and
 * returns when it is done. Then a small call takes microseconds, so the GIL is kept, and its results
 * need no wait. */
int runtime_at_once(void);
/* 1 if the use of an Array may have to wait for work of a device, also of a device that earlier calls used. */
int runtime_waits(void);
/* Updates the results of runtime_at_once and runtime_waits; called after each call. */
void runtime_called(collet_context *context);
/* Identifies the backend of the last call; NULL: there was no call since the backend was chosen. */
const void *runtime_last_backend(void);

/* runtime_leave releases the GIL before calls of libcore, and runtime_return takes it again. Every call of libcore
 * that may take time or open a device is made between these two calls. */
PyThreadState *runtime_leave(void);
void runtime_return(PyThreadState *state);
/* Counts the threads without the GIL that work with libcore: 1 when the work begins, -1 when it ends. Any thread. */
void runtime_enter(int change);

/* Raises the last error of the context; returns NULL. */
void *runtime_raise(collet_context *context);

/* Adds `change` to the number of Arrays of a generation that exist. While Arrays of the present
 * generation exist, configure cannot make another runtime. */
void runtime_count_array(uint64_t generation, int change);

/* The text of a name of a backend, device or space; error messages call it `what`. NULL with an exception. */
const char *runtime_name(PyObject *object, const char *what);

/* Functions of the module. */
PyObject *runtime_set_backend(PyObject *module, PyObject *choice);
PyObject *runtime_get_backend(PyObject *module, PyObject *unused);
/* at_once(): whether runtime_waits is 0; None if there was no call since the backend was chosen. */
PyObject *runtime_is_at_once(PyObject *module, PyObject *unused);
PyObject *runtime_set_uses(PyObject *module, PyObject *functions);
PyObject *runtime_set_num_threads(PyObject *module, PyObject *count);
PyObject *runtime_thread_limit(PyObject *module, PyObject *unused);
PyObject *runtime_set_settings(PyObject *module, PyObject *settings);

/* Prepares for fork and for the end of threads. 0, or -1 with an exception. */
int runtime_prepare(void);
