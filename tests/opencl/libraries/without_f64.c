/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL loader whose devices have no f64, and whose f32 quotients and roots are not correctly
 * rounded. It replaces one function of the real loader, to which it is linked.
 */
#include <dlfcn.h>
#include <string.h>

#include "opencl/abi.h"

OPENCL_FUNCTIONS(ABI_PROTOTYPE)

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *target,
                       size_t *written)
{
    __typeof__(clGetDeviceInfo) *loader = NULL;
    *(void **)&loader = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    cl_int status = loader ? loader(device, what, size, target, written) : CL_OUT_OF_HOST_MEMORY;
    if (status != CL_SUCCESS || !target)
        return status;
    if (what == CL_DEVICE_DOUBLE_FP_CONFIG)
        memset(target, 0, size);
    if (what == CL_DEVICE_SINGLE_FP_CONFIG && size == sizeof(cl_ulong))
        *(cl_ulong *)target &= ~(cl_ulong)CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    return status;
}
