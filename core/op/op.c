/* SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

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

/* One axis list up to a blank, '|', '?', ':' or the end; NULL when it is malformed. */
static const char *parse_pattern(const char *s, op_pattern *p)
{
    *p = (op_pattern){0};
    if (!strncmp(s, "()", 2))
        return s + 2;
    if (!strncmp(s, "...", 3)) {
        p->dots = 1;
        s += 3;
        if (*s != ',')
            return s;
        s++;
    }
    for (;;) {
        if (p->ndim == COLLET_MAX_DIMS)
            return NULL;
        if (*s >= '0' && *s <= '9')
            p->axes[p->ndim++] = *s++ - '0';
        else if (is_axis_letter(s[0]) && is_axis_letter(s[1])) {
            p->axes[p->ndim++] = OP_AXIS_LEAST(s[0], s[1]);
            s += 2;
        } else if (is_axis_letter(*s))
            p->axes[p->ndim++] = -*s++;
        else
            return NULL;
        if (*s != ',')
            return s;
        s++;
    }
}

static const char *parse_operand(const char *s, op_operand *o)
{
    *o = (op_operand){.alternatives = 1};
    s = parse_pattern(s, &o->pattern[0]);
    if (s && *s == '|') {
        o->alternatives = 2;
        s = parse_pattern(s + 1, &o->pattern[1]);
    }
    if (s && *s == '?') {
        o->optional = 1;
        s++;
    }
    return s;
}

/* Whether the letter is an axis of its own in an operand that is always there: then every call
 * gives it an extent. */
static int letter_is_bound(const op *o, uint32_t count, int letter)
{
    for (uint32_t i = 0; i < count; i++) {
        const op_pattern *p = &o->operand[i].pattern[0];
        for (int32_t k = 0; k < p->ndim; k++)
            if (p->axes[k] == -letter && !o->operand[i].optional && o->operand[i].alternatives == 1)
                return 1;
    }
    return 0;
}

static int least_axes_are_bound(const op *o, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (int32_t a = 0; a < o->operand[i].alternatives; a++) {
            const op_pattern *p = &o->operand[i].pattern[a];
            for (int32_t k = 0; k < p->ndim; k++)
                if (OP_AXIS_IS_LEAST(p->axes[k]) &&
                    (!letter_is_bound(o, count, OP_AXIS_LETTER(p->axes[k])) ||
                     !letter_is_bound(o, count, OP_AXIS_SECOND(p->axes[k]))))
                    return 0;
        }
    return 1;
}

static collet_status parse_shapes(op *o, collet_error *err)
{
    const char *s = skip_blanks(o->shapes);
    uint32_t count = 0, colon = 0;
    while (*s) {
        if (*s == ':') {
            if (colon++)
                return bad_row(o->name, "a second ':'", s, err);
            o->n_out = count;
            s = skip_blanks(s + 1);
            continue;
        }
        if (*s == '@')
            break; /* op_parse has found the rule */
        if (count == COLLET_MAX_OPERANDS)
            return bad_row(o->name, "too many operands", s, err);
        const char *next = parse_operand(s, &o->operand[count]);
        if (!next || !strchr(" :", *next))
            return bad_row(o->name, "an operand's axes are malformed", s, err);
        count++;
        s = skip_blanks(next);
    }
    if (!colon || o->n_out == 0)
        return bad_row(o->name, "outputs and ':' are missing", o->shapes, err);
    if (!least_axes_are_bound(o, count))
        return bad_row(o->name, "a letter of an axis of two is no axis of its own", o->shapes, err);
    o->n_in = count - o->n_out;
    o->elementwise = 1;
    for (uint32_t i = 0; i < count; i++)
        if (o->operand[i].alternatives != 1 || !o->operand[i].pattern[0].dots ||
            o->operand[i].pattern[0].ndim)
            o->elementwise = 0;
    return COLLET_OK;
}

/* ---- Signatures -------------------------------------------------------------------------- */

#define DTYPE_LETTER(name, id, size, text, letter) [id] = letter,
static const char dtype_letters[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(DTYPE_LETTER)};
#undef DTYPE_LETTER

