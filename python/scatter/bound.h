/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of collet._scatter. All functions need the GIL. */
#pragma once

#include "src/binding.h"

#include <collet/scatter.h>

/* The functions of collet._core. */
extern const binding *bound;

/* A C-contiguous array of `dtype` and `count` elements. */
typedef struct bound_memory {
    collet_array *array;
    const void *data; /* its elements, readable in the host's memory until bound_release; NULL after bound_view */
} bound_memory;

/* Describes an array without moving it to the host's memory. Returns as bound_acquire. */
int bound_view(bound_memory *memory, PyObject *object, collet_dtype dtype, int64_t count, const char *name);
/* Makes the elements readable in the host's memory. 0; or -1 with an exception, whose text calls the object `name`:
 * then there is nothing to release. */
int bound_acquire(bound_memory *memory, collet_context *context, PyObject *object,
                  collet_dtype dtype, int64_t count, const char *name);
/* Releases memory, with the context that acquired it; does nothing for a zeroed struct. */
void bound_release(bound_memory *memory, collet_context *context);

/* Adds the type Scattering to the module. 0, or -1 with an exception. */
int scattering_add_type(PyObject *module);

/* Functions of the module. */
PyObject *files_read(PyObject *module, PyObject *arguments);
PyObject *files_read_pattern(PyObject *module, PyObject *arguments);
PyObject *files_write(PyObject *module, PyObject *arguments);
PyObject *rings_q(PyObject *module, PyObject *arguments);
PyObject *rings_integrate(PyObject *module, PyObject *arguments);
PyObject *rings_adjoint(PyObject *module, PyObject *arguments);
