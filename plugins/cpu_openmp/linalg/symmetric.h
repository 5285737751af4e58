/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetric.h - mirrors the lower triangle of a symmetric product (a^T a, without conjugation) to its upper triangle.
 */
#ifndef PLUGINS_CPU_OPENMP_LINALG_SYMMETRIC_H
#define PLUGINS_CPU_OPENMP_LINALG_SYMMETRIC_H

#include "cpu_openmp/array/kernels/kernel_move.h"
#include "kernel_gemm.h"

/* Copies block i, j of the matrix `c`, which begins at row i and column j (j <= i), to the other side of the diagonal.
 * Elements have 2^shift bytes; the elements of a row are adjacent. A block on the diagonal is mirrored inside. */
void symmetric_mirror(const move_kernels *move, const gemm_matrix *c, int32_t shift, int64_t i,
                      int64_t j, int64_t rows, int64_t columns);

#endif
