/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the node of a function and its arguments if it is certain that an evaluation will not refuse them. All other
 * calls are computed at once, where errors are raised: here only lack of memory is an error.
 * Tests: python/tests/op/test_lazy.py */
#include "wait.h"

#include <math.h>
#include <string.h>

#include <collet/floating.h>
#include <collet/ops.h>

#include "src/array/array.h"
#include "src/array/capture.h"
#include "src/calls/op.h"
#include "src/base/runtime.h"

static int is_exact_number(PyObject *object)
{
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
           PyComplex_CheckExact(object);
}

/* ---- Nodes -------------------------------------------------------------------------------- */

/* An argument of a function, before a node is made. */
typedef struct argument {
    PyObject *object;
    node *node;        /* the node of an Array that waits, else NULL */
    lazy_value *value; /* the value of a computed Array; both NULL: a number */
    collet_array_spec
        spec; /* for a number ndim is COLLET_ABSENT, and dtype has the number's kind */
} argument;

static int take_number(argument *a, const elementwise *f, uint32_t place, const argument *first)
{
    collet_scalar s;
    if (!is_exact_number(a->object) || evaluate_number(a->object, "", &s) <= 0) {
        PyErr_Clear();
        return 0;
    }
    a->spec.dtype = s.dtype;
    a->spec.ndim = COLLET_ABSENT;
    if (!f->powers || !place || !function_is_small_exponent(a->object))
        return 1;
    /* negative powers of integers have another dtype than the integers, or are errors */
    return PyFloat_CheckExact(a->object) ||
           !(PyLong_AsLong(a->object) < 0 && collet_dtype_size(first->spec.dtype) &&
             !function_is_floating(first->spec.dtype));
}

static int take_argument(argument *a, const elementwise *f, uint32_t place, const argument *first)
{
    a->node = NULL;
    a->value = NULL;
    if (!array_check(a->object))
        return take_number(a, f, place, first);
    a->node = array_node(a->object);
    a->value = a->node ? NULL : array_value(a->object);
    if (a->node) {
        a->spec = a->node->spec;
        return a->node->generation == runtime_generation();
    }
    if (!a->value || a->value->generation != runtime_generation()) {
        PyErr_Clear();
        return 0;
    }
    array_spec(a->value->array, &a->spec);
    return 1;
}

/* A bound: Python's numbers of at most this magnitude certainly fit the dtype (negative numbers only if it is
   signed). */
static double largest(collet_dtype dtype)
{
    switch (dtype) {
    case COLLET_BOOL:
    case COLLET_I8:
    case COLLET_U8:
        return 127;
    case COLLET_I16:
    case COLLET_U16:
        return 32767;
    case COLLET_F16:
        return 65504;
    case COLLET_BF16:
    case COLLET_F32:
    case COLLET_C64:
        return 3e38;
    case COLLET_F64:
    case COLLET_C128:
        return INFINITY;
    default:
        return 2147483647;
    }
}

/* Whether the number certainly fits the dtype; functions of other numbers are computed at once. */
static int fits(PyObject *number, collet_dtype dtype)
{
    double size;
    if (PyBool_Check(number))
        return 1;
    if (PyComplex_CheckExact(number)) {
        size = fmax(fabs(PyComplex_RealAsDouble(number)), fabs(PyComplex_ImagAsDouble(number)));
        return !(size > largest(dtype)) || isinf(size);
    }
    size = PyFloat_CheckExact(number) ? PyFloat_AsDouble(number) : PyLong_AsDouble(number);
    if (PyFloat_CheckExact(number))
        return !(fabs(size) > largest(dtype)) || isinf(size);
    if (size < 0 &&
        (dtype == COLLET_U8 || dtype == COLLET_U16 || dtype == COLLET_U32 || dtype == COLLET_U64))
        return 0;
    return fabs(size) <= largest(dtype);
}

/* Whether the numbers among the arguments fit the dtypes of the Arrays, and there are enough Arrays: at least one; with
 * three arguments, the condition and one of the other two. */
static int are_numbers_right(const argument *a, uint32_t count)
{
    uint32_t arrays = 0;
    for (uint32_t i = 0; i < count; i++)
        arrays += a[i].spec.ndim != COLLET_ABSENT;
    if (count < 3 ? !arrays : a[0].spec.ndim == COLLET_ABSENT || arrays < 2)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count && a[i].spec.ndim == COLLET_ABSENT; k++)
            if (a[k].spec.ndim != COLLET_ABSENT && !fits(a[i].object, a[k].spec.dtype))
                return 0;
    return 1;
}