/* COLLET_DTYPE_NONE for '*', '=' and what is no letter. */
static collet_dtype letter_dtype(char c)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++)
        if (dtype_letters[d] == c)
            return d;
    return COLLET_DTYPE_NONE;
}

static int letter_known(char c)
{
    return c && (c == '*' || c == '=' || letter_dtype(c));
}

static uint64_t pack_sig(const char *letters, uint32_t count)
{
    uint64_t sig = 0;
    for (uint32_t i = 0; i < count; i++) {
        collet_dtype d = letter_dtype(letters[i]);
        if (!d)
            return 0;
        sig |= COLLET_SIG_AT(i, d);
    }
    return sig;
}

static collet_status parse_sigs(op *o, collet_error *err)
{
    uint32_t operands = 0;
    const char *s = skip_blanks(o->sigs);
    while (*s) {
        if (o->sig_count == OP_SIG_MAX)
            return bad_row(o->name, "too many signatures", s, err);
        char *sig = o->sig[o->sig_count++];
        uint32_t n = 0, n_out = 0, colon = 0;
        for (; *s && *s != ' '; s++) {
            if (*s == ':') {
                n_out = n;
                colon++;
            } else if (!letter_known(*s) || n == COLLET_MAX_OPERANDS) {
                return bad_row(o->name, "a signature is malformed", s, err);
            } else {
                sig[n++] = *s;
            }
        }
        if (colon != 1 || (operands && n != operands) || (o->n_out && n_out != o->n_out))
            return bad_row(o->name, "a signature's operands do not fit the shapes", s, err);
        operands = n;
        o->exact[o->sig_count - 1] = pack_sig(sig, n);
        o->n_out = n_out;
        s = skip_blanks(s);
    }
    if (!o->sig_count || (o->shapes[0] != '@' && operands != o->n_out + o->n_in))
        return bad_row(o->name, "signatures do not fit the shapes", o->sigs, err);
    o->n_in = operands - o->n_out;
    return COLLET_OK;
}

static collet_dtype sig_dtype(uint64_t sig, uint32_t operand)
{
    return (collet_dtype)(sig >> (operand * COLLET_SIG_BITS) & ((1u << COLLET_SIG_BITS) - 1));
}

static int is_real(collet_dtype d)
{
    return d > 0 && d < COLLET_DTYPE_COUNT && d != COLLET_C64 && d != COLLET_C128;
}

static int sig_fits(const op *o, const char *letters, uint64_t sig)
{
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++) {
        collet_dtype d = sig_dtype(sig, i);
        int fits = letters[i] == '*' ? is_real(d)
                   : letters[i] == '='
                       ? d == sig_dtype(sig, 0)
                       : d > 0 && d < COLLET_DTYPE_COUNT && dtype_letters[d] == letters[i];
        if (!fits && !(d == COLLET_DTYPE_NONE && o->operand[i].optional))
            return 0;
    }
    return 1;
}

int op_accepts(const op *o, uint64_t sig)
{
    for (uint32_t i = 0; i < o->sig_count; i++)
        if (sig && o->exact[i] == sig)
            return 1;
    if (o->n_out + o->n_in < COLLET_MAX_OPERANDS && sig >> ((o->n_out + o->n_in) * COLLET_SIG_BITS))
        return 0;
    for (uint32_t i = 0; i < o->sig_count; i++)
        if (sig_fits(o, o->sig[i], sig))
            return 1;
    return 0;
}

/* ---- Ops --------------------------------------------------------------------------------- */

collet_status op_parse(op *out, uint32_t id, const char *name, const char *family,
                       const char *shapes, const char *sigs, uint32_t params_size, uint32_t alias,
                       op_rule rule, collet_error *err)
{
    *out = (op){.id = id,
                .name = name,
                .family = family,
                .shapes = shapes,
                .sigs = sigs,
                .params_size = params_size,
                .alias = alias,
                .rule = rule,
                .rule_only = shapes[0] == '@',
                .split = "",
                .check = ""};
    if (strchr(shapes, '@') && !rule)
        return bad_row(name, "the shape rule is unknown", shapes, err);
    if (shapes[0] != '@') {
        collet_status status = parse_shapes(out, err);
        if (status != COLLET_OK)
            return status;
    }
    return parse_sigs(out, err);
}

