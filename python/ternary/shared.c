/* SPDX-License-Identifier: Apache-2.0 */
/* A network on several devices.
 * Tests: python/tests/test_ternary.py */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES 64

/* A run; the network's lock is held while it runs. */
typedef struct shared_run {
    collet_ternary_network *network;
    collet_context *contexts[DEVICES];
    Py_ssize_t n;
    float *y;
    int64_t vectors;
    PyObject *shares; /* a list, filled at the end */
} shared_run;

/* 0, or -1 with an exception. */
static int open_devices(shared_run *run, PyObject *choices)
{
    Py_ssize_t n = PyList_Size(choices);
    collet_error err;
    if (n < 1 || n > DEVICES) {
        bound->raise(COLLET_INVALID, "devices: a list of 1 to 64 is needed");
        return -1;
    }
    for (; run->n < n; run->n++) {
        const char *choice = PyUnicode_AsUTF8AndSize(PyList_GetItem(choices, run->n), NULL);
        collet_context **own = &run->contexts[run->n];
        collet_status status =
            choice ? collet_context_create(bound->runtime(), own, &err) : COLLET_OK;
        if (!choice)
            return -1;
        if (status != COLLET_OK) {
            bound->raise(status, err.text);
            return -1;
        }
        if (collet_set_backend(*own, choice) != COLLET_OK) {
            run->n++;
            bound->raise_last(*own);
            return -1;
        }
    }
    return 0;
}

/* Called without the GIL. */
static void take_share(void *user, const collet_device_share *share)
{
    shared_run *run = user;
    PyGILState_STATE state = PyGILState_Ensure();
    if (!PyErr_Occurred()) {
        PyObject *tuple = Py_BuildValue("(sLdz)", share->device, (long long)share->done,
                                        share->seconds, share->error);
        if (tuple)
            PyList_Append(run->shares, tuple);
        Py_XDECREF(tuple);
    }
    PyGILState_Release(state);
}

/* Without the GIL. */
static collet_status compute(shared_run *run, const float *x, collet_error *err)
{
    const collet_devices others = {.struct_size = sizeof others,
                                   .n_contexts = run->n - 1,
                                   .contexts = run->contexts + 1,
                                   .share = take_share,
                                   .user = run};
    return collet_ternary_network_run_vectors(run->contexts[0], run->network, run->y, x,
                                              run->vectors, &others, &bound_monitor, err);
}

/* A new NumPy array for the outputs of x; NULL with an exception. */
static PyObject *output(shared_run *run, const collet_array *x)
{
    int64_t shape[COLLET_MAX_DIMS], inputs = collet_ternary_network_inputs(run->network);
    int32_t ndim = collet_array_ndim(x);
    void *data;
    if (ndim < 1 || collet_array_shape(x)[ndim - 1] != inputs)
        return bound->raise(COLLET_SHAPE, "x: its last axis must be the network's inputs");
    memcpy(shape, collet_array_shape(x), (size_t)ndim * sizeof *shape);
    run->vectors = inputs ? collet_array_size(x) / inputs : 0;
    shape[ndim - 1] = collet_ternary_network_outputs(run->network);
    PyObject *y = bound->numpy_new(COLLET_F32, ndim, shape, &data);
    run->y = data;
    return y;
}

static PyObject *run_on(shared_run *run, network_turn *turn, collet_array *x)
{
    collet_context *context = bound->context();
    PyObject *y = context ? output(run, x) : NULL;
    collet_error err = {0};
    void *data;
    if (!y)
        return NULL;
    PyThreadState *state = bound->leave();
    network_turn_begin(turn);
    collet_status status = collet_array_acquire(context, x, &data, COLLET_READ);
    int acquired = status == COLLET_OK;
    if (acquired)
        status = compute(run, data, &err);
    else
        collet_fail(&err, status, "%s", collet_last_error(context));
    if (acquired)
        collet_array_release(context, x);
    network_turn_end(turn);
    bound->back(state);
    if (status == COLLET_OK && !PyErr_Occurred())
        return y;
    Py_DECREF(y);
    return bound_raise(status, &err);
}

/* (network, x, choices): (a NumPy array, [(device, vectors, seconds, error or None)]). */
PyObject *network_run_on(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule, *object, *choices, *y = NULL;
    network_turn *turn;
    shared_run run = {.n = 0};
    if (!bound->context() || !PyArg_ParseTuple(arguments, "OOO", &capsule, &object, &choices) ||
        !(turn = network_get(capsule, &run.network)))
        return NULL;
    collet_array *x = bound->array_from(object, COLLET_F32, "x");
    run.shares = x ? PyList_New(0) : NULL;
    if (run.shares && open_devices(&run, choices) == 0)
        y = run_on(&run, turn, x);
    PyThreadState *state = bound->leave();
    for (Py_ssize_t i = 0; i < run.n; i++)
        collet_context_destroy(run.contexts[i]);
    bound->back(state);
    collet_array_destroy(x);
    PyObject *result = y ? Py_BuildValue("(OO)", y, run.shares) : NULL;
    Py_XDECREF(y);
    Py_XDECREF(run.shares);
    return result;
}
