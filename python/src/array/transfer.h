/* SPDX-License-Identifier: Apache-2.0 */
/* Copies elements of Arrays to and from NumPy arrays, bytes, numbers and devices. */
#ifndef PYTHON_SRC_ARRAY_TRANSFER_H
#define PYTHON_SRC_ARRAY_TRANSFER_H

/* Adds the methods to_numpy, item, prefetch, _bytes and _write to the type Array. 0, or -1 with an exception. */
int transfer_add(void);

#endif
