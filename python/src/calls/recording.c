/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/gradient/test_replay.py */
#include "recording.h"

#include <math.h>
#include <stdlib.h>

#include <collet/recording.h>

#include "op.h"
#include "src/array/array.h"
#include "src/base/error.h"
#include "src/base/runtime.h"

#define CAPSULE "collet._core.recording"

enum { ANY, DENSE, NUMBER }; /* kinds of inputs */

typedef struct taken {
    int kind;
    collet_dtype dtype;
} taken;

typedef struct recorded {
    collet_recording *handle;
    uint64_t generation; /* of the runtime */
    uint32_t n_in, n_out;
    taken ins[];
} recorded;

/* ---- Replaying --------------------------------------------------------------------------- */

collet_array *recording_number(collet_context *context, PyObject *number, collet_dtype dtype,
                               int *failed)
{
    const double most = dtype == COLLET_F16 ? 65504 : dtype == COLLET_F64 ? INFINITY : 3e38;
    collet_array *made = NULL;
    *failed = 0;
    if (!PyFloat_CheckExact(number) && !PyLong_CheckExact(number))
        return NULL;
    double value = PyFloat_AsDouble(number);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return NULL;
    }
    int exact = PyFloat_CheckExact(number) || fabs(value) <= 0x1p53;
    if (!exact || (fabs(value) > most && !isinf(value)))
        return NULL;
    if (collet_array_full(context, &made, dtype, 0, NULL, value) != COLLET_OK) {
        runtime_raise(context);
        *failed = -1;
    }
    return made;
}

/* Returns the array of a computed Array that meets the condition of the input; NULL for all other objects. */
static collet_array *ready(const recorded *r, PyObject *object, int kind)
{
    if (!array_check(object) || array_node(object))
        return NULL;
    const lazy_value *v = array_value(object);
    if (!v)
        PyErr_Clear();
    return v && v->generation == r->generation && (kind != DENSE || array_is_dense(v->array, 0))
               ? v->array
               : NULL;
}

