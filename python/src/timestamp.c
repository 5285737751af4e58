/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "error.h"
#include "module.h"
#include "runtime.h"

#define CAPSULE "collet._core.timestamp"

typedef struct moment {
    collet_timestamp *timestamp;
    uint64_t generation; /* of its runtime */
} moment;

/* One of the parent of a fork is left alone. */
static void drop(PyObject *capsule)
{
    moment *m = PyCapsule_GetPointer(capsule, CAPSULE);
    if (m->generation == runtime_generation()) {
        PyThreadState *state = runtime_leave();
        collet_timestamp_free(m->timestamp);
        runtime_return(state);
    }
    free(m);
}

static collet_timestamp *moment_get(PyObject *capsule)
{
    moment *m = PyCapsule_GetPointer(capsule, CAPSULE);
    if (m && m->generation != runtime_generation())
        return error_raise(COLLET_INVALID, "this timestamp is of an earlier runtime: take another "
                                           "after fork, set_num_threads or configure");
    return m ? m->timestamp : NULL;
}

PyObject *timestamp_take(PyObject *module, PyObject *device)
{
    const char *name = device == Py_None ? NULL : PyUnicode_AsUTF8AndSize(device, NULL);
    collet_context *context = name || device == Py_None ? runtime_context() : NULL;
    moment *m = context ? calloc(1, sizeof *m) : NULL;
    PyObject *capsule;
    (void)module;
    if (!m)
        return context ? PyErr_NoMemory() : NULL;
    PyThreadState *state = runtime_leave();
    collet_status status = collet_timestamp_take(context, name, &m->timestamp);
    runtime_return(state);
    m->generation = runtime_generation();
    capsule = status == COLLET_OK ? PyCapsule_New(m, CAPSULE, drop) : runtime_raise(context);
    if (!capsule) {
        collet_timestamp_free(status == COLLET_OK ? m->timestamp : NULL);
        free(m);
    }
    return capsule;
}

PyObject *timestamp_elapsed(PyObject *module, PyObject *arguments)
{
    PyObject *pair[2];
    collet_timestamp *first, *last;
    collet_context *context;
    int64_t nanoseconds;
    int32_t clock;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO", &pair[0], &pair[1]) || !(first = moment_get(pair[0])) ||
        !(last = moment_get(pair[1])) || !(context = runtime_context()))
        return NULL;
    PyThreadState *state = runtime_leave();
    collet_status status = collet_timestamp_elapsed(context, first, last, &nanoseconds, &clock);
    runtime_return(state);
    if (status != COLLET_OK)
        return runtime_raise(context);
    return Py_BuildValue("LN", (long long)nanoseconds,
                         PyBool_FromLong(clock == COLLET_CLOCK_DEVICE));
}
