/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_call.c, tests/core/test_operands.c */
#include "frame.h"

#include <string.h>

#include "op/check.h"
#include "op/elementwise.h"
#include "op/order.h"

/* ---- Checking ---------------------------------------------------------------------------- */

static const int64_t *values_on_host(const collet_array *a)
{
    return a->dtype == COLLET_I64 &&
                   atomic_load_explicit(&a->storage->settled, memory_order_acquire)
               ? (const void *)((const char *)a->storage->host.memory + a->offset)
               : NULL;
}

static collet_status take_operand(frame *f, uint32_t i, const collet_array *a)
{
    char name[OP_OPERAND_TEXT];
    f->arrays[i] = a;
    f->views.operand[i] = (struct op_view){.shape = NULL};
    if (!a) {
        if (f->op->operand[i].optional)
            return COLLET_OK;
        return context_fail(f->cx, COLLET_INVALID, "%s: %s is NULL", f->op->name,
                            op_operand_name(f->op, i, name));
    }
    if (a->storage->runtime != f->cx->runtime)
        return context_fail(f->cx, COLLET_INVALID, "%s: %s belongs to another runtime", f->op->name,
                            op_operand_name(f->op, i, name));
    f->sig |= COLLET_SIG_AT(i, a->dtype);
    f->mask |= COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1);
    f->views.operand[i] =
        (struct op_view){a->ndim, a->shape, a->strides, a->dtype, values_on_host(a)};
    return COLLET_OK;
}

static collet_status take_operands(frame *f, collet_array *const *outs,
                                   const collet_array *const *ins)
{
    const op *o = f->op;
    if (!outs || (o->n_in && !ins))
        return context_fail(f->cx, COLLET_INVALID, "%s: the list of %s is NULL", o->name,
                            outs ? "inputs" : "outputs");
    f->count = o->n_out + o->n_in;
    for (uint32_t i = 0; i < f->count; i++) {
        collet_status status = take_operand(f, i, i < o->n_out ? outs[i] : ins[i - o->n_out]);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

static collet_status check_outputs(frame *f)
{
    char name[OP_OPERAND_TEXT], last[OP_OPERAND_TEXT];
    uint32_t i, k;
    const char *why = array_refused_as_outputs(f->arrays, f->op->n_out, &i, &k);
    if (!why)
        return COLLET_OK;
    if (i == k)
        return context_fail(f->cx, COLLET_INVALID, "%s: %s %s", f->op->name,
                            op_operand_name(f->op, i, name), why);
    return context_fail(f->cx, COLLET_INVALID, "%s: the outputs %s and %s %s", f->op->name,
                        op_operand_name(f->op, i, name), op_operand_name(f->op, k, last), why);
}

/* ---- Overlaps ---------------------------------------------------------------------------- */

static int needs_temporary(const frame *f, uint32_t i)
{
    const collet_array *in = f->arrays[i];
    int allowed = f->op->alias == 1 || (f->op->alias == 2 && i == f->op->n_out);
    for (uint32_t k = 0; k < f->op->n_out; k++) {
        const collet_array *out = f->arrays[k];
        if (out && array_overlaps(in, out) && !(allowed && !f->views.apart && array_same(in, out)))
            return 1;
    }
    return 0;
}

static collet_status make_temporary(frame *f, uint32_t i)
{
    const collet_array *in = f->arrays[i];
    collet_array *temporary;
    collet_status status =
        array_create(f->cx->runtime, &temporary, in->dtype, in->ndim, in->shape, f->error);
    if (status != COLLET_OK)
        return status;
    f->originals[f->temporary_count] = in;
    f->temporaries[f->temporary_count++] = temporary;
    f->arrays[i] = temporary;
    f->views.operand[i] = (struct op_view){temporary->ndim, temporary->shape, temporary->strides,
                                           temporary->dtype, NULL};
    return COLLET_OK;
}

static collet_status resolve_overlaps(frame *f)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = f->op->n_out; status == COLLET_OK && i < f->count; i++)
        if (f->arrays[i] && needs_temporary(f, i))
            status = make_temporary(f, i);
    return status;
}

/* Sets the operands except for their buffers, which depend on the device. */
static void describe_operands(frame *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const collet_array *a = f->arrays[i];
        collet_operand *o = &f->operands[i];
        *o = (collet_operand){0};
        if (!a)
            continue;
        o->byte_offset = a->offset;
        o->dtype = a->dtype;
        o->ndim = f->views.operand[i].ndim;
        o->shape = f->views.operand[i].shape;
        o->strides = f->views.operand[i].strides;
    }
}

/* ---- A call ------------------------------------------------------------------------------ */

static int nothing_to_do(const frame *f)
{
    for (uint32_t i = 0; i < f->op->n_out; i++)
        if (f->arrays[i] && f->arrays[i]->size)
            return 0;
    return 1;
}

/* Sorts the axes of an `evaluate` that reduces its outputs, unless its results depend on the order of the axes. */
static void sort_reduced(frame *f)
{
    collet_evaluate_params *p = (void *)f->params_copy;
    uint32_t reduce = ((const collet_evaluate_params *)f->params)->program->reduce;
    if (!reduce || reduce == COLLET_OP_ARGMIN || reduce == COLLET_OP_ARGMAX)
        return;
    if (f->params != f->params_copy)
        memcpy(p, f->params, sizeof *p);
    p->axes = op_sort_reduced(&f->views, f->op->n_out, f->op->n_in, p->axes, p->keepdims != 0,
                              f->scratch);
    f->params = p;
}

