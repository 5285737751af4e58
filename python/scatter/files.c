/* SPDX-License-Identifier: Apache-2.0 */
/* Files of CyRSoXS.
 * Tests: python/tests/test_scatter.py */
#include "bound.h"

#include <stdlib.h>

#define ARRAYS 4 /* maximum number of arrays of a material */

/* Names of a material's arrays, in the order in which collet_scatter_options.layers fills them. */
static const char *const names[][ARRAYS] = {
    [COLLET_SCATTER_ISOTROPIC] = {"volume"},
    [COLLET_SCATTER_EULER] = {"volume", "alignment", "theta", "psi"},
    [COLLET_SCATTER_VECTOR] = {"direction", "unaligned"},
};

/* A Python list of `count` items, each made by `item`; NULL with an exception. */
static PyObject *list_of(int64_t count, PyObject *(*item)(const void *user, int64_t i),
                         const void *user)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *one = item(user, i);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one)) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *make_arrays(const collet_scatter_options *o,
                             const collet_scatter_material *m, void **data)
{
    PyObject *arrays = PyDict_New();
    for (int i = 0; arrays && i < ARRAYS && names[m->kind][i]; i++) {
        int vectors = m->kind == COLLET_SCATTER_VECTOR && i == 0;
        const int64_t shape[] = {o->shape[0], o->shape[1], o->shape[2], 3};
        PyObject *array = bound->numpy_new(m->dtype, 3 + vectors, shape, &data[i]);
        if (!array || PyDict_SetItemString(arrays, names[m->kind][i], array))
            Py_CLEAR(arrays);
        Py_XDECREF(array);
    }
    return arrays;
}

/* Reads all layers of material `i`. Returns a dict from names to arrays. */
static PyObject *material_item(const void *user, int64_t i)
{
    const collet_scatter_options *o = user;
    void *data[ARRAYS] = {NULL};
    collet_error err;
    PyObject *arrays = make_arrays(o, &o->materials[i], data);
    if (!arrays)
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = o->layers(o->layers_user, data, i, 0, o->shape[0], &err);
    bound->back(state);
    if (status == COLLET_OK)
        return arrays;
    Py_DECREF(arrays);
    return bound->raise(status, err.text);
}

static PyObject *energy_item(const void *user, int64_t i)
{
    return PyFloat_FromDouble(((const collet_scatter_options *)user)->energies[i]);
}

/* The optical constants number `i`: of one energy and one material. */
static PyObject *constants_item(const void *user, int64_t i)
{
    const collet_scatter_constants *c = &((const collet_scatter_options *)user)->constants[i];
    return Py_BuildValue("dddd", c->delta_parallel, c->beta_parallel, c->delta_perpendicular,
                         c->beta_perpendicular);
}

static PyObject *beam_item(const void *user, int64_t i)
{
    const double(*beams)[3] = user;
    return Py_BuildValue("ddd", beams[i][0], beams[i][1], beams[i][2]);
}

static PyObject *warning_item(const void *user, int64_t i)
{
    return PyUnicode_DecodeFSDefault(collet_scatter_input_warning_at(user, (size_t)i));
}

static PyObject *describe(const collet_scatter_input *input)
{
    const collet_scatter_options *o = collet_scatter_input_options(input);
    const char *directory = collet_scatter_input_directory(input);
    const double(*beams)[3];
    int64_t n_beams = collet_scatter_input_beams(input, &beams), warnings = 0;
    PyObject *materials = list_of(o->n_materials, material_item, o);
    if (!materials)
        return NULL;
    while (collet_scatter_input_warning_at(input, (size_t)warnings)) /* with those of voxels */
        warnings++;
    return Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:N,s:(LLL),s:d,s:(ddd),s:(ddd),s:I,s:I,s:I,s:I,s:I,s:N}", "materials",
        materials, "energies", list_of(o->n_energies, energy_item, o), "constants",
        list_of(o->n_energies * o->n_materials, constants_item, o), "beams",
        list_of(n_beams, beam_item, beams), "warnings", list_of(warnings, warning_item, input),
        "shape", (long long)o->shape[0], (long long)o->shape[1], (long long)o->shape[2], "voxel",
        o->voxel, "detector", o->detector[0], o->detector[1], o->detector[2], "angles",
        o->angles[0], o->angles[1], o->angles[2], "nearest", o->nearest, "window", o->window,
        "mask", o->mask, "material", o->material_frame, "attenuation", o->attenuation, "directory",
        PyUnicode_DecodeFSDefault(directory ? directory : ""));
}

