/* SPDX-License-Identifier: Apache-2.0 */
/* Infers the outputs of a call: runs the checks of a call whose outputs are unknown.
 * Tests: tests/core/test_infer.c */
#include "infer.h"

#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "field.h"
#include "util/shape.h"
#include "util/struct.h"

typedef struct inference {
    const op *op;
    op_shapes views;
    const void *params;
    int64_t open[COLLET_MAX_OPERANDS][COLLET_MAX_DIMS];
    op_scratch scratch[COLLET_MAX_OPERANDS];
    _Alignas(16) unsigned char params_copy[OP_PARAMS_MAX];
} inference;

/* The rules read strides; these are the strides of dense rows. */
static const int64_t dense[COLLET_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};

/* Prefixes the text of `err` with the operand's name. */
static collet_status operand_error(const op *o, uint32_t i, const collet_error *why,
                                   collet_error *err)
{
    char name[OP_OPERAND_TEXT];
    return collet_fail(err, why->status, "%s: %s: %s", o->name, op_operand_name(o, i, name),
                       why->text);
}

static collet_status take_spec(inference *f, uint32_t i, const collet_array_spec *spec,
                               collet_error *err)
{
    struct op_view *v = &f->views.operand[i];
    int output = i < f->op->n_out, infers = output && spec->ndim == COLLET_INFER;
    char name[OP_OPERAND_TEXT];
    collet_error why;
    int64_t size;
    *v = (struct op_view){0};
    if (spec->ndim == COLLET_ABSENT)
        return f->op->operand[i].optional
                   ? COLLET_OK
                   : collet_fail(err, COLLET_INVALID, "%s: %s is absent", f->op->name,
                                 op_operand_name(f->op, i, name));
    /* Any dtype of one byte, until the dtype is inferred. */
    collet_dtype dtype = output && spec->dtype == COLLET_DTYPE_NONE ? COLLET_U8 : spec->dtype;
    if (shape_check(dtype, infers ? 0 : spec->ndim, spec->shape, &size, &why) != COLLET_OK)
        return operand_error(f->op, i, &why, err);
    *v = (struct op_view){spec->ndim, infers ? f->open[i] : spec->shape, dense, spec->dtype, NULL};
    return COLLET_OK;
}

/* The dtype of the value of an op without inputs. */
static collet_dtype scalar_dtype(const inference *f)
{
    for (uint32_t k = 0; k < f->op->field_count; k++) {
        const collet_ops_field *field = op_field(f->op, k);
        collet_scalar value;
        if (field->kind != COLLET_FIELD_SCALAR)
            continue;
        memcpy(&value, (const char *)f->params + field->offset, sizeof value);
        return collet_dtype_size(value.dtype) ? value.dtype : COLLET_DTYPE_NONE;
    }
    return COLLET_DTYPE_NONE;
}

static uint64_t packed_dtypes(const inference *f)
{
    uint64_t sig = 0;
    for (uint32_t i = 0; i < f->op->n_out + f->op->n_in; i++)
        if (f->views.operand[i].shape)
            sig |= COLLET_SIG_AT(i, f->views.operand[i].dtype);
    return sig;
}

/* Stores the inferred output k; it must be allocatable. */
static collet_status give_spec(const inference *f, uint32_t k, collet_array_spec *out,
                               collet_error *err)
{
    const struct op_view *v = &f->views.operand[k];
    char name[OP_OPERAND_TEXT];
    collet_error why;
    int64_t size;
    int known = v->ndim >= 0;
    for (int32_t i = 0; i < v->ndim; i++)
        known &= v->shape == f->open[k] ? v->shape[i] >= 0 : 1;
    if (!known)
        return collet_fail(err, COLLET_SHAPE,
                           "%s: the inputs do not determine the shape of %s; give it", f->op->name,
                           op_operand_name(f->op, k, name));
    if (shape_check(v->dtype, v->ndim, v->shape, &size, &why) != COLLET_OK)
        return operand_error(f->op, k, &why, err);
    collet_array_spec made = {.dtype = v->dtype, .ndim = v->ndim};
    memcpy(made.shape, v->shape, (size_t)v->ndim * sizeof *made.shape); /* v->shape may be the shape of `out` */
    *out = made;
    return COLLET_OK;
}

/* The specs of all operands, outputs first. */
static collet_status take_specs(const op *o, collet_array_spec *specs,
                                const collet_array_spec *outs, const collet_array_spec *ins,
                                size_t spec_size, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (int in = 0; in < 2 && status == COLLET_OK; in++) {
        const collet_array_spec *given = in ? ins : outs;
        uint32_t count = in ? o->n_in : o->n_out;
        status = struct_elements(given, count, spec_size, sizeof *given, sizeof *given,
                                 "collet_ops_infer: spec_size", err);
        for (uint32_t i = 0; i < count && status == COLLET_OK; i++)
            struct_element(specs++, sizeof *specs, given, spec_size, i);
    }
    return status;
}

collet_status op_infer(const op *o, collet_array_spec *outs, const collet_array_spec *ins,
                       size_t spec_size, const void *params, collet_error *err)
{
    inference f = {.op = o};
    collet_array_spec specs[COLLET_MAX_OPERANDS];
    if (!outs || (o->n_in && !ins))
        return collet_fail(err, COLLET_INVALID, "%s: the list of %s is NULL", o->name,
                           outs ? "inputs" : "outputs");
    collet_status status = take_specs(o, specs, outs, ins, spec_size, err);
    for (uint32_t i = 0; i < o->n_out + o->n_in && status == COLLET_OK; i++)
        status = take_spec(&f, i, &specs[i], err);
    if (status == COLLET_OK)
        status = op_params(o, params, f.params_copy, &f.params, err);
    if (status != COLLET_OK)
        return status;
    f.views.open = f.open;
    for (uint32_t k = 0; k < o->n_out; k++)
        if (op_open(&f.views, k))
            f.views.operand[k].ndim = -1;
    op_infer_dtypes(o, &f.views, scalar_dtype(&f));
    status = op_check(o, packed_dtypes(&f), &f.views, f.params, f.scratch, err);
    for (uint32_t k = 0; k < o->n_out && status == COLLET_OK; k++)
        if (f.views.operand[k].shape)
            status = give_spec(&f, k, &specs[k], err);
    for (uint32_t k = 0; k < o->n_out && status == COLLET_OK; k++)
        struct_element_out(outs, spec_size, k, &specs[k], sizeof *specs);
    return status;
}
