/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "cublas.h"
#include "cufft.h"
#include "cusolver.h"

/* Of the trial in which the libraries are opened to be described. */
#define TRIAL_MS 8000

static const cuda_library_facts *const all[] = {&cuda_blas_facts, &cuda_fourier_facts,
                                                &cuda_solver_facts};
#define LIBRARIES (sizeof all / sizeof *all)

typedef struct question {
    const collet_host *host;
    int driver;
} question;

typedef struct answer {
    char words[LIBRARIES][320];
} answer;

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

/* In the child. */
static void look_at_all(void *argument, void *result)
{
    const question *q = argument;
    answer *a = result;
    for (size_t i = 0; i < LIBRARIES; i++) {
        const char *path = q->host->config(q->host, all[i]->setting);
        if (cuda_library_off(q->host, all[i]))
            continue;
        void *handle = cuda_library_load(q->host, q->driver, all[i]);
        if (handle)
            look_at(all[i], handle, a->words[i], sizeof a->words[i]);
        else
            (void)snprintf(a->words[i], sizeof a->words[i], "%.160s not found: %s",
                           path && *path ? path : all[i]->name, all[i]->instead);
    }
}

static int has_trials(const collet_host *host)
{
    return host->struct_size >= offsetof(collet_host, trial) + sizeof host->trial && host->trial;
}

/* Capabilities may be asked twice; the trial is made once. Only a probe has one. */
static struct {
    pthread_mutex_t lock;
    int made;
    collet_status status;
    collet_error why;
    answer found;
} trial = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int try_once(const collet_host *host, int driver)
{
    question q = {host, driver};
    if (!has_trials(host))
        return 0;
    pthread_mutex_lock(&trial.lock);
    if (!trial.made)
        trial.status = host->trial(host, look_at_all, &q, &trial.found, sizeof trial.found,
                                   TRIAL_MS, &trial.why);
    trial.made = 1;
    pthread_mutex_unlock(&trial.lock);
    return 1;
}

void cuda_libraries_describe(const collet_host *host, int driver, text *json)
{
    int tried = try_once(host, driver);
    text_add(json, "\"libraries\": {");
    for (size_t i = 0; i < LIBRARIES; i++) {
        char words[400];
        if (cuda_library_off(host, all[i]))
            (void)snprintf(words, sizeof words, "off: %s", all[i]->instead);
        else if (!tried)
            (void)snprintf(words, sizeof words, "opened at the first call that it can compute");
        else if (trial.status != COLLET_OK)
            (void)snprintf(words, sizeof words, "not known: %.300s", trial.why.text);
        else
            (void)snprintf(words, sizeof words, "%s", trial.found.words[i]);
        text_add(json, "%s\"%s\": ", i ? ", " : "", all[i]->setting + strlen("cuda."));
        text_quote(json, words);
    }
    text_add(json, "}, ");
}
