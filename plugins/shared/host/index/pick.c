/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take, take_along_axis, put and scatter_add, for all backends on host memory. Writes to given positions are divided
 * among threads by position, so that writes to one position keep their order.
 * Tests: conformance/index/pick.c
 */
#include "axes.h"

#include "shared/host/util/counts.h"

#define GRAIN (16 << 10) /* elements per thread, at least */
#define FEW 8            /* if the other axes have at most this many elements, indices are processed in blocks */

/* Writes are divided by position: each thread reads all indices and cannot predict which writes belong to it. So a
 * small number of threads (less than MANY_THREADS) is faster than one thread only if each index writes at least
 * MANY elements. */
#define MANY 32
#define MANY_THREADS 8

typedef struct job {
    const collet_operand *out, *a, *index, *values;
    index_axes out_lead, a_lead, index_lead, values_lead;
    int64_t extent; /* length of the indexed axis of a or out */
    int64_t count;  /* indices of a row */
    uint64_t size;
    int64_t parts; /* number of parts into which the positions of `out` are divided for threads */
    index_info info;
} job;

static index_axes lead_of(const collet_operand *o)
{
    return index_axes_of(o, 0, o->ndim - 1);
}

/* ---- take, take_along_axis ------------------------------------------------------------------- */

/* Computes the elements for indices begin .. end-1 of all rows. */
static void take_elements(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    job *j = argument;
    int64_t buffer[INDEX_BLOCK], out_step = cpu_last_step(j->out);
    (void)thread;
    while (begin < end) {
        int64_t lead = begin / j->count, from = begin % j->count;
        int64_t n = min_i64(min_i64(j->count - from, end - begin), INDEX_BLOCK);
        const char *row = cpu_at(j->index) + index_at(&j->index_lead, lead);
        int64_t base = j->index_lead.ndim ? lead * j->count : 0;
        const int64_t *positions = index_positions(buffer, j->index, row, base, from, n, j->extent, &j->info);
        index_gather(cpu_at(j->out) + index_at(&j->out_lead, lead) + from * out_step, out_step,
                     cpu_at(j->a) + index_at(&j->a_lead, lead), cpu_last_step(j->a), j->extent,
                     j->size, positions, n);
        begin += n;
    }
}

static void clear(char *out, int64_t step, uint64_t size, int64_t n)
{
    static const int64_t none = -1;
    for (int64_t i = 0; i < n; i++)
        index_gather(out + i * step, 0, NULL, 0, 0, size, &none, 1);
}

/* Takes indices begin .. end-1 of one row. For each index the elements of the other axes are copied; if these are few,
 * the loop over a block of indices is the inner loop instead. */
static void take_rows(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    job *j = argument;
    int64_t buffer[INDEX_BLOCK], count = j->out_lead.count;
    int64_t out_step = cpu_last_step(j->out), a_step = cpu_last_step(j->a);
    int64_t out_each = j->out_lead.each, a_each = j->a_lead.each;
    (void)thread;
    for (int64_t n; begin < end; begin += n) {
        char *out = cpu_at(j->out) + begin * out_step;
        n = min_i64(end - begin, INDEX_BLOCK);
        const int64_t *positions = index_positions(buffer, j->index, cpu_at(j->index), 0, begin, n, j->extent, &j->info);
        for (int64_t c = 0; count <= FEW && c < count; c++)
            index_gather(out + c * out_each, out_step, cpu_at(j->a) + c * a_each, a_step, j->extent,
                         j->size, positions, n);
        for (int64_t i = 0; count > FEW && i < n; i++, out += out_step) {
            if (positions[i] < 0)
                clear(out, out_each, j->size, count);
            else
                cpu_move(out, out_each, cpu_at(j->a) + positions[i] * a_step, a_each, j->size,
                         count);
        }
    }
}

/* Checks indices begin .. end-1 of all rows, even if no elements are taken. */
static void check_indices(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    job *j = argument;
    int64_t positions[INDEX_BLOCK];
    (void)thread;
    while (begin < end) {
        int64_t lead = begin / j->count, from = begin % j->count;
        int64_t n = min_i64(min_i64(j->count - from, end - begin), INDEX_BLOCK);
        const char *row = cpu_at(j->index) + index_at(&j->index_lead, lead);
        index_positions(positions, j->index, row, lead * j->count, from, n, j->extent, &j->info);
        begin += n;
    }
}

