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
