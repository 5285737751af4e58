/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_evaluate.py */
#include "expression.h"

#include <string.h>

#include "src/base/dtype.h"
#include "src/base/error.h"
#include "src/base/numpy.h"
#include "src/base/runtime.h"

static PyTypeObject *type;

/* ---- Calls -------------------------------------------------------------------------------- */

/* The number of the input with this name; -1: there is none. */
static Py_ssize_t input_named(expression_object *e, PyObject *key)
{
    PyObject *names = expression_names(e);
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        if (name == key || (PyUnicode_Check(key) && !PyUnicode_Compare(name, key)))
            return i;
    }
    return -1;
}

static PyObject *expression_call(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    expression_object *e = (expression_object *)self;
    PyObject *given[COLLET_EXPRESSION_INPUTS] = {NULL}, *out = NULL, *key, *value;
    Py_ssize_t inputs = collet_expression_input_count(e->handle), at = 0;
    Py_ssize_t count = PyTuple_Size(arguments);
    if (count > inputs)
        return PyErr_Format(PyExc_TypeError, "the expression has %zd inputs (%zd given)", inputs,
                            count);
    for (Py_ssize_t i = 0; i < count; i++)
        given[i] = PyTuple_GetItem(arguments, i);
    while (keywords && PyDict_Next(keywords, &at, &key, &value)) {
        Py_ssize_t i = input_named(e, key);
        if (i < 0 && PyUnicode_CompareWithASCIIString(key, "out"))
            return PyErr_Format(PyExc_TypeError, "the expression has no input %R", key);
        if (i >= 0 && given[i])
            return PyErr_Format(PyExc_TypeError, "the expression got its input %R twice", key);
        *(i < 0 ? &out : &given[i]) = value;
    }
    for (Py_ssize_t i = 0; i < inputs; i++)
        if (!given[i])
            return PyErr_Format(PyExc_TypeError,
                                "the expression has %zd inputs; %zd, '%s', is "
                                "missing",
                                inputs, i, collet_expression_input_name(e->handle, (uint32_t)i));
    return evaluate_expression(e, given, out, NULL);
}

/* ---- Making ------------------------------------------------------------------------------- */

static PyObject *raised(collet_status status, const collet_error *err)
{
    return error_raise(status, err->text);
}

/* Refuses a text that converts by a name that means another dtype in NumPy, such as i8(x): -1 with
 * an exception. All other names of dtypes mean the same in Python and C, or exist only in one of the two. */
static int check_conversions(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    for (const char *at = text; *at; at++) {
        size_t length = strspn(at, letters);
        collet_dtype dtype = dtype_foreign(at, length);
        const char *behind = at + length;
        behind += strspn(behind, " \t\n");
        if (dtype && *behind == '(') {
            int column = 1;
            for (const char *s = text; s < at; s++)
                column += (*s & 0xc0) != 0x80;
            error_format(COLLET_INVALID,
                         "column %d: '%.*s' has another width in NumPy: write %s(...) for %zu bits",
                         column, (int)length, at, dtype_name(dtype), 8 * collet_dtype_size(dtype));
            return -1;
        }
        at += length ? length - 1 : 0;
    }
    return 0;
}

static PyObject *make(PyTypeObject *class, PyObject *text)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(class, Py_tp_alloc);
    expression_object *e = (expression_object *)allocate(class, 0);
    collet_error err;
    collet_status status;
    Py_ssize_t length = 0;
    const char *bytes = text ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
    if (!e || (text && (!bytes || check_conversions(bytes)))) {
        Py_XDECREF((PyObject *)e);
        return NULL;
    }
    status = !text ? collet_expression_create(&e->handle, &err)
             : strlen(bytes) != (size_t)length
                 ? (error_raise(COLLET_INVALID, "the text has a null character"), COLLET_INVALID)
                 : collet_expression_parse(&e->handle, bytes, &err);
    if (status != COLLET_OK) {
        e->handle = NULL;
        Py_DECREF(e);
        return raised(status, &err);
    }
    e->text = Py_XNewRef(text);
    return (PyObject *)e;
}

PyObject *expression_new(PyObject *text)
{
    return make(type, text);
}

static PyObject *expression_create(PyTypeObject *class, PyObject *arguments, PyObject *keywords)
{
    static char *words[] = {"text", NULL};
    PyObject *text = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|U", words, &text))
        return NULL;
    return make(class, text);
}

