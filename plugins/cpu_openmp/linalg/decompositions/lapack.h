/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapack.h - decompositions of large matrices with OpenBLAS and its LAPACK. Private to the plugin.
 *
 * lapack_<op>(job, scratch, begin, end) computes matrices begin .. end-1 of the job's call. No other
 * thread may use its scratch, which is 64-byte aligned and holds the pieces that lapack_<op>_scratch
 * adds, but at least cpu_decomposition_scratch bytes. Matrices with elements that are not finite or near
 * the ends of the range are passed to cpu_decomposition_run (shared/host/linalg/decompositions.h) instead
 * of LAPACK, with the same scratch.
 */
#pragma once

#include "cpu_openmp/providers/blas.h"
#include "cpu_openmp/runtime/device.h"

/* ---- Matrices: views of f32, f64, c64 or c128, and copies between views --------------------------- */

/* rows x columns elements; `row` and `column` are the strides in bytes. */
typedef struct dense_view {
    char *at;
    int64_t rows, columns;
    int64_t row, column;
    collet_dtype dtype;
} dense_view;

/* Matrix `index`, in C order of the batch axes, of an operand "...,M,N". */
dense_view dense_of(const collet_operand *o, int64_t index);

/* A view of adjacent elements, in rows without gaps. */
dense_view dense_at(void *at, collet_dtype dtype, int64_t rows, int64_t columns);

/* The view of the transpose. */
dense_view dense_transposed(dense_view v);

/* The leading dimension, in elements, if BLAS supports the view: rows of adjacent elements that do not
 * overlap, and all counts fit an int. Else 0. */
int dense_stride(const dense_view *v);

/* Like dense_of, for an output that BLAS or LAPACK may write; `at` is NULL where they do not
 * support the view. */
dense_view dense_output(const collet_operand *o, int64_t index);

/* Copies `in` to `out` on at most `threads` threads; both have one shape and dtype and do not overlap. */
void dense_copy(const collet_device *device, int32_t threads, const dense_view *out,
                const dense_view *in);

/* The same, into rows or columns of adjacent elements; returns the largest magnitude, or NaN if an element is not
 * finite. With `lower` only the lower triangle is read; the elements above it become zero. */
double dense_load(const collet_device *device, int32_t threads, const dense_view *out,
                  const dense_view *in, int lower);

/* The number of reals that an element has. */
int64_t dense_parts(const dense_view *v);

/* Changes the sign of row `row` from column `first` on. */
void dense_negate(const collet_device *device, const dense_view *v, int64_t row, int64_t first);

/* Sets the elements below (above: right of) the diagonal to zero. */
void dense_clear_below(const dense_view *v);
void dense_clear_above(const dense_view *v);

typedef struct lapack_job {
    const collet_device *device;
    const collet_kernel_call *call;
    blas *library;
    const blas_lapack *lapack; /* for the dtype */
    blas_type type;
    int wide;                  /* f64, or pairs of f64 */
    int parts;                 /* 2: complex */
    int64_t size;              /* bytes of an element */
    int32_t threads;           /* for each matrix; if 1, the caller has called blas_enter */
} lapack_job;

/* Divides a scratch into pieces, 64-byte aligned; with base NULL it only counts their bytes. */
typedef struct lapack_pieces {
    char *base;
    uint64_t used; /* UINT64_MAX: too many */
} lapack_pieces;

/* Whether the extents and scratches of a call fit LAPACK's integers. */
int lapack_takes(const collet_kernel_call *call);

/* lapack_lu.c, lapack_solve.c. lapack_solve returns the same values as cpu_decomposition_run for solve. */
void lapack_lu_scratch(const collet_kernel_call *call, lapack_pieces *p);
void lapack_lu(const lapack_job *job, void *scratch, int64_t begin, int64_t end);
void lapack_solve_scratch(const collet_kernel_call *call, lapack_pieces *p);
int64_t lapack_solve(const lapack_job *job, void *scratch, int64_t begin, int64_t end);

