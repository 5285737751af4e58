/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a device, one for each source and text of options, and the kernels of a queue. */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../device/binary_cache.h"
#include "../device/source.h"
#include "texts.h"

/* Programs and kernels that are kept; a trim makes room. */
#define PROGRAMS 1024u
#define KERNELS 4096u
#define OPTIONS 512

typedef struct program {
    const device_source *source;
    char *options;
    cl_program handle; /* NULL: it does not compile, */
    char *why;         /* as told then */
} program;

struct opencl_programs {
    pthread_mutex_t lock; /* held while a program is compiled */
    uint32_t count;
    program programs[PROGRAMS];
};

typedef struct kernel {
    const device_source *source;
    char *options, *name; /* one allocation */
    cl_kernel handle;
} kernel;

/* An open hash table, at most half full. */
struct opencl_kernels {
    uint32_t count;
    kernel kernels[KERNELS];
};

/* ---- Life ------------------------------------------------------------------------------------ */

collet_status opencl_programs_create(collet_device *d, collet_error *err)
{
    d->programs = calloc(1, sizeof *d->programs);
    if (d->programs && !pthread_mutex_init(&d->programs->lock, NULL))
        return COLLET_OK;
    free(d->programs);
    d->programs = NULL;
    return d->host->fail(err, COLLET_NO_MEMORY, "no memory for the table of programs");
}

static void release_all(collet_device *d)
{
    opencl_programs *p = d->programs;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->programs[i].handle)
            d->cl.ReleaseProgram(p->programs[i].handle);
        free(p->programs[i].options);
        free(p->programs[i].why);
    }
    p->count = 0;
}

void opencl_programs_trim(collet_device *d)
{
    pthread_mutex_lock(&d->programs->lock);
    release_all(d);
    pthread_mutex_unlock(&d->programs->lock);
}

void opencl_programs_destroy(collet_device *d)
{
    if (!d->programs)
        return;
    release_all(d);
    pthread_mutex_destroy(&d->programs->lock);
    free(d->programs);
    d->programs = NULL;
}

opencl_kernels *opencl_kernels_create(void)
{
    return calloc(1, sizeof(opencl_kernels));
}

void opencl_kernels_clear(const opencl_driver *cl, opencl_kernels *k)
{
    for (uint32_t i = 0; i < KERNELS && k->count; i++) {
        if (!k->kernels[i].handle)
            continue;
        cl->ReleaseKernel(k->kernels[i].handle);
        free(k->kernels[i].options);
        k->kernels[i] = (kernel){0};
        k->count--;
    }
}

void opencl_kernels_destroy(const opencl_driver *cl, opencl_kernels *k)
{
    if (k)
        opencl_kernels_clear(cl, k);
    free(k);
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static int all_options(const collet_device *d, const char *own, char text[OPTIONS])
{
    const device_traits *t = &d->traits;
    int length = snprintf(
        text, OPTIONS, "-cl-std=CL1.2%s -DGROUP=%u -DPER_ITEM=%u -DHAVE_F64=%u -DEXACT_F32=%u %s",
        t->exact_f32 ? " -cl-fp32-correctly-rounded-divide-sqrt" : "", t->group, t->per_item,
        t->has_f64, t->exact_f32, own);
    return length > 0 && length < OPTIONS;
}

static char *key_of(const collet_device *d, const device_source *source, const char *options)
{
    const char *texts[DEVICE_TEXTS];
    uint32_t count = device_source_texts(source, device_text_prelude_opencl, texts);
    return device_source_key(d->identity, source->name, options, texts, count);
}

static cl_program from_binary(collet_device *d, const void *binary, size_t bytes,
                              const char *options)
{
    cl_int error = CL_SUCCESS, loaded = CL_SUCCESS;
    const unsigned char *data = binary;
    cl_program handle =
        d->cl.CreateProgramWithBinary(d->context, 1, &d->id, &bytes, &data, &loaded, &error);
    if (error != CL_SUCCESS)
        return NULL;
    if (loaded == CL_SUCCESS &&
        d->cl.BuildProgram(handle, 1, &d->id, options, NULL, NULL) == CL_SUCCESS)
        return handle;
    d->cl.ReleaseProgram(handle);
    return NULL;
}

static cl_program from_cache(collet_device *d, const char *key, const char *options)
{
    uint64_t bytes;
    void *binary = key ? binary_cache_get(d->host, key, &bytes) : NULL;
    if (!binary)
        return NULL;
    cl_program handle = from_binary(d, binary, bytes, options);
    free(binary);
    if (!handle)
        binary_cache_drop(d->host, key);
    return handle;
}

static void keep(collet_device *d, cl_program handle, const char *key)
{
    size_t bytes = 0;
    if (!key || d->cl.GetProgramInfo(handle, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) ||
        !bytes)
        return;
    unsigned char *binary = malloc(bytes);
    if (binary && d->cl.GetProgramInfo(handle, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) ==
                      CL_SUCCESS)
        binary_cache_put(d->host, key, binary, bytes);
    free(binary);
}

/* The last of the compiler's words, which is where the error stands. */
static collet_status build_failed(collet_device *d, cl_program handle, const device_source *source,
                                  const char *options, cl_int error, collet_error *err)
{
    char text[32];
    size_t bytes = 0;
    char *log = NULL;
    if (!d->cl.GetProgramBuildInfo(handle, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) && bytes)
        log = calloc(1, bytes + 1);
    if (log)
        d->cl.GetProgramBuildInfo(handle, d->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    d->host->fail(err, COLLET_REFUSED, "%s.dev does not compile (%s, %s): %.600s", source->name,
                  opencl_error_name(error, text), options, log ? log : "no log");
    free(log);
    return COLLET_REFUSED;
}

static collet_status from_source(collet_device *d, const device_source *source, const char *options,
                                 cl_program *out, collet_error *err)
{
    const char *texts[DEVICE_TEXTS];
    cl_int error = CL_SUCCESS;
    uint32_t count = device_source_texts(source, device_text_prelude_opencl, texts);
    cl_program handle = d->cl.CreateProgramWithSource(d->context, count, texts, NULL, &error);
    if (error != CL_SUCCESS)
        return opencl_fail(d, error, source->name, err);
    error = d->cl.BuildProgram(handle, 1, &d->id, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        collet_status status = build_failed(d, handle, source, options, error, err);
        d->cl.ReleaseProgram(handle);
        return status;
    }
    *out = handle;
    return COLLET_OK;
}

static collet_status build(collet_device *d, const device_source *source, const char *own,
                           cl_program *out, collet_error *err)
{
    char options[OPTIONS];
    if (!all_options(d, own, options))
        return d->host->fail(err, COLLET_REFUSED, "%s: its options are too long", source->name);
    char *key = key_of(d, source, options);
    collet_status status = COLLET_OK;
    *out = from_cache(d, key, options);
    if (!*out) {
        status = from_source(d, source, options, out, err);
        if (status == COLLET_OK)
            keep(d, *out, key);
    }
    free(key);
    return status;
}

static program *program_find(opencl_programs *p, const device_launch *l)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->programs[i].source == l->source && !strcmp(p->programs[i].options, l->options))
            return &p->programs[i];
    return NULL;
}

