/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onednn.h - matrix products by oneDNN 2 or 3, found at run time: f32, bf16, int8.
 *
 * Each call of oneDNN runs on one thread; the team divides products among its threads. oneDNN's own
 * threads would form an OpenMP region. The barrier of such a region waits for threads that the operating
 * system has not scheduled, and in a child of fork() it waits forever.
 */
#pragma once

#include <stdint.h>

#include "library.h"
#include "matrix.h"

#define ONEDNN_ISA_VARIABLE "DNNL_MAX_CPU_ISA" /* oneDNN itself reads it */
#define ONEDNN_ISA_VARIABLE_2 "ONEDNN_MAX_CPU_ISA"

/* Products */
#define ONEDNN_TYPE_F32 1u
#define ONEDNN_TYPE_BF16 2u
#define ONEDNN_TYPE_I8 4u

typedef struct onednn onednn;

/* Like blas_settle; the setting `target` limits the instruction set like DNNL_MAX_CPU_ISA. */
void onednn_settle(const library_settings *settings);

/* The library, opened at the first call and kept for the life of the process. Returns NULL and sets *reason (`reason`
 * may be NULL) if the library cannot be used. Any thread may call it. */
onednn *onednn_open(const char **reason);

/* Makes every later onednn_open fail. Call it before any use of the library. */
void onednn_refuse(const char *reason);

/* The version, such as "2.6.3"; the limit of the instruction set, as in DNNL_MAX_CPU_ISA; the library's file. */
void onednn_version(const onednn *o, char *version, uint64_t capacity);
const char *onednn_isa(const onednn *o);
void onednn_path(onednn *o, char *path, uint64_t capacity);

/* Enclose calls of this thread, so that the library, which uses the same OpenMP runtime as this plugin, uses only this
 * thread. onednn_enter returns the thread's OpenMP thread count, which onednn_leave restores. */
int onednn_enter(void);
void onednn_leave(int before);

/* Products c (m x n, not transposed) = a (m x k) b (k x n), extents >= 1. 0: the library declined
     * and c is unchanged. */
int onednn_product_f32(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                       const blas_matrix *b, int64_t m, int64_t n, int64_t k);
/* int8 factors, int32 results; sums are exact modulo 2^32. For large products this function is faster than a plan. */
int onednn_product_i8(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                      const blas_matrix *b, int64_t m, int64_t n, int64_t k);

/* A plan is a product that is compiled for its extents. A device keeps a set of a few plans, which any
 * number of threads may use. onednn_plans_create returns NULL if out of memory; onednn_plans_free ignores
 * NULL; onednn_plans_clear frees the plans that are not in use. */
typedef struct onednn_plans onednn_plans;
onednn_plans *onednn_plans_create(void);
void onednn_plans_clear(onednn_plans *plans);
void onednn_plans_free(onednn_plans *plans);

/* bf16 to bf16 (summed in f32, rounded once) or f32; int8 to int32. */
typedef enum onednn_type { ONEDNN_BF16_BF16, ONEDNN_BF16_F32, ONEDNN_I8_I32 } onednn_type;

/* Multiplies with a plan from `plans`. The plan is compiled if it does not exist. */
int onednn_product_planned(onednn *o, onednn_plans *plans, onednn_type type, const blas_matrix *c,
                           const blas_matrix *a, const blas_matrix *b, int64_t m, int64_t n,
                           int64_t k);

/* onednn_check.c: sets *types to the products (ONEDNN_TYPE_*) with right results. Takes some milliseconds per type.
 * Returns NULL, or why the library cannot be used at all. */
#define ONEDNN_TYPES 3
const char *onednn_check(onednn *o, uint32_t *types);
