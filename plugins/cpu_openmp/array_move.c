/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <string.h>

#include "../cpu/convert.h"
#include "../cpu/rows.h"
#include "loop.h"
#include "team.h"

/* Bytes written below which a second thread costs more than it brings. */
#define GRAIN_BYTES (64 << 10)

/* A piece of a large output that stays in the first cache until it is streamed to memory. */
#define PIECE_BYTES 4096

/* Side, in cache lines, of the squares in which a transposition walks: both sides' pages stay
 * mapped. */
#define SQUARE_LINES 8

typedef struct moving {
    loop l;
    const move_kernels *kernels;
    int32_t size;          /* index */
    int32_t across;        /* transposition: the axis along which the input is adjacent */
    collet_dtype to, from; /* conversion */
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

static void move_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const moving *m = argument;
    (void)thread;
    loop_run(&m->l, begin, end, move_row, m);
}

static int64_t grain_of(int32_t size)
{
    return (int64_t)GRAIN_BYTES >> size;
}

/* ---- fill ------------------------------------------------------------------------------------ */

/* One value into a large adjacent output, past the caches. */
static void fill_streamed(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const moving *m = argument;
    _Alignas(64) char piece[PIECE_BYTES];
    int64_t size = (int64_t)1 << m->size;
    (void)thread;
    m->kernels->row[m->size](piece, size, m->l.at[1], 0, PIECE_BYTES / size);
    for (int64_t i = begin; i < end; i += PIECE_BYTES / size) {
        int64_t n = end - i < PIECE_BYTES / size ? end - i : PIECE_BYTES / size;
        m->kernels->stream(m->l.at[0] + i * size, piece, n * size);
    }
}

KERNEL(fill)
{
    const collet_fill_params *params = call->params;
    collet_dtype to = cpu_operand(call, 0)->dtype, from = params->value.dtype;
    if (cpu_dtype_is_complex(from) && !cpu_dtype_is_complex(to)) {
        return device->host->fail(call->err, COLLET_REFUSED,
                                  "fill: a complex value cannot be stored in a real array; give "
                                  "its real part");
    }
    _Alignas(16) char element[16];
    cpu_convert(element, to, 0, (const char *)params->value.value.bytes, from, 0, 1);
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

/* The axis other than the last along which the input's elements are adjacent; -1: none worth it. */
static int32_t find_across(const loop *l, int64_t size)
{
    int32_t inner = l->ndim - 1;
    if (l->step[0][inner] != size || l->step[1][inner] == size)
        return -1;
    for (int32_t i = 0; i < inner; i++) {
        if (l->step[1][i] == size && l->shape[i] > 1)
            return i;
    }
    return -1;
}

static int64_t square_side(const moving *m)
{
    return ((int64_t)SQUARE_LINES * 64) >> m->size;
}

static int64_t squares(int64_t extent, int64_t side)
{
    return extent / side + (extent % side != 0);
}

/* Squares begin .. end-1 of the planes that the last axis and `across` span. */
static void transpose_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const moving *m = argument;
    const loop *l = &m->l;
    int32_t inner = l->ndim - 1;
    int64_t side = square_side(m), width = l->shape[inner], height = l->shape[m->across];
    int64_t in_a_row = squares(width, side), in_a_plane = in_a_row * squares(height, side);
    (void)thread;
    for (int64_t square = begin; square < end; square++) {
        int64_t plane = square / in_a_plane, within = square % in_a_plane;
        int64_t i = within % in_a_row * side, j = within / in_a_row * side;
        char *out = l->at[0] + i * l->step[0][inner] + j * l->step[0][m->across];
        const char *in = l->at[1] + i * l->step[1][inner] + j * l->step[1][m->across];
        for (int32_t axis = inner - 1; axis >= 0; axis--) {
            if (axis == m->across)
                continue;
            out += plane % l->shape[axis] * l->step[0][axis];
            in += plane % l->shape[axis] * l->step[1][axis];
            plane /= l->shape[axis];
        }
        m->kernels->transpose[m->size](out, l->step[0][m->across], in, l->step[1][inner],
                                       width - i < side ? width - i : side,
                                       height - j < side ? height - j : side);
    }
}

/* Adjacent elements, past the caches. */
static void move_streamed(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const moving *m = argument;
    int64_t size = (int64_t)1 << m->size;
    (void)thread;
    m->kernels->stream(m->l.at[0] + begin * size, m->l.at[1] + begin * size, (end - begin) * size);
}

static void move_all(collet_device *device, moving *m)
{
    int64_t size = (int64_t)1 << m->size;
    if (m->l.count == 0)
        return;
    if (m->l.count * size > device->cache_bytes && m->l.ndim == 1 && m->l.step[0][0] == size &&
        m->l.step[1][0] == size && m->l.at[0] != m->l.at[1]) {
        team_run(device->threads, m->l.count, grain_of(m->size), move_streamed, m);
        return;
    }
    m->across = find_across(&m->l, size);
    if (m->across < 0) {
        team_run(device->threads, m->l.count, grain_of(m->size), move_part, m);
        return;
    }
    int64_t side = square_side(m), width = m->l.shape[m->l.ndim - 1];
    int64_t height = m->l.shape[m->across];
    int64_t count = m->l.count / (width * height) * squares(width, side) * squares(height, side);
    int64_t small = m->l.count < grain_of(m->size) ? count : 1;
    team_run(device->threads, count, small, transpose_part, m);
}

KERNEL(transpose)
{
    const collet_transpose_params *params = call->params;
    moving m = {.kernels = device->level->move, .size = size_index(cpu_operand(call, 0)->dtype)};
    loop_init(&m.l, call, 2, params->perm);
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

static void convert_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const moving *m = argument;
    (void)thread;
    loop_run(&m->l, begin, end, convert_row, m);
}

KERNEL(copy)
{
    moving m = {.kernels = device->level->move,
                .to = cpu_operand(call, 0)->dtype,
                .from = cpu_operand(call, 1)->dtype};
    m.size = size_index(m.to);
    loop_init(&m.l, call, 2, NULL);
    if (m.to == m.from) {
        move_all(device, &m);
        return COLLET_OK;
    }
    m.convert = device->level->convert->run[m.to][m.from];
    team_run(device->threads, m.l.count, grain_of(m.convert ? m.size : 4), convert_part, &m);
    return COLLET_OK;
}
