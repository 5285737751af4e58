/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the CUDA driver's ABI that is used: shared/jit/runtime/abi.h. The symbols are the
 * oldest versions that take these types, so that drivers since 11.2 have them. */
#pragma once

#include <stddef.h>

#include "shared/jit/runtime/abi.h"

#define CUDA_CONSTANTS(X)                                                                          \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                                          \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                           \
    X(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                          \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                \
    X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                                       \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                            \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                            \
    X(CU_EVENT_DEFAULT, 0)                                                                         \
    X(CU_EVENT_DISABLE_TIMING, 2)                                                                  \
    X(CU_MEMHOSTALLOC_PORTABLE, 1)                                                                 \
    X(CU_MEMORYTYPE_HOST, 1)                                                                       \
    X(CU_MEMORYTYPE_DEVICE, 2)                                                                     \
    X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                                         \
    X(CU_STREAM_NON_BLOCKING, 1)                                                                   \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                                                 \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                 \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                                                               \
    X(CUDA_ERROR_DEINITIALIZED, 4)                                                                 \
    X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                                           \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                   \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                                                               \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                                                             \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                           \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                                           \
    X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                                                        \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                   \
    X(CUDA_ERROR_NOT_READY, 600)                                                                   \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                             \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                                     \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                                              \
    X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                                                 \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                                        \
    X(CUDA_ERROR_ASSERT, 710)                                                                      \
    X(CUDA_ERROR_TOO_MANY_PEERS, 711)                                                              \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                                        \
    X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                                                         \
    X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                                          \
    X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                                       \
    X(CUDA_ERROR_INVALID_PC, 718)                                                                  \
    X(CUDA_ERROR_LAUNCH_FAILED, 719)                                                               \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                                      \
    X(CUDA_ERROR_UNKNOWN, 999)                                                                     \
    X(CUDA_SUCCESS, 0)

#ifndef COLLET_CUDA_TOOLKIT
enum { CUDA_CONSTANTS(ABI_CONSTANT) };
typedef int CUresult, CUdevice, CUdevice_attribute, CUpointer_attribute;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream, *cudaStream_t;
typedef struct CUuuid {
    char bytes[16];
} CUuuid;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUDA_KERNEL_NODE_PARAMS {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
    void *kern;    /* a CUkernel, in place of func */
    CUcontext ctx; /* NULL: the current context */
} CUDA_KERNEL_NODE_PARAMS;
#endif

#define CUDA_FUNCTIONS(X)                                                                          \
    X(CUresult, Init, cuInit, (unsigned flags))                                                    \
    X(CUresult, DriverGetVersion, cuDriverGetVersion, (int *version))                              \
    X(CUresult, GetErrorName, cuGetErrorName, (CUresult error, const char **name))                 \
    X(CUresult, GetErrorString, cuGetErrorString, (CUresult error, const char **words))            \
    X(CUresult, DeviceGetCount, cuDeviceGetCount, (int *count))                                    \
    X(CUresult, DeviceGet, cuDeviceGet, (CUdevice * device, int index))                            \
    X(CUresult, DeviceGetName, cuDeviceGetName, (char *name, int size, CUdevice device))           \
    X(CUresult, DeviceGetAttribute, cuDeviceGetAttribute,                                          \
      (int *value, CUdevice_attribute what, CUdevice device))                                      \
    X(CUresult, DeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))            \
    X(CUresult, DeviceGetUuid, cuDeviceGetUuid, (CUuuid * uuid, CUdevice device))                  \
    X(CUresult, DeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *text, int size, CUdevice device))   \
    X(CUresult, DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                                  \
      (CUcontext * context, CUdevice device))                                                      \
    X(CUresult, DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))          \
    X(CUresult, CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext context))                          \
    X(CUresult, CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext * context))                          \
    X(CUresult, DeviceCanAccessPeer, cuDeviceCanAccessPeer,                                        \
      (int *can, CUdevice device, CUdevice peer))                                                  \
    X(CUresult, CtxEnablePeerAccess, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))      \
    X(CUresult, MemcpyPeerAsync, cuMemcpyPeerAsync,                                                \
      (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,             \
       size_t bytes, CUstream stream))                                                             \
    X(CUresult, MemGetInfo, cuMemGetInfo_v2, (size_t * available, size_t * total))                 \
    X(CUresult, MemAlloc, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                    \
    X(CUresult, MemFree, cuMemFree_v2, (CUdeviceptr address))                                      \
    X(CUresult, MemHostAlloc, cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))      \
    X(CUresult, MemFreeHost, cuMemFreeHost, (void *address))                                       \
    X(CUresult, PointerGetAttributes, cuPointerGetAttributes,                                      \
      (unsigned count, CUpointer_attribute *what, void **values, CUdeviceptr address))             \
    X(CUresult, MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                             \
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                           \
    X(CUresult, MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                             \
      (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                                 \
    X(CUresult, MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                             \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
    X(CUresult, MemsetD8Async, cuMemsetD8Async,                                                    \
      (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                        \
    X(CUresult, StreamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                 \
    X(CUresult, StreamDestroy, cuStreamDestroy_v2, (CUstream stream))                              \
    X(CUresult, StreamQuery, cuStreamQuery, (CUstream stream))                                     \
    X(CUresult, StreamSynchronize, cuStreamSynchronize, (CUstream stream))                         \
    X(CUresult, StreamWaitEvent, cuStreamWaitEvent,                                                \
      (CUstream stream, CUevent event, unsigned flags))                                            \
    X(CUresult, EventCreate, cuEventCreate, (CUevent * event, unsigned flags))                     \
    X(CUresult, EventDestroy, cuEventDestroy_v2, (CUevent event))                                  \
    X(CUresult, EventRecord, cuEventRecord, (CUevent event, CUstream stream))                      \
    X(CUresult, EventQuery, cuEventQuery, (CUevent event))                                         \
    X(CUresult, EventSynchronize, cuEventSynchronize, (CUevent event))                             \
    X(CUresult, EventElapsedTime, cuEventElapsedTime,                                              \
      (float *milliseconds, CUevent first, CUevent last))                                          \
    X(CUresult, ModuleLoadData, cuModuleLoadData, (CUmodule * module, const void *image))          \
    X(CUresult, ModuleUnload, cuModuleUnload, (CUmodule module))                                   \
    X(CUresult, ModuleGetFunction, cuModuleGetFunction,                                            \
      (CUfunction * function, CUmodule module, const char *name))                                  \
    X(CUresult, LaunchKernel, cuLaunchKernel,                                                      \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                 \
       void **arguments, void **extra))

/* The offsets that the driver expects. */
#define CUDA_NODE_IS_LAID_OUT                                                                      \
    (sizeof(CUDA_KERNEL_NODE_PARAMS) == 72 && offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimX) == 8 &&  \
     offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimX) == 20 &&                                         \
     offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams) == 40 &&                                      \
     offsetof(CUDA_KERNEL_NODE_PARAMS, extra) == 48 &&                                             \
     offsetof(CUDA_KERNEL_NODE_PARAMS, ctx) == 64)

/* Drivers since CUDA 12.0 have these. */
#define CUDA_GRAPH_FUNCTIONS(X)                                                                    \
    X(CUresult, GraphCreate, cuGraphCreate, (CUgraph * graph, unsigned flags))                     \
    X(CUresult, GraphDestroy, cuGraphDestroy, (CUgraph graph))                                     \
    X(CUresult, GraphAddKernelNode, cuGraphAddKernelNode_v2,                                       \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count,                  \
       const CUDA_KERNEL_NODE_PARAMS *parameters))                                                 \
    X(CUresult, GraphInstantiate, cuGraphInstantiateWithFlags,                                     \
      (CUgraphExec * ready, CUgraph graph, unsigned long long flags))                              \
    X(CUresult, GraphExecDestroy, cuGraphExecDestroy, (CUgraphExec ready))                         \
    X(CUresult, GraphSetParams, cuGraphExecKernelNodeSetParams_v2,                                 \
      (CUgraphExec ready, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters))            \
    X(CUresult, GraphLaunch, cuGraphLaunch, (CUgraphExec ready, CUstream stream))
