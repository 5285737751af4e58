/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the OpenCL loader, opened when it is first needed: the plugin links nothing of OpenCL
 * and loads where there is none.
 */
#ifndef COLLET_OPENCL_DRIVER_H
#define COLLET_OPENCL_DRIVER_H

#include <collet/plugin.h>

#include "abi.h"

typedef struct opencl_driver {
    void *library;
    OPENCL_FUNCTIONS(ABI_MEMBER)
} opencl_driver;

/*
 * Opens the loader: the library that the setting opencl.library names, else libOpenCL.so.1.
 * It stays open. UNAVAILABLE with the reason in words.
 */
collet_status opencl_driver_open(const collet_host *host, opencl_driver *cl, collet_error *err);

/* "CL_OUT_OF_RESOURCES" for -5; "OpenCL error -1234" for what has no name here, in `text`. */
const char *opencl_error_name(cl_int error, char text[32]);

#endif
