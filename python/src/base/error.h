/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions: collet.Error, and a subclass for each status. All functions need the GIL. */
#pragma once

#include "python.h"

/* Makes the exceptions and adds them to the module. 0, or -1 with an exception. */
int error_add_types(PyObject *module);

/* 1 if the exception that is set now is a collet.Error. */
int error_is_own(void);

/* Raises the exception of `status` with `text`; returns NULL. */
void *error_raise(collet_status status, const char *text);

/* error_raise with a text that is formatted like printf. */
void *error_format(collet_status status, const char *format, ...) COLLET_PRINTF(2, 3);

/* Replaces an OverflowError by a DtypeError, for a number beyond the range of f64 in the argument
 * `name`. Returns -1. */
int error_too_large(const char *name);
