/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cumulative_sum and cumulative_prod, for all backends on host memory. A long row is joined in chunks: first
 * each chunk alone, then what comes before it is joined with its elements, while they are still in a
 * cache. The order depends on the length alone, and so do the bits.
 * Tests: conformance/index/scan.c
 */
#include "axes.h"

#include "shared/host/util/counts.h"

#define BLOCK 1024       /* elements whose results stay in the L1 cache */
#define LANES 8          /* parts of a block, whose additions do not wait for each other */
#define CHUNK (16 << 10) /* elements */
#define TOGETHER 16      /* chunks: the elements of which stay in the L2 or L3 caches */
#define GRAIN (16 << 10) /* elements per thread, at least */
#define COLUMNS 256      /* of a tile */

/* ---- Loops ----------------------------------------------------------------------------------- */

typedef struct loops {
    void (*chunk)(void *carry, char *out, int64_t out_step, const char *in, int64_t in_step,
                  int64_t n);
    void (*columns)(char *out, int64_t out_row, int64_t out_column, const char *in, int64_t in_row,
                    int64_t in_column, int64_t rows, int64_t columns);
} loops;

#define JOIN(a, b) ((a) + (b))
#define NOTHING 0

#define NAME(x) x##_sum_f32
#define IN float
#define OUT float
#define ACC double
#define OF(x) ((double)(x))
#include "scan.inc"

#define NAME(x) x##_sum_f64
#define IN double
#define OUT double
#define ACC double
#define OF(x) (x)
#include "scan.inc"

#define NAME(x) x##_sum_i8
#define IN int8_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_sum_u8
#define IN uint8_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_sum_i16
#define IN int16_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_sum_u16
#define IN uint16_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_sum_i32
#define IN int32_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_sum_u32
#define IN uint32_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_sum_i64
#define IN uint64_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_sum_b8
#define IN uint8_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)((x) != 0))
#include "scan.inc"

#undef JOIN
#undef NOTHING

#define JOIN(a, b) ((a) * (b))
#define NOTHING 1

#define NAME(x) x##_product_f32
#define IN float
#define OUT float
#define ACC double
#define OF(x) ((double)(x))
#include "scan.inc"

#define NAME(x) x##_product_f64
#define IN double
#define OUT double
#define ACC double
#define OF(x) (x)
#include "scan.inc"

#define NAME(x) x##_product_i8
#define IN int8_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_product_u8
#define IN uint8_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_product_i16
#define IN int16_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_product_u16
#define IN uint16_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_product_i32
#define IN int32_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_product_u32
#define IN uint32_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_product_i64
#define IN uint64_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)(x))
#include "scan.inc"

#define NAME(x) x##_product_b8
#define IN uint8_t
#define OUT uint64_t
#define ACC uint64_t
#define OF(x) ((uint64_t)((x) != 0))
#include "scan.inc"

#undef JOIN
#undef NOTHING

#define LOOPS(op, name)                                                                            \
    {                                                                                              \
        chunk_##op##_##name, columns_##op##_##name                                                 \
    }
#define TYPES(op)                                                                                  \
    {                                                                                              \
        [COLLET_F32] = LOOPS(op, f32), [COLLET_F64] = LOOPS(op, f64), [COLLET_I8] = LOOPS(op, i8), \
        [COLLET_U8] = LOOPS(op, u8), [COLLET_I16] = LOOPS(op, i16), [COLLET_U16] = LOOPS(op, u16), \
        [COLLET_I32] = LOOPS(op, i32), [COLLET_U32] = LOOPS(op, u32),                              \
        [COLLET_I64] = LOOPS(op, i64), [COLLET_U64] = LOOPS(op, i64),                              \
        [COLLET_BOOL] = LOOPS(op, b8)                                                              \
    }
static const loops sums[COLLET_DTYPE_COUNT] = TYPES(sum);
static const loops products[COLLET_DTYPE_COUNT] = TYPES(product);

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef union carry {
    double number;
    uint64_t word;
} carry;

typedef struct job {
    const loops *loops;
    carry nothing;
    char *out;
    const char *in;
    index_axes out_lead, in_lead;
    int64_t out_step, in_step, length;
    int64_t from; /* the first of some chunks of a row */
    int is_product, is_float;
    carry
        carries[TOGETHER + 1]; /* of these chunks: first what each gives, then what is before it */
} job;

static void join(const job *j, carry *a, const carry *b)
{
    if (j->is_float)
        a->number = j->is_product ? a->number * b->number : a->number + b->number;
    else
        a->word = j->is_product ? a->word * b->word : a->word + b->word;
}

