/* SPDX-License-Identifier: Apache-2.0 */
/* The columns `shapes`, `sigs` and `split` of an op's row, as ops.def writes them. */
#include "kit.h"

#include <ctype.h>
#include <string.h>

#define LETTER(name, id, size, text, letter) [id] = letter,
static const char letters[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(LETTER)};
#undef LETTER

static bool is_complex(collet_dtype dtype)
{
    return dtype == COLLET_C64 || dtype == COLLET_C128;
}

/* Fills operands from `at` on with every choice that the letters admit. */
static void expand(const char *pattern, uint32_t count, uint32_t at, collet_dtype *dtypes,
                   void (*found)(void *user, const collet_dtype *dtypes, uint32_t count),
                   void *user)
{
    if (at == count) {
        found(user, dtypes, count);
        return;
    }
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++) {
        bool fits = pattern[at] == '*'   ? !is_complex(d)
                    : pattern[at] == '=' ? d == dtypes[0]
                                         : d == COLLET_DTYPE_NONE || letters[d] == pattern[at];
        if (!fits)
            continue;
        dtypes[at] = d;
        expand(pattern, count, at + 1, dtypes, found, user);
    }
}

void kit_signatures(const collet_op_info *info,
                    void (*found)(void *user, const collet_dtype *dtypes, uint32_t count),
                    void *user)
{
    const char *s = info->sigs;
    while (*s) {
        char pattern[KIT_OPERANDS];
        uint32_t count = 0;
        for (; *s && *s != ' '; s++)
            if (*s != ':' && count < KIT_OPERANDS)
                pattern[count++] = *s;
        s += strspn(s, " ");
        collet_dtype dtypes[KIT_OPERANDS] = {0};
        if (count == info->n_out + info->n_in)
            expand(pattern, count, 0, dtypes, found, user);
    }
}

void kit_signature_text(const collet_dtype *dtypes, uint32_t n_out, uint32_t count,
                        char text[KIT_SIG])
{
    size_t at = 0;
    for (uint32_t i = 0; i <= count && at + 2 < KIT_SIG; i++) {
        if (i == n_out)
            text[at++] = ':';
        if (i < count)
            text[at++] = letters[dtypes[i]];
    }
    text[at] = '\0';
}

/* ---- Shapes -------------------------------------------------------------------------------- */

static const char *operand_text(const char *shapes, uint32_t operand)
{
    const char *s = shapes + strspn(shapes, " :");
    for (; operand > 0 && *s; operand--) {
        s += strcspn(s, " ");
        s += strspn(s, " :");
    }
    return s;
}

kit_pattern kit_pattern_of(const char *shapes, uint32_t operand, int alternative)
{
    kit_pattern p = {.alternatives = 1};
    const char *s = operand_text(shapes, operand), *start = s;
    for (; *s && *s != ' '; s++)
        p.alternatives += *s == '|';
    p.optional = s > start && s[-1] == '?';
    s = start;
    for (int skip = alternative < p.alternatives ? alternative : p.alternatives - 1; skip > 0;
         skip--)
        s = strchr(s, '|') + 1;
    if (!strncmp(s, "...", 3)) {
        p.dots = true;
        s += 3;
    }
    for (; *s && !strchr(" |?", *s); s++) {
        if (isdigit((unsigned char)*s))
            p.axes[p.ndim++] = -(*s - '0') - 1;
        else if (p.ndim > 0 && isalpha((unsigned char)*s) && isalpha((unsigned char)s[-1]))
            p.axes[p.ndim - 1] = 256 * p.axes[p.ndim - 1] + *s;
        else if (isalpha((unsigned char)*s))
            p.axes[p.ndim++] = *s;
    }
    return p;
}

int32_t kit_split_axis(const kit_case *c, uint32_t operand)
{
    const collet_op_info *info = &c->row->info;
    const kit_tensor *t = &c->operand[operand], *out = &c->operand[0];
    if (info->split[0] == '\0' || info->shapes[0] == '@')
        return -1;
    for (int alternative = 0;; alternative++) {
        kit_pattern p = kit_pattern_of(info->shapes, operand, alternative);
        if (alternative == p.alternatives)
            return -1;
        if (p.dots ? t->ndim < p.ndim : t->ndim != p.ndim)
            continue;
        if (info->split[0] == '.') {
            /* The first of the broadcast axes: only operands that have it at full length are cut.
             */
            kit_pattern q = kit_pattern_of(info->shapes, 0, 0);
            bool has = p.dots && t->ndim > p.ndim && t->ndim - p.ndim == out->ndim - q.ndim;
            return has && t->shape[0] == out->shape[0] ? 0 : -1;
        }
        for (int32_t i = 0; i < p.ndim; i++)
            if (p.axes[i] == info->split[0])
                return t->ndim - p.ndim + i;
        return -1;
    }
}
