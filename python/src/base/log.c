/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_runtime.py */
#include "log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 256 /* messages; later ones are counted and dropped */

typedef struct message {
    int32_t level;
    char *text;
} message;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static message kept[KEPT];
static size_t count, dropped;
static atomic_int waiting;

/* The number of a level in Python's logging. */
static int number_of(int32_t level)
{
    return level == COLLET_LOG_ERROR     ? 40
           : level == COLLET_LOG_WARNING ? 30
           : level == COLLET_LOG_INFO    ? 20
                                         : 10;
}

static int on_main_thread(void *Py_UNUSED(unused))
{
    log_deliver();
    return 0;
}

void log_keep(void *Py_UNUSED(user), int32_t level, const char *text)
{
    char *copy = strdup(text);
    int first;
    pthread_mutex_lock(&mutex);
    first = count == 0;
    if (copy && count < KEPT) {
        kept[count++] = (message){level, copy};
        copy = NULL;
    } else {
        dropped++;
    }
    atomic_store(&waiting, 1);
    pthread_mutex_unlock(&mutex);
    free(copy);
    /* For messages of threads that do not return to Python: the main thread delivers them. */
    if (first && Py_IsInitialized())
        Py_AddPendingCall(on_main_thread, NULL);
}

static PyObject *logger(void)
{
    static PyObject *found;
    if (!found) {
        PyObject *module = PyImport_ImportModule("logging");
        found = module ? PyObject_CallMethod(module, "getLogger", "s", "collet") : NULL;
        Py_XDECREF(module);
    }
    return found;
}

static void deliver(const message *m, size_t lost)
{
    PyObject *target = logger(), *done = NULL;
    if (target && m)
        done = PyObject_CallMethod(target, "log", "iss", number_of(m->level), "%s", m->text);
    else if (target)
        done = PyObject_CallMethod(target, "warning", "sn", "%d more messages were dropped",
                                   (Py_ssize_t)lost);
    if (!done)
        PyErr_WriteUnraisable(target);
    Py_XDECREF(done);
}

void log_deliver(void)
{
    message taken[KEPT];
    size_t taken_count, lost;
    PyObject *type, *value, *trace;
    if (!atomic_load_explicit(&waiting, memory_order_relaxed))
        return;
    pthread_mutex_lock(&mutex);
    memcpy(taken, kept, count * sizeof *kept);
    taken_count = count;
    lost = dropped;
    count = dropped = 0;
    atomic_store(&waiting, 0);
    pthread_mutex_unlock(&mutex);
    PyErr_Fetch(&type, &value, &trace);
    for (size_t i = 0; i < taken_count; i++) {
        deliver(&taken[i], 0);
        free(taken[i].text);
    }
    if (lost)
        deliver(NULL, lost);
    PyErr_Restore(type, value, trace);
}

const char *log_level(void)
{
    /* Does not import logging, which takes longer than the rest of a first call. */
    PyObject *name = PyUnicode_FromString("logging");
    PyObject *module = name ? PyImport_GetModule(name) : NULL;
    Py_XDECREF(name);
    if (!module)
        return PyErr_Occurred() ? NULL : "warning";
    Py_DECREF(module);
    PyObject *target = logger();
    PyObject *number = target ? PyObject_CallMethod(target, "getEffectiveLevel", NULL) : NULL;
    long level = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    if (level == -1 && PyErr_Occurred())
        return NULL;
    return level <= 10 ? "debug" : level <= 20 ? "info" : level <= 30 ? "warning" : "error";
}

void log_forked(void)
{
    pthread_mutex_init(&mutex, NULL);
    count = dropped = 0;
    atomic_store(&waiting, 0);
}
