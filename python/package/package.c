/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/__init__.abi3.so, or __init__.cpython-313t-*.so: Python takes it before collet/__init__.py, so it runs even if another
 * distribution has overwritten that file. It links nothing, and leaves the rest to _package.py.
 * Tests: python/tests/test_distributions.py
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static int load(PyObject *package)
{
    PyObject *module = PyImport_ImportModule("collet._package");
    PyObject *done = module ? PyObject_CallMethod(module, "load", "O", package) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

PyMODINIT_FUNC PyInit_collet(void);

PyMODINIT_FUNC PyInit_collet(void)
{
    static PyModuleDef_Slot slots[] = {
        {Py_mod_exec, (void *)load},
#ifdef Py_GIL_DISABLED
        {Py_mod_gil, Py_MOD_GIL_USED}, // stated for the whole package: Python turns the GIL on
#endif
        {0, NULL},
    };
    static PyModuleDef definition = {
        .m_base = PyModuleDef_HEAD_INIT, .m_name = "collet", .m_slots = slots};
    return PyModuleDef_Init(&definition);
}