static void expression_dealloc(PyObject *self)
{
    expression_object *e = (expression_object *)self;
    PyTypeObject *class = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(class, Py_tp_free);
    collet_expression_destroy(e->handle);
    Py_XDECREF(e->text);
    Py_XDECREF(e->names);
    release(self);
    Py_DECREF(class);
}

int expression_check(PyObject *object)
{
    return PyObject_TypeCheck(object, type);
}

/* The expression, for a caller that changes it; NULL with an exception. */
static collet_expression *changed(PyObject *self)
{
    expression_object *e = (expression_object *)self;
    if (e->users)
        return error_raise(COLLET_BUSY, "this Expression is being evaluated; add to it and set its "
                                        "constants while no thread evaluates it");
    Py_CLEAR(e->names);
    Py_CLEAR(e->text);
    return e->handle;
}

/* Returns the number of a new value, or raises the exception of the status. */
static PyObject *value_or(collet_status status, const uint32_t *value, const collet_error *err)
{
    return status == COLLET_OK ? PyLong_FromUnsignedLong(*value) : raised(status, err);
}

static PyObject *none_or(collet_status status, const collet_error *err)
{
    return status == COLLET_OK ? Py_NewRef(Py_None) : raised(status, err);
}

static PyObject *add_input(PyObject *self, PyObject *arguments)
{
    const char *name = NULL;
    PyObject *wanted = Py_None;
    collet_dtype dtype = COLLET_DTYPE_NONE;
    collet_error err;
    uint32_t value = 0;
    if (!PyArg_ParseTuple(arguments, "|zO", &name, &wanted) ||
        (wanted != Py_None && !(dtype = numpy_dtype_parse(wanted))))
        return NULL;
    collet_expression *e = changed(self);
    return e ? value_or(collet_expression_input(e, &value, name, dtype, &err), &value, &err) : NULL;
}

static int take_constant(PyObject *number, collet_scalar *s)
{
    int found = evaluate_number(number, "a constant", s);
    if (!found)
        PyErr_Format(PyExc_TypeError, "a constant is a bool, int, float or complex, not %R",
                     (PyObject *)Py_TYPE(number));
    return found > 0 ? 0 : -1;
}

static PyObject *add_constant(PyObject *self, PyObject *number)
{
    collet_scalar s;
    collet_error err;
    uint32_t value = 0;
    collet_expression *e = take_constant(number, &s) ? NULL : changed(self);
    return e ? value_or(collet_expression_constant(e, &value, &s, 1, &err), &value, &err) : NULL;
}

static PyObject *set_constant(PyObject *self, PyObject *arguments)
{
    unsigned value;
    PyObject *number;
    collet_scalar s;
    collet_error err;
    if (!PyArg_ParseTuple(arguments, "IO", &value, &number) || take_constant(number, &s))
        return NULL;
    collet_expression *e = changed(self);
    return e ? none_or(collet_expression_set_constant(e, value, &s, &err), &err) : NULL;
}

uint32_t expression_op(PyObject *op)
{
    collet_error err;
    uint32_t id = 0;
    if (!PyUnicode_Check(op)) {
        unsigned long number = PyLong_AsUnsignedLong(op);
        return PyErr_Occurred() ? 0 : (uint32_t)number;
    }
    const char *text = PyUnicode_AsUTF8AndSize(op, NULL);
    collet_runtime *runtime = text ? runtime_get() : NULL;
    collet_status status = runtime ? collet_ops_find(runtime, &id, text, &err) : COLLET_OK;
    if (status != COLLET_OK)
        raised(status, &err);
    return status == COLLET_OK ? id : 0;
}

static PyObject *apply(PyObject *self, PyObject *arguments)
{
    uint32_t in[3] = {0}, value = 0, count = (uint32_t)PyTuple_Size(arguments), id;
    collet_error err;
    if (!count || count > 4)
        return PyErr_Format(PyExc_TypeError, "apply() takes an op and one to three values");
    id = expression_op(PyTuple_GetItem(arguments, 0));
    for (uint32_t i = 1; i < count && id; i++) {
        in[i - 1] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(arguments, i));
        if (PyErr_Occurred())
            return NULL;
    }
    collet_expression *e = PyErr_Occurred() ? NULL : changed(self);
    return e ? value_or(collet_expression_apply(e, &value, id, in, count - 1, &err), &value, &err)
             : NULL;
}

