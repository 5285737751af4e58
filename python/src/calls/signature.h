/* SPDX-License-Identifier: Apache-2.0 */
/* The signature of arguments: a key that is equal for arguments of one structure, with the same dtypes and shapes. */
#pragma once

#include "src/base/python.h"

/* Function of the module: signature(tree, values, converted). `tree`: tuples, lists and dicts of Arrays, numbers, texts and
 * None. Appends the leaves to the list `values` and returns the key, which also has the texts. Any other leaf is
 * replaced by the Array that converted(leaf) returns. Returns None if converted(leaf) is None, or the tree is large. */
PyObject *signature_of(PyObject *module, PyObject *arguments);
