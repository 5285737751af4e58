/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the operands of a call from a row of the table, a shape and a dtype.
 * Tests: tests/tools/test_bench.c */
#include "cases.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Extents ----------------------------------------------------------------------------- */

/* The extents of the letters of a pattern and of "...". */
typedef struct extents {
    int64_t letter[128];
    int32_t lead; /* number of axes that "..." matches */
} extents;

static collet_status too_many_axes(const bench_layout *l, collet_error *err)
{
    return collet_fail(err, COLLET_SHAPE, "%s: an array has at most %d axes", l->row->name,
                       COLLET_MAX_DIMS);
}

/* Assigns the numbers of the shape to the letters of the row's text, such as "...,M,K,N". */
static collet_status bind_extents(const bench_layout *l, extents *e, collet_error *err)
{
    const char *s = l->row->extents;
    int32_t dots = !strncmp(s, "...", 3), named = 0;
    *e = (extents){0};
    for (const char *c = s; *c; c++)
        named += isalpha((unsigned char)*c) != 0;
    e->lead = l->shape.count - named;
    if (e->lead > COLLET_MAX_DIMS)
        return too_many_axes(l, err);
    if (e->lead < 0 || (e->lead && !dots))
        return collet_fail(err, COLLET_SHAPE, "%s: the shape is %s joined by x, such as %s",
                           l->row->name, s, l->row->shape);
    int32_t at = e->lead;
    for (const char *c = s; *c; c++)
        if (isalpha((unsigned char)*c))
            e->letter[(unsigned char)*c] = l->shape.extents[at++];
    return COLLET_OK;
}

static int64_t axis_extent(const extents *e, const collet_ops_axis *axis)
{
    int64_t extent = axis->letter ? e->letter[axis->letter] : axis->extent;
    int64_t other = axis->other ? e->letter[axis->other] : extent;
    return other < extent ? other : extent;
}

/* 1 if the pattern has an extent that the shape does not determine. */
static int32_t is_open(const bench_layout *l, const collet_ops_pattern *p)
{
    for (int32_t k = 0; k < p->ndim; k++)
        if (p->axes[k].letter && !strchr(l->row->extents, p->axes[k].letter))
            return 1;
    return 0;
}

/* Sets the shape of an operand by its first pattern. An input that may have any axes gets the whole shape. The shape of
 * an output that may have any axes, or has an extent that no input has, is inferred later. */
static collet_status arrange_operand(bench_layout *l, const extents *e, uint32_t i,
                                     collet_error *err)
{
    const collet_ops_pattern *p = &l->op.operands[i].pattern[0];
    bench_operand *o = &l->operands[i];
    int32_t lead = p->any ? l->shape.count : p->dots ? e->lead : 0;
    if (i < l->op.n_out && (p->any || (is_open(l, p) && !l->row->detail->arrange))) {
        o->ndim = COLLET_INFER;
        return COLLET_OK;
    }
    if (lead + p->ndim > COLLET_MAX_DIMS)
        return too_many_axes(l, err);
    memcpy(o->shape, l->shape.extents, (size_t)lead * sizeof *o->shape);
    for (int32_t k = 0; k < p->ndim; k++)
        o->shape[lead + k] = axis_extent(e, &p->axes[k]);
    o->ndim = lead + p->ndim;
    return COLLET_OK;
}

static collet_status arrange(bench_layout *l, collet_error *err)
{
    extents e;
    collet_status status = bind_extents(l, &e, err);
    for (uint32_t i = 0; i < l->count && status == COLLET_OK; i++)
        status = arrange_operand(l, &e, i, err);
    return status == COLLET_OK && l->row->detail->arrange ? l->row->detail->arrange(l, err)
                                                          : status;
}

/* Infers the shapes of outputs that have no shape yet; fails for shapes that the op does not accept. */
static collet_status infer_outputs(bench_layout *l, const collet_runtime *runtime,
                                   collet_error *err)
{
    collet_array_spec specs[COLLET_MAX_OPERANDS];
    for (uint32_t i = 0; i < l->count; i++) {
        const bench_operand *o = &l->operands[i];
        specs[i] = (collet_array_spec){.dtype = o->dtype,
                                       .ndim = o->make == '-' ? COLLET_ABSENT : o->ndim};
        memcpy(specs[i].shape, o->shape, sizeof o->shape);
    }
    collet_status status = collet_ops_infer(runtime, l->op.id, specs, specs + l->op.n_out,
                                            sizeof *specs, &l->params, err);
    for (uint32_t i = 0; i < l->op.n_out && status == COLLET_OK; i++) {
        if (l->operands[i].make == '-')
            continue;
        l->operands[i].ndim = specs[i].ndim;
        memcpy(l->operands[i].shape, specs[i].shape, sizeof specs[i].shape);
    }
    return status;
}

