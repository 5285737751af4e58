/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c */
#include "validation.h"

#include <stdlib.h>
#include <string.h>

#include <collet/extensions.h>

/* ---- collet.memory/1 --------------------------------------------------------------------- */

#define REST 64 /* bytes after the statistics that must not change */

static collet_status memory_stats(collet_device *named, collet_memory_stats *stats,
                                  collet_error *err)
{
    call c;
    char text[CONTRACT_TEXT];
    collet_status status = COLLET_FAILED;
    struct {
        collet_memory_stats stats;
        char rest[REST];
    } own = {.rest = ""};
    if (!call_begin(&c, COLLET_EXTENSION_MEMORY " stats", named, err))
        return call_end(&c, status);
    if (!stats || stats->struct_size < sizeof *stats) {
        call_wrong(&c, LIBCORE, stats ? "struct_size is too small" : "`stats` is NULL");
        return call_end(&c, status);
    }
    const collet_memory_extension *below = c.device->extensions[EXTENSION_MEMORY];
    uint64_t before = atomic_load(&c.device->bytes);
    memcpy(&own.stats, stats, sizeof own.stats);
    own.stats.struct_size = sizeof own.stats;
    call_enter(&c);
    status = below->stats(c.device->below, &own.stats, c.below_err);
    status = call_status(&c, status, CONTRACT_REPORT);
    uint64_t after = atomic_load(&c.device->bytes), least = before < after ? before : after;
    if (status == COLLET_OK && contract_stats(&own.stats, sizeof own.stats, text))
        call_wrong(&c, PLUGIN, "%s", text);
    if (status == COLLET_OK && own.stats.current < least)
        call_wrong(&c, PLUGIN, "current is %llu, but the buffers have %llu bytes",
                   (unsigned long long)own.stats.current, (unsigned long long)least);
    for (size_t i = 0; i < REST; i++)
        if (own.rest[i]) {
            call_wrong(&c, PLUGIN, "it wrote beyond struct_size");
            break;
        }
    own.stats.struct_size = stats->struct_size;
    memcpy(stats, &own.stats, sizeof own.stats);
    return call_end(&c, status);
}

static void memory_reset_peak(collet_device *named)
{
    call c;
    if (call_begin(&c, COLLET_EXTENSION_MEMORY " reset_peak", named, NULL)) {
        const collet_memory_extension *below = c.device->extensions[EXTENSION_MEMORY];
        call_enter(&c);
        below->reset_peak(c.device->below);
        call_left(&c);
    }
    call_end(&c, COLLET_OK);
}

static const collet_memory_extension memory_table = {sizeof memory_table, 0, memory_stats,
                                                     memory_reset_peak};

/* ---- collet.trim/1 ----------------------------------------------------------------------- */

static void trim(collet_device *named)
{
    call c;
    if (call_begin(&c, COLLET_EXTENSION_TRIM, named, NULL)) {
        const collet_trim_extension *below = c.device->extensions[EXTENSION_TRIM];
        call_enter(&c);
        below->trim(c.device->below);
        call_left(&c);
    }
    call_end(&c, COLLET_OK);
}

static const collet_trim_extension trim_table = {sizeof trim_table, 0, trim};

/* ---- collet.explain/1 -------------------------------------------------------------------- */

static void explain(collet_device *named, const collet_kernel_call *of, char *text,
                    uint64_t capacity)
{
    call c;
    if (call_begin(&c, COLLET_EXTENSION_EXPLAIN, named, NULL)) {
        const collet_explain_extension *below = c.device->extensions[EXTENSION_EXPLAIN];
        if (!of || !text || !capacity) {
            call_wrong(&c, LIBCORE, "the call or the text is NULL, or the capacity is 0");
            call_end(&c, COLLET_OK);
            return;
        }
        call_enter(&c);
        below->explain(c.device->below, of, text, capacity);
        call_left(&c);
        if (strnlen(text, capacity) == capacity)
            call_wrong(&c, PLUGIN, "the text has no NUL");
    }
    call_end(&c, COLLET_OK);
}

static const collet_explain_extension explain_table = {sizeof explain_table, 0, explain};

/* ---- collet.pinned/1 --------------------------------------------------------------------- */

static int pinned_note(call *c, void *address, void *handle)
{
    device *d = c->device;
    pinned *p = malloc(sizeof *p);
    if (!p)
        return 0;
    pthread_mutex_lock(&d->lock);
    *p = (pinned){address, handle, d->pinned};
    d->pinned = p;
    pthread_mutex_unlock(&d->lock);
    return 1;
}

static int pinned_take(call *c, const void *address, const void *handle)
{
    device *d = c->device;
    pthread_mutex_lock(&d->lock);
    pinned **at = &d->pinned;
    while (*at && ((*at)->address != address || (*at)->handle != handle))
        at = &(*at)->next;
    pinned *p = *at;
    if (p)
        *at = p->next;
    pthread_mutex_unlock(&d->lock);
    if (!p)
        call_wrong(c, LIBCORE, "the memory was not returned by alloc, or was freed before");
    free(p);
    return p != NULL;
}

uint32_t pinned_forget(device *d)
{
    uint32_t count = 0;
    for (pinned *p; (p = d->pinned); count++) {
        d->pinned = p->next;
        free(p);
    }
    return count;
}

