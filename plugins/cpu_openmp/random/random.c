/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/random/random.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/array/kernels/kernel_move.h"
#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/loop.h"
#include "shared/host/random/variates.h"
#include "shared/host/util/rows.h"
#include "kernel_random.h"

/* Minimum number of bytes written per thread. */
#define GRAIN_BYTES (16 << 10)

/* Minimum number of integers and variates per thread. */
#define GRAIN_VARIATES 1024

/* Bytes of numbers that are generated into a buffer before they are stored. */
#define PIECE_BYTES 4096

typedef struct drawing {
    loop l;
    random_draw draw;
    const move_kernels *move;
    uint64_t seed, offset;
    int64_t size; /* bytes of an element */
} drawing;

/* Adjacent elements. */
static TEAM_BODY(draw_part)
{
    const drawing *d = argument;
    d->draw(d->l.at[0] + begin * d->size, d->seed, d->offset + (uint64_t)begin, end - begin);
}

/* Generates adjacent elements; writes them by non-temporal stores. */
static TEAM_BODY(draw_part_streamed)
{
    const drawing *d = argument;
    _Alignas(64) char piece[PIECE_BYTES];
    for (int64_t i = begin, n; i < end; i += n) {
        char *out = d->l.at[0] + i * d->size;
        /* Pieces end at cache line boundaries. */
        n = (PIECE_BYTES - (int64_t)((uintptr_t)out % 64)) / d->size;
        n = n < end - i ? n : end - i;
        d->draw(piece, d->seed, d->offset + (uint64_t)i, n);
        d->move->stream_piece(out, piece, n * d->size);
    }
    d->move->stream_end();
}

/* Numbers generated in advance for the following rows. */
typedef struct reserve {
    const drawing *d;
    uint64_t next;       /* the element after those generated */
    int64_t used, count; /* how many numbers of the piece are used, and how many there are */
    char *piece;
} reserve;

static void fill_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    reserve *s = *(reserve *const *)context;
    const drawing *d = s->d;
    int32_t size_index = d->size == 8 ? 3 : 2;
    for (int64_t i = 0, taken; i < n; i += taken) {
        if (s->used == s->count) {
            s->count = PIECE_BYTES / d->size;
            s->used = 0;
            d->draw(s->piece, d->seed, d->offset + s->next, s->count);
            s->next += (uint64_t)s->count;
        }
        taken = n - i < s->count - s->used ? n - i : s->count - s->used;
        d->move->row[size_index](at[0] + i * step[0], step[0], s->piece + s->used * d->size,
                                 d->size, taken);
        s->used += taken;
    }
}

/* Elements that are not adjacent. */
static TEAM_BODY(draw_part_strided)
{
    const drawing *d = argument;
    _Alignas(64) char piece[PIECE_BYTES];
    reserve s = {.d = d, .next = (uint64_t)begin, .piece = piece}, *context = &s;
    loop_run(&d->l, begin, end, fill_row, &context);
}

/* Makes a loop in C order, which is the order of the numbers. loop_init would change it to memory order. */
static void loop_in_order(loop *l, const collet_operand *out)
{
    l->views = 1;
    l->ndim = out->ndim ? out->ndim : 1;
    l->shape[0] = l->count = 1;
    l->step[0][0] = 0;
    l->at[0] = cpu_at(out);
    for (int32_t i = 0; i < out->ndim; i++) {
        l->shape[i] = out->shape[i];
        l->step[0][i] = cpu_step(out, i);
        l->count *= out->shape[i];
    }
}

KERNEL(draw)
{
    const random_kernels *kernels = device->level->random;
    const random_draw *draws = call->op == COLLET_OP_UNIFORM  ? kernels->uniform
                               : call->op == COLLET_OP_NORMAL ? kernels->normal
                                                              : kernels->exponential;
    const collet_random_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    drawing d = {.draw = draws[out->dtype == COLLET_F64],
                 .move = device->level->move,
                 .seed = params->seed,
                 .offset = params->offset,
                 .size = (int64_t)cpu_dtype_size(out->dtype)};
    loop_in_order(&d.l, out);
    int adjacent = d.l.ndim == 1 && (d.l.step[0][0] == d.size || d.l.count == 1);
    int large = d.l.count * d.size > device->cache_bytes;
    team_run(device->threads, d.l.count, GRAIN_BYTES / d.size,
             !adjacent ? draw_part_strided
             : large   ? draw_part_streamed
                       : draw_part,
             &d);
    return COLLET_OK;
}

typedef struct variation {
    const collet_kernel_call *call;
    const cpu_variate_runs *runs;
} variation;

static TEAM_BODY(draw_variates)
{
    const variation *v = argument;
    cpu_variates(v->call, v->runs, begin, end);
}

KERNEL(variates)
{
    variation v = {.call = call, .runs = device->level->variates};
    team_run(device->threads, operand_count(operand_of(call, 0)), GRAIN_VARIATES, draw_variates,
             &v);
    return COLLET_OK;
}
