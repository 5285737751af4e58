/* SPDX-License-Identifier: Apache-2.0 */
/* collet._ternary: libcollet-ternary for collet/ternary.py.
 * Tests: python/tests/test_ternary.py */
#include "bound.h"

PyMODINIT_FUNC PyInit__ternary(void);

PyMODINIT_FUNC PyInit__ternary(void)
{
    static PyMethodDef functions[] = {
        {"weights_quantize", weights_quantize, METH_VARARGS, NULL},
        {"weights_recognise", weights_recognise, METH_O, NULL},
        {"weights_from_codes", weights_from_codes, METH_VARARGS, NULL},
        {"weights_from_bytes", weights_from_bytes, METH_VARARGS, NULL},
        {"weights_describe", weights_describe, METH_O, NULL},
        {"network_create", network_create, METH_O, NULL},
        {"network_describe", network_describe, METH_O, NULL},
        {"network_run", network_run, METH_VARARGS, NULL},
        {"network_run_on", network_run_on, METH_VARARGS, NULL},
        {"network_load", network_load, METH_VARARGS, NULL},
        {"file_open", file_open, METH_O, NULL},
        {"file_describe", file_describe, METH_O, NULL},
        {"file_matrix", file_matrix, METH_VARARGS, NULL},
        {"file_count", file_count, METH_VARARGS, NULL},
        {"file_load", file_load, METH_VARARGS, NULL},
        {"file_write", file_write, METH_VARARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                     .m_name = "collet._ternary",
                                     .m_doc = "libcollet-ternary for collet.ternary.",
                                     .m_size = -1,
                                     .m_methods = functions};
    bound = binding_import();
    return bound ? python_module(&definition) : NULL;
}
