/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression_rows.c, tests/core/test_expression_random.c */
#include "row_program.h"

#include "cpu_openmp/runtime/team.h"
#include "row_plan.h"
#include "shared/host/util/operand.h"
#include "shared/host/util/rows.h"

#define LINE 64

/* The minimum number of elements per thread. */
#define GRAIN (32 << 10)

static uint64_t steps_bytes(const row_plan *r)
{
    uint64_t most = MACHINE_STEPS(r->p->n_steps + r->p->n_constants);
    return most * sizeof(machine_step);
}

const char *row_program_accepts(const collet_device *device, const collet_kernel_call *call,
                                uint64_t *workspace_bytes)
{
    row_plan r = {0};
    row_stage s;
    const char *why = row_plan_make(&r, device, call, &s);
    if (why)
        return why;
    *workspace_bytes = r.n_stages * (sizeof s + steps_bytes(&r)) + LINE +
                       (uint64_t)device->threads * (uint64_t)r.thread_bytes;
    return NULL;
}

/* ---- A tile ---------------------------------------------------------------------------------- */

/* The address at which element `first` of a value would have index 0. */
static char *origin(const row_plan *r, uint32_t value, char *tile, int64_t row, int narrow)
{
    const row_place *at = &r->place[value];
    int64_t first = row * (narrow ? 1 : r->length);
    return at->in_operand ? at->at
                          : (char *)((uintptr_t)(tile + at->offset) - (uintptr_t)(first * at->size));
}

static void run_machine(const row_plan *r, const row_stage *s, char *tile, int64_t row, int64_t rows)
{
    char *at[LOOP_VIEWS];
    int64_t length = s->narrow ? 1 : r->length;
    const collet_program *q = &s->program;
    for (uint32_t k = 0; k < q->n_out; k++)
        at[k] = origin(r, s->outs[k], tile, row, row_is_narrow(r, s->outs[k]));
    for (uint32_t i = 0; i < q->n_in; i++)
        at[q->n_out + i] = s->ins[i] < r->p->n_in
                               ? s->m.l.at[q->n_out + i]
                               : origin(r, s->ins[i], tile, row, row_is_narrow(r, s->ins[i]));
    machine_part(&s->m, tile + r->tile_bytes, at, row * length, (row + rows) * length);
}

static void run_reduction(const row_plan *r, const row_stage *s, char *tile, int64_t row, int64_t rows)
{
    const row_place *from = &r->place[s->from], *to = &r->place[s->outs[0]];
    const char *in = origin(r, s->from, tile, row, 0) + row * r->length * from->size;
    char *out = origin(r, s->outs[0], tile, row, 1) + row * to->size;
    int64_t step = row_results(r) / (int64_t)sizeof(double);
    double *result = (double *)(void *)tile;
    row_method_run(&s->by, result, result + step, result + 2 * step, in, r->length, rows,
                   r->rows);
    method_store(&s->by.method, out, part_of(s->by.to), to->size, result, result + step, rows);
}

/* Copies output k, which was computed in the memory of the tile, to its operand. */
static void put_output(const row_plan *r, uint32_t k, const char *tile, int64_t row, int64_t rows)
{
    uint32_t value = r->p->outs[k];
    const row_place *at = &r->place[value];
    const collet_operand *out = operand_of(r->call, k);
    int32_t last = out->ndim - 1;
    int64_t n = out->shape[last];
    const char *from = tile + at->offset;
    if (at->in_operand && at->at == cpu_at(out))
        return;
    for (int64_t i = 0; i < rows; i++) {
        int64_t rest = row + i, offset = 0;
        for (int32_t axis = last - 1; axis >= 0; axis--) {
            offset += rest % out->shape[axis] * cpu_step(out, axis);
            rest /= out->shape[axis];
        }
        const char *source =
            at->in_operand ? at->at + (row + i) * n * at->size : from + i * n * at->size;
        cpu_move((char *)cpu_at(out) + offset, cpu_step(out, last), source, at->size,
                 (size_t)at->size, n);
    }
}

static TEAM_BODY(run_tiles)
{
    const row_plan *r = argument;
    char *tile = r->memory + thread * r->thread_bytes;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i * r->tile_rows, rows = min_i64(r->tile_rows, r->rows - row);
        for (uint32_t k = 0; k < r->n_stages; k++) {
            if (r->stages[k].op)
                run_reduction(r, &r->stages[k], tile, row, rows);
            else
                run_machine(r, &r->stages[k], tile, row, rows);
        }
        for (uint32_t k = 0; k < r->p->n_out; k++)
            put_output(r, k, tile, row, rows);
    }
}

void row_program_run(collet_device *device, const collet_kernel_call *call)
{
    row_plan r = {0};
    row_cursor c = {0};
    char *at = call->workspace;
    (void)row_plan_make(&r, device, call, call->workspace);
    uint64_t steps = steps_bytes(&r);
    r.stages = call->workspace;
    at += r.n_stages * sizeof *r.stages;
    r.memory = at + r.n_stages * steps;
    r.memory += (LINE - (uintptr_t)r.memory % LINE) % LINE;
    for (uint32_t k = 0; k < r.n_stages; k++, at += steps) {
        (void)row_plan_next(&r, &c, &r.stages[k]);
        row_plan_prepare(&r, &r.stages[k], (machine_step *)(void *)at, r.memory);
    }
    int64_t tiles = divide_up(r.rows, r.tile_rows);
    team_run(device->threads, tiles, divide_up(GRAIN, r.tile_rows * r.length), run_tiles, &r);
}
