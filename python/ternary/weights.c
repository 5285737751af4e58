/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_ternary.py */
#include "bound.h"

#include <stdio.h>
#include <stdlib.h>

#define CAPSULE "collet._ternary.weights"

static void drop(PyObject *capsule)
{
    collet_ternary_weights_destroy(PyCapsule_GetPointer(capsule, CAPSULE));
}

PyObject *weights_new(collet_ternary_weights *weights)
{
    PyObject *capsule = weights ? PyCapsule_New(weights, CAPSULE, drop) : NULL;
    if (!capsule)
        collet_ternary_weights_destroy(weights);
    return capsule;
}

const collet_ternary_weights *weights_get(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

const collet_ternary_quantize_params *quantize_take(PyObject *pair,
                                                    collet_ternary_quantize_params *params)
{
    *params = (collet_ternary_quantize_params){.struct_size = sizeof *params};
    if (pair == Py_None || !PyArg_ParseTuple(pair, "If", &params->mode, &params->threshold))
        return NULL;
    return params;
}

typedef struct packing {
    work work;
    collet_array *values, *scale;
    enum { FROM_CODES, QUANTIZE, RECOGNISE } what;
    const collet_ternary_quantize_params *params; /* &own or NULL */
    collet_ternary_quantize_params own;
    collet_ternary_weights *weights;
    collet_array *found; /* the result of mode RECOGNISE; NULL: the weights are not ternary */
    bound_watch watch;
} packing;

static void free_arrays(packing *p)
{
    collet_array_destroy(p->values);
    collet_array_destroy(p->scale);
    p->values = p->scale = NULL;
}

static collet_status run_packing(work *w, collet_context *context)
{
    packing *p = (packing *)w;
    const collet_ternary_monitor *monitor = &p->watch.monitor;
    collet_error err;
    collet_status status =
        p->what == QUANTIZE ? collet_ternary_weights_quantize(context, &p->weights, p->values,
                                                              p->params, monitor, &err)
        : p->what == RECOGNISE
            ? collet_ternary_recognise(context, &p->found, p->values, monitor, &err)
            : collet_ternary_weights_from_codes(context, &p->weights, p->values, p->scale, &err);
    if (status != COLLET_OK)
        snprintf(w->text, sizeof w->text, "%s", err.text);
    free_arrays(p);
    return status;
}

static void drop_packing(work *w)
{
    packing *p = (packing *)w;
    free_arrays(p);
    collet_ternary_weights_destroy(p->weights);
    collet_array_destroy(p->found);
    free(p);
}

static packing *new_packing(void)
{
    packing *p = calloc(1, sizeof *p);
    if (!p)
        return (packing *)PyErr_NoMemory();
    p->work.run = run_packing;
    p->work.drop = drop_packing;
    bound_watch_begin(&p->watch);
    p->watch.monitor.progress = NULL; /* work_run sees Ctrl-C */
    return p;
}

static PyObject *pack(packing *p)
{
    PyObject *made;
    if (bound->work_run(&p->work))
        return NULL;
    if (bound_watch_end(&p->watch)) {
        drop_packing(&p->work);
        return NULL;
    }
    made = weights_new(p->weights);
    p->weights = NULL;
    drop_packing(&p->work);
    return made;
}

/* Arguments (weights, (mode, threshold) or None). */
PyObject *weights_quantize(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *object, *pair;
    packing *p = new_packing();
    if (!p)
        return NULL;
    p->what = QUANTIZE;
    if (PyArg_ParseTuple(arguments, "OO", &object, &pair)) {
        p->params = quantize_take(pair, &p->own);
        if (!PyErr_Occurred() && (p->values = bound->array_from(object, 0, "weights")))
            return pack(p);
    }
    drop_packing(&p->work);
    return NULL;
}

/* The scale of each row of weights that are already ternary; None for other weights. */
PyObject *weights_recognise(PyObject *Py_UNUSED(module), PyObject *object)
{
    packing *p = new_packing();
    if (!p)
        return NULL;
    p->what = RECOGNISE;
    if (!(p->values = bound->array_from(object, 0, "weights"))) {
        drop_packing(&p->work);
        return NULL;
    }
    if (bound->work_run(&p->work))
        return NULL;
    PyObject *found = p->found ? bound->array_new(p->found) : Py_NewRef(Py_None);
    p->found = NULL;
    drop_packing(&p->work);
    return found;
}

/* Arguments (codes, scale or None). */
PyObject *weights_from_codes(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *object, *scale;
    packing *p = new_packing();
    if (!p)
        return NULL;
    if (PyArg_ParseTuple(arguments, "OO", &object, &scale) &&
        (p->values = bound->array_from(object, COLLET_I8, "codes")) &&
        !bound_optional(&p->scale, scale, COLLET_F32, "scale"))
        return pack(p);
    drop_packing(&p->work);
    return NULL;
}

/* Arguments (bytes, columns, scale or None). */
PyObject *weights_from_bytes(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *object, *scales;
    long long columns;
    collet_ternary_weights *weights = NULL;
    collet_context *context = bound->context();
    collet_array *bytes, *scale = NULL;
    collet_error err;
    if (!context || !PyArg_ParseTuple(arguments, "OLO", &object, &columns, &scales) ||
        !(bytes = bound->array_from(object, COLLET_U8, "bytes")))
        return NULL;
    if (bound_optional(&scale, scales, COLLET_F32, "scale")) {
        collet_array_destroy(bytes);
        return NULL;
    }
    PyThreadState *state = bound->leave();
    collet_status status = collet_ternary_weights_from_bytes(context, &weights, bytes, columns,
                                                             scale, &bound_monitor, &err);
    collet_array_destroy(bytes);
    collet_array_destroy(scale);
    bound->back(state);
    return status == COLLET_OK ? weights_new(weights) : bound_raise(status, &err);
}

/* A collet.Array that views the array; None if `array` is NULL. */
static PyObject *view(collet_context *context, const collet_array *array)
{
    collet_array *same;
    if (!array)
        return Py_NewRef(Py_None);
    if (collet_array_reshape(context, array, &same, collet_array_ndim(array),
                             collet_array_shape(array)) != COLLET_OK)
        return bound->raise_last(context);
    return bound->array_new(same);
}

/* Returns (rows, columns, bytes, scale or None). */
PyObject *weights_describe(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    const collet_ternary_weights *weights = weights_get(capsule);
    collet_context *context = weights ? bound->context() : NULL;
    if (!context)
        return NULL;
    return Py_BuildValue("LLNN", (long long)collet_ternary_weights_rows(weights),
                         (long long)collet_ternary_weights_columns(weights),
                         view(context, collet_ternary_weights_bytes(weights)),
                         view(context, collet_ternary_weights_scale(weights)));
}
