/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of DLPack 1 (https://dmlc.github.io/dlpack/latest/c_api.html) that libcore uses. */
#pragma once

#include <stdint.h>

#define DLPACK_MAJOR 1
#define DLPACK_MINOR 3

/* Bits of `flags`. */
#define DLPACK_READ_ONLY 1u
#define DLPACK_IS_COPIED 2u /* a copy, which nobody else uses */

/* Device types of host memory: pageable, and page-locked for GPUs of NVIDIA and of AMD. */
#define DLPACK_CPU 1
#define DLPACK_PINNED 3
#define DLPACK_PINNED_ROCM 11

/* dl_type.code */
#define DLPACK_INT 0
#define DLPACK_UINT 1
#define DLPACK_FLOAT 2
#define DLPACK_BFLOAT 4
#define DLPACK_COMPLEX 5
#define DLPACK_BOOL 6

typedef struct dl_version {
    uint32_t major, minor;
} dl_version;

typedef struct dl_device {
    int32_t type;
    int32_t id;
} dl_device;

typedef struct dl_type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_type dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: C-contiguous */
    uint64_t byte_offset;
} dl_tensor;

struct DLManagedTensorVersioned {
    dl_version version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    dl_tensor dl_tensor;
};
