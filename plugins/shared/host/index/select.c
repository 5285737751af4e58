/* SPDX-License-Identifier: Apache-2.0 */
/* compress, place and nonzero, for all backends on host memory: the elements of a mask that are not 0 are
 * counted in blocks, and then each block knows where its results begin.
 * Tests: conformance/index/pick.c */
#include "axes.h"

#include <string.h>

#include "keys.h"

#include "shared/host/util/counts.h"

#define BLOCK INDEX_BLOCK /* elements of the mask */
#define GRAIN 16          /* blocks per thread, at least */

typedef struct job {
    const collet_kernel_call *call;
    const collet_operand *out, *mask;
    index_axes rows; /* the axes of the mask except its last axis */
    int64_t length;  /* the length of a row */
    int64_t count;   /* elements of the mask */
    uint64_t bits;   /* an element is not 0 if one of these bits is set */
    int64_t *first;  /* the number of elements that are not 0 before each block */
} job;

/* ---- Which elements are not 0 ---------------------------------------------------------------- */

typedef struct pair {
    uint64_t first, second;
} pair;

/* The number of elements that are not 0; _adjacent: of elements without gaps. */
#define COUNT(size, TYPE, BITS, STEP)                                                              \
    static int64_t count_##size(const char *in, int64_t step, int64_t n, uint64_t bits)            \
    {                                                                                              \
        int64_t count = 0;                                                                         \
        (void)step;                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const TYPE *x = (const void *)(in + i * (STEP));                                       \
            count += ((BITS)&bits) != 0;                                                           \
        }                                                                                          \
        return count;                                                                              \
    }

/* Appends `base` + i for each element i that is not 0; returns the number of such elements. */
#define LIST_BY(size, TYPE, BITS, STEP)                                                            \
    static int64_t list_##size(int64_t *to, const char *in, int64_t step, int64_t n, int64_t base, \
                               uint64_t bits)                                                      \
    {                                                                                              \
        int64_t count = 0;                                                                         \
        (void)step;                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const TYPE *x = (const void *)(in + i * (STEP));                                       \
            to[count] = base + i;                                                                  \
            count += ((BITS)&bits) != 0;                                                           \
        }                                                                                          \
        return count;                                                                              \
    }
