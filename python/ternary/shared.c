/* SPDX-License-Identifier: Apache-2.0 */
/* A network on several devices.
 * Tests: python/tests/test_ternary.py */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

/* A run of the network. The network's lock is held during the run. */
typedef struct shared_run {
    collet_ternary_network *network;
    const char *choices;
    float *y;
    int64_t vectors;
    PyObject *shares; /* a list, filled at the end */
} shared_run;

/* Fills run->shares. Returns 0, or -1 with an exception set. */
static int take_shares(shared_run *run)
{
    collet_device_share share = {.struct_size = sizeof share};
    for (size_t i = 0; collet_ternary_network_share_at(run->network, &share, i, NULL) == COLLET_OK;
         i++) {
        PyObject *tuple = Py_BuildValue("(sLdz)", share.device, (long long)share.done,
                                        share.seconds, share.error);
        if (!tuple || PyList_Append(run->shares, tuple)) {
            Py_XDECREF(tuple);
            return -1;
        }
        Py_DECREF(tuple);
    }
    return 0;
}

/* Without the GIL. */
static collet_status compute(collet_context *context, shared_run *run, const float *x,
                             collet_error *err)
{
    const collet_devices devices = {.struct_size = sizeof devices, .choices = run->choices};
    return collet_ternary_network_run_vectors(context, run->network, run->y, x, run->vectors,
                                              &devices, &bound_monitor, err);
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
        status = compute(context, run, data, &err);
    else
        collet_fail(&err, status, "%s", collet_last_error(context));
    if (acquired)
        collet_array_release(context, x);
    bound->back(state);
    int done = status == COLLET_OK && !PyErr_Occurred() && take_shares(run) == 0;
    /* This thread may hold the GIL, because a thread that waits for its turn does not hold the GIL. */
    network_turn_end(turn);
    if (done)
        return y;
    Py_DECREF(y);
    return bound_raise(status, &err);
}

/* Arguments (network, x, choices). Returns (a NumPy array, [(device, vectors, seconds, error or
   None)]). */
PyObject *network_run_on(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule, *object, *y = NULL;
    network_turn *turn;
    shared_run run = {0};
    if (!bound->context() || !PyArg_ParseTuple(arguments, "OOs", &capsule, &object, &run.choices) ||
        !(turn = network_get(capsule, &run.network)))
        return NULL;
    collet_array *x = bound->array_from(object, COLLET_F32, "x");
    run.shares = x ? PyList_New(0) : NULL;
    if (run.shares)
        y = run_on(&run, turn, x);
    collet_array_destroy(x);
    PyObject *result = y ? Py_BuildValue("(OO)", y, run.shares) : NULL;
    Py_XDECREF(y);
    Py_XDECREF(run.shares);
    return result;
}