/* take and take_along_axis; they differ in the axes of the indices. */
KERNEL(take)
{
    job j = {.out = operand_of(call, 0),
             .a = operand_of(call, 2),
             .index = operand_of(call, 3),
             .info = {INT64_MAX}};
    j.out_lead = lead_of(j.out);
    j.a_lead = lead_of(j.a);
    j.index_lead = lead_of(j.index);
    j.extent = operand_extent(j.a, 0);
    j.count = operand_extent(j.out, 0);
    j.size = cpu_dtype_size(j.out->dtype);
    int64_t rows = j.out_lead.count;
    if (rows == 0)
        host_share(device, j.index_lead.count * j.count, GRAIN, check_indices, &j);
    else if (j.index_lead.ndim == 0 && index_is_inner(&j.a_lead, cpu_last_step(j.a)) &&
             j.out_lead.flat)
        host_share(device, j.count, 1 + GRAIN / rows, take_rows, &j);
    else
        host_share(device, rows * j.count, GRAIN, take_elements, &j);
    index_store_info(operand_of(call, 1), &j.info);
    return COLLET_OK;
}

/* ---- put, scatter_add ------------------------------------------------------------------------ */

/* out = a, for elements begin .. end-1 in C order. */
static void copy_elements(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    while (begin < end) {
        int64_t lead = begin / j->extent, from = begin % j->extent;
        int64_t n = min_i64(j->extent - from, end - begin);
        int64_t out_step = cpu_last_step(j->out), a_step = cpu_last_step(j->a);
        cpu_move(cpu_at(j->out) + index_at(&j->out_lead, lead) + from * out_step, out_step,
                 cpu_at(j->a) + index_at(&j->a_lead, lead) + from * a_step, a_step, j->size, n);
        begin += n;
    }
}

static void put_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    job *j = argument;
    int64_t buffer[INDEX_BLOCK], each = divide_up(j->extent, j->parts);
    int64_t in_step = cpu_last_step(j->values);
    (void)thread;
    for (int64_t from = 0; from < j->count; from += INDEX_BLOCK) {
        int64_t n = min_i64(j->count - from, INDEX_BLOCK);
        const int64_t *positions = index_positions(buffer, j->index, cpu_at(j->index), 0, from, n, j->extent, &j->info);
        index_scatter(cpu_at(j->out), cpu_last_step(j->out), cpu_at(j->values) + from * in_step,
                      in_step, j->size, positions, n, begin * each, end * each);
    }
}

static void begin_writes(job *j, collet_device *device, const collet_kernel_call *call)
{
    const host_device *host = (const host_device *)device;
    *j = (job){.out = operand_of(call, 0),
               .a = operand_of(call, 2),
               .index = operand_of(call, 3),
               .values = operand_of(call, 4),
               .info = {INT64_MAX}};
    j->out_lead = lead_of(j->out);
    j->a_lead = lead_of(j->a);
    j->values_lead = lead_of(j->values);
    j->extent = operand_extent(j->out, 0);
    j->count = operand_extent(j->index, 0);
    j->size = cpu_dtype_size(j->out->dtype);
    int gains = j->out_lead.count >= MANY || host->threads >= MANY_THREADS;
    j->parts = gains && host->threads > 1 && j->count >= GRAIN ? host->threads : 1;
    if (cpu_at(j->out) != cpu_at(j->a)) /* else `out` and `a` are the same view */
        host_share(device, j->out_lead.count * j->extent, GRAIN, copy_elements, j);
}

KERNEL(put)
{
    job j;
    begin_writes(&j, device, call);
    host_share(device, j.parts, 1, put_part, &j);
    index_store_info(operand_of(call, 1), &j.info);
    return COLLET_OK;
}

typedef void add_run(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t n);

/* Adds in[i] to the element at positions[i], if that position is one of the `count` positions from `low` on. */
typedef void add_at(char *out, int64_t out_step, const char *in, int64_t in_step,
                    const int64_t *positions, int64_t n, int64_t low, int64_t count);

typedef struct add_kernel {
    add_run *run;
    add_at *at;
} add_kernel;

