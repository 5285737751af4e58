/* SPDX-License-Identifier: Apache-2.0 */
/* clblast.h - CLBlast, opened at the first product that it can compute. Its functions are declared
 * here as in clblast_c.h, so that the build needs neither its headers nor the library. */
#pragma once

#include "driver.h"

enum { CLBLAST_ROWS = 101, CLBLAST_AS_IS = 111, CLBLAST_TRANSPOSED = 112 };

/* Parameters: layout; operation on a; operation on b; m, n, k; alpha; a; b; beta; c; the queue; an event that the
 * caller will own, or NULL. a, b and c are three parameters each: buffer, first element, leading dimension. */
#define CLBLAST_GEMM(type)                                                                         \
    int (*)(int, int, int, size_t, size_t, size_t, type, cl_mem, size_t, size_t, cl_mem, size_t,   \
            size_t, type, cl_mem, size_t, size_t, cl_command_queue *, cl_event *)
/* The same parameters with a batch stride after each leading dimension, and the batch count after c. */
#define CLBLAST_GEMM_BATCH(type)                                                                   \
    int (*)(int, int, int, size_t, size_t, size_t, type, cl_mem, size_t, size_t, size_t, cl_mem,   \
            size_t, size_t, size_t, type, cl_mem, size_t, size_t, size_t, size_t,                  \
            cl_command_queue *, cl_event *)

#define CLBLAST_FUNCTIONS(X)                                                                       \
    X(Sgemm, CLBLAST_GEMM(float))                                                                  \
    X(Dgemm, CLBLAST_GEMM(double))                                                                 \
    X(SgemmStridedBatched, CLBLAST_GEMM_BATCH(float))                                              \
    X(DgemmStridedBatched, CLBLAST_GEMM_BATCH(double))

typedef struct opencl_blas {
    int tried, usable;
    char text[320]; /* the library's file, or why it is not used */
#define MEMBER(name, type) __typeof__((type)0) name;
    CLBLAST_FUNCTIONS(MEMBER)
#undef MEMBER
} opencl_blas;

/* Returns 1 if CLBlast computes products on this device. If the setting opencl.clblast names a library, it is
 * used on any device; by default libclblast.so.1 is used, except on CPUs; "off": no library is used. The library
 * must use the same OpenCL loader as the plugin. Opening is tried once. A failure is logged, as a warning if
 * opencl.clblast names the library or opencl.ways requests it. Only one thread may call it at a time. */
int opencl_blas_ready(const collet_host *host, const opencl_driver *cl, cl_device_id id, int asked,
                      opencl_blas *blas);
/* Call it after CLBlast has rejected a product: CLBlast is then not used for this device again. */
void opencl_blas_drop(const collet_host *host, opencl_blas *blas, int code);
