/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_runtime.py, python/tests/test_processes.py */
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "error.h"
#include "log.h"

#define CHOICE_TEXT 256
#define SETTINGS 32
#define DEFAULTS 8
#define END_SECONDS 30 /* longest wait for devices at the end of Python */

/* The state of a thread. */
typedef struct thread {
    collet_context *context;
    uint64_t generation; /* the generation of the runtime of `context` */
    uint64_t chosen;     /* the value of process.chosen when `context` got its choice */
    long long use;       /* the number of the collet.using whose choice `context` has; 0: none */
    uint32_t choice;     /* the number (choices.h) of the choice of `context` */
    uint32_t fixed;      /* the choice of runtime_switch; 0: none */
    long long fixed_use; /* the collet.using in which runtime_switch was called */
    const char *backend; /* the backend of the last call, and whether it computes at once */
    int at_once;
    char usual[CHOICE_TEXT]; /* the runtime's choice: from environment, configuration or "auto" */
} thread;

static struct {
    collet_runtime *runtime;
    uint64_t generation;
    char choice[CHOICE_TEXT]; /* the choice of set_backend; "": none */
    uint64_t chosen;          /* grows when the choice of the process changes */
    PyObject *current;        /* a Python function: returns the innermost collet.using, a tuple that begins */
    PyObject *choice_of;      /* with its number; or None. choice_of(using) returns its choice. NULL: not set */
    int64_t arrays;
    atomic_int waits;  /* 1: a backend was used that does not compute at once */
    atomic_int inside; /* number of threads in calls of libcore without the GIL */
    int unsafe;        /* 1: at the fork a thread of the parent was in such a call */
    int forking;       /* the value of `inside` in the parent at the fork */
    char *settings[SETTINGS + 1];
} process = {.generation = 1, .chosen = 1};

static pthread_key_t key;
static _Thread_local thread *self;

uint64_t runtime_generation(void)
{
    return process.generation;
}

void runtime_count_array(uint64_t generation, int change)
{
    if (generation == process.generation)
        process.arrays += change;
}

void *runtime_raise(collet_context *context)
{
    log_deliver();
    return error_raise(collet_last_status(context), collet_last_error(context));
}

void runtime_enter(int change)
{
    process.inside += change;
}

PyThreadState *runtime_leave(void)
{
    process.inside++;
    return PyEval_SaveThread();
}

void runtime_return(PyThreadState *state)
{
    PyEval_RestoreThread(state);
    process.inside--;
    log_deliver();
}

/* ---- The runtime -------------------------------------------------------------------------- */

/* Defaults of settings that depend on installed packages, as a list of bytes; NULL with an
 * exception. */
static PyObject *installed_defaults(void)
{
    PyObject *module = PyImport_ImportModule("collet._plugins");
    PyObject *list = module ? PyObject_CallMethod(module, "defaults", NULL) : NULL;
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++) {
        PyObject *bytes = PyUnicode_EncodeFSDefault(PyList_GetItem(list, i)); /* may be no UTF-8 */
        if (!bytes || PyList_SetItem(list, i, bytes))
            Py_CLEAR(list);
    }
    Py_XDECREF(module);
    return list;
}

/* Makes the runtime. Keeps the GIL, so that no other Python thread forks while libraries are
 * opened. */
static int create(const char *level, PyObject *installed)
{
    collet_error err;
    const char *settings[SETTINGS + 2] = {NULL};
    const char *defaults[DEFAULTS + 2] = {level};
    size_t count = 0;
    for (Py_ssize_t i = 0; i < DEFAULTS && i < PyList_Size(installed); i++)
        defaults[i + 1] = PyBytes_AsString(PyList_GetItem(installed, i));
    for (; process.settings[count]; count++)
        settings[count] = process.settings[count];
    const collet_runtime_options options = {
        .struct_size = sizeof options, .log = log_keep, .settings = settings, .defaults = defaults};
    collet_status status = collet_runtime_create(&process.runtime, &options, &err);
    log_deliver();
    if (status != COLLET_OK) {
        process.runtime = NULL;
        error_raise(status, err.text);
        return -1;
    }
    return 0;
}

static int create_with_defaults(void)
{
    char level[32];
    PyObject *installed = installed_defaults();
    const char *word = installed ? log_level() : NULL;
    int status = -1;
    if (word) {
        snprintf(level, sizeof level, "log=%s", word);
        status =
            process.runtime ? 0 : create(level, installed); /* Python may have run other threads */
    }
    Py_XDECREF(installed);
    return status;
}

