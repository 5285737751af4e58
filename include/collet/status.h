/* SPDX-License-Identifier: Apache-2.0 */
/* collet/status.h - status, errors, dtypes and the version. collet/collet.h has the conventions. */
#ifndef COLLET_STATUS_H
#define COLLET_STATUS_H

#include <collet/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "COLLET_SHAPE" and "shapes do not fit"; never NULL, also for values that are not a status. */
COLLET_API const char *collet_status_name(collet_status status);
COLLET_API const char *collet_status_text(collet_status status);

/* Sets *err (if not NULL) to `status` and the formatted text; returns `status`. The text becomes
 * valid UTF-8: control characters, invisible characters of Unicode (direction marks, zero width)
 * and bytes that are not UTF-8 become \xNN, because quoted names may contain them. Line ends become
 * \xNN too, unless `format` itself contains one. */
COLLET_API collet_status collet_fail(collet_error *err, collet_status status, const char *format,
                                     ...) COLLET_PRINTF(3, 4);
/* collet_fail with a complete text: a % in the text has no special meaning. */
COLLET_API collet_status collet_fail_text(collet_error *err, collet_status status,
                                          const char *text);

/* "f32", and bytes per element; "none" and 0 for values that are not a dtype. */
COLLET_API const char *collet_dtype_name(collet_dtype dtype);
COLLET_API size_t collet_dtype_size(collet_dtype dtype);
/* The dtype of the result of mixed operands, as in NumPy 2: the smallest dtype that holds the
 * values of both (bf16 with f16: f32; an integer of 32 or 64 bits with f16, bf16 or f32: f64; u64
 * with a signed integer: f64; bf16 with integers as f16). COLLET_DTYPE_NONE if one is not a dtype. */
COLLET_API collet_dtype collet_dtype_promote(collet_dtype a, collet_dtype b);

/* The version of the library that is running, as a text ("0.1.0") and as a number.
 * COLLET_VERSION_NUMBER is the number of the header. */
COLLET_API const char *collet_version(void);
COLLET_API int32_t collet_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
