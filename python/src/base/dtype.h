/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of dtypes in Python, where they have one notation, NumPy's: "int8", not "i8", which has 64
 * bits in NumPy. No function here needs the GIL.
 */
#ifndef PYTHON_SRC_BASE_DTYPE_H
#define PYTHON_SRC_BASE_DTYPE_H

#include "python.h"

/* "float32"; "none" for values that are not a dtype. */
const char *dtype_name(collet_dtype dtype);

/* The dtype of a name of libcore that NumPy reads otherwise: i8 and u8 have 64 bits there, f16 has 128.
 * 0 for other names. */
collet_dtype dtype_foreign(const char *name, size_t length);

/* Writes `text`, a message of libcore, with NumPy's names in the place of libcore's. Quoted names and
 * names of files stay. */
void dtype_translate(const char *text, char *out, size_t size);

#endif
