/* SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "collet._ternary.network"

static void drop(PyObject *capsule)
{
    collet_ternary_network_free(PyCapsule_GetPointer(capsule, CAPSULE));
}

PyObject *network_new(collet_ternary_network *network)
{
    PyObject *capsule = network ? PyCapsule_New(network, CAPSULE, drop) : NULL;
    if (!capsule)
        collet_ternary_network_free(network);
    return capsule;
}

void layers_free(layer_list *list)
{
    for (uint32_t i = 0; list->biases && i < list->count; i++)
        collet_array_free(list->biases[i]);
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

PyObject *network_create(PyObject *module, PyObject *sequence)
{
    layer_list list;
    collet_ternary_network *network = NULL;
    collet_context *context = bound->context();
    collet_error err;
    collet_status status = COLLET_OK;
    (void)module;
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

/* (inputs, outputs) */
PyObject *network_describe(PyObject *module, PyObject *capsule)
{
    const collet_ternary_network *network = PyCapsule_GetPointer(capsule, CAPSULE);
    (void)module;
    if (!network)
        return NULL;
    return Py_BuildValue("LL", (long long)collet_ternary_network_inputs(network),
                         (long long)collet_ternary_network_outputs(network));
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

/* (network, x): a collet.Array. */
PyObject *network_run(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *object;
    collet_ternary_network *network;
    collet_context *context = bound->context();
    collet_array *x, *y;
    collet_error err;
    (void)module;
    if (!context || !PyArg_ParseTuple(arguments, "OO", &capsule, &object) ||
        !(network = PyCapsule_GetPointer(capsule, CAPSULE)) ||
        !(x = bound->array_from(object, COLLET_F32, "x")))
        return NULL;
    y = output(context, network, x);
    if (!y) {
        collet_array_free(x);
        return NULL;
    }
    PyThreadState *state = bound->leave();
    collet_status status = collet_ternary_network_run(context, network, y, x, &err);
    collet_array_free(x);
    bound->back(state);
    if (status == COLLET_OK)
        return bound->array_new(y);
    collet_array_free(y);
    return bound_raise(status, &err);
}
