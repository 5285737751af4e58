/* SPDX-License-Identifier: Apache-2.0 */
/* Exchange of Arrays with other libraries by DLPack: capsules with and without a version, and the table
 * DLPackExchangeAPI of DLPack 1.3. */
#ifndef PYTHON_SRC_ARRAY_DLPACK_H
#define PYTHON_SRC_ARRAY_DLPACK_H

#include "src/base/python.h"

/* Adds methods and __dlpack_c_exchange_api__ to the module's type Array, and the function from_capsule. 0,
 * or -1 with an exception. */
int dlpack_add(PyObject *module);

#endif
