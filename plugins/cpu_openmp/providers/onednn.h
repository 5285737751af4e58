/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onednn.h - matrix products by oneDNN 2 or 3, found at run time: f32, bf16, int8.
 *
 * Every product is called on one thread: the team divides them. oneDNN's own threads form an
 * OpenMP region, whose barrier waits for threads that the operating system has not scheduled, and
 * waits for ever in a child of fork().
 */
#ifndef PLUGINS_CPU_OPENMP_PROVIDERS_ONEDNN_H
#define PLUGINS_CPU_OPENMP_PROVIDERS_ONEDNN_H

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

/*
 * The library, opened at the first call and kept for the life of the process. NULL, with *reason
 * (`reason` may be NULL), when it cannot be used. Any thread.
 */
onednn *onednn_open(const char **reason);

/* Every later onednn_open fails. Only before anything uses the library. */
void onednn_refuse(const char *reason);

/* "2.6.3"; the instruction set that it uses at most, as DNNL_MAX_CPU_ISA; its file. */
void onednn_version(const onednn *o, char *version, uint64_t capacity);
const char *onednn_isa(const onednn *o);
void onednn_path(onednn *o, char *path, uint64_t capacity);

/* Around calls of this thread: the library, which shares this plugin's OpenMP, uses this thread
 * alone. enter returns the thread's number of threads for leave to restore. */
int onednn_enter(void);
void onednn_leave(int before);

/* Products c (m x n, not transposed) = a (m x k) b (k x n), extents >= 1. 0: the library declined
     * and c is unchanged. */
int onednn_product_f32(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                       const blas_matrix *b, int64_t m, int64_t n, int64_t k);
/* int8 in, int32 out; sums are exact modulo 2^32. Faster than a plan for large products. */
int onednn_product_i8(const onednn *o, const blas_matrix *c, const blas_matrix *a,
                      const blas_matrix *b, int64_t m, int64_t n, int64_t k);

/*
 * Products that are compiled for their extents: plans. A device keeps a few of them. Any number of
 * threads may use one set. NULL: out of memory. Freeing NULL does nothing; clearing frees the plans
 * that are not in use.
 */
typedef struct onednn_plans onednn_plans;
onednn_plans *onednn_plans_create(void);
void onednn_plans_clear(onednn_plans *plans);
void onednn_plans_free(onednn_plans *plans);

/* bf16 to bf16 (summed in f32, rounded once) or f32; int8 to int32. */
typedef enum onednn_type { ONEDNN_BF16_BF16, ONEDNN_BF16_F32, ONEDNN_I8_I32 } onednn_type;

/* Multiplies with a plan from `plans`, which is compiled if it does not exist. */
int onednn_product_planned(onednn *o, onednn_plans *plans, onednn_type type, const blas_matrix *c,
                           const blas_matrix *a, const blas_matrix *b, int64_t m, int64_t n,
                           int64_t k);

/* onednn_check.c: *types becomes the products (ONEDNN_TYPE_*) that are right. Takes some milliseconds a
 * type. Returns NULL, or why the library cannot be used at all. */
#define ONEDNN_TYPES 3
const char *onednn_check(onednn *o, uint32_t *types);

#endif
