/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_launch.c, tests/opencl/test_opencl.c */
#include "program.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared/host/util/clock.h"
#include "binary_cache.h"
#include "source.h"

#define OPTIONS 768

/* ---- The limit on the size of files ---------------------------------------------------------- */

/* Drivers write compiled kernels to files. A write beyond the limit (RLIMIT_FSIZE) sends SIGXFSZ, which would end the
 * program. While the signal is blocked, such a write only fails with EFBIG. */

/* The thread's signal mask, and whether a SIGXFSZ was pending before. */
typedef struct file_limit {
    sigset_t mask;
    bool waited;
} file_limit;

static bool file_limit_waits(void)
{
    sigset_t waiting;
    sigpending(&waiting);
    return sigismember(&waiting, SIGXFSZ) == 1;
}

/* Blocks SIGXFSZ in the calling thread; the operating system sends it to the thread that writes. A call of
 * file_limit_end must follow. */
static file_limit file_limit_begin(void)
{
    file_limit before = {.waited = file_limit_waits()};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, &before.mask);
    return before;
}

static void file_limit_end(const file_limit *before)
{
    const struct timespec now = {0, 0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    if (!before->waited && file_limit_waits())
        (void)sigtimedwait(&set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}

/* ---- Programs -------------------------------------------------------------------------------- */

void jit_programs_forget(collet_device *d)
{
    const jit_program_slots *driver = jit_driver_of(d)->programs;
    jit_programs *p = &jit_base_of(d)->programs;
    if (driver->forget)
        driver->forget(d);
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->programs[i].handle)
            driver->unload(d, p->programs[i].handle);
        free(p->programs[i].options);
        free(p->programs[i].why);
    }
    p->count = 0;
}

void jit_programs_trim(collet_device *d)
{
    pthread_mutex_lock(&jit_base_of(d)->programs.lock);
    jit_programs_forget(d);
    pthread_mutex_unlock(&jit_base_of(d)->programs.lock);
}

static void *from_cache(collet_device *d, const char *key, const char *options)
{
    uint64_t bytes;
    void *binary = key ? binary_cache_get(jit_host(d), key, &bytes) : NULL;
    if (!binary)
        return NULL;
    void *handle = jit_driver_of(d)->programs->load(d, binary, bytes, options);
    free(binary);
    if (!handle)
        binary_cache_drop(jit_host(d), key);
    return handle;
}

static void show(const jit_base *b, const jit_launch *l, const char *const *texts, uint32_t count)
{
    char key[64];
    snprintf(key, sizeof key, "%s.sources", b->driver->plugin.name);
    jit_source_show(b->host->config(b->host, key), l, texts, count);
}

static void report(const jit_base *b, const char *name)
{
    char directory[PATH_MAX];
    static _Atomic int warned;
    int on = binary_cache_directory(b->host, directory), kept = on && binary_cache_usable(b->host);
    if (on && !kept && !atomic_exchange(&warned, 1))
        b->host->log(b->host, COLLET_LOG_WARNING,
                     "%s cannot be used (not a directory of this user alone, or it cannot be "
                     "written), so every process compiles its kernels: chmod 700 it, or set "
                     "COLLET_CACHE_DIR",
                     directory);
    b->host->log(b->host, COLLET_LOG_INFO,
                 "compiling kernels for %s:%u: program %u (%s), %.1f s so far, %s%s",
                 b->driver->plugin.name, b->index, b->programs.compiled + 1, name,
                 b->programs.seconds,
                 kept ? "kept in "
                 : on ? "not kept, because the cache cannot be used"
                      : "not kept, because the cache is off",
                 kept ? directory : "");
}

