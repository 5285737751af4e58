/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onednn_internal.h - what onednn.c and onednn_plans.c share. Nobody else includes it.
 */
#ifndef COLLET_OPENMP_ONEDNN_INTERNAL_H
#define COLLET_OPENMP_ONEDNN_INTERNAL_H

#include "onednn.h"

#include <oneapi/dnnl/dnnl.h>

/* The functions by which the library was found; their types are those of its header. */
struct onednn {
    __typeof__(dnnl_version) *version;
    __typeof__(dnnl_set_max_cpu_isa) *set_max_cpu_isa;
    __typeof__(dnnl_get_effective_cpu_isa) *get_effective_cpu_isa;
    __typeof__(dnnl_sgemm) *sgemm;
    __typeof__(dnnl_gemm_s8s8s32) *gemm_s8s8s32;
    __typeof__(dnnl_engine_create) *engine_create;
    __typeof__(dnnl_stream_create) *stream_create;
    __typeof__(dnnl_stream_destroy) *stream_destroy;
    __typeof__(dnnl_stream_wait) *stream_wait;
    __typeof__(dnnl_memory_desc_init_by_strides) *memory_desc_init_by_strides;
    __typeof__(dnnl_memory_desc_get_size) *memory_desc_get_size;
    __typeof__(dnnl_memory_create) *memory_create;
    __typeof__(dnnl_memory_destroy) *memory_destroy;
    __typeof__(dnnl_memory_set_data_handle) *memory_set_data_handle;
    __typeof__(dnnl_matmul_desc_init) *matmul_desc_init;
    __typeof__(dnnl_primitive_attr_create) *primitive_attr_create;
    __typeof__(dnnl_primitive_attr_destroy) *primitive_attr_destroy;
    __typeof__(dnnl_primitive_attr_set_scratchpad_mode) *primitive_attr_set_scratchpad_mode;
    __typeof__(dnnl_primitive_desc_create) *primitive_desc_create;
    __typeof__(dnnl_primitive_desc_destroy) *primitive_desc_destroy;
    __typeof__(dnnl_primitive_desc_query_md) *primitive_desc_query_md;
    __typeof__(dnnl_primitive_create) *primitive_create;
    __typeof__(dnnl_primitive_destroy) *primitive_destroy;
    __typeof__(dnnl_primitive_execute) *primitive_execute;
    dnnl_engine_t engine;       /* NULL: no bf16 products */
    char reason[ONEDNN_REASON]; /* why it cannot be used; "": it can */
};

/* onednn_plans.c: finds what bf16 products need; makes the engine. */
int onednn_find_matmul(void *handle, onednn *o);
void onednn_start(onednn *o);

#endif
