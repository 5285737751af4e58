/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/axes.c, tests/conformance/other_machine.c */
#include "cpu_openmp/runtime/device.h"

#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "cpu_openmp/util/loop.h"
#include "shared/host/util/convert.h"
#include "shared/host/util/rows.h"
#include "cpu_openmp/array/kernels/kernel_convert.h"
#include "cpu_openmp/array/kernels/kernel_move.h"
#include "machine.h"

/* Minimum number of bytes written per thread. */
#define GRAIN_BYTES (64 << 10)

/* Calls of at most SMALL_BYTES with rows of adjacent elements, and other calls of at most SMALL_COUNT elements,
 * run on the calling thread without a plan. */
#define SMALL_BYTES (20 << 10)
#define SMALL_COUNT 64

/* A piece of a large output that stays in the L1 cache until non-temporal stores write it. */
#define PIECE_BYTES 4096

/* Side, in bytes, of the tiles of a transposition within the caches: the pages of input and output stay in the
 * TLB. */
#define SQUARE_BYTES 512

/* Per thread: one staging block is filled while the other is written. */
#define STAGES_BYTES (2 * MOVE_STAGE_BYTES)

/* Tiles of line-by-line transposition: bytes of an output row, and number of rows. With tiles, lines of one
 * DRAM page are written soon after one another. */
#define LINES_LENGTH 1024
#define LINES_ROWS 4096

/* Minimum columns for streaming stores: with fewer columns, the fence after a tile costs more than such stores
 * save. */
#define STREAMED_COLUMNS 64

/* Rows of fewer elements are moved many rows per call. */
#define SHORT_ROW 64

typedef struct moving {
    loop l;
    const move_kernels *kernels;
    int32_t size;          /* index of the element size */
    int32_t across;        /* transposition: the axis along which the input is adjacent, or -1 */
    int64_t rows, columns; /* extents of a tile of a transposition, along the last axis and `across` */
    enum { BY_CACHES, BY_LINES, BY_STAGES } strategy; /* how a transposition is written to memory */
    char *stage;                                      /* BY_STAGES: STAGES_BYTES bytes per thread */
    collet_dtype to, from;                            /* conversion */
    convert_run convert;
} moving;

static int32_t size_index(collet_dtype dtype)
{
    return __builtin_ctz((uint32_t)cpu_dtype_size(dtype));
}

static void move_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const moving *m = context;
    m->kernels->row[m->size](at[0], step[0], at[1], step[1], n);
}

static TEAM_BODY(move_part)
{
    const moving *m = argument;
    loop_run(&m->l, begin, end, move_row, m);
}

/* Moves n short rows of the last axis. */
static void move_few(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const moving *m = context;
    int32_t inner = m->l.ndim - 1;
    m->kernels->rows[m->size](at[0], step[0], m->l.step[0][inner], at[1], step[1],
                              m->l.step[1][inner], n, m->l.shape[inner]);
}

static TEAM_BODY(move_short_rows)
{
    const moving *m = argument;
    loop rows = m->l;
    rows.ndim--;
    loop_run(&rows, begin, end, move_few, m);
}

static int64_t grain_of(int32_t size)
{
    return (int64_t)GRAIN_BYTES >> size;
}

/* ---- fill ------------------------------------------------------------------------------------ */

/* Fills a large adjacent output with one value, by non-temporal stores. */
static TEAM_BODY(fill_streamed)
{
    const moving *m = argument;
    _Alignas(64) char piece[PIECE_BYTES];
    int64_t size = (int64_t)1 << m->size;
    m->kernels->row[m->size](piece, size, m->l.at[1], 0, PIECE_BYTES / size);
    for (int64_t i = begin; i < end; i += PIECE_BYTES / size) {
        int64_t n = end - i < PIECE_BYTES / size ? end - i : PIECE_BYTES / size;
        m->kernels->stream_piece(m->l.at[0] + i * size, piece, n * size);
    }
    m->kernels->stream_end();
}