collet_runtime *runtime_get(void)
{
    if (process.unsafe)
        return error_raise(
            COLLET_FORKED,
            "another thread was inside a call of collet when this process was forked, so collet "
            "cannot be used here: start processes by 'spawn' or 'forkserver' "
            "(multiprocessing.set_start_method), or fork before such threads compute");
    if (!process.runtime && create_with_defaults())
        return NULL;
    return process.runtime;
}

/* ---- Contexts ----------------------------------------------------------------------------- */

/* Called at the end of a thread, without the GIL. */
static void end_thread(void *value)
{
    thread *t = value;
    collet_context_destroy(t->context);
    free(t);
}

static thread *this_thread(void)
{
    if (self)
        return self;
    thread *t = calloc(1, sizeof *t);
    if (!t || pthread_setspecific(key, t)) {
        free(t);
        PyErr_NoMemory();
        return NULL;
    }
    return self = t;
}

/* Gives the thread a context of the present runtime. */
static int renew(thread *t)
{
    collet_error err;
    collet_context *fresh = NULL;
    collet_runtime *runtime = runtime_get();
    if (!runtime)
        return -1;
    collet_status status = collet_context_create(runtime, &fresh, &err);
    log_deliver();
    if (status != COLLET_OK) {
        error_raise(status, err.text);
        return -1;
    }
    collet_context_destroy(t->context);
    t->context = fresh;
    t->generation = process.generation;
    t->chosen = 0;
    snprintf(t->usual, sizeof t->usual, "%s", collet_get_backend(fresh));
    t->backend = NULL;
    t->at_once = 0;
    return 0;
}

const char *runtime_name(PyObject *object, const char *what)
{
    Py_ssize_t length;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s is a text like 'opencl:1', not %R", what, object);
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text && strlen(text) != (size_t)length)
        return error_format(COLLET_INVALID, "%s has a null character", what);
    return text;
}

/* The text of a choice of backend; NULL with an exception. */
static const char *choice_text(PyObject *object)
{
    const char *text = runtime_name(object, "a choice of backend");
    if (text && strlen(text) >= CHOICE_TEXT)
        return error_format(COLLET_INVALID, "a choice of backend has at most %d bytes",
                            CHOICE_TEXT - 1);
    if (text && !*text)
        return error_raise(COLLET_INVALID, "the choice of backend is empty; 'auto' is the default");
    return text;
}

/* The innermost collet.using of the calling context (contextvars), and its number in *number: a new
 * reference, None if there is none, or NULL with an exception. */
static PyObject *current_use(long long *number)
{
    PyObject *use = process.current ? PyObject_CallNoArgs(process.current) : Py_NewRef(Py_None);
    *number = use && use != Py_None ? PyLong_AsLongLong(PyTuple_GetItem(use, 0)) : 0;
    return use;
}

static int set_choice(thread *t, const char *choice)
{
    uint32_t number = choices_number(choice);
    if (!number)
        return -1;
    if (collet_set_backend(t->context, choice) != COLLET_OK) {
        runtime_raise(t->context);
        return -1;
    }
    log_deliver();
    t->choice = number;
    t->backend = NULL;
    t->at_once = 0;
    return 0;
}

/* Gives the thread's context the choice of `use`, a collet.using. If `use` is None, gives it the choice of the
 * process. */
static int choose(thread *t, PyObject *use, long long number)
{
    PyObject *own = use == Py_None ? Py_NewRef(Py_None)
                                   : PyObject_CallFunctionObjArgs(process.choice_of, use, NULL);
    const char *choice = !own              ? NULL
                         : own != Py_None  ? choice_text(own)
                         : *process.choice ? process.choice
                                           : t->usual;
    int failed = !choice || set_choice(t, choice);
    Py_XDECREF(own);
    if (failed)
        return -1;
    t->chosen = process.chosen;
    t->use = number;
    return 0;
}

static thread *ready_thread(void)
{
    thread *t = self;
    long long number = 0;
    PyObject *use = NULL;
    int failed, fixed;
    if (process.current && !(use = current_use(&number)))
        return NULL;
    fixed = t && t->fixed && t->context && t->generation == process.generation &&
            number == t->fixed_use;
    if (fixed) {
        Py_XDECREF(use);
        t->use = number;
        return t->choice == t->fixed || !set_choice(t, choices_text(t->fixed)) ? t : NULL;
    }
    failed = !t || t->generation != process.generation || t->chosen != process.chosen ||
             t->use != number;
    if (failed) {
        t = this_thread();
        failed = !t || ((!t->context || t->generation != process.generation) && renew(t)) ||
                 ((t->chosen != process.chosen || t->use != number) &&
                  choose(t, use ? use : Py_None, number));
    }
    Py_XDECREF(use);
    return failed ? NULL : t;
}

