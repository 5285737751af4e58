/* SPDX-License-Identifier: Apache-2.0 */
/* Indexing of Arrays, iteration, and single elements as numbers of Python. */
#pragma once

#include "src/base/python.h"

extern const PyType_Slot element_slots[]; /* for array_add_type */

/* Stores a number of Python in *s, of the dtype s->dtype. 0: the dtype cannot hold it, or other code has to convert it. */
int element_scalar(PyObject *number, collet_scalar *s);

/* Adds the method item to the type Array. 0, or -1 with an exception. */
int element_add(void);
