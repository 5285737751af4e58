/* SPDX-License-Identifier: Apache-2.0 */
#include "subject.h"

#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <collet/extensions.h>

const char *subject_defect = "";

static int is(const char *defect)
{
    return !strcmp(subject_defect, defect);
}

struct collet_device {
    const collet_host *host;
    uint32_t index;
};

struct collet_queue {
    uint64_t counter, claimed, failed;
};

struct collet_buffer {
    uint64_t bytes;
    char data[];
};

/* ---- Addresses kept beyond a call -------------------------------------------------------- */

static volatile const char *kept;

static void touch_kept(void)
{
    if (kept && is("writes_late"))
        *(volatile char *)(uintptr_t)kept = 1;
    else if (kept)
        (void)*kept;
    kept = NULL;
}

static void keep(const char *defect, const void *address)
{
    if (is(defect))
        kept = address;
}

/* ---- Blocking ---------------------------------------------------------------------------- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static sem_t blocked;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void)
{
    sem_init(&blocked, 0, 0);
}

void subject_block(int on)
{
    pthread_once(&once, start);
    if (on)
        pthread_mutex_lock(&gate);
    else
        pthread_mutex_unlock(&gate);
}

void subject_wait_blocked(void)
{
    sem_wait(&blocked);
}

static void maybe_block(void)
{
    if (!is("blocks"))
        return;
    sem_post(&blocked);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

/* ---- Devices ----------------------------------------------------------------------------- */

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    static const char text[] = "{\"jit\": false}";
    *needed = sizeof text - (is("capabilities_size") ? 1 : 0);
    if (capacity >= *needed || is("capabilities_overrun"))
        memcpy(json, text, sizeof text);
    return COLLET_OK;
}

static collet_status device_open(const collet_plugin *self, collet_device **out,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    if (is("open_status"))
        return host->fail(err, COLLET_BUSY, "busy");
    collet_device *d = is("no_device") ? NULL : calloc(1, sizeof *d);
    if (d)
        *d = (collet_device){host, index};
    properties->memory = index == 1 ? COLLET_MEMORY_HOST : COLLET_MEMORY_OWN;
    properties->order = index == 1 ? COLLET_ORDER_SYNCHRONOUS : COLLET_ORDER_QUEUES;
    properties->threads = index == 2 ? COLLET_THREADS_ONE : COLLET_THREADS_ANY;
    properties->max_queues = index == 2;
    if (is("properties"))
        properties->struct_size = 4;
    if (is("properties_overrun"))
        memset(properties, 0, sizeof *properties + 32);
    *out = d;
    return COLLET_OK;
}

static void device_close(collet_device *d)
{
    free(d);
}

static int32_t device_supports(collet_device *d, uint32_t row)
{
    return is("supports") ? 2 : !is("supports_less");
}

static void trim(collet_device *d)
{
    touch_kept();
    if (is("rounding"))
        fesetround(FE_UPWARD);
}

static uint64_t allocated;

static collet_status stats(collet_device *d, collet_memory_stats *s, collet_error *err)
{
    if (is("stats_overrun"))
        memset(s, 1, sizeof *s + 8);
    s->current = s->held = s->peak = is("stats_lie") ? 1 : allocated;
    s->peak -= is("stats_peak") ? 1 : 0;
    s->struct_size = sizeof *s + (is("stats_size") ? 8 : 0);
    return COLLET_OK;
}

static void reset_peak(collet_device *d)
{
}

/* ---- Memory ------------------------------------------------------------------------------ */

static collet_status buffer_alloc(collet_device *d, collet_buffer **out, uint64_t bytes,
                                  collet_error *err)
{
    if (is("silent"))
        return COLLET_REFUSED;
    if (is("other_status")) {
        d->host->fail(err, COLLET_NO_MEMORY, "no memory");
        return COLLET_REFUSED;
    }
    if (is("endless_text")) {
        err->status = COLLET_REFUSED;
        memset(err->text, 'x', sizeof err->text);
        return COLLET_REFUSED;
    }
    keep("keeps_err", err);
    if (is("mask")) {
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &mask, NULL);
    }
    if (is("locale"))
        setlocale(LC_NUMERIC, "C.UTF-8");
    *out = is("no_buffer") ? NULL : calloc(1, sizeof **out + bytes);
    if (*out)
        allocated += (*out)->bytes = bytes;
    return COLLET_OK;
}

static void buffer_free(collet_device *d, collet_buffer *b)
{
    if (b)
        allocated -= b->bytes;
    free(b);
}

static collet_status buffer_write(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err)
{
    keep("keeps_source", source);
    memcpy(b->data + offset, source, bytes);
    if (is("writes_source"))
        *(char *)(uintptr_t)source = 77;
    if (is("reads_behind"))
        (void)*((volatile const char *)source + bytes);
    q->counter++;
    return COLLET_OK;
}

static collet_status buffer_read(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err)
{
    if (is("writes_late"))
        kept = target;
    memcpy(target, b->data + offset, bytes);
    q->counter++;
    return COLLET_OK;
}

