/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_files.c */
#include "ternary/call.h"

#include "io/struct.h"

collet_status ternary_call_begin(ternary_call *call, collet_context *context,
                                 const collet_ternary_monitor *monitor)
{
    /* Clears only the status of the error: clearing the text would cost as much as running a small network. */
    call->context = context;
    call->monitor = (collet_ternary_monitor){0};
    call->done = call->total = 0;
    call->error.status = COLLET_OK;
    return monitor ? io_struct_in(&call->monitor, sizeof call->monitor, monitor, "the monitor",
                                  &call->error)
                   : COLLET_OK;
}

collet_status ternary_call_end(const ternary_call *call, collet_status status, collet_error *err)
{
    if (status == COLLET_OK)
        return COLLET_OK;
    return collet_fail(err, status, "%s",
                       call->error.status != COLLET_OK ? call->error.text
                                                       : collet_last_error(call->context));
}

collet_status ternary_call_advance(ternary_call *call, int64_t n)
{
    const collet_ternary_monitor *monitor = &call->monitor;

    call->done += n;
    if (!monitor->progress)
        return COLLET_OK;
    const collet_progress progress = {
        .struct_size = sizeof progress,
        .done = call->done,
        .fraction = call->total > 0 ? (double)call->done / (double)call->total : 0};
    if (monitor->progress(monitor->user, &progress) == 0)
        return COLLET_OK;
    return collet_fail(&call->error, COLLET_CANCELLED, "cancelled by the caller");
}

int ternary_call_stopped(void *call)
{
    return ternary_call_advance(call, 0) != COLLET_OK;
}

collet_status ternary_kernel(ternary_call *call, const char *what, uint32_t op, const void *params,
                             const ternary_operand operands[TERNARY_OPERANDS], int n_out)
{
    collet_context *context = call->context;
    collet_array *a[TERNARY_OPERANDS] = {NULL};
    collet_status status = COLLET_OK;
    void *data;

    for (int i = 0; i < TERNARY_OPERANDS && status == COLLET_OK; i++)
        if (operands[i].data)
            status = collet_array_wrap(context, &a[i], operands[i].dtype, operands[i].ndim,
                                       operands[i].shape, NULL, operands[i].data, 0, NULL, NULL);
    if (status == COLLET_OK)
        status = collet_call(context, op, a, (const collet_array *const *)a + n_out, params);
    for (int i = 0; i < n_out && status == COLLET_OK; i++) {
        if (!a[i])
            continue;
        status = collet_array_acquire(context, a[i], &data, COLLET_READ);
        if (status == COLLET_OK)
            status = collet_array_release(context, a[i]);
    }
    for (int i = 0; i < TERNARY_OPERANDS; i++)
        collet_array_destroy(a[i]);
    return status == COLLET_OK
               ? status
               : collet_fail(&call->error, status, "%s: %s", what, collet_last_error(context));
}
