/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_vtable.c */
#include "vtable.h"

#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>

#include "op/signature.h"
#include "op/table.h"

#define MAX_KERNELS 65536u
#define MAX_OPS 4096u
#define MAX_ELEMENT 4096u /* bytes of one array element, with members that later minors added */

/* The size of the table of version 1.0; later slots may be absent. */
#define FIRST_SIZE (offsetof(collet_plugin, extension) + sizeof(void (*)(void)))

/* ---- Slots ------------------------------------------------------------------------------- */

typedef enum slot_need { ALWAYS, MEMORY, QUEUES } slot_need;

typedef struct table_slot {
    const char *name;
    size_t offset;
    slot_need need;
} table_slot;

/* clang-format off */
#define SLOT(field, need) {#field, offsetof(collet_plugin, field), need}
/* clang-format on */

static const table_slot slots[] = {
    SLOT(capabilities, ALWAYS), SLOT(device_open, ALWAYS),  SLOT(device_close, ALWAYS),
    SLOT(buffer_alloc, MEMORY), SLOT(buffer_free, MEMORY),  SLOT(buffer_write, MEMORY),
    SLOT(buffer_read, MEMORY),  SLOT(queue_create, QUEUES), SLOT(queue_destroy, QUEUES),
    SLOT(queue_mark, QUEUES),   SLOT(queue_wait, QUEUES),   SLOT(queue_after, QUEUES),
};

static int slot_set(const collet_plugin *plugin, size_t offset)
{
    void (*function)(void);
    memcpy(&function, (const char *)plugin + offset, sizeof function);
    return function != NULL;
}

/* The name of a slot that is required by `need` but NULL; NULL: there is none. */
static const char *missing_slot(const collet_plugin *p, slot_need need)
{
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (slots[i].need == need && !slot_set(p, slots[i].offset))
            return slots[i].name;
    return NULL;
}

static int is_one_of(uint32_t value, uint32_t a, uint32_t b)
{
    return value == a || value == b;
}

collet_status vtable_check_device(const collet_plugin *p, const collet_device_properties *of,
                                  refusal *why)
{
    const char *slot = NULL;
    why->code = "ok";
    if (!is_one_of(of->memory, COLLET_MEMORY_HOST, COLLET_MEMORY_OWN))
        return REFUSE(
            "device-properties",
            "device_open set memory to %u; it must be COLLET_MEMORY_HOST or COLLET_MEMORY_OWN",
            of->memory);
    if (!is_one_of(of->order, COLLET_ORDER_SYNCHRONOUS, COLLET_ORDER_QUEUES))
        return REFUSE("device-properties",
                      "device_open set order to %u; it must be COLLET_ORDER_SYNCHRONOUS or "
                      "COLLET_ORDER_QUEUES",
                      of->order);
    if (!is_one_of(of->threads, COLLET_THREADS_ANY, COLLET_THREADS_ONE))
        return REFUSE(
            "device-properties",
            "device_open set threads to %u; it must be COLLET_THREADS_ANY or COLLET_THREADS_ONE",
            of->threads);
    if (of->reserved)
        return REFUSE("device-properties", "device_open set reserved to %u; it must be 0",
                      of->reserved);
    if (of->memory == COLLET_MEMORY_OWN && (slot = missing_slot(p, MEMORY)))
        return REFUSE("device-slot",
                      "the slot %s is NULL; a device with COLLET_MEMORY_OWN needs it", slot);
    if (of->order == COLLET_ORDER_QUEUES && (slot = missing_slot(p, QUEUES)))
        return REFUSE("device-slot",
                      "the slot %s is NULL; a device with COLLET_ORDER_QUEUES needs it", slot);
    return COLLET_OK;
}

/* ---- Arrays ------------------------------------------------------------------------------ */

const collet_kernel_row *vtable_kernel(const collet_plugin *plugin, uint32_t index)
{
    const char *first = (const char *)plugin->kernels;
    return (const collet_kernel_row *)(const void *)(first + (size_t)index * plugin->kernel_size);
}

const collet_ops_definition *vtable_op(const collet_plugin *plugin, uint32_t index)
{
    const char *first = (const char *)plugin->ops;
    return (const collet_ops_definition *)(const void *)(first + (size_t)index * plugin->op_size);
}

