/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c */
#include "validation.h"

#include <stdlib.h>

#include "poison.h"

/* Copies to libcore's struct the properties that the plugin has set. */
static void take_properties(call *c, const collet_device_properties *from, uint32_t size,
                            collet_device_properties *to)
{
    if (from->struct_size != size)
        call_wrong(c, PLUGIN, "it changed the properties' struct_size");
    to->memory = from->memory;
    to->order = from->order;
    to->threads = from->threads;
    to->max_queues = from->max_queues;
    to->reserved = from->reserved;
}

static collet_status open_below(call *c, device *d, collet_device_properties *properties,
                                const char *name)
{
    poison_block *block;
    const collet_plugin *below = d->of->below;
    collet_device_properties own = {.struct_size = sizeof own};
    collet_device_properties *copy;
    copy = poison_take(sizeof own, c->slot, &block);
    copy = copy ? copy : &own;
    *copy = own;
    call_enter(c);
    collet_status status =
        below->device_open(below, &d->below, copy, d->host, d->index, name, c->below_err);
    status = call_status(c, status, CONTRACT_OPEN);
    if (status == COLLET_OK) {
        take_properties(c, copy, sizeof own, properties);
        d->properties = *copy;
    }
    poison_release(block);
    if (status == COLLET_OK && !d->below)
        call_wrong(c, PLUGIN, "it returned OK and no device");
    return status;
}

static void device_free(device *d)
{
    free(d->supported);
    free(d);
}

/* The device has no handle while it is being opened. */
collet_status validation_device_open(const collet_plugin *self, collet_device **out,
                                     collet_device_properties *properties, const collet_host *host,
                                     uint32_t index, const char *name, collet_error *err)
{
    call c;
    instance *of = instance_of(self);
    device *d = calloc(1, sizeof *d);
    collet_status status = COLLET_FAILED;
    call_begin_unknown(&c, "device_open", host, err);
    if (!d || !of || !out || !properties) {
        call_wrong(&c, LIBCORE,
                   !d    ? "the layer is out of memory"
                   : !of ? "`self` is not the table that is called"
                         : "`device` or `properties` is NULL");
        free(d);
        return call_end(&c, status);
    }
    d->of = of;
    d->host = host;
    d->index = index;
    c.opening = d;
    instance_check(&c, of);
    pthread_mutex_init(&d->lock, NULL);
    d->supported = calloc(of->below->kernel_count + 1u, sizeof *d->supported);
    if (d->supported) {
        for (uint32_t row = 0; row < of->below->kernel_count; row++)
            d->supported[row] = of->below->device_supports ? UNASKED : 1;
        status = open_below(&c, d, properties, name);
    }
    if (status == COLLET_OK && d->below && c.wrong.status != COLLET_OK) {
        of->below->device_close(d->below);
        status = COLLET_FAILED;
    }
    if (status == COLLET_OK && d->below)
        *out = d->handle = object_add(&d->object, OBJECT_DEVICE);
    status = call_end(&c, status);
    if (status != COLLET_OK)
        device_free(d);
    return status;
}

void validation_device_close(collet_device *named)
{
    call c;
    if (!named)
        return;
    if (!call_begin(&c, "device_close", named, NULL)) {
        call_end(&c, COLLET_OK);
        return;
    }
    device *d = c.device;
    uint32_t queues = atomic_load(&d->queues), buffers = atomic_load(&d->buffers);
    uint32_t locked = pinned_forget(d);
    if (queues || buffers)
        call_wrong(&c, LIBCORE, "%u queues and %u buffers of the device were not freed before",
                   queues, buffers);
    if (locked)
        call_wrong(&c, LIBCORE, "%u allocations of collet.pinned/1 were not freed before", locked);
    instance_check(&c, d->of);
    if (!object_remove(&d->object)) {
        call_wrong(&c, LIBCORE, "another call uses the device; it is not closed");
    } else {
        call_enter(&c);
        d->of->below->device_close(d->below);
        call_left(&c);
        free(d->supported);
    }
    call_end(&c, COLLET_OK);
}

int32_t validation_device_supports(collet_device *named, uint32_t row)
{
    call c;
    int32_t supported = 0;
    if (call_begin(&c, "device_supports", named, NULL)) {
        device *d = c.device;
        if (row >= d->of->below->kernel_count) {
            call_wrong(&c, LIBCORE, "there is no row %u", row);
        } else {
            call_enter(&c);
            supported = d->of->below->device_supports(d->below, row);
            call_left(&c);
            uint8_t before = atomic_exchange(&d->supported[row], supported != 0);
            if (before != UNASKED && before != supported)
                call_wrong(&c, PLUGIN, "it returned %d for row %u, but %u before", supported, row,
                           before);
        }
        if (supported != 0 && supported != 1)
            call_wrong(&c, PLUGIN, "it returned %d for row %u; it must return 0 or 1", supported,
                       row);
    }
    call_end(&c, COLLET_OK);
    return supported;
}
