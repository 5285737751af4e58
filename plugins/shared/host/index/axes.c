/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/index/pick.c */
#include "axes.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static void note(index_info *info, int64_t position)
{
    int64_t first = __atomic_load_n(&info->first, __ATOMIC_RELAXED);
    while (position < first && !__atomic_compare_exchange_n(&info->first, &first, position, 1,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Reads n positions; returns a nonzero number if a position is out of range. */
INLINE int64_t read_positions(int64_t *positions, const char *at, int64_t step, int wide, int64_t n,
                              int64_t extent)
{
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++, at += step) {
        int64_t x = wide ? *(const int64_t *)(const void *)at : *(const int32_t *)(const void *)at;
        x += x >> 63 & extent; /* where negative */
        int out_of_range = (uint64_t)x >= (uint64_t)extent;
        positions[i] = x | -(int64_t)out_of_range;
        bad |= out_of_range;
    }
    return bad;
}

/* Whether all indices are positions already. */
static int are_positions(const int64_t *index, int64_t n, int64_t extent)
{
    int64_t signs = 0; /* negative if an index is negative */
    for (int64_t i = 0; i < n; i++)
        signs |= index[i] | ((int64_t)((uint64_t)extent - 1 - (uint64_t)index[i]));
    return signs >= 0;
}

const int64_t *index_positions(int64_t *positions, const collet_operand *index, const char *row,
                               int64_t base, int64_t from, int64_t n, int64_t extent,
                               index_info *info)
{
    int64_t step = cpu_last_step(index);
    const char *at = row + from * step;
    const int64_t *there = (const void *)at;
    if (index->dtype == COLLET_I64 && step == sizeof *there && are_positions(there, n, extent))
        return there;
    int64_t bad = index->dtype == COLLET_I64 ? read_positions(positions, at, step, 1, n, extent)
                                             : read_positions(positions, at, step, 0, n, extent);
    for (int64_t i = 0; bad && i < n; i++)
        if (positions[i] < 0) {
            note(info, base + from + i);
            break;
        }
    return positions;
}

void index_store_info(const collet_operand *o, const index_info *info)
{
    *(int64_t *)(void *)cpu_at(o) = info->first == INT64_MAX ? 0 : 1 + info->first;
}

/* The hardware does not prefetch elements at random positions, so software does: into the L2 cache, because more
 * lines can be in transfer to an L2 cache than to an L1 cache. */
#define AHEAD 64 /* elements */
/* Arrays of up to this many bytes fit into an L2 cache, where prefetching costs more than it saves. */
#define NEAR (1 << 20)
#define PREFETCH(a, offset)                                                                        \
    __builtin_prefetch((const void *)((uintptr_t)(a) + (uint64_t)(offset)), 0, 2)

typedef struct pair {
    uint64_t first, second;
} pair;

/* The sizes of elements, and a type of each size. Elements of 16 bytes are aligned to 8. */
#define EACH_SIZE(X) X(1, uint8_t) X(2, uint16_t) X(4, uint32_t) X(8, uint64_t) X(16, pair)

#define LOOPS(size, TYPE)                                                                          \
    INLINE void gather_some_##size(char *out, int64_t out_step, const char *a, int64_t a_step,     \
                                   const int64_t *positions, int64_t n, int64_t ahead)             \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            TYPE x = {0};                                                                          \
            if (ahead)                                                                             \
                PREFETCH(a, positions[i + ahead] * a_step);                                        \
            if (__builtin_expect(positions[i] >= 0, 1))                                            \
                x = *(const TYPE *)(const void *)(a + positions[i] * a_step);                      \
            *(TYPE *)(void *)(out + i * out_step) = x;                                             \
        }                                                                                          \
    }                                                                                              \
    static void gather_##size(char *out, int64_t out_step, const char *a, int64_t a_step,          \
                              int64_t extent, const int64_t *positions, int64_t n)                 \
    {                                                                                              \
        int64_t begin = 0, each = sizeof(TYPE), reach = a_step < 0 ? -a_step : a_step;             \
        if (extent > NEAR / (reach + 1)) {                                                         \
            for (int64_t i = 0; i < AHEAD && i < n; i++)                                           \
                PREFETCH(a, positions[i] * a_step);                                                \
            begin = n > AHEAD ? n - AHEAD : 0;                                                     \
            gather_some_##size(out, out_step, a, a_step, positions, begin, AHEAD);                 \
        }                                                                                          \
        out += begin * out_step;                                                                   \
        positions += begin;                                                                        \
        if (out_step == each && a_step == each)                                                    \
            gather_some_##size(out, each, a, each, positions, n - begin, 0);                       \
        else                                                                                       \
            gather_some_##size(out, out_step, a, a_step, positions, n - begin, 0);                 \
    }                                                                                              \
    static void scatter_##size(char *out, int64_t out_step, const char *in, int64_t in_step,       \
                               const int64_t *positions, int64_t n, int64_t low, int64_t high)     \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            if (positions[i] >= low && positions[i] < high)                                        \
                *(TYPE *)(void *)(out + positions[i] * out_step) =                                 \
                    *(const TYPE *)(const void *)(in + i * in_step);                               \
    }
EACH_SIZE(LOOPS)

void index_gather(char *out, int64_t out_step, const char *a, int64_t a_step, int64_t extent,
                  uint64_t size, const int64_t *positions, int64_t n)
{
#define GATHER(bytes, TYPE)                                                                        \
    if (size == (bytes))                                                                           \
        gather_##bytes(out, out_step, a, a_step, extent, positions, n);
    EACH_SIZE(GATHER)
}

void index_scatter(char *out, int64_t out_step, const char *in, int64_t in_step, uint64_t size,
                   const int64_t *positions, int64_t n, int64_t low, int64_t high)
{
#define SCATTER(bytes, TYPE)                                                                       \
    if (size == (bytes))                                                                           \
        scatter_##bytes(out, out_step, in, in_step, positions, n, low, high);
    EACH_SIZE(SCATTER)
}
