/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of the array family.
 * Tests: tests/core/test_errors.c, tests/core/test_infer.c */
#include "rules.h"

#include <collet/collet.h>

#include "program.h"
#include "shape.h"
#include "util/struct.h"

collet_status op_rule_transpose(const op *o, op_shapes *views, const void *params,
                                collet_error *err)
{
    const collet_transpose_params *p = params;
    const struct op_view *in = &views->operand[1];
    int64_t shape[COLLET_MAX_DIMS];
    uint32_t seen = 0;
    if (p->ndim != (uint32_t)in->ndim)
        return op_shape_error(o, views, "the permutation must have as many axes as the input", err);
    for (int32_t i = 0; i < in->ndim; i++) {
        int32_t axis = p->perm[i];
        if (axis < 0 || axis >= in->ndim || seen >> axis & 1)
            return collet_fail(err, COLLET_INVALID,
                               "transpose: perm[%d] = %d is out of range or repeated; perm must "
                               "contain 0..%d once each",
                               i, axis, in->ndim - 1);
        seen |= 1u << axis;
        shape[i] = in->shape[axis];
    }
    return op_expect(o, views, 0, in->ndim, shape,
                     "output axis i must have the extent of input axis perm[i]", err);
}

/* Reads only the fields that collet_variance_params has, too. */
collet_status op_rule_reduce(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const collet_reduce_params *p = params;
    const struct op_view *in = &views->operand[1];
    char name[OP_OPERAND_TEXT];
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = 0;
    if (p->axes >> in->ndim)
        return collet_fail(err, COLLET_INVALID,
                           "%s: axes is 0x%x, which names an axis beyond the %d axes of %s",
                           o->name, p->axes, in->ndim, op_operand_name(o, 1, name));
    for (int32_t i = 0; i < in->ndim; i++) {
        int reduced = (int)(p->axes >> i & 1);
        if (!reduced || p->keepdims)
            shape[ndim++] = reduced ? 1 : in->shape[i];
    }
    return op_expect(o, views, 0, ndim, shape,
                     "the output has the input's axes without the reduced ones (with keepdims they "
                     "have length 1)",
                     err);
}

/* A minimum or maximum needs an element to choose. */
collet_status op_rule_reduce_some(const op *o, op_shapes *views, const void *params,
                                  collet_error *err)
{
    const collet_reduce_params *p = params;
    const struct op_view *in = &views->operand[1];
    int empty = 0, has_output = 1;
    collet_status status = op_rule_reduce(o, views, params, err);
    if (status != COLLET_OK)
        return status;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (p->axes >> i & 1)
            empty |= in->shape[i] == 0;
        else
            has_output &= in->shape[i] != 0;
    }
    return empty && has_output
               ? op_shape_error(o, views, "it needs at least one element to choose from", err)
               : COLLET_OK;
}

/* ---- evaluate ------------------------------------------------------------------------------ */

/* Checks that exactly the program's operands are present. */
static collet_status check_presence(const op *o, const op_shapes *views, const collet_program *p,
                                    collet_error *err)
{
    char name[OP_OPERAND_TEXT];
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++) {
        int wanted = i < o->n_out ? i < p->n_out : i - o->n_out < p->n_in;
        if (wanted != (views->operand[i].shape != NULL))
            return collet_fail(err, COLLET_INVALID, "evaluate: %s is %s; the program has %u %s",
                               op_operand_name(o, i, name), wanted ? "absent" : "given",
                               i < o->n_out ? p->n_out : p->n_in,
                               i < o->n_out ? "outputs" : "inputs");
    }
    return COLLET_OK;
}

/* Checks the dtypes of operands; sets the dtypes of outputs that are to be inferred. */
static collet_status check_dtypes(const op *o, op_shapes *views, const collet_program *p,
                                  const uint8_t *dtypes, collet_error *err)
{
    char name[OP_OPERAND_TEXT];
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++) {
        struct op_view *v = &views->operand[i];
        if (!v->shape)
            continue;
        collet_dtype wanted = i < o->n_out ? dtypes[p->outs[i]] : dtypes[i - o->n_out];
        if (i < o->n_out && p->reduce) {
            collet_dtype of = wanted;
            wanted = program_reduced(p->reduce, of, v->dtype);
            if (!wanted)
                wanted = program_reduced(p->reduce, of, COLLET_DTYPE_NONE);
            if (!wanted)
                return collet_fail(err, COLLET_DTYPE,
                                   "evaluate: the program's reduction does not take %s, the dtype "
                                   "of the value of output %u",
                                   collet_dtype_name(of), i);
        }
        if (i < o->n_out && !v->dtype)
            v->dtype = wanted;
        if (v->dtype != wanted)
            return collet_fail(err, COLLET_DTYPE, "evaluate: %s is %s; the program's is %s",
                               op_operand_name(o, i, name), collet_dtype_name(v->dtype),
                               collet_dtype_name(wanted));
    }
    return COLLET_OK;
}

