/* SPDX-License-Identifier: Apache-2.0 */
/* The module collet._trajectory: collet/trajectory.h for collet.md.
 * Tests: python/tests/md/test_md_extract.py */
#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct trajectory {
    PyObject_HEAD collet_trajectory *engine;
    collet_context *context;
    source *frames;     /* NULL: the frames are in files */
    PyObject *progress; /* progress(frames, fraction), or None */
    pid_t process;      /* the process that owns the engine's threads */
    int busy;
    atomic_int cancelled;
} trajectory;

static const binding *core;
static PyTypeObject *type;

/* ---- Opening ------------------------------------------------------------------------------ */

static int32_t report(void *user, const collet_progress *p)
{
    trajectory *self = user;
    if (self->progress == Py_None || atomic_load(&self->cancelled))
        return atomic_load(&self->cancelled);
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *done = PyObject_CallFunction(self->progress, "Ld", (long long)p->done, p->fraction);
    int failed = done == NULL;
    Py_XDECREF(done);
    PyGILState_Release(state);
    return failed;
}

/* A new context for the engine, with the backend that the calling thread chose. */
static collet_context *new_context(void)
{
    collet_context *own = NULL, *present = core->context();
    collet_error err;
    if (!present)
        return NULL;
    collet_status status = collet_context_create(collet_context_runtime(present), &own, &err);
    if (status != COLLET_OK)
        return core->raise(status, err.text);
    if (collet_set_backend(own, collet_get_backend(present)) == COLLET_OK)
        return own;
    core->raise_last(own);
    collet_context_destroy(own);
    return NULL;
}

static int open_engine(trajectory *self, collet_trajectory_options *options)
{
    collet_error err = {0};
    self->context = new_context();
    if (!self->context)
        return -1;
    options->context = self->context;
    options->source = self->frames ? &self->frames->given : NULL;
    options->program = "collet.md";
    options->progress = report;
    options->progress_user = self;
    PyThreadState *state = core->leave();
    collet_status status = collet_trajectory_create(&self->engine, options, &err);
    core->back(state);
    if (status != COLLET_OK)
        core->raise(status, err.text);
    return status == COLLET_OK ? 0 : -1;
}

/* A converter for PyArg_ParseTuple: a path from os.fsencode, or NULL for None. */
static int path_of(PyObject *object, void *path)
{
    *(char **)path = NULL;
    return object == Py_None || !PyBytes_AsStringAndSize(object, path, NULL);
}

/* Sets the files of the options from a tuple of paths. *paths: an array of their addresses, which the caller frees.
 * Returns 0, with an exception set, if memory is short or an item is not a path. */
static int files_of(PyObject *list, collet_trajectory_options *o, const char ***paths)
{
    Py_ssize_t n = list == Py_None ? 0 : PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    *paths = NULL;
    if (n < 0) {
        PyErr_SetString(PyExc_TypeError, "trajectories are not a tuple of paths");
        return 0;
    }
    if (n > 0 && !(*paths = calloc((size_t)n + 1, sizeof **paths))) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        char *path;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(list, i), &path, NULL))
            return 0;
        (*paths)[i] = path;
    }
    o->trajectory = n > 0 ? (*paths)[0] : NULL;
    o->continuations = n > 1 ? *paths + 1 : NULL;
    return 1;
}

/* Sets the shards of the options from a tuple of paths, as files_of. */
static int parts_of(PyObject *list, collet_trajectory_options *o, const char ***paths)
{
    collet_trajectory_options first = {0};
    if (!files_of(list, &first, paths))
        return 0;
    o->parts = *paths;
    o->n_parts = *paths ? PyTuple_Size(list) : 0;
    return 1;
}

static PyObject *trajectory_open(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    collet_trajectory_options o = {.struct_size = sizeof o};
    collet_devices devices = {.struct_size = sizeof devices};
    PyObject *files, *masses, *frames, *progress, *parts;
    const char **paths = NULL, **shards = NULL;
    double *values = NULL;
    long long start, stop, step, batch_frames, batch_rows, shard, n_shards;
    unsigned missing, pbc, strict, drift;
    if (!PyArg_ParseTuple(arguments, "O&OzO&zO&OO&z(ddd)LLLIIIIzLLOO(LL)O&Oz", path_of, &o.topology,
                          &files, &o.selection, path_of, &o.ndx, &o.each, path_of, &o.masses,
                          &masses, path_of, &o.reference, &o.keys, &o.axis[0], &o.axis[1],
                          &o.axis[2], &start, &stop, &step, &missing, &pbc, &strict, &drift, &o.drift_of, &batch_frames,
                          &batch_rows, &progress, &frames, &shard, &n_shards, path_of, &o.shards,
                          &parts, &devices.choices))
        return NULL;
    o.devices = devices.choices ? &devices : NULL;
    o.shard = shard;
    o.n_shards = n_shards;
    o.start = start;
    o.stop = stop;
    o.step = step;
    o.missing = missing;
    o.pbc = pbc;
    o.strict = strict;
    o.drift = drift;
    o.batch_frames = batch_frames;
    o.batch_rows = batch_rows;
    if (masses != Py_None && !(values = source_doubles(masses, &o.n_mass_values)))
        return NULL;
    o.mass_values = values;
    trajectory *self = files_of(files, &o, &paths) && parts_of(parts, &o, &shards)
                           ? PyObject_New(trajectory, type)
                           : NULL;
    if (self) {
        memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
        self->progress = Py_NewRef(progress);
        self->process = getpid();
        self->frames = frames != Py_None ? source_new(core, frames) : NULL;
        if ((frames != Py_None && !self->frames) || open_engine(self, &o))
            Py_CLEAR(self);
    }
    free(values);
    free(paths);
    free(shards);
    return (PyObject *)self;
}

