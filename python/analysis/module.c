/* SPDX-License-Identifier: Apache-2.0 */
/* collet._analysis: libcollet-analysis for collet/md/analysis.
 * Tests: python/tests/analysis/test_md_analysis.py */
#include "src/binding.h"

#include <collet/analysis.h>
#include <stdio.h>
#include <stdlib.h>

static const binding *bound;

#define RESULTS 6

/* A call that Ctrl-C interrupts; results are NumPy arrays. */
typedef struct call {
    work work;
    collet_array *x;
    int64_t blocks;
    int centered;
    PyObject *results[RESULTS];
    double *data[RESULTS];
    double s2;
} call;

static void drop_call(work *w)
{
    call *c = (call *)w;
    for (int i = 0; i < RESULTS; i++)
        Py_XDECREF(c->results[i]);
    collet_array_destroy(c->x);
    free(c);
}

/* Frees the array in the thread of its context, and copies the text of the engine's error. */
static collet_status end_call(call *c, collet_status status, const collet_error *err)
{
    if (status != COLLET_OK)
        snprintf(c->work.text, sizeof c->work.text, "%s", err->text);
    collet_array_destroy(c->x);
    c->x = NULL;
    return status;
}

static collet_status run_autocorrelation(work *w, collet_context *context)
{
    call *c = (call *)w;
    collet_error err;
    collet_status status = collet_analysis_autocorrelation(context, c->data[0], c->data[1], c->x,
                                                           c->blocks, c->centered, &err);
    return end_call(c, status, &err);
}

static collet_status run_displacement(work *w, collet_context *context)
{
    call *c = (call *)w;
    collet_error err;
    collet_status status =
        collet_analysis_displacement(context, c->data[0], c->data[1], c->x, c->blocks, &err);
    return end_call(c, status, &err);
}

static collet_status run_rotation(work *w, collet_context *context)
{
    call *c = (call *)w;
    collet_analysis_rotation_curves curves = {.struct_size = sizeof curves,
                                              .c1 = c->data[0],
                                              .c1_parts = c->data[1],
                                              .c2 = c->data[2],
                                              .c2_parts = c->data[3],
                                              .s2_without = c->data[4]};
    collet_error err;
    collet_status status = collet_analysis_rotation(context, &curves, c->x, c->blocks, &err);
    c->s2 = curves.s2;
    return end_call(c, status, &err);
}

/* A call with x and blocks. Its results are `pairs` curves of all frames and of blocks; NULL with an exception. */
static call *call_new(collet_status (*run)(work *w, collet_context *context), PyObject *x,
                      long long blocks, int pairs)
{
    call *c = calloc(1, sizeof *c);
    if (!c)
        return (call *)PyErr_NoMemory();
    c->work.run = run;
    c->work.drop = drop_call;
    c->blocks = blocks;
    c->x = bound->array_from(x, 0, "x");
    if (c->x && collet_array_ndim(c->x) > 0) {
        int64_t frames = collet_array_shape(c->x)[0];
        int64_t parts[] = {blocks, blocks > 0 ? frames / blocks : 0};
        int failed = 0;
        for (int i = 0; i < pairs && !failed; i++) {
            c->results[2 * i] = bound->numpy_new(COLLET_F64, 1, &frames, (void **)&c->data[2 * i]);
            c->results[2 * i + 1] =
                bound->numpy_new(COLLET_F64, 2, parts, (void **)&c->data[2 * i + 1]);
            failed = !c->results[2 * i] || !c->results[2 * i + 1];
        }
        if (!failed)
            return c;
    } else if (c->x) {
        PyErr_SetString(PyExc_TypeError, "x is a scalar");
    }
    drop_call(&c->work);
    return NULL;
}

/* The first `n` results, and S^2. */
static PyObject *call_finish(call *c, int n, int with_s2)
{
    PyObject *tuple;
    if (bound->work_run(&c->work))
        return NULL;
    tuple = PyTuple_New(n + with_s2);
    for (int i = 0; tuple && i < n; i++)
        if (PyTuple_SetItem(tuple, i, Py_NewRef(c->results[i])))
            Py_CLEAR(tuple);
    if (tuple && with_s2 && PyTuple_SetItem(tuple, n, PyFloat_FromDouble(c->s2)))
        Py_CLEAR(tuple);
    drop_call(&c->work);
    return tuple;
}

/* Takes (x, blocks, centered). Returns (curve, curves of blocks). */
static PyObject *autocorrelation(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *x;
    long long blocks;
    int centered;
    call *c;
    if (!PyArg_ParseTuple(arguments, "OLp", &x, &blocks, &centered) ||
        !(c = call_new(run_autocorrelation, x, blocks, 1)))
        return NULL;
    c->centered = centered;
    return call_finish(c, 2, 0);
}

/* Takes (x, blocks). Returns (curve, curves of blocks). */
static PyObject *displacement(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *x;
    long long blocks;
    call *c;
    if (!PyArg_ParseTuple(arguments, "OL", &x, &blocks) ||
        !(c = call_new(run_displacement, x, blocks, 1)))
        return NULL;
    return call_finish(c, 2, 0);
}

/* Takes (axes, blocks). Returns (c1, c1 of blocks, c2, c2 of blocks, S^2 without each block, S^2). */
static PyObject *rotation(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *x;
    long long blocks;
    call *c;
    if (!PyArg_ParseTuple(arguments, "OL", &x, &blocks) ||
        !(c = call_new(run_rotation, x, blocks, 2)))
        return NULL;
    c->results[4] = bound->numpy_new(COLLET_F64, 1, &c->blocks, (void **)&c->data[4]);
    if (!c->results[4]) {
        drop_call(&c->work);
        return NULL;
    }
    return call_finish(c, 5, 1);
}

PyMODINIT_FUNC PyInit__analysis(void);

PyMODINIT_FUNC PyInit__analysis(void)
{
    static PyMethodDef functions[] = {
        {"autocorrelation", autocorrelation, METH_VARARGS, NULL},
        {"displacement", displacement, METH_VARARGS, NULL},
        {"rotation", rotation, METH_VARARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                     .m_name = "collet._analysis",
                                     .m_doc = "libcollet-analysis for collet.md.analysis.",
                                     .m_size = -1,
                                     .m_methods = functions};
    bound = binding_import();
    return bound ? python_module(&definition) : NULL;
}
