/* SPDX-License-Identifier: Apache-2.0 */
/* Capsules of DLPack, with and without a version. All functions need the GIL. */
#ifndef PYTHON_SRC_DLPACK_H
#define PYTHON_SRC_DLPACK_H

#include "base/python.h"

/* A capsule over the memory of an array, which `owner` keeps: read-only, in the host's memory or
 * where the bytes are. `versioned` 0: of DLPack before 1.0. NULL with an exception. */
PyObject *dlpack_capsule(PyObject *owner, collet_array *array, int host, int versioned);

/* Gets DLPack's type and number of the device that has the array's bytes. 0; -1 with an
 * exception. */
int dlpack_place(PyObject *owner, collet_array *array, int32_t *type, int32_t *id);

/* An array over the memory of a capsule, which is then used; the caller's. NULL with an exception.
 */
collet_array *dlpack_take(PyObject *capsule);

#endif
