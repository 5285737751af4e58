/* SPDX-License-Identifier: Apache-2.0 */
/* From a row of the table, a shape and a dtype to the operands of a call. */
#include "cases.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Extents ----------------------------------------------------------------------------- */

/* What the letters and the "..." of the patterns stand for. */
typedef struct extents {
    int64_t letter[128];
    int32_t lead; /* axes of "..." */
    int64_t lead_shape[BENCH_EXTENTS_MAX];
} extents;

static collet_status too_many_axes(const bench_layout *l, collet_error *err)
{
    return collet_fail(err, COLLET_SHAPE, "%s: an array has at most %d axes", l->row->name,
                       COLLET_MAX_DIMS);
}

/* "...,M,K,N" against the numbers of the shape. */
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
    memcpy(e->lead_shape, l->shape.extents, (size_t)e->lead * sizeof *e->lead_shape);
    int32_t at = e->lead;
    for (const char *c = s; *c; c++)
        if (isalpha((unsigned char)*c))
            e->letter[(unsigned char)*c] = l->shape.extents[at++];
    return COLLET_OK;
}

/* One operand's pattern: the first of its alternatives. Returns what follows the operand. */
static const char *take_pattern(const char *s, const extents *e, bench_operand *o,
                                collet_status *status)
{
    o->ndim = 0;
    size_t length = strcspn(s, " ");
    for (const char *c = s; c < s + length && *c != '|' && *c != '?'; c++) {
        if (!strncmp(c, "...", 3)) {
            memcpy(o->shape, e->lead_shape, (size_t)e->lead * sizeof *o->shape);
            o->ndim = e->lead;
            c += 2;
        } else if (c > s && isalpha((unsigned char)c[-1]) && isalpha((unsigned char)*c)) {
            /* The smaller of two letters' extents. */
            int64_t other = e->letter[(unsigned char)*c];
            if (other < o->shape[o->ndim - 1])
                o->shape[o->ndim - 1] = other;
        } else if (isalnum((unsigned char)*c)) {
            if (o->ndim == COLLET_MAX_DIMS) {
                *status = COLLET_SHAPE;
                break;
            }
            o->shape[o->ndim++] =
                isdigit((unsigned char)*c) ? *c - '0' : e->letter[(unsigned char)*c];
        }
    }
    return s + length;
}

static collet_status arrange_by_patterns(bench_layout *l, collet_error *err)
{
    extents e;
    uint32_t i = 0;
    collet_status status = bind_extents(l, &e, err);
    const char *s = l->op.shapes;
    while (status == COLLET_OK && *s && i < l->count) {
        s += strspn(s, " :");
        if (*s)
            s = take_pattern(s, &e, &l->operands[i++], &status);
        if (status != COLLET_OK)
            too_many_axes(l, err);
    }
    return status;
}

/* ---- Types ------------------------------------------------------------------------------- */

collet_dtype bench_letter_dtype(char letter)
{
#define LETTER(NAME, id, size, text, character)                                                    \
    if (letter == character)                                                                       \
        return id;
    COLLET_DTYPE_LIST(LETTER)
#undef LETTER
    return COLLET_DTYPE_NONE;
}

static char dtype_letter(const char *name)
{
#define NAMED(NAME, id, size, text, character)                                                     \
    if (!strcmp(name, text))                                                                       \
        return character;
    COLLET_DTYPE_LIST(NAMED)
#undef NAMED
    return '\0';
}

/* Letter i of a signature, outputs first, without the colon. */
static char letter_at(const char *sig, uint32_t n_out, uint32_t i)
{
    return sig[i + (i >= n_out)];
}

static void take_signature(bench_layout *l, const char *sig, char any)
{
    for (uint32_t i = 0; i < l->count; i++) {
        char c = letter_at(sig, l->op.n_out, i);
        c = c == '*' || c == '=' ? any : c;
        l->operands[i].dtype = bench_letter_dtype(c);
        l->signature[i + (i >= l->op.n_out)] = c;
    }
    l->signature[l->op.n_out] = ':';
    l->signature[l->count + 1] = '\0';
}

/* A whole signature, "d:fd"; whether the op accepts it is libcore's to say. */
static int32_t parse_signature(bench_layout *l, const char *text)
{
    if (strlen(text) != l->count + 1 || text[l->op.n_out] != ':')
        return 0;
    for (uint32_t i = 0; i < l->count; i++)
        if (!bench_letter_dtype(letter_at(text, l->op.n_out, i)))
            return 0;
    take_signature(l, text, '\0');
    return 1;
}

/* The first signature whose first input (output where there is none) has the letter; else the first
 * that takes any type there. */
static int32_t find_signature(bench_layout *l, char letter)
{
    uint32_t decisive = l->op.n_in ? l->op.n_out : 0;
    for (int32_t any = 0; any <= 1; any++) {
        for (const char *s = l->op.sigs; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
            char c = letter_at(s, l->op.n_out, decisive);
            if (any ? c == '*' || c == '=' : c == letter) {
                take_signature(l, s, letter);
                return 1;
            }
        }
    }
    return 0;
}

static collet_status choose_types(bench_layout *l, const char *dtype, collet_error *err)
{
    /* What takes f64 alone has no f32 to offer: its own first signature is the default. */
    char first = letter_at(l->op.sigs, l->op.n_out, l->op.n_in ? l->op.n_out : 0);
    char letter = dtype ? dtype_letter(dtype) : 'f';
    int32_t found = dtype && strchr(dtype, ':') ? parse_signature(l, dtype)
                                                : letter && find_signature(l, letter);
    if (!found && !dtype)
        found = find_signature(l, first);
    return found
               ? COLLET_OK
               : collet_fail(err, COLLET_DTYPE,
                             "%s: no signature for '%s'; there are (outputs:inputs, letters as in "
                             "ops.def) %s",
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

/* ---- All together ------------------------------------------------------------------------ */

const char *bench_bound(double flops)
{
    return flops > 0 ? "compute" : "memory";
}

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
    l->flops = l->row->flops ? l->row->flops(l) : 0;
}

collet_status bench_layout_make(bench_layout *l, const collet_runtime *runtime,
                                const bench_case *row, const bench_options *options,
                                const char *dtype, collet_error *err)
{
    const char *shape = options->shape ? options->shape : row->shape;
    *l = (bench_layout){.row = row};
    collet_status status = bench_case_op(runtime, row, &l->op, err);
    if (status != COLLET_OK)
        return status;
    l->count = l->op.n_out + l->op.n_in;
    for (uint32_t i = 0; i < l->count; i++)
        l->operands[i].make = row->operands[i];
    if (!bench_shape_parse(shape, &l->shape))
        return collet_fail(err, COLLET_SHAPE,
                           "%s: '%s' is no shape: write numbers joined by x, such as %s", row->name,
                           shape, row->shape);
    status = choose_types(l, dtype, err);
    if (status == COLLET_OK)
        status = parse_axes(l, options->axis, err);
    if (status == COLLET_OK)
        status = row->arrange ? row->arrange(l, err) : arrange_by_patterns(l, err);
    if (status != COLLET_OK)
        return status;
    l->has_params = row->parameters != NULL;
    if (row->parameters)
        row->parameters(l);
    count_work(l);
    return COLLET_OK;
}
