/* SPDX-License-Identifier: Apache-2.0 */
/* Views by keys of integers, slices, None and '...'. */
#ifndef PYTHON_SRC_ARRAY_KEY_H
#define PYTHON_SRC_ARRAY_KEY_H

#include "src/base/python.h"

/* Adds the method _at to the type Array: the view for a key, or None if the key contains masks or arrays, which need a
 * copy. 0, or -1 with an exception. */
int key_add(void);

#endif