static int broadcast(const argument *a, uint32_t count, collet_array_spec *out)
{
    out->ndim = 0;
    for (uint32_t i = 0; i < count; i++)
        if (a[i].spec.ndim > out->ndim)
            out->ndim = a[i].spec.ndim;
    for (int32_t axis = 0; axis < out->ndim; axis++) {
        int64_t extent = 1;
        for (uint32_t i = 0; i < count; i++) {
            int32_t own = axis - out->ndim + a[i].spec.ndim;
            int64_t n = a[i].spec.ndim != COLLET_ABSENT && own >= 0 ? a[i].spec.shape[own] : 1;
            if (n != 1 && extent != 1 && n != extent)
                return 0;
            if (n != 1)
                extent = n;
        }
        out->shape[axis] = extent;
    }
    return 1;
}

/* The dtype of the result; 0: there is none. */
static collet_dtype result_dtype(elementwise *f, const argument *a)
{
    collet_array_spec specs[NODE_INPUTS], out;
    collet_argument ins[NODE_INPUTS];
    collet_error err;
    uint32_t key = 1;
    for (uint32_t i = 0; i < f->n_in; i++) {
        int number = a[i].spec.ndim == COLLET_ABSENT;
        specs[i] = (collet_array_spec){.dtype = a[i].spec.dtype};
        ins[i] = (collet_argument){.name = collet_expression_input_name(f->general->handle, i),
                                   .spec = number ? NULL : &specs[i],
                                   .number = {.dtype = a[i].spec.dtype}};
        key = key << 5 | (uint32_t)a[i].spec.dtype << 1 | (uint32_t)number;
    }
    uint32_t place = (key * 0x9e3779b1u >> 16) % ELEMENTWISE_DTYPES;
    if (f->known[place].key == key)
        return f->known[place].dtype;
    if (collet_expression_infer(f->general->handle, &out, sizeof out, ins, f->n_in, &err) !=
        COLLET_OK)
        return COLLET_DTYPE_NONE;
    f->known[place].key = (uint16_t)key; /* 1 and 15 bits */
    f->known[place].dtype = (uint16_t)out.dtype;
    return out.dtype;
}

static int find_id(elementwise *f)
{
    collet_error err;
    collet_runtime *runtime = runtime_get();
    const char *name =
        runtime ? PyUnicode_AsUTF8AndSize(((op_object *)PyCFunction_GetSelf(f->single))->name, NULL)
                : NULL;
    if (!name || collet_ops_find(runtime, &f->id, name, &err) != COLLET_OK)
        return 0;
    f->generation = runtime_generation();
    return 1;
}

/* Whether a node can be a part of an expression with results of the shape of `out`. A node that depends on reductions of
 * rows may also have one element per row. *row: the extent of the rows of earlier nodes, 0: none had rows. */
static int fits_shape(const node *n, const collet_array_spec *out, int64_t *row)
{
    int32_t last = out->ndim - 1;
    if (!n->row || n->flat) {
        int fits = node_same_shape(&n->spec, out) && !(n->flat && *row && *row != n->row);
        *row = fits && n->flat ? n->row : *row;
        return fits;
    }
    if (n->spec.ndim != out->ndim || (*row && *row != n->row) ||
        memcmp(n->spec.shape, out->shape, (size_t)last * sizeof *out->shape) ||
        (out->shape[last] != n->row && out->shape[last] != 1) ||
        (n->spec.shape[last] != 1 && n->spec.shape[last] != out->shape[last]))
        return 0;
    *row = n->row;
    return 1;
}

/* Whether a node with one element per row meets an Array or node that does not depend on reductions of rows. The
 * Expression cannot know that this operand has one element per row, too. */
static int meets_column(const elementwise *f, const argument *a, const node *n,
                        const collet_array_spec *out)
{
    int columns = 0, rows = 0;
    for (uint32_t i = 0; i < f->n_in; i++) {
        columns |= a[i].value || (a[i].node && !a[i].node->row);
        rows |= a[i].node && a[i].node->row;
    }
    return columns && rows && (n->flat || !out->ndim || out->shape[out->ndim - 1] == 1);
}

/* Returns the index of an operand that waits and has to be computed first, because it cannot be a part of the same
 * expression. -1: there is no such operand. Such an operand has another shape (it is then computed once and not for
 * each element of the result), is needed a second time, or has another choice of backend; or the expression would
 * have too many inputs. */
