/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/gradient/test_replay_device.py */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include <collet/ops.h>

#include "lazy.h"
#include "src/array/array.h"
#include "src/array/capture.h"
#include "src/base/error.h"
#include "src/base/numpy.h"
#include "src/base/runtime.h"
#include "src/base/work.h"
#include "src/calls/compute.h"
#include "src/calls/recording.h"

#define CAPSULE "collet._core.replaying"
#define TRIES 3               /* a signal's handler may let a capture fail, for example */
#define KEPT_BYTES (64 << 20) /* a recording keeps the memory of its intermediate values */

typedef enum state { NEW, CAPTURING, READY, NEVER } state;

/* What an argument has to be: a number, or an Array with these strides, on which the strides of
 * results depend. */
typedef struct expected {
    collet_dtype number; /* the dtype that a number takes; 0: an Array */
    int32_t ndim;
    int64_t strides[COLLET_MAX_DIMS];
} expected;

typedef struct replayed {
    state state;
    PyObject *function;
    PyObject *kept; /* the Expressions that `handle` needs */
    collet_recording *handle;
    uint64_t generation; /* of the runtime */
    uint32_t choice;     /* of backend */
    uint32_t n_in, n_out, failures;
    expected ins[];
} replayed;

/* ---- Running ------------------------------------------------------------------------------ */

typedef struct job {
    work work;
    PyObject *self; /* the capsule, a reference */
    const replayed *r;
    collet_array **outs; /* set after the run, and owned; else NULL */
    PyObject **objects;  /* references to the Arrays of `ins` */
    collet_array *ins[]; /* the arrays of numbers are owned; followed by `outs`, then `objects` */
} job;

static void free_numbers(job *j)
{
    for (uint32_t i = 0; i < j->r->n_in; i++)
        if (j->r->ins[i].number) {
            collet_array_destroy(j->ins[i]);
            j->ins[i] = NULL;
        }
}

static collet_status run_job(work *w, collet_context *context)
{
    job *j = (job *)w;
    collet_status status =
        collet_recording_run(context, j->r->handle, j->outs, (const collet_array *const *)j->ins);
    free_numbers(j);
    return status;
}

static void drop_job(work *w)
{
    job *j = (job *)w;
    for (uint32_t i = 0; i < j->r->n_out; i++)
        collet_array_destroy(j->outs[i]);
    free_numbers(j);
    for (uint32_t i = 0; i < j->r->n_in; i++)
        Py_XDECREF(j->objects[i]);
    Py_DECREF(j->self);
    free(j);
}

static job *new_job(PyObject *self, const replayed *r)
{
    size_t pointers = (size_t)2 * r->n_in + r->n_out;
    job *j = calloc(1, sizeof *j + pointers * sizeof(void *));
    if (!j)
        return (job *)PyErr_NoMemory();
    j->work.run = run_job;
    j->work.drop = drop_job;
    j->self = Py_NewRef(self);
    j->r = r;
    j->outs = j->ins + r->n_in;
    j->objects = (PyObject **)(j->outs + r->n_out);
    return j;
}

static int has_strides(const collet_array *a, const expected *e)
{
    const int64_t *strides = collet_array_strides(a);
    return collet_array_ndim(a) == e->ndim &&
           !memcmp(strides, e->strides, (size_t)e->ndim * sizeof *strides);
}

/* Takes the arguments, computed Arrays and numbers. 1; 0: the lines have to compute them; -1
 * with an exception. */
static int take(job *j, PyObject *const *arguments)
{
    const replayed *r = j->r;
    int failed = 0;
    for (uint32_t i = 0; i < r->n_in; i++) {
        if (r->ins[i].number)
            continue;
        j->objects[i] = Py_NewRef(arguments[i]);
        if (!array_check(arguments[i]))
            return 0;
        if (!(j->ins[i] = array_get(arguments[i])))
            return -1;
        if (!has_strides(j->ins[i], &r->ins[i]))
            return 0;
    }
    if (!(j->work.context = runtime_context())) /* Python code may have replaced an earlier one */
        return -1;
    for (uint32_t i = 0; i < r->n_in; i++)
        if (r->ins[i].number && !(j->ins[i] = recording_number(j->work.context, arguments[i],
                                                               r->ins[i].number, &failed)))
            return failed;
    return 1;
}

/* The results; None if the lines have to compute them; NULL with an exception. */
static PyObject *run(PyObject *self, const replayed *r, PyObject *const *arguments)
{
    job *j = new_job(self, r);
    if (!j)
        return NULL;
    int taken = take(j, arguments);
    if (taken <= 0) {
        drop_job(&j->work);
        return taken ? NULL : Py_NewRef(Py_None);
    }
    const uint64_t print = (uintptr_t)r * 0x9e3779b97f4a7c15u | 1;
    j->work.quick = work_is_quick(print);
    if (work_run(&j->work))
        return NULL;
    work_learn(print, j->work.nanoseconds);
    PyObject *made = recording_results(j->outs, r->n_out);
    for (uint32_t i = 0; i < r->n_out; i++)
        j->outs[i] = NULL;
    drop_job(&j->work);
    return made;
}

