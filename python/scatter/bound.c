/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_scatter.py */
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
