/* SPDX-License-Identifier: Apache-2.0 */
/* Writes texts and signatures; finds operand axes in the op's patterns.
 * Tests: tests/conformance/test_kit.c */
#include "kit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void kit_append(char text[KIT_TEXT], const char *format, ...)
{
    size_t at = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, KIT_TEXT - at, format, arguments);
    va_end(arguments);
}

#define LETTER(name, id, size, text, letter, ...) [id] = letter,
static const char letters[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(LETTER)};
#undef LETTER

void kit_signature_text(const collet_dtype *dtypes, uint32_t n_out, uint32_t count,
                        char text[KIT_SIG])
{
    size_t at = 0;
    for (uint32_t i = 0; i <= count && at + 2 < KIT_SIG; i++) {
        if (i == n_out)
            text[at++] = ':';
        if (i < count && dtypes[i])
            text[at++] = letters[dtypes[i]];
    }
    text[at] = '\0';
}

const collet_ops_pattern *kit_pattern(const kit_case *c, uint32_t operand, int alternative)
{
    const collet_ops_operand *o = &c->row->info.operands[operand];
    return &o->pattern[alternative < o->alternatives ? alternative : o->alternatives - 1];
}

int32_t kit_split_axis(const kit_case *c, uint32_t operand)
{
    const char *split = c->row->info.split;
    const kit_tensor *t = &c->operand[operand], *out = &c->operand[0];
    const collet_ops_pattern *p = kit_pattern(c, operand, 0);
    if (split[0] == '\0')
        return -1;
    if (p->dots ? t->ndim < p->ndim : t->ndim != p->ndim)
        p = kit_pattern(c, operand, 1);
    if (split[0] == '.') {
        /* The first broadcast axis: only operands with its full extent are split. */
        int32_t lead = t->ndim - p->ndim;
        int has = p->dots && lead > 0 && lead == out->ndim - kit_pattern(c, 0, 0)->ndim;
        return has && t->shape[0] == out->shape[0] ? 0 : -1;
    }
    for (int32_t i = 0; i < p->ndim; i++)
        if (p->axes[i].letter == split[0] && !p->axes[i].other)
            return t->ndim - p->ndim + i;
    return -1;
}