/* Returns whether there are output elements without elements to reduce. Stores the output's shape
 * in `left` and *n. */
static int reduce_shape(const collet_evaluate_params *p, const int64_t *shape, int32_t ndim,
                        int64_t left[COLLET_MAX_DIMS], int32_t *n)
{
    int empty = 0, has_output = 1;
    *n = 0;
    for (int32_t i = 0; i < ndim; i++) {
        int reduced = (int)(p->axes >> i & 1);
        if (!reduced || p->keepdims)
            left[(*n)++] = reduced ? 1 : shape[i];
        if (reduced)
            empty |= shape[i] == 0;
        else
            has_output &= shape[i] != 0;
    }
    return empty && has_output;
}

static collet_status check_reduction(const collet_evaluate_params *p, int32_t ndim,
                                     collet_error *err)
{
    if (!p->program->reduce && (p->axes || p->keepdims || p->correction != 0.0))
        return collet_fail(err, COLLET_INVALID,
                           "evaluate: axes, keepdims or correction is not 0, but the program does "
                           "not reduce");
    if (p->axes >> ndim)
        return collet_fail(err, COLLET_INVALID,
                           "evaluate: axes is 0x%x, which names an axis beyond the %d axes of the "
                           "broadcast inputs",
                           p->axes, ndim);
    return COLLET_OK;
}

/* Checks that there are rows which the program's steps can reduce. */
static collet_status check_rows(const op *o, const op_shapes *views, const collet_program *p,
                                const int64_t *shape, int32_t ndim, collet_error *err)
{
    int64_t rows = 1;
    if (p->n_reductions && !ndim)
        return op_shape_error(o, views, "steps reduce the last axis, and there is no axis", err);
    for (int32_t i = 0; i < ndim - 1; i++)
        rows *= shape[i] != 0;
    for (uint32_t k = 0; k < p->n_steps && rows && p->n_reductions && !shape[ndim - 1]; k++)
        if (program_reduces_some(collet_program_step(p, k)->op))
            return op_shape_error(o, views, "it needs at least one element to choose from", err);
    return COLLET_OK;
}

/* Before this rule, the patterns have broadcast the inputs: all have the same axes. */
collet_status op_rule_evaluate(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const collet_evaluate_params *p = params;
    const struct op_view *in = &views->operand[o->n_out];
    uint8_t dtypes[PROGRAM_VALUES], shapes[PROGRAM_VALUES];
    int64_t left[COLLET_MAX_DIMS], extent = 1;
    int32_t n, ndim = in->shape ? in->ndim : 0;
    collet_status status = program_check(p->program, dtypes, shapes, err);
    if (status == COLLET_OK && p->program->n_constants && !p->constants)
        status = collet_fail(err, COLLET_INVALID, "evaluate: constants is NULL, but there are %u",
                             p->program->n_constants);
    if (status == COLLET_OK)
        status = struct_elements(p->constants, p->program->n_constants, p->program->constant_size,
                                 sizeof *p->constants, sizeof *p->constants,
                                 "evaluate: constant_size", err);
    if (status == COLLET_OK)
        status = check_presence(o, views, p->program, err);
    if (status == COLLET_OK)
        status = check_dtypes(o, views, p->program, dtypes, err);
    if (status == COLLET_OK)
        status = check_reduction(p, ndim, err);
    if (status == COLLET_OK)
        status = check_rows(o, views, p->program, in->shape, ndim, err);
    if (status != COLLET_OK)
        return status;
    for (uint32_t i = 0; i < p->program->n_constants; i++) {
        collet_dtype given = collet_program_constant(p->program, p->constants, i)->dtype;
        if (given != p->program->dtypes[p->program->n_in + i])
            return collet_fail(err, COLLET_DTYPE,
                               "evaluate: constant %u is %s; the program's is %s", i,
                               collet_dtype_name(given),
                               collet_dtype_name(p->program->dtypes[p->program->n_in + i]));
    }
    if (reduce_shape(p, in->shape, ndim, left, &n) && program_reduces_some(p->program->reduce))
        return op_shape_error(o, views, "it needs at least one element to choose from", err);
    if (p->program->n_reductions)
        extent = left[n - 1];
    for (uint32_t k = 0; k < p->program->n_out && status == COLLET_OK; k++) {
        if (p->program->n_reductions)
            left[n - 1] = shapes[p->program->outs[k]] == PROGRAM_NARROW ? 1 : extent;
        status = op_expect(o, views, k, n, left,
                           "an output has the inputs' broadcast axes without the reduced ones "
                           "(with keepdims, and in steps that reduce, they have length 1)",
                           err);
    }
    /* A backend may reduce outputs in turn, so no output may be an input. */
    views->merge = !p->program->reduce && !p->program->n_reductions;
    views->apart = !views->merge;
    return status;
}
