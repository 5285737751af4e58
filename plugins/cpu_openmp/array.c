/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include "../cpu/rows.h"
#include "loop.h"
#include "team.h"

/* Bytes of all operands below which a second thread costs more than it brings. */
#define GRAIN_BYTES (64 << 10)

/* exp and log do the work of about this many copies. */
#define HEAVY 4

/* A piece of a large output that stays in the first cache until it is streamed to memory. */
#define PIECE_BYTES 4096

typedef struct elementwise {
    loop l;
    row_kernel row;
    void (*stream)(char *out, const char *in, int64_t bytes);
    int64_t size; /* of an element */
} elementwise;

static void run_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const elementwise *e = context;
    e->row(at, step, n);
}

static void run_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const elementwise *e = argument;
    (void)thread;
    loop_run(&e->l, begin, end, run_row, e);
}

/* Elements begin .. end-1 of a loop over one axis whose output is adjacent. */
static void run_part_streamed(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const elementwise *e = argument;
    const loop *l = &e->l;
    _Alignas(64) char piece[PIECE_BYTES];
    const int64_t step[LOOP_VIEWS] = {e->size, l->views > 1 ? l->step[1][0] : 0,
                                      l->views > 2 ? l->step[2][0] : 0};
    (void)thread;
    /* The first piece ends where a cache line does, so that all later ones begin with one. */
    uintptr_t first = (uintptr_t)(l->at[0] + begin * e->size);
    int64_t n = (PIECE_BYTES - (int64_t)(first % 64)) / e->size;
    for (int64_t i = begin; i < end; i += n, n = PIECE_BYTES / e->size) {
        if (n > end - i)
            n = end - i;
        char *at[LOOP_VIEWS] = {piece};
        for (int32_t k = 1; k < l->views; k++)
            at[k] = l->at[k] + i * step[k];
        e->row(at, step, n);
        e->stream(l->at[0] + i * e->size, piece, n * e->size);
    }
}

/* Whether the output is adjacent, apart from the inputs, and larger than what caches keep. */
static int worth_streaming(const collet_device *device, const elementwise *e)
{
    const loop *l = &e->l;
    if (l->ndim != 1 || l->step[0][0] != e->size)
        return 0;
    for (int32_t k = 1; k < l->views; k++) {
        if (l->at[k] == l->at[0])
            return 0;
    }
    return l->count * e->size > device->cache_bytes;
}

static collet_status run_large(collet_device *device, const collet_kernel_call *call,
                               row_kernel row, int64_t heavy)
{
    elementwise e = {.row = row, .stream = device->level->move->stream};
    loop_init(&e.l, call, (int32_t)(call->n_out + call->n_in), NULL);
    e.size = (int64_t)cpu_dtype_size(cpu_operand(call, 0)->dtype);
    int64_t grain = GRAIN_BYTES / (e.l.views * e.size * heavy);
    team_run(device->threads, e.l.count, grain,
             worth_streaming(device, &e) ? run_part_streamed : run_part, &e);
    return COLLET_OK;
}

/* Calls of one row that one thread does best go straight to the kernel. */
static inline collet_status run(collet_device *device, const collet_kernel_call *call,
                                const row_kernel rows[2], int64_t heavy)
{
    const collet_operand *out = cpu_operand(call, 0);
    row_kernel row = rows[out->dtype == COLLET_F64];
    if (out->ndim != 1 || out->shape[0] > GRAIN_BYTES / (24 * heavy))
        return run_large(device, call, row, heavy);
    uint32_t views = call->n_out + call->n_in;
    int64_t size = out->dtype == COLLET_F64 ? 8 : 4, step[LOOP_VIEWS];
    char *at[LOOP_VIEWS];
    for (uint32_t k = 0; k < views; k++) {
        const collet_operand *o = cpu_operand(call, k);
        at[k] = cpu_at(o);
        step[k] = o->strides[0] * size;
    }
    row(at, step, out->shape[0]);
    return COLLET_OK;
}

KERNEL(add)
{
    return run(device, call, device->level->elementwise->add, 1);
}

KERNEL(sub)
{
    return run(device, call, device->level->elementwise->sub, 1);
}

KERNEL(mul)
{
    return run(device, call, device->level->elementwise->mul, 1);
}

KERNEL(div)
{
    return run(device, call, device->level->elementwise->div, 1);
}

KERNEL(exp)
{
    return run(device, call, device->level->elementwise->exp, HEAVY);
}

KERNEL(log)
{
    return run(device, call, device->level->elementwise->log, HEAVY);
}

KERNEL(sqrt)
{
    return run(device, call, device->level->elementwise->sqrt, 1);
}