static collet_status build(collet_device *d, const jit_launch *l, void **handle, collet_error *err)
{
    jit_base *b = jit_base_of(d);
    const char *texts[JIT_TEXTS], **made, *name = l->source->name;
    char options[OPTIONS];
    int length = snprintf(options, sizeof options, "%s %s", b->options, l->options);
    if (length < 0 || length >= OPTIONS)
        return b->host->fail(err, COLLET_REFUSED, "%s: compiler options too long", name);
    uint32_t count = jit_source_texts(l, b->driver->prelude, texts, &made);
    if (!count)
        return b->host->fail(err, COLLET_NO_MEMORY, "%s: out of memory for the source", name);
    char *key = jit_source_key(b->identity, name, options, texts, count);
    collet_status status = COLLET_OK;
    file_limit limit = file_limit_begin();
    show(b, l, texts, count);
    *handle = from_cache(d, key, options);
    if (!*handle) {
        report(b, name);
        int64_t began = clock_now();
        status = b->driver->programs->compile(d, name, texts, count, options, key, handle, err);
        b->programs.seconds += 1e-9 * (double)(clock_now() - began);
        b->programs.compiled++;
    }
    file_limit_end(&limit);
    free(key);
    free(made);
    return status;
}

static jit_program *program_find(jit_programs *p, const jit_launch *l)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->programs[i].source == l->source && !strcmp(p->programs[i].options, l->options))
            return &p->programs[i];
    return NULL;
}

static collet_status program_get(collet_device *d, const jit_launch *l, void **handle,
                                 collet_error *err)
{
    const collet_host *host = jit_host(d);
    jit_programs *p = &jit_base_of(d)->programs;
    jit_program *found = program_find(p, l);
    if (!found) {
        collet_error why = {COLLET_OK, ""};
        if (p->count == JIT_PROGRAMS)
            jit_programs_forget(d);
        jit_program made = {.source = l->source, .options = strdup(l->options)};
        if (!made.options)
            return host->fail(err, COLLET_REFUSED, "out of memory for a program");
        collet_status status = build(d, l, &made.handle, &why);
        /* These failures are not the program's fault: the next launch builds it again. */
        if (status == COLLET_DEVICE_LOST || status == COLLET_NO_MEMORY) {
            free(made.options);
            return host->fail(err, status == COLLET_NO_MEMORY ? COLLET_REFUSED : status, "%s",
                              why.text);
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

collet_status jit_kernel_make(collet_device *d, const jit_launch *l, jit_kernel *kernel,
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
        return jit_host(d)->fail(err, COLLET_REFUSED, "out of memory for a kernel");
    void *handle = jit_driver_of(d)->programs->kernel_open(d, program, l->kernel, why);
    if (!handle) {
        free(text);
        return jit_host(d)->fail(err, COLLET_REFUSED, "%s.dev has no kernel %s (%s, %s)", source,
                                 l->kernel, l->options, why);
    }
    memcpy(text, l->options, options);
    memcpy(text + options, l->kernel, name);
    snprintf(text + options + name, label, "kernel %s of %s (%s)", l->kernel, source, l->options);
    *kernel = (jit_kernel){l->source, text, text + options, text + options + name, handle};
    return COLLET_OK;
}

jit_kernel *jit_kernels_at(jit_kernels *kernels, const jit_launch *l)
{
    uint64_t hash = binary_hash((uint64_t)(uintptr_t)l->source, l->options, strlen(l->options));
    uint64_t slot = binary_hash(hash, l->kernel, strlen(l->kernel));
    for (;; slot++) {
        jit_kernel *k = &kernels->kernels[slot & (JIT_KERNELS - 1)];
        if (!k->handle || (k->source == l->source && !strcmp(k->name, l->kernel) &&
                           !strcmp(k->options, l->options)))
            return k;
    }
}

void jit_kernels_add(jit_kernels *kernels, const jit_launch *l, const jit_kernel *kernel)
{
    *jit_kernels_at(kernels, l) = *kernel;
    kernels->count++;
}

void jit_kernels_clear(collet_device *d, jit_kernels *kernels)
{
    const jit_program_slots *driver = jit_driver_of(d)->programs;
    for (uint32_t i = 0; i < JIT_KERNELS && kernels->count; i++) {
        jit_kernel *k = &kernels->kernels[i];
        if (!k->handle)
            continue;
        if (driver->kernel_close)
            driver->kernel_close(d, k->handle);
        free(k->options);
        *k = (jit_kernel){0};
        kernels->count--;
    }
}
