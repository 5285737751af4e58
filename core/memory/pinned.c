/* SPDX-License-Identifier: Apache-2.0 */
/* Page-locked host memory: collet.pinned/1.
 * Tests: tests/core/test_extensions.c */
#include <stdlib.h>

#include <collet/floating.h>

#include "context/context.h"
#include "context/life.h"

struct collet_pinned {
    device *device; /* its runtime is retained */
    void *address;
    void *handle;
};

collet_status collet_pinned_create(collet_context *cx, collet_pinned **out, void **address,
                                   const char *name, size_t bytes)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    static const char what[] = "collet_pinned_create";
    device *d = NULL;
    collet_status status = context_check(cx);
    if (status == COLLET_OK && (!out || !address))
        status = context_fail(cx, COLLET_INVALID, "%s: out or address is NULL", what);
    if (status == COLLET_OK && !bytes)
        status = context_fail(cx, COLLET_INVALID, "%s: bytes is 0; it must be at least 1", what);
    if (status == COLLET_OK)
        status = context_space(cx, what, name, &d);
    if (status != COLLET_OK)
        return status;
    if (!d || !d->extensions.pinned)
        return context_fail(cx, COLLET_UNSUPPORTED,
                            "%s: %s offers no page-locked memory; use ordinary memory", what, name);
    collet_pinned *p = calloc(1, sizeof *p);
    if (!p)
        return context_fail(cx, COLLET_NO_MEMORY, "%s: out of memory", what);
    device_enter(d);
    status = device_leave(d, d->extensions.pinned->alloc(d->handle, &p->address, &p->handle, bytes,
                                                         context_error(cx)));
    if (status != COLLET_OK) {
        free(p);
        return status;
    }
    p->device = d;
    runtime_retain(cx->runtime);
    programs_made("page-locked memory", p);
    *out = p;
    *address = p->address;
    return COLLET_OK;
}

void collet_pinned_destroy(collet_pinned *p)
{
    PROGRAM_CALL(, NULL, p);
    COLLET_FLOATING_SCOPE;
    if (!p)
        return;
    device *d = p->device;
    collet_runtime *runtime = d->owner->runtime;
    if (runtime_alive(runtime) && !atomic_load(&d->hung)) {
        device_enter(d);
        d->extensions.pinned->free(d->handle, p->address, p->handle);
        device_leave(d, COLLET_OK);
    }
    programs_free(p);
    runtime_release(runtime);
}
