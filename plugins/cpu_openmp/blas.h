/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - OpenBLAS, found at run time and used one thread a call.
 *
 * The functions are taken from the library's own handle, never from the names that this object
 * would be bound to: a host that exports cblas_* of its own does not come between. The threads are
 * ours (team.h): while calls are under way OpenBLAS is set to one thread, and to what it was after
 * the last.
 */
#ifndef COLLET_OPENMP_BLAS_H
#define COLLET_OPENMP_BLAS_H

#include <stdint.h>

typedef struct blas blas;

/* A matrix as BLAS takes it: row-major with `stride` elements from row to row, or transposed. */
typedef struct blas_matrix {
    void *at;
    int64_t stride;
    int transposed;
} blas_matrix;

/*
 * The library, opened at the first call and kept for the life of the process. NULL, with *reason,
 * when it cannot be used. Any thread.
 */
blas *blas_open(const char **reason);

/* Version and the processor core that its kernels are made for, as OpenBLAS names them. */
const char *blas_config(const blas *b);
const char *blas_core(const blas *b);

/* Around every group of calls; nests, and is counted over all threads. */
void blas_enter(blas *b);
void blas_leave(blas *b);

/* c (m x n, not transposed) = a (m x k) b (k x n); wide: f64, else f32. Extents and strides fit an
 * int. */
void blas_product(const blas *b, int wide, const blas_matrix *c, const blas_matrix *left,
                  const blas_matrix *right, int64_t m, int64_t n, int64_t k);

#endif