#define LIST(size, TYPE, BITS)                                                                     \
    COUNT(size, TYPE, BITS, step)                                                                  \
    COUNT(size##_adjacent, TYPE, BITS, size)                                                       \
    LIST_BY(size, TYPE, BITS, step)                                                                \
    LIST_BY(size##_adjacent, TYPE, BITS, size)
LIST(1, uint8_t, *x)

#define ONES 0x0101010101010101u
#define SEVENS (0x7f * ONES)

/* list or, if `to` is NULL, count eight adjacent elements of a mask at a time. */
static int64_t list_mask(int64_t *to, const char *in, int64_t n, int64_t base)
{
    int64_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t x;
        memcpy(&x, in + i, sizeof x);
        x = (((x & SEVENS) + SEVENS) | x) >> 7 & ONES; /* 1 for each byte that is not 0 */
        if (!x || !to) {
            count += (int64_t)(x * ONES >> 56);
            continue;
        }
#pragma GCC unroll 8
        for (int64_t k = 0; k < 8; k++) {
            to[count] = base + i + k;
            count += (int64_t)(x >> (8 * k) & 1);
        }
    }
    return count + (to ? list_1_adjacent(to + count, in + i, 1, n - i, base + i, UINT8_MAX)
                       : count_1_adjacent(in + i, 1, n - i, UINT8_MAX));
}

LIST(2, uint16_t, *x)
LIST(4, uint32_t, *x)
LIST(8, uint64_t, *x)
LIST(16, pair, x->first | x->second)

/* `to` may be NULL. */
static int64_t list(const job *j, int64_t *to, const char *in, int64_t n, int64_t base)
{
    int64_t step = j->mask->ndim ? cpu_last_step(j->mask) : 0;
#define OF(size)                                                                                   \
    case size:                                                                                     \
        if (step == size)                                                                          \
            return to ? list_##size##_adjacent(to, in, step, n, base, j->bits)                     \
                      : count_##size##_adjacent(in, step, n, j->bits);                             \
        return to ? list_##size(to, in, step, n, base, j->bits)                                    \
                  : count_##size(in, step, n, j->bits)
    if (step == 1 && j->mask->dtype == COLLET_BOOL)
        return list_mask(to, in, n, base);
    switch (cpu_dtype_size(j->mask->dtype)) {
        OF(1);
        OF(2);
        OF(4);
        OF(8);
    default:
        OF(16);
    }
#undef OF
}

/* Lists the positions, in C order, of the elements of a block that are not 0; returns their number, at most BLOCK.
 * `positions` may be NULL. */
static int64_t list_block(const job *j, int64_t block, int64_t *positions)
{
    int64_t begin = block * BLOCK, end = min_i64(begin + BLOCK, j->count), count = 0;
    while (begin < end) {
        int64_t from = begin % j->length, n = min_i64(j->length - from, end - begin);
        const char *row = cpu_at(j->mask) + index_at(&j->rows, begin / j->length);
        int64_t step = j->mask->ndim ? cpu_last_step(j->mask) : 0;
        count += list(j, positions ? positions + count : NULL, row + from * step, n, begin);
        begin += n;
    }
    return count;
}

static void count_blocks(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    for (int64_t b = begin; b < end; b++)
        j->first[b] = list_block(j, b, NULL);
}

/* Counts the elements that are not 0 in each block, then calls `write` for the blocks. Returns the total number. */
static int64_t select_elements(job *j, collet_device *device, host_body write)
{
    int64_t blocks = divide_up(j->count, BLOCK), total = 0;
    host_share(device, blocks, GRAIN, count_blocks, j);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t before = total;
        total += j->first[b];
        j->first[b] = before;
    }
    host_share(device, blocks, GRAIN, write, j);
    *(int64_t *)(void *)cpu_at(operand_of(j->call, 1)) = total;
    return total;
}

static job job_of(const collet_kernel_call *call, uint32_t mask)
{
    job j = {.call = call, .out = operand_of(call, 0), .mask = operand_of(call, mask)};
    int32_t ndim = j.mask->ndim;
    j.rows = index_axes_of(j.mask, 0, ndim ? ndim - 1 : 0);
    j.length = ndim ? operand_extent(j.mask, 0) : 1;
    j.count = operand_count(j.mask);
    j.bits = index_bits_that_count(j.mask->dtype);
    j.first = call->workspace;
    return j;
}

static uint32_t mask_of(uint32_t op)
{
    return op == COLLET_OP_NONZERO ? 2 : 3;
}

ACCEPTS(select)
{
    int64_t blocks = divide_up(operand_count(operand_of(call, mask_of(call->op))), BLOCK);
    *workspace_bytes = (uint64_t)blocks * sizeof(int64_t);
    return COLLET_OK;
}

/* ---- compress -------------------------------------------------------------------------------- */

static void compress_blocks(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    const collet_operand *a = operand_of(j->call, 2);
    int64_t positions[BLOCK + 1], most = operand_extent(j->out, 0), step = cpu_last_step(j->out);
    index_axes out_lead = index_axes_of(j->out, 0, j->out->ndim - 1);
    index_axes a_lead = index_axes_of(a, 0, a->ndim - 1);
    (void)thread;
    for (int64_t b = begin; b < end; b++) {
        int64_t n = min_i64(list_block(j, b, positions), most - j->first[b]);
        for (int64_t i = 0; i < out_lead.count; i++)
            index_gather(cpu_at(j->out) + index_at(&out_lead, i) + j->first[b] * step, step,
                         cpu_at(a) + index_at(&a_lead, i), cpu_last_step(a), operand_extent(a, 0),
                         cpu_dtype_size(a->dtype), positions, n);
    }
}

/* Sets the elements of each row of the output, from element `total` on, to 0. */
static void clear_rest(const collet_operand *out, int64_t total)
{
    static const int64_t none = -1;
    index_axes lead = index_axes_of(out, 0, out->ndim - 1);
    for (int64_t i = 0; i < lead.count; i++)
        for (int64_t k = total; k < operand_extent(out, 0); k++)
            index_gather(cpu_at(out) + index_at(&lead, i) + k * cpu_last_step(out), 0, NULL, 0, 0,
                         cpu_dtype_size(out->dtype), &none, 1);
}

