/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - how a batch of matrix products is computed: the strategy, the library, the parts. */
#pragma once

#include "cpu_openmp/providers/blas.h"
#include "cpu_openmp/providers/onednn.h"
#include "cpu_openmp/runtime/device.h"
#include "batch.h"
#include "kernel_gemm.h"

/* Minimum number of multiplications per thread. */
#define PRODUCT_GRAIN (96 << 10)

enum { C, A, B, MATRICES };

/* How the parts of a product are computed. */
typedef enum strategy {
    BY_SMALL,
    BY_TINY,
    BY_ONEDNN,
    BY_BLAS,
    BY_GEMM,
    BY_NARROW,
    BY_DOTS
} strategy;

/* A batch of products, the strategy for each, and its division into parts. */
typedef struct product {
    const collet_device *device;
    collet_dtype from, to;
    batch batch;
    gemm_matrix m[MATRICES]; /* without addresses; strides in elements */
    int64_t rows, columns, inner;
    double work; /* their product */
    strategy strategy;
    int symmetric; /* the factors are one matrix and its transpose: parts above the diagonal are mirrored */
    int wide;       /* if the real type is f32 or f64: whether it is f64 */
    blas_type type; /* the type for the library and for BY_GEMM */
    onednn *onednn;
    blas *blas;
    blas_matrix form[MATRICES];                           /* for the libraries, without addresses */
    int64_t part_rows, part_columns, parts_across, parts; /* the parts of one product */
    char *scratch;                                        /* one piece per thread */
} product;

/* Fills *p, except the scratch memory, for a call of matmul. Opens the library that the product uses. */
void product_make(product *p, const collet_device *device, const collet_kernel_call *call);

/* Whether the elements are of a type shorter than f32. */
int product_is_narrow(const product *p);
