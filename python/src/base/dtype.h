/* SPDX-License-Identifier: Apache-2.0 */
/* The names of dtypes in Python: always NumPy's, such as "int8". libcore's "i8" is not used, because "i8" has 64
 * bits in NumPy. No function here needs the GIL.
 */
#pragma once

#include "python.h"

/* "float32"; "none" for values that are not a dtype. */
const char *dtype_name(collet_dtype dtype);

/* The dtype that libcore calls `name`, if NumPy reads this name as another dtype: i8 and u8 have 64 bits in NumPy, f16
 * has 128. 0 for all other names. */
collet_dtype dtype_foreign(const char *name, size_t length);

/* Writes `text`, a message of libcore, with NumPy's names of dtypes in place of libcore's names. Quoted words and
 * names of files are not changed. */
void dtype_translate(const char *text, char *out, size_t size);
