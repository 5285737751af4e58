/* SPDX-License-Identifier: Apache-2.0 */
/* An evaluation of an expression: its arguments become operands.
 * Tests: python/tests/op/test_evaluate.py */
#include "evaluate.h"

#include <string.h>

#include <collet/floating.h>

#include "src/base/error.h"
#include "compute.h"
#include "src/base/runtime.h"
#include "src/base/tracer.h"

static int too_long(PyObject *number, const char *name)
{
    PyObject *text = PyObject_Repr(number);
    const char *digits = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyErr_Clear(); /* Python refuses to write integers of more than 4,300 digits */
    error_format(COLLET_DTYPE,
                 "%s is %.60s%s, which is beyond the integers of 64 bits: give a float", name,
                 digits ? digits : "an integer of thousands of digits",
                 digits && strlen(digits) > 60 ? "..." : "");
    Py_XDECREF(text);
    return -1;
}

int evaluate_number(PyObject *object, const char *name, collet_scalar *s)
{
    int overflow = 0;
    memset(s, 0, sizeof *s);
    if (PyFloat_CheckExact(object)) {
        s->dtype = COLLET_F64;
        s->value.f64 = PyFloat_AsDouble(object);
    } else if (PyBool_Check(object)) {
        s->dtype = COLLET_BOOL;
        s->value.b8 = object == Py_True;
    } else if (PyLong_CheckExact(object)) {
        s->dtype = COLLET_I64;
        s->value.i64 = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow > 0) {
            s->dtype = COLLET_U64;
            s->value.u64 = PyLong_AsUnsignedLongLong(object);
        }
        if (overflow < 0 || PyErr_Occurred()) {
            PyErr_Clear();
            return too_long(object, name);
        }
    } else if (PyComplex_CheckExact(object)) {
        s->dtype = COLLET_C128;
        s->value.c128.re = PyComplex_RealAsDouble(object);
        s->value.c128.im = PyComplex_ImagAsDouble(object);
    }
    return s->dtype != COLLET_DTYPE_NONE;
}

int evaluate_input(operand *o, PyObject *given, const char *name)
{
    collet_scalar number;
    int found = evaluate_number(given, name, &number);
    if (found > 0) {
        memcpy(o->number, &number.value, sizeof o->number);
        o->view.spec.dtype = number.dtype;
        o->view.spec.ndim = COLLET_ABSENT;
    }
    return found < 0 || (!found && operand_input(o, given, name, COLLET_DTYPE_NONE)) ? -1 : 0;
}

static int take_inputs(call *c, expression_object *e, PyObject *const *given)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        operand *o = &c->operands[c->n_out + i];
        if (evaluate_input(o, given[i], collet_expression_input_name(e->handle, i)))
            return -1;
        c->device |= o->array != NULL;
    }
    return 0;
}

static int take_outputs(call *c, PyObject *out)
{
    int several = out && PyTuple_Check(out);
    c->given = out && out != Py_None;
    if (!c->given)
        return 0;
    if (several ? PyTuple_Size(out) != (Py_ssize_t)c->n_out : c->n_out != 1) {
        PyErr_Format(PyExc_ValueError,
                     "the expression has %d outputs; `out` is a tuple of as many "
                     "arrays or Nones",
                     (int)c->n_out);
        return -1;
    }
    for (uint32_t i = 0; i < c->n_out; i++) {
        PyObject *given = several ? PyTuple_GetItem(out, i) : out;
        if (given != Py_None && operand_output(&c->operands[i], given, "out"))
            return -1;
        c->device |= c->operands[i].array != NULL;
    }
    return 0;
}