/* ---- Types ------------------------------------------------------------------------------- */

static const char letters[] = {'?',
#define LETTER(NAME, id, size, text, letter, ...) [id] = letter,
                               COLLET_DTYPE_LIST(LETTER)
#undef LETTER
};

/* Returns the dtype with the name "f32", or NumPy's name "float32". */
static collet_dtype dtype_named(const char *name)
{
    static const char *const kinds[][2] = {
        {"float", "f"}, {"int", "i"}, {"uint", "u"}, {"complex", "c"}, {"bfloat", "bf"}};
    char held[16];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i][0]);
        if (!strncmp(name, kinds[i][0], length) && isdigit((unsigned char)name[length])) {
            snprintf(held, sizeof held, "%s%s", kinds[i][1], name + length);
            name = held;
            break;
        }
    }
#define NAMED(NAME, id, size, text, letter, ...)                                                   \
    if (!strcmp(name, text))                                                                       \
        return id;
    COLLET_DTYPE_LIST(NAMED)
#undef NAMED
    return COLLET_DTYPE_NONE;
}

static void take_signature(bench_layout *l, const collet_dtype *dtypes)
{
    char *at = l->signature;
    for (uint32_t i = 0; i < l->count; i++) {
        if (i == l->op.n_out)
            *at++ = ':';
        *at++ = letters[dtypes[i]];
        l->operands[i].dtype = dtypes[i];
    }
    if (!l->op.n_in)
        *at++ = ':';
    *at = '\0';
}

/* Finds a signature that is written in full, such as "d:fd". */
static int32_t find_written(bench_layout *l, const collet_runtime *runtime, const char *text)
{
    collet_dtype dtypes[COLLET_MAX_OPERANDS];
    for (size_t i = 0; collet_ops_signature(runtime, l->op.id, dtypes, i, NULL) == COLLET_OK; i++) {
        take_signature(l, dtypes);
        if (!strcmp(l->signature, text))
            return 1;
    }
    return 0;
}

/* Returns the operand that determines the dtype of a call: the first input that is not bool (for `where`, the
 * numbers after the condition); if all are bool, the first input; without inputs, the first output. libcore
 * finds measured times by the same rule (core/dispatch/predict.c). */
static uint32_t decisive_operand(const bench_layout *l, const collet_dtype *dtypes)
{
    uint32_t first = l->op.n_in ? l->op.n_out : 0;
    for (uint32_t i = first; i < l->count; i++)
        if (dtypes[i] != COLLET_BOOL)
            return i;
    return first;
}

/* Finds the first signature whose decisive operand or first input has the dtype. If outputs may have any dtype,
 * prefers a signature with an output of this dtype. For NONE, takes the first signature. */
static int32_t find_signature(bench_layout *l, const collet_runtime *runtime, collet_dtype dtype)
{
    collet_dtype dtypes[COLLET_MAX_OPERANDS];
    int32_t found = 0, any = strchr(l->op.sigs, '*') != NULL;
    uint32_t first = l->op.n_in ? l->op.n_out : 0;
    for (size_t i = 0; collet_ops_signature(runtime, l->op.id, dtypes, i, NULL) == COLLET_OK; i++) {
        int32_t same = !any || dtypes[0] == dtype;
        if ((dtype && dtypes[first] != dtype && dtypes[decisive_operand(l, dtypes)] != dtype) ||
            (found && !same))
            continue;
        take_signature(l, dtypes);
        if (same || !dtype)
            return 1;
        found = 1;
    }
    return found;
}

