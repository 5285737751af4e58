/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_device.c */
#include "own_ops.h"

#include <stdlib.h>
#include <string.h>

#include "op/field.h"
#include "op/signature.h"
#include "plugins/vtable.h"

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static int same_field(const collet_ops_field *a, const collet_ops_field *b)
{
    return !strcmp(a->name, b->name) && same_text(a->choices, b->choices) && a->kind == b->kind &&
           a->dtype == b->dtype && a->offset == b->offset && a->size == b->size;
}

/* Fields that only the longer definition has must begin after the end of the shorter parameter block. */
static int fields_agree(const op *longer, const op *shorter)
{
    for (uint32_t k = 0; k < longer->field_count; k++) {
        const collet_ops_field *f = op_field(longer, k);
        if (k < shorter->field_count ? !same_field(f, op_field(shorter, k))
                                     : shorter->field_count && f->offset < shorter->params_size)
            return 0;
    }
    return 1;
}

/* The first conflict between two definitions of an op; NULL: `longer` extends `shorter`. */
static const char *op_conflict(const op *longer, const op *shorter)
{
    if (strcmp(longer->shapes, shorter->shapes) != 0)
        return "shapes";
    if (longer->alias != shorter->alias)
        return "aliasing";
    if (!op_has_sigs(longer, shorter))
        return "signatures";
    if (longer->params_size < shorter->params_size ||
        !longer->params_size != !shorter->params_size ||
        longer->field_count < shorter->field_count || !fields_agree(longer, shorter))
        return "parameters";
    return NULL;
}

/* Takes ownership of `o`, another definition of an op that exists. From now on the longer of the
 * two definitions is used. */
static collet_status own_op_join(collet_runtime *r, uint32_t index, op *o, collet_error *err)
{
    op *before = r->own_ops[index];
    const char *conflict = op_conflict(before, o);
    if (conflict && !op_conflict(o, before)) {
        o->id = before->id;
        o->replaced = before; /* kept, because calls in progress use it */
        atomic_store(&r->own_ops[index], o);
        return COLLET_OK;
    }
    if (conflict)
        collet_fail(err, COLLET_UNAVAILABLE,
                    "op %s: %s, which was opened first, defines it with other %s; rename one of "
                    "the two ops",
                    o->name, before->definer, conflict);
    free(o);
    return conflict ? COLLET_UNAVAILABLE : COLLET_OK;
}

/* Registers `o` and takes ownership of it. */
static collet_status own_op_register(collet_runtime *r, op *o, uint32_t *id, collet_error *err)
{
    uint32_t count = atomic_load(&r->own_op_count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(r->own_ops[i]->name, o->name) != 0)
            continue;
        collet_status status = own_op_join(r, i, o, err);
        *id = status == COLLET_OK ? COLLET_OWN_OP(i) : 0;
        return status;
    }
    if (count == RUNTIME_OWN_OPS_MAX) {
        collet_status status =
            collet_fail(err, COLLET_UNAVAILABLE, "op %s: plugins define more than %d ops", o->name,
                        RUNTIME_OWN_OPS_MAX);
        free(o);
        return status;
    }
    *id = o->id = COLLET_OWN_OP(count);
    atomic_store(&r->own_ops[count], o);
    atomic_store(&r->own_op_count, count + 1);
    return COLLET_OK;
}

static collet_status own_op_add(backend *b, const collet_plugin *table, uint32_t k,
                                collet_error *err)
{
    collet_error why;
    op *o = malloc(sizeof *o);
    if (!o)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the op %s",
                           vtable_op(table, k)->name);
    collet_status status = vtable_parse_op(table, k, o, &why);
    if (status != COLLET_OK) {
        free(o);
        return backend_left_out(b, "op-left-out", why.text, err);
    }
    o->definer = b->plugin->name;
    if (o->unknown_sigs) {
        collet_fail(
            &why, COLLET_UNAVAILABLE,
            "op %s: %u signatures in '%.200s' have dtypes that this libcore does not know",
            o->name, o->unknown_sigs, o->sigs);
        status = backend_left_out(b, "signature-left-out", why.text, err);
    }
    if (status == COLLET_OK && own_op_register(b->runtime, o, &b->own_ops[k], &why) != COLLET_OK)
        status = backend_left_out(b, "op-left-out", why.text, err);
    return status;
}

int own_op_left_out(const backend *b, const char *name)
{
    for (uint32_t k = 0; k < b->table->op_count; k++)
        if (!b->own_ops[k] && !strcmp(vtable_op(b->table, k)->name, name))
            return 1;
    return 0;
}

collet_status own_ops_register(backend *b, const collet_plugin *table, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (!table->op_count)
        return COLLET_OK;
    b->own_ops = calloc(table->op_count, sizeof *b->own_ops);
    if (!b->own_ops)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the ops of %s", table->name);
    pthread_mutex_lock(&b->runtime->own_ops_lock);
    for (uint32_t k = 0; status == COLLET_OK && k < table->op_count; k++)
        status = own_op_add(b, table, k, err);
    pthread_mutex_unlock(&b->runtime->own_ops_lock);
    return status;
}
