/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_scatter.py */
#include "binding.h"

#include "src/array/array.h"
#include "src/array/wrap.h"
#include "src/base/error.h"
#include "src/base/numpy.h"
#include "src/base/runtime.h"
#include "src/base/work.h"

static PyObject *numpy_new(collet_dtype dtype, int32_t ndim, const int64_t *shape, void **data)
{
    numpy_view view;
    PyObject *array = numpy_empty(dtype, ndim, shape);
    if (array && numpy_view_of(array, "the array", &view))
        Py_CLEAR(array);
    if (array)
        *data = view.data;
    return array;
}

int binding_add(PyObject *module)
{
    static const binding table = {
        .struct_size = sizeof table,
        .context = runtime_context,
        .runtime = runtime_get,
        .raise = error_raise,
        .raise_last = runtime_raise,
        .leave = runtime_leave,
        .back = runtime_return,
        .array_check = array_check,
        .array_get = array_get_written,
        .array_new = array_new,
        .array_from = wrap_elements,
        .numpy_new = numpy_new,
        .work_run = work_run,
    };
    PyObject *capsule = PyCapsule_New((void *)(uintptr_t)&table, BINDING_CAPSULE, NULL);
    int failed = capsule ? PyModule_AddObjectRef(module, "binding", capsule) : -1;
    Py_XDECREF(capsule);
    return failed;
}