PyObject *recording_results(collet_array **outs, uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (uint32_t i = 0; i < count; i++) {
        PyObject *made = tuple ? array_new(outs[i]) : NULL;
        if (made)
            PyTuple_SetItem(tuple, i, made);
        else if (!tuple)
            collet_array_destroy(outs[i]);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* 1: computed; 0: the general calls have to compute the arguments; -1: an exception. */
static int run(const recorded *r, PyObject *const *arguments, collet_array **ins,
               collet_array **outs)
{
    collet_context *context = runtime_context();
    int failed = context ? 0 : -1, ran = 0;
    uint32_t count = 0;
    for (; !failed && count < r->n_in; count++) {
        const taken *t = &r->ins[count];
        ins[count] = t->kind == NUMBER
                         ? recording_number(context, arguments[count], t->dtype, &failed)
                         : ready(r, arguments[count], t->kind);
        if (!ins[count])
            break;
    }
    if (!failed && count == r->n_in) {
        ran = collet_recording_run(context, r->handle, outs, (const collet_array *const *)ins) ==
              COLLET_OK;
        if (ran)
            runtime_called(context);
        else
            failed = -1;
    }
    if (failed && context && !PyErr_Occurred())
        runtime_raise(context);
    for (uint32_t i = 0; i < count; i++)
        if (r->ins[i].kind == NUMBER)
            collet_array_destroy(ins[i]);
    return failed ? -1 : ran;
}

static PyObject *replay(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    const recorded *r = PyCapsule_GetPointer(self, CAPSULE);
    if (!r || count != (Py_ssize_t)r->n_in)
        return r ? PyErr_Format(PyExc_TypeError, "the recording has %u inputs (%zd given)",
                                (unsigned)r->n_in, count)
                 : NULL;
    if (r->generation != runtime_generation() || !runtime_at_once() || runtime_waits() ||
        call_is_observed())
        Py_RETURN_NONE;
    collet_array **arrays = malloc((r->n_in + r->n_out + 1) * sizeof(collet_array *));
    if (!arrays)
        return PyErr_NoMemory();
    int ran = run(r, arguments, arrays, arrays + r->n_in);
    PyObject *made = ran > 0 ? recording_results(arrays + r->n_in, r->n_out)
                     : ran   ? NULL
                             : Py_NewRef(Py_None);
    free(arrays);
    return made;
}

/* ---- Making ------------------------------------------------------------------------------ */

typedef struct maker {
    collet_context *context;
    collet_recording *handle;
    uint32_t *values; /* the numbers of inputs and steps in libcore's recording */
    Py_ssize_t n_in, count, n_out;
} maker;

static int checked(const maker *m, collet_status status)
{
    if (status == COLLET_OK)
        return 0;
    runtime_raise(m->context);
    return -1;
}

/* Reads a dtype and a shape. */
static int take_spec(PyObject *dtype, PyObject *shape, collet_array_spec *spec)
{
    spec->dtype = numpy_dtype_parse(dtype);
    spec->ndim = spec->dtype ? (int32_t)array_extents(shape, spec->shape) : -1;
    return spec->ndim < 0 ? -1 : 0;
}

static int add_input(maker *m, PyObject *row, taken *t)
{
    PyObject *dtype, *shape;
    collet_array_spec spec;
    int kind;
    if (!PyArg_ParseTuple(row, "OOi", &dtype, &shape, &kind) || take_spec(dtype, shape, &spec))
        return -1;
    t->kind = kind;
    t->dtype = spec.dtype;
    return checked(m, collet_recording_input(m->context, m->handle, &m->values[m->count++],
                                             spec.dtype, spec.ndim, spec.shape));
}

/* The number, in libcore's recording, of an operand. */
static int take_operand(maker *m, PyObject *given, uint32_t *value)
{
    if (array_check(given)) {
        collet_array *constant = array_get(given);
        return constant
                   ? checked(m, collet_recording_constant(m->context, m->handle, value, constant))
                   : -1;
    }
    Py_ssize_t number = PyLong_AsSsize_t(given);
    if (number >= 0 && number < m->count) {
        *value = m->values[number];
        return 0;
    }
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "recording: there is no value %zd", number);
    return -1;
}

static int add_view(maker *m, long what, uint32_t from, PyObject *numbers)
{
    int64_t n[COLLET_MAX_DIMS];
    int count = array_extents(numbers, n);
    return count < 0 ? -1
                     : checked(m, collet_recording_view(m->context, m->handle, &m->values[m->count],
                                                        from, (uint32_t)what, n, count));
}

static int add_call(maker *m, op_object *op, const uint32_t *ins, PyObject *params,
                    const collet_array_spec *spec, int32_t ndim)
{
    PyObject *fields[OP_FIELDS] = {NULL};
    _Alignas(16) unsigned char block[OP_PARAMS];
    for (uint32_t i = 0; i < op->field_count; i++)
        fields[i] = PyDict_GetItem(params, op->fields[i].name); /* borrowed */
    if (op->n_out != 1) {
        PyErr_Format(PyExc_ValueError, "recording: %U has %u outputs", op->name,
                     (unsigned)op->n_out);
        return -1;
    }
    if (op_set_params(op, collet_context_runtime(m->context), ndim, fields, block))
        return -1;
    return checked(m, collet_recording_call(m->context, m->handle, &m->values[m->count], op->id,
                                            ins, spec, op->params_size ? block : NULL));
}

/* The number of axes of the first operand. */
static int32_t axes_of(PyObject *given, const int32_t *ndim)
{
    collet_array_spec spec;
    return array_check(given) ? (array_describe(given, &spec) ? -1 : spec.ndim)
                              : ndim[PyLong_AsSsize_t(given)];
}

static int add_step(maker *m, PyObject *row, int32_t *ndim)
{
    PyObject *what, *operands, *extra, *dtype, *shape;
    collet_array_spec spec;
    uint32_t ins[COLLET_MAX_OPERANDS];
    if (!PyArg_ParseTuple(row, "OO!OOO", &what, &PyTuple_Type, &operands, &extra, &dtype, &shape) ||
        take_spec(dtype, shape, &spec))
        return -1;
    Py_ssize_t count = PyTuple_Size(operands);
    op_object *op = PyCFunction_Check(what) && op_check(PyCFunction_GetSelf(what))
                        ? (op_object *)PyCFunction_GetSelf(what)
                        : NULL;
    long view = op ? 0 : PyLong_AsLong(what);
    if (view == -1 && PyErr_Occurred())
        return -1;
    if (count != (op ? (Py_ssize_t)op->n_in : 1)) {
        PyErr_Format(PyExc_ValueError, "recording: %R with %zd operands", what, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (take_operand(m, PyTuple_GetItem(operands, i), &ins[i]))
            return -1;
    if (op ? op_refresh(op) || !PyDict_Check(extra) ||
                 add_call(m, op, ins, extra, &spec,
                          count ? axes_of(PyTuple_GetItem(operands, 0), ndim) : 0)
           : add_view(m, view, ins[0], extra)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "recording: the parameters of an op are a dict");
        return -1;
    }
    ndim[m->count++] = spec.ndim;
    return 0;
}

static int end(maker *m, PyObject *results)
{
    uint32_t *returned = malloc((size_t)(m->n_out + 1) * sizeof *returned);
    int failed = returned ? 0 : -1;
    if (!returned)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; !failed && i < m->n_out; i++)
        failed = take_operand(m, PyTuple_GetItem(results, i), &returned[i]);
    if (!failed)
        failed = checked(
            m, collet_recording_complete(m->context, m->handle, returned, (uint32_t)m->n_out));
    free(returned);
    return failed;
}

static void drop(PyObject *capsule)
{
    recorded *r = PyCapsule_GetPointer(capsule, CAPSULE);
    collet_recording_destroy(r->handle);
    free(r);
}

static int fill(maker *m, recorded *r, PyObject *inputs, PyObject *steps, PyObject *results)
{
    size_t room = (size_t)(m->n_in + PyList_Size(steps) + 1);
    int32_t *ndim = malloc(room * sizeof *ndim);
    m->values = malloc(room * sizeof *m->values);
    int failed = ndim && m->values ? 0 : -1;
    if (failed)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; !failed && i < m->n_in; i++) {
        PyObject *row = PyList_GetItem(inputs, i);
        failed = add_input(m, row, &r->ins[i]);
        ndim[i] = failed ? 0 : (int32_t)PySequence_Size(PyTuple_GetItem(row, 1));
    }
    for (Py_ssize_t i = 0; !failed && i < PyList_Size(steps); i++)
        failed = add_step(m, PyList_GetItem(steps, i), ndim);
    if (!failed)
        failed = end(m, results);
    free(ndim);
    free(m->values);
    return failed;
}