/* lapack_qr.c, lapack_cholesky.c */
void lapack_qr_scratch(const collet_kernel_call *call, lapack_pieces *p);
/* For real matrices. */
void lapack_qr(const lapack_job *job, void *scratch, int64_t begin, int64_t end);
void lapack_qr_complex_scratch(const collet_kernel_call *call, lapack_pieces *p);
void lapack_qr_complex(const lapack_job *job, void *scratch, int64_t begin, int64_t end);
void lapack_cholesky_scratch(const collet_kernel_call *call, lapack_pieces *p);
void lapack_cholesky(const lapack_job *job, void *scratch, int64_t begin, int64_t end);

/* lapack_spectra.c */
void lapack_svd_scratch(const collet_kernel_call *call, lapack_pieces *p);
void lapack_svd(const lapack_job *job, void *scratch, int64_t begin, int64_t end);
void lapack_eigh_scratch(const collet_kernel_call *call, lapack_pieces *p);
void lapack_eigh(const lapack_job *job, void *scratch, int64_t begin, int64_t end);
void lapack_eig_scratch(const collet_kernel_call *call, lapack_pieces *p);
void lapack_eig(const lapack_job *job, void *scratch, int64_t begin, int64_t end);

/* ---- Only for lapack_*.c --------------------------------------------------------------------- */

/* Enclose calls of the library. threads = job->threads is for LAPACK with its own threads. threads = 1 is for calls
 * of the library on one thread, and for the functions of lapack_parts.c. */
void lapack_enter(const lapack_job *job, blas_use *use, int32_t threads);
void lapack_leave(const lapack_job *job, blas_use *use);

/* lapack_parts.c: like blas_multiply, blas_subtract_square and blas_solve, on the job's threads. */
void lapack_multiply(const lapack_job *job, const blas_matrix *c, const blas_matrix *left,
                     const blas_matrix *right, int64_t m, int64_t n, int64_t k, int factor,
                     int keep);
void lapack_subtract_square(const lapack_job *job, const blas_matrix *c, const blas_matrix *a,
                            int64_t n, int64_t k);
void lapack_solve_triangle(const lapack_job *job, blas_triangle which, const blas_matrix *a,
                           const blas_matrix *x, int64_t m, int64_t n);

/* lapack_factor.c: P A = L U in place, in min(rows, columns) steps; step k exchanges row k with row
 * pivot[k] (Toledo's recursion; docs/KERNELS.md, lu). The caller owns the memory of the members.
 * Call lapack_enter with lapack_factor_threads before, and lapack_leave afterwards. */
typedef struct lapack_factors {
    const lapack_job *job;
    dense_view a;   /* rows that BLAS supports */
    int32_t *pivot; /* min(rows, columns) */
    void *panel;    /* scratch of rows x lapack_panel_columns elements */
} lapack_factors;

/* Panels of at most this many columns are factored column by column. Complex matrices are factored by LAPACK, after
 * the whole matrix has been copied. */
#define LAPACK_PANEL 16
int64_t lapack_panel_columns(const collet_operand *a);

/* The argument `threads` of lapack_enter before a call of lapack_factor. */
int32_t lapack_factor_threads(const lapack_job *job);
void lapack_factor(const lapack_factors *f);
/* Exchanges rows of x as steps first .. last-1 did; the rows of x must be a view that BLAS supports. */
void lapack_exchange(const lapack_factors *f, int64_t first, int64_t last, const dense_view *x);
/* Returns 0, or 1 + the number of the first step whose pivot is zero. */
int64_t lapack_zero_pivot(const lapack_factors *f);

/* Whether LAPACK's arithmetic neither overflows nor underflows for this largest magnitude
 * (dense_load). */
int lapack_is_regular(const lapack_job *job, double largest);

/* Takes a piece of scratch for rows x columns elements of `size` bytes. */
void *lapack_take(lapack_pieces *p, int64_t rows, int64_t columns, uint64_t size);
