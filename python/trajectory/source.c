/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/md/test_md_extract.py */
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* Calls the Python function `read`. The thread has a Python state but not the GIL: an exception
 * stays in the state until the engine's call returns to Python. */
static collet_status read_frame(void *user, collet_trajectory_frame *frame, int64_t index,
                                collet_error *err)
{
    source *s = user;
    if (atomic_load(&s->cancelled))
        return collet_fail(err, COLLET_CANCELLED, "the work was cancelled");
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *time = PyObject_CallFunction(s->read, "LOOOO", (long long)index, s->arrays[0],
                                           s->arrays[1], s->arrays[2], s->arrays[3]);
    int failed;
    frame->time = time ? PyFloat_AsDouble(time) : 0;
    frame->positions = s->data[0];
    frame->velocities = s->data[1];
    frame->forces = s->data[2];
    frame->box = s->data[3];
    Py_XDECREF(time);
    failed = PyErr_Occurred() != NULL;
    PyGILState_Release(state);
    return failed ? collet_fail(err, COLLET_FAILED, "reading it raised an exception") : COLLET_OK;
}

static collet_status choose_atoms(void *user, uint8_t *chosen, int64_t index, collet_error *err)
{
    source *s = user;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *marks = PyObject_CallFunction(s->choose, "L", (long long)index);
    char *bytes = NULL;
    Py_ssize_t n = 0;
    int failed = !marks || PyBytes_AsStringAndSize(marks, &bytes, &n) || n != s->given.n_atoms;
    if (!failed)
        memcpy(chosen, bytes, (size_t)n);
    Py_XDECREF(marks);
    PyGILState_Release(state);
    return failed ? collet_fail(err, COLLET_FAILED, "choosing its atoms raised an exception")
                  : COLLET_OK;
}

/* Returns the addresses of the texts in a list, in memory from malloc. */
static const char **texts_of(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    const char **texts = n < 0 ? NULL : malloc(((size_t)n + 1) * sizeof *texts);
    if (!texts && n >= 0)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; texts && i < n; i++) {
        texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (!texts[i]) {
            free(texts);
            return NULL;
        }
    }
    return texts;
}

static int32_t *ids_of(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    int32_t *ids = n < 0 ? NULL : malloc(((size_t)n + 1) * sizeof *ids);
    if (!ids && n >= 0)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; ids && i < n; i++)
        ids[i] = (int32_t)PyLong_AsLong(PyList_GetItem(list, i));
    if (ids && PyErr_Occurred()) {
        free(ids);
        return NULL;
    }
    return ids;
}

static int64_t *integers_of(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    int64_t *numbers = n < 0 ? NULL : malloc(((size_t)n + 1) * sizeof *numbers);
    if (!numbers && n >= 0)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; numbers && i < n; i++)
        numbers[i] = PyLong_AsLongLong(PyList_GetItem(list, i));
    if (numbers && PyErr_Occurred()) {
        free(numbers);
        return NULL;
    }
    return numbers;
}

double *source_doubles(PyObject *list, int64_t *count)
{
    Py_ssize_t n = PyList_Size(list);
    double *numbers = n < 0 ? NULL : malloc(((size_t)n + 1) * sizeof *numbers);
    if (!numbers && n >= 0)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; numbers && i < n; i++)
        numbers[i] = PyFloat_AsDouble(PyList_GetItem(list, i));
    if (numbers && PyErr_Occurred()) {
        free(numbers);
        return NULL;
    }
    *count = n;
    return numbers;
}

static int make_arrays(const binding *core, source *s)
{
    const int64_t shape[] = {s->given.n_atoms, 3}, box[] = {3, 3};
    const int present[] = {1, s->given.has_velocities, s->given.has_forces};
    for (int i = 0; i < 3; i++) {
        s->arrays[i] = present[i] ? core->numpy_new(s->given.dtype, 2, shape, &s->data[i])
                                  : Py_NewRef(Py_None);
        if (!s->arrays[i])
            return -1;
    }
    s->arrays[3] = core->numpy_new(COLLET_F64, 2, box, &s->data[3]);
    return s->arrays[3] ? 0 : -1;
}

/* Copies the lists of a source. Returns 0, or -1 with an exception set. */
static int take_lists(source *s, PyObject *ids, PyObject *numbers, PyObject *charges,
                      PyObject *bonds)
{
    int64_t n;
    for (int i = 0; i < SOURCE_TEXTS; i++) {
        if (s->lists[i] != Py_None && !(s->texts[i] = texts_of(s->lists[i])))
            return -1;
    }
    s->given.n_atoms = PyList_Size(s->lists[0]);
    s->given.n_bonds = bonds != Py_None ? PyList_Size(bonds) / 2 : 0;
    if (!(s->residue_ids = ids_of(ids)) ||
        (numbers != Py_None && !(s->residue_numbers = integers_of(numbers))) ||
        (charges != Py_None && !(s->charges = source_doubles(charges, &n))) ||
        (bonds != Py_None && !(s->bonds = integers_of(bonds))))
        return -1;
    s->given.names = s->texts[0];
    s->given.residue_names = s->texts[1];
    s->given.segments = s->texts[2];
    s->given.chains = s->texts[3];
    s->given.residue_ids = s->residue_ids;
    s->given.residue_numbers = s->residue_numbers;
    s->given.charges = s->charges;
    s->given.bonds = s->bonds;
    return 0;
}

source *source_new(const binding *core, PyObject *tuple)
{
    PyObject *ids, *numbers, *charges, *bonds;
    const char *dtype;
    long long n_frames;
    source *s = calloc(1, sizeof *s);
    if (!s)
        return (source *)PyErr_NoMemory();
    s->given.struct_size = sizeof s->given;
    if (!PyArg_ParseTuple(tuple, "ssLOOOOOOOOpppOO", &s->given.name, &dtype, &n_frames,
                          &s->lists[0], &s->lists[1], &s->lists[2], &s->lists[3], &ids, &numbers,
                          &charges, &bonds, &s->given.has_velocities, &s->given.has_forces,
                          &s->given.has_times, &s->read, &s->choose)) {
        free(s);
        return NULL;
    }
    for (int i = 0; i < SOURCE_TEXTS; i++)
        Py_INCREF(s->lists[i]);
    Py_INCREF(s->read);
    Py_INCREF(s->choose);
    s->given.dtype = !strcmp(dtype, "float64") ? COLLET_F64 : COLLET_F32;
    s->given.n_frames = n_frames;
    if (take_lists(s, ids, numbers, charges, bonds) || make_arrays(core, s)) {
        source_free(s);
        return NULL;
    }
    s->given.read = read_frame;
    s->given.choose = s->choose != Py_None ? choose_atoms : NULL;
    s->given.user = s;
    return s;
}

void source_free(source *s)
{
    if (!s)
        return;
    for (int i = 0; i < 4; i++)
        Py_XDECREF(s->arrays[i]);
    for (int i = 0; i < SOURCE_TEXTS; i++) {
        Py_XDECREF(s->lists[i]);
        free(s->texts[i]);
    }
    Py_XDECREF(s->read);
    Py_XDECREF(s->choose);
    free(s->residue_ids);
    free(s->residue_numbers);
    free(s->charges);
    free(s->bonds);
    free(s);
}