static void scan_rows(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    for (int64_t row = begin; row < end; row++) {
        char *out = j->out + index_at(&j->out_lead, row);
        const char *in = j->in + index_at(&j->in_lead, row);
        carry before = j->nothing;
        for (int64_t i = 0; i < j->length; i += CHUNK)
            j->loops->chunk(&before, out + i * j->out_step, j->out_step, in + i * j->in_step,
                            j->in_step, min_i64(CHUNK, j->length - i));
    }
}

/* Chunks begin .. end-1 of those from j->from on. */
static void join_chunks(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    job *j = argument;
    (void)thread;
    for (int64_t k = begin; k < end; k++) {
        int64_t i = (j->from + k) * CHUNK;
        j->carries[k + 1] = j->nothing;
        j->loops->chunk(&j->carries[k + 1], NULL, 0, j->in + i * j->in_step, j->in_step,
                        min_i64(CHUNK, j->length - i));
    }
}

static void scan_chunks(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    for (int64_t k = begin; k < end; k++) {
        int64_t i = (j->from + k) * CHUNK;
        carry before = j->carries[k];
        j->loops->chunk(&before, j->out + i * j->out_step, j->out_step, j->in + i * j->in_step,
                        j->in_step, min_i64(CHUNK, j->length - i));
    }
}

/* One row after another, each on all threads. */
static void scan_long_rows(collet_device *device, job *j)
{
    char *out = j->out;
    const char *in = j->in;
    int64_t chunks = divide_up(j->length, CHUNK);
    for (int64_t row = 0; row < j->out_lead.count; row++) {
        j->out = out + index_at(&j->out_lead, row);
        j->in = in + index_at(&j->in_lead, row);
        carry before = j->nothing;
        for (j->from = 0; j->from < chunks; j->from += TOGETHER) {
            int64_t count = min_i64(TOGETHER, chunks - j->from);
            host_share(device, count, 1, join_chunks, j);
            j->carries[0] = before;
            for (int64_t k = 0; k < count; k++) {
                carry own = j->carries[k + 1];
                j->carries[k + 1] = j->carries[k];
                join(j, &j->carries[k + 1], &own);
            }
            before = j->carries[count];
            host_share(device, count, 1, scan_chunks, j);
        }
    }
}

static void scan_tiles(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    for (int64_t tile = begin; tile < end; tile++) {
        int64_t first = tile * COLUMNS, n = min_i64(COLUMNS, j->out_lead.count - first);
        j->loops->columns(j->out + first * j->out_lead.each, j->out_step, j->out_lead.each,
                          j->in + first * j->in_lead.each, j->in_step, j->in_lead.each, j->length,
                          n);
    }
}

static void scan(collet_device *device, job *j)
{
    int64_t rows = j->out_lead.count;
    const host_device *host = (const host_device *)device;
    if (rows == 0 || j->length == 0)
        return;
    if (index_is_inner(&j->in_lead, j->in_step) && j->out_lead.flat && j->length > 1)
        host_share(device, divide_up(rows, COLUMNS), 1 + GRAIN / COLUMNS / j->length, scan_tiles,
                   j);
    else if (rows < 4 * (int64_t)host->threads && j->length >= 4 * CHUNK)
        scan_long_rows(device, j);
    else
        host_share(device, rows, 1 + GRAIN / j->length, scan_rows, j);
}

/* The parts of complex numbers are summed one after the other. */
KERNEL(scan)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    collet_dtype type = part_of(in->dtype);
    int is_product = call->op == COLLET_OP_CUMULATIVE_PROD;
    int is_float = type == COLLET_F32 || type == COLLET_F64;
    for (int part = 0; part < (type == in->dtype ? 1 : 2); part++) {
        int64_t offset = part * (int64_t)cpu_dtype_size(type);
        job j = {.loops = is_product ? &products[type] : &sums[type],
                 .out = cpu_at(out) + offset,
                 .in = cpu_at(in) + offset,
                 .out_lead = index_axes_of(out, 0, out->ndim - 1),
                 .in_lead = index_axes_of(in, 0, in->ndim - 1),
                 .out_step = cpu_last_step(out),
                 .in_step = cpu_last_step(in),
                 .length = operand_extent(in, 0),
                 .is_product = is_product,
                 .is_float = is_float};
        if (is_float)
            j.nothing.number = is_product;
        else
            j.nothing.word = (uint64_t)is_product;
        scan(device, &j);
    }
    return COLLET_OK;
}