static int unfit_operand(const elementwise *f, const argument *a, const collet_array_spec *out,
                         uint32_t choice)
{
    node *nodes[NODE_INPUTS];
    uint32_t inputs = 0, plain = 0, waiting = 0, flat = 0, count;
    int64_t row = 0;
    int largest_one = -1;
    for (int i = 0; i < (int)f->n_in; i++) {
        if (!a[i].node) {
            plain++;
            continue;
        }
        nodes[waiting++] = a[i].node;
        flat += (uint32_t)a[i].node->flat;
        if (!fits_shape(a[i].node, out, &row) || a[i].node->seen || a[i].node->choice != choice ||
            meets_column(f, a, a[i].node, out) || (flat && flat != waiting))
            return i;
        inputs += a[i].node->inputs;
        if (largest_one < 0 || a[i].node->inputs > a[largest_one].node->inputs)
            largest_one = i;
    }
    if (inputs + plain > NODE_INPUT_LIMIT)
        node_count(nodes, waiting, &count, &inputs);
    return inputs + plain > NODE_INPUT_LIMIT ? largest_one : -1;
}

/* Computes the operands that cannot be a part of the expression. Meanwhile other threads may compute other operands. 0,
 * or -1 with an exception. */
static int settle_operands(const elementwise *f, argument *a, const collet_array_spec *out,
                           uint32_t choice)
{
    int i;
    while ((i = unfit_operand(f, a, out, choice)) >= 0) {
        if (!array_get(a[i].object))
            return -1;
        for (uint32_t k = 0; k < f->n_in; k++)
            if (a[k].node && !array_node(a[k].object)) {
                a[k].node = NULL;
                a[k].value = array_value(a[k].object);
            }
    }
    return 0;
}

/* ---- Small Arrays ------------------------------------------------------------------------- */

static int64_t least = 1024; /* Arrays of at least this number of elements wait */

PyObject *wait_from(PyObject *Py_UNUSED(module), PyObject *elements)
{
    int64_t before = least, wanted = PyLong_AsLongLong(elements);
    if (wanted == -1 && PyErr_Occurred())
        return NULL;
    least = wanted;
    return PyLong_FromLongLong(before);
}

/* Whether the op `single` can compute the arguments: small computed Arrays of one dtype, besides a condition, and numbers
 * that take this dtype. */
static int are_small(const elementwise *f, const argument *a, collet_dtype *dtype)
{
    *dtype = COLLET_DTYPE_NONE;
    if (f->condition && (!a[0].value || a[0].spec.dtype != COLLET_BOOL))
        return 0;
    for (uint32_t i = f->condition; i < f->n_in; i++) {
        if (a[i].spec.ndim == COLLET_ABSENT)
            continue;
        if (!a[i].value || collet_array_size(a[i].value->array) >= least ||
            (*dtype && *dtype != a[i].spec.dtype))
            return 0;
        *dtype = a[i].spec.dtype;
    }
    for (uint32_t i = 0; i < f->n_in; i++)
        if (a[i].spec.ndim == COLLET_ABSENT &&
            (f->powers || !(f->floating >> *dtype & 1) || PyBool_Check(a[i].object) ||
             PyComplex_CheckExact(a[i].object)))
            return 0;
    return (int)(f->same >> *dtype & 1);
}

/* Computes the op of an Array and a number, which is converted to the dtype `like`. */
static PyObject *with_number(op_object *op, const argument *a, const collet_array **arrays,
                             collet_dtype like, const collet_array_spec *out)
{
    COLLET_FLOATING_SCOPE; /* this function converts the number */
    int place = arrays[0] != NULL;
    operand number;
    collet_context *context = runtime_context();
    PyObject *made = NULL;
    operand_start(&number);
    if (!context || operand_input(&number, a[place].object, op->operands[place + 1].text, like))
        return NULL;
    if (operand_wrap(&number, context, COLLET_WRAP_READONLY) == COLLET_OK) {
        arrays[place] = number.array;
        made = op_compute(op, arrays, out, NULL);
    } else {
        runtime_raise(context);
    }
    operand_unwrap(&number);
    operand_clear(&number);
    return made;
}

/* Computes x**2 of a small Array as the product x x; the expression gives the same result, bit for bit. NULL with an
 * exception, or without an exception for another Array or exponent. */
