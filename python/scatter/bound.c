/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_scatter.py */
#include "bound.h"

const binding *bound;

int bound_view(bound_memory *memory, PyObject *object, collet_dtype dtype, int64_t count, const char *name)
{
    collet_array *array = bound->array_from(object, dtype, name);
    if (!array)
        return -1;
    *memory = (bound_memory){array, NULL};
    if (collet_array_size(array) == count)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s has %lld elements, not %lld", name,
                 (long long)collet_array_size(array), (long long)count);
    collet_array_destroy(array);
    *memory = (bound_memory){0};
    return -1;
}

int bound_acquire(bound_memory *memory, collet_context *context, PyObject *object,
                  collet_dtype dtype, int64_t count, const char *name)
{
    void *data = NULL;
    if (bound_view(memory, object, dtype, count, name))
        return -1;
    if (collet_array_acquire(context, memory->array, &data, COLLET_READ) == COLLET_OK) {
        memory->data = data;
        return 0;
    }
    bound->raise_last(context);
    collet_array_destroy(memory->array);
    *memory = (bound_memory){0};
    return -1;
}

void bound_release(bound_memory *memory, collet_context *context)
{
    if (memory->data)
        collet_array_release(context, memory->array);
    collet_array_destroy(memory->array);
    *memory = (bound_memory){0};
}
