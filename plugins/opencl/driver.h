/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the OpenCL loader, opened when it is first needed: the plugin links nothing of OpenCL
 * and loads where there is none.
 */
#ifndef COLLET_OPENCL_DRIVER_H
#define COLLET_OPENCL_DRIVER_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <collet/plugin.h>

/* Every function of OpenCL 1.2 that is called. */
#define OPENCL_FUNCTIONS(X)                                                                        \
    X(GetPlatformIDs)                                                                              \
    X(GetPlatformInfo)                                                                             \
    X(GetDeviceIDs)                                                                                \
    X(GetDeviceInfo)                                                                               \
    X(CreateContext)                                                                               \
    X(ReleaseContext)                                                                              \
    X(CreateCommandQueue)                                                                          \
    X(ReleaseCommandQueue)                                                                         \
    X(CreateBuffer)                                                                                \
    X(RetainMemObject)                                                                             \
    X(ReleaseMemObject)                                                                            \
    X(SetMemObjectDestructorCallback)                                                              \
    X(CreateProgramWithSource)                                                                     \
    X(CreateProgramWithBinary)                                                                     \
    X(BuildProgram)                                                                                \
    X(GetProgramInfo)                                                                              \
    X(GetProgramBuildInfo)                                                                         \
    X(ReleaseProgram)                                                                              \
    X(CreateKernel)                                                                                \
    X(ReleaseKernel)                                                                               \
    X(SetKernelArg)                                                                                \
    X(EnqueueNDRangeKernel)                                                                        \
    X(EnqueueReadBuffer)                                                                           \
    X(EnqueueWriteBuffer)                                                                          \
    X(EnqueueCopyBuffer)                                                                           \
    X(EnqueueFillBuffer)                                                                           \
    X(EnqueueMapBuffer)                                                                            \
    X(EnqueueUnmapMemObject)                                                                       \
    X(EnqueueMarkerWithWaitList)                                                                   \
    X(EnqueueBarrierWithWaitList)                                                                  \
    X(GetEventInfo)                                                                                \
    X(GetEventProfilingInfo)                                                                       \
    X(WaitForEvents)                                                                               \
    X(CreateUserEvent)                                                                             \
    X(SetUserEventStatus)                                                                          \
    X(SetEventCallback)                                                                            \
    X(RetainEvent)                                                                                 \
    X(ReleaseEvent)                                                                                \
    X(Flush)                                                                                       \
    X(Finish)

typedef struct opencl_driver {
    void *library;
#define MEMBER(name) __typeof__(&cl##name) name;
    OPENCL_FUNCTIONS(MEMBER)
#undef MEMBER
} opencl_driver;

/*
 * Opens the loader: the library that the setting opencl.library names, else libOpenCL.so.1.
 * It stays open. UNAVAILABLE with the reason in words.
 */
collet_status opencl_driver_open(const collet_host *host, opencl_driver *cl, collet_error *err);

/* "CL_OUT_OF_RESOURCES" for -5; "OpenCL error -1234" for what has no name here, in `text`. */
const char *opencl_error_name(cl_int error, char text[32]);

#endif
