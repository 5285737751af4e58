/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_vtable.c, tests/core/test_infer.c */
#include "signature.h"

#include <stdio.h>
#include <string.h>

#include "util/text.h"

#define DTYPE_LETTER(name, id, size, text, letter, ...) [id] = letter,
static const char dtype_letters[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(DTYPE_LETTER)};
#undef DTYPE_LETTER

collet_dtype op_letter_dtype(char c)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++)
        if (dtype_letters[d] == c)
            return d;
    return COLLET_DTYPE_NONE;
}

static int letter_known(const op *o, char c)
{
    return c &&
           (c == '*' || c == '=' || op_letter_dtype(c) || (c == '?' && o->id < COLLET_OWN_OP(0)));
}

static uint64_t pack_sig(const char *letters, uint32_t count)
{
    uint64_t sig = 0;
    for (uint32_t i = 0; i < count; i++) {
        collet_dtype d = op_letter_dtype(letters[i]);
        if (!d)
            return 0;
        sig |= COLLET_SIG_AT(i, d);
    }
    return sig;
}

static collet_status bad_sigs(const op *o, const char *what, const char *where, collet_error *err)
{
    return collet_fail(err, COLLET_INVALID, "op %s: %s at '%s'", o->name, what, where);
}

/* Parses the next signature; *known is 0 if a letter may be from a later version. */
static collet_status parse_sig(const op *o, const char **at, char *sig, int *known,
                               collet_error *err)
{
    uint32_t n = 0, n_out = 0, colon = 0;
    const char *s = *at;
    *known = 1;
    for (; *s && *s != ' '; s++) {
        if (*s == ':') {
            n_out = n;
            colon++;
            continue;
        }
        int is_own = o->id >= COLLET_OWN_OP(0);
        if (n == COLLET_MAX_OPERANDS || !(letter_known(o, *s) || (is_own && text_is_letter(*s))))
            return bad_sigs(o, "a signature is malformed", s, err);
        *known &= letter_known(o, *s);
        sig[n++] = *s;
    }
    if (colon != 1 || n != o->n_out + o->n_in || n_out != o->n_out)
        return bad_sigs(o, "a signature and `shapes` have different numbers of operands", s, err);
    *at = s + strspn(s, " ");
    return COLLET_OK;
}

collet_status op_parse_sigs(op *o, collet_error *err)
{
    const char *s = o->sigs + strspn(o->sigs, " ");
    if (!*s)
        return bad_sigs(o, "there is no signature", o->sigs, err);
    while (*s) {
        int known;
        if (o->sig_count == OP_SIG_MAX)
            return bad_sigs(o, "too many signatures", s, err);
        char *sig = o->sig[o->sig_count];
        collet_status status = parse_sig(o, &s, sig, &known, err);
        if (status != COLLET_OK)
            return status;
        if (known)
            o->exact[o->sig_count++] = pack_sig(sig, o->n_out + o->n_in);
        else
            o->unknown_sigs++;
    }
    o->any_dtype = o->sig_count == 1 && o->sig[0][0] == '?';
    return COLLET_OK;
}

int op_has_sigs(const op *a, const op *b)
{
    for (uint32_t i = 0; i < b->sig_count; i++) {
        uint32_t k = 0;
        while (k < a->sig_count && memcmp(a->sig[k], b->sig[i], a->n_out + a->n_in))
            k++;
        if (k == a->sig_count)
            return 0;
    }
    return 1;
}

static collet_dtype sig_dtype(uint64_t sig, uint32_t operand)
{
    return (collet_dtype)(sig >> (operand * COLLET_SIG_BITS) & ((1u << COLLET_SIG_BITS) - 1));
}

static int is_real(collet_dtype d)
{
    return d > 0 && d < COLLET_DTYPE_COUNT && d != COLLET_C64 && d != COLLET_C128;
}

int op_letter_fits(char letter, collet_dtype d, collet_dtype first)
{
    return letter == '*'   ? is_real(d)
           : letter == '=' ? d == first
                           : d > 0 && d < COLLET_DTYPE_COUNT && dtype_letters[d] == letter;
}

