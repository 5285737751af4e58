/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_errors.c, tests/core/test_call.c */
#include "check.h"

#include <string.h>

#include "field.h"
#include "util/struct.h"
#include "util/text.h"

/* The field within which a block of `size` bytes ends; NULL: it ends between fields. */
static const collet_ops_field *cut_field(const op *o, uint32_t size)
{
    for (uint32_t k = 0; k < o->field_count; k++) {
        const collet_ops_field *f = op_field(o, k);
        if (f->offset < size && size < f->offset + f->size)
            return f;
    }
    return NULL;
}

collet_status op_take_params(const op *o, const void *params, void *copy, const void **out,
                             collet_error *err)
{
    uint32_t size, reserved = 0;
    *out = NULL;
    if (!params)
        return collet_fail(err, COLLET_INVALID, "%s: params is NULL; pass the op's parameter block",
                           o->name);
    memcpy(&size, params, sizeof size);
    if (size < sizeof size || size > STRUCT_SIZE_MAX)
        return collet_fail(err, COLLET_INVALID,
                           "%s: struct_size of its parameters is %u; set it to their size", o->name,
                           size);
    *out = params;
    if (size < o->params_size) {
        const collet_ops_field *cut = cut_field(o, size);
        if (cut)
            return collet_fail(err, COLLET_INVALID,
                               "%s: struct_size of its parameters is %u, within the field '%s'; set "
                               "it to their size",
                               o->name, size, cut->name);
        memset(copy, 0, o->params_size);
        memcpy(copy, params, size);
        *out = copy;
    } else if (size > o->params_size) {
        collet_status status = struct_unknown(params, o->params_size, size, o->name, err);
        if (status != COLLET_OK)
            return status;
    }
    for (uint64_t words = o->reserved; words; words &= words - 1) {
        uint32_t word;
        memcpy(&word, (const uint32_t *)*out + __builtin_ctzll(words), sizeof word);
        reserved |= word;
    }
    return reserved ? collet_fail(err, COLLET_INVALID,
                                  "%s: a reserved field of its parameters is not 0; set it to 0",
                                  o->name)
                    : COLLET_OK;
}

/* ---- Dtypes ---------------------------------------------------------------------------------- */

/* The result of comparing a signature with the operands that are present. */
typedef struct misfit {
    const char *letters;
    collet_dtype first; /* dtype of operand 0, if the signature is used */
    uint32_t wrong;     /* bit i: operand i does not fit */
} misfit;

static int is_real(collet_dtype d)
{
    return op_letter_fits('*', d, d);
}

static misfit compare(const op *o, const char *letters, const op_shapes *views)
{
    collet_dtype own = op_letter_dtype(letters[0]);
    misfit m = {letters, own ? own : views->operand[0].dtype, 0};
    /* If output 0 must be real but is not, use the dtype of a real operand that must have the same dtype. */
    for (uint32_t i = 1; letters[0] == '*' && !is_real(m.first) && i < o->n_out + o->n_in; i++)
        if (letters[i] == '=' && is_real(views->operand[i].dtype))
            m.first = views->operand[i].dtype;
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++) {
        const struct op_view *v = &views->operand[i];
        int fits = op_letter_fits(letters[i], v->dtype, m.first) &&
                   (letters[0] != '*' || letters[i] != '=' || is_real(v->dtype));
        if (v->shape && v->dtype && !fits)
            m.wrong |= 1u << i;
    }
    return m;
}

/* Finds the signatures with the smallest number of operands that do not fit. */
static uint32_t nearest(const op *o, const op_shapes *views, misfit found[OP_SIG_MAX])
{
    uint32_t count = 0;
    int fewest = COLLET_MAX_OPERANDS + 1;
    for (uint32_t s = 0; s < o->sig_count; s++) {
        misfit m = compare(o, o->sig[s], views);
        int wrong = __builtin_popcount(m.wrong);
        if (wrong < fewest)
            count = 0;
        if (wrong <= fewest)
            found[count++] = m;
        fewest = wrong < fewest ? wrong : fewest;
    }
    return count;
}

static const char *dtype_of(const struct op_view *v)
{
    return v->shape ? collet_dtype_name(v->dtype) : "absent";
}

static const char *expected(const misfit *m, uint32_t operand)
{
    char letter = m->letters[operand];
    int given = letter == '=' || (letter == '*' && operand == 0 && m->wrong & 1);
    collet_dtype dtype = given ? m->first : op_letter_dtype(letter);
    int any = letter == '*' || m->letters[0] == '*';
    return any && !is_real(dtype) ? "any real dtype" : collet_dtype_name(dtype);
}

/* 1 if the same operands are wrong in all signatures, and either one operand is wrong or all
 * signatures expect the same dtypes. */