KERNEL(compress)
{
    job j = job_of(call, mask_of(call->op));
    clear_rest(j.out, select_elements(&j, device, compress_blocks));
    return COLLET_OK;
}

/* ---- nonzero --------------------------------------------------------------------------------- */

/* Divides the positions by an extent and stores the remainders. */
static void write_remainders(char *out, int64_t step, int64_t *positions, int64_t n, int64_t extent,
                             int64_t count)
{
    uint32_t divisor = (uint32_t)extent; /* a division of 32 bits is faster */
    for (int64_t i = 0; i < n; i++) {
        int64_t p = positions[i];
        int64_t quotient = count <= UINT32_MAX ? (uint32_t)p / divisor : p / extent;
        *(int64_t *)(void *)(out + i * step) = p - quotient * extent;
        positions[i] = quotient;
    }
}

static void write_indices(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    int64_t positions[BLOCK + 1], most = operand_extent(j->out, 0), step = cpu_last_step(j->out);
    (void)thread;
    for (int64_t b = begin; b < end; b++) {
        int64_t n = min_i64(list_block(j, b, positions), most - j->first[b]);
        for (int32_t axis = j->mask->ndim - 1; axis >= 0; axis--) {
            char *out = cpu_at(j->out) + axis * cpu_step(j->out, 0) + j->first[b] * step;
            if (axis)
                write_remainders(out, step, positions, n, j->mask->shape[axis], j->count);
            else
                cpu_move(out, step, (const char *)positions, sizeof *positions, sizeof *positions, n);
        }
    }
}

KERNEL(nonzero)
{
    job j = job_of(call, mask_of(call->op));
    clear_rest(j.out, select_elements(&j, device, write_indices));
    return COLLET_OK;
}

/* ---- place ----------------------------------------------------------------------------------- */

/* Copies the elements of a block in C order. */
static void copy_block(const job *j, int64_t block)
{
    const collet_operand *a = operand_of(j->call, 2);
    int32_t rows = j->out->ndim ? j->out->ndim - 1 : 0;
    index_axes out_lead = index_axes_of(j->out, 0, rows), a_lead = index_axes_of(a, 0, rows);
    int64_t out_step = j->out->ndim ? cpu_last_step(j->out) : 0;
    int64_t a_step = j->out->ndim ? cpu_last_step(a) : 0;
    int64_t begin = block * BLOCK, end = min_i64(begin + BLOCK, j->count);
    while (begin < end) {
        int64_t row = begin / j->length, from = begin % j->length;
        int64_t n = min_i64(j->length - from, end - begin);
        cpu_move(cpu_at(j->out) + index_at(&out_lead, row) + from * out_step, out_step,
                 cpu_at(a) + index_at(&a_lead, row) + from * a_step, a_step,
                 cpu_dtype_size(a->dtype), n);
        begin += n;
    }
}

static void place_blocks(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    const collet_operand *values = operand_of(j->call, 4);
    index_axes all = index_axes_of(j->out, 0, j->out->ndim);
    int64_t positions[BLOCK + 1], most = operand_extent(values, 0);
    int64_t step = most == 1 ? 0 : cpu_last_step(values);
    (void)thread;
    for (int64_t b = begin; b < end; b++) {
        int64_t n = list_block(j, b, positions), from = j->first[b];
        if (cpu_at(j->out) != cpu_at(operand_of(j->call, 2))) /* else both are the same view */
            copy_block(j, b);
        for (int64_t i = 0; i < n && (most == 1 || from + i < most); i++)
            cpu_move(cpu_at(j->out) + index_at(&all, positions[i]), 0,
                     cpu_at(values) + (from + i) * step, 0, cpu_dtype_size(values->dtype), 1);
    }
}

KERNEL(place)
{
    job j = job_of(call, mask_of(call->op));
    select_elements(&j, device, place_blocks);
    return COLLET_OK;
}
