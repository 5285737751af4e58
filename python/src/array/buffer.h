/* SPDX-License-Identifier: Apache-2.0 */
/* Python's buffer protocol: memoryview(x) and numpy.asarray(x) share the memory of an Array in the host's memory. */
#ifndef PYTHON_SRC_ARRAY_BUFFER_H
#define PYTHON_SRC_ARRAY_BUFFER_H

#include "src/base/python.h"

extern const PyType_Slot buffer_slots[]; /* for array_add_type */

#endif
