/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

/* ---- collet.copy/1 ----------------------------------------------------------------------- */

static const collet_copy_extension copy_extension = {sizeof copy_extension, 0, remote_copy_between};

/* ---- collet.memory/1 --------------------------------------------------------------------- */

static collet_status memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err)
{
    pthread_mutex_lock(&d->lock);
    stats->current = d->stats.current;
    stats->held = d->stats.current + d->kept;
    stats->peak = d->stats.peak;
    stats->total = stats->available = 0;
    pthread_mutex_unlock(&d->lock);
    return COLLET_OK;
}

static void memory_reset_peak(collet_device *d)
{
    pthread_mutex_lock(&d->lock);
    d->stats.peak = d->stats.current;
    pthread_mutex_unlock(&d->lock);
}

static const collet_memory_extension memory_extension = {sizeof memory_extension, 0, memory_stats,
                                                         memory_reset_peak};

/* ---- collet.native/1 --------------------------------------------------------------------- */

#define DLPACK_EXTENSION 12

static collet_status native_device(collet_device *d, collet_native_device *native,
                                   collet_error *err)
{
    native->dlpack_type = DLPACK_EXTENSION;
    native->dlpack_id = (int32_t)d->index;
    native->api = "remote";
    native->context = native->device = d;
    return COLLET_OK;
}

static collet_status native_buffer(collet_device *d, collet_buffer *b, void **handle,
                                   collet_error *err)
{
    *handle = b->data;
    return COLLET_OK;
}

static collet_status native_import(collet_device *d, collet_buffer **buffer, void *handle,
                                   uint64_t offset, uint64_t bytes, uint32_t element,
                                   collet_error *err)
{
    if (((uintptr_t)handle + offset) % element)
        return d->host->fail(err, COLLET_INVALID, "%p + %llu is not aligned to %u bytes", handle,
                             (unsigned long long)offset, element);
    collet_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for a buffer");
    b->device = d;
    b->bytes = bytes;
    b->foreign = 1;
    b->data = (unsigned char *)handle + offset;
    b->serial = next_serial(d);
    *buffer = b;
    return COLLET_OK;
}

static const collet_native_extension native_extension = {
    .struct_size = sizeof native_extension,
    .device = native_device,
    .queue = remote_native_queue_of,
    .queue_used = remote_native_queue_used,
    .buffer = native_buffer,
    .buffer_import = native_import,
};

/* ---- collet.pinned/1 --------------------------------------------------------------------- */

static collet_status pinned_alloc(collet_device *d, void **address, void **handle, uint64_t bytes,
                                  collet_error *err)
{
    *address = bytes < 1 << 20 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    if (!*address)
        return d->host->fail(err, COLLET_REFUSED, "no %llu bytes of page-locked memory",
                             (unsigned long long)bytes);
    *handle = d;
    return COLLET_OK;
}

/* Aborts if the handle does not belong to the allocation. */
static void pinned_free(collet_device *d, void *address, void *handle)
{
    if (handle != d)
        abort();
    free(address);
}

static const collet_pinned_extension pinned_extension = {sizeof pinned_extension, 0, pinned_alloc,
                                                         pinned_free};

/* ---- collet.trim/1 ----------------------------------------------------------------------- */

static void trim(collet_device *d)
{
    pthread_mutex_lock(&d->lock);
    d->kept = 0;
    pthread_mutex_unlock(&d->lock);
}

static const collet_trim_extension trim_extension = {sizeof trim_extension, 0, trim};

/* ---- The list ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const void *table;
    uint32_t size;
} offered[] = {
    {COLLET_EXTENSION_COPY, &copy_extension, sizeof copy_extension},
    {COLLET_EXTENSION_MEMORY, &memory_extension, sizeof memory_extension},
    {COLLET_EXTENSION_NATIVE, &native_extension, sizeof native_extension},
    {COLLET_EXTENSION_PINNED, &pinned_extension, sizeof pinned_extension},
    {COLLET_EXTENSION_TIMING, &remote_timing, sizeof remote_timing},
    {COLLET_EXTENSION_TRIM, &trim_extension, sizeof trim_extension},
};

/* A copy of the table with the fault that the setting remote.extension names. */
static const void *spoiled(collet_device *d, const void *table, uint32_t size, const char *fault)
{
    unsigned char *copy = d->spoiled;
    memcpy(copy, table, size);
    if (!strcmp(fault, "absent"))
        return NULL;
    if (!strcmp(fault, "short"))
        size--;
    else if (!strcmp(fault, "reserved"))
        copy[4] = 1;
    else
        memset(copy + size - sizeof(void (*)(void)), 0, sizeof(void (*)(void)));
    memcpy(copy, &size, sizeof size);
    return copy;
}

const void *remote_extension(collet_device *d, const char *name)
{
    char which[64] = "", fault[16] = "";
    const char *set = d->host->config(d->host, "remote.extension");
    if (set)
        sscanf(set, "%63s %15s", which, fault);
    for (size_t i = 0; i < sizeof offered / sizeof *offered; i++)
        if (!strcmp(offered[i].name, name))
            return strcmp(which, name) ? offered[i].table
                                       : spoiled(d, offered[i].table, offered[i].size, fault);
    return NULL;
}