collet_context *runtime_context(void)
{
    thread *t = ready_thread();
    return t ? t->context : NULL;
}

uint32_t runtime_choice(void)
{
    const thread *t = ready_thread();
    return t ? t->choice : 0;
}

int runtime_switch(uint32_t choice, runtime_switched *before)
{
    thread *t = ready_thread();
    if (!t)
        return -1;
    *before = (runtime_switched){t->choice, t->fixed, t->use, t->fixed_use};
    if (t->choice != choice && set_choice(t, choices_text(choice)))
        return -1;
    t->fixed = choice;
    t->fixed_use = t->use;
    return 0;
}

/* Changes the backend at once and not at the next call, because callers may have the context already. */
void runtime_switch_back(const runtime_switched *before)
{
    thread *t = self;
    int stays = t->choice == before->choice;
    t->fixed = before->fixed;
    t->fixed_use = before->fixed_use;
    t->use = before->use;
    if (stays)
        return;
    if (!t->context || collet_set_backend(t->context, choices_text(before->choice)) != COLLET_OK)
        t->chosen = 0; /* the next call chooses again, and raises the error */
    t->choice = before->choice;
    t->backend = NULL;
    t->at_once = 0;
}

void runtime_lend(runtime_lent *lent)
{
    const thread *t = self;
    *lent = (runtime_lent){t->context, t->generation, t->chosen,  t->use,    t->choice,
                           t->fixed,   t->fixed_use,  t->backend, t->at_once};
    self->context = NULL;
    self->generation = 0;
    self->fixed = 0;
}

void runtime_give_back(const runtime_lent *lent)
{
    thread *t = self;
    collet_context_destroy(t->context); /* made meanwhile for the handler of a signal */
    t->context = lent->context;
    t->generation = lent->generation;
    t->chosen = lent->chosen;
    t->use = lent->use;
    t->choice = lent->choice;
    t->fixed = lent->fixed;
    t->fixed_use = lent->fixed_use;
    t->backend = lent->backend;
    t->at_once = lent->at_once;
}

const void *runtime_last_backend(void)
{
    return self ? self->backend : NULL;
}

int runtime_at_once(void)
{
    return self && self->at_once;
}

int runtime_waits(void)
{
    return !runtime_at_once() || atomic_load_explicit(&process.waits, memory_order_relaxed);
}

/* Whether all devices of a backend compute in the host's memory and return when they are done. */
static int computes_at_once(const char *name)
{
    collet_backend_info backend = {.struct_size = sizeof backend};
    collet_device_info device = {.struct_size = sizeof device};
    size_t i = 0;
    while (collet_backend_info_at(process.runtime, &backend, i, NULL) == COLLET_OK &&
           strcmp(backend.name, name))
        i++;
    if (collet_device_info_at(process.runtime, &device, i, 0, NULL) != COLLET_OK)
        return 0;
    for (uint32_t k = 0; collet_device_info_at(process.runtime, &device, i, k, NULL) == COLLET_OK;
         k++)
        if (device.memory != COLLET_MEMORY_HOST || device.execution != COLLET_EXECUTION_SYNCHRONOUS)
            return 0;
    return 1;
}

void runtime_called(collet_context *context)
{
    const char *backend = collet_last_backend(context);
    if (!self || self->context != context || backend == self->backend || !*backend)
        return; /* "": a call without a kernel, such as reading an Array, needs no backend */
    self->at_once = computes_at_once(backend);
    if (!self->at_once) /* atomic, because threads read it without the GIL */
        atomic_store_explicit(&process.waits, 1, memory_order_relaxed);
    self->backend = backend;
}

/* ---- The choice of backend ---------------------------------------------------------------- */

PyObject *runtime_set_backend(PyObject *Py_UNUSED(module), PyObject *object)
{
    const char *choice = choice_text(object);
    thread *t = choice ? ready_thread() : NULL;
    if (!t)
        return NULL;
    if (collet_set_backend(t->context, choice) != COLLET_OK)
        return runtime_raise(t->context);
    snprintf(process.choice, sizeof process.choice, "%s", choice);
    process.chosen++;
    log_deliver();
    if (!ready_thread()) /* a collet.using keeps its choice */
        return NULL;
    Py_RETURN_NONE;
}

PyObject *runtime_get_backend(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_context *context = runtime_context();
    return context ? PyUnicode_FromString(collet_get_backend(context)) : NULL;
}

