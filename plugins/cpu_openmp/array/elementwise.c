/* SPDX-License-Identifier: Apache-2.0 */
/* array: elementwise ops.
 * Tests: conformance/array/array.c, tests/cpu_openmp/test_large_openmp.c */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/loop.h"
#include "shared/host/util/rows.h"
#include "kernel_convert.h"
#include "kernel_elementwise.h"
#include "kernel_move.h"

/* Minimum number of bytes, of all operands, per thread. */
#define GRAIN_BYTES (64 << 10)

/* exp and similar functions cost about as much as this many copies. */
#define HEAVY 4

/* A piece of a large output that stays in the L1 cache until non-temporal stores write it. */
#define PIECE_BYTES 4096

/* Elements of f16 or bf16 that are widened to f32 at a time. */
#define HALF_PIECE 512

/* The operands of a row kernel, and alpha of axpy. */
#define ROW_VIEWS (LOOP_VIEWS + 1)

typedef struct elementwise {
    loop l;
    row_kernel row;
    uint32_t op;
    const convert_kernels *convert;
    const move_kernels *move;
    int64_t size; /* of an element of the output */
    int streams;  /* the row kernel can write a large output by itself */
    char *alpha;
    collet_dtype half; /* f16 or bf16: the row kernel works on f32, and elements are converted */
} elementwise;

static void convert_run_of(const convert_kernels *k, char *out, collet_dtype to, int64_t out_step,
                           const char *in, collet_dtype from, int64_t in_step, int64_t n)
{
    int adjacent =
        out_step == (int64_t)cpu_dtype_size(to) && in_step == (int64_t)cpu_dtype_size(from);
    if (adjacent && k->run[to][from])
        k->run[to][from](out, in, n);
    else
        cpu_convert(out, to, out_step, in, from, in_step, n);
}

/* All inputs of a piece are read before its output is written, as they may be the same. */
static void run_half_row(const elementwise *e, char *const *at, const int64_t *step, int64_t n)
{
    float piece[LOOP_VIEWS][HALF_PIECE];
    int64_t wide_step[LOOP_VIEWS] = {sizeof(float)};
    char *wide[ROW_VIEWS] = {(char *)piece[0]};
    for (int32_t k = 1; k < e->l.views; k++) {
        wide[k] = (char *)piece[k];
        wide_step[k] = step[k] ? (int64_t)sizeof(float) : 0;
    }
    for (int64_t i = 0; i < n; i += HALF_PIECE) {
        int64_t count = n - i < HALF_PIECE ? n - i : HALF_PIECE;
        for (int32_t k = 1; k < e->l.views; k++)
            convert_run_of(e->convert, wide[k], COLLET_F32, sizeof(float), at[k] + i * step[k],
                           e->half, step[k], step[k] ? count : 1);
        e->row(e->op, 0, wide, wide_step, count);
        convert_run_of(e->convert, at[0] + i * step[0], e->half, step[0], wide[0], COLLET_F32,
                       sizeof(float), count);
    }
}

static void run_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const elementwise *e = context;
    if (e->half) {
        run_half_row(e, at, step, n);
        return;
    }
    char *const all[ROW_VIEWS] = {at[0], at[1], e->l.views > 2 ? at[2] : NULL, e->alpha};
    e->row(e->op, 0, all, step, n);
}

static TEAM_BODY(run_part)
{
    const elementwise *e = argument;
    loop_run(&e->l, begin, end, run_row, e);
}

/* Elements begin .. end-1 of a loop over one axis whose output is adjacent. */
static TEAM_BODY(run_part_streamed)
{
    const elementwise *e = argument;
    const loop *l = &e->l;
    _Alignas(64) char piece[PIECE_BYTES];
    const int64_t step[LOOP_VIEWS] = {e->size, l->views > 1 ? l->step[1][0] : 0,
                                      l->views > 2 ? l->step[2][0] : 0};
    if (e->streams) {
        char *const at[ROW_VIEWS] = {l->at[0] + begin * step[0], l->at[1] + begin * step[1],
                                     l->views > 2 ? l->at[2] + begin * step[2] : NULL, e->alpha};
        e->row(e->op, 1, at, step, end - begin);
        return;
    }
    /* The first piece ends at a cache line boundary, so that all later ones are aligned. */
    uintptr_t first = (uintptr_t)(l->at[0] + begin * e->size);
    int64_t n = (PIECE_BYTES - (int64_t)(first % 64)) / e->size;
    for (int64_t i = begin; i < end; i += n, n = PIECE_BYTES / e->size) {
        if (n > end - i)
            n = end - i;
        char *at[LOOP_VIEWS] = {piece};
        for (int32_t k = 1; k < l->views; k++)
            at[k] = l->at[k] + i * step[k];
        run_row(e, at, step, n);
        e->move->stream_piece(l->at[0] + i * e->size, piece, n * e->size);
    }
    e->move->stream_end();
}

