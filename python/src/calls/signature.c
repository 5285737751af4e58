/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/gradient/test_replay.py */
#include "signature.h"

#include <string.h>

#include "src/array/array.h"
#include "src/base/runtime.h"

#define ROOM 32768 /* bytes of a key: some thousand Arrays */

typedef struct writer {
    PyObject *names; /* keys of dicts, and texts */
    PyObject *values, *converted;
    size_t size;
    unsigned char bytes[ROOM];
} writer;

/* 0; 1: there is no room. */
static int put(writer *w, const void *bytes, size_t size)
{
    if (size > ROOM - w->size)
        return 1;
    memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
    return 0;
}

static int put_node(writer *w, char code, Py_ssize_t count)
{
    return put(w, &code, 1) || put(w, &count, sizeof count);
}

static int put_leaf(writer *w, char code, PyObject *leaf)
{
    return PyList_Append(w->values, leaf) ? -1 : put(w, &code, 1);
}

static int put_array(writer *w, PyObject *array)
{
    collet_array_spec spec;
    if (array_describe(array, &spec))
        return -1;
    const int32_t what[2] = {(int32_t)spec.dtype, spec.ndim};
    int failed = put_leaf(w, 'A', array);
    return failed ? failed
                  : put(w, what, sizeof what) ||
                        put(w, spec.shape, (size_t)spec.ndim * sizeof *spec.shape);
}

static int put_other(writer *w, PyObject *leaf)
{
    PyObject *made = PyObject_CallFunctionObjArgs(w->converted, leaf, NULL);
    int failed = !made ? -1 : array_check(made) ? put_array(w, made) : 1;
    Py_XDECREF(made);
    return failed;
}

static int walk(writer *w, PyObject *tree);

static int walk_sequence(writer *w, PyObject *tree, char code)
{
    int failed = put_node(w, code, PySequence_Size(tree));
    for (Py_ssize_t i = 0; !failed && i < PySequence_Size(tree); i++) {
        PyObject *child = PySequence_GetItem(tree, i);
        failed = child ? walk(w, child) : -1;
        Py_XDECREF(child);
    }
    return failed;
}

/* Adds the type and the text of a key too, because different keys may be equal: 1, 1.0 and True, or 0.0 and -0.0. */
static int put_key(writer *w, PyObject *key)
{
    if (PyUnicode_CheckExact(key))
        return PyList_Append(w->names, key);
    PyObject *text = PyObject_Repr(key);
    PyObject *whole = text ? PyTuple_Pack(3, (PyObject *)Py_TYPE(key), text, key) : NULL;
    int failed = whole ? PyList_Append(w->names, whole) : -1;
    Py_XDECREF(text);
    Py_XDECREF(whole);
    return failed;
}

static int walk_dict(writer *w, PyObject *tree)
{
    PyObject *items = PyDict_Size(tree) ? PyDict_Items(tree) : NULL;
    int failed = PyErr_Occurred() ? -1 : put_node(w, 'D', PyDict_Size(tree));
    for (Py_ssize_t i = 0; !failed && items && i < PyList_Size(items); i++) {
        PyObject *item = PyList_GetItem(items, i);
        failed = put_key(w, PyTuple_GetItem(item, 0)) ? -1 : walk(w, PyTuple_GetItem(item, 1));
    }
    Py_XDECREF(items);
    return failed;
}

/* The code of a leaf that is no Array; 0: another object. */
static char code_of(PyObject *leaf)
{
    return PyFloat_CheckExact(leaf)     ? 'f'
           : PyBool_Check(leaf)         ? 'b'
           : PyLong_CheckExact(leaf)    ? 'i'
           : PyComplex_CheckExact(leaf) ? 'c'
           : PyUnicode_CheckExact(leaf) ? 's'
           : PyBytes_CheckExact(leaf)   ? 'y'
                                        : 0;
}

/* 0; 1: the tree has no signature; -1: an exception. */
static int walk(writer *w, PyObject *tree)
{
    if (array_check(tree))
        return put_array(w, tree);
    if (tree == Py_None)
        return put_node(w, 'N', 0);
    int inner = PyTuple_CheckExact(tree) ? 'T' : PyList_CheckExact(tree) ? 'L' : 0;
    char code = inner ? 0 : code_of(tree);
    if (code)
        return (code == 's' || code == 'y') && PyList_Append(w->names, tree)
                   ? -1
                   : put_leaf(w, code, tree);
    if (!inner && !PyDict_CheckExact(tree))
        return put_other(w, tree);
    if (Py_EnterRecursiveCall(" in the arguments of a recorded function"))
        return -1;
    int failed = inner ? walk_sequence(w, tree, (char)inner) : walk_dict(w, tree);
    Py_LeaveRecursiveCall();
    return failed;
}

PyObject *signature_of(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *tree, *key = NULL;
    writer w;
    w.size = 0;
    if (!PyArg_ParseTuple(arguments, "OO!O", &tree, &PyList_Type, &w.values, &w.converted) ||
        !(w.names = PyList_New(0)))
        return NULL;
    int failed = put_node(&w, 'G', (Py_ssize_t)runtime_generation()); /* recordings belong to one runtime */
    uint32_t choice = runtime_choice(); /* and are made for one choice of backend */
    failed = choice ? put_node(&w, 'B', (Py_ssize_t)choice) || failed : -1;
    failed = failed ? failed : walk(&w, tree);
    PyObject *bytes =
        failed ? NULL : PyBytes_FromStringAndSize((const char *)w.bytes, (Py_ssize_t)w.size);
    if (failed > 0)
        key = Py_NewRef(Py_None);
    else if (bytes && !PyList_Size(w.names))
        key = Py_NewRef(bytes);
    else if (bytes) {
        PyObject *names = PyList_AsTuple(w.names);
        key = names ? PyTuple_Pack(2, bytes, names) : NULL;
        Py_XDECREF(names);
    }
    Py_XDECREF(bytes);
    Py_DECREF(w.names);
    return key;
}
