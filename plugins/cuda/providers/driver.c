/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_capabilities.c */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

#define DEFAULT_LIBRARY "libcuda.so.1"

const char *cuda_error_text(const cuda_driver *cu, CUresult error, char text[160])
{
    const char *name = NULL, *description = NULL;
    if (cu->GetErrorName(error, &name) != CUDA_SUCCESS || !name) {
        snprintf(text, 160, "CUDA error %d", (int)error);
        return text;
    }
    if (cu->GetErrorString(error, &description) != CUDA_SUCCESS || !description)
        description = "no description";
    snprintf(text, 160, "%s (%s)", name, description);
    return text;
}

#define SYMBOL(type, name, symbol, parameters) CUDA_SYMBOL(cuda_driver, name, symbol),
static const cuda_symbol symbols[] = {CUDA_FUNCTIONS(SYMBOL)};
static const cuda_symbol graph_symbols[] = {CUDA_GRAPH_FUNCTIONS(SYMBOL)};
#undef SYMBOL

static collet_status find_functions(const collet_host *host, cuda_driver *cu, const char *path,
                                    collet_error *err)
{
    const char *missing =
        cuda_symbols_find(symbols, sizeof symbols / sizeof *symbols, cu->library, cu);
    cu->has_graphs = !cuda_symbols_find(graph_symbols, sizeof graph_symbols / sizeof *graph_symbols,
                                        cu->library, cu);
    if (!missing)
        return COLLET_OK;
    return host->fail(err, COLLET_UNAVAILABLE, "%s has no %s: a driver for CUDA 11.2 is needed",
                      path, missing);
}

static collet_status start(const collet_host *host, cuda_driver *cu, collet_error *err)
{
    char text[160];
    CUresult error = cu->Init(0);
    if (error == CUDA_ERROR_NO_DEVICE) {
        const char *visible = getenv("CUDA_VISIBLE_DEVICES");
        return host->fail(err, COLLET_UNAVAILABLE, "the NVIDIA driver finds no GPU%s%.60s%s",
                          visible ? " (CUDA_VISIBLE_DEVICES is \"" : "", visible ? visible : "",
                          visible ? "\")" : "");
    }
    if (error == CUDA_ERROR_NOT_INITIALIZED) /* cuInit returned this after fork in tests */
        return host->fail(
            err, COLLET_UNAVAILABLE,
            "the NVIDIA driver does not work in a process that was forked by one which "
            "used CUDA: start processes by spawn, not fork, or use CUDA only in the child "
            "processes (CUDA_ERROR_NOT_INITIALIZED)");
    if (error != CUDA_SUCCESS)
        return host->fail(err, COLLET_UNAVAILABLE, "the NVIDIA driver failed to initialise: %s",
                          cuda_error_text(cu, error, text));
    if (cu->DriverGetVersion(&cu->version) != CUDA_SUCCESS)
        cu->version = 0;
    return COLLET_OK;
}

collet_status cuda_driver_open(const collet_host *host, cuda_driver *cu, collet_error *err)
{
    const char *path = host->config(host, "cuda.library");
    memset(cu, 0, sizeof *cu);
    /* The library is never closed: the driver's threads and destructors would outlive its code. */
    cu->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!cu->library) {
        const char *why = dlerror();
        cu->absent = why && !strcmp(path, DEFAULT_LIBRARY) &&
                     !strncmp(why, DEFAULT_LIBRARY ":", sizeof DEFAULT_LIBRARY) &&
                     strstr(why, "No such file");
        if (cu->absent)
            return host->fail(err, COLLET_UNAVAILABLE,
                              DEFAULT_LIBRARY " not found: no NVIDIA driver");
        return host->fail(err, COLLET_UNAVAILABLE, "%s cannot be opened: no NVIDIA driver (%s)",
                          path, why ? why : "");
    }
    collet_status status = find_functions(host, cu, path, err);
    return status == COLLET_OK ? start(host, cu, err) : status;
}
