/* SPDX-License-Identifier: Apache-2.0 */
/* Views by keys of integers, slices, None and '...'. */
#pragma once

#include "src/base/python.h"

/* The view for a key, or None if the key contains masks or arrays, which need a copy. NULL with an exception. */
PyObject *key_view(PyObject *self, PyObject *key);

/* Adds the method _at, key_view, to the type Array. 0, or -1 with an exception. */
int key_add(void);
