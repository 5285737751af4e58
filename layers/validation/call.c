/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c */
#include "validation.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "poison.h"

/* ---- Violations -------------------------------------------------------------------------- */

static void say(const call *c, const char *text)
{
    char name[96] = "";
    const device *d = c->device ? c->device : c->opening;
    if (d)
        snprintf(name, sizeof name, "%.63s:%u ", d->of->below->name, d->index);
    if (c->host)
        c->host->log(c->host, COLLET_LOG_ERROR, "validation: %s%s: %s", name, c->slot, text);
}

void call_wrong(call *c, side by, const char *format, ...)
{
    char text[640];
    int length = snprintf(text, sizeof text, "%s: ", by == PLUGIN ? "plugin" : "libcore");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    say(c, text);
    if (c->wrong.status != COLLET_OK)
        return;
    c->wrong.status = COLLET_FAILED;
    memcpy(c->wrong.text, text, sizeof text);
}

/* Reports violations of earlier calls: a thread accessed memory of a call's arguments after the call had
 * returned. */
static void report_faults(const call *c)
{
    char text[256];
    const char *what;
    while ((what = poison_fault())) {
        snprintf(text, sizeof text,
                 "plugin: memory that a call of %s pointed to was accessed after it returned, or "
                 "beyond its end",
                 what);
        say(c, text);
    }
}

/* ---- A call ------------------------------------------------------------------------------ */

/* The plugin gets a separate error, so that the layer sees whether it is set. */
static void error_prepare(call *c)
{
    c->below_err = poison_take(sizeof *c->below_err, c->slot, &c->err_block);
    if (!c->below_err)
        c->below_err = &c->own_err;
    c->below_err->status = COLLET_OK;
    memset(c->below_err->text, 0, sizeof c->below_err->text);
}

static void clear(call *c, const char *slot, collet_error *err)
{
    memset(c, 0, offsetof(call, own_err));
    c->wrong.status = COLLET_OK;
    c->slot = slot;
    c->err = err;
    error_prepare(c);
}

void call_begin_unknown(call *c, const char *slot, const collet_host *host, collet_error *err)
{
    clear(c, slot, err);
    c->host = host;
}

int call_begin(call *c, const char *slot, collet_device *handle, collet_error *err)
{
    clear(c, slot, err);
    c->device = (device *)object_get(handle, OBJECT_DEVICE);
    if (!c->device) {
        device *any = (device *)object_first(OBJECT_DEVICE);
        c->host = any ? any->host : NULL;
        call_wrong(c, LIBCORE, "the device is %s", object_unknown(handle, OBJECT_DEVICE));
        object_put((object *)any);
        return 0;
    }
    device *d = c->device;
    c->host = d->host;
    c->lost = atomic_load(&d->lost);
    report_faults(c);
    if (atomic_fetch_add(&d->under_way, 1) && d->properties.threads == COLLET_THREADS_ONE) {
        call_wrong(c, LIBCORE, "another call is under way on a device with COLLET_THREADS_ONE");
        return 0;
    }
    return 1;
}

void call_enter(call *c)
{
    c->before = conduct_now();
    if (!collet_floating_equal(c->before.floating, collet_floating_default()))
        call_wrong(c, LIBCORE, "the thread is not in the floating-point state of plugin.h");
}

void call_left(call *c)
{
    char text[CONTRACT_TEXT];
    if (conduct_changed(&c->before, text))
        call_wrong(c, PLUGIN, "%s", text);
}

/* Does what host->fail does. Without a device the host is unknown, so host->fail cannot be called. */
static void COLLET_PRINTF(3, 4)
    error_set(collet_error *err, collet_status status, const char *format, ...)
{
    va_list arguments;
    if (!err)
        return;
    va_start(arguments, format);
    err->status = status;
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
}

