/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps of devices, as capsules. Functions of the module. */
#ifndef COLLET_PYTHON_TIMESTAMP_H
#define COLLET_PYTHON_TIMESTAMP_H

#include "python.h"

/* Of a device, or of the first of the choice (None). */
PyObject *timestamp_take(PyObject *module, PyObject *device);
/* (first, last): the nanoseconds between them, and whether the device's clock measured. */
PyObject *timestamp_elapsed(PyObject *module, PyObject *arguments);

#endif
