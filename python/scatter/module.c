/* SPDX-License-Identifier: Apache-2.0 */
/* collet._scatter: libcollet-scatter for collet/scatter.py, which checks shapes and converts.
 * Tests: python/tests/test_scatter.py */
#include "bound.h"

PyMODINIT_FUNC PyInit__scatter(void);

PyMODINIT_FUNC PyInit__scatter(void)
{
    static PyMethodDef functions[] = {
        {"read", files_read, METH_VARARGS, NULL},
        {"read_pattern", files_read_pattern, METH_VARARGS, NULL},
        {"write", files_write, METH_VARARGS, NULL},
        {"rings_q", rings_q, METH_VARARGS, NULL},
        {"integrate", rings_integrate, METH_VARARGS, NULL},
        {"integrate_adjoint", rings_adjoint, METH_VARARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                     .m_name = "collet._scatter",
                                     .m_doc = "libcollet-scatter for collet.scatter.",
                                     .m_size = -1,
                                     .m_methods = functions};
    PyObject *module;
    bound = binding_import();
    module = bound ? python_module(&definition) : NULL;
    if (module && (scattering_add_type(module) ||
                   PyModule_AddIntConstant(module, "CHI", COLLET_SCATTER_CHI)))
        Py_CLEAR(module);
    return module;
}
