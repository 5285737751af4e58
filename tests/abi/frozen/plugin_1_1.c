/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of frozen_1_1.x86_64.so, compiled once, with interface 1.1, and never again: libcore
 * must still load the binary. Two devices with separate memory and without queues; a result of the
 * probe is returned to it as a choice. For reading only. Compiled by
 *   gcc -std=gnu11 -O2 -fPIC -shared -fvisibility=hidden -s -Wa,-I,tests/abi/frozen \
 *       -Wl,--version-script=cmake/plugin.map -Iinclude tests/abi/frozen/plugin_1_1.c \
 *       -o tests/abi/frozen/frozen_1_1.x86_64.so
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/plugin.h>

COLLET_PLUGIN_MANIFEST("manifest_1_1.json");

struct collet_device {
    const collet_host *host;
    uint32_t index;
    uint64_t current, peak;
};

/* The bytes follow the handle. */
struct collet_buffer {
    uint64_t bytes;
    _Alignas(64) unsigned char data[];
};

static collet_status capabilities(const collet_host *host, char *json, uint64_t capacity,
                                  uint64_t *needed, collet_error *err)
{
    char text[300];
    (void)host;
    (void)err;
    int length = snprintf(text, sizeof text,
                          "{\"jit\": false, \"parallel\": false, \"gpu\": true, "
                          "\"device_count\": 2, \"choices\": {\"answer\": \"42\"}, "
                          "\"devices\": [{\"name\": \"frozen\"}, {\"name\": \"frozen too\"}]}");
    *needed = (uint64_t)length + 1;
    if (capacity >= *needed)
        memcpy(json, text, *needed);
    return COLLET_OK;
}

static collet_status device_open(const collet_host *host, uint32_t index, collet_device **device,
                                 collet_error *err)
{
    const char *choice = host->config(host, "frozen_1_1.answer");
    if (!choice || strcmp(choice, "42"))
        return host->fail(err, COLLET_UNAVAILABLE, "the choice is %s", choice ? choice : "absent");
    *device = calloc(1, sizeof **device);
    if (!*device)
        return host->fail(err, COLLET_NO_MEMORY, "no memory for a device");
    (*device)->host = host;
    (*device)->index = index;
    return COLLET_OK;
}

static void device_close(collet_device *d)
{
    free(d);
}

static collet_status buffer_alloc(collet_device *d, uint64_t bytes, collet_buffer **buffer,
                                  collet_error *err)
{
    collet_buffer *b = malloc(sizeof *b + bytes);
    if (!b)
        return d->host->fail(err, COLLET_REFUSED, "no memory for a buffer");
    b->bytes = bytes;
    d->current += bytes;
    d->peak = d->current > d->peak ? d->current : d->peak;
    *buffer = b;
    return COLLET_OK;
}

static void buffer_free(collet_device *d, collet_buffer *b)
{
    if (b)
        d->current -= b->bytes;
    free(b);
}

static collet_status buffer_write(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err)
{
    (void)d;
    (void)q;
    (void)err;
    memcpy(b->data + offset, source, bytes);
    return COLLET_OK;
}

static collet_status buffer_read(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err)
{
    (void)d;
    (void)q;
    (void)err;
    memcpy(target, b->data + offset, bytes);
    return COLLET_OK;
}

static collet_status buffer_copy(collet_device *d, collet_queue *q, collet_buffer *target,
                                 uint64_t target_offset, collet_buffer *source,
                                 uint64_t source_offset, uint64_t bytes, collet_error *err)
{
    return buffer_write(d, q, target, target_offset, source->data + source_offset, bytes, err);
}

static collet_status buffer_fill(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, uint64_t bytes, const void *pattern,
                                 uint32_t pattern_bytes, collet_error *err)
{
    (void)d;
    (void)q;
    (void)err;
    for (uint64_t i = 0; i < bytes; i++)
        b->data[offset + i] = ((const unsigned char *)pattern)[i % pattern_bytes];
    return COLLET_OK;
}

static collet_status memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err)
{
    (void)err;
    stats->current = stats->reserved = d->current;
    stats->peak = d->peak;
    return COLLET_OK;
}

static float *element(const collet_operand *o, int64_t i)
{
    collet_buffer *b = o->buffer;
    return (float *)(void *)(b->data + o->byte_offset) + i * o->strides[0];
}

/* f32 addition of one merged axis. */
static collet_status add(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    const collet_operand *o = call->operands;
    (void)q;
    if (o[0].ndim != 1)
        return d->host->fail(call->err, COLLET_REFUSED, "frozen: %d axes", (int)o[0].ndim);
    for (int64_t i = 0; i < o[0].shape[0]; i++)
        *element(&o[0], i) = *element(&o[1], i) + *element(&o[2], i);
    return COLLET_OK;
}

static const collet_kernel_row kernels[] = {
    {COLLET_OP_ADD, 0, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), add, NULL},
};

static const collet_plugin plugin = {
    .abi = 1u << 16 | 1u,
    .struct_size = offsetof(collet_plugin, buffer_copy_between),
    .flags = COLLET_PLUGIN_SYNCHRONOUS,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .kernel_size = sizeof *kernels,
    .name = "frozen_1_1",
    .version = "1.1",
    .kernels = kernels,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
    .buffer_alloc = buffer_alloc,
    .buffer_free = buffer_free,
    .buffer_write = buffer_write,
    .buffer_read = buffer_read,
    .buffer_copy = buffer_copy,
    .buffer_fill = buffer_fill,
    .memory_stats = memory_stats,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
