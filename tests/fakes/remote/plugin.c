/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test backend that behaves like a GPU: two devices with memory that the host cannot access
 * (opaque handles) and asynchronous queues, each run by a thread. Settings (manifest.json) make it
 * fail on demand. Its op remote.plus adds the second input if it is present.
 */
#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

COLLET_PLUGIN_MANIFEST("manifest.json");

static int64_t setting(const collet_host *host, const char *key)
{
    return strtoll(host->config(host, key), NULL, 10);
}

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    /* Only device 0 is described. */
    static const char described[] =
        "\", \"vendor\": \"nobody\", \"driver_version\": \"7\","
        " \"memory_space\": \"own\", \"asynchronous\": true, \"memory_total\": 9007199254740992,"
        " \"memory_largest_buffer\": 3, \"cache_bytes\": -1, \"compute_units\": 4,"
        " \"clock_mhz\": \"fast\"";
    char text[4096];
    int64_t count = setting(host, "remote.devices");
    int length = snprintf(text, sizeof text,
                          "{\"jit\": false, \"parallel\": false, \"gpu\": true, "
                          "\"device_count\": %d, \"devices\": [",
                          (int)count);
    for (int64_t i = 0; i < count; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%s{\"name\": \"remote %d\"%s%s%s}", i ? ", " : "",
                           setting(host, "remote.alike") ? 0 : (int)i, i ? "" : ", \"type\": \"",
                           i ? "" : host->config(host, "remote.type"), i ? "" : described);
    length += snprintf(text + length, sizeof text - (size_t)length, "]}");
    *needed = (uint64_t)length + 1;
    if (capacity >= *needed)
        memcpy(json, text, *needed);
    return COLLET_OK;
}

static collet_status device_open(const collet_plugin *self, collet_device **out,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    host->log(host, COLLET_LOG_WARNING, "remote: opening device %u", index);
    if (index >= setting(host, "remote.devices"))
        return host->fail(err, COLLET_UNAVAILABLE, "there is no device %u", index);
    if (setting(host, "remote.closed")) {
        host->log_text(host, COLLET_LOG_WARNING, "remote: closed to 100 %s");
        return host->fail_text(err, COLLET_UNAVAILABLE, "remote.closed is set: 100 %s");
    }
    if (host->extension(host, "nobody.nothing/1"))
        return host->fail(err, COLLET_UNAVAILABLE, "the host has an extension that nobody defined");
    collet_device *d = calloc(1, sizeof *d);
    if (!d)
        return host->fail(err, COLLET_NO_MEMORY, "no memory for device %u", index);
    d->host = host;
    d->index = index;
    d->memory = setting(host, "remote.memory");
    d->refuse = setting(host, "remote.refuse");
    d->fail = host->config(host, "remote.fail");
    const char *control = host->config(host, "remote.control");
    d->control = control ? (remote_control *)(uintptr_t)strtoull(control, NULL, 16) : NULL;
    d->status = (collet_status)setting(host, "remote.status");
    int64_t faulty = setting(host, "remote.faulty");
    d->lose = faulty == index || faulty == INT32_MAX ? setting(host, "remote.lose") : INT32_MAX;
    d->hang = setting(host, "remote.hang");
    d->hoards = setting(host, "remote.hoards");
    d->apart = setting(host, "remote.apart");
    d->delay_us = setting(host, "remote.delay_us");
    d->kernel_ns = setting(host, "remote.kernel_ns");
    pthread_mutex_init(&d->lock, NULL);
    properties->memory = COLLET_MEMORY_OWN;
    int synchronous = setting(host, "remote.synchronous") != 0;
    properties->order = synchronous ? COLLET_ORDER_SYNCHRONOUS : COLLET_ORDER_QUEUES;
    properties->threads =
        setting(host, "remote.one_call") ? COLLET_THREADS_ONE : COLLET_THREADS_ANY;
    if (synchronous && remote_queue_create(d, &d->inner, err) != COLLET_OK) {
        free(d);
        return COLLET_NO_MEMORY;
    }
    *out = d;
    return COLLET_OK;
}

