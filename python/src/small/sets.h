/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct elements of small vectors. */
#pragma once

#include "src/base/python.h"

/* A function of the module: makes unique_values(x) from the function of the op sort. */
PyObject *sets_unique(PyObject *module, PyObject *sort);
