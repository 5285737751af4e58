/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_capabilities.c, tests/cuda/test_cuda_safe_mode.c */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- Finding --------------------------------------------------------------------------------- */

/* The version number in the file name of a library of CUDA version `major`. */
static int number_of(const char *name, int major)
{
    if (!strcmp(name, "libcufft.so"))
        return major - 1;
    if (!strcmp(name, "libcusolver.so"))
        return major == 11 ? 11 : major - 1;
    return major;
}

static void *open_major(const char *name, int major)
{
    static const char *const places[] = {"", "/usr/local/cuda/lib64/"};
    char path[128];
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++) {
        snprintf(path, sizeof path, "%s%s.%d", places[i], name, number_of(name, major));
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        /* NVRTC 11.2 to 11.8 have the same file name, with the version 11.2. */
        if (!library && major == 11) {
            snprintf(path, sizeof path, "%s%s.11.2", places[i], name);
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    return library;
}

void *cuda_library_open(const char *name, int driver)
{
    int own = driver / 1000 < CUDA_NEWEST_MAJOR ? driver / 1000 : CUDA_NEWEST_MAJOR;
    void *library = NULL;
    for (int major = own; major >= 11 && !library; major--)
        library = open_major(name, major);
    for (int major = own + 1; major <= CUDA_NEWEST_MAJOR && !library; major++)
        library = major >= 11 ? open_major(name, major) : NULL;
    return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

const char *cuda_symbols_find(const cuda_symbol *symbols, size_t count, void *handle, void *target)
{
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        missing = missing || symbol ? missing : symbols[i].name;
        if (target)
            memcpy((char *)target + symbols[i].place, &symbol, sizeof symbol);
    }
    return missing;
}

/* ---- Libraries that replace kernels --------------------------------------------------------- */

const char *cuda_safe_mode(const collet_host *host)
{
    const char *why = host->config(host, "cuda.safe_mode");
    return why && strcmp(why, "off") ? why : NULL;
}

int cuda_library_off(const collet_host *host, const cuda_library_facts *facts)
{
    const char *path = host->config(host, facts->setting);
    return (path && !strcmp(path, "off")) || cuda_safe_mode(host);
}

void *cuda_library_load(const collet_host *host, int driver, const cuda_library_facts *facts)
{
    const char *path = host->config(host, facts->setting);
    return path ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
                         : cuda_library_open(facts->name, driver);
}

static void open_once(const collet_host *host, int driver, const cuda_library_facts *facts,
                      cuda_library *library)
{
    const char *path = host->config(host, facts->setting);
    if (cuda_library_off(host, facts))
        return;
    void *handle = cuda_library_load(host, driver, facts);
    const char *missing =
        handle ? cuda_symbols_find(facts->symbols, facts->symbol_count, handle, library) : NULL;
    if (!handle)
        host->log(host, COLLET_LOG_WARNING, "cuda: %s not found: %s",
                  path ? path : facts->name, facts->instead);
    else if (missing)
        host->log(host, COLLET_LOG_WARNING, "cuda: %s lacks %s: %s",
                  path ? path : facts->name, missing, facts->instead);
    else
        library->handle = handle;
}

int cuda_library_ready(const collet_host *host, int driver, const cuda_library_facts *facts,
                       cuda_library *library)
{
    pthread_mutex_lock(&library->lock);
    if (!library->tried)
        open_once(host, driver, facts, library);
    library->tried = 1;
    int ready = library->handle != NULL;
    pthread_mutex_unlock(&library->lock);
    return ready;
}
