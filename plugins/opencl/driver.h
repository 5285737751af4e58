/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - the OpenCL loader, opened on first use: the plugin links nothing of OpenCL and loads
 * on machines without it. */
#pragma once

#include <collet/plugin.h>

#include "abi.h"

typedef struct opencl_driver {
    void *library;
    OPENCL_FUNCTIONS(ABI_MEMBER)
} opencl_driver;

/* Opens the loader: the library of the setting opencl.library, else libOpenCL.so.1. The library stays open. On
 * failure returns UNAVAILABLE with the reason. */
collet_status opencl_driver_open(const collet_host *host, opencl_driver *cl, collet_error *err);

/* Writes an error to `text`: "CL_OUT_OF_RESOURCES" for -5, "OpenCL error -1234" for an unknown code. */
const char *opencl_error_name(cl_int error, char text[32]);