/* Whether the output is adjacent, disjoint from the inputs, and larger than the caches. */
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

/* Whether the row kernel streams with these inputs: adjacent, or one of two repeated. */
static int suits_streaming(const elementwise *e)
{
    for (int32_t k = 1; k < e->l.views; k++) {
        int repeated = e->l.step[k][0] == 0 && e->l.views > 2;
        if (e->l.step[k][0] != e->size && !repeated)
            return 0;
    }
    return 1;
}

static int is_heavy(uint32_t op)
{
    return op == COLLET_OP_EXP || op == COLLET_OP_LOG || op == COLLET_OP_SIN ||
           op == COLLET_OP_COS || op == COLLET_OP_TANH;
}

static void run_large(collet_device *device, const collet_kernel_call *call, elementwise *e,
                      int64_t heavy)
{
    loop_init(&e->l, call, (int32_t)(call->n_out + call->n_in), NULL);
    e->size = (int64_t)cpu_dtype_size(operand_of(call, 0)->dtype);
    int64_t grain = GRAIN_BYTES / (e->l.views * e->size * heavy);
    e->streams = e->streams && suits_streaming(e);
    team_run(device->threads, e->l.count, grain,
             worth_streaming(device, e) ? run_part_streamed : run_part, e);
}

/* Calls of one row for one thread call the row kernel directly. */
static inline collet_status run(collet_device *device, const collet_kernel_call *call, char *alpha)
{
    static const int8_t index[COLLET_DTYPE_COUNT] = {
        [COLLET_F32] = ROW_F32, [COLLET_F64] = ROW_F64,  [COLLET_C64] = ROW_C64,
        [COLLET_F16] = ROW_F32, [COLLET_BF16] = ROW_F32, [COLLET_C128] = ROW_C128};
    const collet_operand *out = operand_of(call, 0);
    collet_dtype type = operand_of(call, 1)->dtype;
    int half = type == COLLET_F16 || type == COLLET_BF16;
    row_kernel row = device->level->elementwise->row[index[type]];
    int64_t heavy = is_heavy(call->op) ? HEAVY : 1;
    if (half || out->ndim != 1 || out->shape[0] > GRAIN_BYTES / (24 * heavy)) {
        elementwise e = {.row = row,
                         .op = call->op,
                         .streams = type == COLLET_F32 || type == COLLET_F64,
                         .convert = device->level->convert,
                         .move = device->level->move,
                         .alpha = alpha,
                         .half = half ? type : COLLET_DTYPE_NONE};
        run_large(device, call, &e, heavy);
        return COLLET_OK;
    }
    uint32_t views = call->n_out + call->n_in;
    int64_t step[LOOP_VIEWS];
    char *at[ROW_VIEWS] = {[LOOP_VIEWS] = alpha};
    for (uint32_t k = 0; k < views; k++) {
        const collet_operand *o = operand_of(call, k);
        at[k] = cpu_at(o);
        step[k] = cpu_step(o, 0);
    }
    row(call->op, 0, at, step, out->shape[0]);
    return COLLET_OK;
}

KERNEL(elementwise)
{
    return run(device, call, NULL);
}

KERNEL(axpy)
{
    const collet_axpy_params *params = call->params;
    _Alignas(16) char alpha[16];
    cpu_convert(alpha, operand_of(call, 0)->dtype, 0, (const char *)params->alpha.value.bytes,
                params->alpha.dtype, 0, 1);
    return run(device, call, alpha);
}