PyObject *recording_make(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static PyMethodDef method = {"replay", (PyCFunction)(void (*)(void))replay, METH_FASTCALL,
                                 NULL};
    PyObject *inputs, *steps, *results, *capsule = NULL, *made = NULL;
    maker m = {.context = NULL};
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyList_Type, &inputs, &PyList_Type, &steps,
                          &PyTuple_Type, &results) ||
        !(m.context = runtime_context()))
        return NULL;
    m.n_in = PyList_Size(inputs);
    m.n_out = PyTuple_Size(results);
    recorded *r = calloc(1, sizeof *r + (size_t)m.n_in * sizeof *r->ins);
    if (!r)
        return PyErr_NoMemory();
    r->n_in = (uint32_t)m.n_in;
    r->n_out = (uint32_t)m.n_out;
    r->generation = runtime_generation();
    if (!checked(&m, collet_recording_create(m.context, &m.handle)) &&
        !fill(&m, r, inputs, steps, results)) {
        r->handle = m.handle;
        capsule = PyCapsule_New(r, CAPSULE, drop);
    }
    if (!capsule) {
        collet_recording_destroy(m.handle);
        free(r);
        return NULL;
    }
    made = PyCFunction_NewEx(&method, capsule, NULL);
    Py_DECREF(capsule);
    return made;
}