PyObject *runtime_is_at_once(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    if (!runtime_context())
        return NULL;
    return runtime_last_backend() ? PyBool_FromLong(!runtime_waits()) : Py_NewRef(Py_None);
}

/* Sets the functions current and choice_of of collet.using: contextvars are not in the stable interface, so
 * _uses.py keeps them for each context. Called again if a collet.using has ended that other contexts still contain. */
PyObject *runtime_set_uses(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *current, *choice_of;
    if (!PyArg_ParseTuple(arguments, "OO", &current, &choice_of))
        return NULL;
    Py_XDECREF(process.current);
    Py_XDECREF(process.choice_of);
    process.current = Py_NewRef(current);
    process.choice_of = Py_NewRef(choice_of);
    process.chosen++;
    Py_RETURN_NONE;
}

/* ---- Another runtime ---------------------------------------------------------------------- */

/* Drops the runtime. Contexts of other threads keep it until those threads call again. */
static int drop_runtime(const char *why)
{
    if (process.runtime && process.inside) {
        error_format(COLLET_BUSY, "%s: another thread is inside a call of collet", why);
        return -1;
    }
    if (process.runtime && process.arrays) {
        error_format(COLLET_BUSY,
                     "%s: %lld collet.Array%s; call it before the first use of collet, or delete "
                     "them",
                     why, (long long)process.arrays, process.arrays == 1 ? " exists" : "s exist");
        return -1;
    }
    collet_runtime_destroy(process.runtime);
    process.runtime = NULL;
    process.generation++;
    return 0;
}

PyObject *runtime_set_num_threads(PyObject *Py_UNUSED(module), PyObject *object)
{
    collet_error err;
    long count = PyLong_AsLong(object);
    if (count == -1 && PyErr_Occurred())
        return NULL;
    if (count < 0 || count > INT32_MAX)
        return error_format(COLLET_INVALID,
                            "set_num_threads: count is %ld; it must be at least 1, or 0 for no limit", count);
    (void)collet_set_thread_limit((int32_t)count, &err);
    Py_RETURN_NONE;
}

PyObject *runtime_thread_limit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return PyLong_FromLong(collet_thread_limit());
}

static void free_settings(char **settings)
{
    for (size_t i = 0; settings[i]; i++)
        free(settings[i]);
}

/* Starts a runtime, which checks the settings; if that fails, the earlier settings stay. */
static int use_settings(char **fresh)
{
    char *before[SETTINGS + 1];
    memcpy(before, process.settings, sizeof before);
    memcpy(process.settings, fresh, sizeof before);
    if (!runtime_get()) {
        memcpy(process.settings, before, sizeof before);
        free_settings(fresh);
        return -1;
    }
    free_settings(before);
    return 0;
}

PyObject *runtime_set_settings(PyObject *Py_UNUSED(module), PyObject *list)
{
    Py_ssize_t count = PySequence_Size(list);
    char *fresh[SETTINGS + 1] = {NULL};
    if (count < 0)
        return NULL;
    if (count > SETTINGS)
        return error_format(COLLET_INVALID, "configure: at most %d settings", SETTINGS);
    if (drop_runtime("configure"))
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        const char *text = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        fresh[i] = text ? strdup(text) : NULL;
        Py_XDECREF(item);
        if (!fresh[i]) {
            while (i > 0)
                free(fresh[--i]);
            return PyErr_Occurred() ? NULL : PyErr_NoMemory();
        }
    }
    return use_settings(fresh) ? NULL : Py_NewRef(Py_None);
}

/* ---- fork --------------------------------------------------------------------------------- */

static void before_fork(void)
{
    process.forking = process.inside;
}

/* The parent's runtime cannot be used in the child: its objects return COLLET_FORKED. */
static void in_child(void)
{
    process.unsafe |= process.forking != 0;
    process.inside = 0;
    process.runtime = NULL;
    process.arrays = 0;
    process.generation++;
    log_forked();
}

/* Runs after all of Python's own handlers and finalizers, and before the C library's handlers. */
static void at_end(void)
{
    (void)collet_process_end(END_SECONDS * INT64_C(1000000000), NULL);
}

int runtime_prepare(void)
{
    /* Fails if Python has 32 handlers already. Then libcore's handler of exit() does the same, but later. */
    (void)Py_AtExit(at_end);
    if (!pthread_key_create(&key, end_thread) && !pthread_atfork(before_fork, NULL, in_child))
        return 0;
    PyErr_NoMemory();
    return -1;
}
