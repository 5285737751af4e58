/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress, place and nonzero, for all backends on host memory: the elements of a mask that are not 0 are
 * counted in blocks, and then each block knows where its results begin.
 * Tests: conformance/index/pick.c
 */
#include "axes.h"
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

/* Appends `base` + i for each element i that is not 0; returns the number of such elements. */
#define LIST(size, TYPE, BITS)                                                                     \
    static int64_t list_##size(int64_t *to, const char *in, int64_t step, int64_t n, int64_t base, \
                               uint64_t bits)                                                      \
    {                                                                                              \
        int64_t count = 0;                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const TYPE *x = (const void *)(in + i * step);                                         \
            to[count] = base + i;                                                                  \
            count += ((BITS)&bits) != 0;                                                           \
        }                                                                                          \
        return count;                                                                              \
    }
LIST(1, uint8_t, *x)
LIST(2, uint16_t, *x)
LIST(4, uint32_t, *x)
LIST(8, uint64_t, *x)
LIST(16, pair, x->first | x->second)

static int64_t list(const job *j, int64_t *to, const char *in, int64_t n, int64_t base)
{
    int64_t step = j->mask->ndim ? cpu_last_step(j->mask) : 0;
    switch (cpu_dtype_size(j->mask->dtype)) {
    case 1:
        return list_1(to, in, step, n, base, j->bits);
    case 2:
        return list_2(to, in, step, n, base, j->bits);
    case 4:
        return list_4(to, in, step, n, base, j->bits);
    case 8:
        return list_8(to, in, step, n, base, j->bits);
    default:
        return list_16(to, in, step, n, base, j->bits);
    }
}

/* Lists the positions, in C order, of the elements of a block that are not 0; returns their number, at most BLOCK. */
static int64_t list_block(const job *j, int64_t block, int64_t *positions)
{
    int64_t begin = block * BLOCK, end = min_i64(begin + BLOCK, j->count), count = 0;
    while (begin < end) {
        int64_t from = begin % j->length, n = min_i64(j->length - from, end - begin);
        const char *row = cpu_at(j->mask) + index_at(&j->rows, begin / j->length);
        int64_t step = j->mask->ndim ? cpu_last_step(j->mask) : 0;
        count += list(j, positions + count, row + from * step, n, begin);
        begin += n;
    }
    return count;
}

static void count_blocks(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    int64_t positions[BLOCK + 1];
    (void)thread;
    for (int64_t b = begin; b < end; b++)
        j->first[b] = list_block(j, b, positions);
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

static void write_indices(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    int64_t positions[BLOCK + 1], most = operand_extent(j->out, 0), step = cpu_last_step(j->out);
    (void)thread;
    for (int64_t b = begin; b < end; b++) {
        int64_t n = min_i64(list_block(j, b, positions), most - j->first[b]);
        for (int32_t axis = j->mask->ndim - 1; axis >= 0; axis--) {
            char *out = cpu_at(j->out) + axis * cpu_step(j->out, 0) + j->first[b] * step;
            int64_t extent = j->mask->shape[axis];
            for (int64_t i = 0; i < n; i++) {
                *(int64_t *)(void *)(out + i * step) = axis ? positions[i] % extent : positions[i];
                positions[i] /= extent;
            }
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