/* Integers wrap, so they are added as unsigned types of the same size. */
#define ADD(name, TYPE)                                                                            \
    static void add_##name(char *out, int64_t out_step, const char *in, int64_t in_step,           \
                           int64_t n)                                                              \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            TYPE *sum = (void *)(out + i * out_step);                                              \
            *sum = (TYPE)(*sum + *(const TYPE *)(const void *)(in + i * in_step));                 \
        }                                                                                          \
    }                                                                                              \
    static void at_##name(char *out, int64_t out_step, const char *in, int64_t in_step,            \
                          const int64_t *positions, int64_t n, int64_t low, int64_t count)         \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            TYPE *sum = (void *)(out + positions[i] * out_step);                                   \
            if ((uint64_t)(positions[i] - low) < (uint64_t)count)                                  \
                *sum = (TYPE)(*sum + *(const TYPE *)(const void *)(in + i * in_step));             \
        }                                                                                          \
    }
ADD(f32, float)
ADD(f64, double)
ADD(8, uint8_t)
ADD(16, uint16_t)
ADD(32, uint32_t)
ADD(64, uint64_t)

#define ADD_PARTS(name, TYPE)                                                                      \
    static void add_##name(char *out, int64_t out_step, const char *in, int64_t in_step,           \
                           int64_t n)                                                              \
    {                                                                                              \
        add_##TYPE(out, out_step, in, in_step, n);                                                 \
        add_##TYPE(out + sizeof(collet_##name) / 2, out_step, in + sizeof(collet_##name) / 2,      \
                   in_step, n);                                                                    \
    }                                                                                              \
    static void at_##name(char *out, int64_t out_step, const char *in, int64_t in_step,            \
                          const int64_t *positions, int64_t n, int64_t low, int64_t count)         \
    {                                                                                              \
        at_##TYPE(out, out_step, in, in_step, positions, n, low, count);                           \
        at_##TYPE(out + sizeof(collet_##name) / 2, out_step, in + sizeof(collet_##name) / 2,       \
                  in_step, positions, n, low, count);                                              \
    }
ADD_PARTS(c64, f32)
ADD_PARTS(c128, f64)

#define OF(DTYPE, name) [COLLET_##DTYPE] = {add_##name, at_##name}
static const add_kernel adds[COLLET_DTYPE_COUNT] = {
    OF(F32, f32), OF(F64, f64), OF(C64, c64), OF(C128, c128), OF(I8, 8),   OF(U8, 8),
    OF(I16, 16),  OF(U16, 16),  OF(I32, 32),  OF(U32, 32),    OF(I64, 64), OF(U64, 64),
};
#undef OF

/* Adds for parts begin .. end-1 of the positions, in all rows. The inner loop may be over the other axes. */
static void add_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    job *j = argument;
    const add_kernel *add = &adds[j->out->dtype];
    int64_t each = divide_up(j->extent, j->parts), low = begin * each, high = end * each;
    int64_t out_step = cpu_last_step(j->out), in_step = cpu_last_step(j->values);
    int inner = index_is_inner(&j->out_lead, out_step) && j->values_lead.flat;
    int64_t buffer[INDEX_BLOCK];
    (void)thread;
    for (int64_t from = 0; from < j->count; from += INDEX_BLOCK) {
        int64_t n = min_i64(j->count - from, INDEX_BLOCK);
        const int64_t *positions = index_positions(buffer, j->index, cpu_at(j->index), 0, from, n, j->extent, &j->info);
        for (int64_t lead = 0; lead < (inner ? 1 : j->out_lead.count); lead++) {
            char *out = cpu_at(j->out) + (inner ? 0 : index_at(&j->out_lead, lead));
            const char *in =
                cpu_at(j->values) + from * in_step + (inner ? 0 : index_at(&j->values_lead, lead));
            if (!inner)
                add->at(out, out_step, in, in_step, positions, n, low, high - low);
            for (int64_t i = 0; inner && i < n; i++, in += in_step)
                if (positions[i] >= low && positions[i] < high)
                    add->run(out + positions[i] * out_step, j->out_lead.each, in,
                             j->values_lead.each, j->out_lead.count);
        }
    }
}

KERNEL(scatter_add)
{
    job j;
    begin_writes(&j, device, call);
    host_share(device, j.parts, 1, add_part, &j);
    index_store_info(operand_of(call, 1), &j.info);
    return COLLET_OK;
}
