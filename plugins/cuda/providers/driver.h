/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the CUDA driver, opened when it is first needed: the plugin links nothing of CUDA and
 * loads where there is none.
 */
#ifndef COLLET_CUDA_DRIVER_H
#define COLLET_CUDA_DRIVER_H

#include <cuda.h>

#include <collet/plugin.h>

/*
 * Every function that is called, with the name that it has in the library: the header's own macros
 * name the newest version of some, which older drivers lack.
 */
#define CUDA_FUNCTIONS(X)                                                                          \
    X(Init, "cuInit")                                                                              \
    X(DriverGetVersion, "cuDriverGetVersion")                                                      \
    X(GetErrorName, "cuGetErrorName")                                                              \
    X(GetErrorString, "cuGetErrorString")                                                          \
    X(DeviceGetCount, "cuDeviceGetCount")                                                          \
    X(DeviceGet, "cuDeviceGet")                                                                    \
    X(DeviceGetName, "cuDeviceGetName")                                                            \
    X(DeviceGetAttribute, "cuDeviceGetAttribute")                                                  \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2")                                                       \
    X(DeviceGetUuid, "cuDeviceGetUuid")                                                            \
    X(DeviceGetPCIBusId, "cuDeviceGetPCIBusId")                                                    \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                                          \
    X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2")                                     \
    X(CtxPushCurrent, "cuCtxPushCurrent_v2")                                                       \
    X(CtxPopCurrent, "cuCtxPopCurrent_v2")                                                         \
    X(DeviceCanAccessPeer, "cuDeviceCanAccessPeer")                                                \
    X(CtxEnablePeerAccess, "cuCtxEnablePeerAccess")                                                \
    X(MemcpyPeerAsync, "cuMemcpyPeerAsync")                                                        \
    X(MemGetInfo, "cuMemGetInfo_v2")                                                               \
    X(MemAlloc, "cuMemAlloc_v2")                                                                   \
    X(MemFree, "cuMemFree_v2")                                                                     \
    X(MemHostAlloc, "cuMemHostAlloc")                                                              \
    X(MemFreeHost, "cuMemFreeHost")                                                                \
    X(PointerGetAttribute, "cuPointerGetAttribute")                                                \
    X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                                                     \
    X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                                                     \
    X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                                                     \
    X(MemsetD8Async, "cuMemsetD8Async")                                                            \
    X(MemsetD16Async, "cuMemsetD16Async")                                                          \
    X(MemsetD32Async, "cuMemsetD32Async")                                                          \
    X(StreamCreate, "cuStreamCreate")                                                              \
    X(StreamDestroy, "cuStreamDestroy_v2")                                                         \
    X(StreamQuery, "cuStreamQuery")                                                                \
    X(StreamSynchronize, "cuStreamSynchronize")                                                    \
    X(StreamWaitEvent, "cuStreamWaitEvent")                                                        \
    X(EventCreate, "cuEventCreate")                                                                \
    X(EventDestroy, "cuEventDestroy_v2")                                                           \
    X(EventRecord, "cuEventRecord")                                                                \
    X(EventQuery, "cuEventQuery")                                                                  \
    X(EventSynchronize, "cuEventSynchronize")                                                      \
    X(EventElapsedTime, "cuEventElapsedTime")                                                      \
    X(ModuleLoadData, "cuModuleLoadData")                                                          \
    X(ModuleUnload, "cuModuleUnload")                                                              \
    X(ModuleGetFunction, "cuModuleGetFunction")                                                    \
    X(LaunchKernel, "cuLaunchKernel")

typedef struct cuda_driver {
    void *library;
    int version; /* 12040 for CUDA 12.4 */
#define MEMBER(name, symbol) __typeof__(&cu##name) name;
    CUDA_FUNCTIONS(MEMBER)
#undef MEMBER
} cuda_driver;

/*
 * Opens the driver (the library that the setting cuda.library names, else libcuda.so.1) and starts
 * it, without any context. It stays open. UNAVAILABLE with the reason in words.
 */
collet_status cuda_driver_open(const collet_host *host, cuda_driver *cu, collet_error *err);

/* The newest major version of CUDA whose libraries are looked for. */
#define CUDA_NEWEST_MAJOR 13

/*
 * A library of the toolkit, "libnvrtc.so", from the linker's path or where toolkits are installed:
 * of the driver's major version (`driver` as cuDriverGetVersion has it), else the newest older one,
 * else a newer one. NULL: there is none.
 */
void *cuda_library_open(const char *name, int driver);

/* "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)", in `text`. */
const char *cuda_error_text(const cuda_driver *cu, CUresult error, char text[160]);

#endif
