/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_capabilities.c, tests/cuda/test_cuda_safe_mode.c */
#include "libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "toolkit.h"

static const cuda_library_facts *const all[] = {&cuda_blas_facts, &cuda_fourier_facts,
                                                &cuda_solver_facts};
#define LIBRARIES (sizeof all / sizeof *all)

void cuda_library_describe(const cuda_library_facts *facts, void *handle, char *value, size_t size)
{
    struct link_map *map = NULL;
    int (*property)(int type, int *value);
    int version[3] = {0, 0, 0};
    const char *missing = cuda_symbols_find(facts->symbols, facts->symbol_count, handle, NULL);
    void *symbol = dlsym(handle, facts->version);
    memcpy(&property, &symbol, sizeof symbol);
    for (int i = 0; symbol && i < 3; i++)
        if (property(i, &version[i]) != 0)
            version[i] = 0;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        map = NULL;
    const char *path = map ? map->l_name : facts->name;
    if (missing)
        (void)snprintf(value, size, "%.160s lacks %s: %s", path, missing, facts->instead);
    else
        (void)snprintf(value, size, "%d.%d.%d, %.160s", version[0], version[1], version[2], path);
}

/* Opening takes a tenth of a second or more, so only a probe does it. */
static void open_and_describe(const collet_host *host, int driver, const cuda_library_facts *facts,
                              char *value, size_t size)
{
    const char *path = host->config(host, facts->setting);
    path = path ? path : facts->name;
    host->log(host, COLLET_LOG_DEBUG, "trying %s", path);
    void *handle = cuda_library_load(host, driver, facts);
    if (handle)
        cuda_library_describe(facts, handle, value, size);
    else
        (void)snprintf(value, size, "%.160s not found: %s", path, facts->instead);
}

void cuda_libraries_describe(const collet_host *host, int driver, text *json)
{
    const char *safe = cuda_safe_mode(host);
    text_add(json, "\"libraries\": {");
    for (size_t i = 0; i < LIBRARIES; i++) {
        char value[400];
        if (safe)
            (void)snprintf(value, sizeof value, "not used in safe mode: %.300s", safe);
        else if (cuda_library_off(host, all[i]))
            (void)snprintf(value, sizeof value, "off: %s", all[i]->instead);
        else if (!host->config(host, "in_probe"))
            (void)snprintf(value, sizeof value, "opened by the first call that it can compute");
        else
            open_and_describe(host, driver, all[i], value, sizeof value);
        text_add(json, "%s\"%s\": ", i ? ", " : "", all[i]->setting + strlen("cuda."));
        text_quote(json, value);
    }
    text_add(json, "}, ");
}
