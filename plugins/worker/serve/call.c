/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of kernels.
 * Tests: tests/worker/test_worker.c */
#include <string.h>

#include "serve.h"

uint32_t serve_params_size(uint32_t op)
{
    static const uint32_t sizes[] = {
#define COLLET_OP(NAME, id, ...) [id] = COLLET_PARAMS_SIZE_##NAME,
#include <collet/ops.def>
    };
    return op < sizeof sizes / sizeof *sizes ? sizes[op] : 0;
}

bool serve_call_valid(const server *s, const wire_call *w, size_t bytes)
{
    if (bytes < offsetof(wire_call, operands) || w->row >= s->row_count ||
        w->params_size > WIRE_PARAMS || w->n_out > COLLET_MAX_OPERANDS ||
        w->n_in > COLLET_MAX_OPERANDS)
        return false;
    uint32_t count = w->n_out + w->n_in;
    if (count > COLLET_MAX_OPERANDS ||
        bytes != offsetof(wire_call, operands) + count * sizeof *w->operands)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (w->operands[i].ndim < 0 || w->operands[i].ndim > COLLET_MAX_DIMS)
            return false;
    return true;
}

static const collet_kernel_row *row_of(const server *s, const wire_call *w)
{
    return (const void *)((const char *)s->plugin->kernels +
                          (size_t)s->rows[w->row] * s->plugin->kernel_size);
}

/* Makes the call for the backend from the message. */
static collet_kernel_call call_of(server *s, const wire_call *w, const collet_kernel_row *row,
                                  collet_operand operands[], collet_error *err)
{
    for (uint32_t i = 0; i < w->n_out + w->n_in; i++) {
        const wire_operand *from = &w->operands[i];
        operands[i] = (collet_operand){.buffer = serve_buffer(s, from->buffer),
                                       .byte_offset = from->byte_offset,
                                       .dtype = (collet_dtype)from->dtype,
                                       .ndim = from->ndim,
                                       .shape = from->shape,
                                       .strides = from->strides};
    }
    return (collet_kernel_call){.struct_size = sizeof(collet_kernel_call),
                                .op = row->op,
                                .sig = w->sig,
                                .n_out = w->n_out,
                                .n_in = w->n_in,
                                .operand_size = sizeof(collet_operand),
                                .params_size = w->params_size < row->params_size ? w->params_size
                                                                                 : row->params_size,
                                .operands = operands,
                                .params = w->params_size ? w->params : NULL,
                                .workspace = serve_buffer(s, w->workspace),
                                .workspace_bytes = w->workspace_bytes,
                                .err = err};
}

collet_status serve_run(server *s, collet_queue *queue, const wire_call *w, collet_error *err)
{
    collet_operand operands[COLLET_MAX_OPERANDS];
    const collet_kernel_row *row = row_of(s, w);
    const collet_kernel_call call = call_of(s, w, row, operands, err);
    serve_enter(s);
    collet_status status = row->run(s->device, queue, &call);
    serve_leave(s);
    return status;
}

collet_status serve_accepts(server *s, const wire_call *w, uint64_t *workspace, collet_error *err)
{
    collet_operand operands[COLLET_MAX_OPERANDS];
    const collet_kernel_row *row = row_of(s, w);
    const collet_kernel_call call = call_of(s, w, row, operands, err);
    for (uint32_t i = row->params_size; i < w->params_size; i++)
        if (w->params[i])
            return collet_fail(err, COLLET_REFUSED,
                               "%s was built for an older version and does not know a parameter",
                               s->backend);
    if (!row->accepts)
        return COLLET_OK;
    serve_enter(s);
    collet_status status = row->accepts(s->device, &call, workspace);
    serve_leave(s);
    return status;
}