static void device_close(collet_device *d)
{
    if (!d)
        return;
    remote_queue_destroy(d, d->inner);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static collet_status buffer_alloc(collet_device *d, collet_buffer **out, uint64_t bytes,
                                  collet_error *err)
{
    collet_buffer *b = NULL;
    pthread_mutex_lock(&d->lock);
    uint64_t used = d->stats.current + (d->hoards ? d->kept : 0);
    int fits = bytes <= INT64_MAX && (int64_t)bytes <= d->memory - (int64_t)used;
    if (fits)
        b = calloc(1, sizeof *b + bytes);
    if (b) {
        b->device = d;
        b->bytes = bytes;
        b->data = b->own;
        b->serial = next_serial(d);
        b->next = d->buffers;
        d->buffers = b;
        d->stats.current += bytes;
        if (d->stats.current > d->stats.peak)
            d->stats.peak = d->stats.current;
    }
    pthread_mutex_unlock(&d->lock);
    if (!b)
        return d->host->fail(err, COLLET_REFUSED, "%llu bytes do not fit in the device's memory",
                             (unsigned long long)bytes);
    *out = b;
    return COLLET_OK;
}

uint64_t next_serial(collet_device *d)
{
    return d->control ? atomic_fetch_add(&d->control->serial, 1) + 1 : 0;
}

void buffer_count(collet_buffer *b, int64_t change)
{
    pthread_mutex_lock(&b->device->lock);
    b->commands += change;
    pthread_mutex_unlock(&b->device->lock);
}

/* Aborts if libcore frees memory that a command uses. */
static void buffer_free(collet_device *d, collet_buffer *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&d->lock);
    if (b->commands) {
        fprintf(stderr, "remote: a buffer is freed that %lld commands use\n",
                (long long)b->commands);
        abort();
    }
    collet_buffer **at = &d->buffers;
    while (*at && *at != b)
        at = &(*at)->next;
    if (*at)
        *at = b->next;
    d->stats.current -= b->foreign ? 0 : b->bytes;
    d->kept += b->foreign ? 0 : b->bytes;
    pthread_mutex_unlock(&d->lock);
    free(b);
}

#define F COLLET_F32
#define D COLLET_F64
static const collet_kernel_row kernels[] = {
    COLLET_ROW(COPY, COLLET_SIG(F, F), remote_run, NULL),
    COLLET_ROW(COPY, COLLET_SIG(D, D), remote_run, NULL),
    COLLET_ROW(ADD, COLLET_SIG(F, F, F), remote_run, NULL),
    COLLET_ROW(ADD, COLLET_SIG(D, D, D), remote_run, NULL),
    COLLET_ROW(FILL, COLLET_SIG(F), remote_run, NULL),
    COLLET_ROW(MUL, COLLET_SIG(F, F, F), remote_run, NULL),
    {.op = COLLET_OWN_OP(0),
     .sig = COLLET_SIG(F, F, F),
     .run = remote_run,
     .accepts = remote_accepts},
};

static const collet_ops_definition ops[] = {
    {.name = "remote.plus", .shapes = "... : ... ...?", .sigs = "f:ff"}};

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof plugin,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .kernel_size = sizeof *kernels,
    .ops = ops,
    .op_count = 1,
    .op_size = sizeof(collet_ops_definition),
    .name = "remote",
    .version = "1.0",
    .kernels = kernels,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
    .buffer_alloc = buffer_alloc,
    .buffer_free = buffer_free,
    .buffer_write = remote_write,
    .buffer_read = remote_read,
    .queue_create = remote_queue_create,
    .queue_destroy = remote_queue_destroy,
    .queue_mark = remote_queue_mark,
    .queue_wait = remote_queue_wait,
    .queue_after = remote_queue_after,
    .extension = remote_extension,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
