/* SPDX-License-Identifier: Apache-2.0 */
/* Python's stable interface (the build defines Py_LIMITED_API) and collet.h. */
#ifndef PYTHON_SRC_BASE_PYTHON_H
#define PYTHON_SRC_BASE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <collet/collet.h>

#endif