/* Frees the engine's objects, except in a child of fork, where the engine's thread does not exist. */
static void shut(trajectory *self)
{
    if (self->process == getpid()) {
        collet_trajectory_destroy(self->engine);
        collet_context_destroy(self->context);
    }
    self->engine = NULL;
    self->context = NULL;
}

static void trajectory_free(PyObject *object)
{
    trajectory *self = (trajectory *)object;
    PyTypeObject *own = Py_TYPE(object);
    shut(self);
    source_free(self->frames);
    Py_XDECREF(self->progress);
    PyObject_Free(object);
    Py_DECREF(own);
}

/* ---- Rows --------------------------------------------------------------------------------- */

static int add_column(PyObject *rows, const collet_trajectory *engine, size_t index,
                      const collet_trajectory_batch *batch)
{
    collet_trajectory_quantity q = {.struct_size = sizeof q};
    void *data;
    collet_trajectory_quantity_at(engine, &q, index, NULL);
    const int64_t shape[] = {batch->n_rows, q.shape[0], q.shape[1], q.shape[2]};
    PyObject *array = core->numpy_new(COLLET_F64, q.ndim + 1, shape, &data);
    if (array)
        memcpy(data, batch->columns[index], (size_t)(batch->n_rows * q.width) * sizeof(double));
    int failed = array ? PyDict_SetItemString(rows, q.key, array) : -1;
    Py_XDECREF(array);
    return failed;
}

static PyObject *rows_of(const collet_trajectory *engine, const collet_trajectory_batch *batch)
{
    PyObject *rows;
    if (!batch)
        Py_RETURN_NONE;
    rows = PyDict_New();
    for (size_t i = 0; rows && i < collet_trajectory_quantity_count(); i++)
        if (batch->columns[i] && add_column(rows, engine, i, batch))
            Py_CLEAR(rows);
    return rows;
}

typedef collet_status (*take)(collet_trajectory *engine, const collet_trajectory_batch **out,
                              collet_error *err);

/* Begins a call: sets `busy`. While it is set, other calls are refused. Returns 0, or -1 with an exception set. */
static int enter(trajectory *self)
{
    if (self->process != getpid())
        core->raise(COLLET_FORKED, "the trajectory belongs to the parent process: open another one "
                                   "here");
    else if (self->busy)
        core->raise(COLLET_BUSY, "another thread is inside this trajectory");
    else if (!self->engine)
        core->raise(COLLET_INVALID, "the trajectory is closed");
    else
        self->busy = 1;
    return self->busy && !PyErr_Occurred() ? 0 : -1;
}

static PyObject *compute(trajectory *self, take function)
{
    const collet_trajectory_batch *batch;
    collet_error err = {0};
    if (enter(self))
        return NULL;
    PyThreadState *state = core->leave();
    collet_status status = function(self->engine, &batch, &err);
    core->back(state);
    self->busy = 0;
    if (status != COLLET_OK)
        return core->raise(status, err.text);
    return PyErr_Occurred() ? NULL : rows_of(self->engine, batch);
}

static PyObject *trajectory_next(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return compute((trajectory *)self, collet_trajectory_next);
}

static PyObject *trajectory_collect(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return compute((trajectory *)self, collet_trajectory_collect);
}

/* write(path): writes the shard. `path` is the file for the merged results; its suffix determines the format. Returns
 * the path of the shard's file. */
static PyObject *trajectory_write(PyObject *object, PyObject *path)
{
    trajectory *self = (trajectory *)object;
    collet_trajectory_info info = {.struct_size = sizeof info};
    collet_error err = {0};
    const char *name = PyBytes_AsString(path);
    if (!name || enter(self))
        return NULL;
    PyThreadState *state = core->leave();
    collet_status status =
        collet_trajectory_write(self->engine, name, COLLET_TRAJECTORY_RESUME, &err);
    core->back(state);
    self->busy = 0;
    if (status != COLLET_OK)
        return core->raise(status, err.text);
    collet_trajectory_get_info(self->engine, &info);
    return PyErr_Occurred() ? NULL : PyBytes_FromString(info.output);
}

