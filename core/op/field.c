/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_vtable.c, tests/core/test_infer.c */
#include "field.h"

#include <math.h>
#include <string.h>

const collet_ops_field *op_field(const op *o, uint32_t k)
{
    const char *first = (const char *)o->fields;
    return (const collet_ops_field *)(const void *)(first + (size_t)k * o->field_size);
}

#define BIT(dtype) (1u << COLLET_##dtype)
#define UNSIGNED (BIT(U8) | BIT(U32) | BIT(U64))
#define INTEGERS (UNSIGNED | BIT(I8) | BIT(I32) | BIT(I64))

/* The dtypes that a kind may have, and its number of elements; 0: any number. */
static const struct {
    uint32_t dtypes, elements;
    const char *name;
} kinds[COLLET_FIELD_KINDS] = {
    [COLLET_FIELD_NUMBER] = {INTEGERS | BIT(F32) | BIT(F64), 0, "number"},
    [COLLET_FIELD_FLAG] = {INTEGERS, 0, "flag"},
    [COLLET_FIELD_CHOICE] = {INTEGERS, 0, "choice"},
    [COLLET_FIELD_AXES] = {BIT(U32), 1, "set of axes"},
    [COLLET_FIELD_SCALAR] = {BIT(U8), 1, "scalar"},
    [COLLET_FIELD_RANK] = {INTEGERS, 1, "rank"},
    [COLLET_FIELD_PERMUTATION] = {BIT(I32), COLLET_MAX_DIMS, "permutation"},
    [COLLET_FIELD_POINTER] = {BIT(U64), 1, "pointer"},
};

static int has_computed_default(const collet_ops_field *f)
{
    return f->kind == COLLET_FIELD_SCALAR || f->kind == COLLET_FIELD_RANK ||
           ((f->kind == COLLET_FIELD_AXES || f->kind == COLLET_FIELD_PERMUTATION) &&
            f->default_value == -1);
}

static double word_count(const char *words)
{
    double count = 0;
    for (; *(words += strspn(words, " ")); words += strcspn(words, " "))
        count++;
    return count;
}

static int default_is_sound(const collet_ops_field *f)
{
    double x = f->default_value;
    int is_signed = !(UNSIGNED >> f->dtype & 1);
    double limit = ldexp(1, 8 * (int)collet_dtype_size(f->dtype) - is_signed), low = 0;
    if (has_computed_default(f))
        return 1;
    if (f->dtype == COLLET_F32 || f->dtype == COLLET_F64)
        return isfinite(x) != 0;
    if (f->kind == COLLET_FIELD_FLAG)
        limit = 2;
    else if (f->kind == COLLET_FIELD_CHOICE)
        limit = word_count(f->choices);
    else if (f->kind == COLLET_FIELD_PERMUTATION)
        limit = COLLET_MAX_DIMS;
    else if (is_signed)
        low = -limit;
    return x == floor(x) && x >= low && x < limit;
}

#define REFUSE(...) collet_fail(err, COLLET_INVALID, __VA_ARGS__)

static collet_status check_kind(const op *o, const collet_ops_field *f, collet_error *err)
{
    if (!f->meaning)
        return REFUSE("meaning is NULL; set it to a text");
    if (f->kind < 0 || f->kind >= COLLET_FIELD_KINDS)
        return REFUSE("its kind is %d; kinds are 0 to %d", f->kind, COLLET_FIELD_KINDS - 1);
    if (!collet_dtype_size(f->dtype) || !(kinds[f->kind].dtypes >> f->dtype & 1))
        return REFUSE("a %s cannot have the dtype %d (%s)", kinds[f->kind].name, f->dtype,
                      collet_dtype_name(f->dtype));
    /* Only for its own ops does libcore know how long an address is valid. */
    if (f->kind == COLLET_FIELD_POINTER && o->id >= COLLET_OWN_OP(0))
        return REFUSE("an op of a plugin cannot have a pointer; use an operand");
    if (f->kind == COLLET_FIELD_CHOICE && !f->choices)
        return REFUSE("a choice needs its values: choices is NULL");
    if (f->kind != COLLET_FIELD_CHOICE && f->choices)
        return REFUSE("a %s has no choices, but there are '%s'", kinds[f->kind].name, f->choices);
    return COLLET_OK;
}

