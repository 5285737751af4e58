/* SPDX-License-Identifier: Apache-2.0 */
/* The type Scattering: a collet_scatter with its own contexts, so that any thread may work on it, one at a time.
 * Tests: python/tests/test_scatter.py */
#include "bound.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ARRAYS 6 /* number of a material's arrays: volume, alignment, theta, psi, direction, unaligned */

static const char *const array_names[ARRAYS] = {"volume", "alignment", "theta",
                                                "psi",    "direction", "unaligned"};

typedef struct scattering {
    PyObject ob_base;
    collet_context **contexts; /* one for each choice */
    Py_ssize_t n_contexts;
    collet_devices devices; /* the contexts, for the engine */
    collet_scatter *work; /* NULL until the first use */
    collet_scatter_options options;
    collet_scatter_material *materials;
    collet_array **arrays; /* the materials' arrays that are Arrays: ARRAYS for each material */
    bound_memory *held; /* the memory of energies, constants and the arrays of the materials */
    Py_ssize_t n_held;
    int busy; /* 1: a thread is in a call */
    atomic_int cancelled;
    _Atomic double fraction;
} scattering;

static int32_t note_progress(void *user, const collet_progress *progress)
{
    scattering *self = user;
    atomic_store(&self->fraction, progress->fraction);
    return atomic_load(&self->cancelled);
}

/* ---- Making ------------------------------------------------------------------------------- */

static int make_context(scattering *self, PyObject *name)
{
    collet_error err;
    collet_context **context = &self->contexts[self->n_contexts];
    collet_runtime *runtime = bound->runtime();
    const char *choice = runtime ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!choice)
        return -1;
    collet_status status = collet_context_create(runtime, context, &err);
    if (status != COLLET_OK) {
        bound->raise(status, err.text);
        return -1;
    }
    self->n_contexts++;
    if (collet_set_backend(*context, choice) == COLLET_OK)
        return 0;
    bound->raise_last(*context);
    return -1;
}

