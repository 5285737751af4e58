/* SPDX-License-Identifier: Apache-2.0 */
/* collet/__init__.abi3.so, or __init__.cpython-313t-*.so. Python prefers it to collet/__init__.py, so it runs even if
 * another distribution has overwritten that file. It links no library, and leaves the rest to _package.py.
 * Tests: python/tests/test_distributions.py
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string.h>

static int load(PyObject *package)
{
    PyObject *module = PyImport_ImportModule("collet._package");
    PyObject *done = module ? PyObject_CallMethod(module, "load", "O", package) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

#ifndef Py_GIL_DISABLED
/* Refuses Python 3.13t, which loads .abi3.so files although its objects have another layout. The functions called here
 * do not depend on the layout. */
static int check_layout(void)
{
    PyObject *flags = PySys_GetObject("abiflags"), *program = PySys_GetObject("executable");
    const char *text = flags ? PyUnicode_AsUTF8AndSize(flags, NULL) : "";
    if (text && !strchr(text, 't'))
        return 0;
    if (text)
        PyErr_Format(PyExc_ImportError,
                     "this installation of collet-runtime has no extension for the free-threaded "
                     "Python %S: a free-threaded Python needs a separate build, by `%S -m pip "
                     "install .` in Collet's sources, or use a Python with the GIL",
                     program ? program : Py_None, program ? program : Py_None);
    return -1;
}
#endif

PyMODINIT_FUNC PyInit_collet(void);

PyMODINIT_FUNC PyInit_collet(void)
{
    static PyModuleDef_Slot slots[] = {
        {Py_mod_exec, (void *)load},
#ifdef Py_GIL_DISABLED
        {Py_mod_gil, Py_MOD_GIL_USED}, // Python then turns the GIL on, for the whole package
#endif
        {0, NULL},
    };
    static PyModuleDef definition = {
        .m_base = PyModuleDef_HEAD_INIT, .m_name = "collet", .m_slots = slots};
#ifndef Py_GIL_DISABLED
    if (check_layout())
        return NULL;
#endif
    return PyModuleDef_Init(&definition);
}
