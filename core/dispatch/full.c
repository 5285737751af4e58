/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_array_text.c */
#include <collet/ops/array.h>

#include "util/programs.h"

collet_status collet_array_full(collet_context *cx, collet_array **out, collet_dtype dtype,
                                int32_t ndim, const int64_t *shape, double value)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    const collet_scalar s = {.value.f64 = value, .dtype = COLLET_F64};
    collet_array *a = NULL;
    collet_status status = collet_array_create(cx, out ? &a : NULL, dtype, ndim, shape);
    if (status == COLLET_OK)
        status = collet_op_fill(cx, a, &s);
    if (status == COLLET_OK)
        *out = a;
    else
        collet_array_destroy(a);
    return status;
}
