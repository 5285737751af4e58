/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of the opencl backend. */
#ifndef TESTS_OPENCL_OPENCL_SUPPORT_H
#define TESTS_OPENCL_OPENCL_SUPPORT_H

#include "common/support.h"

#define OPENCL_PLUGIN COLLET_TEST_PLUGINS "/opencl.so"
#define SKIPPED 77

/* Whether the drivers have `required` devices; prints a message if not. */
static inline int has_devices(uint32_t required)
{
    collet_runtime *runtime = runtime_with(OPENCL_PLUGIN, NULL);
    collet_backend_info info = {.struct_size = sizeof info};
    assert_int_equal(collet_backend_info_at(runtime, &info, 0, NULL), COLLET_OK);
    int has = info.device_count >= required;
    if (!has)
        print_message("SKIP: %u of %u OpenCL devices%s%s\n", info.device_count, required,
                      *info.reason ? ": " : "", info.reason);
    collet_runtime_destroy(runtime);
    return has;
}

#endif
