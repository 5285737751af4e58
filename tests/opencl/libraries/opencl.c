/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for the OpenCL loader. A macro selects the fault: NO_PLATFORM, NO_DEVICE, LACKS (a
 * function), COMPILES_NOTHING, SLOW (has f64; 0.6 s for each program), FAILS (every kernel ends in
 * an error), DIES (a kernel fails and the device is lost), SHORT (too little memory) or POCL (a
 * platform named like PoCL's, which aborts if it cannot start a thread). There is one device.
 * Commands complete when they are enqueued; kernels do nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opencl/abi.h"

OPENCL_FUNCTIONS(ABI_PROTOTYPE)

static int object; /* all handles without contents point here */
static int dead;

#define HANDLE(type) ((type)(void *)&object)
#define COPY_OUT(value) copy_out(&(value), sizeof(value), size, target, written)

static cl_int copy_out(const void *value, size_t bytes, size_t size, void *target, size_t *written)
{
    if (written)
        *written = bytes;
    if (target && size < bytes)
        return CL_INVALID_VALUE;
    if (target)
        memcpy(target, value, bytes);
    return CL_SUCCESS;
}

cl_int clGetPlatformIDs(cl_uint most, cl_platform_id *platforms, cl_uint *count)
{
#ifdef NO_PLATFORM
    *count = 0;
    return -1001;
#else
    if (most)
        platforms[0] = HANDLE(cl_platform_id);
    *count = 1;
    return CL_SUCCESS;
#endif
}

#ifdef POCL
static const char platform_name[] = "Portable Computing Language";

static void *pass(void *argument)
{
    return argument;
}

static void start_threads(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, pass, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
}
#else
static const char platform_name[] = "fake";

static void start_threads(void)
{
}
#endif

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *target,
                         size_t *written)
{
    return COPY_OUT(platform_name);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint most,
                      cl_device_id *devices, cl_uint *count)
{
    start_threads();
#ifdef NO_DEVICE
    *count = 0;
    return CL_DEVICE_NOT_FOUND;
#else
    if (most)
        devices[0] = HANDLE(cl_device_id);
    *count = 1;
    return CL_SUCCESS;
#endif
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *target,
                       size_t *written)
{
    static const char name[] = "a \"fake\" device";
    cl_ulong number = 1 << 28;
    cl_uint few = 4;
    size_t bytes = 256, sizes[3] = {256, 256, 256};
    switch (what) {
    case CL_DEVICE_NAME:
    case CL_DEVICE_VENDOR:
    case CL_DEVICE_VERSION:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_OPENCL_C_VERSION:
        return COPY_OUT(name);
    case CL_DEVICE_TYPE:
        number = CL_DEVICE_TYPE_GPU;
        return COPY_OUT(number);
    case CL_DEVICE_DOUBLE_FP_CONFIG:
#ifndef SLOW
        number = 0;
#endif
        return COPY_OUT(number);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return COPY_OUT(few);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        return COPY_OUT(bytes);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return COPY_OUT(sizes);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case CL_DEVICE_LOCAL_MEM_SIZE:
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return COPY_OUT(number);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                           const cl_device_id *devices,
                           void (*notify)(const char *, const void *, size_t, void *), void *user,
                           cl_int *error)
{
    *error = CL_SUCCESS;
    return HANDLE(cl_context);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *error)
{
    *error = CL_SUCCESS;
    return HANDLE(cl_command_queue);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *error)
{
#ifdef SHORT
    if (bytes > 1024) {
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
#endif
    *error = CL_SUCCESS;
    return calloc(1, bytes);
}

cl_mem clCreateSubBuffer(cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type,
                         const void *region, cl_int *error)
{
    *error = CL_INVALID_OPERATION;
    return NULL;
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t size, void *target,
                          size_t *written)
{
    return CL_INVALID_MEM_OBJECT;
}

cl_int clRetainMemObject(cl_mem memory)
{
    return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    free(memory);
    return CL_SUCCESS;
}

typedef struct fake_event {
    cl_int status;
    int references;
} fake_event;

static cl_int done(cl_event *event, cl_int status)
{
    if (!event)
        return CL_SUCCESS;
    fake_event *e = malloc(sizeof *e);
    if (!e)
        return CL_OUT_OF_HOST_MEMORY;
    *e = (fake_event){status, 1};
    *event = (cl_event)(void *)e;
    return CL_SUCCESS;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, size_t offset,
                            size_t bytes, const void *source, cl_uint count, const cl_event *events,
                            cl_event *event)
{
    memcpy((char *)memory + offset, source, bytes);
    return done(event, CL_COMPLETE);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, size_t offset,
                           size_t bytes, void *target, cl_uint count, const cl_event *events,
                           cl_event *event)
{
    memcpy(target, (char *)memory + offset, bytes);
    return done(event, CL_COMPLETE);
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, cl_map_flags flags,
                         size_t offset, size_t bytes, cl_uint count, const cl_event *events,
                         cl_event *event, cl_int *error)
{
    *error = done(event, CL_COMPLETE);
    return (char *)memory + offset;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *address, cl_uint count,
                               const cl_event *events, cl_event *event)
{
    return done(event, CL_COMPLETE);
}

/* ---- Programs -------------------------------------------------------------------------------- */

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *error)
{
    *error = CL_SUCCESS;
    return HANDLE(cl_program);
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries,
                                     cl_int *status, cl_int *error)
{
    *status = *error = CL_INVALID_BINARY;
    return NULL;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, void (*notify)(cl_program, void *), void *user)
{
#ifdef SLOW
    nanosleep(&(struct timespec){0, 600000000}, NULL);
#endif
#ifdef COMPILES_NOTHING
    return CL_BUILD_PROGRAM_FAILURE;
#else
    return CL_SUCCESS;
#endif
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void *target,
                        size_t *written)
{
    return CL_INVALID_VALUE;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what,
                             size_t size, void *target, size_t *written)
{
    static const char log[] = "this compiler does not support it";
    return COPY_OUT(log);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    *error = CL_SUCCESS;
    return HANDLE(cl_kernel);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *events, cl_event *event)
{
#ifdef DIES
    dead = 1;
#endif
#if defined(FAILS) || defined(DIES)
    return done(event, CL_OUT_OF_RESOURCES);
#else
    return done(event, CL_COMPLETE);
#endif
}

/* ---- Order ----------------------------------------------------------------------------------- */

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events,
                                   cl_event *event)
{
    return dead ? CL_OUT_OF_RESOURCES : done(event, CL_COMPLETE);
}

