/* SPDX-License-Identifier: Apache-2.0 */
/* Computes calls without the GIL; Ctrl-C interrupts calls that take long. No Python code runs between the
 * checks of `begin` and the computation.
 * Tests: python/tests/test_interrupt.py, python/tests/test_processes.py */
#include "compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/expression.h>

#include "src/base/dtype.h"
#include "src/array/array.h"
#include "src/array/capture.h"
#include "src/base/log.h"
#include "src/base/runtime.h"
#include "src/base/work.h"

#define SMALL 8192 /* elements of all operands together: most ops take microseconds for them */

#define EXPLANATION 4096               /* bytes */
#define OUTS COLLET_EXPRESSION_OUTPUTS /* ops have fewer */
#define INS COLLET_EXPRESSION_INPUTS

static collet_status wrap(call *c, collet_array **outs, const collet_array **ins)
{
    uint32_t end = c->n_out + c->n_in;
    collet_status status = COLLET_OK;
    outs[0] = NULL;
    ins[0] = NULL;
    for (uint32_t i = 0; status == COLLET_OK && i < end; i++)
        status = operand_wrap(&c->operands[i], c->context, i < c->n_out ? 0 : COLLET_WRAP_READONLY);
    for (uint32_t i = 0; i < c->n_out; i++)
        outs[i] = c->operands[i].array;
    for (uint32_t i = 0; i < c->n_in; i++)
        ins[i] = c->operands[c->n_out + i].array;
    return status;
}

static void unpin(call *c)
{
    if (c->pinned)
        snapshot_unpin(c->reads);
    c->pinned = 0;
}

static collet_status run(call *c)
{
    collet_array *outs[OUTS];
    const collet_array *ins[INS];
    uint32_t end = c->n_out + c->n_in;
    collet_status status = wrap(c, outs, ins);
    if (status == COLLET_OK)
        status = c->issue(c, outs, ins);
    if (status == COLLET_OK)
        runtime_called(c->context);
    for (uint32_t i = 0; status == COLLET_OK && i < c->n_out && !runtime_at_once(); i++)
        status = operand_fetch(&c->operands[i], c->context);
    for (uint32_t i = 0; i < end; i++)
        operand_unwrap(&c->operands[i]);
    unpin(c);
    return status;
}

static int raised(const call *c, collet_status status)
{
    if (status == COLLET_OK)
        return 0;
    runtime_raise(c->context);
    return -1;
}

static int64_t elements(const collet_array_spec *spec)
{
    int64_t size = 1;
    for (int32_t i = 0; i < spec->ndim; i++)
        if (__builtin_mul_overflow(size, spec->shape[i], &size))
            return INT64_MAX;
    return size;
}

static int is_small(const call *c)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->n_out + c->n_in && sum <= SMALL; i++)
        if (c->operands[i].object) {
            int64_t more = elements(&c->operands[i].view.spec);
            sum = more > SMALL ? more : sum + more;
        }
    return sum <= SMALL;
}

/* ---- Calls that may take long ------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* A fingerprint of the op or expression, the shapes and the parameters; never 0. */
static uint64_t fingerprint(const call *c)
{
    uint64_t hash = mix(c->id, c->n_out), word;
    for (uint32_t i = 0; i < c->n_out + c->n_in; i++) {
        const operand *o = &c->operands[i];
        const collet_array_spec *spec = &o->view.spec;
        if (!o->object && !o->host)
            continue;
        hash = mix(hash, i << 16 | (uint32_t)spec->dtype << 8 | (uint32_t)spec->ndim << 1 |
                             (uint32_t)o->host);
        for (int32_t k = 0; k < spec->ndim; k++)
            hash = mix(hash, (uint64_t)spec->shape[k]);
    }
    for (uint32_t i = 0; i + sizeof word <= c->params_size; i += sizeof word) {
        memcpy(&word, c->params + i, sizeof word);
        hash = mix(hash, word);
    }
    return hash | 1;
}

/* Whether a call may have to wait for a device. A call on a device waits if its results go to the host's memory. A
 * call on the host waits if earlier work on one of its Arrays is not finished. */
static int waits(const call *c)
{
    int found = 0, at_once = runtime_at_once();
    if (!runtime_waits())
        return 0;
    for (uint32_t i = 0; i < c->n_out + c->n_in; i++)
        found |= at_once ? c->operands[i].array != NULL : i < c->n_out && c->operands[i].host;
    return found;
}

typedef struct job {
    work work;
    call call;       /* a copy with its own references */
    snapshot reads;  /* a copy of the call's snapshot, or empty */
    operand operands[];
} job;

static collet_status run_job(work *w, collet_context *context)
{
    job *j = (job *)w;
    j->call.context = context;
    return run(&j->call);
}

static void drop_job(work *w)
{
    job *j = (job *)w;
    unpin(&j->call);
    snapshot_clear(&j->reads);
    for (uint32_t i = 0; i < j->call.n_out + j->call.n_in; i++)
        operand_clear(&j->operands[i]);
    if (j->call.users)
        --*j->call.users;
    Py_DECREF(j->call.object);
    free(j);
}

