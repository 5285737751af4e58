/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of kernels: all arguments in one block, which is overwritten when the slot has returned.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

int32_t testbed_row(const testbed *b, uint32_t op, uint64_t sig)
{
    const collet_plugin *p = b->plugin;
    for (uint32_t i = 0; i < p->kernel_count; i++) {
        const collet_kernel_row *row =
            (const void *)((const char *)p->kernels + (size_t)i * p->kernel_size);
        if (row->op == op && row->sig == sig &&
            (!p->device_supports || p->device_supports(b->device, i)))
            return (int32_t)i;
    }
    return -1;
}

/* A call and everything that it points to, in one block that is overwritten after the slot returns.
 * */
typedef struct call_block {
    collet_kernel_call call;
    collet_error err;
    struct {
        collet_operand operand;
        uint64_t grown; /* extra bytes, because operands of a newer libcore may be larger */
    } operands[COLLET_MAX_OPERANDS];
    int64_t shapes[COLLET_MAX_OPERANDS][COLLET_MAX_DIMS];
    int64_t strides[COLLET_MAX_OPERANDS][COLLET_MAX_DIMS];
    _Alignas(16) unsigned char params[256];
} call_block;

static call_block *call_new(const collet_kernel_row *row, const testbed_operand *operands,
                            uint32_t count, uint32_t n_out, const void *params, const slot_call *s)
{
    call_block *c = kit_memory(sizeof *c);
    memset(c, 0, sizeof *c);
    c->call = (collet_kernel_call){.struct_size = sizeof c->call,
                                   .op = row->op,
                                   .sig = row->sig,
                                   .n_out = n_out,
                                   .n_in = count - n_out,
                                   .operand_size = sizeof *c->operands,
                                   .operands = &c->operands[0].operand,
                                   .err = &c->err};
    c->err = s->err;
    if (params) {
        uint32_t size;
        memcpy(&size, params, sizeof size);
        memcpy(c->params, params, size);
        c->call.params_size = row->params_size;
        c->call.params = c->params;
    }
    for (uint32_t i = 0; i < count; i++) {
        const testbed_operand *o = &operands[i];
        memcpy(c->shapes[i], o->shape, sizeof o->shape);
        memcpy(c->strides[i], o->strides, sizeof o->strides);
        c->operands[i].operand =
            (collet_operand){o->buffer, o->offset, o->dtype, o->ndim, c->shapes[i], c->strides[i]};
    }
    return c;
}

static const collet_kernel_row *row_at(const testbed *b, uint32_t row)
{
    return (const void *)((const char *)b->plugin->kernels + (size_t)row * b->plugin->kernel_size);
}

bool row_asks(const testbed *b, uint32_t row)
{
    return row_at(b, row)->accepts != NULL;
}

bool row_is_first(const testbed *b, uint32_t row)
{
    return !row || row_at(b, row)->op != row_at(b, row - 1)->op;
}

/* Ends the check if the slot changed anything that the call points to, except the error. Then overwrites everything
 * that the call points to: at once or, with `until`, when the work of this queue is done. */
static collet_status call_end(slot_call *s, call_block *c, const call_block *before,
                              collet_status status, uint32_t allowed, collet_queue *until)
{
    testbed *b = s->b;
    s->err = c->err;
    c->err = before->err;
    bool same = !memcmp(c, before, sizeof *c);
    if (!until)
        arguments_keep(b, c, sizeof *c);
    testbed_require(b, same, "%s changed the call, its operands, shapes, strides or parameters",
                    s->slot);
    status = slot_end(s, status, allowed);
    if (until) {
        testbed_settle(b, until);
        arguments_keep(b, c, sizeof *c);
    }
    return status;
}

collet_status try_accepts(testbed *b, uint32_t row, const testbed_operand *operands, uint32_t count,
                          uint32_t n_out, const void *params, uint64_t *bytes)
{
    slot_call s;
    const collet_kernel_row *r = row_at(b, row);
    *bytes = 0;
    if (!r->accepts)
        return COLLET_OK;
    slot_begin(&s, b, "accepts");
    call_block *c = call_new(r, operands, count, n_out, params, &s);
    for (uint32_t i = 0; i < count; i++)
        c->operands[i].operand.buffer = NULL;
    call_block before;
    memcpy(&before, c, sizeof before);
    collet_status status = r->accepts(b->device, &c->call, bytes);
    return call_end(&s, c, &before, status, CONTRACT_ACCEPT, NULL);
}

collet_status try_run(testbed *b, collet_queue *q, uint32_t row, const testbed_operand *operands,
                      uint32_t count, uint32_t n_out, const void *params, void *scratch,
                      uint64_t scratch_bytes)
{
    slot_call s;
    const collet_kernel_row *r = row_at(b, row);
    slot_begin(&s, b, "run");
    call_block *c = call_new(r, operands, count, n_out, params, &s);
    c->call.workspace = scratch_bytes ? scratch : NULL;
    c->call.workspace_bytes = scratch_bytes;
    call_block before;
    memcpy(&before, c, sizeof before);
    collet_status status = r->run(b->device, q, &c->call);
    return call_end(&s, c, &before, status, CONTRACT_ENQUEUE, b->patient ? q : NULL);
}
