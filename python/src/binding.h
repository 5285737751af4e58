/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of collet._core that other extensions of the package need, in a capsule. All
 * functions need the GIL unless stated otherwise.
 */
#ifndef PYTHON_SRC_BINDING_H
#define PYTHON_SRC_BINDING_H

#include "src/base/work.h"

#define BINDING_CAPSULE "collet._core.binding"

typedef struct binding {
    uint32_t struct_size;
    uint32_t reserved;
    /* The context of the calling thread; NULL with an exception. It is valid while the thread has
     * the GIL or is between leave and back. */
    collet_context *(*context)(void);
    collet_runtime *(*runtime)(void);
    /* Raise the exception of a status; return NULL. */
    void *(*raise)(collet_status status, const char *text);
    void *(*raise_last)(collet_context *context);
    /* Release the GIL around a call of a library, and take it again. */
    PyThreadState *(*leave)(void);
    void (*back)(PyThreadState *state);
    /* collet.Array: whether an object is one; its array, which the object keeps; a new one that
     * owns `array`, also on failure. */
    int (*array_check)(PyObject *object);
    collet_array *(*array_get)(PyObject *object);
    PyObject *(*array_new)(collet_array *array);
    /* A collet_array over the memory of a NumPy array, or what numpy.asarray takes, or of an Array;
     * a copy where the layout or `dtype` (0: any) does not fit. The caller's; it keeps the memory.
     * NULL with an exception; `name` is for its text. */
    collet_array *(*array_from)(PyObject *object, collet_dtype dtype, const char *name);
    /* A new NumPy array, and the address of its first element. */
    PyObject *(*numpy_new)(collet_dtype dtype, int32_t ndim, const int64_t *shape, void **data);
    /* work_run of work.h, which Ctrl-C interrupts. */
    int (*work_run)(work *w);
} binding;

/* Adds its capsule to the module. 0, or -1 with an exception. */
int binding_add(PyObject *module);

/* The table; NULL with an exception. */
static inline const binding *binding_import(void)
{
    return (const binding *)PyCapsule_Import(BINDING_CAPSULE, 0);
}

#endif
