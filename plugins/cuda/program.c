/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a device, one for each source and text of options, and the kernels in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../device/binary_cache.h"
#include "../device/source.h"
#include "backend.h"
#include "texts.h"

/* Programs and kernels that are kept; a trim makes room. */
#define PROGRAMS 1024u
#define KERNELS 4096u
#define OPTIONS 640

typedef struct program {
    const device_source *source;
    char *options;
    CUmodule module; /* NULL: it does not compile, */
    char *why;       /* as told then */
} program;

/*
 * `building` is held while anything is compiled or added; `lock` is held shared by launches and
 * alone by what changes the tables. `building` comes first.
 */
struct cuda_programs {
    pthread_mutex_t building;
    pthread_rwlock_t lock;
    uint32_t count, kernel_count;
    program programs[PROGRAMS];
    cuda_kernel kernels[KERNELS]; /* an open hash table, at most half full */
};

/* ---- Life ------------------------------------------------------------------------------------ */

collet_status cuda_programs_create(collet_device *d, collet_error *err)
{
    cuda_programs *p = calloc(1, sizeof *p);
    if (!p || pthread_mutex_init(&p->building, NULL)) {
        free(p);
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for the table of programs");
    }
    if (pthread_rwlock_init(&p->lock, NULL)) {
        pthread_mutex_destroy(&p->building);
        free(p);
        return d->host->fail(err, COLLET_NO_MEMORY, "no lock for the table of programs");
    }
    d->programs = p;
    return COLLET_OK;
}

/* Under `building`. Queues hold labels of kernels until they have passed them. */
static void release_all(collet_device *d)
{
    cuda_programs *p = d->programs;
    pthread_rwlock_wrlock(&p->lock);
    cuda_queues_drain(d);
    int entered = p->count && cuda_enter(d) == CUDA_SUCCESS;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->programs[i].module && entered)
            d->cu.ModuleUnload(p->programs[i].module);
        free(p->programs[i].options);
        free(p->programs[i].why);
    }
    if (entered)
        cuda_leave(d);
    for (uint32_t i = 0; i < KERNELS && p->kernel_count; i++) {
        if (!p->kernels[i].handle)
            continue;
        free(p->kernels[i].options);
        p->kernels[i] = (cuda_kernel){0};
        p->kernel_count--;
    }
    p->count = 0;
    pthread_rwlock_unlock(&p->lock);
}

void cuda_programs_trim(collet_device *d)
{
    pthread_mutex_lock(&d->programs->building);
    release_all(d);
    pthread_mutex_unlock(&d->programs->building);
}

void cuda_programs_destroy(collet_device *d)
{
    if (!d->programs)
        return;
    release_all(d);
    pthread_rwlock_destroy(&d->programs->lock);
    pthread_mutex_destroy(&d->programs->building);
    free(d->programs);
    d->programs = NULL;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static int all_options(const collet_device *d, const char *own, char text[OPTIONS])
{
    const device_traits *t = &d->traits;
    int length = snprintf(text, OPTIONS,
                          "%s -std=c++17 -default-device --fmad=false -DGROUP=%u -DPER_ITEM=%u "
                          "-DHAVE_F64=%u -DEXACT_F32=%u %s",
                          d->target, t->group, t->per_item, t->has_f64, t->exact_f32, own);
    return length > 0 && length < OPTIONS;
}

/* In the device's context. */
static CUmodule from_cache(collet_device *d, const char *key)
{
    CUmodule module = NULL;
    uint64_t bytes;
    void *binary = key ? binary_cache_get(d->host, key, &bytes) : NULL;
    if (!binary)
        return NULL;
    if (d->cu.ModuleLoadData(&module, binary) != CUDA_SUCCESS) {
        module = NULL;
        binary_cache_drop(d->host, key);
    }
    free(binary);
    return module;
}

/* In the device's context. */
static collet_status from_source(collet_device *d, const char *name, const char *const *texts,
                                 uint32_t count, const char *options, const char *key,
                                 CUmodule *module, collet_error *err)
{
    void *code;
    uint64_t bytes;
    collet_status status =
        cuda_compile(d->host, &d->rtc, name, texts, count, options, &code, &bytes, err);
    if (status != COLLET_OK)
        return status;
    CUresult error = d->cu.ModuleLoadData(module, code);
    if (error == CUDA_SUCCESS && key)
        binary_cache_put(d->host, key, code, bytes);
    free(code);
    if (error == CUDA_SUCCESS)
        return COLLET_OK;
    *module = NULL;
    status = cuda_fail(d, error, name, err);
    return status == COLLET_DEVICE_LOST ? status : COLLET_REFUSED;
}

static collet_status build(collet_device *d, const device_source *source, const char *own,
                           CUmodule *module, collet_error *err)
{
    char options[OPTIONS];
    const char *texts[DEVICE_TEXTS];
    if (!all_options(d, own, options))
        return d->host->fail(err, COLLET_REFUSED, "%s: its options are too long", source->name);
    uint32_t count = device_source_texts(source, device_text_prelude_cuda, texts);
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, source->name, err);
    char *key = device_source_key(d->identity, source->name, options, texts, count);
    collet_status status = COLLET_OK;
    *module = from_cache(d, key);
    if (!*module)
        status = from_source(d, source->name, texts, count, options, key, module, err);
    free(key);
    cuda_leave(d);
    return status;
}

