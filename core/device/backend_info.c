/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of backends and their kernels.
 * Tests: tests/core/test_device_info.c, tests/core/test_device.c */
#include <inttypes.h>
#include <string.h>

#include <collet/floating.h>

#include "open.h"
#include "registry.h"
#include "rows.h"
#include "util/struct.h"

size_t collet_backend_count(const collet_runtime *r)
{
    return r->backend_count;
}

collet_status collet_backend_info_at(const collet_runtime *r, collet_backend_info *info,
                                     size_t index, collet_error *err)
{
    collet_status status = runtime_query(r, info, "collet_backend_info_at", err);
    if (status != COLLET_OK)
        return status;
    if (index >= r->backend_count)
        return runtime_beyond(index, r->backend_count, "backend", err);
    backend *b = &r->backends[index];
    const loader_plugin *p = b->plugin;
    /* Load the state first: it publishes the results of opening. */
    int state = backend_state(b), known = state != COLLET_BACKEND_UNPROVEN;
    const char *capabilities = p->capabilities ? p->capabilities : known ? b->capabilities : NULL;
    collet_backend_info full = {.state = state,
                                .name = p->name,
                                .version = p->manifest.version,
                                .abi = p->manifest.abi,
                                .priority = p->manifest.priority,
                                .jit = p->manifest.jit,
                                .parallel = p->manifest.parallel,
                                .gpu = p->manifest.gpu,
                                .device_count = known ? b->device_count : 0,
                                .kernel_count = (uint32_t)p->manifest.kernel_count,
                                .path = p->path,
                                .reason = backend_reason(b, state),
                                .capabilities = capabilities ? capabilities : ""};
    return struct_out(info, &full, sizeof full, "collet_backend_info", err);
}

/* Finds and opens the device that "name" (the backend's first device) or "name:device" names. */
static collet_status open_named(const collet_runtime *r, const char *text, device **out,
                                collet_error *err)
{
    char name[COLLET_MAX_NAME];
    size_t length = strcspn(text, ":");
    if (length >= sizeof name || !strcmp(text + length, ":"))
        return collet_fail(err, COLLET_INVALID,
                           "'%s' is not the name of a backend or device; write NAME or NAME:DEVICE",
                           text);
    memcpy(name, text, length);
    name[length] = '\0';
    backend *b = registry_find(r, name);
    if (!b)
        return collet_fail(err, COLLET_UNKNOWN_BACKEND, "there is no backend named %s", name);
    collet_status status = backend_open(b, err);
    if (status == COLLET_OK)
        status = device_find(b, text[length] ? text + length + 1 : "", out, err);
    return status == COLLET_OK ? device_open(*out, err) : status;
}

collet_status collet_backend_has_kernel(const collet_runtime *r, const char *name, uint32_t id,
                                        const collet_dtype *dtypes, uint32_t count,
                                        collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    uint64_t sig = 0, mask = 0;
    device *d = NULL;
    if (!r || !name || !dtypes)
        return collet_fail(err, COLLET_INVALID,
                           "collet_backend_has_kernel: runtime, backend or dtypes is NULL");
    if (count > COLLET_MAX_OPERANDS)
        return collet_fail(err, COLLET_INVALID,
                           "collet_backend_has_kernel: count is %" PRIu32
                           "; an op has at most %d operands",
                           count, COLLET_MAX_OPERANDS);
    if (!runtime_alive(r))
        return runtime_forked(err);
    const op *o = runtime_op(r, id);
    if (!o)
        return collet_fail(err, COLLET_NOT_FOUND, "no op has the id %" PRIu32, id);
    collet_status status = open_named(r, name, &d, err);
    if (status != COLLET_OK)
        return status;
    for (uint32_t i = 0; i < count; i++) {
        if (dtypes[i] == COLLET_DTYPE_NONE)
            continue;
        if (!collet_dtype_size(dtypes[i]))
            return collet_fail(err, COLLET_DTYPE,
                               "dtypes[%" PRIu32 "] is %" PRId32 ", which is not a dtype", i,
                               dtypes[i]);
        sig |= COLLET_SIG_AT(i, dtypes[i]);
        mask |= COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1);
    }
    return device_find_row(d, id, sig, mask)
               ? COLLET_OK
               : collet_fail(err, COLLET_UNSUPPORTED, "%s has no kernel %s for these dtypes", name,
                             o->name);
}
