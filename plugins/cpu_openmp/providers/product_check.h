/* SPDX-License-Identifier: Apache-2.0 */
/* product_check.h - checks the results of a library's matrix products. */
#pragma once

#include "matrix.h"

/* The type of the factors. The product has the same type, but f32 for bf16 and int32 for int8. */
typedef enum check_type { CHECK_F32, CHECK_F64, CHECK_BF16, CHECK_I8, CHECK_TYPES } check_type;

/* Computes one product c (m x n, not transposed) = a (m x k) b (k x n) of the type, on the calling thread
 * only. Returns 0 if the library declined it. */
typedef int (*check_product)(void *context, check_type type, const blas_matrix *c,
                             const blas_matrix *a, const blas_matrix *b, int64_t m, int64_t n,
                             int64_t k);

/* Compares products with their definition; takes some milliseconds. Returns NULL, or the fault. */
const char *product_check(check_product product, void *context, check_type type);

/* An integer from -4 to 4. Sums of products of such numbers are exact in every float type and in any order. */
double product_check_number(int64_t i, int64_t j, int64_t seed);
