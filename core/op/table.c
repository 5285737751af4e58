/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_vtable.c, tests/core/test_util.c */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "rules.h"
#include "signature.h"
#include "util/text.h"

/* ---- Patterns ---------------------------------------------------------------------------- */

static collet_status bad_row(const char *name, const char *what, const char *where,
                             collet_error *err)
{
    return collet_fail(err, COLLET_INVALID, "op %s: %s at '%s'", name, what, where);
}

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " ");
}

static int is_axis_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Parses one list of axes, which ends at a blank, '|', '?', ']' or the end of the text; NULL: malformed. */
static const char *parse_pattern(const char *s, collet_ops_pattern *p)
{
    *p = (collet_ops_pattern){0};
    if (*s == '*') {
        p->any = 1;
        return s + 1;
    }
    if (*s == ']')
        return s;
    if (!strncmp(s, "...", 3)) {
        p->dots = 1;
        s += 3;
        if (*s != ',')
            return s;
        s++;
    }
    for (;; s++) {
        if (p->ndim == COLLET_MAX_DIMS)
            return NULL;
        collet_ops_axis *axis = &p->axes[p->ndim++];
        if (*s >= '0' && *s <= '9')
            axis->extent = *s++ - '0';
        else if (is_axis_letter(*s))
            axis->letter = (uint16_t)*s++;
        else
            return NULL;
        if (axis->letter && is_axis_letter(*s))
            axis->other = (uint16_t)*s++;
        if (*s != ',')
            return s;
    }
}

/* Parses a name before '['. Returns the text after '['; `s` if there is no name; NULL if it is too
 * long. */
static const char *parse_name(const char *s, collet_ops_operand *o)
{
    size_t length = 0;
    while (text_is_letter(s[length]) || (s[length] >= '0' && s[length] <= '9') || s[length] == '_')
        length++;
    if (s[length] != '[')
        return s;
    if (!length || length >= sizeof o->name)
        return NULL;
    memcpy(o->name, s, length);
    return s + length + 1;
}

static const char *parse_operand(const char *s, collet_ops_operand *o)
{
    *o = (collet_ops_operand){.alternatives = 1};
    const char *axes = parse_name(s, o);
    int named = axes != s;
    if (!named && !strncmp(s, "()", 2))
        s += 2;
    else
        s = axes ? parse_pattern(axes, &o->pattern[0]) : NULL;
    if (s && *s == '|') {
        o->alternatives = 2;
        s = parse_pattern(s + 1, &o->pattern[1]);
    }
    if (s && named)
        s = *s == ']' ? s + 1 : NULL;
    if (s && *s == '?') {
        o->optional = 1;
        s++;
    }
    return s;
}

/* 1 if the letter is a separate axis in a required operand, so every call gives it an extent. */
static int letter_is_bound(const op *o, uint32_t count, int letter)
{
    for (uint32_t i = 0; i < count; i++) {
        const collet_ops_pattern *p = &o->operand[i].pattern[0];
        for (int32_t k = 0; k < p->ndim; k++)
            if (p->axes[k].letter == letter && !p->axes[k].other && !o->operand[i].optional &&
                o->operand[i].alternatives == 1)
                return 1;
    }
    return 0;
}

static int smaller_axes_are_bound(const op *o, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (int32_t a = 0; a < o->operand[i].alternatives; a++) {
            const collet_ops_pattern *p = &o->operand[i].pattern[a];
            for (int32_t k = 0; k < p->ndim; k++)
                if (p->axes[k].other && (!letter_is_bound(o, count, p->axes[k].letter) ||
                                         !letter_is_bound(o, count, p->axes[k].other)))
                    return 0;
        }
    return 1;
}

/* Names unnamed operands by their position. Returns NULL, or a duplicate name. */
static const char *complete_names(op *o, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char *name = o->operand[i].name;
        if (!*name)
            snprintf(name, sizeof o->operand[i].name, "%s%u", i < o->n_out ? "out" : "in",
                     i < o->n_out ? i : i - o->n_out);
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(name, o->operand[k].name))
                return name;
    }
    return NULL;
}

static void classify(op *o, uint32_t count)
{
    o->elementwise = o->rule_only = 1;
    for (uint32_t i = 0; i < count; i++) {
        const collet_ops_operand *w = &o->operand[i];
        if (w->alternatives != 1 || !w->pattern[0].dots || w->pattern[0].ndim)
            o->elementwise = 0;
        if (!w->pattern[0].any)
            o->rule_only = 0;
    }
}

static collet_status parse_shapes(op *o, collet_error *err)
{
    const char *s = skip_blanks(o->shapes), *twice;
    uint32_t count = 0, colon = 0;
    while (*s) {
        if (*s == ':') {
            if (colon++)
                return bad_row(o->name, "a second ':'", s, err);
            o->n_out = count;
            s = skip_blanks(s + 1);
            continue;
        }
        if (count == COLLET_MAX_OPERANDS)
            return bad_row(o->name, "too many operands", s, err);
        const char *next = parse_operand(s, &o->operand[count]);
        if (!next || !strchr(" :", *next) || (o->operand[count].pattern[0].any && !o->rule))
            return bad_row(o->name, "an operand's axes are malformed", s, err);
        count++;
        s = skip_blanks(next);
    }
    if (!colon || o->n_out == 0)
        return bad_row(o->name, "outputs and ':' are missing", o->shapes, err);
    o->n_in = count - o->n_out;
    twice = complete_names(o, count);
    if (twice)
        return bad_row(o->name, "two operands have the same name", twice, err);
    if (!smaller_axes_are_bound(o, count))
        return bad_row(
            o->name,
            "an axis of two letters needs each letter as an axis of its own in a required operand",
            o->shapes, err);
    classify(o, count);
    return COLLET_OK;
}

