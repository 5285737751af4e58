/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "cublas.h"
#include "cufft.h"
#include "cusolver.h"

/* ---- Describing ------------------------------------------------------------------------------ */

static const cuda_library_facts *const all[] = {&cuda_blas_facts, &cuda_fourier_facts,
                                                &cuda_solver_facts};
#define LIBRARIES (sizeof all / sizeof *all)

static void look_at(const cuda_library_facts *facts, void *handle, char *words, size_t size)
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
        (void)snprintf(words, size, "%.160s lacks %s: %s", path, missing, facts->instead);
    else
        (void)snprintf(words, size, "%d.%d.%d, %.160s", version[0], version[1], version[2], path);
}

/* Opens it, which takes a tenth of a second or more: in a probe alone. */
static void look_for(const collet_host *host, int driver, const cuda_library_facts *facts,
                     char *words, size_t size)
{
    const char *path = host->config(host, facts->setting);
    path = path && *path ? path : facts->name;
    host->log(host, COLLET_LOG_DEBUG, "trying %s", path);
    void *handle = cuda_library_load(host, driver, facts);
    if (handle)
        look_at(facts, handle, words, size);
    else
        (void)snprintf(words, size, "%.160s not found: %s", path, facts->instead);
}

void cuda_libraries_describe(const collet_host *host, int driver, text *json)
{
    const char *safe = cuda_safe_mode(host);
    text_add(json, "\"libraries\": {");
    for (size_t i = 0; i < LIBRARIES; i++) {
        char words[400];
        if (safe)
            (void)snprintf(words, sizeof words, "left alone in safe mode: %.300s", safe);
        else if (cuda_library_off(host, all[i]))
            (void)snprintf(words, sizeof words, "off: %s", all[i]->instead);
        else if (!host->config(host, "in_probe"))
            (void)snprintf(words, sizeof words, "opened at the first call that it can compute");
        else
            look_for(host, driver, all[i], words, sizeof words);
        text_add(json, "%s\"%s\": ", i ? ", " : "", all[i]->setting + strlen("cuda."));
        text_quote(json, words);
    }
    text_add(json, "}, ");
}