static PyObject *convert(PyObject *self, PyObject *arguments)
{
    unsigned from;
    PyObject *wanted;
    collet_dtype dtype;
    collet_error err;
    uint32_t value = 0;
    if (!PyArg_ParseTuple(arguments, "IO", &from, &wanted) || !(dtype = numpy_dtype_parse(wanted)))
        return NULL;
    collet_expression *e = changed(self);
    return e ? value_or(collet_expression_convert(e, &value, from, dtype, &err), &value, &err)
             : NULL;
}

static PyObject *add_output(PyObject *self, PyObject *number)
{
    unsigned long value = PyLong_AsUnsignedLong(number);
    collet_error err;
    collet_expression *e = PyErr_Occurred() ? NULL : changed(self);
    return e ? none_or(collet_expression_output(e, (uint32_t)value, &err), &err) : NULL;
}

/* Converts the axes of a reduction, an integer or several. Returns their number, or -1 with an
 * exception. */
static int take_axes(PyObject *object, int32_t *axes)
{
    int alone = PyIndex_Check(object);
    Py_ssize_t count = alone ? 1 : PySequence_Size(object);
    if (count > COLLET_MAX_DIMS)
        error_format(COLLET_INVALID, "there are %zd axes; an array has at most %d", count,
                     COLLET_MAX_DIMS);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *item = alone ? Py_NewRef(object) : PySequence_GetItem(object, i);
        axes[i] = item ? (int32_t)PyLong_AsLong(item) : 0;
        Py_XDECREF(item);
    }
    return PyErr_Occurred() ? -1 : (int)count;
}

collet_status expression_reduce(expression_object *e, uint32_t op, PyObject *axes, int keepdims,
                                double correction, collet_error *err)
{
    int32_t listed[COLLET_MAX_DIMS];
    int count = axes == Py_None ? 0 : take_axes(axes, listed);
    if (count < 0)
        return COLLET_INVALID; /* with an exception */
    return collet_expression_reduce(e->handle, op, axes == Py_None ? NULL : listed, count, keepdims,
                                    correction, err);
}

static PyObject *reduce(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *words[] = {"op", "axes", "keepdims", "correction", NULL};
    PyObject *op, *axes = Py_None;
    int keepdims = 0;
    double correction = 0.0;
    collet_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|Opd", words, &op, &axes, &keepdims,
                                     &correction))
        return NULL;
    uint32_t id = expression_op(op);
    if (PyErr_Occurred() || !changed(self))
        return NULL;
    return none_or(
        expression_reduce((expression_object *)self, id, axes, keepdims, correction, &err), &err);
}

static PyObject *gradient(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *words[] = {"input", "output", NULL};
    expression_object *e = (expression_object *)self, *made;
    PyObject *input;
    unsigned output = 0;
    collet_expression *handle;
    collet_error err;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|I", words, &input, &output))
        return NULL;
    Py_ssize_t i = PyUnicode_Check(input) ? input_named(e, input) : PyLong_AsSsize_t(input);
    if (PyErr_Occurred())
        return NULL;
    if (i < 0 || i > UINT32_MAX)
        return PyErr_Format(PyExc_ValueError, "the expression has no input %R", input);
    collet_status status =
        collet_expression_gradient(e->handle, &handle, output, (uint32_t)i, &err);
    if (status != COLLET_OK)
        return raised(status, &err);
    made = (expression_object *)expression_new(NULL);
    if (!made) {
        collet_expression_destroy(handle);
        return NULL;
    }
    collet_expression_destroy(made->handle);
    made->handle = handle;
    return (PyObject *)made;
}

/* ---- Properties --------------------------------------------------------------------------- */

PyObject *expression_names(expression_object *e)
{
    Py_ssize_t count = collet_expression_input_count(e->handle);
    PyObject *tuple = e->names ? NULL : PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *name =
            PyUnicode_InternFromString(collet_expression_input_name(e->handle, (uint32_t)i));
        if (!name || PyTuple_SetItem(tuple, i, name))
            Py_CLEAR(tuple);
    }
    if (tuple)
        e->names = tuple;
    return e->names;
}

static PyObject *get_inputs(PyObject *self, void *Py_UNUSED(unused))
{
    return Py_XNewRef(expression_names((expression_object *)self));
}

static PyObject *get_outputs(PyObject *self, void *Py_UNUSED(unused))
{
    return PyLong_FromUnsignedLong(
        collet_expression_output_count(((expression_object *)self)->handle));
}