/* Makes a job of the call. The job takes over the pins of the call, also on failure. */
static work *new_job(call *c)
{
    uint32_t end = c->n_out + c->n_in;
    job *j = calloc(1, sizeof *j + end * sizeof *j->operands);
    if (!j) {
        unpin(c);
        return (work *)PyErr_NoMemory();
    }
    j->work.run = run_job;
    j->work.drop = drop_job;
    j->work.context = c->context;
    j->call = *c;
    if (c->reads) {
        snapshot_copy(&j->reads, c->reads);
        j->call.reads = &j->reads;
    }
    c->pinned = 0;
    j->call.operands = j->operands;
    memcpy(j->operands, c->operands, end * sizeof *j->operands);
    Py_INCREF(c->object);
    if (c->users)
        ++*c->users;
    for (uint32_t i = 0; i < end; i++) {
        operand *o = &j->operands[i];
        Py_XINCREF(o->object);
        if (o->host && !o->object)
            o->view.data = o->number;
    }
    return &j->work;
}

static void tell_of_out(const call *c)
{
    char text[COLLET_ERROR_TEXT];
    snprintf(text, sizeof text,
             "the call of %s was interrupted, but continues and writes `out` until collet.finish() "
             "returns",
             c->name);
    log_keep(NULL, COLLET_LOG_WARNING, text);
    log_deliver();
}

/* Computes a call of the main thread, so that Ctrl-C interrupts it unless it is quick. */
static int compute_heard(call *c)
{
    uint64_t print = fingerprint(c);
    if (work_is_quick(print) && !waits(c)) {
        int64_t start = work_now();
        PyThreadState *state = runtime_leave();
        collet_status status = run(c);
        runtime_return(state);
        work_learn(print, work_now() - start);
        return raised(c, status);
    }
    work *w = new_job(c);
    int failed = w ? work_run(w) : -1;
    if (failed > 0 && c->given)
        tell_of_out(c);
    if (failed)
        return -1;
    work_learn(print, w->nanoseconds);
    w->drop(w);
    return 0;
}

/* ---- Observers ---------------------------------------------------------------------------- */

static _Thread_local PyObject
    *observer; /* called before and after each call of the thread; NULL: none */

PyObject *compute_observe(PyObject *Py_UNUSED(module), PyObject *function)
{
    PyObject *before = observer;
    observer = function == Py_None ? NULL : Py_NewRef(function);
    return before ? before : Py_NewRef(Py_None);
}

int call_is_observed(void)
{
    return observer != NULL;
}

/* The call whose begin is being reported to the observer, for compute_explain; NULL: none. */
static _Thread_local call *observed;

static int tell(call *c, PyObject *begins)
{
    if (!observer)
        return 0;
    PyObject *name = PyUnicode_FromString(c->name);
    call *before = observed;
    observed = begins == Py_True ? c : NULL;
    PyObject *done = name ? PyObject_CallFunctionObjArgs(observer, name, begins, NULL) : NULL;
    observed = before;
    Py_XDECREF(name);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* ---- Captures ----------------------------------------------------------------------------- */

/* The number of an operand, in a capture. */
static uint32_t captured_operand(const capture *t, const call *c, const operand *o)
{
    collet_scalar s = {.dtype = o->view.spec.dtype};
    collet_array *number;
    uint32_t found = CAPTURE_UNKNOWN;
    if (o->object)
        return o->host ? CAPTURE_UNKNOWN : capture_number(array_value(o->object));
    if (!o->host || o->view.spec.ndim ||
        collet_array_create(c->context, &number, s.dtype, 0, NULL) != COLLET_OK)
        return CAPTURE_UNKNOWN;
    memcpy(s.value.bytes, o->number, collet_dtype_size(s.dtype));
    if (collet_array_write_element(c->context, number, NULL, &s) == COLLET_OK)
        (void)collet_recording_constant(c->context, t->handle, &found, number);
    collet_array_destroy(number);
    return found;
}

/* Gives the outputs of a call the numbers of the values that the step made. 0: the values differ from those that the step
 * makes. */
static int name_outputs(capture *t, const call *c, const uint32_t *made)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        const operand *o = &c->operands[i];
        if (o->absent && !o->object)
            continue;
        const lazy_value *v = o->host || !o->object ? NULL : array_value(o->object);
        if (!v || v->serial <= t->begin || !array_is_dense(o->array, 0))
            return 0;
        t->bytes += collet_array_size(o->array) * (int64_t)collet_dtype_size(o->view.spec.dtype);
        capture_made(v, made[i]);
    }
    return 1;
}