/* ---- Queues ------------------------------------------------------------------------------ */

static collet_status queue_create(collet_device *d, collet_queue **out, collet_error *err)
{
    *out = is("no_queue") ? NULL : calloc(1, sizeof **out);
    return COLLET_OK;
}

static void queue_destroy(collet_device *d, collet_queue *q)
{
    free(q);
}

/* With some defects the mark is larger than the number of commands that are done. */
static uint64_t queue_mark(collet_device *d, collet_queue *q)
{
    if (is("mark_back"))
        return q->claimed ? --q->claimed : (q->claimed = 5);
    return q->counter + (is("waits_short") || is("early") || is("forgets"));
}

static collet_status queue_wait(collet_device *d, collet_queue *q, uint64_t value,
                                int64_t nanoseconds, collet_error *err)
{
    maybe_block();
    if (is("waits_short"))
        return COLLET_NOT_READY;
    if (is("unsure"))
        return COLLET_NOT_READY;
    if (is("early") || is("forgets"))
        return nanoseconds || (is("forgets") && !q->claimed++) ? COLLET_OK : COLLET_NOT_READY;
    if (is("fails"))
        q->failed = 1;
    if (q->failed && !is("recovers") && value)
        return d->host->fail(err, COLLET_FAILED, "a command failed");
    return COLLET_OK;
}

static collet_status queue_after(collet_device *d, collet_queue *q, collet_queue *other,
                                 uint64_t value, collet_error *err)
{
    return is("after_status") ? d->host->fail(err, COLLET_SHAPE, "no") : COLLET_OK;
}

/* ---- Extensions -------------------------------------------------------------------------- */

static collet_status between(collet_device *d, collet_queue *q, collet_buffer *target,
                             uint64_t target_offset, const collet_plugin *of, collet_device *from,
                             collet_queue *from_queue, collet_buffer *source,
                             uint64_t source_offset, uint64_t bytes, collet_error *err)
{
    if (of != &subject)
        return d->host->fail(err, COLLET_FAILED, "a table of the layer");
    memcpy(target->data + target_offset, source->data + source_offset, bytes);
    q->counter++;
    from_queue->counter++;
    return COLLET_OK;
}

static collet_status native_device(collet_device *d, collet_native_device *n, collet_error *err)
{
    if (is("native_overrun"))
        memset(n, 1, sizeof *n + 8);
    if (is("native_status"))
        return d->host->fail(err, COLLET_INVALID, "no");
    n->api = is("native_api") ? NULL : "subject";
    n->struct_size += is("native_size") ? 8 : 0;
    return COLLET_OK;
}

static collet_status native_queue(collet_device *d, collet_queue *q, void **handle,
                                  collet_error *err)
{
    *handle = q;
    return COLLET_OK;
}

static collet_status native_used(collet_device *d, collet_queue *q, collet_error *err)
{
    q->counter++;
    return COLLET_OK;
}

static collet_status native_buffer(collet_device *d, collet_buffer *b, void **handle,
                                   collet_error *err)
{
    *handle = b->data;
    return COLLET_OK;
}

/* Imports by copying, so a test must write the memory before the import. */
static collet_status native_import(collet_device *d, collet_buffer **out, void *handle,
                                   uint64_t offset, uint64_t bytes, uint32_t element,
                                   collet_error *err)
{
    collet_status status = buffer_alloc(d, out, bytes, err);
    memcpy((*out)->data, (char *)handle + offset, bytes);
    allocated -= bytes;
    (*out)->bytes = 0;
    return status;
}

static collet_status pinned_alloc(collet_device *d, void **address, void **handle, uint64_t bytes,
                                  collet_error *err)
{
    *handle = aligned_alloc(64, (bytes + 127) / 64 * 64);
    *address = (char *)*handle + (is("pinned_unaligned") ? 8 : 0);
    return COLLET_OK;
}

static void pinned_free(collet_device *d, void *address, void *handle)
{
    free(handle);
}

struct collet_stamp {
    int64_t time;
};

static collet_status timing_stamp(collet_device *d, collet_queue *q, collet_stamp **out,
                                  collet_error *err)
{
    static int64_t time;
    if (is("stamp_status"))
        return d->host->fail(err, COLLET_BUSY, "busy");
    *out = is("no_stamp") ? NULL : calloc(1, sizeof **out);
    if (*out)
        (*out)->time = ++time;
    return COLLET_OK;
}

static collet_status timing_elapsed(collet_device *d, collet_stamp *first, collet_stamp *last,
                                    int64_t *nanoseconds, collet_error *err)
{
    if (is("elapsed_status"))
        return d->host->fail(err, COLLET_REFUSED, "refused");
    *nanoseconds = is("elapsed_back") ? first->time - last->time : last->time - first->time;
    return COLLET_OK;
}

static void timing_release(collet_device *d, collet_stamp *stamp)
{
    free(stamp);
}