static PyObject *repr(PyObject *self)
{
    const expression_object *e = (const expression_object *)self;
    return e->text ? PyUnicode_FromFormat("collet.Expression(%R)", e->text)
                   : PyUnicode_FromFormat("<collet.Expression of %d inputs, %d outputs>",
                                          (int)collet_expression_input_count(e->handle),
                                          (int)collet_expression_output_count(e->handle));
}

static PyObject *pickled(PyObject *self, PyObject *Py_UNUSED(unused))
{
    const expression_object *e = (const expression_object *)self;
    if (!e->text)
        return PyErr_Format(PyExc_TypeError,
                            "an Expression that was made by calls cannot be pickled");
    return Py_BuildValue("O(O)", (PyObject *)Py_TYPE(self), e->text);
}

static PyGetSetDef properties[] = {
    {"inputs", get_inputs, NULL, "The names of the inputs, in order.", NULL},
    {"outputs", get_outputs, NULL, "The number of outputs.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    {"input", add_input, METH_VARARGS,
     "input($self, name=None, dtype=None, /)\n--\n\n"
     "Adds an input. If `dtype` is given, the input accepts only this dtype. Returns the number of the value."},
    {"constant", add_constant, METH_O,
     "constant($self, number, /)\n--\n\n"
     "Adds a number, which takes the dtype of other operands. Returns the number of the value."},
    {"set_constant", set_constant, METH_VARARGS,
     "set_constant($self, value, number, /)\n--\n\n"
     "Gives a constant another number of the same type; nothing is compiled again."},
    {"apply", apply, METH_VARARGS,
     "apply($self, op, /, *values)\n--\n\n"
     "Adds an elementwise function of values, by its name or id. Returns the number of the new value."},
    {"convert", convert, METH_VARARGS,
     "convert($self, value, dtype, /)\n--\n\n"
     "Adds the value converted to a dtype. Returns the number of the new value."},
    {"output", add_output, METH_O,
     "output($self, value, /)\n--\n\nMakes the value the next output."},
    {"reduce", (PyCFunction)(void (*)(void))reduce, METH_VARARGS | METH_KEYWORDS,
     "reduce($self, op, axes=None, keepdims=False, correction=0.0)\n--\n\n"
     "Reduces every output, by \"sum\" or another reduction, over axes or over all."},
    {"gradient", (PyCFunction)(void (*)(void))gradient, METH_VARARGS | METH_KEYWORDS,
     "gradient($self, input, output=0)\n--\n\n"
     "The derivative of an output by an input, a name or a number: an Expression with the same "
     "inputs."},
    {"__reduce__", pickled, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

int expression_add_type(PyObject *module)
{
    PyType_Slot slots[] = {
        {Py_tp_new, expression_create},
        {Py_tp_dealloc, expression_dealloc},
        {Py_tp_call, expression_call},
        {Py_tp_repr, repr},
        {Py_tp_getset, properties},
        {Py_tp_methods, methods},
        {Py_tp_doc, "Expression(text=None)\n--\n\n"
                    "A graph of elementwise functions, built once and called with arrays, in the "
                    "order of `inputs` or by name. Arguments and results are those of "
                    "collet.evaluate.\n\n"
                    ">>> e = collet.Expression(\"a*b + 1\")\n"
                    ">>> e([1.0, 2.0], 3)\n"
                    "array([4., 7.])\n"
                    ">>> e.gradient(\"b\")(a=[1.0, 2.0], b=3)\n"
                    "array([1., 2.])\n\n"
                    "Without a text it is empty, and input, constant, apply, convert, output and "
                    "reduce add to it; a value is known by its number:\n\n"
                    ">>> e = collet.Expression()\n"
                    ">>> x, two = e.input(\"x\"), e.constant(2)\n"
                    ">>> e.output(e.apply(\"mul\", e.convert(x, \"float64\"), two))\n"
                    ">>> e.reduce(\"sum\", axes=0)\n"
                    ">>> e.set_constant(two, 10)\n"
                    ">>> float(e(np.array([1, 2])))\n"
                    "30.0"},
        {0, NULL}};
    PyType_Spec spec = {.name = "collet.Expression",
                        .basicsize = sizeof(expression_object),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
    type = (PyTypeObject *)PyType_FromSpec(&spec);
    return type ? PyModule_AddObjectRef(module, "Expression", (PyObject *)type) : -1;
}