static PyObject *square(const elementwise *f, PyObject *const *in)
{
    const argument none = {.object = NULL};
    argument a;
    collet_array_spec out;
    collet_context *context;
    collet_array *made = NULL;
    int two = PyLong_CheckExact(in[1])    ? PyLong_AsLong(in[1]) == 2
              : PyFloat_CheckExact(in[1]) ? PyFloat_AsDouble(in[1]) == 2
                                          : 0;
    PyErr_Clear(); /* for an integer beyond the range of long */
    a.object = in[0];
    if (!two || !array_check(in[0]) || !take_argument(&a, f, 0, &none) || !a.value ||
        (a.spec.dtype != COLLET_F32 && a.spec.dtype != COLLET_F64) ||
        collet_array_size(a.value->array) >= least || runtime_waits() ||
        !(context = runtime_context()))
        return NULL;
    out = a.spec;
    const collet_array *const both[] = {a.value->array, a.value->array};
    if (collet_array_create(context, &made, out.dtype, out.ndim, out.shape) == COLLET_OK &&
        collet_call(context, COLLET_OP_MUL, &made, both, NULL) == COLLET_OK) {
        runtime_called(context);
        return array_new(made);
    }
    runtime_raise(context);
    collet_array_destroy(made);
    return NULL;
}

PyObject *wait_not(elementwise *f, PyObject *const *in)
{
    argument a[NODE_INPUTS];
    const collet_array *arrays[NODE_INPUTS];
    collet_array_spec out;
    op_object *op = (op_object *)PyCFunction_GetSelf(f->single);
    int64_t size = 1;
    int numbers = 0;
    if (!runtime_at_once() || op->params_size || call_is_observed())
        return NULL;
    if (f->powers && !array_check(in[1]))
        return square(f, in);
    for (uint32_t i = 0; i < f->n_in; i++) {
        a[i].object = in[i];
        if (!take_argument(&a[i], f, i, a))
            return NULL;
        numbers |= !a[i].value;
        arrays[i] = a[i].value ? a[i].value->array : NULL;
    }
    if ((numbers && f->n_in > 2) || !are_small(f, a, &out.dtype) || !are_numbers_right(a, f->n_in) ||
        !broadcast(a, f->n_in, &out))
        return NULL;
    for (int32_t axis = 0; axis < out.ndim; axis++)
        size *= out.shape[axis];
    collet_dtype like = out.dtype;
    if (size >= least || !(out.dtype = result_dtype(f, a)))
        return NULL;
    if (runtime_waits()) /* a device may still compute one of the Arrays */
        return function_call(f, in, NULL, NULL);
    return numbers ? with_number(op, a, arrays, like, &out) : op_compute(op, arrays, &out, NULL);
}

/* ---- The node ----------------------------------------------------------------------------- */

/* Makes the node; NULL if an Array has shared memory: other libraries may write it at any time, so no node may read it
 * later. */
static node *make_node(elementwise *f, const argument *a, uint32_t choice)
{
    for (uint32_t i = 0; i < f->n_in; i++) {
        if (f->powers && a[i].spec.ndim == COLLET_ABSENT &&
            !function_is_small_exponent(a[i].object))
            capture_fail(); /* another function computes powers whose exponent is a constant */
        if (a[i].value && (collet_array_is_shared(a[i].value->array) || !value_memory(a[i].value)))
            return NULL;
    }
    node *n = node_new(f, choice);
    for (uint32_t i = 0; n && i < f->n_in; i++) {
        if (a[i].node) {
            n->row = a[i].node->row ? a[i].node->row : n->row;
            n->flat |= a[i].node->flat;
            node_add_node(n, a[i].node);
        } else if (a[i].value)
            node_add_value(n, a[i].value);
        else
            node_add_number(
                n, a[i].object,
                (f->powers ? function_is_small_exponent(a[i].object) : capture_now() != NULL)
                    ? INPUT_CONSTANT
                    : INPUT_NUMBER);
    }
    return n;
}

node *wait_for(elementwise *f, PyObject *const *in)
{
    argument a[NODE_INPUTS];
    collet_array_spec out;
    node *n;
    uint32_t choice = f->lazy ? runtime_choice() : 0;
    if (!choice)
        return NULL;
    for (uint32_t i = 0; i < f->n_in; i++) {
        a[i].object = in[i];
        if (!take_argument(&a[i], f, i, a))
            return NULL;
    }
    if (!are_numbers_right(a, f->n_in) || !broadcast(a, f->n_in, &out) ||
        !(out.dtype = result_dtype(f, a)) ||
        (f->generation != runtime_generation() && !find_id(f)) ||
        settle_operands(f, a, &out, choice))
        return NULL;
    n = make_node(f, a, choice);
    if (n)
        n->spec = out;
    if (n && (n->count >= NODE_LIMIT || n->inputs > NODE_INPUT_LIMIT))
        node_count(&n, 1, &n->count, &n->inputs);
    return n;
}