static collet_status pinned_alloc(collet_device *named, void **address, void **handle,
                                  uint64_t bytes, collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    if (!call_begin(&c, COLLET_EXTENSION_PINNED " alloc", named, err))
        return call_end(&c, status);
    if (!bytes || !address || !handle) {
        call_wrong(&c, LIBCORE, bytes ? "the address of the result is NULL" : "bytes is 0");
        return call_end(&c, status);
    }
    const collet_pinned_extension *below = c.device->extensions[EXTENSION_PINNED];
    call_enter(&c);
    status = below->alloc(c.device->below, address, handle, bytes, c.below_err);
    status = call_status(&c, status, CONTRACT_ENQUEUE);
    if (status == COLLET_OK && (!*address || (uintptr_t)*address % 64))
        call_wrong(&c, PLUGIN, "the address %p is NULL or not aligned to 64 bytes", *address);
    if (status == COLLET_OK && c.wrong.status == COLLET_OK && !pinned_note(&c, *address, *handle))
        call_wrong(&c, LIBCORE, "the layer is out of memory");
    if (status == COLLET_OK && c.wrong.status != COLLET_OK)
        below->free(c.device->below, *address, *handle);
    return call_end(&c, status);
}

static void pinned_free(collet_device *named, void *address, void *handle)
{
    call c;
    if (call_begin(&c, COLLET_EXTENSION_PINNED " free", named, NULL) &&
        pinned_take(&c, address, handle)) {
        const collet_pinned_extension *below = c.device->extensions[EXTENSION_PINNED];
        call_enter(&c);
        below->free(c.device->below, address, handle);
        call_left(&c);
    }
    call_end(&c, COLLET_OK);
}

static const collet_pinned_extension pinned_table = {sizeof pinned_table, 0, pinned_alloc,
                                                     pinned_free};

/* ---- collet.batch/1 ---------------------------------------------------------------------- */

static void batch_begin(collet_device *named, collet_queue *in, const void *key)
{
    call c;
    if (call_begin(&c, COLLET_EXTENSION_BATCH " begin", named, NULL) &&
        call_own_queue(&c, in, ENQUEUES)) {
        const collet_batch_extension *below = c.device->extensions[EXTENSION_BATCH];
        call_enter(&c);
        below->begin(c.device->below, c.queue->below, key);
        call_left(&c);
    }
    call_end(&c, COLLET_OK);
}

static void batch_end(collet_device *named, collet_queue *in)
{
    call c;
    if (call_begin(&c, COLLET_EXTENSION_BATCH " end", named, NULL) &&
        call_own_queue(&c, in, ENQUEUES)) {
        const collet_batch_extension *below = c.device->extensions[EXTENSION_BATCH];
        call_enter(&c);
        below->end(c.device->below, c.queue->below);
        call_left(&c);
    }
    call_end(&c, COLLET_OK);
}

static const collet_batch_extension batch_table = {sizeof batch_table, 0, batch_begin, batch_end};

/* ---- The slot ---------------------------------------------------------------------------- */

static const struct known {
    const char *name;
    const void *table;
    uint32_t size;
} known[] = {
    [EXTENSION_BATCH] = {COLLET_EXTENSION_BATCH, &batch_table, sizeof batch_table},
    [EXTENSION_MEMORY] = {COLLET_EXTENSION_MEMORY, &memory_table, sizeof memory_table},
    [EXTENSION_COPY] = {COLLET_EXTENSION_COPY, &validation_copy, sizeof validation_copy},
    [EXTENSION_EXPLAIN] = {COLLET_EXTENSION_EXPLAIN, &explain_table, sizeof explain_table},
    [EXTENSION_NATIVE] = {COLLET_EXTENSION_NATIVE, &validation_native, sizeof validation_native},
    [EXTENSION_PINNED] = {COLLET_EXTENSION_PINNED, &pinned_table, sizeof pinned_table},
    [EXTENSION_TIMING] = {COLLET_EXTENSION_TIMING, &validation_timing, sizeof validation_timing},
    [EXTENSION_TRIM] = {COLLET_EXTENSION_TRIM, &trim_table, sizeof trim_table},
};

/* The backend's table; NULL if libcore would not use it. */
static const void *ask(call *c, extension_kind kind)
{
    device *d = c->device;
    const struct known *k = &known[kind];
    char text[CONTRACT_TEXT];
    call_enter(c);
    const void *table = d->of->below->extension(d->below, k->name);
    call_left(c);
    if (d->extensions[kind] && d->extensions[kind] != table)
        call_wrong(c, PLUGIN, "the slot returned a different table for %s than before", k->name);
    if (!table)
        return NULL;
    if (contract_table(table, k->size, text)) {
        call_wrong(c, PLUGIN, "the table of %s has %s", k->name, text);
        return NULL;
    }
    d->extensions[kind] = table;
    return k->table;
}

/* The layer cannot replace the handles in calls of unknown extensions, so it hides them. */
const void *validation_extension(collet_device *named, const char *name)
{
    call c;
    const void *table = NULL;
    if (call_begin(&c, "extension", named, NULL)) {
        if (!name)
            call_wrong(&c, LIBCORE, "the name is NULL");
        for (uint32_t kind = 0; name && kind < sizeof known / sizeof *known; kind++)
            if (!strcmp(known[kind].name, name))
                table = ask(&c, kind);
    }
    call_end(&c, COLLET_OK);
    return table;
}
