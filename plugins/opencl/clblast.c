/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl_clblast.c */
#include "clblast.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LIBRARY "libclblast.so.1"

static void note(opencl_blas *blas, const char *before, const char *what)
{
    snprintf(blas->text, sizeof blas->text, "%s%s", before, what ? what : "");
}

static const char *find_functions(void *library, opencl_blas *blas)
{
    const char *missing = NULL;
#define FIND(name, type)                                                                           \
    *(void **)(void *)&blas->name = dlsym(library, "CLBlast" #name);                               \
    missing = blas->name ? missing : "CLBlast" #name;
    CLBLAST_FUNCTIONS(FIND)
#undef FIND
    return missing;
}

/* Whether CLBlast uses the plugin's OpenCL loader: handles of one loader are invalid in another. */
static int same_loader(void *library, const opencl_driver *cl)
{
    void *theirs = dlsym(library, "clCreateBuffer");
    return !theirs || theirs == *(void *const *)(const void *)&cl->CreateBuffer;
}

static void open_library(const opencl_driver *cl, const char *path, opencl_blas *blas)
{
    Dl_info info;
    /* The library is never closed: it caches programs of devices, and has destructors. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        note(blas, "not found: ", dlerror());
        return;
    }
    const char *missing = find_functions(library, blas);
    if (missing) {
        note(blas, "not used: it has no ", missing);
    } else if (!same_loader(library, cl)) {
        note(blas, "not used: it calls another OpenCL loader than ", "opencl.library");
    } else {
        const char *file = path;
        if (dladdr(*(void **)(void *)&blas->Sgemm, &info) && info.dli_fname)
            file = info.dli_fname;
        note(blas, "", file);
        blas->usable = 1;
    }
}

static int is_processor(const opencl_driver *cl, cl_device_id id)
{
    cl_device_type type = 0;
    return cl->GetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
           (type & CL_DEVICE_TYPE_CPU);
}

int opencl_blas_ready(const collet_host *host, const opencl_driver *cl, cl_device_id id, int asked,
                      opencl_blas *blas)
{
    const char *path = host->config(host, "opencl.clblast");
    const char *safe = host->config(host, "opencl.safe_mode");
    if (blas->tried)
        return blas->usable;
    blas->tried = 1;
    if (safe && strcmp(safe, "off") != 0) {
        note(blas, "not used in safe mode: ", safe);
    } else if (path && !strcmp(path, "off")) {
        note(blas, "not used: opencl.clblast is off", NULL);
    } else if (!path && is_processor(cl, id)) {
        note(blas, "not used on a processor, where its first product takes seconds", NULL);
        if (asked)
            host->log(
                host, COLLET_LOG_WARNING,
                "opencl: the setting opencl.ways has no effect on a processor, where CLBlast's "
                "first product takes seconds: set opencl.clblast to its path to use it");
    } else {
        open_library(cl, path ? path : DEFAULT_LIBRARY, blas);
        if (!blas->usable)
            host->log(host, path || asked ? COLLET_LOG_WARNING : COLLET_LOG_INFO,
                      "opencl: CLBlast %s: Collet's own kernel multiplies matrices", blas->text);
    }
    return blas->usable;
}

void opencl_blas_drop(const collet_host *host, opencl_blas *blas, int code)
{
    if (blas->usable)
        host->log(host, COLLET_LOG_WARNING,
                  "opencl: CLBlast failed with status %d: matrices are multiplied by Collet's own "
                  "kernel from now on",
                  code);
    blas->usable = 0;
    snprintf(blas->text, sizeof blas->text, "not used since it failed with status %d", code);
}
