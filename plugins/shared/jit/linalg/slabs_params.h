/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets in a slab, the part of the workspace in which a decomposition keeps one matrix. The
 * matrix is m x n; min_mn is the smaller extent.
 */
#ifndef COLLET_JIT_LINALG_SLABS_PARAMS_H
#define COLLET_JIT_LINALG_SLABS_PARAMS_H

#define SLAB_SCALE 0 /* the scale factor of the matrix; infinite if an element is not finite */
#define SLAB_STATE 1
#define SLAB_HEAD 2 /* the op's own numbers follow */

#define CHOLESKY_MATRIX SLAB_HEAD

#define LU_PERM SLAB_HEAD
#define LU_PIVOTS(m) (SLAB_HEAD + (m))
#define LU_MATRIX(m) (SLAB_HEAD + 2 * (m))

#define QR_TAU SLAB_HEAD
#define QR_MATRIX(min_mn) (SLAB_HEAD + (min_mn))
#define QR_FACTOR(m, n, min_mn) (QR_MATRIX(min_mn) + (m) * (n))

#define EIGH_DIAGONAL SLAB_HEAD
#define EIGH_OFF_DIAGONAL(n) (SLAB_HEAD + (n))
#define EIGH_TAU(n) (SLAB_HEAD + 2 * (n))
#define EIGH_VECTOR(n) (SLAB_HEAD + 3 * (n))
#define EIGH_LIST(n) (SLAB_HEAD + 4 * (n))
#define EIGH_MATRIX(n) (SLAB_HEAD + 8 * (n))
#define EIGH_VECTORS(n) (EIGH_MATRIX(n) + (n) * (n))
/* Elements per item of rank_two. */
#define EIGH_EACH 8

/* m >= n */
#define SVD_DIAGONAL SLAB_HEAD
#define SVD_OFF_DIAGONAL(n) (SLAB_HEAD + (n))
#define SVD_TAU_LEFT(n) (SLAB_HEAD + 2 * (n))
#define SVD_TAU_RIGHT(n) (SLAB_HEAD + 3 * (n))
#define SVD_LIST_LEFT(n) (SLAB_HEAD + 4 * (n))
#define SVD_LIST_RIGHT(n) (SLAB_HEAD + 8 * (n))
#define SVD_MATRIX(n) (SLAB_HEAD + 12 * (n))
#define SVD_LEFT(m, n) (SVD_MATRIX(n) + (m) * (n))
#define SVD_RIGHT(m, n) (SVD_LEFT(m, n) + (m) * (n))

#define EIG_NORM SLAB_HEAD
#define EIG_VALUES (SLAB_HEAD + 1)
#define EIG_TAU(n) (EIG_VALUES + (n))
#define EIG_MATRIX(n) (EIG_VALUES + 2 * (n))
#define EIG_FACTOR(n) (EIG_MATRIX(n) + (n) * (n))
#define EIG_VECTORS(n) (EIG_FACTOR(n) + (n) * (n))

#endif
