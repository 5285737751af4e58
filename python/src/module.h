/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLET_PYTHON_MODULE_H
#define COLLET_PYTHON_MODULE_H

#include "python.h"

/* Adds the capsule of binding.h to the module. 0, or -1 with an exception. */
int binding_add(PyObject *module);

#endif
