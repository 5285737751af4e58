/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h - the part of the OpenCL 1.2 ABI that is used: see shared/jit/runtime/abi.h.
 * tests/opencl/abi.c compares it with Khronos's headers; it includes both, so COLLET_OPENCL_HEADERS
 * omits the types and constants here. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shared/jit/runtime/abi.h"

#define OPENCL_ERRORS(X)                                                                           \
    X(CL_BUILD_PROGRAM_FAILURE, -11)                                                               \
    X(CL_COMPILER_NOT_AVAILABLE, -3)                                                               \
    X(CL_DEVICE_NOT_AVAILABLE, -2)                                                                 \
    X(CL_DEVICE_NOT_FOUND, -1)                                                                     \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)                                           \
    X(CL_INVALID_ARG_INDEX, -49)                                                                   \
    X(CL_INVALID_ARG_SIZE, -51)                                                                    \
    X(CL_INVALID_ARG_VALUE, -50)                                                                   \
    X(CL_INVALID_BINARY, -42)                                                                      \
    X(CL_INVALID_BUFFER_SIZE, -61)                                                                 \
    X(CL_INVALID_BUILD_OPTIONS, -43)                                                               \
    X(CL_INVALID_COMMAND_QUEUE, -36)                                                               \
    X(CL_INVALID_CONTEXT, -34)                                                                     \
    X(CL_INVALID_DEVICE, -33)                                                                      \
    X(CL_INVALID_EVENT, -58)                                                                       \
    X(CL_INVALID_KERNEL_ARGS, -52)                                                                 \
    X(CL_INVALID_KERNEL_NAME, -46)                                                                 \
    X(CL_INVALID_MEM_OBJECT, -38)                                                                  \
    X(CL_INVALID_OPERATION, -59)                                                                   \
    X(CL_INVALID_PLATFORM, -32)                                                                    \
    X(CL_INVALID_PROGRAM_EXECUTABLE, -45)                                                          \
    X(CL_INVALID_VALUE, -30)                                                                       \
    X(CL_INVALID_WORK_GROUP_SIZE, -54)                                                             \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                        \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET, -13)                                                        \
    X(CL_OUT_OF_HOST_MEMORY, -6)                                                                   \
    X(CL_OUT_OF_RESOURCES, -5)                                                                     \
    X(CL_PROFILING_INFO_NOT_AVAILABLE, -7)

#define OPENCL_CONSTANTS(X)                                                                        \
    OPENCL_ERRORS(X)                                                                               \
    X(CL_BUFFER_CREATE_TYPE_REGION, 4640)                                                          \
    X(CL_COMPLETE, 0)                                                                              \
    X(CL_DEVICE_DOUBLE_FP_CONFIG, 4146)                                                            \
    X(CL_DEVICE_EXTENSIONS, 4144)                                                                  \
    X(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 4126)                                                       \
    X(CL_DEVICE_GLOBAL_MEM_SIZE, 4127)                                                             \
    X(CL_DEVICE_HOST_UNIFIED_MEMORY, 4149)                                                         \
    X(CL_DEVICE_LOCAL_MEM_SIZE, 4131)                                                              \
    X(CL_DEVICE_MAX_CLOCK_FREQUENCY, 4108)                                                         \
    X(CL_DEVICE_MAX_COMPUTE_UNITS, 4098)                                                           \
    X(CL_DEVICE_MAX_MEM_ALLOC_SIZE, 4112)                                                          \
    X(CL_DEVICE_MAX_PARAMETER_SIZE, 4119)                                                          \
    X(CL_DEVICE_MAX_WORK_GROUP_SIZE, 4100)                                                         \
    X(CL_DEVICE_MAX_WORK_ITEM_SIZES, 4101)                                                         \
    X(CL_DEVICE_NAME, 4139)                                                                        \
    X(CL_DEVICE_OPENCL_C_VERSION, 4157)                                                            \
    X(CL_DEVICE_PLATFORM, 4145)                                                                    \
    X(CL_DEVICE_SINGLE_FP_CONFIG, 4123)                                                            \
    X(CL_DEVICE_TYPE, 4096)                                                                        \
    X(CL_DEVICE_TYPE_ACCELERATOR, 8)                                                               \
    X(CL_DEVICE_TYPE_CPU, 2)                                                                       \
    X(CL_DEVICE_TYPE_GPU, 4)                                                                       \
    X(CL_DEVICE_VENDOR, 4140)                                                                      \
    X(CL_DEVICE_VERSION, 4143)                                                                     \
    X(CL_DRIVER_VERSION, 4141)                                                                     \
    X(CL_EVENT_COMMAND_EXECUTION_STATUS, 4563)                                                     \
    X(CL_FALSE, 0)                                                                                 \
    X(CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, 128)                                                    \
    X(CL_MAP_READ, 1)                                                                              \
    X(CL_MAP_WRITE, 2)                                                                             \
    X(CL_MEM_ALLOC_HOST_PTR, 16)                                                                   \
    X(CL_MEM_CONTEXT, 4358)                                                                        \
    X(CL_MEM_READ_WRITE, 1)                                                                        \
    X(CL_MEM_SIZE, 4354)                                                                           \
    X(CL_PLATFORM_NAME, 2306)                                                                      \
    X(CL_PLATFORM_VERSION, 2305)                                                                   \
    X(CL_PROFILING_COMMAND_END, 4739)                                                              \
    X(CL_PROGRAM_BINARIES, 4454)                                                                   \
    X(CL_PROGRAM_BINARY_SIZES, 4453)                                                               \
    X(CL_PROGRAM_BUILD_LOG, 4483)                                                                  \
    X(CL_QUEUE_PROFILING_ENABLE, 2)                                                                \
    X(CL_SUBMITTED, 2)                                                                             \
    X(CL_SUCCESS, 0)                                                                               \
    X(CL_TRUE, 1)

