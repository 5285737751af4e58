/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_q2_0.c */
#include "gguf_layout.h"

#include <stddef.h>
#include <stdlib.h>

#define TWO "Q2_0 has two layouts, 64 weights in 18 bytes (llama.cpp) and 128 in 34 (PrismML), and "

static const ternary_gguf_block layouts[] = {{64, 18}, {128, 34}};
enum { LAYOUTS = 2, ALL = (1 << LAYOUTS) - 1 };

static int compare_offsets(const void *a, const void *b)
{
    uint64_t x = ((const ternary_gguf_extent *)a)->offset;
    uint64_t y = ((const ternary_gguf_extent *)b)->offset;

    return x < y ? -1 : x > y;
}

/* 1 if the tensor ends at `end`, or, with the padding of the alignment, there. Without `exact` the
 * padding must be there. */
static int ends_at(const ternary_gguf_extent *e, const ternary_gguf_block *layout, uint64_t end,
                   uint64_t alignment, int exact)
{
    uint64_t weights, bytes;

    if (e->columns % layout->weights != 0 || end < e->offset ||
        __builtin_mul_overflow(e->rows, e->columns, &weights) ||
        __builtin_mul_overflow(weights / layout->weights, layout->bytes, &bytes))
        return 0;
    uint64_t have = end - e->offset, padding = (alignment - bytes % alignment) % alignment;
    return (exact && have == bytes) || (have >= bytes && have - bytes == padding);
}

/* Returns a bit for each layout that the tensor fits. */
static unsigned fits(const ternary_gguf_extent *e, uint64_t end, uint64_t alignment, int exact)
{
    unsigned found = 0;

    for (unsigned i = 0; i < LAYOUTS; i++)
        found |= (unsigned)ends_at(e, &layouts[i], end, alignment, exact) << i;
    return found;
}

const ternary_gguf_block *ternary_gguf_layout(ternary_gguf_extent *extents, uint64_t count,
                                              uint64_t alignment, uint64_t size, const char **fault)
{
    unsigned left = ALL;
    uint64_t last;

    qsort(extents, (size_t)count, sizeof *extents, compare_offsets);
    for (last = count; last > 0 && extents[last - 1].offset == extents[count - 1].offset;)
        last--;
    for (uint64_t i = 0, next = 0; i < last; i++) {
        for (next = next > i ? next : i + 1; extents[next].offset == extents[i].offset;)
            next++;
        if (extents[i].rows > 0)
            left &= fits(&extents[i], extents[next].offset, alignment, 0);
    }
    for (uint64_t i = last, both = left == ALL; both && i < count; i++)
        if (extents[i].rows > 0)
            left &= fits(&extents[i], size, alignment, 1);
    *fault = left == ALL ? TWO
                 "the offsets of the file's tensors fit both; convert the model again, to TQ2_0"
                         : TWO "the offsets of the file's tensors fit neither: the file is damaged "
                               "or truncated, or has "
                               "gaps; convert the model again";
    return left == 1 ? &layouts[0] : left == 2 ? &layouts[1] : NULL;
}