static const void *extension(collet_device *d, const char *name)
{
    static const collet_timing_extension timing = {sizeof timing, 0, timing_stamp, timing_elapsed,
                                                   timing_release};
    static const collet_trim_extension table = {sizeof table, 0, trim},
                                       other = {sizeof other, 0, trim}, shorter = {8, 0, trim},
                                       reserved = {sizeof reserved, 1, trim},
                                       null = {sizeof null, 0, NULL};
    static const collet_memory_extension memory = {sizeof memory, 0, stats, reset_peak};
    static const collet_copy_extension copy = {sizeof copy, 0, between};
    static const collet_native_extension native = {
        sizeof native, 0, native_device, native_queue, native_used, native_buffer, native_import};
    static const collet_pinned_extension pinned = {sizeof pinned, 0, pinned_alloc, pinned_free};
    static int asked;
    if (!strcmp(name, COLLET_EXTENSION_MEMORY))
        return &memory;
    if (!strcmp(name, COLLET_EXTENSION_COPY))
        return &copy;
    if (!strcmp(name, COLLET_EXTENSION_PINNED))
        return &pinned;
    if (!strcmp(name, COLLET_EXTENSION_TIMING))
        return &timing;
    if (!strcmp(name, COLLET_EXTENSION_NATIVE))
        return &native;
    if (strcmp(name, COLLET_EXTENSION_TRIM) != 0)
        return NULL;
    return is("extension_short")                  ? &shorter
           : is("extension_reserved")             ? &reserved
           : is("extension_null")                 ? &null
           : is("extension_other") && asked++ % 2 ? &other
                                                  : &table;
}

/* ---- Kernels ----------------------------------------------------------------------------- */

static float *data(collet_device *d, const collet_operand *o)
{
    char *first = d->index == 1 ? o->buffer : ((collet_buffer *)o->buffer)->data;
    return (float *)(void *)(first + o->byte_offset);
}

static void misuse_call(const collet_kernel_call *call)
{
    keep("keeps_call", call);
    keep("keeps_operands", call->operands);
    keep("keeps_shape", call->operands[0].shape);
    keep("keeps_strides", call->operands[0].strides);
    keep("keeps_params", call->params);
    if (is("writes_call"))
        ((collet_operand *)(uintptr_t)call->operands)->byte_offset += 4;
    if (is("writes_params"))
        *(uint32_t *)(uintptr_t)call->params = 1;
}

static collet_status run(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    maybe_block();
    misuse_call(call);
    if (is("rounding"))
        fesetround(FE_UPWARD);
    if (is("run_fails"))
        return d->host->fail(call->err, COLLET_FAILED, "failed");
    if (is("lost"))
        return d->host->fail(call->err, COLLET_DEVICE_LOST, "gone");
    if (is("run_status"))
        return d->host->fail(call->err, COLLET_BUSY, "busy");
    float *out = data(d, &call->operands[0]);
    if (is("workspace_overrun"))
        ((char *)call->workspace)[call->workspace_bytes] = 0;
    if (is("refuses") || is("refuses_late")) {
        out[0] += (float)is("refuses_late");
        return d->host->fail(call->err, COLLET_REFUSED, "no");
    }
    for (int64_t i = 0; i < call->operands[0].shape[0]; i++)
        out[i] = call->n_in ? data(d, &call->operands[1])[i] : 3.0f;
    if (q)
        q->counter++;
    return COLLET_OK;
}

static collet_status accepts(collet_device *d, const collet_kernel_call *call,
                             uint64_t *workspace_bytes)
{
    keep("keeps_accepted", call);
    if (is("accepts_writes"))
        ((collet_operand *)(uintptr_t)call->operands)->byte_offset += 4;
    if (is("accepts_status"))
        return d->host->fail(call->err, COLLET_FAILED, "no");
    *workspace_bytes = 100;
    return COLLET_OK;
}

#define F COLLET_F32
static collet_kernel_row rows[] = {
    {.op = COLLET_OP_COPY, .sig = COLLET_SIG(F, F), .run = run},
    {.op = COLLET_OP_NEG, .sig = COLLET_SIG(F, F), .run = run, .accepts = accepts},
    {.op = COLLET_OP_FILL,
     .sig = COLLET_SIG(F),
     .params_size = COLLET_PARAMS_SIZE_FILL,
     .run = run},
};

void subject_reset(void)
{
    rows[0].flags = is("table") ? 1 : 0;
}

const collet_plugin subject = {.abi = COLLET_ABI,
                               .struct_size = sizeof subject,
                               .kernel_count = sizeof rows / sizeof *rows,
                               .kernel_size = sizeof *rows,
                               .name = "subject",
                               .version = "1",
                               .kernels = rows,
                               .capabilities = capabilities,
                               .device_open = device_open,
                               .device_close = device_close,
                               .device_supports = device_supports,
                               .buffer_alloc = buffer_alloc,
                               .buffer_free = buffer_free,
                               .buffer_write = buffer_write,
                               .buffer_read = buffer_read,
                               .queue_create = queue_create,
                               .queue_destroy = queue_destroy,
                               .queue_mark = queue_mark,
                               .queue_wait = queue_wait,
                               .queue_after = queue_after,
                               .extension = extension};
