/* SPDX-License-Identifier: Apache-2.0 */
#include "blas.h"

#include <dlfcn.h>
#include <string.h>

#include "driver.h"

static int find_functions(cuda_blas *blas)
{
    int found = 1;
#define FIND(name, symbol)                                                                         \
    *(void **)(void *)&blas->name = dlsym(blas->library, symbol);                                  \
    found = found && blas->name;
    CUBLAS_FUNCTIONS(FIND)
#undef FIND
    return found;
}

static void open_library(const collet_host *host, int driver, cuda_blas *blas)
{
    const char *path = host->config(host, "cuda.cublas");
    if (path && !strcmp(path, "off"))
        return;
    if (path && *path)
        blas->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    else
        blas->library = cuda_library_open("libcublas.so", driver);
    if (!blas->library) {
        host->log(host, COLLET_LOG_WARNING,
                  "cuda: %s not found: matrices are multiplied by Collet's own kernel",
                  path && *path ? path : "libcublas.so");
    } else if (!find_functions(blas)) {
        blas->library = NULL;
        host->log(host, COLLET_LOG_WARNING,
                  "cuda: libcublas.so lacks a function: matrices are multiplied by Collet's own "
                  "kernel");
    }
}

int cuda_blas_ready(const collet_host *host, int driver, cuda_blas *blas)
{
    pthread_mutex_lock(&blas->lock);
    if (!blas->tried)
        open_library(host, driver, blas);
    blas->tried = 1;
    int ready = blas->library != NULL;
    pthread_mutex_unlock(&blas->lock);
    return ready;
}