KERNEL(fill)
{
    const collet_fill_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    collet_dtype to = out->dtype, from = params->value.dtype;
    _Alignas(16) char element[16];
    cpu_convert(element, to, 0, (const char *)params->value.value.bytes, from, 0, 1);
    if (out->ndim == 1 && out->shape[0] <= SMALL_BYTES / 16) {
        device->level->move->row[size_index(to)](cpu_at(out), cpu_step(out, 0), element, 0,
                                                 out->shape[0]);
        return COLLET_OK;
    }
    moving m = {.kernels = device->level->move, .size = size_index(to)};
    loop_init(&m.l, call, 1, NULL);
    m.l.views = 2;
    m.l.at[1] = element;
    for (int32_t i = 0; i < COLLET_MAX_DIMS; i++)
        m.l.step[1][i] = 0;
    int64_t size = (int64_t)1 << m.size;
    int streamed =
        m.l.count * size > device->cache_bytes && m.l.ndim == 1 && m.l.step[0][0] == size;
    team_run(device->threads, m.l.count, grain_of(m.size), streamed ? fill_streamed : move_part,
             &m);
    return COLLET_OK;
}

/* ---- Transposition --------------------------------------------------------------------------- */

/* The axis, not the last axis, along which the input's elements are adjacent. -1: there is none, or the call is not a
 * transposition, for example because the last axis repeats elements. */
static int32_t find_across(const loop *l, int64_t size)
{
    int32_t inner = l->ndim - 1;
    if (l->step[0][inner] != size || l->step[1][inner] == size || l->step[1][inner] == 0)
        return -1;
    for (int32_t i = 0; i < inner; i++) {
        if (l->step[1][i] == size && l->shape[i] > 1)
            return i;
    }
    return -1;
}

/* Finds block `index`: a part of one of the planes that the last axis and `across` span. */
static move_block find_block(const moving *m, int64_t index)
{
    const loop *l = &m->l;
    int32_t inner = l->ndim - 1;
    int64_t width = l->shape[inner], height = l->shape[m->across];
    int64_t along = divide_up(height, m->columns), in_a_plane = along * divide_up(width, m->rows);
    int64_t plane = index / in_a_plane, within = index % in_a_plane;
    int64_t i = within / along * m->rows, j = within % along * m->columns;
    move_block t = {.out = l->at[0] + i * l->step[0][inner] + j * l->step[0][m->across],
                    .in = l->at[1] + i * l->step[1][inner] + j * l->step[1][m->across],
                    .rows = min_i64(width - i, m->rows),
                    .columns = min_i64(height - j, m->columns)};
    for (int32_t axis = inner - 1; axis >= 0; axis--) {
        if (axis == m->across)
            continue;
        t.out += plane % l->shape[axis] * l->step[0][axis];
        t.in += plane % l->shape[axis] * l->step[1][axis];
        plane /= l->shape[axis];
    }
    return t;
}

static TEAM_BODY(transpose_tiles)
{
    const moving *m = argument;
    const move_kernels *k = m->kernels;
    int64_t out_step = m->l.step[0][m->across], in_step = m->l.step[1][m->l.ndim - 1];
    for (int64_t index = begin; index < end; index++) {
        move_block t = find_block(m, index);
        if (m->strategy == BY_LINES)
            k->transpose_lines[m->size](&t, out_step, in_step);
        else
            k->transpose[m->size](t.out, out_step, t.in, in_step, t.rows, t.columns);
    }
    if (m->strategy == BY_LINES)
        k->stream_end();
}

