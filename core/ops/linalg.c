/* SPDX-License-Identifier: Apache-2.0 */
/* The linalg family: typed calls. Every shape rule is a pattern of ops.def. */
#include <string.h>

#include <collet/collet.h>

#include "call.h"

collet_status collet_matmul(collet_context *cx, collet_array *c, const collet_array *a,
                            const collet_array *b)
{
    return collet_call(cx, COLLET_OP_MATMUL, &c, INS(a, b), NULL);
}

collet_status collet_dot(collet_context *cx, collet_array *out, const collet_array *a,
                         const collet_array *b)
{
    return collet_call(cx, COLLET_OP_DOT, &out, INS(a, b), NULL);
}

collet_status collet_matvec(collet_context *cx, collet_array *y, const collet_array *a,
                            const collet_array *x)
{
    return collet_call(cx, COLLET_OP_MATVEC, &y, INS(a, x), NULL);
}

collet_status collet_lu(collet_context *cx, collet_array *perm, collet_array *lower,
                        collet_array *upper, collet_array *info, const collet_array *a)
{
    return collet_call(cx, COLLET_OP_LU, OUTS(perm, lower, upper, info), &a, NULL);
}

/* The array with an axis of length 1 behind its own. */
static collet_status as_column(collet_context *cx, collet_array **out, const collet_array *vector)
{
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = collet_array_ndim(vector);
    memcpy(shape, collet_array_shape(vector), (size_t)ndim * sizeof *shape);
    shape[ndim] = 1;
    return collet_array_reshape(cx, out, vector, ndim + 1, shape);
}

collet_status collet_solve(collet_context *cx, collet_array *x, collet_array *info,
                           const collet_array *a, const collet_array *b)
{
    collet_array *x_column = NULL, *b_column = NULL;
    collet_status status = COLLET_OK;
    /* x has b's axes: otherwise b is a matrix that is broadcast. */
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
    collet_array_free(x_column);
    collet_array_free(b_column);
    return status;
}

collet_status collet_qr(collet_context *cx, collet_array *q, collet_array *r, const collet_array *a)
{
    return collet_call(cx, COLLET_OP_QR, OUTS(q, r), &a, NULL);
}

collet_status collet_svd(collet_context *cx, collet_array *u, collet_array *s, collet_array *vt,
                         collet_array *info, const collet_array *a)
{
    return collet_call(cx, COLLET_OP_SVD, OUTS(u, s, vt, info), &a, NULL);
}

collet_status collet_eigh(collet_context *cx, collet_array *values, collet_array *vectors,
                          collet_array *info, const collet_array *a)
{
    return collet_call(cx, COLLET_OP_EIGH, OUTS(values, vectors, info), &a, NULL);
}

collet_status collet_cholesky(collet_context *cx, collet_array *lower, collet_array *info,
                              const collet_array *a)
{
    return collet_call(cx, COLLET_OP_CHOLESKY, OUTS(lower, info), &a, NULL);
}
