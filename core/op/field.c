/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of parameter blocks: their validity and their defaults. */
#include <math.h>
#include <string.h>

#include "op.h"

const collet_op_field *op_field(const op *o, uint32_t k)
{
    const char *first = (const char *)o->fields;
    return (const collet_op_field *)(const void *)(first + (size_t)k * o->field_size);
}

#define BIT(dtype) (1u << COLLET_##dtype)
#define UNSIGNED (BIT(U8) | BIT(U32) | BIT(U64))
#define INTEGERS (UNSIGNED | BIT(I8) | BIT(I32) | BIT(I64))

/* Dtypes of a kind, and how many elements it has; 0: any number. */
static const struct {
    uint32_t dtypes, elements;
} kinds[COLLET_FIELD_KINDS] = {
    [COLLET_FIELD_NUMBER] = {INTEGERS | BIT(F32) | BIT(F64), 0},
    [COLLET_FIELD_FLAG] = {INTEGERS, 0},
    [COLLET_FIELD_CHOICE] = {INTEGERS, 0},
    [COLLET_FIELD_AXES] = {BIT(U32), 1},
    [COLLET_FIELD_SCALAR] = {BIT(U8), 1},
    [COLLET_FIELD_RANK] = {INTEGERS, 1},
    [COLLET_FIELD_PERMUTATION] = {BIT(I32), COLLET_MAX_DIMS},
};

static int has_computed_default(const collet_op_field *f)
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

static int default_is_sound(const collet_op_field *f)
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

int op_field_is_sound(const op *o, const collet_op_field *f)
{
    if (!f->name || !f->meaning || f->kind < 0 || f->kind >= COLLET_FIELD_KINDS ||
        !collet_dtype_size(f->dtype) || !(kinds[f->kind].dtypes >> f->dtype & 1) ||
        (f->kind == COLLET_FIELD_CHOICE) != (f->choices != NULL))
        return 0;
    int scalar = f->kind == COLLET_FIELD_SCALAR;
    size_t element = scalar ? sizeof(collet_scalar) : collet_dtype_size(f->dtype);
    size_t alignment = scalar ? _Alignof(collet_scalar) : element;
    uint32_t elements = kinds[f->kind].elements;
    return f->size && f->size % element == 0 && (!elements || f->size == elements * element) &&
           f->offset >= sizeof(uint32_t) && f->offset % alignment == 0 &&
           f->offset <= o->params_size && f->size <= o->params_size - f->offset &&
           default_is_sound(f);
}

/* ---- Defaults ---------------------------------------------------------------------------- */

static double default_of(const collet_op_field *f, int32_t ndim, int32_t index)
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
        const collet_op_field *f = op_field(o, k);
        size_t element = collet_dtype_size(f->dtype);
        if (f->kind == COLLET_FIELD_SCALAR)
            continue;
        for (uint32_t i = 0; i * element < f->size; i++) {
            collet_scalar s = scalar_of(f->dtype, default_of(f, ndim, (int32_t)i));
            memcpy((char *)params + f->offset + i * element, s.value.bytes, element);
        }
    }
}
