/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl_driver.c */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LIBRARY "libOpenCL.so.1"

static collet_status find_functions(const collet_host *host, opencl_driver *cl, const char *path,
                                    collet_error *err)
{
    const char *missing = NULL;
#define FIND(type, name, symbol, parameters)                                                       \
    *(void **)(void *)&cl->name = dlsym(cl->library, #symbol);                                     \
    missing = cl->name ? missing : #symbol;
    OPENCL_FUNCTIONS(FIND)
#undef FIND
    if (!missing)
        return COLLET_OK;
    return host->fail(err, COLLET_UNAVAILABLE, "%s has no %s: OpenCL 1.2 is needed", path, missing);
}

collet_status opencl_driver_open(const collet_host *host, opencl_driver *cl, collet_error *err)
{
    const char *path = host->config(host, "opencl.library");
    memset(cl, 0, sizeof *cl);
    /* The library is never closed: drivers' threads and destructors would outlive its code. */
    cl->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!cl->library) {
        const char *why = dlerror();
        if (!strcmp(path, DEFAULT_LIBRARY))
            return host->fail(err, COLLET_UNAVAILABLE,
                              "libOpenCL.so.1 not found: no OpenCL loader (%s)", why ? why : "");
        return host->fail(err, COLLET_UNAVAILABLE, "%s cannot be opened: no OpenCL loader (%s)",
                          path, why ? why : "");
    }
    return find_functions(host, cl, path, err);
}

const char *opencl_error_name(cl_int error, char text[32])
{
    static const struct {
        cl_int error;
        const char *name;
    } names[] = {
#define NAME(name, value) {value, #name},
        OPENCL_ERRORS(NAME)
#undef NAME
        /* This constant is of cl_khr_icd, whose header is not always installed. */
        {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            return names[i].name;
    snprintf(text, 32, "OpenCL error %d", (int)error);
    return text;
}
