/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a call before shapes: parameters and dtypes. */
#include "op.h"

#include <string.h>

#include "util/struct.h"
#include "util/text.h"

collet_status op_take_params(const op *o, const void *params, void *copy, const void **out,
                             collet_error *err)
{
    uint32_t size, reserved = 0;
    *out = NULL;
    if (!params)
        return collet_fail(err, COLLET_INVALID, "%s: its parameters are NULL", o->name);
    memcpy(&size, params, sizeof size);
    if (size < sizeof size || size > STRUCT_SIZE_MAX)
        return collet_fail(err, COLLET_INVALID,
                           "%s: struct_size of its parameters is %u; set it to their size", o->name,
                           size);
    *out = params;
    if (size < o->params_size) {
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
                                  "%s: a reserved field of its parameters is not 0", o->name)
                    : COLLET_OK;
}

collet_status op_dtype_error(const op *o, const op_shapes *views, collet_error *err)
{
    text_buffer t;
    char name[24];
    text_clear(&t);
    text_add(&t, "%s: ", o->name);
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++) {
        const struct op_view *v = &views->operand[i];
        text_add(&t, "%s%s is %s", i ? ", " : "", op_operand_name(o, i, name),
                 !v->shape  ? "absent"
                 : v->dtype ? collet_dtype_name(v->dtype)
                            : "not determined");
    }
    text_add(&t, "; accepted (outputs:inputs, ");
#define LETTER(NAME, id, size, text, letter) text_add(&t, "%c=%s ", letter, text);
    COLLET_DTYPE_LIST(LETTER)
#undef LETTER
    text_add(&t, "*=any real, '='=as output 0): %s", o->sigs);
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
        const collet_op_field *f = op_field(o, k);
        collet_scalar value;
        if (f->kind != COLLET_FIELD_SCALAR)
            continue;
        memcpy(&value, (const char *)params + f->offset, sizeof value);
        if (!collet_dtype_size(value.dtype) || (is_complex(value.dtype) && !is_complex(to)))
            return collet_fail(err, COLLET_DTYPE, "%s: %s of dtype %s does not fit an array of %s",
                               o->name, f->name, collet_dtype_name(value.dtype),
                               collet_dtype_name(to));
    }
    return COLLET_OK;
}
