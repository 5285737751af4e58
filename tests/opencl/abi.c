/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled, never run: compares the declarations of plugins/opencl/abi.h with Khronos's headers. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#define COLLET_OPENCL_HEADERS
#include "opencl/abi.h"

#define SAME_VALUE(name, value) _Static_assert((name) == (value), #name " is not " #value);
OPENCL_CONSTANTS(SAME_VALUE)

#define IS_SAME(a, b) _Static_assert(__builtin_types_compatible_p(a, b), #a " is not " #b);
#define SAME_FUNCTION(type, name, symbol, parameters) IS_SAME(__typeof__(symbol), type parameters)
OPENCL_FUNCTIONS(SAME_FUNCTION)

IS_SAME(cl_int, int32_t)
IS_SAME(cl_uint, uint32_t)
IS_SAME(cl_bool, uint32_t)
IS_SAME(cl_platform_info, uint32_t)
IS_SAME(cl_device_info, uint32_t)
IS_SAME(cl_program_info, uint32_t)
IS_SAME(cl_program_build_info, uint32_t)
IS_SAME(cl_event_info, uint32_t)
IS_SAME(cl_ulong, uint64_t)
IS_SAME(cl_device_type, uint64_t)
IS_SAME(cl_device_fp_config, uint64_t)
IS_SAME(cl_command_queue_properties, uint64_t)
IS_SAME(cl_mem_flags, uint64_t)
IS_SAME(cl_map_flags, uint64_t)
IS_SAME(cl_context_properties, intptr_t)
IS_SAME(cl_platform_id, struct _cl_platform_id *)
IS_SAME(cl_device_id, struct _cl_device_id *)
IS_SAME(cl_context, struct _cl_context *)
IS_SAME(cl_command_queue, struct _cl_command_queue *)
IS_SAME(cl_mem, struct _cl_mem *)
IS_SAME(cl_program, struct _cl_program *)
IS_SAME(cl_kernel, struct _cl_kernel *)
IS_SAME(cl_event, struct _cl_event *)