/* The content of the meta file, with the warnings; None before the last row. */
static PyObject *trajectory_meta(PyObject *object, PyObject *Py_UNUSED(unused))
{
    trajectory *self = (trajectory *)object;
    const char *text = self->engine ? collet_trajectory_meta(self->engine) : NULL;
    return text ? PyUnicode_DecodeFSDefault(text) : Py_NewRef(Py_None);
}

/* A list of all labels; None if there are no labels. */
static PyObject *labels_of(PyObject *object,
                           const char *(*label_at)(const collet_trajectory *engine, size_t index))
{
    trajectory *self = (trajectory *)object;
    if (!self->engine || !label_at(self->engine, 0))
        Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list; i++) {
        const char *label = label_at(self->engine, i);
        if (!label)
            break;
        PyObject *text = PyUnicode_DecodeUTF8(label, (Py_ssize_t)strlen(label), "replace");
        if (!text || PyList_Append(list, text))
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *trajectory_bodies(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return labels_of(self, collet_trajectory_body_at);
}

static PyObject *trajectory_atoms(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return labels_of(self, collet_trajectory_atom_at);
}

/* Makes the work stop at its next step. */
static PyObject *trajectory_cancel(PyObject *object, PyObject *Py_UNUSED(unused))
{
    trajectory *self = (trajectory *)object;
    atomic_store(&self->cancelled, 1);
    if (self->frames)
        atomic_store(&self->frames->cancelled, 1);
    Py_RETURN_NONE;
}

static PyObject *trajectory_close(PyObject *object, PyObject *Py_UNUSED(unused))
{
    trajectory *self = (trajectory *)object;
    if (self->busy)
        return core->raise(COLLET_BUSY, "another thread is inside this trajectory");
    shut(self);
    Py_RETURN_NONE;
}

/* ---- The module --------------------------------------------------------------------------- */

static PyObject *formats(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_trajectory_format f = {.struct_size = sizeof f};
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && collet_trajectory_format_at(&f, i, NULL) == COLLET_OK; i++) {
        PyObject *row = Py_BuildValue("(ssNN)", f.name, f.title, PyBool_FromLong(f.has_topology),
                                      PyBool_FromLong(f.has_frames));
        if (!row || PyList_Append(list, row))
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* times(paths): returns the times of all frames of the files, as bytes that contain doubles. `paths` is a tuple of
 * bytes. */
static PyObject *times(PyObject *Py_UNUSED(module), PyObject *list)
{
    Py_ssize_t count = PyTuple_Check(list) ? PyTuple_Size(list) : 0;
    char **paths = calloc((size_t)count + 1, sizeof *paths);
    int failed = !paths || !PyTuple_Check(list);
    PyObject *made = NULL;
    collet_error err;
    int64_t n = 0;

    for (Py_ssize_t i = 0; !failed && i < count; i++)
        failed = PyBytes_AsStringAndSize(PyTuple_GetItem(list, i), &paths[i], NULL) != 0;
    double *found = NULL;
    for (int64_t room = -1; !failed && room < n;) { /* the files may grow meanwhile */
        room = n;
        double *grown = realloc(found, ((size_t)room + 1) * sizeof *found);
        failed = !grown;
        if (failed)
            break;
        found = grown;
        PyThreadState *state = core->leave();
        collet_status status =
            collet_trajectory_times(found, (size_t)room, &n, (const char *const *)paths, &err);
        core->back(state);
        failed = status != COLLET_OK;
        if (failed)
            core->raise(status, err.text);
    }
    if (!failed)
        made = PyBytes_FromStringAndSize((const char *)found,
                                         (Py_ssize_t)n * (Py_ssize_t)sizeof *found);
    free(found);
    free(paths);
    if (!made && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "times needs a tuple of paths");
    return made;
}

static PyObject *quantities(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity q = {.struct_size = sizeof q};
        collet_trajectory_quantity_at(NULL, &q, i, NULL);
        PyObject *shape = q.ndim == 0 ? PyTuple_New(0)
                          : q.ndim == 1
                              ? Py_BuildValue("(L)", (long long)q.shape[0])
                              : Py_BuildValue("(LL)", (long long)q.shape[0], (long long)q.shape[1]);
        PyObject *row = shape ? Py_BuildValue("(sssN)", q.key, q.unit, q.meaning, shape) : NULL;
        if (!row || PyList_Append(list, row))
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* ---- Molecules of arrays ------------------------------------------------------------------ */

/* A collet_array that shares the memory of a NumPy array, and the address of that memory. */
typedef struct held {
    collet_array *array;
    void *data;
} held;

/* Wraps and acquires the NumPy array `object`; does nothing if it is None. Returns 0, or -1 with an exception set. */
static int hold(collet_context *context, held *h, PyObject *object, collet_dtype dtype,
                int32_t access, const char *name)
{
    if (object == Py_None)
        return 0;
    h->array = core->array_from(object, dtype, name);
    if (!h->array)
        return -1;
    if (collet_array_acquire(context, h->array, &h->data, access) == COLLET_OK)
        return 0;
    core->raise_last(context);
    return -1;
}

static void let_go(collet_context *context, held *h)
{
    if (h->data)
        collet_array_release(context, h->array);
    collet_array_destroy(h->array);
}

/* place(what, is_f64, positions, frames, atoms, boxes, n_boxes, bonds, n_bonds, offsets, n_molecules, masses): changes
 * positions, a contiguous NumPy array of f32 or f64. The caller has checked the shapes. Returns the number of molecules
 * that were left unchanged, and the first atom of the first such molecule. */
static PyObject *place(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    collet_trajectory_places p = {.struct_size = sizeof p};
    PyObject *objects[5];
    held h[5] = {{0}};
    long long sizes[5];
    int is_f64;
    if (!PyArg_ParseTuple(arguments, "IpOLLOLOLOLO", &p.what, &is_f64, &objects[0], &sizes[0],
                          &sizes[1], &objects[1], &sizes[2], &objects[2], &sizes[3], &objects[3],
                          &sizes[4], &objects[4]))
        return NULL;
    collet_context *context = core->context();
    if (!context)
        return NULL;
    p.dtype = is_f64 ? COLLET_F64 : COLLET_F32;
    int failed = hold(context, &h[0], objects[0], p.dtype, COLLET_READ | COLLET_WRITE, "positions") ||
                 hold(context, &h[1], objects[1], COLLET_F64, COLLET_READ, "box") ||
                 hold(context, &h[2], objects[2], COLLET_I64, COLLET_READ, "bonds") ||
                 hold(context, &h[3], objects[3], COLLET_I64, COLLET_READ, "molecules") ||
                 hold(context, &h[4], objects[4], COLLET_F64, COLLET_READ, "masses");
    collet_error err = {0};
    collet_status status = COLLET_OK;
    if (!failed) {
        p.positions = h[0].data;
        p.n_frames = sizes[0];
        p.n_atoms = sizes[1];
        p.boxes = h[1].data;
        p.n_boxes = sizes[2];
        p.bonds = h[2].data;
        p.n_bonds = sizes[3];
        p.offsets = h[3].data;
        p.n_molecules = sizes[4];
        p.masses = h[4].data;
        PyThreadState *state = core->leave();
        status = collet_trajectory_place(&p, &err);
        core->back(state);
    }
    for (int i = 0; i < 5; i++)
        let_go(context, &h[i]);
    if (failed)
        return NULL;
    if (status != COLLET_OK)
        return core->raise(status, err.text);
    return Py_BuildValue("(LLLLL)", (long long)p.left, (long long)p.left_atom, (long long)p.far,
                         (long long)p.far_frame, (long long)p.far_atom);
}

static PyMethodDef functions[] = {
    {"place", place, METH_VARARGS, NULL},
    {"open", trajectory_open, METH_VARARGS, NULL},
    {"formats", formats, METH_NOARGS, NULL},
    {"times", times, METH_O, NULL},
    {"quantities", quantities, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef methods[] = {
    {"next", trajectory_next, METH_NOARGS, NULL},
    {"collect", trajectory_collect, METH_NOARGS, NULL},
    {"write", trajectory_write, METH_O, NULL},
    {"meta", trajectory_meta, METH_NOARGS, NULL},
    {"bodies", trajectory_bodies, METH_NOARGS, NULL},
    {"atoms", trajectory_atoms, METH_NOARGS, NULL},
    {"cancel", trajectory_cancel, METH_NOARGS, NULL},
    {"close", trajectory_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit__trajectory(void);

PyMODINIT_FUNC PyInit__trajectory(void)
{
    static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                     .m_name = "collet._trajectory",
                                     .m_doc = "libcollet-trajectory for collet.md.",
                                     .m_size = -1,
                                     .m_methods = functions};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)trajectory_free}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {"collet._trajectory.Trajectory", sizeof(trajectory), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    core = binding_import();
    if (!core)
        return NULL;
    type = (PyTypeObject *)PyType_FromSpec(&spec);
    PyObject *module = type ? python_module(&definition) : NULL;
    if (module && PyModule_AddObjectRef(module, "Trajectory", (PyObject *)type))
        Py_CLEAR(module);
    return module;
}