/* Arguments (morphology, configuration, wide); wide: read f64. Returns the dict of `describe`. */
PyObject *files_read(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *morphology = NULL, *configuration = NULL, *result;
    collet_scatter_input *input = NULL;
    collet_error err;
    int wide;
    if (!PyArg_ParseTuple(arguments, "O&O&p", PyUnicode_FSConverter, &morphology,
                          PyUnicode_FSConverter, &configuration, &wide))
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = collet_scatter_read(&input, PyBytes_AsString(morphology),
                                               PyBytes_AsString(configuration),
                                               wide ? COLLET_F64 : COLLET_F32, &err);
    bound->back(state);
    Py_DECREF(morphology);
    Py_DECREF(configuration);
    if (status != COLLET_OK)
        return bound->raise(status, err.text);
    result = describe(input);
    collet_scatter_input_destroy(input);
    return result;
}

/* ---- Patterns ----------------------------------------------------------------------------- */

typedef struct patterns {
    collet_context *context;
    double (*beams)[3];
    collet_scatter_pattern *patterns;
    bound_memory *held;
    Py_ssize_t count;
} patterns;

static void drop_patterns(patterns *p)
{
    for (Py_ssize_t i = 0; p->held && i < p->count; i++)
        bound_release(&p->held[i], p->context);
    free(p->beams);
    free(p->patterns);
    free(p->held);
}

/* Takes a list [((x, y, z), values), ...] with the direction of a beam and its f32 values, Y x
 * X. */
static int take_patterns(patterns *p, PyObject *list, double energy, long long y, long long x)
{
    p->count = PyList_Size(list);
    p->context = bound->context();
    p->beams = calloc((size_t)p->count + 1, sizeof *p->beams);
    p->patterns = calloc((size_t)p->count + 1, sizeof *p->patterns);
    p->held = calloc((size_t)p->count + 1, sizeof *p->held);
    if (!p->context)
        return -1;
    if (!p->beams || !p->patterns || !p->held) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < p->count; i++) {
        PyObject *values;
        double *beam = p->beams[i];
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "(ddd)O", &beam[0], &beam[1], &beam[2],
                              &values) ||
            bound_acquire(&p->held[i], p->context, values, COLLET_F32, y * x, "values"))
            return -1;
        p->patterns[i] = (collet_scatter_pattern){.struct_size = sizeof *p->patterns,
                                                  .dtype = COLLET_F32,
                                                  .energy = energy,
                                                  .y = y,
                                                  .x = x,
                                                  .values = p->held[i].data};
    }
    return 0;
}

/* Arguments (directory, energy, (Y, X), [((x, y, z), values), ...]). */
PyObject *files_write(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *directory = NULL, *list;
    patterns p = {0};
    double energy;
    long long y, x;
    collet_error err;
    collet_status status;
    if (!PyArg_ParseTuple(arguments, "O&d(LL)O!", PyUnicode_FSConverter, &directory, &energy, &y,
                          &x, &PyList_Type, &list))
        return NULL;
    int failed = take_patterns(&p, list, energy, y, x);
    if (!failed) {
        PyThreadState *state = bound->leave();
        status = collet_scatter_write(PyBytes_AsString(directory), energy, p.count,
                                      (const double(*)[3])p.beams, p.patterns, "", &err);
        bound->back(state);
        if (status != COLLET_OK)
            bound->raise(status, err.text);
        failed = status != COLLET_OK;
    }
    drop_patterns(&p);
    Py_DECREF(directory);
    return failed ? NULL : Py_NewRef(Py_None);
}

/* Arguments (directory, energy, beam, (Y, X)). Returns an array of f32 values. */
PyObject *files_read_pattern(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *directory = NULL;
    double energy;
    long long beam, y, x;
    collet_error err;
    void *data;
    if (!PyArg_ParseTuple(arguments, "O&dL(LL)", PyUnicode_FSConverter, &directory, &energy, &beam,
                          &y, &x))
        return NULL;
    PyObject *values = bound->numpy_new(COLLET_F32, 2, (const int64_t[]){y, x}, &data);
    if (values) {
        PyThreadState *state = bound->leave();
        collet_status status = collet_scatter_read_pattern(data, PyBytes_AsString(directory),
                                                           energy, beam, y, x, &err);
        bound->back(state);
        if (status != COLLET_OK) {
            Py_CLEAR(values);
            bound->raise(status, err.text);
        }
    }
    Py_DECREF(directory);
    return values;
}