/* Makes the call a step of the thread's capture, or lets the capture fail. */
static void follow(const call *c)
{
    capture *t = capture_now();
    uint32_t ins[INS], made[OUTS], missing = 0;
    collet_array_spec outs[OUTS];
    if (!t)
        return;
    for (uint32_t i = 0; i < c->n_in; i++) {
        const operand *o = &c->operands[c->n_out + i];
        int absent = !o->object && !o->host && c->explain;
        ins[i] = absent ? COLLET_RECORDING_ABSENT : captured_operand(t, c, o);
        missing += !absent && ins[i] == CAPTURE_UNKNOWN;
    }
    for (uint32_t i = 0; i < c->n_out; i++) {
        outs[i] = c->operands[i].view.spec;
        if (c->operands[i].absent)
            outs[i].ndim = COLLET_ABSENT;
    }
    collet_status status =
        missing      ? COLLET_INVALID
        : c->explain ? collet_recording_call(c->context, t->handle, made, (uint32_t)c->id, ins,
                                             outs, c->params_size ? c->params : NULL)
                     : collet_recording_evaluate(c->context, t->handle, made,
                                                 (collet_expression *)(uintptr_t)c->id, ins);
    if (status != COLLET_OK || !name_outputs(t, c, made))
        capture_fail();
    else if (!c->explain && PyList_Append(t->kept, c->object)) {
        PyErr_Clear();
        capture_fail();
    }
}

static int make_outputs(call *c)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        operand *o = &c->operands[i];
        int32_t order[COLLET_MAX_DIMS];
        if (o->absent || o->object)
            continue;
        int other = c->elementwise && o->view.spec.ndim > 1 &&
                    operand_order(&c->operands[c->n_out], c->n_in, &o->view.spec, order);
        if (operand_make(o, c->context, c->device, other ? order : NULL))
            return -1;
    }
    return 0;
}

PyObject *compute_explain(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collet_array *outs[OUTS];
    const collet_array *ins[INS];
    char text[EXPLANATION], shown[EXPLANATION];
    call *c = observed;
    if (!c)
        return PyErr_Format(PyExc_RuntimeError, "explanation() is for the function of observe()");
    if (!c->explain)
        return PyUnicode_FromFormat("%s: a program of several functions, computed at once\n",
                                    c->name);
    if (make_outputs(c))
        return NULL;
    collet_status status = wrap(c, outs, ins);
    if (status == COLLET_OK)
        status = c->explain(c, text, sizeof text, outs, ins);
    for (uint32_t i = 0; i < c->n_out + c->n_in; i++)
        operand_unwrap(&c->operands[i]);
    if (raised(c, status))
        return NULL;
    dtype_translate(text, shown, sizeof shown);
    return PyUnicode_DecodeUTF8(shown, (Py_ssize_t)strlen(shown), "replace");
}

/* The Array that the caller gave as output `i`; NULL: the caller gave no output, or another object. */
static PyObject *array_output(const call *c, uint32_t i)
{
    const operand *o = &c->operands[i];
    return c->given && o->object && !o->host ? o->object : NULL;
}

static int has_readers(const call *c)
{
    for (uint32_t i = 0; i < c->n_out; i++)
        if (array_output(c, i) && array_has_readers(array_output(c, i)))
            return 1;
    return 0;
}

static int settle_outputs(const call *c)
{
    int failed = 0;
    while (!failed && has_readers(c))
        for (uint32_t i = 0; i < c->n_out && !failed; i++)
            failed = array_output(c, i) ? array_settle_readers(array_output(c, i)) : 0;
    return failed;
}

/* Prepares the computation: waits for readers of the outputs, takes the thread's context, which Python code may have
 * replaced, and pins the memory that the call reads. *held: whether to keep the GIL. Returns 0, 1 if memory that the
 * call reads was written since the snapshot, or -1 with an exception. */
static int begin(call *c, int *held)
{
    do {
        if (settle_outputs(c) || !(c->context = runtime_context()))
            return -1;
    } while (has_readers(c));
    *held = runtime_at_once() && is_small(c) && !waits(c);
    if (c->reads && !snapshot_holds(c->reads))
        return 1;
    for (uint32_t i = 0; i < c->n_out; i++)
        if (array_output(c, i))
            array_begin_write(array_output(c, i));
    c->pinned = c->reads && !*held;
    if (c->pinned)
        snapshot_pin(c->reads);
    return 0;
}

static int compute(call *c)
{
    int held = 0, failed;
    collet_status status;
    if (!(c->context = runtime_context()) || make_outputs(c))
        return -1;
    failed = begin(c, &held);
    if (failed)
        return failed;
    if (!held && work_on_main_thread())
        return compute_heard(c);
    PyThreadState *state = held ? NULL : runtime_leave();
    status = run(c);
    if (!held)
        runtime_return(state);
    return raised(c, status);
}

int call_compute(call *c)
{
    int failed = tell(c, Py_True) ? -1 : compute(c);
    if (!failed)
        follow(c);
    return failed ? failed : tell(c, Py_False);
}

PyObject *call_results(const call *c)
{
    if (c->n_out == 1)
        return Py_NewRef(c->operands[0].object);
    PyObject *tuple = PyTuple_New(c->n_out);
    for (uint32_t i = 0; tuple && i < c->n_out; i++)
        PyTuple_SetItem(tuple, i, Py_NewRef(c->operands[i].object));
    return tuple;
}