collet_status call_status(call *c, collet_status status, uint32_t allowed)
{
    char text[CONTRACT_TEXT];
    call_left(c);
    if (c->lost && status != COLLET_DEVICE_LOST && allowed & CONTRACT_BIT(DEVICE_LOST))
        call_wrong(c, PLUGIN,
                   "it returned the status %d, but the device returned DEVICE_LOST before", status);
    if (status == COLLET_DEVICE_LOST && c->device)
        atomic_store(&c->device->lost, 1);
    if (contract_status(status, allowed, c->below_err, text))
        call_wrong(c, PLUGIN, "%s", text);
    return status;
}

static void release(call *c)
{
    object_put((object *)c->other);
    object_put((object *)c->queue);
    if (c->device)
        atomic_fetch_sub(&c->device->under_way, 1);
    object_put((object *)c->device);
}

collet_status call_end(call *c, collet_status status)
{
    if (c->wrong.status != COLLET_OK && status != COLLET_DEVICE_LOST)
        status = COLLET_FAILED;
    if (c->wrong.status != COLLET_OK)
        error_set(c->err, status, "validation: %s: %s", c->slot, c->wrong.text);
    else if (status != COLLET_OK)
        error_set(c->err, status, "%.*s", COLLET_ERROR_TEXT, c->below_err->text);
    if (c->queue && c->enqueues)
        atomic_store(&c->queue->enqueuing, 0);
    release(c);
    poison_release(c->err_block);
    return status;
}

/* ---- What a call names ------------------------------------------------------------------- */

int call_queue(call *c, collet_queue *handle, queue_use use)
{
    device *d = c->device;
    if (d->properties.order != COLLET_ORDER_QUEUES) {
        if (handle)
            call_wrong(c, LIBCORE, "a queue was passed for a synchronous device");
        return !handle;
    }
    c->queue = (queue *)object_get(handle, OBJECT_QUEUE);
    if (!c->queue || c->queue->device != d) {
        call_wrong(c, LIBCORE, "the queue is %s",
                   c->queue ? "a queue of another device" : object_unknown(handle, OBJECT_QUEUE));
        return 0;
    }
    if (use == WAITS)
        return 1;
    if (atomic_exchange(&c->queue->enqueuing, 1)) {
        call_wrong(c, LIBCORE, "another call enqueues in this queue");
        return 0;
    }
    c->enqueues = 1;
    return 1;
}

int call_own_queue(call *c, collet_queue *handle, queue_use use)
{
    if (c->device->properties.order == COLLET_ORDER_QUEUES)
        return call_queue(c, handle, use);
    call_wrong(c, LIBCORE, "a synchronous device has no queues");
    return 0;
}

collet_queue *call_queue_below(const call *c)
{
    return c->queue ? c->queue->below : NULL;
}

buffer *call_buffer(call *c, const device *of, collet_buffer *handle, const char *name, int writes)
{
    buffer *b = (buffer *)object_get(handle, OBJECT_BUFFER);
    if (!b || b->device != of) {
        call_wrong(c, LIBCORE, "%s is %s", name,
                   b ? "a buffer of another device" : object_unknown(handle, OBJECT_BUFFER));
        object_put((object *)b);
        return NULL;
    }
    if (writes ? object_write_begin(&b->object) : object_read_allowed(&b->object))
        return b;
    call_wrong(c, LIBCORE, "%s is in use by another call%s", name,
               writes ? "" : ", which writes it");
    object_put((object *)b);
    return NULL;
}

void call_release_buffer(buffer *b, int writes)
{
    if (b && writes)
        object_write_end(&b->object);
    object_put((object *)b);
}

int call_range(call *c, const buffer *b, const char *name, uint64_t offset, uint64_t bytes)
{
    if (bytes && offset <= b->bytes && bytes <= b->bytes - offset)
        return 1;
    call_wrong(c, LIBCORE, "bytes %" PRIu64 " to %" PRIu64 " of %s, which has %" PRIu64, offset,
               offset + bytes, name, b->bytes);
    return 0;
}
