/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays over the memory of NumPy arrays. */
#pragma once

#include <collet/collet.h>

#include "src/base/python.h"

/* Makes an array, which the caller owns, over the elements of an Array or of anything that numpy.asarray
 * takes; copies the elements if the layout or `dtype` (0: any) does not fit. NULL with an exception. */
collet_array *wrap_elements(PyObject *object, collet_dtype dtype, const char *name);

/* Function of the module: makes an Array from (NumPy array, copy, shared). shared: other code uses the memory too. */
PyObject *wrap_numpy(PyObject *module, PyObject *arguments);