static int agree(const misfit *found, uint32_t count)
{
    for (uint32_t s = 1; s < count; s++) {
        if (found[s].wrong != found[0].wrong)
            return 0;
        for (uint32_t i = 0; i < COLLET_MAX_OPERANDS; i++)
            if ((found[0].wrong >> i & 1) && (found[0].wrong & (found[0].wrong - 1)) &&
                strcmp(expected(&found[s], i), expected(&found[0], i)) != 0)
                return 0;
    }
    return count && found[0].wrong;
}

/* Whether no signature before `s` expects the same dtype of an operand. */
static int is_first(const misfit *found, uint32_t s, uint32_t operand)
{
    for (uint32_t before = 0; before < s; before++)
        if (!strcmp(expected(&found[before], operand), expected(&found[s], operand)))
            return 0;
    return 1;
}

/* "info (output 1) is i64 and must be i32, f32 or f64" */
static void add_wrong(text_buffer *t, const op *o, const op_shapes *views, const misfit *found,
                      uint32_t count)
{
    char name[OP_OPERAND_TEXT];
    const char *joint = "";
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++) {
        if (!(found[0].wrong >> i & 1))
            continue;
        text_add(t, "%s%s is %s and must be %s", joint, op_operand_name(o, i, name),
                 dtype_of(&views->operand[i]), expected(&found[0], i));
        uint32_t last = 0;
        for (uint32_t s = 1; s < count; s++)
            last = is_first(found, s, i) ? s : last;
        for (uint32_t s = 1; s <= last; s++)
            if (is_first(found, s, i))
                text_add(t, "%s%s", s < last ? ", " : " or ", expected(&found[s], i));
        joint = ", ";
    }
}

/* Adds "out is i32, x is i32; the accepted dtypes of (out, x) nearest to these are: (f32, f32),
 * (f64, f64)". An output to be inferred has no dtype and is omitted from the first list. */
static void add_all(text_buffer *t, const op *o, const op_shapes *views, const misfit *found,
                    uint32_t count)
{
    uint32_t operands = o->n_out + o->n_in;
    char name[OP_OPERAND_TEXT];
    const char *joint = "";
    for (uint32_t i = 0; i < operands; i++) {
        const struct op_view *v = &views->operand[i];
        if (v->shape && !v->dtype)
            continue;
        text_add(t, "%s%s is %s", joint, op_operand_name(o, i, name), dtype_of(v));
        joint = ", ";
    }
    text_add(t, "; the accepted dtypes of (");
    for (uint32_t i = 0; i < operands; i++)
        text_add(t, "%s%s", i ? ", " : "", o->operand[i].name);
    text_add(t, ") nearest to these are:");
    for (uint32_t s = 0; s < count; s++) {
        text_add(t, "%s (", s ? "," : "");
        for (uint32_t i = 0; i < operands; i++)
            text_add(t, "%s%s", i ? ", " : "",
                     found[s].letters[i] == '=' && !op_letter_dtype(found[s].letters[0])
                         ? "the same"
                         : expected(&found[s], i));
        text_add(t, ")");
    }
}

collet_status op_dtype_error(const op *o, const op_shapes *views, collet_error *err)
{
    text_buffer t;
    misfit found[OP_SIG_MAX];
    uint32_t count = nearest(o, views, found);
    text_clear(&t);
    text_add(&t, "%s: ", o->name);
    if (agree(found, count))
        add_wrong(&t, o, views, found, count);
    else
        add_all(&t, o, views, found, count);
    return collet_fail(err, COLLET_DTYPE, "%s", t.bytes);
}

static int is_complex(collet_dtype d)
{
    return d == COLLET_C64 || d == COLLET_C128;
}

collet_status op_check_scalars(const op *o, const op_shapes *views, const void *params,
                               collet_error *err)
{
    collet_dtype to = views->operand[0].dtype;
    for (uint32_t k = 0; k < o->field_count; k++) {
        const collet_ops_field *f = op_field(o, k);
        char name[OP_OPERAND_TEXT];
        collet_scalar value;
        if (f->kind != COLLET_FIELD_SCALAR)
            continue;
        memcpy(&value, (const char *)params + f->offset, sizeof value);
        if (!collet_dtype_size(value.dtype))
            return collet_fail(err, COLLET_DTYPE,
                               "%s: the dtype of %s is %d, which is not a dtype; set it", o->name,
                               f->name, (int)value.dtype);
        if (is_complex(value.dtype) && !is_complex(to))
            return collet_fail(err, COLLET_DTYPE, "%s: %s is %s and must be real, because %s is %s",
                               o->name, f->name, collet_dtype_name(value.dtype),
                               op_operand_name(o, 0, name), collet_dtype_name(to));
    }
    return COLLET_OK;
}
