/* SPDX-License-Identifier: Apache-2.0 */
/* Exchange of Arrays with other libraries by DLPack: capsules with and without a version, and the table
 * DLPackExchangeAPI of DLPack 1.3. */
#pragma once

#include "src/base/python.h"

/* https://dmlc.github.io/dlpack/latest/c_api.html */
#define DLPACK_READ_ONLY 1u /* bits of `flags` */
#define DLPACK_IS_COPIED 2u
#define DLPACK_CPU 1 /* types of devices */
#define DLPACK_CUDA 2
#define DLPACK_OPENCL 4

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef struct DLManagedTensorVersioned versioned_tensor;
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(versioned_tensor *self);
    uint64_t flags;
    dl_tensor tensor;
};

/* Exports an Array. device: a string, or NULL for the place where the elements are. A tensor in the host's memory shares
 * the memory of the Array. The caller deletes it. NULL with an exception. */
versioned_tensor *dlpack_share(PyObject *object, PyObject *device);

/* Adds methods and __dlpack_c_exchange_api__ to the module's type Array, and the function from_capsule. 0,
 * or -1 with an exception. */
int dlpack_add(PyObject *module);
