/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include <dlfcn.h>
#include <string.h>

#include "driver.h"

int cuda_library_off(const collet_host *host, const cuda_library_facts *facts)
{
    const char *path = host->config(host, facts->setting);
    return path && !strcmp(path, "off");
}

void *cuda_library_load(const collet_host *host, int driver, const cuda_library_facts *facts)
{
    const char *path = host->config(host, facts->setting);
    return path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
                         : cuda_library_open(facts->name, driver);
}

const char *cuda_library_find(const cuda_library_facts *facts, void *handle, void *target)
{
    const char *missing = NULL;
    for (size_t i = 0; i < facts->symbol_count; i++) {
        void *symbol = dlsym(handle, facts->symbols[i].name);
        missing = missing || symbol ? missing : facts->symbols[i].name;
        if (target)
            memcpy((char *)target + facts->symbols[i].place, &symbol, sizeof symbol);
    }
    return missing;
}

static void open_once(const collet_host *host, int driver, const cuda_library_facts *facts,
                      cuda_library *library)
{
    const char *path = host->config(host, facts->setting);
    if (cuda_library_off(host, facts))
        return;
    void *handle = cuda_library_load(host, driver, facts);
    const char *missing = handle ? cuda_library_find(facts, handle, library) : NULL;
    if (!handle)
        host->log(host, COLLET_LOG_WARNING, "cuda: %s not found: %s",
                  path && *path ? path : facts->name, facts->instead);
    else if (missing)
        host->log(host, COLLET_LOG_WARNING, "cuda: %s lacks %s: %s",
                  path && *path ? path : facts->name, missing, facts->instead);
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
