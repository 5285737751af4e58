/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the module for timestamps. All need the GIL. */
#ifndef PYTHON_SRC_TIMESTAMP_H
#define PYTHON_SRC_TIMESTAMP_H

#include "src/base/python.h"

/* Timestamps of devices, as capsules: of a device, or of the first of the choice (None). */
PyObject *timestamp_take(PyObject *module, PyObject *device);
/* (first, last): the nanoseconds between them, and whether the device's clock measured. */
PyObject *timestamp_elapsed(PyObject *module, PyObject *arguments);

#endif
