/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: compiling, loading and releasing them.
 * Tests: tests/opencl/test_opencl.c, tests/opencl/test_opencl_driver.c */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>

#include "shared/jit/runtime/binary_cache.h"

static void *load(collet_device *d, const void *binary, uint64_t bytes, const char *options)
{
    cl_int error = CL_SUCCESS, loaded = CL_SUCCESS;
    const unsigned char *data = binary;
    size_t size = bytes;
    cl_program handle =
        d->cl.CreateProgramWithBinary(d->context, 1, &d->id, &size, &data, &loaded, &error);
    if (error != CL_SUCCESS)
        return NULL;
    if (loaded == CL_SUCCESS &&
        d->cl.BuildProgram(handle, 1, &d->id, options, NULL, NULL) == CL_SUCCESS)
        return handle;
    d->cl.ReleaseProgram(handle);
    return NULL;
}

static void keep(collet_device *d, cl_program handle, const char *key)
{
    size_t bytes = 0;
    if (!key || d->cl.GetProgramInfo(handle, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) ||
        !bytes)
        return;
    unsigned char *binary = malloc(bytes);
    if (binary && d->cl.GetProgramInfo(handle, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) ==
                      CL_SUCCESS)
        binary_cache_put(d->base.host, key, binary, bytes);
    free(binary);
}

/* Fails with the end of the compiler's log, because the error is there. */
static collet_status build_failed(collet_device *d, cl_program handle, const char *name,
                                  const char *options, cl_int error, collet_error *err)
{
    char text[32];
    size_t bytes = 0;
    char *log = NULL;
    if (!d->cl.GetProgramBuildInfo(handle, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) && bytes)
        log = calloc(1, bytes + 1);
    if (log)
        d->cl.GetProgramBuildInfo(handle, d->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    d->base.host->fail(err, COLLET_REFUSED, "%s.dev: compilation failed (%s, %s): %.600s", name,
                       opencl_error_name(error, text), options, log ? log : "no log");
    free(log);
    return COLLET_REFUSED;
}

static collet_status compile(collet_device *d, const char *name, const char *const *texts,
                             uint32_t count, const char *options, const char *key, void **handle,
                             collet_error *err)
{
    cl_int error = CL_SUCCESS;
    char reason[OPENCL_REASON];
    if (opencl_cache_fails(d->cache, reason))
        return d->base.host->fail(err, COLLET_NO_MEMORY, "%s", reason); /* tried again */
    cl_program program =
        d->cl.CreateProgramWithSource(d->context, count, (const char **)texts, NULL, &error);
    if (error != CL_SUCCESS)
        return opencl_fail(d, error, name, err);
    error = d->cl.BuildProgram(program, 1, &d->id, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        collet_status status = build_failed(d, program, name, options, error, err);
        d->cl.ReleaseProgram(program);
        return status;
    }
    keep(d, program, key);
    *handle = program;
    return COLLET_OK;
}

/* Kernels retain their programs, which stay valid while they are in use. */
static void unload(collet_device *d, void *handle)
{
    d->cl.ReleaseProgram(handle);
}

static void *kernel_open(collet_device *d, void *program, const char *name, char why[160])
{
    char text[32];
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = d->cl.CreateKernel(program, name, &error);
    if (error == CL_SUCCESS)
        return kernel;
    snprintf(why, 160, "%s", opencl_error_name(error, text));
    return NULL;
}

static void kernel_close(collet_device *d, void *handle)
{
    d->cl.ReleaseKernel(handle);
}

const jit_program_slots opencl_programs = {
    .load = load,
    .compile = compile,
    .unload = unload,
    .kernel_open = kernel_open,
    .kernel_close = kernel_close,
};