typedef struct op_row {
    uint32_t id;
    const char *name, *family, *shapes, *sigs;
    uint32_t params_size, alias;
    const char *split, *check;
} op_row;

#define PARAMS_SIZE_void 0
#define PARAMS_SIZE_collet_fill_params sizeof(collet_fill_params)
#define PARAMS_SIZE_collet_axpy_params sizeof(collet_axpy_params)
#define PARAMS_SIZE_collet_transpose_params sizeof(collet_transpose_params)
#define PARAMS_SIZE_collet_reduce_params sizeof(collet_reduce_params)
#define PARAMS_SIZE_collet_random_params sizeof(collet_random_params)
#define PARAMS_SIZE_collet_fft_params sizeof(collet_fft_params)
#define PARAMS_SIZE_collet_fftshift_params sizeof(collet_fftshift_params)
#define PARAMS_SIZE_collet_ternary_quantize_params sizeof(collet_ternary_quantize_params)
#define PARAMS_SIZE_collet_ternary_format_params sizeof(collet_ternary_format_params)
#define PARAMS_SIZE_collet_ternary_linear_params sizeof(collet_ternary_linear_params)
#define ALIAS_NONE 0
#define ALIAS_EXACT 1
#define COLLET_OP(NAME, id, name, family, shapes, sigs, params, alias, split, combine, check)      \
    {id, #name, #family, shapes, sigs, PARAMS_SIZE_##params, ALIAS_##alias, split, #check},
static const op_row op_rows[] = {
#include <collet/ops.def>
};
#undef COLLET_OP

static const struct {
    const char *name;
    op_rule rule;
} op_rules[] = {{"@transpose", op_rule_transpose},
                {"@reduce", op_rule_reduce},
                {"@reduce_some", op_rule_reduce_some},
                {"@fft", op_rule_fft},
                {"@fftshift", op_rule_fftshift},
                {"@ternary_quantize", op_rule_ternary_quantize},
                {"@ternary_pack", op_rule_ternary_pack},
                {"@ternary_unpack", op_rule_ternary_unpack},
                {"@ternary_dot", op_rule_ternary_dot},
                {"@ternary_matmul", op_rule_ternary_matmul},
                {"@ternary_linear", op_rule_ternary_linear}};

static op_rule find_rule(const char *shapes)
{
    const char *name = strchr(shapes, '@');
    for (size_t i = 0; name && i < sizeof op_rules / sizeof *op_rules; i++)
        if (!strcmp(name, op_rules[i].name))
            return op_rules[i].rule;
    return NULL;
}

collet_status op_table_create(op_table *table, collet_error *err)
{
    size_t count = sizeof op_rows / sizeof *op_rows;
    *table = (op_table){.ops = calloc(count, sizeof(op)), .count = count};
    if (!table->ops)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the list of kernels");
    for (size_t i = 0; i < count; i++) {
        const op_row *row = &op_rows[i];
        op *o = &table->ops[i];
        collet_status status = op_parse(o, row->id, row->name, row->family, row->shapes, row->sigs,
                                        row->params_size, row->alias, find_rule(row->shapes), err);
        if (status != COLLET_OK) {
            op_table_destroy(table);
            return status;
        }
        o->split = row->split;
        o->check = row->check;
        table->by_id[row->id] = o;
    }
    return COLLET_OK;
}

void op_table_destroy(op_table *table)
{
    free(table->ops);
    *table = (op_table){0};
}

const char *op_operand_name(const op *o, uint32_t operand, char buffer[24])
{
    int output = operand < o->n_out;
    snprintf(buffer, 24, "%s %u", output ? "output" : "input",
             output ? operand : operand - o->n_out);
    return buffer;
}
