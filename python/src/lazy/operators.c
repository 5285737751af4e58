/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of Arrays: for each the function that computes it.
 * Tests: python/tests/test_operators.py */
#include "src/array/array.h"
#include "elementwise.h"

enum function {
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    FLOOR_DIVIDE,
    REMAINDER,
    POW,
    AND,
    OR,
    XOR,
    LEFT,
    RIGHT,
    NEGATIVE,
    POSITIVE,
    ABS,
    INVERT,
    LESS,
    LESS_EQUAL,
    EQUAL,
    NOT_EQUAL,
    GREATER,
    GREATER_EQUAL,
    COUNT,
};

static const char *const names[COUNT] = {
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "pow",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "negative",
    "positive",
    "abs",
    "bitwise_invert",
    "less",
    "less_equal",
    "equal",
    "not_equal",
    "greater",
    "greater_equal",
};

static elementwise *functions[COUNT];

/* NULL with an exception. */
static elementwise *function_of(enum function i)
{
    if (functions[i])
        return functions[i];
    PyObject *module = PyImport_ImportModule("collet._array.elementwise");
    PyObject *found = module ? PyObject_CallMethod(module, "get", "s", names[i]) : NULL;
    Py_XDECREF(module);
    functions[i] = found ? elementwise_get(found) : NULL; /* the module keeps the function */
    Py_XDECREF(found);
    return functions[i];
}

/* 1: operators take the value; 0: they do not. -1 with an exception for sequences: if the operator left them to Python,
 * sequence * integer Array would repeat the sequence. */
static int is_operand(PyObject *o)
{
    if (array_check(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o))
        return 1;
    if (PyList_Check(o) || PyTuple_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o) ||
        PyByteArray_Check(o)) {
        PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
        if (name)
            PyErr_Format(
                PyExc_TypeError,
                "operators take numbers, NumPy arrays and collet.Arrays, not %S: convert it "
                "by collet.asarray",
                name);
        Py_XDECREF(name);
        return -1;
    }
    PyObject *found = PyObject_GetAttrString(o, "__array_struct__");
    if (!found)
        PyErr_Clear();
    Py_XDECREF(found);
    return found != NULL;
}

/* 1: operators take both values. 0: the operands do not allow this, and *answer is NotImplemented, or NULL with an
 * exception. */
static int are_operands(PyObject *a, PyObject *b, PyObject **answer)
{
    int first = is_operand(a), second = first == 1 ? is_operand(b) : 1;
    if (first == 1 && second == 1)
        return 1;
    *answer = first < 0 || second < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    return 0;
}

static PyObject *two(enum function i, PyObject *a, PyObject *b)
{
    PyObject *in[] = {a, b}, *answer;
    if (!are_operands(a, b, &answer))
        return answer;
    elementwise *f = function_of(i);
    return f ? elementwise_apply(f, in, NULL) : NULL;
}

static PyObject *one(enum function i, PyObject *a)
{
    elementwise *f = function_of(i);
    return f ? elementwise_apply(f, &a, NULL) : NULL;
}

/* An operator such as += : computes into `a`. An operand of another dtype is left to Python code, which checks the
 * kinds of the dtypes. */
static PyObject *assign(enum function i, PyObject *a, PyObject *b)
{
    PyObject *in[] = {a, b}, *answer, *module;
    if (!are_operands(a, b, &answer))
        return answer;
    if (PyFloat_CheckExact(b) || PyLong_CheckExact(b) || PyBool_Check(b) ||
        PyComplex_CheckExact(b) || (array_check(b) && array_dtype_of(a) == array_dtype_of(b))) {
        elementwise *f = function_of(i);
        return f ? elementwise_apply(f, in, a) : NULL;
    }
    module = PyImport_ImportModule("collet._array.conversion");
    answer = module ? PyObject_CallMethod(module, "assign", "sOO", names[i], a, b) : NULL;
    Py_XDECREF(module);
    return answer;
}

#define BINARY(name, i)                                                                            \
    static PyObject *name(PyObject *a, PyObject *b)                                                \
    {                                                                                              \
        return two(i, a, b);                                                                       \
    }                                                                                              \
    static PyObject *name##_in_place(PyObject *a, PyObject *b)                                     \
    {                                                                                              \
        return assign(i, a, b);                                                                    \
    }
BINARY(add, ADD)
BINARY(subtract, SUBTRACT)
BINARY(multiply, MULTIPLY)
BINARY(divide, DIVIDE)
BINARY(floor_divide, FLOOR_DIVIDE)
BINARY(remainder_of, REMAINDER)
BINARY(and, AND)
BINARY(or, OR)
BINARY(xor, XOR)
BINARY(left, LEFT)
BINARY(right, RIGHT)
#undef BINARY

static PyObject *power(PyObject *a, PyObject *b, PyObject *modulus)
{
    return modulus == Py_None ? two(POW, a, b) : Py_NewRef(Py_NotImplemented);
}

static PyObject *power_in_place(PyObject *a, PyObject *b, PyObject *modulus)
{
    return modulus == Py_None ? assign(POW, a, b) : Py_NewRef(Py_NotImplemented);
}

#define UNARY(name, i)                                                                             \
    static PyObject *name(PyObject *a)                                                             \
    {                                                                                              \
        return one(i, a);                                                                          \
    }
UNARY(negative, NEGATIVE)
UNARY(positive, POSITIVE)
UNARY(absolute, ABS)
UNARY(invert, INVERT)
#undef UNARY

static PyObject *compare(PyObject *a, PyObject *b, int which)
{
    static const enum function by[] = {
        [Py_LT] = LESS,      [Py_LE] = LESS_EQUAL, [Py_EQ] = EQUAL,
        [Py_NE] = NOT_EQUAL, [Py_GT] = GREATER,    [Py_GE] = GREATER_EQUAL};
    return two(by[which], a, b);
}

#define SLOT(name, function)                                                                       \
    {Py_nb_##name, function},                                                                      \
    {                                                                                              \
        Py_nb_inplace_##name, function##_in_place                                                  \
    }
const PyType_Slot operators_slots[] = {SLOT(add, add),
                                       SLOT(subtract, subtract),
                                       SLOT(multiply, multiply),
                                       SLOT(true_divide, divide),
                                       SLOT(floor_divide, floor_divide),
                                       SLOT(remainder, remainder_of),
                                       SLOT(power, power),
                                       SLOT(and, and),
                                       SLOT(or, or),
                                       SLOT(xor, xor),
                                       SLOT(lshift, left),
                                       SLOT(rshift, right),
                                       {Py_nb_negative, negative},
                                       {Py_nb_positive, positive},
                                       {Py_nb_absolute, absolute},
                                       {Py_nb_invert, invert},
                                       {Py_tp_richcompare, compare},
                                       {Py_tp_hash, PyObject_HashNotImplemented},
                                       {0, NULL}};
#undef SLOT
