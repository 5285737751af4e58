/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the module for timestamps. All need the GIL. */
#pragma once

#include "src/base/python.h"

/* Takes a timestamp of a device, or of the first device of the choice of backend (None). Returns a
   capsule. */
PyObject *timestamp_take(PyObject *module, PyObject *device);
/* Arguments (first, last). Returns the nanoseconds between the two, and whether the device's clock
   measured them. */
PyObject *timestamp_elapsed(PyObject *module, PyObject *arguments);