collet_status vtable_parse_op(const collet_plugin *p, uint32_t index, op *out, collet_error *err)
{
    const collet_ops_definition *d = vtable_op(p, index);
    if (!d->shapes || !d->sigs)
        return collet_fail(err, COLLET_INVALID, "op %s: %s is NULL", d->name,
                           d->shapes ? "sigs" : "shapes");
    if (d->alias > 1)
        return collet_fail(err, COLLET_INVALID, "op %s: alias is %u; it must be 0 or 1", d->name,
                           d->alias);
    if ((d->params_size && d->params_size < sizeof(uint32_t)) || d->params_size > OP_PARAMS_MAX)
        return collet_fail(err, COLLET_INVALID,
                           "op %s: params_size is %u; it must be 0, or %zu to %d", d->name,
                           d->params_size, sizeof(uint32_t), OP_PARAMS_MAX);
    op_source source = {.id = COLLET_OWN_OP(index),
                        .name = d->name,
                        .family = "own",
                        .shapes = d->shapes,
                        .sigs = d->sigs,
                        .params_size = d->params_size,
                        .alias = d->alias != 0,
                        .split = "",
                        .check = "",
                        .measure = "",
                        .summary = "",
                        .fields = d->fields,
                        .field_count = d->field_count,
                        .field_size = d->field_size};
    return op_parse(out, &source, err);
}

static collet_status check_array(const char *what, const void *array, uint32_t count,
                                 uint32_t element, size_t smallest, uint32_t most, refusal *why)
{
    if (!count)
        return COLLET_OK;
    if (!array)
        return REFUSE("vtable-arrays", "the address of the %u %s is NULL", count, what);
    if (count > most)
        return REFUSE("vtable-arrays", "there are %u %s; at most %u are supported", count, what,
                      most);
    if (element < smallest || element > MAX_ELEMENT || element % sizeof(uint64_t))
        return REFUSE("vtable-arrays",
                      "%s have %u bytes each; the size must be a multiple of %zu from %zu to %d",
                      what, element, sizeof(uint64_t), smallest, (int)MAX_ELEMENT);
    return COLLET_OK;
}

/* ---- Head -------------------------------------------------------------------------------- */

static collet_status check_head(const collet_plugin *p, const manifest *m, refusal *why)
{
    if (p->abi >> 16 != COLLET_ABI_MAJOR)
        return refuse_with(why, COLLET_ABI_MISMATCH, "vtable-abi",
                           "the table is for interface %u.%u; this libcore has %d.%d", p->abi >> 16,
                           p->abi & 0xffff, COLLET_ABI_MAJOR, COLLET_ABI_MINOR);
    if (p->struct_size < FIRST_SIZE)
        return REFUSE("vtable-short",
                      "the table has %u bytes; the first version of the interface has %zu",
                      p->struct_size, FIRST_SIZE);
    if (p->flags || p->reserved)
        return REFUSE("vtable-reserved",
                      "in the table flags is 0x%x and reserved is %u; both must be 0", p->flags,
                      p->reserved);
    if (!p->name || strcmp(p->name, m->name))
        return REFUSE("vtable-name", "the table's name is '%.63s', but the manifest's is '%s'",
                      p->name ? p->name : "(NULL)", m->name);
    if (!p->version)
        return REFUSE("vtable-name", "the table's version is NULL");
    collet_status status = check_array("kernel rows", p->kernels, p->kernel_count, p->kernel_size,
                                       sizeof(collet_kernel_row), MAX_KERNELS, why);
    if (status == COLLET_OK)
        status = check_array("own ops", p->ops, p->op_count, p->op_size,
                             sizeof(collet_ops_definition), MAX_OPS, why);
    return status;
}

/* ---- Own ops ----------------------------------------------------------------------------- */

static int own_name_valid(const char *name)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t vendor = strspn(name, word);
    if (!vendor || name[vendor] != '.')
        return 0;
    size_t rest = strspn(name + vendor + 1, word);
    return rest && !name[vendor + 1 + rest] && vendor + 1 + rest < COLLET_MAX_NAME;
}

static int is_newer(const collet_plugin *p)
{
    return (p->abi & 0xffff) > COLLET_ABI_MINOR;
}

/* Parses the definitions into `ops`. An op without outputs belongs to a newer interface and is left
 * out. */
static collet_status check_own_ops(const collet_plugin *p, op *ops, refusal *why)
{
    for (uint32_t k = 0; k < p->op_count; k++) {
        const collet_ops_definition *d = vtable_op(p, k);
        if (!d->name || !own_name_valid(d->name))
            return REFUSE("vtable-own-op", "own op %u is named '%.63s'; write it as \"vendor.op\"",
                          k, d->name ? d->name : "(NULL)");
        for (uint32_t i = 0; i < k; i++)
            if (!strcmp(ops[i].name, d->name))
                return REFUSE("vtable-own-op", "two own ops are named '%s'", d->name);
        collet_error wrong;
        if (vtable_parse_op(p, k, &ops[k], &wrong) == COLLET_OK)
            continue;
        if (!is_newer(p))
            return REFUSE("vtable-own-op", "own %s", wrong.text);
        ops[k] = (op){.id = COLLET_OWN_OP(k), .name = d->name};
    }
    return COLLET_OK;
}