#ifndef LACKS
cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events,
                                    cl_event *event)
{
    return clEnqueueMarkerWithWaitList(queue, count, events, event);
}
#endif

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *target,
                      size_t *written)
{
    cl_int status = ((fake_event *)(void *)event)->status;
    return COPY_OUT(status);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *target,
                               size_t *written)
{
    return CL_PROFILING_INFO_NOT_AVAILABLE;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    return CL_SUCCESS;
}

cl_event clCreateUserEvent(cl_context context, cl_int *error)
{
    cl_event event = NULL;
    *error = done(&event, CL_SUBMITTED);
    return event;
}

cl_int clSetUserEventStatus(cl_event event, cl_int status)
{
    ((fake_event *)(void *)event)->status = status;
    return CL_SUCCESS;
}

cl_int clSetEventCallback(cl_event event, cl_int when, void (*notify)(cl_event, cl_int, void *),
                          void *user)
{
    notify(event, ((fake_event *)(void *)event)->status, user);
    return CL_SUCCESS;
}

/* The counts of events need no lock: here, threads do not share events. */
cl_int clRetainEvent(cl_event event)
{
    ((fake_event *)(void *)event)->references++;
    return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event event)
{
    fake_event *e = (fake_event *)(void *)event;
    if (--e->references == 0)
        free(e);
    return CL_SUCCESS;
}

cl_int clFlush(cl_command_queue queue)
{
    return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue queue)
{
    return dead ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int clReleaseContext(cl_context context)
{
    return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program program)
{
    return CL_SUCCESS;
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    return CL_SUCCESS;
}
