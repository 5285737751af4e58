/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: compiling, loading and unloading them.
 * Tests: tests/cuda/test_cuda_launch.c */
#include <stdlib.h>

#include "shared/jit/runtime/binary_cache.h"
#include "backend.h"

/* Pending commands refer to the labels of kernels, so all queues are drained first. Graphs refer to kernels. */
static void forget(collet_device *d)
{
    pthread_rwlock_wrlock(&d->launches);
    jit_queues_visit(d, cuda_queues.trim);
    jit_kernels_clear(d, &d->kernels);
    pthread_rwlock_unlock(&d->launches);
}

static void *load(collet_device *d, const void *binary, uint64_t bytes, const char *options)
{
    CUmodule module = NULL;
    (void)bytes;
    (void)options;
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.ModuleLoadData(&module, binary));
    return error == CUDA_SUCCESS ? module : NULL;
}

static collet_status compile(collet_device *d, const char *name, const char *const *texts,
                             uint32_t count, const char *options, const char *key, void **handle,
                             collet_error *err)
{
    void *code;
    uint64_t bytes;
    CUmodule module = NULL;
    collet_status status =
        cuda_compile(d->base.host, &d->rtc, name, texts, count, options, &code, &bytes, err);
    if (status != COLLET_OK)
        return status;
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.ModuleLoadData(&module, code));
    if (error == CUDA_SUCCESS && key)
        binary_cache_put(d->base.host, key, code, bytes);
    free(code);
    *handle = module;
    if (error == CUDA_SUCCESS)
        return COLLET_OK;
    *handle = NULL;
    status = cuda_fail(d, error, name, err);
    /* A shortage may be temporary; other errors are faults of the program. */
    return status == COLLET_REFUSED       ? COLLET_NO_MEMORY
           : status == COLLET_DEVICE_LOST ? status
                                          : COLLET_REFUSED;
}

static void unload(collet_device *d, void *handle)
{
    (void)CUDA_IN_CONTEXT(d, d->cu.ModuleUnload(handle));
}

static void *kernel_open(collet_device *d, void *program, const char *name, char why[160])
{
    CUfunction function = NULL;
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.ModuleGetFunction(&function, program, name));
    if (error == CUDA_SUCCESS)
        return function;
    cuda_error_text(&d->cu, error, why);
    return NULL;
}

/* There is no slot `kernel_close`, because a function is freed with its module. */
const jit_program_slots cuda_programs = {
    .forget = forget,
    .load = load,
    .compile = compile,
    .unload = unload,
    .kernel_open = kernel_open,
};