static program *program_find(cuda_programs *p, const device_launch *l)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->programs[i].source == l->source && !strcmp(p->programs[i].options, l->options))
            return &p->programs[i];
    return NULL;
}

/* Under `building`. What does not compile is not compiled again. */
static collet_status program_get(collet_device *d, const device_launch *l, CUmodule *module,
                                 collet_error *err)
{
    cuda_programs *p = d->programs;
    program *found = program_find(p, l);
    if (!found) {
        collet_error why = {COLLET_OK, ""};
        if (p->count == PROGRAMS)
            release_all(d);
        program made = {.source = l->source, .options = strdup(l->options)};
        if (!made.options)
            return d->host->fail(err, COLLET_REFUSED, "no memory for a program");
        collet_status status = build(d, l->source, l->options, &made.module, &why);
        if (status == COLLET_DEVICE_LOST) {
            free(made.options);
            return d->host->fail(err, status, "%s", why.text);
        }
        if (status != COLLET_OK)
            made.why = strdup(why.text);
        found = &p->programs[p->count];
        *found = made;
        p->count++;
    }
    *module = found->module;
    if (!found->module)
        return d->host->fail(err, COLLET_REFUSED, "%s", found->why ? found->why : "no program");
    return COLLET_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The launch's kernel, or the empty slot that is its place. */
static cuda_kernel *slot_of(cuda_programs *p, const device_launch *l)
{
    uint64_t hash = binary_hash((uint64_t)(uintptr_t)l->source, l->options, strlen(l->options));
    uint32_t slot = (uint32_t)binary_hash(hash, l->kernel, strlen(l->kernel)) & (KERNELS - 1);
    for (;; slot = (slot + 1) & (KERNELS - 1)) {
        cuda_kernel *k = &p->kernels[slot];
        if (!k->handle || (k->source == l->source && !strcmp(k->name, l->kernel) &&
                           !strcmp(k->options, l->options)))
            return k;
    }
}

static collet_status find_function(collet_device *d, const device_launch *l, CUmodule module,
                                   CUfunction *handle, collet_error *err)
{
    char text[160];
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, l->kernel, err);
    error = d->cu.ModuleGetFunction(handle, module, l->kernel);
    cuda_leave(d);
    if (error == CUDA_SUCCESS)
        return COLLET_OK;
    return d->host->fail(err, COLLET_REFUSED, "%s.dev has no kernel %s (%s, %s)", l->source->name,
                         l->kernel, l->options, cuda_error_text(&d->cu, error, text));
}

/* Under `building`. */
static collet_status kernel_make(collet_device *d, const device_launch *l, collet_error *err)
{
    cuda_programs *p = d->programs;
    CUmodule module;
    CUfunction handle;
    if (p->kernel_count >= KERNELS / 2)
        release_all(d);
    collet_status status = program_get(d, l, &module, err);
    if (status == COLLET_OK)
        status = find_function(d, l, module, &handle, err);
    if (status != COLLET_OK)
        return status;
    size_t options = strlen(l->options) + 1, name = strlen(l->kernel) + 1;
    size_t label = options + name + strlen(l->source->name) + 16;
    char *text = malloc(options + name + label);
    if (!text)
        return d->host->fail(err, COLLET_REFUSED, "no memory for a kernel");
    memcpy(text, l->options, options);
    memcpy(text + options, l->kernel, name);
    snprintf(text + options + name, label, "kernel %s of %s (%s)", l->kernel, l->source->name,
             l->options);
    pthread_rwlock_wrlock(&p->lock);
    *slot_of(p, l) = (cuda_kernel){l->source, text, text + options, text + options + name, handle};
    p->kernel_count++;
    pthread_rwlock_unlock(&p->lock);
    return COLLET_OK;
}

collet_status cuda_kernel_get(collet_device *d, const device_launch *l, const cuda_kernel **kernel,
                              collet_error *err)
{
    cuda_programs *p = d->programs;
    for (;;) {
        pthread_rwlock_rdlock(&p->lock);
        const cuda_kernel *found = slot_of(p, l);
        if (found->handle) {
            *kernel = found;
            return COLLET_OK;
        }
        pthread_rwlock_unlock(&p->lock);
        pthread_mutex_lock(&p->building);
        /* Another thread may have made it meanwhile. */
        collet_status status = slot_of(p, l)->handle ? COLLET_OK : kernel_make(d, l, err);
        pthread_mutex_unlock(&p->building);
        if (status != COLLET_OK)
            return status;
    }
}

void cuda_kernel_done(collet_device *d)
{
    pthread_rwlock_unlock(&d->programs->lock);
}
