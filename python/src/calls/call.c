/* SPDX-License-Identifier: Apache-2.0 */
/* A call of an op: its arguments become operands and parameters, its outputs are inferred.
 * Tests: python/tests/test_op.py */
#include "op.h"

#include <string.h>

#include <collet/floating.h>
#include <collet/ops.h>

#include "compute.h"
#include "src/array/array.h"
#include "src/base/error.h"
#include "src/base/runtime.h"
#include "src/base/tracer.h"

typedef struct request {
    call call;
    op_object *op;
    PyObject *given[COLLET_MAX_OPERANDS]; /* the caller's operands; NULL: absent or to be made */
    PyObject *fields[OP_FIELDS];
    PyObject *out, *dtype, *shape;
    operand operands[COLLET_MAX_OPERANDS];
} request;

/* ---- Arguments ---------------------------------------------------------------------------- */

static int same(PyObject *a, PyObject *b)
{
    return a == b || PyUnicode_Compare(a, b) == 0;
}

/* The place for the value of a keyword; NULL if there is no such keyword. */
static PyObject **place_of(request *c, PyObject *key)
{
    static const char *const others[] = {"out", "dtype", "shape"};
    PyObject **places[] = {&c->out, &c->dtype, &c->shape};
    const op_object *op = c->op;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (same(op->operands[op->n_out + i].name, key))
            return &c->given[op->n_out + i];
    for (uint32_t i = 0; i < op->field_count; i++)
        if (op->fields[i].row.kind != COLLET_FIELD_RANK && same(op->fields[i].name, key))
            return &c->fields[i];
    for (size_t i = 0; i < 3; i++)
        if (!PyUnicode_CompareWithASCIIString(key, others[i]))
            return places[i];
    return NULL;
}

/* Raises TypeError with the op's signature, which is the first line of its documentation. */
static void raise_unknown(const op_object *op, PyObject *key)
{
    PyObject *lines = PyUnicode_Splitlines(op->doc, 0);
    if (lines)
        PyErr_Format(PyExc_TypeError, "%U() has no parameter %R; it is %S", op->name, key,
                     PyList_GetItem(lines, 0));
    Py_XDECREF(lines);
}

static int take_keywords(request *c, PyObject *const *values, PyObject *keywords)
{
    Py_ssize_t count = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *key = PyTuple_GetItem(keywords, i);
        PyObject **place = place_of(c, key);
        if (!place)
            raise_unknown(c->op, key);
        else if (*place)
            PyErr_Format(PyExc_TypeError, "%U() got %R twice", c->op->name, key);
        if (!place || *place)
            return -1;
        *place = values[i];
    }
    return 0;
}