/* Under the programs' lock. What does not compile is not compiled again. */
static collet_status program_get(collet_device *d, const device_launch *l, cl_program *handle,
                                 collet_error *err)
{
    opencl_programs *p = d->programs;
    program *found = program_find(p, l);
    if (!found) {
        collet_error why = {COLLET_OK, ""};
        /* Kernels hold their programs: what is forgotten here lives on where it is used. */
        if (p->count == PROGRAMS)
            release_all(d);
        program made = {.source = l->source, .options = strdup(l->options)};
        if (!made.options)
            return d->host->fail(err, COLLET_REFUSED, "no memory for a program");
        device_source_show(d->host->config(d->host, "opencl.sources"), l->source, l->options);
        if (build(d, l->source, l->options, &made.handle, &why) != COLLET_OK)
            made.why = strdup(why.text);
        found = &p->programs[p->count++];
        *found = made;
    }
    *handle = found->handle;
    if (!found->handle)
        return d->host->fail(err, COLLET_REFUSED, "%s", found->why ? found->why : "no program");
    return COLLET_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static uint32_t slot_of(const device_launch *l)
{
    uint64_t hash = binary_hash((uint64_t)(uintptr_t)l->source, l->options, strlen(l->options));
    return (uint32_t)binary_hash(hash, l->kernel, strlen(l->kernel)) & (KERNELS - 1);
}

static int is_kernel(const kernel *k, const device_launch *l)
{
    return k->source == l->source && !strcmp(k->name, l->kernel) && !strcmp(k->options, l->options);
}

/* An empty slot's kernel, made. */
static collet_status kernel_make(collet_queue *q, const device_launch *l, kernel *k,
                                 collet_error *err)
{
    collet_device *d = q->device;
    cl_program handle;
    cl_int error = CL_SUCCESS;
    size_t options = strlen(l->options) + 1, name = strlen(l->kernel) + 1;
    char *text = malloc(options + name);
    if (!text)
        return d->host->fail(err, COLLET_REFUSED, "no memory for a kernel");
    pthread_mutex_lock(&d->programs->lock);
    collet_status status = program_get(d, l, &handle, err);
    cl_kernel made = NULL;
    if (status == COLLET_OK) {
        made = d->cl.CreateKernel(handle, l->kernel, &error);
        if (error != CL_SUCCESS) {
            char why[32];
            status = d->host->fail(err, COLLET_REFUSED, "%s.dev has no kernel %s (%s, %s)",
                                   l->source->name, l->kernel, l->options,
                                   opencl_error_name(error, why));
        }
    }
    pthread_mutex_unlock(&d->programs->lock);
    if (status != COLLET_OK) {
        free(text);
        return status;
    }
    memcpy(text, l->options, options);
    memcpy(text + options, l->kernel, name);
    *k = (kernel){l->source, text, text + options, made};
    q->kernels->count++;
    return COLLET_OK;
}

collet_status opencl_kernel_get(collet_queue *q, const device_launch *l, cl_kernel *handle,
                                collet_error *err)
{
    opencl_kernels *table = q->kernels;
    if (table->count >= KERNELS / 2)
        opencl_kernels_clear(&q->device->cl, table);
    uint32_t slot = slot_of(l);
    while (table->kernels[slot].handle && !is_kernel(&table->kernels[slot], l))
        slot = (slot + 1) & (KERNELS - 1);
    collet_status status = COLLET_OK;
    if (!table->kernels[slot].handle)
        status = kernel_make(q, l, &table->kernels[slot], err);
    *handle = table->kernels[slot].handle;
    return status;
}
