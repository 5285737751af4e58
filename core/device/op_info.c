/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of ops.
 * Tests: tests/core/test_infer.c, tests/core/test_struct.c */
#include <string.h>

#include <collet/floating.h>

#include "op/field.h"
#include "op/infer.h"
#include "op/signature.h"
#include "open.h"
#include "util/struct.h"
#include "util/text.h"

static const op *op_by_name(const collet_runtime *r, const char *name)
{
    for (size_t i = 0; i < r->ops.count; i++)
        if (!strcmp(r->ops.ops[i].name, name))
            return &r->ops.ops[i];
    uint32_t own = atomic_load(&r->own_op_count);
    for (uint32_t i = 0; i < own; i++)
        if (!strcmp(r->own_ops[i]->name, name))
            return r->own_ops[i];
    return NULL;
}

/* A backend's own ops are registered when it is opened. The backend's manifest names its ops, so only backends with
 * that name in their manifest are opened. */
static void open_provider(const collet_runtime *r, const char *name)
{
    for (size_t b = 0; b < r->backend_count; b++) {
        const manifest *m = &r->backends[b].plugin->manifest;
        for (size_t k = 0; k < m->kernel_count; k++)
            if (!strcmp(m->kernels[k], name))
                backend_open(&r->backends[b], NULL);
    }
}

static collet_status unknown_op(const collet_runtime *r, const char *name, collet_error *err)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < r->ops.count; i++)
        text_nearest(name, r->ops.ops[i].name, &nearest);
    for (uint32_t i = 0; i < atomic_load(&r->own_op_count); i++)
        text_nearest(name, r->own_ops[i]->name, &nearest);
    return collet_fail(err, COLLET_NOT_FOUND, "there is no op '%s'%s%s", name,
                       nearest ? "; the nearest is " : "", nearest ? nearest : "");
}

collet_status collet_ops_find(const collet_runtime *r, uint32_t *id, const char *name,
                              collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    COLLET_FLOATING_SCOPE;
    collet_status status = runtime_query(r, name && id ? id : NULL, "collet_ops_find", err);
    if (status != COLLET_OK)
        return status;
    const op *o = op_by_name(r, name);
    if (!o && strchr(name, '.')) {
        open_provider(r, name);
        o = op_by_name(r, name);
    }
    if (!o)
        return unknown_op(r, name, err);
    *id = o->id;
    return COLLET_OK;
}

size_t collet_ops_count(const collet_runtime *r)
{
    PROGRAM_CALL(0, NULL, r);
    return r->ops.count + atomic_load(&r->own_op_count);
}

static collet_status describe(const op *o, collet_ops_info *info, collet_error *err)
{
    collet_ops_info full = {.id = o->id,
                            .name = o->name,
                            .family = o->family,
                            .shapes = o->shapes,
                            .sigs = o->sigs,
                            .split = o->split,
                            .check = o->check,
                            .n_out = o->n_out,
                            .n_in = o->n_in,
                            .params_size = o->params_size,
                            .alias = o->alias,
                            .operand_size = sizeof *o->operand,
                            .field_size = o->field_size,
                            .operands = o->operand,
                            .fields = o->fields,
                            .field_count = o->field_count,
                            .measure = o->measure,
                            .summary = o->summary};
    return struct_out(info, &full, sizeof full, "collet_ops_info", err);
}

static collet_status unknown_id(uint32_t id, collet_error *err)
{
    return collet_fail(err, COLLET_NOT_FOUND, "no op has the id %u", id);
}

collet_status collet_ops_signature(const collet_runtime *r, uint32_t id, collet_dtype *dtypes,
                                   size_t index, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    collet_status status = runtime_query(r, dtypes, "collet_ops_signature", err);
    if (status != COLLET_OK)
        return status;
    const op *o = runtime_op(r, id);
    if (!o)
        return unknown_id(id, err);
    return op_signature(o, index, dtypes)
               ? COLLET_OK
               : collet_fail(err, COLLET_NOT_FOUND,
                             "%s has fewer signatures than the index %zu needs", o->name, index);
}

collet_status collet_ops_defaults(const collet_runtime *r, uint32_t id, void *params, size_t bytes,
                                  int32_t ndim, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    collet_status status = runtime_query(r, params, "collet_ops_defaults", err);
    if (status != COLLET_OK)
        return status;
    if (ndim < 0 || ndim > COLLET_MAX_DIMS)
        return collet_fail(err, COLLET_INVALID,
                           "collet_ops_defaults: ndim is %d; it must be 0 to %d", ndim,
                           COLLET_MAX_DIMS);
    const op *o = runtime_op(r, id);
    if (!o)
        return unknown_id(id, err);
    if (bytes < o->params_size)
        return collet_fail(
            err, COLLET_INVALID,
            "collet_ops_defaults: params has %zu bytes; the parameters of %s need %u", bytes,
            o->name, o->params_size);
    op_defaults(o, ndim, params);
    return COLLET_OK;
}

collet_status collet_ops_infer(const collet_runtime *r, uint32_t id, collet_array_spec *outs,
                               const collet_array_spec *ins, size_t spec_size, const void *params,
                               collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    COLLET_FLOATING_SCOPE;
    if (!r)
        return collet_fail(err, COLLET_INVALID, "collet_ops_infer: the runtime is NULL");
    if (!runtime_alive(r))
        return runtime_forked(err);
    const op *o = runtime_op(r, id);
    return o ? op_infer(o, outs, ins, spec_size, params, err) : unknown_id(id, err);
}

collet_status collet_ops_at(const collet_runtime *r, collet_ops_info *info, size_t index,
                            collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    collet_status status = runtime_query(r, info, "collet_ops_at", err);
    if (status != COLLET_OK)
        return status;
    if (index >= collet_ops_count(r))
        return runtime_beyond(index, collet_ops_count(r), "op", err);
    return describe(index < r->ops.count ? &r->ops.ops[index] : r->own_ops[index - r->ops.count],
                    info, err);
}

collet_status collet_ops_describe(const collet_runtime *r, uint32_t id, collet_ops_info *info,
                                  collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    collet_status status = runtime_query(r, info, "collet_ops_describe", err);
    if (status != COLLET_OK)
        return status;
    const op *o = runtime_op(r, id);
    return o ? describe(o, info, err) : unknown_id(id, err);
}
