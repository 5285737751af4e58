/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/linalg.h - typed calls of the linalg family: products, decompositions and solutions of systems.
 *
 * collet.h states the rules that hold for every call (collet_call); docs/KERNELS.md has the
 * definitions and the limits of errors. A call without a declaration here is a row COLLET_CALL of
 * linalg.def, with its contract.
 */
#ifndef COLLET_OPS_LINALG_H
#define COLLET_OPS_LINALG_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_DECLARE
#define COLLET_CALL_PARAMS COLLET_TYPED_DECLARE_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/linalg.def>
#include <collet/ops/end.def>

/* x (..., N, R) of a x = b, a (..., N, N); b and x with one axis less than a are vectors (..., N).
 * info (no axes): 0, or 1 + the number, in C order of x's batch axes, of the first singular matrix;
 * where a is singular x is NaN. */
COLLET_API collet_status collet_op_solve(collet_context *context, collet_array *x,
                                         collet_array *info, const collet_array *a,
                                         const collet_array *b);

#ifdef __cplusplus
}
#endif
#endif