static collet_status check_place(const op *o, const collet_ops_field *f, collet_error *err)
{
    int scalar = f->kind == COLLET_FIELD_SCALAR;
    uint32_t element = (uint32_t)(scalar ? sizeof(collet_scalar) : collet_dtype_size(f->dtype));
    uint32_t alignment = scalar ? (uint32_t) _Alignof(collet_scalar) : element;
    uint32_t elements = kinds[f->kind].elements;
    if (!f->size || f->size % element || (elements && f->size != elements * element))
        return REFUSE("its size is %u bytes; a %s of this dtype has %s%u", f->size,
                      kinds[f->kind].name, elements ? "" : "a multiple of ",
                      (elements ? elements : 1) * element);
    if (f->offset < sizeof(uint32_t) || f->offset % alignment)
        return REFUSE("its offset is %u; it must be after struct_size and a multiple of %u",
                      f->offset, alignment);
    if (f->offset > o->params_size || f->size > o->params_size - f->offset)
        return REFUSE("its %u bytes from byte %u on are outside of the parameter block of %u bytes",
                      f->size, f->offset, o->params_size);
    return COLLET_OK;
}

collet_status op_field_check(const op *o, const collet_ops_field *f, collet_error *err)
{
    collet_error why = {COLLET_OK, ""};
    collet_status status =
        f->name ? check_kind(o, f, &why) : collet_fail(&why, COLLET_INVALID, "name is NULL");
    if (status == COLLET_OK)
        status = check_place(o, f, &why);
    if (status == COLLET_OK && !default_is_sound(f))
        status = collet_fail(&why, COLLET_INVALID, "its default %.17g is not a value of a %s of %s",
                             f->default_value, kinds[f->kind].name, collet_dtype_name(f->dtype));
    return status == COLLET_OK ? COLLET_OK
                               : REFUSE("op %s: field '%s' of its parameters: %s", o->name,
                                        f->name ? f->name : "", why.text);
}

/* ---- Defaults ---------------------------------------------------------------------------- */

static double default_of(const collet_ops_field *f, int32_t ndim, int32_t index)
{
    if (!has_computed_default(f))
        return f->default_value;
    if (f->kind == COLLET_FIELD_AXES)
        return (1 << ndim) - 1;
    if (f->kind == COLLET_FIELD_RANK)
        return ndim;
    return index < ndim ? ndim - 1 - index : 0;
}

static collet_scalar scalar_of(collet_dtype dtype, double x)
{
    collet_scalar s = {.dtype = dtype};
    uint64_t whole = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
    if (dtype == COLLET_F32)
        s.value.f32 = (float)x;
    else if (dtype == COLLET_F64)
        s.value.f64 = x;
    else if (collet_dtype_size(dtype) == 8)
        s.value.u64 = whole;
    else if (collet_dtype_size(dtype) == 4)
        s.value.u32 = (uint32_t)whole;
    else
        s.value.u8 = (uint8_t)whole;
    return s;
}

void op_defaults(const op *o, int32_t ndim, void *params)
{
    memset(params, 0, o->params_size);
    if (o->params_size)
        memcpy(params, &o->params_size, sizeof o->params_size);
    for (uint32_t k = 0; k < o->field_count; k++) {
        const collet_ops_field *f = op_field(o, k);
        size_t element = collet_dtype_size(f->dtype);
        if (f->kind == COLLET_FIELD_SCALAR)
            continue;
        for (uint32_t i = 0; i * element < f->size; i++) {
            collet_scalar s = scalar_of(f->dtype, default_of(f, ndim, (int32_t)i));
            memcpy((char *)params + f->offset + i * element, s.value.bytes, element);
        }
    }
}
