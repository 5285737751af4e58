/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of backends.
 * Tests: tests/core/test_device_info.c, tests/core/test_select.c */
#include "calibration.h"
#include "open.h"
#include "util/struct.h"

size_t collet_backend_count(const collet_runtime *r)
{
    PROGRAM_CALL(0, NULL, r);
    return r->backend_count;
}

collet_status collet_backend_info_at(const collet_runtime *r, collet_backend_info *info,
                                     size_t index, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
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
                                .named_devices = p->manifest.named_devices,
                                .path = p->path,
                                .reason = backend_reason(b, state),
                                .capabilities = capabilities ? capabilities : "",
                                .calibration = b->calibration ? b->calibration->path : ""};
    return struct_out(info, &full, sizeof full, "collet_backend_info", err);
}
