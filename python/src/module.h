/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the module that only module.c needs. All functions need the GIL. */
#ifndef PYTHON_SRC_MODULE_H
#define PYTHON_SRC_MODULE_H

#include "python.h"

/* Adds the capsule of binding.h to the module. 0, or -1 with an exception. */
int binding_add(PyObject *module);

/* Timestamps of devices, as capsules: of a device, or of the first of the choice (None). */
PyObject *timestamp_take(PyObject *module, PyObject *device);
/* (first, last): the nanoseconds between them, and whether the device's clock measured. */
PyObject *timestamp_elapsed(PyObject *module, PyObject *arguments);

#endif