#ifndef COLLET_OPENCL_HEADERS
enum { OPENCL_CONSTANTS(ABI_CONSTANT) };
typedef int32_t cl_int;
typedef uint32_t cl_uint, cl_bool, cl_platform_info, cl_device_info, cl_program_info,
    cl_program_build_info, cl_event_info, cl_profiling_info, cl_mem_info, cl_buffer_create_type;
typedef uint64_t cl_ulong, cl_device_type, cl_device_fp_config, cl_command_queue_properties,
    cl_mem_flags, cl_map_flags;
typedef intptr_t cl_context_properties;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
#endif

#define OPENCL_FUNCTIONS(X)                                                                        \
    X(cl_int, GetPlatformIDs, clGetPlatformIDs,                                                    \
      (cl_uint capacity, cl_platform_id * platforms, cl_uint * count))                             \
    X(cl_int, GetPlatformInfo, clGetPlatformInfo,                                                  \
      (cl_platform_id platform, cl_platform_info what, size_t size, void *target, size_t *needed)) \
    X(cl_int, GetDeviceIDs, clGetDeviceIDs,                                                        \
      (cl_platform_id platform, cl_device_type type, cl_uint capacity, cl_device_id * devices,     \
       cl_uint * count))                                                                           \
    X(cl_int, GetDeviceInfo, clGetDeviceInfo,                                                      \
      (cl_device_id device, cl_device_info what, size_t size, void *target, size_t *needed))       \
    X(cl_context, CreateContext, clCreateContext,                                                  \
      (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,        \
       void (*notify)(const char *text, const void *details, size_t bytes, void *user),            \
       void *user, cl_int *error))                                                                 \
    X(cl_int, ReleaseContext, clReleaseContext, (cl_context context))                              \
    X(cl_command_queue, CreateCommandQueue, clCreateCommandQueue,                                  \
      (cl_context context, cl_device_id device, cl_command_queue_properties properties,            \
       cl_int * error))                                                                            \
    X(cl_int, ReleaseCommandQueue, clReleaseCommandQueue, (cl_command_queue queue))                \
    X(cl_mem, CreateBuffer, clCreateBuffer,                                                        \
      (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error))            \
    X(cl_mem, CreateSubBuffer, clCreateSubBuffer,                                                  \
      (cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type, const void *region,          \
       cl_int *error))                                                                             \
    X(cl_int, GetMemObjectInfo, clGetMemObjectInfo,                                                \
      (cl_mem memory, cl_mem_info what, size_t size, void *target, size_t *needed))                \
    X(cl_int, RetainMemObject, clRetainMemObject, (cl_mem memory))                                 \
    X(cl_int, ReleaseMemObject, clReleaseMemObject, (cl_mem memory))                               \
    X(cl_program, CreateProgramWithSource, clCreateProgramWithSource,                              \
      (cl_context context, cl_uint count, const char **texts, const size_t *lengths,               \
       cl_int *error))                                                                             \
    X(cl_program, CreateProgramWithBinary, clCreateProgramWithBinary,                              \
      (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,      \
       const unsigned char **binaries, cl_int *statuses, cl_int *error))                           \
    X(cl_int, BuildProgram, clBuildProgram,                                                        \
      (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,        \
       void (*notify)(cl_program program, void *user), void *user))                                \
    X(cl_int, GetProgramInfo, clGetProgramInfo,                                                    \
      (cl_program program, cl_program_info what, size_t size, void *target, size_t *needed))       \
    X(cl_int, GetProgramBuildInfo, clGetProgramBuildInfo,                                          \
      (cl_program program, cl_device_id device, cl_program_build_info what, size_t size,           \
       void *target, size_t *needed))                                                              \
    X(cl_int, ReleaseProgram, clReleaseProgram, (cl_program program))                              \
    X(cl_kernel, CreateKernel, clCreateKernel,                                                     \
      (cl_program program, const char *name, cl_int *error))                                       \
    X(cl_int, ReleaseKernel, clReleaseKernel, (cl_kernel kernel))                                  \
    X(cl_int, SetKernelArg, clSetKernelArg,                                                        \
      (cl_kernel kernel, cl_uint index, size_t size, const void *value))                           \
    X(cl_int, EnqueueNDRangeKernel, clEnqueueNDRangeKernel,                                        \
      (cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *first,                \
       const size_t *items, const size_t *group, cl_uint event_count, const cl_event *events,      \
       cl_event *event))                                                                           \
    X(cl_int, EnqueueReadBuffer, clEnqueueReadBuffer,                                              \
      (cl_command_queue queue, cl_mem buffer, cl_bool wait, size_t offset, size_t size,            \
       void *address, cl_uint event_count, const cl_event *events, cl_event *event))               \
    X(cl_int, EnqueueWriteBuffer, clEnqueueWriteBuffer,                                            \
      (cl_command_queue queue, cl_mem buffer, cl_bool wait, size_t offset, size_t size,            \
       const void *address, cl_uint event_count, const cl_event *events, cl_event *event))         \
    X(void *, EnqueueMapBuffer, clEnqueueMapBuffer,                                                \
      (cl_command_queue queue, cl_mem buffer, cl_bool wait, cl_map_flags map_flags, size_t offset, \
       size_t size, cl_uint event_count, const cl_event *events, cl_event *event, cl_int *error))  \
    X(cl_int, EnqueueUnmapMemObject, clEnqueueUnmapMemObject,                                      \
      (cl_command_queue queue, cl_mem memory, void *address, cl_uint event_count,                  \
       const cl_event *events, cl_event *event))                                                   \
    X(cl_int, EnqueueMarkerWithWaitList, clEnqueueMarkerWithWaitList,                              \
      (cl_command_queue queue, cl_uint event_count, const cl_event *events, cl_event *event))      \
    X(cl_int, EnqueueBarrierWithWaitList, clEnqueueBarrierWithWaitList,                            \
      (cl_command_queue queue, cl_uint event_count, const cl_event *events, cl_event *event))      \
    X(cl_int, GetEventInfo, clGetEventInfo,                                                        \
      (cl_event event, cl_event_info what, size_t size, void *target, size_t *needed))             \
    X(cl_int, GetEventProfilingInfo, clGetEventProfilingInfo,                                      \
      (cl_event event, cl_profiling_info what, size_t size, void *target, size_t *needed))         \
    X(cl_int, WaitForEvents, clWaitForEvents, (cl_uint count, const cl_event *events))             \
    X(cl_event, CreateUserEvent, clCreateUserEvent, (cl_context context, cl_int * error))          \
    X(cl_int, SetUserEventStatus, clSetUserEventStatus, (cl_event event, cl_int status))           \
    X(cl_int, SetEventCallback, clSetEventCallback,                                                \
      (cl_event event, cl_int when, void (*notify)(cl_event event, cl_int status, void *user),     \
       void *user))                                                                                \
    X(cl_int, RetainEvent, clRetainEvent, (cl_event event))                                        \
    X(cl_int, ReleaseEvent, clReleaseEvent, (cl_event event))                                      \
    X(cl_int, Flush, clFlush, (cl_command_queue queue))                                            \
    X(cl_int, Finish, clFinish, (cl_command_queue queue))
