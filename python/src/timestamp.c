/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_bench.py */
#include "timestamp.h"

#include <stdlib.h>

#include "src/base/error.h"
#include "src/base/runtime.h"
#include "src/base/work.h"

#define CAPSULE "collet._core.timestamp"

typedef struct moment {
    collet_timestamp *timestamp;
    uint64_t generation; /* of the timestamp's runtime */
} moment;

/* Does not release a timestamp that was taken before a fork: its runtime is the parent's. */
static void drop(PyObject *capsule)
{
    moment *m = PyCapsule_GetPointer(capsule, CAPSULE);
    if (m->generation == runtime_generation()) {
        PyThreadState *state = runtime_leave();
        collet_timestamp_destroy(m->timestamp);
        runtime_return(state);
    }
    free(m);
}

static collet_timestamp *moment_get(PyObject *capsule)
{
    moment *m = PyCapsule_GetPointer(capsule, CAPSULE);
    if (m && m->generation != runtime_generation())
        return error_raise(COLLET_INVALID,
                           "this timestamp is from an earlier runtime: take another "
                           "after fork or configure");
    return m ? m->timestamp : NULL;
}

PyObject *timestamp_take(PyObject *Py_UNUSED(module), PyObject *device)
{
    const char *name = device == Py_None ? NULL : runtime_name(device, "a device");
    collet_context *context = name || device == Py_None ? runtime_context() : NULL;
    moment *m = context ? calloc(1, sizeof *m) : NULL;
    PyObject *capsule;
    if (!m)
        return context ? PyErr_NoMemory() : NULL;
    PyThreadState *state = runtime_leave();
    collet_status status = collet_timestamp_take(context, &m->timestamp, name);
    runtime_return(state);
    m->generation = runtime_generation();
    capsule = status == COLLET_OK ? PyCapsule_New(m, CAPSULE, drop) : runtime_raise(context);
    if (!capsule) {
        collet_timestamp_destroy(status == COLLET_OK ? m->timestamp : NULL);
        free(m);
    }
    return capsule;
}

typedef struct measuring {
    work work;
    PyObject *capsules; /* a tuple */
    collet_timestamp *first, *last;
    int64_t nanoseconds;
    int32_t clock;
} measuring;

static collet_status run_measuring(work *w, collet_context *context)
{
    measuring *m = (measuring *)w;
    return collet_timestamp_elapsed(context, m->first, m->last, &m->nanoseconds, &m->clock);
}

static void drop_measuring(work *w)
{
    measuring *m = (measuring *)w;
    Py_DECREF(m->capsules);
    free(m);
}

PyObject *timestamp_elapsed(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *pair[2], *result;
    collet_timestamp *first, *last;
    measuring *m;
    if (!PyArg_ParseTuple(arguments, "OO", &pair[0], &pair[1]) || !(first = moment_get(pair[0])) ||
        !(last = moment_get(pair[1])))
        return NULL;
    m = calloc(1, sizeof *m);
    if (!m)
        return PyErr_NoMemory();
    *m = (measuring){
        .work = {.run = run_measuring, .drop = drop_measuring, .quick = !runtime_waits()},
        .capsules = Py_NewRef(arguments),
        .first = first,
        .last = last};
    if (work_run(&m->work))
        return NULL;
    result = Py_BuildValue("LN", (long long)m->nanoseconds,
                           PyBool_FromLong(m->clock == COLLET_CLOCK_DEVICE));
    drop_measuring(&m->work);
    return result;
}
