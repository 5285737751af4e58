/* SPDX-License-Identifier: Apache-2.0 */
/* The linalg family: typed calls. Every shape rule is a pattern of ops.def.
 * Tests: tests/host/test_decompositions.c, tests/core/test_fork.c */
#include <string.h>

#include <collet/collet.h>
#include <collet/ops/linalg.h>

#include "call.h"

/* Makes a view with one more axis, of length 1, at the end. */
static collet_status as_column(collet_context *cx, collet_array **out, const collet_array *vector)
{
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = collet_array_ndim(vector);
    memcpy(shape, collet_array_shape(vector), (size_t)ndim * sizeof *shape);
    shape[ndim] = 1;
    return collet_array_reshape(cx, vector, out, ndim + 1, shape);
}

collet_status collet_op_solve(collet_context *cx, collet_array *x, collet_array *info,
                              const collet_array *a, const collet_array *b)
{
    collet_array *x_column = NULL, *b_column = NULL;
    collet_status status = COLLET_OK;
    /* b is a vector only if x has as many axes as b; otherwise b is a matrix that is broadcast. */
    if (cx && x && a && b && collet_array_ndim(b) == collet_array_ndim(a) - 1 &&
        collet_array_ndim(x) == collet_array_ndim(b)) {
        status = as_column(cx, &x_column, x);
        if (status == COLLET_OK)
            status = as_column(cx, &b_column, b);
    }
    if (status == COLLET_OK) {
        status = collet_call(cx, COLLET_OP_SOLVE, OUTS(x_column ? x_column : x, info),
                             INS(a, b_column ? b_column : b), NULL);
    }
    collet_array_destroy(x_column);
    collet_array_destroy(b_column);
    return status;
}