static int make_contexts(scattering *self, PyObject *choices)
{
    Py_ssize_t count = PyList_Size(choices);
    self->contexts = count > 0 ? calloc((size_t)count, sizeof *self->contexts) : NULL;
    if (!self->contexts) {
        bound->raise(count ? COLLET_NO_MEMORY : COLLET_INVALID,
                     count ? NULL : "no device is named");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (make_context(self, PyList_GetItem(choices, i)))
            return -1;
    self->devices = (collet_devices){
        .struct_size = sizeof self->devices, .n_contexts = count, .contexts = self->contexts};
    self->options.devices = count > 1 ? &self->devices : NULL;
    return 0;
}

static const void *hold(scattering *self, PyObject *object, collet_dtype dtype, int64_t count,
                        const char *name)
{
    bound_memory *memory = &self->held[self->n_held];
    if (bound_acquire(memory, self->contexts[0], object, dtype, count, name))
        return NULL;
    self->n_held++;
    return memory->data;
}

/* Takes the arrays of a material whose arrays are collet.Arrays. */
static int hold_arrays(scattering *self, collet_scatter_material *m, collet_array **arrays, PyObject *const *objects)
{
    const int64_t *n = self->options.shape;
    int count = 0;
    for (int i = 0; i < ARRAYS; i++) {
        bound_memory *memory = &self->held[self->n_held];
        if (objects[i] == Py_None)
            continue;
        if (bound_view(memory, objects[i], m->dtype, n[0] * n[1] * n[2] * (i == 4 ? 3 : 1), array_names[i]))
            return -1;
        self->n_held++;
        arrays[count++] = memory->array;
    }
    m->kind = count == 4 ? COLLET_SCATTER_EULER : count == 2 ? COLLET_SCATTER_VECTOR : COLLET_SCATTER_ISOTROPIC;
    m->arrays = (const collet_array *const *)arrays;
    return 0;
}

/* Takes a tuple (wide, six arrays or None); wide: the arrays are f64. */
static int hold_material(scattering *self, collet_scatter_material *m, PyObject *tuple)
{
    const void **places[ARRAYS] = {&m->volume, &m->alignment, &m->theta,
                                   &m->psi,    &m->direction, &m->unaligned};
    const int64_t *n = self->options.shape;
    PyObject *objects[ARRAYS];
    int wide;
    if (!PyArg_ParseTuple(tuple, "pOOOOOO", &wide, &objects[0], &objects[1], &objects[2],
                          &objects[3], &objects[4], &objects[5]))
        return -1;
    m->struct_size = sizeof *m;
    m->dtype = wide ? COLLET_F64 : COLLET_F32;
    if (bound->array_check(objects[0]) || bound->array_check(objects[4]))
        return hold_arrays(self, m, self->arrays + ARRAYS * (m - self->materials), objects);
    for (int i = 0; i < ARRAYS; i++) {
        if (objects[i] == Py_None)
            continue;
        *places[i] =
            hold(self, objects[i], m->dtype, n[0] * n[1] * n[2] * (i == 4 ? 3 : 1), array_names[i]);
        if (!*places[i])
            return -1;
    }
    return 0;
}

static int hold_all(scattering *self, PyObject *list, PyObject *energies, PyObject *constants)
{
    collet_scatter_options *o = &self->options;
    Py_ssize_t materials = PyList_Size(list);
    Py_ssize_t count = materials < 0 ? -1 : PyObject_Size(energies);
    if (count < 0)
        return -1;
    self->materials = calloc((size_t)materials + 1, sizeof *self->materials);
    self->held = calloc((size_t)materials * ARRAYS + 2, sizeof *self->held);
    self->arrays = calloc((size_t)materials * ARRAYS + 1, sizeof *self->arrays);
    if (!self->materials || !self->held || !self->arrays) {
        PyErr_NoMemory();
        return -1;
    }
    o->materials = self->materials;
    o->n_materials = materials;
    o->n_energies = count;
    o->energies = hold(self, energies, COLLET_F64, count, "energies");
    if (!o->energies)
        return -1;
    o->constants = hold(self, constants, COLLET_F64, count * materials * 4, "constants");
    for (Py_ssize_t i = 0; o->constants && i < materials; i++)
        if (hold_material(self, &self->materials[i], PyList_GetItem(list, i)))
            return -1;
    return o->constants ? 0 : -1;
}

/* Takes the arguments ([choice, ...], [material, ...], energies, constants [energies, materials, 4],
 * (Z, Y, X), voxel, direction, detector, angles, energy range, (direct, wide, grid, nearest, window, neighbours,
 * mask, material, attenuation, collapse, omit_zero), memory). */
static int take_arguments(scattering *self, PyObject *arguments)
{
    collet_scatter_options *o = &self->options;
    PyObject *choices, *materials, *energies, *constants;
    long long n[3];
    unsigned long long memory;
    int wide;
    if (!PyArg_ParseTuple(arguments, "O!O!OO(LLL)d(ddd)(ddd)(ddd)(dd)(IpIIIIIIIII)K", &PyList_Type,
                          &choices, &PyList_Type, &materials, &energies, &constants, &n[0], &n[1],
                          &n[2], &o->voxel, &o->direction[0], &o->direction[1], &o->direction[2],
                          &o->detector[0], &o->detector[1], &o->detector[2], &o->angles[0],
                          &o->angles[1], &o->angles[2], &o->energy_range[0], &o->energy_range[1], &o->method, &wide, &o->grid, &o->nearest,
                          &o->window, &o->neighbours, &o->mask, &o->material_frame, &o->attenuation,
                          &o->collapse, &o->omit_zero, &memory))
        return -1;
    o->struct_size = sizeof *o;
    o->dtype = wide ? COLLET_F64 : COLLET_F32;
    o->memory = memory;
    o->progress = note_progress;
    o->progress_user = self;
    for (int i = 0; i < 3; i++)
        o->shape[i] = n[i];
    return make_contexts(self, choices) || hold_all(self, materials, energies, constants) ? -1 : 0;
}

static PyObject *scattering_new(PyTypeObject *type, PyObject *arguments,
                                PyObject *Py_UNUSED(keywords))
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    scattering *self = (scattering *)allocate(type, 0);
    if (self && take_arguments(self, arguments))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void scattering_dealloc(PyObject *object)
{
    scattering *self = (scattering *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    PyObject *raised[3];
    PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
    PyThreadState *state = bound->leave();
    collet_scatter_destroy(self->work);
    for (Py_ssize_t i = 0; i < self->n_held; i++)
        bound_release(&self->held[i], self->contexts[0]);
    for (Py_ssize_t i = 0; i < self->n_contexts; i++)
        collet_context_destroy(self->contexts[i]);
    bound->back(state);
    free(self->contexts);
    free(self->held);
    free(self->arrays);
    free(self->materials);
    PyErr_Restore(raised[0], raised[1], raised[2]);
    release(object);
    Py_DECREF(type);
}

/* ---- Work --------------------------------------------------------------------------------- */

static int enter(scattering *self)
{
    if (!self->busy)
        return self->busy = 1;
    bound->raise(COLLET_BUSY, "another thread computes patterns of this scattering");
    return 0;
}

/* At the first use makes self->work; this checks and plans the work. Called without the GIL. */
static collet_status make_ready(scattering *self, collet_error *err)
{
    return self->work
               ? COLLET_OK
               : collet_scatter_create(self->contexts[0], &self->work, &self->options, err);
}

static PyObject *scattering_plan(PyObject *object, PyObject *Py_UNUSED(unused))
{
    scattering *self = (scattering *)object;
    collet_scatter_plan plan = {.struct_size = sizeof plan};
    collet_error err;
    if (!enter(self))
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = make_ready(self, &err);
    if (status == COLLET_OK)
        collet_scatter_get_plan(self->work, &plan);
    bound->back(state);
    self->busy = 0;
    if (status != COLLET_OK)
        return bound->raise(status, err.text);
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:K}", "passes", (long long)plan.passes, "fields",
                         (long long)plan.fields, "transforms", (long long)plan.transforms, "block",
                         (long long)plan.block, "angles", (long long)plan.angles, "bytes",
                         (unsigned long long)plan.bytes);
}

