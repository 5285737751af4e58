/* SPDX-License-Identifier: Apache-2.0 */
/* collet.evaluate: texts that were parsed before, and the values of names.
 * Tests: python/tests/op/test_evaluate.py */
#include "texts.h"

#include "expression.h"

#define TEXTS 256 /* texts that are kept */

static PyObject *texts; /* a dict: text, Expression */
static PyObject *locals_name, *flags_name;

static expression_object *parsed(PyObject *text)
{
    PyObject *key, *found;
    Py_ssize_t first = 0;
    if (expression_check(text))
        return (expression_object *)Py_NewRef(text);
    if (!PyUnicode_CheckExact(text)) {
        PyErr_Format(PyExc_TypeError, "evaluate() takes a text or an Expression, not %R",
                     (PyObject *)Py_TYPE(text));
        return NULL;
    }
    if (!texts) {
        texts = PyDict_New();
        locals_name = PyUnicode_InternFromString("f_locals");
        flags_name = PyUnicode_InternFromString("co_flags");
    }
    if (!texts || !locals_name || !flags_name)
        return NULL;
    found = PyDict_GetItemWithError(texts, text);
    if (found || PyErr_Occurred())
        return (expression_object *)Py_XNewRef(found);
    found = expression_new(text);
    if (found && PyDict_Size(texts) >= TEXTS && PyDict_Next(texts, &first, &key, NULL)) {
        Py_INCREF(key);
        if (PyDict_DelItem(texts, key))
            Py_CLEAR(found);
        Py_DECREF(key);
    }
    if (found && PyDict_SetItem(texts, text, found))
        Py_CLEAR(found);
    return (expression_object *)found;
}

/* ---- Names -------------------------------------------------------------------------------- */

/* The variables in which names are looked up. */
typedef struct scope {
    PyObject *names;   /* a mapping; NULL: the caller's variables */
    PyObject *locals;  /* a reference; may be NULL */
    PyObject *globals; /* borrowed */
} scope;

/* A new reference to the item of that name. NULL without an exception if there is no such item. */
static PyObject *item(PyObject *mapping, PyObject *name)
{
    PyObject *found;
    if (PyDict_CheckExact(mapping))
        return Py_XNewRef(PyDict_GetItemWithError(mapping, name));
    found = PyObject_GetItem(mapping, name);
    if (!found && PyErr_ExceptionMatches(PyExc_KeyError))
        PyErr_Clear();
    return found;
}

static PyObject *value_of(const scope *s, PyObject *name)
{
    PyObject *found = s->names ? item(s->names, name) : s->locals ? item(s->locals, name) : NULL;
    if (!found && !PyErr_Occurred() && s->globals)
        found = item(s->globals, name);
    if (found || PyErr_Occurred())
        return found;
    if (s->names)
        return PyErr_Format(PyExc_KeyError,
                            "the expression has the input '%U', but `names` has no such key: add it",
                            name);
    return PyErr_Format(PyExc_NameError,
                        "the expression has the input '%U', which is neither a local nor a global "
                        "variable of the caller; a variable of a surrounding function is local "
                        "where the code names it. Or give a mapping, `names`",
                        name);
}

/* Clears the dict that a function's frame has made of its local variables: the dict would keep the arrays alive until
 * the function ends. */
static void forget(PyFrameObject *frame, PyObject *locals)
{
    const long optimized = 1;
    PyObject *code, *flags;
    if (!PyDict_CheckExact(locals) || Py_REFCNT(locals) != 2) /* other code uses it too */
        return;
    code = (PyObject *)PyFrame_GetCode(frame);
    flags = PyObject_GetAttr(code, flags_name);
    if (flags && PyLong_AsLong(flags) & optimized)
        PyDict_Clear(locals);
    Py_XDECREF(flags);
    Py_DECREF(code);
}

static int look_up(PyObject *names, PyObject **given, PyObject *mapping)
{
    PyFrameObject *frame = mapping ? NULL : PyEval_GetFrame();
    scope s = {.names = mapping};
    Py_ssize_t count = PyTuple_Size(names), found = 0;
    if (frame) {
        s.globals = PyEval_GetGlobals();
        s.locals = PyObject_GetAttr((PyObject *)frame, locals_name);
        if (!s.locals)
            return -1;
    }
    while (found < count && (given[found] = value_of(&s, PyTuple_GetItem(names, found))))
        found++;
    if (s.locals && s.locals != s.globals)
        forget(frame, s.locals);
    Py_XDECREF(s.locals);
    if (found == count)
        return 0;
    while (found > 0)
        Py_DECREF(given[--found]);
    return -1;
}

/* ---- The function -------------------------------------------------------------------------- */

PyObject *texts_evaluate(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count,
                         PyObject *keywords)
{
    PyObject *given[COLLET_EXPRESSION_INPUTS], *out = NULL, *made = NULL;
    PyObject *mapping = count > 1 && arguments[1] != Py_None ? arguments[1] : NULL;
    Py_ssize_t extra = keywords ? PyTuple_Size(keywords) : 0;
    if (count < 1 || count > 2)
        return PyErr_Format(PyExc_TypeError,
                            "evaluate() takes a text and a mapping of names (%zd given)", count);
    for (Py_ssize_t i = 0; i < extra; i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, i), "out"))
            return PyErr_Format(PyExc_TypeError,
                                "evaluate() has no parameter %R; it is "
                                "evaluate(text, names=None, /, *, out=None)",
                                PyTuple_GetItem(keywords, i));
        out = arguments[count + i];
    }
    expression_object *e = parsed(arguments[0]);
    PyObject *names = e ? expression_names(e) : NULL;
    if (names) {
        e->users++; /* forbids changes of the expression: a mapping may run any code */
        if (!look_up(names, given, mapping)) {
            made = evaluate_expression(e, given, out, NULL);
            for (Py_ssize_t i = PyTuple_Size(names); i > 0; i--)
                Py_DECREF(given[i - 1]);
        }
        e->users--;
    }
    Py_XDECREF((PyObject *)e);
    return made;
}