/* ---- Capturing ---------------------------------------------------------------------------- */

/* A new Array of the elements of an Array, so that an Array that is given twice is two inputs. */
static PyObject *own_array(PyObject *object)
{
    collet_context *context = runtime_context();
    const collet_array *a = context ? array_value(object)->array : NULL;
    collet_array *view = NULL;
    if (!a)
        return NULL;
    return collet_array_broadcast(context, a, &view, collet_array_ndim(a), collet_array_shape(a)) ==
                   COLLET_OK
               ? array_view(object, view)
               : runtime_raise(context);
}

/* The arguments as computed Arrays of the capture's own: also the numbers. NULL with an
 * exception; without an exception: the lines have to compute other arguments. */
static PyObject *take_inputs(const replayed *r, PyObject *const *arguments)
{
    PyObject *given = PyTuple_New(r->n_in);
    for (uint32_t i = 0; given && i < r->n_in; i++) {
        int failed = 0;
        collet_array *number = NULL;
        collet_dtype dtype = r->ins[i].number;
        collet_context *context = runtime_context();
        if (dtype && context)
            number = recording_number(context, arguments[i], dtype, &failed);
        PyObject *item = dtype ? (number ? array_new(number) : NULL)
                         : context && array_check(arguments[i]) && array_get(arguments[i])
                             ? own_array(arguments[i])
                             : NULL;
        if (item)
            PyTuple_SetItem(given, i, item);
        else
            Py_CLEAR(given);
    }
    return given;
}

static void add_inputs(capture *c, collet_context *context, replayed *r, PyObject *given)
{
    for (uint32_t i = 0; i < r->n_in; i++) {
        const lazy_value *v = array_value(PyTuple_GetItem(given, i));
        collet_array_spec spec;
        uint32_t number;
        array_spec(v->array, &spec);
        r->ins[i].ndim = spec.ndim;
        memcpy(r->ins[i].strides, collet_array_strides(v->array),
               (size_t)spec.ndim * sizeof(int64_t));
        if (collet_recording_input(context, c->handle, &number, spec.dtype, spec.ndim,
                                   spec.shape) == COLLET_OK)
            capture_name(v, number, CAPTURE_GIVEN);
        else
            capture_fail();
    }
}

/* The number of a result, in the recording. A view is copied: it is a lazy result that was
 * computed with another shape, and nothing else has its memory. */
static uint32_t result_number(const capture *c, const lazy_value *v)
{
    collet_context *context = runtime_context();
    uint32_t number = capture_number(v);
    if (capture_kind_of(v) != CAPTURE_VIEW || !context)
        return number;
    if (collet_recording_call(context, c->handle, &number, COLLET_OP_COPY, &number, NULL, NULL) !=
        COLLET_OK)
        capture_fail();
    return number;
}

/* Computes the results of the captured lines, and completes the recording. 0; -1 with an
 * exception. */
static int complete(capture *c, replayed *r, PyObject *results)
{
    collet_context *context;
    uint32_t count = (uint32_t)PyTuple_Size(results);
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    if (!numbers) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(results, i);
        if (!array_check(item)) {
            capture_fail();
            break;
        }
        if (array_node(item) && lazy_force_all(array_node(item))) {
            free(numbers);
            return -1;
        }
        numbers[i] = result_number(c, array_value(item));
    }
    r->n_out = count;
    context = runtime_context();
    if (context && capture_now() &&
        collet_recording_complete(context, c->handle, numbers, count) != COLLET_OK)
        capture_fail();
    free(numbers);
    return context ? 0 : -1;
}

/* Runs the lines, and captures their calls. */
static PyObject *follow(capture *c, collet_context *context, replayed *r, PyObject *given)
{
    capture_begin(c);
    add_inputs(c, context, r, given);
    PyObject *made = PyObject_CallObject(r->function, given);
    if (made && complete(c, r, made))
        Py_CLEAR(made);
    capture_end();
    return made;
}

/* Captures a call, and returns its results; None if a number does not fit its dtype; NULL with
 * an exception. */
