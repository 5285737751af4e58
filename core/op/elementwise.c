/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_evaluate.c */
#include "elementwise.h"

#include <string.h>

#define BIT(dtype) (1u << COLLET_##dtype)
#define BITS_B BIT(BOOL)
#define BITS_I (BIT(I8) | BIT(U8) | BIT(I16) | BIT(U16) | BIT(I32) | BIT(U32) | BIT(I64) | BIT(U64))
#define BITS_W (BIT(F32) | BIT(F64))
#define BITS_F (BITS_W | BIT(F16) | BIT(BF16))
#define BITS_C (BIT(C64) | BIT(C128))
#define BITS_BI (BITS_B | BITS_I)
#define BITS_IF (BITS_I | BITS_F)
#define BITS_BIF (BITS_B | BITS_IF)
#define BITS_FC (BITS_F | BITS_C)
#define BITS_IFC (BITS_IF | BITS_C)
#define BITS_BIFC (BITS_B | BITS_IFC)

/* The two ranges of ids. */
#define LOW_IDS 32
#define FIRST_HIGH 256
#define SLOT(id) ((id) < LOW_IDS ? (id) : (id)-FIRST_HIGH + LOW_IDS)

#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, derivative, ...)            \
    [SLOT(id)] = {#name, derivative, id, inputs, ELEMENTWISE_##result, BITS_##kinds},
static const elementwise rows[] = {
#include <collet/ops/elementwise.def>
};

#define ROWS (sizeof rows / sizeof *rows)

const elementwise *elementwise_of(uint32_t op)
{
    uint32_t slot = op < LOW_IDS ? op : op < FIRST_HIGH ? (uint32_t)ROWS : SLOT(op);
    return slot < ROWS && rows[slot].name ? &rows[slot] : NULL;
}

const elementwise *elementwise_at(size_t index)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].name && !index--)
            return &rows[i];
    return NULL;
}

const elementwise *elementwise_named(const char *name, size_t length)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].name && !strncmp(rows[i].name, name, length) && !rows[i].name[length])
            return &rows[i];
    return NULL;
}

collet_dtype elementwise_result(const elementwise *e, collet_dtype d)
{
    if (d < 0 || d >= COLLET_DTYPE_COUNT || !(e->dtypes >> d & 1))
        return COLLET_DTYPE_NONE;
    switch (e->result) {
    case ELEMENTWISE_BOOL:
        return COLLET_BOOL;
    case ELEMENTWISE_REAL:
        return d == COLLET_C64 ? COLLET_F32 : d == COLLET_C128 ? COLLET_F64 : d;
    case ELEMENTWISE_COMPLEX:
        return d == COLLET_F32 ? COLLET_C64 : COLLET_C128;
    default:
        return d;
    }
}

collet_dtype elementwise_operand(const elementwise *e, collet_dtype dtype, uint32_t i)
{
    return e->result == ELEMENTWISE_SELECT && i == 0 ? COLLET_BOOL : dtype;
}
