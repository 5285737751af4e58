/* SPDX-License-Identifier: Apache-2.0 */
/* collet.native/1
 * Tests: tests/layers/test_validation.c */
#include <collet/extensions.h>

#include <string.h>

#include "validation.h"

#define REST 64 /* bytes after the struct that must not change */

static const collet_native_extension *below_of(const call *c)
{
    return c->device->extensions[EXTENSION_NATIVE];
}

static int pointer_given(call *c, const void *pointer)
{
    if (!pointer)
        call_wrong(c, LIBCORE, "the address of the result is NULL");
    return pointer != NULL;
}

static collet_status native_device(collet_device *named, collet_native_device *native,
                                   collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    if (!call_begin(&c, COLLET_EXTENSION_NATIVE " device", named, err) ||
        !pointer_given(&c, native))
        return call_end(&c, status);
    struct {
        collet_native_device native;
        char rest[REST];
    } own = {.native = {.struct_size = sizeof own.native}};
    if (native->struct_size < sizeof *native) {
        call_wrong(&c, LIBCORE, "struct_size is too small");
        return call_end(&c, status);
    }
    call_enter(&c);
    status = below_of(&c)->device(c.device->below, &own.native, c.below_err);
    status = call_status(&c, status, CONTRACT_REPORT);
    if (own.native.struct_size != sizeof own.native || own.native.reserved)
        call_wrong(&c, PLUGIN, "it changed struct_size or reserved");
    if (status == COLLET_OK && !own.native.api)
        call_wrong(&c, PLUGIN, "`api` is NULL");
    for (size_t i = 0; i < REST; i++)
        if (own.rest[i]) {
            call_wrong(&c, PLUGIN, "it wrote beyond struct_size");
            break;
        }
    own.native.struct_size = native->struct_size;
    memcpy(native, &own.native, sizeof own.native);
    return call_end(&c, status);
}

static collet_status native_queue(collet_device *named, collet_queue *in, void **handle,
                                  collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    if (call_begin(&c, COLLET_EXTENSION_NATIVE " queue", named, err) && pointer_given(&c, handle) &&
        call_own_queue(&c, in, WAITS)) {
        call_enter(&c);
        status = below_of(&c)->queue(c.device->below, call_queue_below(&c), handle, c.below_err);
        status = call_status(&c, status, CONTRACT_REPORT);
    }
    return call_end(&c, status);
}

static collet_status native_queue_used(collet_device *named, collet_queue *in, collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    if (call_begin(&c, COLLET_EXTENSION_NATIVE " queue_used", named, err) &&
        call_own_queue(&c, in, ENQUEUES)) {
        call_enter(&c);
        status = below_of(&c)->queue_used(c.device->below, call_queue_below(&c), c.below_err);
        status = call_status(&c, status, CONTRACT_ENQUEUE);
        queue_used(c.queue, NULL);
    }
    return call_end(&c, status);
}

static collet_status native_buffer(collet_device *named, collet_buffer *of, void **handle,
                                   collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    buffer *b = NULL;
    if (call_begin(&c, COLLET_EXTENSION_NATIVE " buffer", named, err) &&
        pointer_given(&c, handle) && (b = call_buffer(&c, c.device, of, "the buffer", 0))) {
        call_enter(&c);
        status = below_of(&c)->buffer(c.device->below, b->below, handle, c.below_err);
        status = call_status(&c, status, CONTRACT_REPORT);
    }
    call_release_buffer(b, 0);
    return call_end(&c, status);
}

static collet_status native_import(collet_device *named, collet_buffer **out, void *handle,
                                   uint64_t offset, uint64_t bytes, uint32_t element,
                                   collet_error *err)
{
    call c;
    collet_buffer *below = NULL;
    collet_status status = COLLET_FAILED;
    if (!call_begin(&c, COLLET_EXTENSION_NATIVE " buffer_import", named, err) ||
        !pointer_given(&c, out))
        return call_end(&c, status);
    if (!bytes || !element) {
        call_wrong(&c, LIBCORE, "bytes or the element's size is 0");
        return call_end(&c, status);
    }
    call_enter(&c);
    status = below_of(&c)->buffer_import(c.device->below, &below, handle, offset, bytes, element,
                                         c.below_err);
    status = call_status(&c, status, CONTRACT_IMPORT);
    return call_end(&c, buffer_hand_out(&c, status, below, bytes, 1, out));
}

const collet_native_extension validation_native = {sizeof validation_native,
                                                   0,
                                                   native_device,
                                                   native_queue,
                                                   native_queue_used,
                                                   native_buffer,
                                                   native_import};