/* ---- Rows -------------------------------------------------------------------------------- */

/* The ops that rows may name. A slot is the id of a built-in op, or OP_BUILTIN_MAX + k for own op
 * k. */
typedef struct known_ops {
    op_table table;
    op *own;
    uint32_t count;      /* number of slots */
    unsigned char *seen; /* by slot: 1: the op has a row; 2: the op is also in the manifest */
    uint32_t unknown;    /* number of rows of ops that only a newer libcore has */
} known_ops;

static uint32_t slot_of(uint32_t id)
{
    return id & 0x80000000u ? OP_BUILTIN_MAX + (id & 0x7fffffffu) : id;
}

/* NULL: none. */
static const op *op_in_slot(const known_ops *known, uint32_t slot)
{
    if (slot >= known->count)
        return NULL;
    return slot < OP_BUILTIN_MAX ? known->table.by_id[slot] : &known->own[slot - OP_BUILTIN_MAX];
}

static const op *find_op(const known_ops *known, uint32_t id)
{
    return id & 0x80000000u || id < OP_BUILTIN_MAX ? op_in_slot(known, slot_of(id)) : NULL;
}

static const op *find_op_named(const known_ops *known, const char *name)
{
    for (uint32_t slot = 0; slot < known->count; slot++) {
        const op *o = op_in_slot(known, slot);
        if (o && !strcmp(o->name, name))
            return o;
    }
    return NULL;
}

int vtable_row_usable(const collet_kernel_row *row)
{
    return !row->flags && !row->reserved;
}

/* Only a row for a newer minor version may have more parameters of an op than this libcore. */
static int params_fit(const collet_plugin *p, const collet_kernel_row *row, const op *o)
{
    if (row->params_size > o->params_size)
        return is_newer(p) && !(row->op & 0x80000000u);
    return !o->params_size || row->params_size >= sizeof(uint32_t);
}

static collet_status check_row(const collet_plugin *p, uint32_t index, known_ops *known,
                               refusal *why)
{
    const collet_kernel_row *row = vtable_kernel(p, index);
    const op *o = find_op(known, row->op);
    char sig[OP_SIG_TEXT];
    if (!vtable_row_usable(row)) {
        if (o)
            known->seen[slot_of(row->op)] = 1;
        return COLLET_OK;
    }
    if (!row->run)
        return REFUSE("vtable-run", "kernel row %u (%s) has no run", index, o ? o->name : "?");
    if (!o && is_newer(p) && !(row->op & 0x80000000u)) {
        known->unknown++;
        return COLLET_OK;
    }
    if (!o)
        return REFUSE("vtable-op", "kernel row %u is for op %u, which does not exist", index,
                      row->op);
    if (!o->n_out) {
        known->seen[slot_of(row->op)] = 1;
        return COLLET_OK;
    }
    if (!op_accepts_row(o, row->sig) && !is_newer(p) && !o->unknown_sigs)
        return REFUSE("vtable-sig", "kernel row %u: op %s has no signature %s; it has %s", index,
                      o->name, op_sig_text(o, row->sig, sig), o->sigs);
    if (!params_fit(p, row, o))
        return REFUSE("vtable-params",
                      "kernel row %u: params_size is %u; the parameters of op %s have %u bytes",
                      index, row->params_size, o->name, o->params_size);
    known->seen[slot_of(row->op)] = 1;
    return COLLET_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const collet_kernel_row *x = *(const collet_kernel_row *const *)a;
    const collet_kernel_row *y = *(const collet_kernel_row *const *)b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->sig < y->sig ? -1 : x->sig > y->sig;
}

