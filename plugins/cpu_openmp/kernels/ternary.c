/* SPDX-License-Identifier: Apache-2.0 */
#include "ternary.h"

#include "ternary_lanes.h"

/* ---- Tiles ----------------------------------------------------------------------------------- */

typedef void (*tile)(const ternary_panel *p, int64_t row, int64_t token);

/* Of `rows` rows and `tokens` tokens, and of one row. */
typedef struct tile_row {
    int64_t tokens, rows;
    tile several[TERNARY_FORMS], one[TERNARY_FORMS];
} tile_row;

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define FORMS(shape)                                                                               \
    {                                                                                              \
        JOIN(tile_i8, shape), JOIN(tile_packed, shape), JOIN(tile_f32, shape)                      \
    }

/* One token: memory is read in several streams, and activations are loaded once for all rows. */
#define ROWS 4
#define TOKENS 1
#define NAME(x) x##_4x1
#include "ternary_tile.inc"

#define ROWS 1
#define TOKENS 1
#define NAME(x) x##_1x1
#include "ternary_tile.inc"

#define ROWS 2
#define TOKENS 4
#define NAME(x) x##_2x4
#include "ternary_tile.inc"

#define ROWS 1
#define TOKENS 4
#define NAME(x) x##_1x4
#include "ternary_tile.inc"

#if VECTOR_REGISTERS == 32

#define ROWS 3
#define TOKENS 8
#define NAME(x) x##_3x8
#include "ternary_tile.inc"

#define ROWS 1
#define TOKENS 8
#define NAME(x) x##_1x8
#include "ternary_tile.inc"

#endif

static const tile_row tile_rows[] = {
#if VECTOR_REGISTERS == 32
    {8, 3, FORMS(3x8), FORMS(1x8)},
#endif
    {4, 2, FORMS(2x4), FORMS(1x4)},
    {1, 4, FORMS(4x1), FORMS(1x1)},
};

#define TILE_ROWS (sizeof tile_rows / sizeof *tile_rows)

INLINE void multiply(const ternary_panel *p, int form)
{
    int64_t token = 0;
    for (uint64_t i = 0; i < TILE_ROWS; i++) {
        const tile_row *shape = &tile_rows[i];
        for (; token + shape->tokens <= p->count; token += shape->tokens) {
            int64_t row = 0;
            for (; row + shape->rows <= p->rows; row += shape->rows)
                shape->several[form](p, row, token);
            for (; row < p->rows; row++)
                shape->one[form](p, row, token);
        }
    }
}

static void multiply_i8(const ternary_panel *p)
{
    multiply(p, TERNARY_I8);
}

static void multiply_packed(const ternary_panel *p)
{
    multiply(p, TERNARY_PACKED);
}

static void multiply_f32(const ternary_panel *p)
{
    multiply(p, TERNARY_F32);
}

/* ---- Two packed vectors ---------------------------------------------------------------------- */

/* The product of what two numbers of two bits stand for, as such a number: 1 where the lower bit of
 * either is set, else 2 or 0 as the higher ones are the same or not. */
INLINE bytes product_fields(bytes a, bytes b)
{
    bytes zero = a | b;
    return (~((bytes)((ushorts)zero << 1) | (a ^ b)) & 0xaa) | (zero & 0x55);
}

static int64_t dot(const uint8_t *a, const uint8_t *b, int64_t blocks)
{
    quads sum = {0};
    for (int64_t first = 0, last; first < blocks; first = last) {
        counts part = {0};
        last = blocks - first > COUNT_BLOCKS ? first + COUNT_BLOCKS : blocks;
        int64_t i = first * PIECES, end = last * PIECES;
        for (; i + 2 <= end; i += 2) {
            const uint8_t *x = a + i * VECTOR_BYTES, *y = b + i * VECTOR_BYTES;
            part = counts_add_two(
                part, product_fields(load_bytes(x), load_bytes(y)),
                product_fields(load_bytes(x + VECTOR_BYTES), load_bytes(y + VECTOR_BYTES)));
        }
        for (; i < end; i++)
            part = counts_add(part, product_fields(load_bytes(a + i * VECTOR_BYTES),
                                                   load_bytes(b + i * VECTOR_BYTES)));
        sum = counts_sum(sum, part);
    }
    return across_quads(sum) - blocks * TERNARY_BLOCK;
}

extern const ternary_products LEVEL_NAME(ternary);
const ternary_products LEVEL_NAME(ternary) = {
    .multiply = {multiply_i8, multiply_packed, multiply_f32},
    .dot = dot,
};
