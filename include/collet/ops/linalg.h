/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/linalg.h - typed calls, inline, of the linalg family: products, decompositions and solutions of systems.
 *
 * collet/call.h states the rules that hold for every call; docs/KERNELS.md has the
 * definitions and the limits of errors. Each row COLLET_CALL of linalg.def becomes a call, too (typed.h);
 * the comments there describe these calls.
 */
#ifndef COLLET_OPS_LINALG_H
#define COLLET_OPS_LINALG_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_CALL
#define COLLET_CALL_PARAMS COLLET_TYPED_CALL_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/linalg.def>
#include <collet/ops/end.def>

/* Solves a x = b for x. a is (..., N, N). b and x are (..., N, R), or vectors (..., N) if they have one axis less than
 * a. info (no axes): 0 if no matrix is singular, else i + 1, where i is the index of the first singular matrix, counted in
 * C order over x's batch axes. x is NaN for singular matrices. */
static inline collet_status collet_op_solve(collet_context *context, collet_array *x,
                                            collet_array *info, const collet_array *a,
                                            const collet_array *b)
{
    collet_array *columns[] = {NULL, NULL}; /* x and b with one more axis, of length 1 */
    const collet_array *const vectors[] = {x, b};
    collet_status status = COLLET_OK;
    /* b is a vector only if x has as many axes as b; otherwise b is a matrix that is broadcast. */
    int32_t ndim = context && x && a && b ? collet_array_ndim(b) : -2;
    if (ndim >= 0 && ndim == collet_array_ndim(a) - 1 && ndim == collet_array_ndim(x)) {
        for (int k = 0; k < 2 && status == COLLET_OK; k++) {
            int64_t shape[COLLET_MAX_DIMS];
            for (int32_t i = 0; i < ndim; i++)
                shape[i] = collet_array_shape(vectors[k])[i];
            shape[ndim] = 1;
            status = collet_array_reshape(context, vectors[k], &columns[k], ndim + 1, shape);
        }
    }
    if (status == COLLET_OK) {
        collet_array *const to[] = {columns[0] ? columns[0] : x, info};
        const collet_array *const from[] = {a, columns[1] ? columns[1] : b};
        status = collet_call(context, COLLET_OP_SOLVE, to, from, NULL);
    }
    collet_array_destroy(columns[0]);
    collet_array_destroy(columns[1]);
    return status;
}

#ifdef __cplusplus
}
#endif
#endif
