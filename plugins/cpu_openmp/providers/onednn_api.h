/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onednn_api.h - the part of oneDNN's C interface that this plugin calls, declared here so that one
 * build serves versions 2 and 3 and does not need the headers of oneDNN. Only for onednn*.c.
 *
 * Values and layouts are from dnnl_types.h; both versions share them unless stated otherwise.
 */
#pragma once

#include <stddef.h>

#include "onednn.h"

#define DNNL_SUCCESS 0
#define DNNL_CPU 1                /* dnnl_engine_kind_t */
#define DNNL_STREAM_DEFAULT 1     /* dnnl_stream_flags_t */
#define DNNL_SCRATCHPAD_USER 1    /* dnnl_scratchpad_mode_t */
#define DNNL_QUERY_SCRATCHPAD 136 /* dnnl_query_t: its memory descriptor */
#define DNNL_TYPE_BF16 2          /* dnnl_data_type_t */
#define DNNL_TYPE_F32 3
#define DNNL_TYPE_S32 4
#define DNNL_TYPE_S8 5
#define DNNL_ARGUMENT_SRC 1
#define DNNL_ARGUMENT_DST 17
#define DNNL_ARGUMENT_WEIGHTS 33
#define DNNL_ARGUMENT_SCRATCHPAD 80
#define DNNL_AXES 12 /* DNNL_MAX_NDIMS */

/* Version 2 has structures where version 3 has handles. In 2.6 they have 696 and 2800 bytes; later versions may have
 * more. */
#define DNNL_MEMORY_DESC_BYTES 2048
#define DNNL_MATMUL_DESC_BYTES 16384

typedef struct onednn_version_info {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
} onednn_version_info;

typedef struct onednn_argument {
    int index;
    void *memory;
} onednn_argument;

/* The library and its functions. Handles are void *; statuses and enumerations are int. A memory descriptor is
 * passed by its address in version 2, by its handle in version 3. */
struct onednn {
    int major;
    const onednn_version_info *(*version)(void);
    int (*set_max_cpu_isa)(int isa);
    int (*get_effective_cpu_isa)(void);
    int (*sgemm)(char transposed_a, char transposed_b, int64_t m, int64_t n, int64_t k, float alpha,
                 const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                 int64_t ldc);
    int (*gemm_s8s8s32)(char transposed_a, char transposed_b, char offset_c, int64_t m, int64_t n,
                        int64_t k, float alpha, const int8_t *a, int64_t lda, int8_t offset_a,
                        const int8_t *b, int64_t ldb, int8_t offset_b, float beta, int32_t *c,
                        int64_t ldc, const int32_t *offsets);
    int (*engine_create)(void **engine, int kind, size_t index);
    int (*stream_create)(void **stream, void *engine, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream);
    size_t (*memory_desc_get_size)(const void *desc);
    int (*memory_create)(void **memory, const void *desc, void *engine, void *at);
    int (*memory_destroy)(void *memory);
    int (*memory_set_data_handle)(void *memory, void *at);
    int (*primitive_attr_create)(void **attributes);
    int (*primitive_attr_destroy)(void *attributes);
    int (*primitive_attr_set_scratchpad_mode)(void *attributes, int mode);
    int (*primitive_desc_destroy)(void *description);
    const void *(*primitive_desc_query_md)(const void *description, int what, int index);
    int (*primitive_create)(void **primitive, const void *description);
    int (*primitive_destroy)(void *primitive);
    int (*primitive_execute)(const void *primitive, void *stream, int count,
                             const onednn_argument *arguments);
    /* Version 2 */
    int (*memory_desc_init_by_strides)(void *desc, int axes, const int64_t *extents, int type,
                                       const int64_t *strides);
    int (*matmul_desc_init)(void *product, const void *src, const void *weights, const void *bias,
                            const void *dst);
    int (*primitive_desc_create)(void **description, const void *product, const void *attributes,
                                 void *engine, const void *hint);
    /* Version 3 */
    int (*memory_desc_create_with_strides)(void **desc, int axes, const int64_t *extents, int type,
                                           const int64_t *strides);
    int (*memory_desc_destroy)(void *desc);
    int (*matmul_primitive_desc_create)(void **description, void *engine, const void *src,
                                        const void *weights, const void *bias, const void *dst,
                                        const void *attributes);

    void *engine;                /* NULL: no bf16 products */
    char reason[LIBRARY_REASON]; /* why the library cannot be used; "": it can be used */
};

/* onednn_plans.c. onednn_find finds the functions of version o->major and returns 0 if one is missing; onednn_start
 * makes the engine. */
int onednn_find(void *handle, onednn *o);
void onednn_start(onednn *o);