static collet_status choose_types(bench_layout *l, const collet_runtime *runtime, const char *dtype,
                                  collet_error *err)
{
    collet_dtype named = dtype ? dtype_named(dtype) : COLLET_F32;
    int32_t found = dtype && strchr(dtype, ':') ? find_written(l, runtime, dtype)
                                                : named && find_signature(l, runtime, named);
    /* If the op has no f32, the default is the first signature. */
    if (!found && !dtype)
        found = find_signature(l, runtime, COLLET_DTYPE_NONE);
    return found ? COLLET_OK
                 : collet_fail(
                       err, COLLET_DTYPE,
                       "%s: no signature for '%s'; f32, f64 and the like name an input's type, "
                       "or give a signature (outputs:inputs, letters as in ops.def): %s",
                       l->row->name, dtype, l->op.sigs);
}

/* ---- Axes -------------------------------------------------------------------------------- */

static collet_status parse_axes(bench_layout *l, const char *text, collet_error *err)
{
    int32_t ndim = l->shape.count;
    l->axes = (1u << ndim) - 1;
    if (!text)
        return COLLET_OK;
    l->axes = 0;
    for (const char *at = text;;) {
        char *end;
        long axis = strtol(at, &end, 10);
        axis += axis < 0 ? ndim : 0;
        if (end == at || (*end && *end != ',') || axis < 0 || axis >= ndim)
            return collet_fail(err, COLLET_INVALID,
                               "--axis: '%s' is not a list of axes of an array with %d", text,
                               ndim);
        l->axes |= 1u << axis;
        if (!*end)
            return COLLET_OK;
        at = end + 1;
    }
}

/* ---- Parameters -------------------------------------------------------------------------- */

/* Sets the parameters: the defaults, except that a scalar is 1.5 and axes are the axes of --axis. */
static collet_status set_parameters(bench_layout *l, const collet_runtime *runtime,
                                    collet_error *err)
{
    static const collet_scalar scalar = {.dtype = COLLET_F32, .value.f32 = 1.5f};
    const char *field = (const char *)l->op.fields;
    if (!l->op.params_size)
        return COLLET_OK;
    collet_status status =
        collet_ops_defaults(runtime, l->op.id, &l->params, sizeof l->params, l->shape.count, err);
    for (uint32_t k = 0; k < l->op.field_count; k++, field += l->op.field_size) {
        const collet_ops_field *f = (const collet_ops_field *)(const void *)field;
        if (f->kind == COLLET_FIELD_SCALAR)
            memcpy(l->params.bytes + f->offset, &scalar, sizeof scalar);
        else if (f->kind == COLLET_FIELD_AXES && f->default_value < 0)
            memcpy(l->params.bytes + f->offset, &l->axes, sizeof l->axes);
    }
    if (l->row->detail->parameters)
        l->row->detail->parameters(l);
    return status;
}

/* ---- Calls ------------------------------------------------------------------------------- */

static void count_work(bench_layout *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const bench_operand *o = &l->operands[i];
        double bytes = (double)collet_dtype_size(o->dtype);
        for (int32_t k = 0; k < o->ndim; k++)
            bytes *= (double)o->shape[k];
        if (o->make == '-')
            continue;
        if (o->make == 'o')
            l->bytes_written += bytes;
        else
            l->bytes_read += bytes;
    }
    l->flops = l->row->detail->flops ? l->row->detail->flops(l) : 0;
}

static char make_of(const bench_layout *l, uint32_t i)
{
    const char *operands = l->row->detail->operands;
    return operands ? operands[i] : i < l->op.n_out ? 'o' : 'u';
}

collet_status bench_layout_make(bench_layout *l, const collet_runtime *runtime,
                                const bench_case *row, const bench_options *options,
                                const char *dtype, collet_error *err)
{
    const char *shape = options->shape ? options->shape : row->shape;
    *l = (bench_layout){.row = row, .op = row->op, .count = row->op.n_out + row->op.n_in};
    for (uint32_t i = 0; i < l->count; i++)
        l->operands[i].make = make_of(l, i);
    if (!bench_shape_parse(shape, &l->shape))
        return collet_fail(err, COLLET_SHAPE,
                           "%s: '%s' is not a shape: write numbers joined by x, such as %s", row->name,
                           shape, row->shape);
    collet_status status = choose_types(l, runtime, dtype, err);
    if (status == COLLET_OK)
        status = parse_axes(l, options->axis, err);
    if (status == COLLET_OK)
        status = arrange(l, err);
    if (status == COLLET_OK)
        status = set_parameters(l, runtime, err);
    if (status == COLLET_OK)
        status = infer_outputs(l, runtime, err);
    if (status == COLLET_OK)
        count_work(l);
    return status;
}
