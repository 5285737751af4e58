/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrices.h - matrices of a case in long double, for judging decompositions, and the kinds of
 * input matrices.
 *
 * A complex matrix is stored as the real matrix of twice the extents with the blocks (re, -im; im, re), so that
 * products, transposes (of the conjugate) and norms (times sqrt 2) are computed with real matrices;
 * kit_matrix_parts is the number of rows and columns that an element has.
 *
 * Errors are measured in units of u, the dtype's unit roundoff (half an ulp of 1), so that one
 * limit holds for f32 and f64. A *floor* is the absolute error of rounding to denormals.
 */
#pragma once

#include "kit.h"
#include "small.h"

/* Row-major; kit_matrix_free frees `at`. */
typedef struct kit_matrix {
    int64_t rows, columns;
    real *at;
} kit_matrix;

kit_matrix kit_matrix_zero(int64_t rows, int64_t columns);
/* Real numbers per element of a case's matrices: 2 if the inputs are complex, else 1. */
static inline int64_t kit_matrix_parts(const kit_case *c)
{
    return kit_part(kit_in(c, 0)->dtype) == kit_in(c, 0)->dtype ? 1 : 2;
}
/* Matrix `batch` of operand k, with broadcasting. `batch` counts in C order over the axes of
 * operand 0 without its last `own`. `axes`: number of matrix axes of operand k: 2, or 1 for a
 * column. */
kit_matrix kit_matrix_of(const kit_case *c, uint32_t k, int32_t axes, int32_t own, int64_t batch);
void kit_matrix_free(kit_matrix *m);
/* Declares a local matrix that is freed at the end of its block. */
#define kit_local __attribute__((cleanup(kit_matrix_free))) kit_matrix
/* Number of matrices in operand 0, whose last `own` axes form a matrix. */
int64_t kit_matrix_count(const kit_case *c, int32_t own);

static inline real *kit_entry(const kit_matrix *m, int64_t i, int64_t j)
{
    return m->at + i * m->columns + j;
}

kit_matrix kit_product(const kit_matrix *a, const kit_matrix *b);
kit_matrix kit_transposed(const kit_matrix *a);
/* Frobenius norms of a - b and of a. */
real kit_distance(const kit_matrix *a, const kit_matrix *b);
real kit_size(const kit_matrix *a);
/* |Q^T Q - 1| / sqrt(columns). */
real kit_departure(const kit_matrix *q);
bool kit_finite(const kit_matrix *a);
/* Copies the lower triangle to the upper triangle; imaginary parts on the diagonal become 0. */
void kit_mirror(kit_matrix *a, int64_t parts);
/* Eigenvalues of a symmetric matrix, ascending, by Jacobi's rotations; `a` is destroyed. */
void kit_eigenvalues(kit_matrix *a, real *values);

/* The smallest positive number of operand k's dtype. */
real kit_smallest(const kit_case *c, uint32_t k);

/* Compares `error` / (scale u) with the op's limit `quantity`; errors up to `floor` count as 0. */
void kit_measure(const kit_case *c, kit_verdict *v, const char *quantity, int64_t batch, real error,
                 real scale, real floor);
/* Checks that every element of matrix `batch` of output k, which has `axes` matrix axes, is NaN. */
void kit_all_nan(const kit_case *c, kit_verdict *v, uint32_t k, int32_t axes, int64_t batch);
/* Checks that element `batch` of the i32 output k is `ideal`. */
void kit_info_is(const kit_case *c, kit_verdict *v, uint32_t k, int64_t batch, int64_t ideal);

/* Adds part `part` of element i of a times element j of b, none conjugated, to *sum, and the
 * magnitudes of its terms to *magnitude. */
void kit_add_term(const kit_tensor *a, int64_t i, const kit_tensor *b, int64_t j, int part,
                  real *sum, real *magnitude);

/* ---- Kinds ------------------------------------------------------------------------------------
 */

typedef enum kit_kind {
    KIT_NORMAL,
    KIT_DEFICIENT, /* half of the full rank */
    KIT_ZERO,
    KIT_IDENTITY,
    KIT_GRADED, /* rows and columns over most of the range of exponents */
    KIT_HILBERT,
    KIT_MIRROR, /* 1 - 2 v v^T: every singular value is 1 */
    KIT_LARGE,
    KIT_SMALL,
    KIT_DENORMAL,
    KIT_ZERO_COLUMN,
    KIT_NOT_FINITE, /* an infinity or NaN in every other matrix */
    KIT_KINDS
} kit_kind;

extern const char *const kit_kind_names[KIT_KINDS];

/* The column that is zero under KIT_ZERO_COLUMN. */
int64_t kit_zero_column(int64_t columns);
/* Fills the matrices of input k. */
void kit_generate_matrices(kit_case *c, uint32_t k, kit_kind kind, kit_rng *rng);
/* Fills the matrices of input k with symmetric or Hermitian matrices: S, or B B^H if `positive`. The parts that
 * kernels must not read, upper triangles and imaginary parts of the diagonal, are filled with garbage. */
void kit_generate_symmetric(kit_case *c, uint32_t k, kit_kind kind, bool positive, kit_rng *rng);

/* Emits the cases of an op whose input is "...,M,N", or with `square` "...,N,N": shapes with each
 * kind whose bit is set in `kinds`, batches, layouts, parts. */
void kit_plan_matrices(kit_plan *plan, bool square, uint32_t kinds);