/* Infers the specs of the outputs that the caller did not give. */
static int infer(call *c, expression_object *e)
{
    collet_argument ins[COLLET_EXPRESSION_INPUTS];
    collet_array_spec outs[COLLET_EXPRESSION_OUTPUTS];
    collet_error err;
    uint32_t open = 0;
    for (uint32_t i = 0; i < c->n_out; i++)
        open += !c->operands[i].object;
    if (!open) /* the evaluation checks the outputs that the caller gave */
        return 0;
    for (uint32_t i = 0; i < c->n_in; i++) {
        const collet_array_spec *spec = &c->operands[c->n_out + i].view.spec;
        ins[i] = (collet_argument){.name = collet_expression_input_name(e->handle, i),
                                   .spec = spec->ndim == COLLET_ABSENT ? NULL : spec,
                                   .number = {.dtype = spec->dtype}};
    }
    collet_status status =
        collet_expression_infer(e->handle, outs, sizeof *outs, ins, c->n_in, &err);
    if (status != COLLET_OK) {
        error_raise(status, err.text);
        return -1;
    }
    for (uint32_t i = 0; i < c->n_out; i++)
        if (!c->operands[i].object)
            c->operands[i].view.spec = outs[i];
    return 0;
}

static collet_status issue(const call *c, collet_array *const *outs, const collet_array *const *ins)
{
    collet_expression *e = ((expression_object *)c->object)->handle;
    collet_array *given[COLLET_EXPRESSION_OUTPUTS];
    collet_argument arguments[COLLET_EXPRESSION_INPUTS];
    for (uint32_t i = 0; i < c->n_in; i++) {
        const operand *o = &c->operands[c->n_out + i];
        arguments[i] =
            (collet_argument){.name = collet_expression_input_name(e, i), .array = ins[i]};
        if (ins[i])
            continue;
        arguments[i].number.dtype = o->view.spec.dtype;
        memcpy(&arguments[i].number.value, o->number, sizeof o->number);
    }
    memcpy(given, outs, c->n_out * sizeof *outs);
    return collet_expression_evaluate(c->context, e, given, arguments, c->n_in);
}

static PyObject *traced(expression_object *e, PyObject *const *given, PyObject *out)
{
    Py_ssize_t count = collet_expression_input_count(e->handle);
    PyObject *name = out && out != Py_None ? Py_BuildValue("(s)", "out") : NULL, *made = NULL;
    PyObject *arguments[COLLET_EXPRESSION_INPUTS + 1];
    memcpy(arguments, given, (size_t)count * sizeof *given);
    arguments[count] = out;
    if (!PyErr_Occurred())
        made = tracer_call((PyObject *)e, arguments, count, name);
    Py_XDECREF(name);
    return made;
}

PyObject *evaluate_expression(expression_object *e, PyObject *const *given, PyObject *out,
                              const snapshot *reads)
{
    if (tracer_among(given, collet_expression_input_count(e->handle)) || tracer_among(&out, 1))
        return traced(e, given, out);
    COLLET_FLOATING_SCOPE; /* this function converts Python's numbers and NumPy's arrays */
    operand operands[COLLET_EXPRESSION_OUTPUTS + COLLET_EXPRESSION_INPUTS];
    PyObject *made = NULL;
    call c;
    c.object = (PyObject *)e;
    c.name = "evaluate";
    c.issue = issue;
    c.explain = NULL;
    c.users = &e->users;
    c.id = (uintptr_t)e->handle;
    c.n_out = collet_expression_output_count(e->handle);
    c.n_in = collet_expression_input_count(e->handle);
    c.params_size = 0;
    c.device = 0;
    c.elementwise = 1; /* also for a reduction: this has no effect, unless an input has the shape of a result */
    c.operands = operands;
    for (uint32_t i = 0; i < c.n_out + c.n_in; i++)
        operand_start(&operands[i]);
    e->users++;
    c.context = runtime_context();
    c.reads = reads;
    c.pinned = 0;
    if (c.context && !take_inputs(&c, e, given) && !take_outputs(&c, out) && !infer(&c, e)) {
        int stale = call_compute(&c);
        if (stale >= 0)
            made = stale ? Py_NewRef(Py_NotImplemented) : call_results(&c);
    }
    e->users--;
    for (uint32_t i = 0; i < c.n_out + c.n_in; i++)
        operand_clear(&operands[i]);
    return made;
}