static collet_status check_repeated(const collet_plugin *p, const known_ops *known, refusal *why)
{
    if (!p->kernel_count)
        return COLLET_OK;
    const collet_kernel_row **rows = calloc(p->kernel_count, sizeof *rows);
    if (!rows)
        return REFUSE_NO_MEMORY("out of memory for %u kernel rows", p->kernel_count);
    for (uint32_t i = 0; i < p->kernel_count; i++)
        rows[i] = vtable_kernel(p, i);
    qsort(rows, p->kernel_count, sizeof *rows, compare_rows);
    collet_status status = COLLET_OK;
    for (uint32_t i = 1; i < p->kernel_count && status == COLLET_OK; i++)
        if (!compare_rows(&rows[i - 1], &rows[i])) {
            const op *o = find_op(known, rows[i]->op);
            char sig[OP_SIG_TEXT];
            status = o ? REFUSE("vtable-repeated", "two kernel rows for op %s, signature %s",
                                o->name, op_sig_text(o, rows[i]->sig, sig))
                       : REFUSE("vtable-repeated", "two kernel rows for op %u with one signature",
                                rows[i]->op);
        }
    free(rows);
    return status;
}

/* ---- Manifest ---------------------------------------------------------------------------- */

static collet_status check_kernels(const collet_plugin *p, const manifest *m,
                                   const known_ops *known, refusal *why)
{
    size_t unknown = 0;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const op *o = find_op_named(known, m->kernels[i]);
        if (!o && is_newer(p))
            unknown++;
        else if (!o || !known->seen[slot_of(o->id)])
            return REFUSE("kernels-differ",
                          "the manifest names the kernel %s, but the table has no row for it",
                          m->kernels[i]);
        else
            known->seen[slot_of(o->id)] = 2;
    }
    for (uint32_t slot = 0; slot < known->count; slot++)
        if (known->seen[slot] == 1)
            return REFUSE("kernels-differ",
                          "the table has the kernel %s, but the manifest does not name it",
                          op_in_slot(known, slot)->name);
    if (unknown > known->unknown)
        return REFUSE("kernels-differ",
                      "the manifest names %zu unknown kernels, but the table has %u", unknown,
                      known->unknown);
    return COLLET_OK;
}

collet_status vtable_verify(const collet_plugin *plugin, const manifest *m, refusal *why)
{
    known_ops known = {.table = {.ops = NULL}};
    why->code = "ok";
    collet_status status = check_head(plugin, m, why);
    if (status != COLLET_OK)
        return status;
    const char *slot = missing_slot(plugin, ALWAYS);
    if (slot)
        return REFUSE("vtable-slot", "the slot %s is NULL", slot);
    known.count = OP_BUILTIN_MAX + plugin->op_count;
    known.own = calloc(plugin->op_count + 1u, sizeof *known.own);
    known.seen = calloc(known.count, 1);
    if (!known.own || !known.seen || op_table_create(&known.table, NULL) != COLLET_OK) {
        status = REFUSE_NO_MEMORY("out of memory while a table was checked");
        goto done;
    }
    status = check_own_ops(plugin, known.own, why);
    for (uint32_t i = 0; status == COLLET_OK && i < plugin->kernel_count; i++)
        status = check_row(plugin, i, &known, why);
    if (status == COLLET_OK)
        status = check_repeated(plugin, &known, why);
    if (status == COLLET_OK)
        status = check_kernels(plugin, m, &known, why);
done:
    op_table_destroy(&known.table);
    free(known.seen);
    free(known.own);
    return status;
}

/* ---- Layers ------------------------------------------------------------------------------ */

static int same_row(const collet_kernel_row *a, const collet_kernel_row *b)
{
    return a->op == b->op && a->sig == b->sig && a->params_size == b->params_size &&
           a->flags == b->flags && a->reserved == b->reserved;
}

static int same_op(const collet_ops_definition *a, const collet_ops_definition *b)
{
    return !strcmp(a->name, b->name) && !strcmp(a->shapes, b->shapes) &&
           !strcmp(a->sigs, b->sigs) && a->params_size == b->params_size && a->alias == b->alias &&
           a->field_count == b->field_count;
}

collet_status vtable_verify_layer(const collet_plugin *over, const collet_plugin *below,
                                  refusal *why)
{
    if (over->kernel_count != below->kernel_count || over->op_count != below->op_count)
        return REFUSE("layer-differs",
                      "it has %u rows and %u own ops, but the table below has %u and %u",
                      over->kernel_count, over->op_count, below->kernel_count, below->op_count);
    for (uint32_t i = 0; i < over->kernel_count; i++)
        if (!same_row(vtable_kernel(over, i), vtable_kernel(below, i)))
            return REFUSE("layer-differs", "its row %u differs from the table below", i);
    for (uint32_t i = 0; i < over->op_count; i++)
        if (!same_op(vtable_op(over, i), vtable_op(below, i)))
            return REFUSE("layer-differs", "its own op '%s' differs from the table below",
                          vtable_op(over, i)->name);
    return COLLET_OK;
}
