/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of collet._core that other extensions of the package need, in a capsule. All
 * functions need the GIL unless stated otherwise. */
#pragma once

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
    /* leave releases the GIL before a call of a library, back takes it again. */
    PyThreadState *(*leave)(void);
    void (*back)(PyThreadState *state);
    /* For collet.Array. array_check: whether an object is an Array. array_get: its array, which the object owns.
     * array_new: a new Array that owns `array`; on failure `array` is freed. */
    int (*array_check)(PyObject *object);
    collet_array *(*array_get)(PyObject *object);
    PyObject *(*array_new)(collet_array *array);
    /* Makes a collet_array over the memory of an Array, a NumPy array or anything that
     * numpy.asarray takes, or over a copy if the layout or `dtype` (0: any) does not fit. The caller owns it; the
     * memory exists as long as the array. NULL with an exception, whose text calls the object `name`. */
    collet_array *(*array_from)(PyObject *object, collet_dtype dtype, const char *name);
    /* A new NumPy array, and the address of its first element. */
    PyObject *(*numpy_new)(collet_dtype dtype, int32_t ndim, const int64_t *shape, void **data);
    /* work_run of work.h, which Ctrl-C interrupts. */
    int (*work_run)(work *w);
} binding;

/* Adds the capsule of the table to the module. 0, or -1 with an exception. */
int binding_add(PyObject *module);

/* The table; NULL with an exception. */
static inline const binding *binding_import(void)
{
    return (const binding *)PyCapsule_Import(BINDING_CAPSULE, 0);
}
