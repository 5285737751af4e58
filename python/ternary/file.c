/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_ternary.py */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "collet._ternary.file"

static void drop(PyObject *capsule)
{
    collet_ternary_file_destroy(PyCapsule_GetPointer(capsule, CAPSULE));
}

static collet_ternary_file *file_get(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

/* Argument: a name, FILE or FILE:TENSOR. Returns the open file, and the index of the named tensor or -1. */
PyObject *file_open(PyObject *Py_UNUSED(module), PyObject *name)
{
    PyObject *path = NULL, *capsule;
    collet_ternary_file *file = NULL;
    int64_t index;
    collet_error err;
    if (!PyUnicode_FSConverter(name, &path))
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = collet_ternary_file_open(&file, &index, PyBytes_AsString(path), &err);
    bound->back(state);
    Py_DECREF(path);
    if (status != COLLET_OK)
        return bound_raise(status, &err);
    capsule = PyCapsule_New(file, CAPSULE, drop);
    if (!capsule)
        collet_ternary_file_destroy(file);
    return capsule ? Py_BuildValue("NL", capsule, (long long)index) : NULL;
}

/* Returns (kind, version, count, bytes, path, part, parts) of a file. */
PyObject *file_describe(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    collet_ternary_file_info info = {.struct_size = sizeof info};
    collet_ternary_file *file = file_get(capsule);
    if (!file)
        return NULL;
    collet_ternary_file_get_info(file, &info);
    return Py_BuildValue("IILLNII", info.kind, info.version, (long long)info.count,
                         (long long)info.bytes, PyUnicode_DecodeFSDefault(info.path), info.part,
                         info.parts);
}

/* Arguments (file, index). Returns a dict that describes the matrix. */
PyObject *file_matrix(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule, *shape;
    long long index;
    collet_ternary_file *file;
    collet_ternary_matrix m = {.struct_size = sizeof m};
    collet_error err;
    if (!PyArg_ParseTuple(arguments, "OL", &capsule, &index) || !(file = file_get(capsule)))
        return NULL;
    collet_status status = collet_ternary_file_matrix_at(file, &m, (size_t)index, &err);
    if (status != COLLET_OK)
        return bound_raise(status, &err);
    shape = PyTuple_New(m.ndim);
    for (int32_t i = 0; shape && i < m.ndim; i++)
        if (PyTuple_SetItem(shape, i, PyLong_FromLongLong(m.shape[i])))
            Py_CLEAR(shape);
    if (!shape)
        return NULL;
    return Py_BuildValue(
        "{s:N,s:s,s:I,s:I,s:N,s:L,s:L,s:L,s:N,s:I,s:N,s:f,s:N,s:N,s:z}", "name",
        PyUnicode_DecodeUTF8(m.name, (Py_ssize_t)strlen(m.name), "replace"), "type", m.type, "content", m.content, "format", m.format,
        "shape", shape, "rows", (long long)m.rows, "columns", (long long)m.columns, "row_bytes",
        (long long)m.row_bytes, "in_network", PyBool_FromLong((long)m.in_network), "activations",
        m.activations, "relu", PyBool_FromLong((long)m.relu), "threshold", m.threshold, "has_scale",
        PyBool_FromLong((long)m.has_scale), "has_bias", PyBool_FromLong((long)m.has_bias), "fault",
        m.fault);
}

/* Arguments (file, index). Returns the numbers of codes: (minus, zero, plus, invalid). */
PyObject *file_count(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule;
    long long index;
    collet_ternary_file *file;
    collet_ternary_counts c = {.struct_size = sizeof c};
    collet_error err;
    collet_context *context = bound->context();
    if (!context || !PyArg_ParseTuple(arguments, "OL", &capsule, &index) ||
        !(file = file_get(capsule)))
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status =
        collet_ternary_file_count(context, file, &c, (size_t)index, &bound_monitor, &err);
    bound->back(state);
    if (status != COLLET_OK)
        return bound_raise(status, &err);
    return Py_BuildValue("LLLL", (long long)c.minus, (long long)c.zero, (long long)c.plus,
                         (long long)c.invalid);
}

/* Arguments (file, index, (mode, threshold) or None). Returns weights, and a bias or None. */
PyObject *file_load(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule, *pair, *made;
    long long index;
    collet_ternary_file *file;
    collet_ternary_quantize_params params;
    const collet_ternary_quantize_params *quantize;
    collet_ternary_weights *weights = NULL;
    collet_array *bias = NULL;
    bound_watch watch;
    collet_error err;
    collet_context *context = bound->context();
    if (!context || !PyArg_ParseTuple(arguments, "OLO", &capsule, &index, &pair) ||
        !(file = file_get(capsule)))
        return NULL;
    quantize = quantize_take(pair, &params);
    if (!quantize && PyErr_Occurred())
        return NULL;
    PyThreadState *state = bound->leave();
    bound_watch_begin(&watch);
    collet_status status = collet_ternary_file_load(context, file, &weights, &bias, (size_t)index,
                                                    quantize, &watch.monitor, &err);
    bound->back(state);
    if (status != COLLET_OK)
        return bound_raise(status, &err);
    if (bound_watch_end(&watch)) {
        collet_ternary_weights_destroy(weights);
        collet_array_destroy(bias);
        return NULL;
    }
    made = weights_new(weights);
    return Py_BuildValue("NN", made, bias ? bound->array_new(bias) : Py_NewRef(Py_None));
}

/* Arguments (file, activations, threshold). */
PyObject *network_load(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *capsule;
    unsigned activations;
    float threshold;
    collet_ternary_file *file;
    collet_ternary_network *network = NULL;
    collet_error err;
    collet_context *context = bound->context();
    if (!context || !PyArg_ParseTuple(arguments, "OIf", &capsule, &activations, &threshold) ||
        !(file = file_get(capsule)))
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = collet_ternary_network_load(context, &network, file, activations,
                                                       threshold, &bound_monitor, &err);
    bound->back(state);
    return status == COLLET_OK ? network_new(network) : bound_raise(status, &err);
}

/* Writes the file and then gives it its name. Without the GIL. */
static collet_status write_layers(collet_context *context, const char *path, const layer_list *list,
                                  const char *const *names, collet_error *err)
{
    collet_ternary_output *output = NULL;
    collet_status status = collet_ternary_layers_write(context, &output, path, list->layers, names,
                                                       list->count, &bound_monitor, err);
    if (status == COLLET_OK)
        status = collet_ternary_output_publish(output, 1, err);
    collet_ternary_output_destroy(output);
    return status;
}

/* Arguments (path, layers, list of names or None). */
PyObject *file_write(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *path = NULL, *sequence, *texts;
    layer_list list;
    const char **names;
    collet_error err;
    collet_status status = COLLET_OK;
    collet_context *context = bound->context();
    if (!context || !PyArg_ParseTuple(arguments, "O&OO!", PyUnicode_FSConverter, &path, &sequence,
                                      &PyList_Type, &texts))
        return NULL;
    int failed = layers_take(&list, sequence);
    names = calloc((size_t)list.count + 1, sizeof *names);
    if (!failed && !names)
        PyErr_NoMemory();
    for (uint32_t i = 0; !failed && names && i < list.count; i++) {
        PyObject *name = PyList_GetItem(texts, i);
        if (!name || (name != Py_None && !(names[i] = PyUnicode_AsUTF8AndSize(name, NULL))))
            failed = -1;
    }
    if (!failed && names) {
        PyThreadState *state = bound->leave();
        status = write_layers(context, PyBytes_AsString(path), &list, names, &err);
        bound->back(state);
        if (status != COLLET_OK)
            bound_raise(status, &err);
    }
    free(names);
    layers_free(&list);
    Py_DECREF(path);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}
