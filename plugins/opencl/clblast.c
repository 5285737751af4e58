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

/* Handles of one loader are invalid in another. */
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

int opencl_blas_is_usual(const collet_host *host, const opencl_driver *cl, cl_device_id id)
{
    return host->config(host, "opencl.clblast") || !is_processor(cl, id);
}

/* Notes why the settings do not let CLBlast be opened; 0: they let it. */
static int is_refused(const collet_host *host, opencl_blas *blas)
{
    const char *path = host->config(host, "opencl.clblast");
    const char *safe = host->config(host, "opencl.safe_mode");
    int unsafe = safe && strcmp(safe, "off") != 0, off = path && !strcmp(path, "off");
    if (unsafe)
        note(blas, "not used in safe mode: ", safe);
    else if (off)
        note(blas, "not used: opencl.clblast is off", NULL);
    return unsafe || off;
}

int opencl_blas_ready(const collet_host *host, const opencl_driver *cl, int asked,
                      opencl_blas *blas)
{
    const char *path = host->config(host, "opencl.clblast");
    if (blas->tried)
        return blas->usable;
    blas->tried = 1;
    if (is_refused(host, blas))
        return 0;
    open_library(cl, path ? path : DEFAULT_LIBRARY, blas);
    if (!blas->usable)
        host->log(host, path || asked ? COLLET_LOG_WARNING : COLLET_LOG_INFO,
                  "opencl: CLBlast %s: Collet's own kernel multiplies matrices", blas->text);
    return blas->usable;
}

void opencl_blas_describe(const collet_host *host, const opencl_driver *cl, cl_device_id id,
                          opencl_blas *blas)
{
    const char *ways = host->config(host, "opencl.ways");
    int asked = ways && strstr(ways, "clblast");
    if (!is_refused(host, blas) && !asked && !opencl_blas_is_usual(host, cl, id))
        note(blas, "not used on a processor, where its first product takes seconds", NULL);
    else
        opencl_blas_ready(host, cl, asked, blas);
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
