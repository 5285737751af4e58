/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_device.c, tests/core/test_storage.c */
#include "rows.h"

#include <stdlib.h>

#include "op/signature.h"
#include "plugins/vtable.h"

static uint32_t op_slot(uint32_t id)
{
    return id < OP_BUILTIN_MAX ? id : OP_BUILTIN_MAX + (id - COLLET_OWN_OP(0));
}

#define OP_SLOTS (OP_BUILTIN_MAX + RUNTIME_OWN_OPS_MAX)

/* The runtime's id of a row's op; 0 if the op, its signature or the row's flags are unknown. */
static uint32_t row_op(const backend *b, const collet_kernel_row *row)
{
    uint32_t id = row->op >= COLLET_OWN_OP(0) ? b->own_ops[row->op - COLLET_OWN_OP(0)] : row->op;
    const op *o = runtime_op(b->runtime, id);
    return o && vtable_row_usable(row) && op_accepts_row(o, row->sig) ? id : 0;
}

collet_status rows_index(device *d, collet_error *err)
{
    const collet_plugin *table = d->table;
    int32_t (*supports)(collet_device *, uint32_t) = table->device_supports;
    uint32_t *op_of = calloc(table->kernel_count + 1u, sizeof *op_of);
    d->first = calloc(OP_SLOTS + 1, sizeof *d->first);
    d->rows = calloc(table->kernel_count + 1u, sizeof *d->rows);
    if (!op_of || !d->first || !d->rows) {
        free(op_of);
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the kernels of %s", d->name);
    }
    for (uint32_t i = 0; i < table->kernel_count; i++) {
        if (supports && !supports(d->handle, i))
            continue;
        op_of[i] = row_op(d->owner, vtable_kernel(table, i));
        if (op_of[i])
            d->first[op_slot(op_of[i]) + 1]++;
    }
    for (uint32_t s = 0; s < OP_SLOTS; s++)
        d->first[s + 1] += d->first[s];
    /* Filling has moved each slot's start to the start of the next slot: shift them back. */
    for (uint32_t i = 0; i < table->kernel_count; i++) {
        if (!op_of[i])
            continue;
        const collet_kernel_row *row = vtable_kernel(table, i);
        d->rows[d->first[op_slot(op_of[i])]++] = (device_row){row->sig, row};
    }
    memmove(d->first + 1, d->first, OP_SLOTS * sizeof *d->first);
    d->first[0] = 0;
    free(op_of);
    return COLLET_OK;
}

void rows_free(device *d)
{
    free(d->first);
    free(d->rows);
    d->first = NULL;
    d->rows = NULL;
}

const collet_kernel_row *device_find_row(const device *d, uint32_t id, uint64_t sig, uint64_t mask)
{
    uint32_t slot = op_slot(id);
    for (uint32_t i = d->first[slot]; i < d->first[slot + 1]; i++)
        if (((d->rows[i].sig ^ sig) & mask) == 0 || !d->rows[i].sig)
            return d->rows[i].row;
    return NULL;
}