/* collet_scatter_compare, before the first pattern: (energy, Y, X, low, high, total). */
static PyObject *scattering_compare(PyObject *object, PyObject *Py_UNUSED(unused))
{
    scattering *self = (scattering *)object;
    collet_scatter_comparison c = {.struct_size = sizeof c};
    collet_error err;
    if (!enter(self))
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = collet_scatter_compare(self->contexts[0], &c, &self->options, &err);
    bound->back(state);
    self->busy = 0;
    if (status != COLLET_OK)
        return bound->raise(status, err.text);
    return Py_BuildValue("(dLLddd)", c.energy, (long long)c.y, (long long)c.x, c.low, c.high, c.total);
}

/* The next pattern [Y, X], or None after the last. */
static PyObject *scattering_next(PyObject *object, PyObject *Py_UNUSED(unused))
{
    scattering *self = (scattering *)object;
    const collet_scatter_options *o = &self->options;
    const collet_scatter_pattern *pattern = NULL;
    collet_error err;
    void *data = NULL;
    PyObject *values = bound->numpy_new(o->dtype, 2, o->shape + 1, &data);
    if (!values || !enter(self)) {
        Py_XDECREF(values);
        return NULL;
    }
    PyThreadState *state = bound->leave();
    collet_status status = make_ready(self, &err);
    if (status == COLLET_OK)
        status = collet_scatter_next(self->work, &pattern, &err);
    if (pattern)
        memcpy(data, pattern->values,
               (size_t)(pattern->y * pattern->x) * (o->dtype == COLLET_F64 ? 8 : 4));
    bound->back(state);
    self->busy = 0;
    if (status == COLLET_OK && pattern)
        return values;
    Py_DECREF(values);
    return status == COLLET_OK ? Py_NewRef(Py_None) : bound->raise(status, err.text);
}

