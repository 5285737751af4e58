/* SPDX-License-Identifier: Apache-2.0 */
/* The linalg family: typed calls. Every shape rule is a pattern of ops.def. */
#include <string.h>

#include <collet/collet.h>

#include "dispatch/call.h"

collet_status collet_matmul(collet_context *context, collet_array *c, const collet_array *a,
                            const collet_array *b)
{
    return call_two(context, COLLET_OP_MATMUL, c, a, b);
}

collet_status collet_dot(collet_context *context, collet_array *out, const collet_array *a,
                         const collet_array *b)
{
    return call_two(context, COLLET_OP_DOT, out, a, b);
}

collet_status collet_matvec(collet_context *context, collet_array *y, const collet_array *a,
                            const collet_array *x)
{
    return call_two(context, COLLET_OP_MATVEC, y, a, x);
}

collet_status collet_lu(collet_context *context, collet_array *perm, collet_array *lower,
                        collet_array *upper, collet_array *info, const collet_array *a)
{
    collet_array *outs[] = {perm, lower, upper, info};
    return collet_call(context, COLLET_OP_LU, outs, &a, NULL);
}

/* The array with an axis of length 1 behind its own. */
static collet_status as_column(collet_context *context, collet_array **out,
                               const collet_array *vector)
{
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = collet_array_ndim(vector);
    memcpy(shape, collet_array_shape(vector), (size_t)ndim * sizeof *shape);
    shape[ndim] = 1;
    return collet_array_reshape(context, out, vector, ndim + 1, shape);
}

collet_status collet_solve(collet_context *context, collet_array *x, collet_array *info,
                           const collet_array *a, const collet_array *b)
{
    collet_array *x_column = NULL, *b_column = NULL;
    collet_status status = COLLET_OK;
    /* x has b's axes: otherwise b is a matrix that is broadcast. */
    if (context && x && a && b && collet_array_ndim(b) == collet_array_ndim(a) - 1 &&
        collet_array_ndim(x) == collet_array_ndim(b)) {
        status = as_column(context, &x_column, x);
        if (status == COLLET_OK)
            status = as_column(context, &b_column, b);
    }
    if (status == COLLET_OK) {
        collet_array *outs[] = {x_column ? x_column : x, info};
        const collet_array *ins[] = {a, b_column ? b_column : b};
        status = collet_call(context, COLLET_OP_SOLVE, outs, ins, NULL);
    }
    collet_array_free(x_column);
    collet_array_free(b_column);
    return status;
}

collet_status collet_qr(collet_context *context, collet_array *q, collet_array *r,
                        const collet_array *a)
{
    collet_array *outs[] = {q, r};
    return collet_call(context, COLLET_OP_QR, outs, &a, NULL);
}

collet_status collet_svd(collet_context *context, collet_array *u, collet_array *s,
                         collet_array *vt, collet_array *info, const collet_array *a)
{
    collet_array *outs[] = {u, s, vt, info};
    return collet_call(context, COLLET_OP_SVD, outs, &a, NULL);
}

collet_status collet_eigh(collet_context *context, collet_array *values, collet_array *vectors,
                          collet_array *info, const collet_array *a)
{
    collet_array *outs[] = {values, vectors, info};
    return collet_call(context, COLLET_OP_EIGH, outs, &a, NULL);
}

collet_status collet_cholesky(collet_context *context, collet_array *lower, collet_array *info,
                              const collet_array *a)
{
    collet_array *outs[] = {lower, info};
    return collet_call(context, COLLET_OP_CHOLESKY, outs, &a, NULL);
}
