/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - OpenBLAS with its LAPACK, found at run time.
 *
 * Functions of the same names that the host program exports (cblas_*, sgemm_, sgetrf_) are never called instead of
 * the functions of the library (library.h). blas_enter sets the number of threads that the library uses; the
 * last blas_leave restores the number that the host program had set.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "library.h"
#include "matrix.h"

typedef struct blas blas;

/* Types of elements. BLAS_F32 is 0 and BLAS_F64 is 1; code for real types uses them as a flag. */
typedef enum blas_type { BLAS_F32, BLAS_F64, BLAS_C64, BLAS_C128, BLAS_TYPES } blas_type;

/* LAPACK's routines for one type, as Fortran calls them: every argument by address, column-major
 * matrices, pivots from 1, the length of each character argument (1) at the end. Arrays are void
 * here, so that callers are written once for all types. `info`: 0, -i for a wrong argument i, > 0
 * as LAPACK's documentation of the routine states. */
typedef struct blas_lapack {
    /* Only blas_check.c uses getrs, and getrf of real types. */
    void (*getrf)(const int *m, const int *n, void *a, const int *lda, int *ipiv, int *info);
    void (*getrs)(const char *trans, const int *n, const int *nrhs, const void *a, const int *lda,
                  const int *ipiv, void *b, const int *ldb, int *info, size_t trans_length);
    void (*potrf)(const char *uplo, const int *n, void *a, const int *lda, int *info,
                  size_t uplo_length);
    void (*gesdd)(const char *jobz, const int *m, const int *n, void *a, const int *lda, void *s,
                  void *u, const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork,
                  int *iwork, int *info, size_t jobz_length);
    void (*syevd)(const char *jobz, const char *uplo, const int *n, void *a, const int *lda,
                  void *w, void *work, const int *lwork, int *iwork, const int *liwork, int *info,
                  size_t jobz_length, size_t uplo_length);
    void (*geev)(const char *jobvl, const char *jobvr, const int *n, void *a, const int *lda,
                 void *wr, void *wi, void *vl, const int *ldvl, void *vr, const int *ldvr,
                 void *work, const int *lwork, int *info, size_t jobvl_length, size_t jobvr_length);
    /* Complex types have these functions instead of gesdd, syevd and geev. */
    void (*geev_complex)(const char *jobvl, const char *jobvr, const int *n, void *a,
                         const int *lda, void *w, void *vl, const int *ldvl, void *vr,
                         const int *ldvr, void *work, const int *lwork, void *rwork, int *info,
                         size_t jobvl_length, size_t jobvr_length);
    void (*gesdd_complex)(const char *jobz, const int *m, const int *n, void *a, const int *lda,
                          void *s, void *u, const int *ldu, void *vt, const int *ldvt, void *work,
                          const int *lwork, void *rwork, int *iwork, int *info, size_t jobz_length);
    void (*heevd)(const char *jobz, const char *uplo, const int *n, void *a, const int *lda,
                  void *w, void *work, const int *lwork, void *rwork, const int *lrwork, int *iwork,
                  const int *liwork, int *info, size_t jobz_length, size_t uplo_length);
    void (*geqrf)(const int *m, const int *n, void *a, const int *lda, void *tau, void *work,
                  const int *lwork, int *info);
    void (*ungqr)(const int *m, const int *n, const int *k, void *a, const int *lda,
                  const void *tau, void *work, const int *lwork, int *info);
} blas_lapack;

/* A call, or a group of calls, in progress. Private to blas.c; the caller keeps it on its stack. */
typedef struct blas_use {
    struct blas_use *next, *previous;
    int32_t threads; /* the threads of each call, >= 1 */
    int32_t taken;   /* the number of threads to return by team_give; 0: none */
} blas_use;

#define BLAS_NAME "libopenblas.so.0"
#define BLAS_CORE_VARIABLE "OPENBLAS_CORETYPE" /* OpenBLAS itself reads it */

/* Sets how the first blas_open opens the library. The process has one copy of the library, so only the first call has
 * an effect, and only if the library is not open yet. `target` is a core type. Any thread may call it. */
void blas_settle(const library_settings *settings);

/* Returns 1 and sets `core` to the library's core type if the process has already loaded the library; else 0. */
int blas_is_loaded(const char *name, char *core, uint64_t capacity);

/* The library, opened at the first call and kept for the life of the process. Returns NULL and sets *reason (`reason`
 * may be NULL) if the library cannot be used. Any thread may call it. */
blas *blas_open(const char **reason);

/* Makes every later blas_open fail. Call it before any use of the library. */
void blas_refuse(const char *reason);

/* The library's version and the core type of its kernels, as OpenBLAS names them. */
const char *blas_config(const blas *b);
const char *blas_core(const blas *b);

/* The library's file. */
void blas_path(blas *b, char *path, uint64_t capacity);

/* Like library_enter, for a group of calls of this library from up to `callers` threads. fork() stops the
 * library's threads, in the parent too; blas_begin starts them again. Returns 0 if the system does not
 * start them, or if the limit on address space (ulimit -v) leaves too little for a buffer for each
 * caller: the library would retry forever. blas_end with the same number ends the group. */
int blas_begin(blas *b, int32_t callers);
void blas_end(blas *b, int32_t callers);

/* Enclose every group of calls, between blas_begin and blas_end. Any number of groups may run at the same
 * time, on any threads. Each call of the group may use up to `threads` (>= 1) of the library's threads,
 * which count as threads of the team (team_take); the call gets fewer threads if other callers use some of them.
 * `threads` = 1 is for calls from the threads of a team and takes no other thread. Returns the number granted. A group
 * that begins while another group runs does not change the results of that group. The library has only one thread
 * count, so the count is chosen to suit both groups.
 */
int32_t blas_enter(blas *b, blas_use *use, int32_t threads);
void blas_leave(blas *b, blas_use *use);

/* c = factor a b + keep c; c is m x n, not transposed, a m x k, b k x n. Extents and strides fit an int. Call it
 * between blas_enter and blas_leave. */
void blas_multiply(const blas *b, blas_type type, const blas_matrix *c, const blas_matrix *left,
                   const blas_matrix *right, int64_t m, int64_t n, int64_t k, int factor, int keep);

/* Triangular systems of x (m x n) in place: x = L^-1 x with the unit lower triangle of a (m x m),
 * x = U^-1 x with its upper triangle, or x = x L^-H with the lower triangle of a (n x n). Neither matrix is
 * transposed. Extents are as above. */
typedef enum blas_triangle { BLAS_UNIT_LOWER, BLAS_UPPER, BLAS_LOWER_RIGHT } blas_triangle;
void blas_solve(const blas *b, blas_type type, blas_triangle which, const blas_matrix *a,
                const blas_matrix *x, int64_t m, int64_t n);

/* The lower triangle of c = factor a a^H + keep c; a is n x k, and not transposed if it is complex. Extents are as
 * above. */
void blas_square(const blas *b, blas_type type, const blas_matrix *c, const blas_matrix *a,
                 int64_t n, int64_t k, int factor, int keep);

/* LAPACK for a type; NULL if this OpenBLAS was built without it. Call its functions between blas_enter and
 * blas_leave. */
const blas_lapack *blas_lapack_of(const blas *b, blas_type type);

/* blas_check.c: checks products and a solution; takes some milliseconds. Returns NULL, or the fault. */
const char *blas_check(blas *b, int32_t threads);