static PyObject *record(replayed *r, PyObject *const *arguments)
{
    capture c = {.kept = PyList_New(0)};
    r->state = CAPTURING;
    PyObject *given = c.kept ? take_inputs(r, arguments) : NULL, *made = NULL;
    collet_context *context = given ? runtime_context() : NULL;
    if (context && collet_recording_create(context, &c.handle) == COLLET_OK) {
        r->generation = runtime_generation();
        made = (r->choice = runtime_choice()) ? follow(&c, context, r, given) : NULL;
    } else if (context) {
        runtime_raise(context);
    } else if (!PyErr_Occurred()) {
        made = Py_NewRef(Py_None);
    }
    Py_XDECREF(given);
    free(c.entries);
    if (made && made != Py_None && !c.failed && c.bytes <= KEPT_BYTES) {
        r->handle = c.handle;
        r->kept = c.kept;
        r->state = READY;
        return made;
    }
    collet_recording_destroy(c.handle);
    Py_XDECREF(c.kept);
    if (made && made != Py_None)
        r->failures++;
    r->state = r->failures < TRIES ? NEW : NEVER;
    return made;
}

PyObject *replay_probe(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *function, *given, *keywords, *made = NULL;
    collet_context *context = runtime_context();
    capture c = {.failed = 0};
    int found = 0;
    if (!context || !PyArg_ParseTuple(arguments, "OO!O!", &function, &PyTuple_Type, &given,
                                      &PyDict_Type, &keywords))
        return NULL;
    c.kept = capture_now() ? NULL : PyList_New(0);
    if (c.kept && collet_recording_create(context, &c.handle) == COLLET_OK)
        capture_begin(&c);
    made = PyErr_Occurred() ? NULL : PyObject_Call(function, given, keywords);
    if (made && c.handle && capture_now() && array_check(made)) {
        const lazy_value *v = array_node(made) ? NULL : array_value(made);
        /* An elementwise function may give its result the order of its operands, and libcore's
         * recordings make results in C order. */
        found = !v                                     ? !array_node(made)->strided
                : capture_kind_of(v) == CAPTURE_MADE   ? 1
                : capture_number(v) != CAPTURE_UNKNOWN ? 2
                                                       : 0;
    }
    if (c.handle)
        capture_end();
    collet_recording_destroy(c.handle);
    free(c.entries);
    Py_XDECREF(c.kept);
    return made ? Py_BuildValue("Ni", made, found) : NULL;
}

/* ---- The function ------------------------------------------------------------------------- */

static PyObject *general(const replayed *r, PyObject *const *arguments)
{
    PyObject *given = PyTuple_New(r->n_in), *made;
    for (uint32_t i = 0; given && i < r->n_in; i++)
        PyTuple_SetItem(given, i, Py_NewRef(arguments[i]));
    made = given ? PyObject_CallObject(r->function, given) : NULL;
    Py_XDECREF(given);
    return made;
}

static PyObject *replay(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    replayed *r = PyCapsule_GetPointer(self, CAPSULE);
    PyObject *made = Py_None;
    if (!r || count != (Py_ssize_t)r->n_in)
        return r ? PyErr_Format(PyExc_TypeError, "the recording has %u inputs (%zd given)",
                                (unsigned)r->n_in, count)
                 : NULL;
    if (call_is_observed() || lazy_is_off() || capture_now())
        return general(r, arguments);
    if (r->state == NEW)
        made = record(r, arguments);
    else if (r->state == READY && r->generation == runtime_generation() &&
             r->choice == runtime_choice())
        made = run(self, r, arguments);
    return made == Py_None ? general(r, arguments) : made;
}

static void drop(PyObject *capsule)
{
    replayed *r = PyCapsule_GetPointer(capsule, CAPSULE);
    PyThreadState *left = runtime_leave(); /* may wait for work on intermediate values */
    collet_recording_destroy(r->handle);
    runtime_return(left);
    Py_XDECREF(r->kept);
    Py_XDECREF(r->function);
    free(r);
}

PyObject *replay_make(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static PyMethodDef method = {"replay", (PyCFunction)(void (*)(void))replay, METH_FASTCALL,
                                 NULL};
    PyObject *function, *dtypes;
    if (!PyArg_ParseTuple(arguments, "OO!", &function, &PyList_Type, &dtypes))
        return NULL;
    Py_ssize_t count = PyList_Size(dtypes);
    replayed *r = calloc(1, sizeof *r + (size_t)count * sizeof *r->ins);
    PyObject *capsule = r ? PyCapsule_New(r, CAPSULE, drop) : PyErr_NoMemory();
    if (!capsule) {
        free(r);
        return NULL;
    }
    r->function = Py_NewRef(function);
    r->n_in = (uint32_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *dtype = PyList_GetItem(dtypes, i);
        r->ins[i].number = dtype == Py_None ? COLLET_DTYPE_NONE : numpy_dtype_parse(dtype);
        if (dtype != Py_None && !r->ins[i].number) {
            Py_DECREF(capsule);
            return NULL;
        }
    }
    PyObject *made = PyCFunction_NewEx(&method, capsule, NULL);
    Py_DECREF(capsule);
    return made;
}