static int sig_fits(const op *o, const char *letters, uint64_t sig)
{
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++) {
        collet_dtype d = sig_dtype(sig, i);
        if (!op_letter_fits(letters[i], d, sig_dtype(sig, 0)) &&
            !(d == COLLET_DTYPE_NONE && o->operand[i].optional))
            return 0;
    }
    return 1;
}

int op_accepts_row(const op *o, uint64_t sig)
{
    return o->any_dtype ? !sig : op_accepts(o, sig);
}

int op_accepts(const op *o, uint64_t sig)
{
    if (o->any_dtype)
        return 1;
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

/* ---- Enumeration --------------------------------------------------------------------------- */

#define REAL_DTYPES (COLLET_DTYPE_COUNT - 1 - 2)

static collet_dtype real_dtype(size_t index)
{
    collet_dtype d = 1;
    while (!is_real(d) || index--)
        d++;
    return d;
}

/* Each '*' takes every real dtype; the last operand's dtype varies fastest. */
int op_signature(const op *o, size_t index, collet_dtype *dtypes)
{
    uint32_t count = o->n_out + o->n_in;
    for (uint32_t s = 0; s < o->sig_count && !o->any_dtype; s++) {
        const char *letters = o->sig[s];
        size_t choices = 1;
        for (uint32_t i = 0; i < count; i++)
            choices *= letters[i] == '*' ? REAL_DTYPES : 1;
        if (index >= choices) {
            index -= choices;
            continue;
        }
        for (uint32_t i = count; i-- > 0;) {
            dtypes[i] =
                letters[i] == '*' ? real_dtype(index % REAL_DTYPES) : op_letter_dtype(letters[i]);
            index /= letters[i] == '*' ? REAL_DTYPES : 1;
        }
        for (uint32_t i = 1; i < count; i++)
            if (letters[i] == '=')
                dtypes[i] = dtypes[0];
        return 1;
    }
    return 0;
}

/* ---- Inference ----------------------------------------------------------------------------- */

/* The dtype of output 0 under a signature: the dtype of the output, if it is given, else of its letter. For '*' it is the
 * dtype of the first given operand of the letter '=', else of the first input, else of the scalar parameter. */
static collet_dtype first_dtype(const op *o, const char *letters, const op_shapes *v,
                                collet_dtype scalar)
{
    if (v->operand[0].dtype || letters[0] != '*')
        return v->operand[0].dtype ? v->operand[0].dtype : op_letter_dtype(letters[0]);
    for (uint32_t i = 1; i < o->n_out + o->n_in; i++)
        if (letters[i] == '=' && v->operand[i].dtype)
            return v->operand[i].dtype;
    return o->n_in ? v->operand[o->n_out].dtype : scalar;
}

void op_infer_dtypes(const op *o, op_shapes *v, collet_dtype scalar)
{
    uint32_t count = o->n_out + o->n_in;
    for (uint32_t s = 0; s < o->sig_count && !o->any_dtype; s++) {
        const char *letters = o->sig[s];
        collet_dtype dtypes[COLLET_MAX_OPERANDS], first = first_dtype(o, letters, v, scalar);
        int fits = 1;
        for (uint32_t i = 0; i < count && fits; i++) {
            collet_dtype given = v->operand[i].dtype;
            dtypes[i] = given                                ? given
                        : i == 0 || strchr("*=", letters[i]) ? first
                                                             : op_letter_dtype(letters[i]);
            fits = !v->operand[i].shape || op_letter_fits(letters[i], dtypes[i], first);
        }
        if (!fits)
            continue;
        for (uint32_t i = 0; i < count; i++)
            v->operand[i].dtype = dtypes[i];
        return;
    }
}

const char *op_sig_text(const op *o, uint64_t sig, char text[OP_SIG_TEXT])
{
    size_t length = 0;
    uint32_t count = o->n_out + o->n_in;
    for (uint32_t i = 0; i < count || (i < COLLET_MAX_OPERANDS && sig >> i * COLLET_SIG_BITS);
         i++) {
        collet_dtype d = sig_dtype(sig, i);
        if (i == o->n_out)
            text[length++] = ':';
        if (d < COLLET_DTYPE_COUNT)
            text[length++] = d ? dtype_letters[d] : '-';
        else
            length += (size_t)snprintf(text + length, 5, "[%d]", d);
    }
    text[length] = '\0';
    return text;
}