static TEAM_BODY(transpose_tiles_streamed)
{
    const moving *m = argument;
    int64_t out_step = m->l.step[0][m->across], in_step = m->l.step[1][m->l.ndim - 1];
    char *stage[2] = {m->stage + thread * STAGES_BYTES,
                      m->stage + thread * STAGES_BYTES + MOVE_STAGE_BYTES};
    move_block last, now, next = find_block(m, begin);
    for (int64_t i = begin; i <= end; i++) {
        now = next;
        if (i + 1 < end)
            next = find_block(m, i + 1);
        m->kernels->transpose_streamed[m->size](i < end ? &now : NULL, i + 1 < end ? &next : NULL,
                                                i > begin ? &last : NULL, out_step, in_step,
                                                stage[i % 2], stage[(i + 1) % 2]);
        last = now;
    }
}

/* Non-temporal stores suit an output that is larger than the caches and has rows of several cache lines. Ends of a
 * piece that are not whole lines are stored in the caches, until the next piece completes the line. */
static int suits_streaming(const collet_device *device, const moving *m)
{
    const loop *l = &m->l;
    return l->count << m->size > device->cache_bytes &&
           l->shape[l->ndim - 1] << m->size >= MOVE_STAGE_LENGTH &&
           l->shape[m->across] >= STREAMED_COLUMNS;
}

/* Whether every row of the output begins with a cache line. */
static int rows_are_lines(const moving *m)
{
    uint64_t address = (uintptr_t)m->l.at[0];
    for (int32_t i = 0; i < m->l.ndim - 1; i++)
        address |= (uint64_t)m->l.step[0][i];
    return address % 64 == 0;
}

/* Sets the loop and the strategy of a call that moves elements without conversion. */
static void plan_moving(const collet_device *device, moving *m, const collet_kernel_call *call,
                        const int32_t *perm)
{
    m->kernels = device->level->move;
    m->size = size_index(operand_of(call, 0)->dtype);
    loop_init(&m->l, call, 2, perm);
    m->across = m->l.count > 0 ? find_across(&m->l, (int64_t)1 << m->size) : -1;
    m->rows = m->columns = SQUARE_BYTES >> m->size;
    if (m->across < 0 || !suits_streaming(device, m))
        return;
    if (rows_are_lines(m)) {
        m->strategy = BY_LINES;
        m->rows = LINES_LENGTH >> m->size;
        m->columns = LINES_ROWS;
    } else {
        m->strategy = BY_STAGES;
        m->rows = MOVE_STAGE_LENGTH >> m->size;
        m->columns = MOVE_STAGE_ROWS;
        m->stage = call->workspace;
    }
}

/* An upper bound: addresses are not known yet, so rows of the output may not begin at cache
 * lines. */
static uint64_t stage_bytes(const collet_device *device, const moving *m)
{
    return m->strategy == BY_CACHES ? 0 : (uint64_t)device->threads * (uint64_t)STAGES_BYTES;
}

/* Copies adjacent elements by non-temporal stores. */
static TEAM_BODY(move_streamed)
{
    const moving *m = argument;
    int64_t size = (int64_t)1 << m->size;
    m->kernels->stream(m->l.at[0] + begin * size, m->l.at[1] + begin * size, (end - begin) * size);
}

static void move_all(const collet_device *device, moving *m)
{
    int64_t size = (int64_t)1 << m->size;
    const loop *l = &m->l;
    if (l->count == 0)
        return;
    if (m->across < 0 && l->ndim > 1 && l->shape[l->ndim - 1] <= SHORT_ROW) {
        int64_t width = l->shape[l->ndim - 1];
        team_run(device->threads, l->count / width, divide_up(grain_of(m->size), width),
                 move_short_rows, m);
        return;
    }
    if (m->across < 0) {
        int streamed = l->count * size > device->cache_bytes && l->ndim == 1 &&
                       l->step[0][0] == size && l->step[1][0] == size && l->at[0] != l->at[1];
        team_run(device->threads, l->count, grain_of(m->size), streamed ? move_streamed : move_part,
                 m);
        return;
    }
    int64_t width = l->shape[l->ndim - 1], height = l->shape[m->across];
    int64_t count =
        l->count / (width * height) * divide_up(width, m->rows) * divide_up(height, m->columns);
    int64_t grain = l->count < grain_of(m->size) ? count : 1;
    team_run(device->threads, count, grain,
             m->strategy == BY_STAGES ? transpose_tiles_streamed : transpose_tiles, m);
}

