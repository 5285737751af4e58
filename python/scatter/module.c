/* SPDX-License-Identifier: Apache-2.0 */
/* collet._scatter: libcollet-scatter for collet/scatter.py, which checks shapes and converts.
 * Tests: python/tests/test_scatter.py */
#include "bound.h"

const binding *bound;

int bound_acquire(bound_memory *memory, collet_context *context, PyObject *object,
                  collet_dtype dtype, int64_t count, const char *name)
{
    void *data = NULL;
    collet_array *array = bound->array_from(object, dtype, name);
    if (!array)
        return -1;
    if (collet_array_size(array) != count) {
        PyErr_Format(PyExc_ValueError, "%s has %lld elements, not %lld", name,
                     (long long)collet_array_size(array), (long long)count);
    } else if (collet_array_acquire(context, array, &data, COLLET_READ) != COLLET_OK) {
        bound->raise_last(context);
    } else {
        *memory = (bound_memory){array, data};
        return 0;
    }
    collet_array_destroy(array);
    return -1;
}

void bound_release(bound_memory *memory, collet_context *context)
{
    if (memory->array)
        collet_array_release(context, memory->array);
    collet_array_destroy(memory->array);
    *memory = (bound_memory){0};
}

PyMODINIT_FUNC PyInit__scatter(void);

PyMODINIT_FUNC PyInit__scatter(void)
{
    static PyMethodDef functions[] = {
        {"read", files_read, METH_VARARGS, NULL},
        {"read_pattern", files_read_pattern, METH_VARARGS, NULL},
        {"write", files_write, METH_VARARGS, NULL},
        {"rings_q", rings_q, METH_VARARGS, NULL},
        {"integrate", rings_integrate, METH_VARARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                     .m_name = "collet._scatter",
                                     .m_doc = "libcollet-scatter for collet.scatter.",
                                     .m_size = -1,
                                     .m_methods = functions};
    PyObject *module;
    bound = binding_import();
    module = bound ? PyModule_Create(&definition) : NULL;
    if (module && (scattering_add_type(module) ||
                   PyModule_AddIntConstant(module, "CHI", COLLET_SCATTERING_CHI)))
        Py_CLEAR(module);
    return module;
}