static int take_arguments(request *c, PyObject *const *arguments, Py_ssize_t count,
                          PyObject *keywords)
{
    const op_object *op = c->op;
    if (count > (Py_ssize_t)op->n_in) {
        PyErr_Format(PyExc_TypeError, "%U() takes %d arrays (%zd given); parameters are keywords",
                     op->name, (int)op->n_in, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        c->given[op->n_out + (uint32_t)i] = arguments[i];
    if (take_keywords(c, arguments + count, keywords))
        return -1;
    for (uint32_t i = op->n_out; i < op->n_out + op->n_in; i++) {
        if (c->given[i] == Py_None)
            c->given[i] = NULL;
        if (!c->given[i] && !op->operands[i].optional) {
            PyErr_Format(PyExc_TypeError, "%U(): the argument '%s' is missing", op->name,
                         op->operands[i].text);
            return -1;
        }
    }
    return 0;
}

/* Takes `out`: an array, or a tuple with an array, None (make it) or False (leave it out) for each
   output. */
static int take_out(request *c)
{
    const op_object *op = c->op;
    if (!c->out || c->out == Py_None)
        return 0;
    if (!PyTuple_Check(c->out)) {
        c->given[0] = c->out;
        return 0;
    }
    if (PyTuple_Size(c->out) != (Py_ssize_t)op->n_out) {
        PyErr_Format(PyExc_ValueError, "%U() has %d outputs, the tuple `out` has %zd", op->name,
                     (int)op->n_out, PyTuple_Size(c->out));
        return -1;
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        PyObject *item = PyTuple_GetItem(c->out, i);
        c->operands[i].absent = item == Py_False;
        c->given[i] = item == Py_None || item == Py_False ? NULL : item;
    }
    return 0;
}

/* ---- Operands ----------------------------------------------------------------------------- */

static int is_number(PyObject *object)
{
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyComplex_CheckExact(object);
}

/* Converts the inputs: arrays first, then numbers. A number gets the dtype of its operand if the
 * operand allows only one dtype; otherwise the dtype of the first array whose operand allows
 * several. */
static int take_inputs(request *c)
{
    const op_object *op = c->op;
    uint32_t end = op->n_out + op->n_in;
    collet_dtype like = 0;
    for (int numbers = 0; numbers < 2; numbers++) {
        for (uint32_t i = op->n_out; i < end; i++) {
            operand *o = &c->operands[i];
            if (!c->given[i] || is_number(c->given[i]) != numbers)
                continue;
            collet_dtype fixed = op->operands[i].fixed;
            if (operand_input(o, c->given[i], op->operands[i].text,
                              numbers && fixed ? fixed : like))
                return -1;
            c->call.device |= o->array != NULL;
            if (!numbers && !like && !fixed)
                like = o->view.spec.dtype;
        }
    }
    return 0;
}

static int parse_shape(PyObject *object, collet_array_spec *spec)
{
    int alone = PyIndex_Check(object);
    Py_ssize_t count = alone ? 1 : PySequence_Size(object);
    if (count < 0)
        return -1;
    if (count > COLLET_MAX_DIMS) {
        error_format(COLLET_SHAPE, "shape: %zd axes; arrays have at most %d", count,
                     COLLET_MAX_DIMS);
        return -1;
    }
    spec->ndim = (int32_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = alone ? Py_NewRef(object) : PySequence_GetItem(object, i);
        PyObject *index = item ? PyNumber_Index(item) : NULL;
        spec->shape[i] = index ? PyLong_AsLongLong(index) : -1;
        Py_XDECREF(item);
        Py_XDECREF(index);
        if (spec->shape[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Sets the known properties of the outputs before inference. */
static int take_outputs(request *c)
{
    for (uint32_t i = 0; i < c->op->n_out; i++) {
        operand *o = &c->operands[i];
        o->view.spec.dtype = COLLET_DTYPE_NONE;
        o->view.spec.ndim = COLLET_INFER;
        if (c->given[i] && operand_output(o, c->given[i], c->op->operands[i].text))
            return -1;
        c->call.device |= o->array != NULL;
    }
    if (c->given[0])
        return 0;
    if (c->dtype && c->dtype != Py_None &&
        !(c->operands[0].view.spec.dtype = numpy_dtype_parse(c->dtype)))
        return -1;
    return c->shape && c->shape != Py_None ? parse_shape(c->shape, &c->operands[0].view.spec) : 0;
}

/* ---- Inference ---------------------------------------------------------------------------- */

/* Infers the outputs, except outputs whose bit is set in `left_out`. */
static collet_status infer_without(request *c, uint32_t left_out, const collet_array_spec *ins,
                                   collet_error *err)
{
    const op_object *op = c->op;
    collet_array_spec outs[COLLET_MAX_OPERANDS];
    collet_status status;
    for (uint32_t i = 0; i < op->n_out; i++) {
        outs[i] = c->operands[i].view.spec;
        if (left_out & 1u << i)
            outs[i].ndim = COLLET_ABSENT;
    }
    status = collet_ops_infer(collet_context_runtime(c->call.context), op->id, outs, ins,
                              sizeof *outs, c->call.params, err);
    for (uint32_t i = 0; status == COLLET_OK && i < op->n_out; i++) {
        c->operands[i].view.spec = outs[i];
        c->operands[i].absent = (left_out >> i & 1) != 0;
    }
    return status;
}

/* Infers as many of the outputs as the inputs and parameters allow: optional outputs that the
 * caller did not mention may be left out. 0, or -1 with an exception. */
static int infer_all(request *c, const collet_array_spec *ins)
{
    const op_object *op = c->op;
    uint32_t may_miss = 0, missing = 0, attempt = 0;
    collet_error err;
    collet_status status;
    for (uint32_t i = 0; i < op->n_out; i++) {
        missing |= (uint32_t)c->operands[i].absent << i;
        if (op->operands[i].optional && !c->given[i] && !c->operands[i].absent)
            may_miss |= 1u << i;
    }
    do { /* leaves out each subset of may_miss, the empty subset first */
        status = infer_without(c, missing | attempt, ins, &err);
        attempt = (attempt - may_miss) & may_miss;
    } while (status != COLLET_OK && attempt);
    if (status == COLLET_OK)
        return 0;
    error_raise(status, err.text);
    return -1;
}

static int same_spec(const collet_array_spec *a, const collet_array_spec *b)
{
    return a->ndim == b->ndim && a->dtype == b->dtype &&
           (a->ndim <= 0 || !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape));
}

/* 1: the last inference had the same inputs and parameters, and its result is used again; 0: it had other inputs or
 * parameters. */
static int recall(request *c, const collet_array_spec *ins)
{
    const op_object *op = c->op;
    const op_memory *m = &op->memory;
    if (m->generation != runtime_generation() || memcmp(m->params, c->call.params, op->params_size))
        return 0;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!same_spec(&ins[i], &m->specs[op->n_out + i]))
            return 0;
    for (uint32_t i = 0; i < op->n_out; i++) {
        c->operands[i].view.spec = m->specs[i];
        c->operands[i].absent = (m->absent >> i & 1) != 0;
    }
    return 1;
}

static void remember(request *c, const collet_array_spec *ins)
{
    op_object *op = c->op;
    op_memory *m = &op->memory;
    m->absent = 0;
    for (uint32_t i = 0; i < op->n_out; i++) {
        m->specs[i] = c->operands[i].view.spec;
        m->absent |= (uint32_t)c->operands[i].absent << i;
    }
    memcpy(&m->specs[op->n_out], ins, op->n_in * sizeof *ins);
    memcpy(m->params, c->call.params, op->params_size);
    m->generation = runtime_generation();
}

static int infer(request *c)
{
    const op_object *op = c->op;
    collet_array_spec ins[COLLET_MAX_OPERANDS];
    int open = 0, chosen = c->dtype || c->shape; /* outputs to make; whether the caller gave dtype or shape */
    for (uint32_t i = 0; i < op->n_out; i++) {
        open += !c->given[i];
        chosen |= c->given[i] || c->operands[i].absent;
    }
    if (!open) /* collet_call checks the outputs that the caller gave */
        return 0;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const operand *o = &c->operands[op->n_out + i];
        ins[i].ndim = COLLET_ABSENT;
        if (c->given[op->n_out + i])
            ins[i] = o->view.spec;
    }
    if (!chosen && recall(c, ins))
        return 0;
    if (infer_all(c, ins))
        return -1;
    if (!chosen)
        remember(c, ins);
    return 0;
}

/* Whether the op is an elementwise function (the ids in elementwise.def) or a conversion. */
static int is_elementwise(const request *c)
{
    uint32_t id = c->op->id;
    return (id >= 3 && id <= 17) || (id >= 256 && id <= 511) ||
           (id == COLLET_OP_COPY && c->dtype && c->dtype != Py_None);
}

/* ---- The call ----------------------------------------------------------------------------- */

static PyObject *result(request *c)
{
    const op_object *op = c->op;
    PyObject *tuple, *made;
    if (!op->make)
        return Py_NewRef(c->operands[0].object);
    tuple = PyTuple_New(op->n_out);
    for (uint32_t i = 0; tuple && i < op->n_out; i++) {
        PyObject *item = c->operands[i].object ? c->operands[i].object : Py_None;
        PyTuple_SetItem(tuple, i, Py_NewRef(item));
    }
    made = tuple ? PyObject_CallFunctionObjArgs(op->make, tuple, NULL) : NULL;
    Py_XDECREF(tuple);
    return made;
}

static collet_status issue(const call *c, collet_array *const *outs, const collet_array *const *ins)
{
    return collet_call(c->context, (uint32_t)c->id, outs, ins, c->params_size ? c->params : NULL);
}

static collet_status explain(const call *c, char *text, size_t capacity,
                             collet_array *const *outs, const collet_array *const *ins)
{
    return collet_explain(c->context, (uint32_t)c->id, text, capacity, outs, ins,
                          c->params_size ? c->params : NULL);
}

static void begin_call(call *c, op_object *op, operand *operands)
{
    c->object = (PyObject *)op;
    c->name = op->method.ml_name;
    c->issue = issue;
    c->explain = explain;
    c->users = NULL;
    c->n_out = op->n_out;
    c->n_in = op->n_in;
    c->params_size = op->params_size;
    c->device = 0;
    c->pinned = 0;
    c->operands = operands;
}

static PyObject *traced(const op_object *op, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords)
{
    PyObject *name = PyUnicode_FromFormat("op.%U", op->name);
    PyObject *made = name ? tracer_call(name, arguments, count, keywords) : NULL;
    Py_XDECREF(name);
    return made;
}

PyObject *op_call_reading(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                          PyObject *keywords, const snapshot *reads)
{
    if (tracer_given(arguments, count, keywords))
        return traced((op_object *)self, arguments, count, keywords);
    COLLET_FLOATING_SCOPE; /* this function converts Python's numbers and NumPy's arrays */
    request c;
    op_object *op = (op_object *)self;
    uint32_t end = op->n_out + op->n_in;
    PyObject *made = NULL;
    c.op = op;
    c.out = c.dtype = c.shape = NULL;
    begin_call(&c.call, op, c.operands);
    c.call.reads = reads;
    for (uint32_t i = 0; i < end; i++) {
        c.given[i] = NULL;
        operand_start(&c.operands[i]);
    }
    memset(c.fields, 0, op->field_count * sizeof *c.fields);
    if (take_arguments(&c, arguments, count, keywords) || take_out(&c))
        return NULL;
    c.call.context = runtime_context();
    if (c.call.context && !op_refresh(op) && !take_inputs(&c) && !take_outputs(&c) &&
        !op_set_params(op, collet_context_runtime(c.call.context),
                       op->n_in && c.given[op->n_out] ? c.operands[op->n_out].view.spec.ndim : 0,
                       c.fields, c.call.params) &&
        !infer(&c) && !op_check_fill(op, c.call.params, c.fields, c.operands[0].view.spec.dtype)) {
        c.call.id = op->id;
        c.call.given = c.out && c.out != Py_None;
        c.call.elementwise = is_elementwise(&c);
        int stale = call_compute(&c.call);
        if (stale >= 0)
            made = stale ? Py_NewRef(Py_NotImplemented) : result(&c);
    }
    for (uint32_t i = 0; i < end; i++)
        operand_clear(&c.operands[i]);
    return made;
}

PyObject *op_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    return op_call_reading(self, arguments, count, keywords, NULL);
}

PyObject *op_compute(op_object *op, const collet_array *const *in, const collet_array_spec *out,
                     const void *params)
{
    collet_context *context = op_refresh(op) ? NULL : runtime_context();
    collet_array *array = NULL;
    if (!context)
        return NULL;
    if (collet_array_create(context, &array, out->dtype, out->ndim, out->shape) == COLLET_OK &&
        collet_call(context, op->id, &array, in, params) == COLLET_OK) {
        runtime_called(context);
        return array_new(array);
    }
    error_raise(collet_last_status(context), collet_last_error(context));
    collet_array_destroy(array);
    return NULL;
}

PyObject *op_function(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *name, *doc, *make, *function;
    if (!PyArg_ParseTuple(arguments, "UUO", &name, &doc, &make))
        return NULL;
    op_object *op = op_new(name, doc, make == Py_None ? NULL : make);
    if (!op)
        return NULL;
    op->method =
        (PyMethodDef){PyUnicode_AsUTF8AndSize(op->name, NULL), (PyCFunction)(void (*)(void))op_call,
                      METH_FASTCALL | METH_KEYWORDS, PyUnicode_AsUTF8AndSize(op->doc, NULL)};
    function = PyCFunction_NewEx(&op->method, (PyObject *)op, NULL);
    Py_DECREF(op);
    return function;
}
