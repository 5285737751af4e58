/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_util.c */
#include <collet/collet.h>

typedef struct dtype_entry {
    const char *name;
    size_t size;
} dtype_entry;

#define DTYPE_ENTRY(name, id, size, text, letter, ...) [id] = {text, size},
static const dtype_entry dtypes[COLLET_DTYPE_COUNT] = {{"none", 0}, COLLET_DTYPE_LIST(DTYPE_ENTRY)};
#undef DTYPE_ENTRY

static const dtype_entry *dtype_find(collet_dtype dtype)
{
    return &dtypes[dtype > 0 && dtype < COLLET_DTYPE_COUNT ? dtype : 0];
}

const char *collet_dtype_name(collet_dtype dtype)
{
    return dtype_find(dtype)->name;
}

size_t collet_dtype_size(collet_dtype dtype)
{
    return dtype_find(dtype)->size;
}

/* ---- Promotion --------------------------------------------------------------------------- */

/* The kinds in the order of promotion: mixed operands give the higher kind. */
typedef enum rank { RANK_NONE, RANK_BOOL, RANK_UINT, RANK_INT, RANK_FLOAT, RANK_COMPLEX } rank;

#define RANK_BFLOAT RANK_FLOAT
#define DTYPE_RANK(name, id, size, text, letter, type, kind, ...) [id] = RANK_##kind,
static const uint8_t ranks[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(DTYPE_RANK)};
#undef DTYPE_RANK

/* The signed integer of `size` bytes; beyond 8 bytes f64. */
static collet_dtype signed_of(size_t size)
{
    return size == 1   ? COLLET_I8
           : size == 2 ? COLLET_I16
           : size == 4 ? COLLET_I32
           : size == 8 ? COLLET_I64
                       : COLLET_F64;
}

/* The smallest dtype, of the kind of `other` (floating or complex), that holds the values of both
 * dtypes. */
static collet_dtype widened(collet_dtype d, collet_dtype other)
{
    size_t size = dtypes[d].size;
    int complex = ranks[other] == RANK_COMPLEX;
    if (ranks[d] < RANK_FLOAT) {
        if (size == 1 || ranks[d] == RANK_BOOL)
            return other;
        if (!complex && size == 2 && dtypes[other].size == 2)
            return COLLET_F32;
        return size == 2 ? other : complex ? COLLET_C128 : COLLET_F64;
    }
    if (complex)
        return d == COLLET_F64 ? COLLET_C128 : other;
    return dtypes[d].size == dtypes[other].size ? COLLET_F32 : other;
}

collet_dtype collet_dtype_promote(collet_dtype a, collet_dtype b)
{
    if (dtype_find(a) == dtypes || dtype_find(b) == dtypes)
        return COLLET_DTYPE_NONE;
    if (a == b)
        return a;
    /* Swap the dtypes if necessary: `b` is of the higher kind or, if the kinds are equal, the larger dtype. */
    if (ranks[a] > ranks[b] || (ranks[a] == ranks[b] && dtypes[a].size > dtypes[b].size)) {
        collet_dtype higher = a;
        a = b;
        b = higher;
    }
    if (ranks[b] >= RANK_FLOAT)
        return widened(a, b);
    if (ranks[a] == RANK_UINT && ranks[b] == RANK_INT && dtypes[a].size >= dtypes[b].size)
        return signed_of(2 * dtypes[a].size);
    return b;
}
