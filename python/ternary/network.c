/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_ternary.py */
#include "bound.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPSULE "collet._ternary.network"

typedef struct shared_network {
    collet_ternary_network *handle;
    pthread_mutex_t turn; /* held during each run; an interrupted run continues and keeps holding it */
    uint64_t number;      /* identifies the network */
    pid_t process;
} shared_network;

static void drop_network(PyObject *capsule)
{
    shared_network *n = PyCapsule_GetPointer(capsule, CAPSULE);
    collet_ternary_network_destroy(n->handle);
    pthread_mutex_destroy(&n->turn);
    free(n);
}

PyObject *network_new(collet_ternary_network *handle)
{
    static uint64_t made;
    shared_network *n = malloc(sizeof *n);
    PyObject *capsule = n ? PyCapsule_New(n, CAPSULE, drop_network) : PyErr_NoMemory();
    if (!capsule) {
        collet_ternary_network_destroy(handle);
        free(n);
        return NULL;
    }
    n->handle = handle;
    n->number = ++made;
    n->process = getpid();
    pthread_mutex_init(&n->turn, NULL);
    return capsule;
}

void layers_free(layer_list *list)
{
    for (uint32_t i = 0; list->biases && i < list->count; i++)
        collet_array_destroy(list->biases[i]);
    free(list->biases);
    free(list->layers);
}

static int take_layer(collet_ternary_layer *layer, collet_array **bias, PyObject *tuple)
{
    PyObject *weights, *values;
    *layer = (collet_ternary_layer){.struct_size = sizeof *layer};
    if (!PyArg_ParseTuple(tuple, "OOIIf", &weights, &values, &layer->activations, &layer->relu,
                          &layer->threshold) ||
        !(layer->weights = weights_get(weights)) ||
        bound_optional(bias, values, COLLET_F32, "bias"))
        return -1;
    layer->bias = *bias;
    return 0;
}

int layers_take(layer_list *list, PyObject *sequence)
{
    Py_ssize_t count = PyList_Size(sequence);
    *list = (layer_list){.count = (uint32_t)(count < 0 ? 0 : count)};
    if (count < 0)
        return -1;
    list->layers = calloc((size_t)count + 1, sizeof *list->layers);
    list->biases = calloc((size_t)count + 1, sizeof *list->biases);
    if (!list->layers || !list->biases) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < list->count; i++)
        if (take_layer(&list->layers[i], &list->biases[i], PyList_GetItem(sequence, i)))
            return -1;
    return 0;
}

PyObject *network_create(PyObject *Py_UNUSED(module), PyObject *sequence)
{
    layer_list list;
    collet_ternary_network *network = NULL;
    collet_context *context = bound->context();
    collet_error err;
    collet_status status = COLLET_OK;
    if (!context)
        return NULL;
    int failed = layers_take(&list, sequence);
    if (!failed) {
        PyThreadState *state = bound->leave();
        status = collet_ternary_network_create(context, &network, list.layers, list.count, &err);
        bound->back(state);
    }
    layers_free(&list);
    if (failed)
        return NULL;
    return status == COLLET_OK ? network_new(network) : bound_raise(status, &err);
}

/* NULL with an exception. */
static shared_network *get(PyObject *capsule)
{
    shared_network *n = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!n || n->process == getpid())
        return n;
    return bound->raise(COLLET_FORKED, "this Network was made before the process was forked: "
                                       "make or load it in the child, or send it pickled");
}

network_turn *network_get(PyObject *capsule, collet_ternary_network **network)
{
    shared_network *n = get(capsule);
    if (n)
        *network = n->handle;
    return n;
}

void network_turn_begin(network_turn *n)
{
    pthread_mutex_lock(&n->turn);
}

void network_turn_end(network_turn *n)
{
    pthread_mutex_unlock(&n->turn);
}

/* Returns the numbers (inputs, outputs) of a network. */
PyObject *network_describe(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    const shared_network *n = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!n)
        return NULL;
    return Py_BuildValue("LL", (long long)collet_ternary_network_inputs(n->handle),
                         (long long)collet_ternary_network_outputs(n->handle));
}

/* A new array for the outputs of x; NULL with an exception. */
static collet_array *output(collet_context *context, const collet_ternary_network *network,
                            const collet_array *x)
{
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = collet_array_ndim(x);
    collet_array *y;
    if (ndim < 1)
        return bound->raise(COLLET_SHAPE, "x has no axes; its last one is the network's inputs");
    memcpy(shape, collet_array_shape(x), (size_t)ndim * sizeof *shape);
    shape[ndim - 1] = collet_ternary_network_outputs(network);
    if (collet_array_create(context, &y, COLLET_F32, ndim, shape) != COLLET_OK)
        return bound->raise_last(context);
    return y;
}

typedef struct forward {
    work work;
    PyObject *capsule; /* keeps the network alive */
    shared_network *network;
    collet_array *x, *y;
} forward;

static collet_status run_forward(work *w, collet_context *context)
{
    forward *f = (forward *)w;
    collet_error err;
    pthread_mutex_lock(&f->network->turn);
    collet_status status =
        collet_ternary_network_run(context, f->network->handle, f->y, f->x, &err);
    pthread_mutex_unlock(&f->network->turn);
    if (status != COLLET_OK)
        snprintf(w->text, sizeof w->text, "%s", err.text);
    collet_array_destroy(f->x);
    f->x = NULL;
    return status;
}

static void drop_forward(work *w)
{
    forward *f = (forward *)w;
    collet_array_destroy(f->x);
    collet_array_destroy(f->y);
    Py_DECREF(f->capsule);
    free(f);
}

/* Arguments (network, x). Returns a collet.Array. */
PyObject *network_run(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule, *object, *y;
    shared_network *n;
    collet_context *context = bound->context();
    if (!context || !PyArg_ParseTuple(arguments, "OO", &capsule, &object) || !(n = get(capsule)))
        return NULL;
    forward *f = calloc(1, sizeof *f);
    if (!f)
        return PyErr_NoMemory();
    *f = (forward){.work = {.run = run_forward, .drop = drop_forward},
                   .capsule = Py_NewRef(capsule),
                   .network = n,
                   .x = bound->array_from(object, COLLET_F32, "x")};
    f->y = f->x ? output(context, n->handle, f->x) : NULL;
    if (f->x)
        f->work.print = (n->number << 40 ^ (uint64_t)collet_array_size(f->x)) * 0x9e3779b97f4a7c15u;
    if (!f->y) {
        drop_forward(&f->work);
        return NULL;
    }
    if (bound->work_run(&f->work))
        return NULL;
    y = bound->array_new(f->y);
    f->y = NULL;
    drop_forward(&f->work);
    return y;
}
