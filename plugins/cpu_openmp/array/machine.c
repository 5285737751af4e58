/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/elementwise.c, tests/cpu_openmp/test_machine.c */
#include "machine.h"

#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "shared/host/util/rows.h"

/* Minimum number of bytes, of all operands, per thread. */
#define GRAIN_BYTES (64 << 10)

#define LINE 64

/* The number of tiles, one below the other, that are computed in turn. */
#define TILES_BELOW 4

/* Memory of a thread on its stack: enough for one step, and for axpy. */
#define STACK_SLOTS 24
#define STACK_BYTES (STACK_SLOTS * sizeof(char *) + MACHINE_ON_STACK * MACHINE_BLOCK)

/* The state of a thread. */
typedef struct worker {
    const machine *m;
    char **slot;
    const char *gathered[LOOP_VIEWS]; /* the element that a buffer repeats; NULL: none */
    int64_t repeats[LOOP_VIEWS];      /* how many times the buffer repeats it */
} worker;

static int64_t slot_bytes(const machine *m)
{
    int64_t bytes = (int64_t)((m->first_buffer + m->buffers) * sizeof(char *));
    return divide_up(bytes, LINE) * LINE;
}

int64_t machine_memory(const machine *m)
{
    int64_t few = m->few * (int64_t)MACHINE_BLOCK, bytes = m->buffers * m->block_bytes;
    return slot_bytes(m) + (bytes > few ? bytes : few);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void convert_block(const machine *m, char *out, collet_dtype to, const char *in,
                          collet_dtype from, int64_t n)
{
    convert_run run = m->device->level->convert->run[to][from];
    if (run)
        run(out, in, n);
    else
        cpu_convert(out, to, (int64_t)cpu_dtype_size(to), in, from, (int64_t)cpu_dtype_size(from),
                    n);
}

static void run_half(const worker *w, const machine_step *s, int64_t n)
{
    const machine *m = w->m;
    const void *in[3] = {NULL};
    for (uint32_t k = 0; k < s->inputs; k++) {
        int is_half = s->halves >> k & 1;
        char *wide = w->slot[m->wide + k];
        in[k] = is_half ? wide : w->slot[s->in[k]];
        if (is_half)
            convert_block(m, wide, COLLET_F32, w->slot[s->in[k]], s->from,
                          s->repeated >> k & 1 ? 1 : n);
    }
    char *out = w->slot[s->out];
    char *wide = s->to == s->from ? w->slot[m->wide + 3] : out;
    s->run(wide, in, s->repeated, n);
    if (wide != out)
        convert_block(m, out, s->to, wide, COLLET_F32, n);
}

static void run_chain(const worker *w, const machine_step *s, int64_t n)
{
    char *const *slot = w->slot;
    chain_link link[MACHINE_LINKS];
    for (uint32_t i = 0; i <= s->links; i++)
        link[i] = (chain_link){CHAIN_CODE(s[i].op, s[i].repeated >> 1), slot[s[i].in[1]],
                               slot[s[i].in[2]]};
    w->m->device->level->blocks_real->chain[s->to](slot[s[s->links].out], slot[s->in[0]], link,
                                                   s->links + 1u, n);
}

static void run_step(const worker *w, const machine_step *s, int64_t n)
{
    const machine *m = w->m;
    char *const *slot = w->slot;
    int64_t count = s->single ? 1 : n;
    const void *in[3] = {slot[s->in[0]], slot[s->in[1]], slot[s->in[2]]};
    switch (s->kind) {
    case MACHINE_RUN:
        s->run(slot[s->out], in, s->repeated, count);
        break;
    case MACHINE_HALF:
        run_half(w, s, count);
        break;
    case MACHINE_CHAIN:
        run_chain(w, s, n);
        break;
    case MACHINE_CONVERT:
        convert_block(m, slot[s->out], s->to, in[0], s->from, count);
        break;
    default: {
        int64_t size = (int64_t)cpu_dtype_size(s->to);
        m->device->level->move->row[__builtin_ctz((unsigned)size)](slot[s->out], size, in[0], 0, n);
        break;
    }
    }
}

/* ---- Operands -------------------------------------------------------------------------------- */

/* Makes slot k hold n elements of input k: the elements along a row from `at` on. */
static void take_row(worker *w, int32_t k, const char *at, int64_t n)
{
    const machine *m = w->m;
    const machine_view *v = &m->view[k];
    int64_t step = m->l.step[k][m->l.ndim - 1];
    if (v->kind != MACHINE_GATHERED) {
        w->slot[k] = (char *)(uintptr_t)at;
        return;
    }
    w->slot[k] = w->slot[v->slot];
    if (w->gathered[k] == at && w->repeats[k] >= n)
        return;
    m->device->level->move->row[v->shift](w->slot[k], v->size, at, step, n);
    w->gathered[k] = at;
    w->repeats[k] = n;
}

static void put_row(const worker *w, int32_t k, char *at, int64_t n)
{
    const machine *m = w->m;
    const machine_view *v = &m->view[k];
    const move_kernels *move = m->device->level->move;
    int64_t step = v->kind == MACHINE_ADJACENT ? v->size : m->l.step[k][m->l.ndim - 1];
    if (v->streamed && !v->single)
        move->stream_piece(at, w->slot[v->slot], n * v->size);
    else
        move->row[v->shift](at, step, w->slot[v->slot], v->single ? 0 : v->size, n);
}

/* The offset of row `row` of view k. */
static int64_t row_offset(const loop *l, int32_t k, int64_t row)
{
    int64_t offset = 0;
    for (int32_t i = l->ndim - 2; i >= 0; i--) {
        offset += row % l->shape[i] * l->step[k][i];
        row /= l->shape[i];
    }
    return offset;
}

/* Copies short rows row .. row + rows - 1 of view k to the adjacent rows at `block`. If `put` is set, copies from
 * `block` to the view instead. If the view is `single`, one element stands for all rows. */
static void move_rows(const machine *m, int32_t k, int64_t row, int64_t rows, char *block, int put)
{
    const loop *l = &m->l;
    const machine_view *v = &m->view[k];
    int32_t inner = l->ndim - 1;
    int64_t n = l->shape[inner], outer = l->shape[inner - 1], step = l->step[k][inner];
    int64_t size = v->single ? 0 : v->size, row_step = l->step[k][inner - 1];
    while (rows > 0) {
        int64_t count = min_i64(outer - row % outer, rows);
        char *at = l->at[k] + row_offset(l, k, row);
        if (put)
            m->device->level->move->rows[v->shift](at, row_step, step, block, n * size, size, count,
                                                   n);
        else
            m->device->level->move->rows[v->shift](block, n * size, size, at, row_step, step, count,
                                                   n);
        block += count * n * size;
        row += count;
        rows -= count;
    }
}

static void take_rows(worker *w, int32_t k, int64_t row, int64_t rows)
{
    const machine *m = w->m;
    const loop *l = &m->l;
    const machine_view *v = &m->view[k];
    int64_t n = l->shape[l->ndim - 1];
    if (v->kind != MACHINE_GATHERED) {
        w->slot[k] = l->at[k] + (v->kind == MACHINE_SINGLE ? 0 : row * n * v->size);
        return;
    }
    w->slot[k] = w->slot[v->slot];
    /* Whether all rows of this input are at the same address. */
    int same = 1;
    for (int32_t i = 0; i < l->ndim - 1; i++)
        same &= l->step[k][i] == 0;
    if (same && w->repeats[k] >= rows)
        return;
    move_rows(m, k, row, rows, w->slot[k], 0);
    w->repeats[k] = rows;
}

/* ---- The walk -------------------------------------------------------------------------------- */

static void run_block(const worker *w, int64_t n)
{
    const machine *m = w->m;
    for (uint32_t i = m->prologue; i < m->n_steps; i += 1u + m->steps[i].links)
        run_step(w, &m->steps[i], n);
}

static void walk_short_rows(worker *w, int64_t begin, int64_t end)
{
    const machine *m = w->m;
    const loop *l = &m->l;
    int32_t outputs = (int32_t)m->program->n_out;
    int64_t length = l->shape[l->ndim - 1];
    for (int64_t row = begin; row < end; row += m->block_rows) {
        int64_t rows = min_i64(m->block_rows, end - row);
        for (int32_t k = outputs; k < l->views; k++)
            take_rows(w, k, row, rows);
        for (int32_t k = 0; k < outputs; k++) {
            if (m->view[k].direct)
                w->slot[k] = l->at[k] + row * length * m->view[k].size;
        }
        run_block(w, rows * length);
        for (int32_t k = 0; k < outputs; k++) {
            const machine_view *v = &m->view[k];
            if (v->kind != MACHINE_ADJACENT)
                move_rows(m, k, row, rows, w->slot[v->slot], 1);
            else if (!v->direct)
                put_row(w, k, l->at[k] + row * length * v->size, rows * length);
        }
    }
}

/* Computes elements offset .. stop-1 of a row whose first elements are at start[]. */
static void walk_row(worker *w, char *const *start, int64_t offset, int64_t stop)
{
    const machine *m = w->m;
    const loop *l = &m->l;
    int32_t outputs = (int32_t)m->program->n_out, inner = l->ndim - 1;
    /* The first block ends at a cache line of the output, so that all later blocks are aligned. */
    int64_t unaligned = 0;
    if (m->view[0].streamed)
        unaligned =
            (int64_t)((uintptr_t)(start[0] + offset * m->view[0].size) % LINE) / m->view[0].size;
    for (int64_t n; offset < stop; offset += n, unaligned = 0) {
        n = min_i64(m->block - unaligned, stop - offset);
        for (int32_t k = outputs; k < l->views; k++)
            take_row(w, k, start[k] + offset * l->step[k][inner], n);
        for (int32_t k = 0; k < outputs; k++) {
            if (m->view[k].direct)
                w->slot[k] = start[k] + offset * l->step[k][inner];
        }
        run_block(w, n);
        for (int32_t k = 0; k < outputs; k++) {
            if (!m->view[k].direct)
                put_row(w, k, start[k] + offset * l->step[k][inner], n);
        }
    }
}

static void walk_rows(worker *w, int64_t begin, int64_t end)
{
    const loop *l = &w->m->l;
    int64_t length = l->shape[l->ndim - 1];
    while (begin < end) {
        char *start[LOOP_VIEWS];
        int64_t row = begin / length, offset = begin % length;
        int64_t stop = min_i64(length, offset + end - begin);
        for (int32_t k = 0; k < l->views; k++)
            start[k] = l->at[k] + row_offset(l, k, row);
        walk_row(w, start, offset, stop);
        begin += stop - offset;
    }
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* Computes the n columns from `offset` on of `rows` rows, whose first elements are at start[]. */
static void walk_tile(worker *w, char *panel, char *const *start, int64_t rows, int64_t offset,
                      int64_t n)
{
    const machine *m = w->m;
    const loop *l = &m->l;
    int32_t outputs = (int32_t)m->program->n_out, inner = l->ndim - 1;
    for (int32_t k = outputs; k < l->views; k++) {
        const machine_view *v = &m->view[k];
        int64_t step = l->step[k][inner];
        if (v->across)
            m->device->level->move->transpose[v->shift](panel + v->panel, m->tile_columns * v->size,
                                                        start[k] + offset * step, step, n, rows);
    }
    for (int64_t r = 0; r < rows; r++) {
        for (int32_t k = outputs; k < l->views; k++) {
            const machine_view *v = &m->view[k];
            if (v->across)
                w->slot[k] = panel + v->panel + r * m->tile_columns * v->size;
            else
                take_row(w, k, start[k] + r * l->step[k][inner - 1] + offset * l->step[k][inner],
                         n);
        }
        for (int32_t k = 0; k < outputs; k++) {
            if (m->view[k].direct)
                w->slot[k] = start[k] + r * l->step[k][inner - 1] + offset * l->step[k][inner];
        }
        run_block(w, n);
        for (int32_t k = 0; k < outputs; k++) {
            if (!m->view[k].direct)
                put_row(w, k, start[k] + r * l->step[k][inner - 1] + offset * l->step[k][inner], n);
        }
    }
}

/* Computes rows begin .. end-1. Tiles that are one below the other are computed in turn, because they read the same
 * pages. */
static __attribute__((noinline)) void walk_tiles(worker *w, int64_t begin, int64_t end)
{
    const machine *m = w->m;
    const loop *l = &m->l;
    int64_t length = l->shape[l->ndim - 1], height = l->shape[l->ndim - 2];
    _Alignas(LINE) char panel[MACHINE_PANEL];
    while (begin < end) {
        char *start[LOOP_VIEWS];
        int64_t rows =
            min_i64(min_i64(height - begin % height, end - begin), TILES_BELOW * m->tile_rows);
        for (int64_t offset = 0; offset < length; offset += m->tile_columns) {
            int64_t n = min_i64(m->tile_columns, length - offset);
            for (int64_t r = 0; r < rows; r += m->tile_rows) {
                for (int32_t k = 0; k < l->views; k++)
                    start[k] = l->at[k] + row_offset(l, k, begin + r);
                walk_tile(w, panel, start, min_i64(m->tile_rows, rows - r), offset, n);
            }
        }
        begin += rows;
    }
}

static void run_part(const machine *m, char *memory, int64_t begin, int64_t end)
{
    const collet_program *p = m->program;
    worker w = {.m = m, .slot = (char **)(void *)memory};
    char *buffer = memory + slot_bytes(m);
    for (uint32_t i = 0; i < p->n_constants; i++)
        w.slot[p->n_out + p->n_in + i] =
            (char *)(uintptr_t)collet_program_constant(p, m->constants, i)->value.bytes;
    for (uint32_t i = 0; i < m->buffers; i++, buffer += m->block_bytes)
        w.slot[m->first_buffer + i] = buffer;
    for (uint32_t i = 0; i < m->prologue; i++)
        run_step(&w, &m->steps[i], m->block);
    if (m->block_rows)
        walk_short_rows(&w, begin, end);
    else if (m->tile_rows)
        walk_tiles(&w, begin, end);
    else
        walk_rows(&w, begin, end);
    for (uint32_t k = 0; k < p->n_out; k++) {
        if (m->view[k].streamed)
            m->device->level->move->stream_end();
    }
}

static TEAM_BODY(run_on_stack)
{
    _Alignas(LINE) char memory[STACK_BYTES];
    run_part(argument, memory, begin, end);
}

static TEAM_BODY(run_in_memory)
{
    const machine *m = argument;
    run_part(m, m->memory + thread * machine_memory(m), begin, end);
}

void machine_run(machine *m)
{
    const loop *l = &m->l;
    if (l->count == 0)
        return;
    int64_t unit = m->block_rows || m->tile_rows ? l->shape[l->ndim - 1] : 1;
    int64_t grain = divide_up(GRAIN_BYTES, m->cost * unit);
    if (m->tile_rows)
        grain = divide_up(grain, m->tile_rows) * m->tile_rows;
    team_phase phase = {m->memory ? run_in_memory : run_on_stack, l->count / unit, grain,
                        team_is_brief(l->count / unit, grain)};
    team_run_phases(m->device->threads, &phase, 1, m);
}

/* The address that element 0 of an output has if element `first` is at `at`. */
static char *origin(const machine *m, int32_t k, char *at, int64_t first)
{
    return (char *)((uintptr_t)at - (uintptr_t)(first * m->view[k].size));
}

void machine_range(const machine *m, char *memory, int64_t begin, int64_t end, char *out,
                   int64_t out_step)
{
    machine part = *m;
    int64_t length = m->l.shape[m->l.ndim - 1], rows = INT64_MAX;
    int32_t outputs = (int32_t)m->program->n_out;
    if (!m->block_rows) {
        for (int32_t k = 0; k < outputs; k++)
            part.l.at[k] = origin(m, k, out + k * out_step, begin);
        run_part(&part, memory, begin, end);
        return;
    }
    /* The program runs on whole rows and writes to `stage`, from where elements begin .. end-1 are
     * copied to `out`. */
    char *stage = memory + machine_memory(m);
    for (int32_t k = 0; k < outputs; k++)
        rows = min_i64(rows, MACHINE_STAGE / (length * m->view[k].size));
    for (int64_t row = begin / length; row * length < end; row += rows) {
        int64_t last = min_i64(row + rows, divide_up(end, length));
        int64_t first = row * length > begin ? row * length : begin;
        int64_t stop = min_i64(last * length, end);
        for (int32_t k = 0; k < outputs; k++)
            part.l.at[k] = origin(m, k, stage + k * MACHINE_STAGE, row * length);
        run_part(&part, memory, row, last);
        for (int32_t k = 0; k < outputs; k++) {
            int64_t size = m->view[k].size;
            memcpy(out + k * out_step + (first - begin) * size,
                   stage + k * MACHINE_STAGE + (first - row * length) * size,
                   (size_t)((stop - first) * size));
        }
    }
}

int64_t machine_unit(const machine *m)
{
    return m->block_rows ? m->l.shape[m->l.ndim - 1] : 1;
}

void machine_part(const machine *m, char *memory, char *const *at, int64_t begin, int64_t end)
{
    machine part = *m;
    int64_t unit = machine_unit(m);
    memcpy(part.l.at, at, (size_t)m->l.views * sizeof *at);
    run_part(&part, memory, begin / unit, end / unit);
}