/* Calls that fit the cache need no staging buffer. They are recognised without a plan, because planning takes longer
 * than copying few elements. */
static int fits_cache(const collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0);
    int64_t bytes = (int64_t)cpu_dtype_size(out->dtype);
    for (int32_t i = 0; i < out->ndim; i++)
        bytes *= out->shape[i];
    return bytes <= device->cache_bytes;
}

/* Runs a small call of one or two axes without a plan and returns 1; returns 0 for all other calls. */
static int move_small(const collet_device *device, const collet_kernel_call *call,
                      const int32_t *perm)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int32_t size = size_index(out->dtype), inner = out->ndim - 1;
    if (inner < 0 || inner > 1)
        return 0;
    int32_t source = perm ? perm[inner] : inner;
    int64_t n = out->shape[inner], rows = inner ? out->shape[0] : 1;
    int adjacent = n == 1 || (out->strides[inner] == 1 && in->strides[source] == 1);
    if (rows > SMALL_BYTES || n > SMALL_BYTES || (rows * n) << size > SMALL_BYTES ||
        (!adjacent && rows * n > SMALL_COUNT))
        return 0;
    device->level->move->rows[size](cpu_at(out), inner ? cpu_step(out, 0) : 0, cpu_step(out, inner),
                                    cpu_at(in), inner ? cpu_step(in, perm ? perm[0] : 0) : 0,
                                    cpu_step(in, source), rows, n);
    return 1;
}

ACCEPTS(transpose)
{
    const collet_transpose_params *params = call->params;
    if (fits_cache(device, call))
        return COLLET_OK;
    moving m = {0};
    plan_moving(device, &m, call, params->perm);
    *workspace_bytes = stage_bytes(device, &m);
    return COLLET_OK;
}

KERNEL(transpose)
{
    const collet_transpose_params *params = call->params;
    if (move_small(device, call, params->perm))
        return COLLET_OK;
    moving m = {0};
    plan_moving(device, &m, call, params->perm);
    move_all(device, &m);
    return COLLET_OK;
}

/* ---- copy ------------------------------------------------------------------------------------ */

static void convert_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const moving *m = context;
    int adjacent =
        step[0] == (int64_t)cpu_dtype_size(m->to) && step[1] == (int64_t)cpu_dtype_size(m->from);
    if (m->convert && adjacent)
        m->convert(at[0], at[1], n);
    else
        cpu_convert(at[0], m->to, step[0], at[1], m->from, step[1], n);
}

static TEAM_BODY(convert_part)
{
    const moving *m = argument;
    loop_run(&m->l, begin, end, convert_row, m);
}

static int converts(const collet_kernel_call *call)
{
    return operand_of(call, 0)->dtype != operand_of(call, 1)->dtype;
}

ACCEPTS(copy)
{
    if (converts(call) || fits_cache(device, call))
        return COLLET_OK;
    moving m = {0};
    plan_moving(device, &m, call, NULL);
    *workspace_bytes = stage_bytes(device, &m);
    return COLLET_OK;
}

KERNEL(copy)
{
    if (!converts(call) && move_small(device, call, NULL))
        return COLLET_OK;
    moving m = {.to = operand_of(call, 0)->dtype, .from = operand_of(call, 1)->dtype};
    plan_moving(device, &m, call, NULL);
    if (!converts(call)) {
        move_all(device, &m);
        return COLLET_OK;
    }
    if (m.l.ndim > 1) {
        machine_convert(device, call);
        return COLLET_OK;
    }
    m.convert = device->level->convert->run[m.to][m.from];
    team_run(device->threads, m.l.count, grain_of(m.convert ? m.size : 4), convert_part, &m);
    return COLLET_OK;
}