/* Checks the call, gives overlapping inputs temporaries, and merges or sorts the axes of its
 * operands. */
static collet_status check(frame *f)
{
    collet_status status = op_check(f->op, f->sig, &f->views, f->params, f->scratch, f->error);
    if (status == COLLET_OK)
        status = check_outputs(f);
    f->empty = nothing_to_do(f);
    if (status != COLLET_OK || f->empty)
        return status;
    status = resolve_overlaps(f);
    if (status == COLLET_OK && f->temporary_count)
        status = op_check_shapes(f->op, &f->views, f->params, f->scratch, f->error);
    if (status != COLLET_OK)
        return status;
    if (f->op->elementwise || f->views.merge)
        op_merge_axes(&f->views, f->count, f->views.merge || elementwise_of(f->op->id) != NULL,
                      f->scratch);
    else if (f->views.apart)
        sort_reduced(f);
    describe_operands(f);
    return COLLET_OK;
}

collet_status frame_begin(frame *f, collet_context *cx, uint32_t id, collet_array *const *outs,
                          const collet_array *const *ins, const void *params)
{
    f->temporary_count = f->temporaries_filled = 0;
    if (!cx)
        return COLLET_INVALID;
    f->error = context_error(cx);
    if (!f->error)
        return COLLET_NO_MEMORY;
    if (!runtime_alive(cx->runtime))
        return runtime_forked(f->error);
    f->op = runtime_op(cx->runtime, id);
    if (!f->op)
        return context_fail(cx, COLLET_NOT_FOUND, "there is no op with the id %u", id);
    f->cx = cx;
    f->sig = f->mask = 0;
    f->views.open = NULL;
    f->views.merge = f->views.apart = 0;
    collet_status status = take_operands(f, outs, ins);
    if (status == COLLET_OK)
        status = op_params(f->op, params, f->params_copy, &f->params, f->error);
    return status == COLLET_OK ? check(f) : status;
}

void frame_end(frame *f)
{
    for (uint32_t i = 0; i < f->temporary_count; i++)
        collet_array_destroy(f->temporaries[i]);
}

/* ---- A device ---------------------------------------------------------------------------- */

/* Kernels may return only four statuses; after any other status the outputs are undefined. */
collet_status frame_kernel_status(frame *f, device *d, collet_status status)
{
    if (status == COLLET_OK || status == COLLET_REFUSED || status == COLLET_FAILED)
        return status;
    if (status == COLLET_DEVICE_LOST)
        return device_note_status(d, status);
    return collet_fail(
        &f->err, COLLET_FAILED,
        "the kernel returned %s (%d); kernels return only OK, REFUSED, FAILED or DEVICE_LOST",
        collet_status_name(status), status);
}

/* Refuses parameters that the row was not compiled for. */
static collet_status check_params(frame *f, const collet_kernel_row *row)
{
    const unsigned char *params = f->params;
    for (uint32_t i = row->params_size; i < f->op->params_size; i++)
        if (params[i])
            return collet_fail(&f->err, COLLET_REFUSED,
                               "its kernel supports only the first %u of the %u bytes of "
                               "parameters, and byte %u is not 0",
                               row->params_size, f->op->params_size, i);
    return COLLET_OK;
}

static collet_status ask_row(frame *f, device *d, const collet_kernel_row *row,
                             collet_kernel_call *call)
{
    for (uint32_t i = 0; i < f->count; i++)
        f->operands[i].buffer = NULL; /* it may belong to a device tried before */
    device_enter(d);
    collet_status status = row->accepts(d->handle, call, &call->workspace_bytes);
    device_leave(d, COLLET_OK);
    return status == COLLET_OK ? status : frame_kernel_status(f, d, status);
}

collet_status frame_accept(frame *f, device *d, const collet_kernel_row *row,
                           collet_kernel_call *call)
{
    collet_status status = COLLET_OK;
    *call = (collet_kernel_call){.struct_size = sizeof *call,
                                 .op = row->op,
                                 .sig = f->sig,
                                 .n_out = f->op->n_out,
                                 .n_in = f->op->n_in,
                                 .operand_size = sizeof(collet_operand),
                                 .params_size = f->params ? f->op->params_size : 0,
                                 .operands = f->operands,
                                 .params = f->params,
                                 .err = &f->err};
    if (row->params_size < f->op->params_size)
        status = check_params(f, row);
    if (status == COLLET_OK && row->accepts)
        status = ask_row(f, d, row, call);
    return status;
}

/* ---- Texts ------------------------------------------------------------------------------- */

/* Adds an operand to "f32 4 x 4 <- f32 4 x 4, absent". */
void frame_operand_text(text_buffer *t, const op *o, uint32_t i, const collet_array *a)
{
    text_add(t, "%s%s",
             i == o->n_out ? " <- "
             : i           ? ", "
                           : "",
             a ? collet_dtype_name(a->dtype) : "absent");
    if (a) {
        text_add(t, " ");
        text_add_shape(t, a->ndim, a->shape);
    }
}

void frame_operands_text(text_buffer *t, const frame *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        frame_operand_text(t, f->op, i, f->arrays[i]);
}
