/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "binary_cache.h"
#include "source.h"

#define OPTIONS 768

/* ---- Programs -------------------------------------------------------------------------------- */

void device_programs_release(collet_device *d)
{
    device_programs *p = &device_base_of(d)->programs;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->programs[i].handle)
            device_program_unload(d, p->programs[i].handle);
        free(p->programs[i].options);
        free(p->programs[i].why);
    }
    p->count = 0;
}

void device_programs_trim(collet_device *d)
{
    pthread_mutex_lock(&device_base_of(d)->programs.lock);
    device_programs_forget(d);
    pthread_mutex_unlock(&device_base_of(d)->programs.lock);
}

static void *from_cache(collet_device *d, const char *key, const char *options)
{
    uint64_t bytes;
    void *binary = key ? binary_cache_get(device_host(d), key, &bytes) : NULL;
    if (!binary)
        return NULL;
    void *handle = device_program_load(d, binary, bytes, options);
    free(binary);
    if (!handle)
        binary_cache_drop(device_host(d), key);
    return handle;
}

static void show(const collet_host *host, const device_launch *l)
{
    char key[64];
    snprintf(key, sizeof key, "%s.sources", this_backend.name);
    device_source_show(host->config(host, key), l->source, l->options);
}

static collet_status build(collet_device *d, const device_launch *l, void **handle,
                           collet_error *err)
{
    device_base *b = device_base_of(d);
    const char *texts[DEVICE_TEXTS], *name = l->source->name;
    char options[OPTIONS];
    int length = snprintf(options, sizeof options, "%s %s", b->options, l->options);
    if (length < 0 || length >= OPTIONS)
        return b->host->fail(err, COLLET_REFUSED, "%s: its options are too long", name);
    uint32_t count = device_source_texts(l->source, this_backend.prelude, texts);
    char *key = device_source_key(b->identity, name, options, texts, count);
    collet_status status = COLLET_OK;
    show(b->host, l);
    *handle = from_cache(d, key, options);
    if (!*handle)
        status = device_program_compile(d, name, texts, count, options, key, handle, err);
    free(key);
    return status;
}

static device_program *program_find(device_programs *p, const device_launch *l)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->programs[i].source == l->source && !strcmp(p->programs[i].options, l->options))
            return &p->programs[i];
    return NULL;
}

static collet_status program_get(collet_device *d, const device_launch *l, void **handle,
                                 collet_error *err)
{
    const collet_host *host = device_host(d);
    device_programs *p = &device_base_of(d)->programs;
    device_program *found = program_find(p, l);
    if (!found) {
        collet_error why = {COLLET_OK, ""};
        if (p->count == DEVICE_PROGRAMS)
            device_programs_forget(d);
        device_program made = {.source = l->source, .options = strdup(l->options)};
        if (!made.options)
            return host->fail(err, COLLET_REFUSED, "no memory for a program");
        collet_status status = build(d, l, &made.handle, &why);
        if (status == COLLET_DEVICE_LOST) {
            free(made.options);
            return host->fail(err, status, "%s", why.text);
        }
        if (status != COLLET_OK)
            made.why = strdup(why.text);
        found = &p->programs[p->count++];
        *found = made;
    }
    *handle = found->handle;
    if (!found->handle)
        return host->fail(err, COLLET_REFUSED, "%s", found->why ? found->why : "no program");
    return COLLET_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

collet_status device_kernel_make(collet_device *d, const device_launch *l, device_kernel *kernel,
                                 collet_error *err)
{
    char why[160] = "";
    void *program;
    const char *source = l->source->name;
    collet_status status = program_get(d, l, &program, err);
    if (status != COLLET_OK)
        return status;
    size_t options = strlen(l->options) + 1, name = strlen(l->kernel) + 1;
    size_t label = options + name + strlen(source) + 16;
    char *text = malloc(options + name + label);
    if (!text)
        return device_host(d)->fail(err, COLLET_REFUSED, "no memory for a kernel");
    void *handle = device_kernel_open(d, program, l->kernel, why);
    if (!handle) {
        free(text);
        return device_host(d)->fail(err, COLLET_REFUSED, "%s.dev has no kernel %s (%s, %s)", source,
                                    l->kernel, l->options, why);
    }
    memcpy(text, l->options, options);
    memcpy(text + options, l->kernel, name);
    snprintf(text + options + name, label, "kernel %s of %s (%s)", l->kernel, source, l->options);
    *kernel = (device_kernel){l->source, text, text + options, text + options + name, handle};
    return COLLET_OK;
}

device_kernel *device_kernels_at(device_kernels *kernels, const device_launch *l)
{
    uint64_t hash = binary_hash((uint64_t)(uintptr_t)l->source, l->options, strlen(l->options));
    uint64_t slot = binary_hash(hash, l->kernel, strlen(l->kernel));
    for (;; slot++) {
        device_kernel *k = &kernels->kernels[slot & (DEVICE_KERNELS - 1)];
        if (!k->handle || (k->source == l->source && !strcmp(k->name, l->kernel) &&
                           !strcmp(k->options, l->options)))
            return k;
    }
}

void device_kernels_add(device_kernels *kernels, const device_launch *l,
                        const device_kernel *kernel)
{
    *device_kernels_at(kernels, l) = *kernel;
    kernels->count++;
}

void device_kernels_clear(collet_device *d, device_kernels *kernels)
{
    for (uint32_t i = 0; i < DEVICE_KERNELS && kernels->count; i++) {
        device_kernel *k = &kernels->kernels[i];
        if (!k->handle)
            continue;
        device_kernel_close(d, k->handle);
        free(k->options);
        *k = (device_kernel){0};
        kernels->count--;
    }
}