/* The next pattern, an Array [Y, X] on the device, or None after the last. */
static PyObject *scattering_next_array(PyObject *object, PyObject *Py_UNUSED(unused))
{
    scattering *self = (scattering *)object;
    collet_array *array = NULL;
    collet_error err;
    if (!enter(self))
        return NULL;
    PyThreadState *state = bound->leave();
    collet_status status = make_ready(self, &err);
    if (status == COLLET_OK)
        status = collet_scatter_next_array(self->work, &array, &err);
    bound->back(state);
    self->busy = 0;
    if (status != COLLET_OK)
        return bound->raise(status, err.text);
    return array ? bound->array_new(array) : Py_NewRef(Py_None);
}

/* A tuple of six items: a new array for the gradient of each array of the material whose name is in
 * `wanted`, else None. */
static PyObject *new_derivatives(const scattering *self, int64_t m, PyObject *wanted,
                                 collet_scatter_derivatives *to)
{
    const collet_scatter_material *from = &self->materials[m];
    int euler = from->arrays && from->kind == COLLET_SCATTER_EULER, vectors = from->arrays && from->kind == COLLET_SCATTER_VECTOR;
    const int given[ARRAYS] = {from->volume || (from->arrays && !vectors), from->alignment || euler, from->theta || euler,
                               from->psi || euler, from->direction || vectors, from->unaligned || vectors};
    void **places[ARRAYS] = {&to->volume, &to->alignment, &to->theta,
                             &to->psi,    &to->direction, &to->unaligned};
    const int64_t *n = self->options.shape;
    const int64_t shape[] = {n[0], n[1], n[2], 3};
    PyObject *tuple = PyTuple_New(ARRAYS);
    to->struct_size = sizeof *to;
    for (Py_ssize_t i = 0; tuple && i < ARRAYS; i++) {
        PyObject *name = PyUnicode_FromString(array_names[i]);
        int wants = name ? PySequence_Contains(wanted, name) : -1;
        Py_XDECREF(name);
        PyObject *array = NULL;
        if (wants >= 0)
            array = wants && given[i]
                        ? bound->numpy_new(from->dtype, i == 4 ? 4 : 3, shape, places[i])
                        : Py_NewRef(Py_None);
        if (!array)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, i, array);
    }
    return tuple;
}

/* A list of the tuples of new_derivatives, one for each material. */
static PyObject *new_gradients(const scattering *self, PyObject *wanted,
                               collet_scatter_derivatives *to)
{
    int64_t materials = self->options.n_materials;
    PyObject *list = PyList_New((Py_ssize_t)materials);
    for (int64_t m = 0; list && m < materials; m++) {
        PyObject *tuple = new_derivatives(self, m, wanted, &to[m]);
        if (!tuple)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)m, tuple);
    }
    return list;
}

/* Arguments (cotangents [energies, Y, X], names of arrays). Returns the gradients (constants [energies, materials, 4],
 * a list with a tuple of six arrays or None for each material). */
