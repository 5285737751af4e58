/* SPDX-License-Identifier: Apache-2.0 */
/* A query of a device's kernels.
 * Tests: tests/core/test_device_info.c, tests/core/test_device.c */
#include <inttypes.h>

#include <collet/floating.h>

#include "device/rows.h"
#include "select.h"

collet_status collet_backend_has_kernel(const collet_runtime *r, const char *name, uint32_t id,
                                        const collet_dtype *dtypes, uint32_t count,
                                        collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    COLLET_FLOATING_SCOPE;
    static const char what[] = "collet_backend_has_kernel";
    uint64_t sig = 0, mask = 0;
    device *d = NULL;
    if (!r || !name || (!dtypes && count))
        return collet_fail(err, COLLET_INVALID, "%s: runtime, backend or dtypes is NULL", what);
    if (count > COLLET_MAX_OPERANDS)
        return collet_fail(err, COLLET_INVALID,
                           "%s: count is %" PRIu32 "; an op has at most %d operands", what, count,
                           COLLET_MAX_OPERANDS);
    if (!runtime_alive(r))
        return runtime_forked(err);
    const op *o = runtime_op(r, id);
    if (!o)
        return collet_fail(err, COLLET_NOT_FOUND, "no op has the id %" PRIu32, id);
    collet_status status = selection_device(
        r, what, name, "not one backend or device; write NAME or NAME:DEVICE", &d, err);
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
    if (o->any_dtype)
        sig = mask = 0;
    return device_find_row(d, id, sig, mask)
               ? COLLET_OK
               : collet_fail(err, COLLET_UNSUPPORTED, "%s has no kernel %s for these dtypes", name,
                             o->name);
}