/* ---- Fields ------------------------------------------------------------------------------ */

static collet_status check_fields(op *o, collet_error *err)
{
    if (o->field_count > OP_FIELDS_MAX)
        return collet_fail(err, COLLET_INVALID, "op %s: field_count is %u; it must be at most %d",
                           o->name, o->field_count, OP_FIELDS_MAX);
    if (o->field_count && (!o->fields || o->field_size < sizeof(collet_ops_field) ||
                           o->field_size % _Alignof(collet_ops_field)))
        return collet_fail(
            err, COLLET_INVALID,
            "op %s: it has %u fields %s of %u bytes each; a field must have %zu bytes", o->name,
            o->field_count, o->fields ? "in an array" : "at NULL", o->field_size,
            sizeof(collet_ops_field));
    for (uint32_t k = 0; k < o->field_count; k++) {
        const collet_ops_field *f = op_field(o, k);
        collet_status status = op_field_check(o, f, err);
        if (status != COLLET_OK)
            return status;
        for (uint32_t i = 0; i < k; i++)
            if (!strcmp(f->name, op_field(o, i)->name))
                return bad_row(o->name, "two fields have the same name", f->name, err);
        for (uint32_t i = 0; i < o->n_out + o->n_in; i++)
            if (!strcmp(f->name, o->operand[i].name))
                return bad_row(o->name, "a field and an operand have the same name", f->name, err);
        o->scalars += f->kind == COLLET_FIELD_SCALAR;
    }
    return COLLET_OK;
}

/* ---- Ops --------------------------------------------------------------------------------- */

collet_status op_parse(op *out, const op_source *source, collet_error *err)
{
    *out = (op){.id = source->id,
                .name = source->name,
                .family = source->family,
                .shapes = source->shapes,
                .sigs = source->sigs,
                .params_size = source->params_size,
                .alias = source->alias,
                .rule = source->rule,
                .fields = source->fields,
                .field_count = source->field_count,
                .field_size = source->field_size,
                .split = source->split,
                .check = source->check,
                .measure = source->measure,
                .summary = source->summary};
    collet_status status = parse_shapes(out, err);
    if (status == COLLET_OK)
        status = op_parse_sigs(out, err);
    return status == COLLET_OK ? check_fields(out, err) : status;
}

#define COLLET_PARAMS(type) static const collet_ops_field fields_of_##type[] = {
#define COLLET_FIELD(type, field, kind, dtype, value, choices, meaning)                            \
    {#field,                                                                                       \
     meaning,                                                                                      \
     choices,                                                                                      \
     value,                                                                                        \
     COLLET_FIELD_##kind,                                                                          \
     COLLET_##dtype,                                                                               \
     offsetof(type, field),                                                                        \
     sizeof(((type *)0)->field)},
#define COLLET_PARAMS_END(type)                                                                    \
    }                                                                                              \
    ;                                                                                              \
    enum { field_count_of_##type = sizeof fields_of_##type / sizeof *fields_of_##type };
#include <collet/ops.def>
#define fields_of_void NULL
enum { field_count_of_void = 0 };

#define op_rule_none NULL
#define ALIAS_NONE 0
#define ALIAS_EXACT 1
#define ALIAS_FIRST 2
#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, params, alias, split, check,       \
                  measure, summary)                                                                \
    {id,                                                                                           \
     #name,                                                                                        \
     #family,                                                                                      \
     operands,                                                                                     \
     sigs,                                                                                         \
     op_rule_##rule,                                                                               \
     COLLET_PARAMS_SIZE_##NAME,                                                                    \
     ALIAS_##alias,                                                                                \
     field_count_of_##params ? fields_of_##params : NULL,                                          \
     field_count_of_##params,                                                                      \
     sizeof(collet_ops_field),                                                                     \
     split,                                                                                        \
     #check,                                                                                       \
     measure,                                                                                      \
     summary},
static const op_source op_rows[] = {
#include <collet/ops.def>
};

static uint64_t words(size_t offset, size_t size)
{
    return ((1ull << size / 4) - 1) << offset / 4;
}
_Static_assert(OP_PARAMS_MAX / 4 <= 64, "a word of a parameter block has no bit in op.reserved");

/* Parameter blocks in types.h consist of words: struct_size, fields and reserved words. */
static uint64_t reserved_words(const op *o)
{
    uint64_t known = words(0, sizeof(uint32_t));
    for (uint32_t k = 0; k < o->field_count; k++) {
        const collet_ops_field *f = op_field(o, k);
        size_t rest = f->kind == COLLET_FIELD_SCALAR
                          ? sizeof(collet_scalar) - offsetof(collet_scalar, reserved)
                          : 0;
        known |= words(f->offset, f->size - rest);
    }
    return o->params_size ? words(0, o->params_size) & ~known : 0;
}

collet_status op_table_create(op_table *table, collet_error *err)
{
    size_t count = sizeof op_rows / sizeof *op_rows;
    *table = (op_table){.ops = calloc(count, sizeof(op)), .count = count};
    if (!table->ops)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the list of ops");
    for (size_t i = 0; i < count; i++) {
        collet_status status = op_parse(&table->ops[i], &op_rows[i], err);
        if (status != COLLET_OK) {
            op_table_destroy(table);
            return status;
        }
        table->ops[i].reserved = reserved_words(&table->ops[i]);
        table->by_id[op_rows[i].id] = &table->ops[i];
    }
    return COLLET_OK;
}

void op_table_destroy(op_table *table)
{
    free(table->ops);
    *table = (op_table){0};
}