static PyObject *scattering_differentiate(PyObject *object, PyObject *arguments)
{
    scattering *self = (scattering *)object;
    const collet_scatter_options *o = &self->options;
    const int64_t shape[] = {o->n_energies, o->n_materials, 4};
    collet_scatter_gradients out = {.struct_size = sizeof out};
    collet_scatter_derivatives *to;
    PyObject *cotangents, *wanted, *constants = NULL, *materials = NULL;
    bound_memory memory = {0};
    collet_error err;
    if (!PyArg_ParseTuple(arguments, "OO!", &cotangents, &PyTuple_Type, &wanted))
        return NULL;
    to = calloc((size_t)o->n_materials + 1, sizeof *to);
    if (!to)
        return PyErr_NoMemory();
    if (!enter(self)) {
        free(to);
        return NULL;
    }
    int failed = bound_acquire(&memory, self->contexts[0], cotangents, o->dtype,
                               o->n_energies * o->shape[1] * o->shape[2], "cotangents");
    if (!failed)
        constants = bound->numpy_new(COLLET_F64, 3, shape, (void **)&out.constants);
    if (constants)
        materials = new_gradients(self, wanted, to);
    collet_status status = COLLET_OK;
    if (materials) {
        for (int64_t i = 0; i < o->n_materials; i++)
            if (to[i].volume || to[i].alignment || to[i].theta || to[i].psi || to[i].direction ||
                to[i].unaligned)
                out.materials = to;
        PyThreadState *state = bound->leave();
        status = make_ready(self, &err);
        if (status == COLLET_OK)
            status = collet_scatter_differentiate(self->work, memory.data, &out, &err);
        bound->back(state);
    }
    if (!failed)
        bound_release(&memory, self->contexts[0]);
    self->busy = 0;
    free(to);
    if (materials && status == COLLET_OK)
        return Py_BuildValue("NN", constants, materials);
    Py_XDECREF(constants);
    Py_XDECREF(materials);
    return status == COLLET_OK ? NULL : bound->raise(status, err.text);
}

/* Sets whether the work stops at its next step. */
static PyObject *scattering_cancel(PyObject *object, PyObject *flag)
{
    int cancelled = PyObject_IsTrue(flag);
    if (cancelled < 0)
        return NULL;
    atomic_store(&((scattering *)object)->cancelled, cancelled);
    Py_RETURN_NONE;
}

/* The fraction of the work that is done, from 0 to 1. */
static PyObject *scattering_progress(PyObject *object, PyObject *Py_UNUSED(unused))
{
    scattering *self = (scattering *)object;
    return PyFloat_FromDouble(atomic_load(&self->fraction));
}

static PyObject *scattering_backend(PyObject *object, PyObject *Py_UNUSED(unused))
{
    return PyUnicode_FromString(collet_last_backend(((scattering *)object)->contexts[0]));
}

/* A list [(device, energies, seconds, error or None)] of the devices that share the work. */
static PyObject *scattering_shares(PyObject *object, PyObject *Py_UNUSED(unused))
{
    const scattering *self = (scattering *)object;
    collet_device_share share = {.struct_size = sizeof share};
    PyObject *list = PyList_New(0);
    for (size_t i = 0;
         list && self->work && collet_scatter_share_at(self->work, &share, i, NULL) == COLLET_OK;
         i++) {
        PyObject *tuple = Py_BuildValue("(sLdz)", share.device, (long long)share.done,
                                        share.seconds, share.error);
        if (!tuple || PyList_Append(list, tuple))
            Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    return list;
}

int scattering_add_type(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"plan", scattering_plan, METH_NOARGS, NULL},
        {"compare", scattering_compare, METH_NOARGS, NULL},
        {"next", scattering_next, METH_NOARGS, NULL},
        {"next_array", scattering_next_array, METH_NOARGS, NULL},
        {"differentiate", scattering_differentiate, METH_VARARGS, NULL},
        {"cancel", scattering_cancel, METH_O, NULL},
        {"progress", scattering_progress, METH_NOARGS, NULL},
        {"backend", scattering_backend, METH_NOARGS, NULL},
        {"shares", scattering_shares, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    PyType_Slot slots[] = {{Py_tp_new, scattering_new},
                           {Py_tp_dealloc, scattering_dealloc},
                           {Py_tp_methods, methods},
                           {Py_tp_doc, "The engine's object behind collet.scatter.Patterns."},
                           {0, NULL}};
    PyType_Spec spec = {.name = "collet._scatter.Scattering",
                        .basicsize = sizeof(scattering),
                        .flags = Py_TPFLAGS_DEFAULT,
                        .slots = slots};
    PyObject *type = PyType_FromSpec(&spec);
    int failed = type ? PyModule_AddObjectRef(module, "Scattering", type) : -1;
    Py_XDECREF(type);
    return failed;
}
