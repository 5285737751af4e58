/* SPDX-License-Identifier: Apache-2.0 */
/* Divides a program into stages (row_program.h).
 * Tests: tests/core/test_expression_rows.c, tests/core/test_expression_random.c */
#include "row_plan.h"

#include <string.h>

#include "shared/host/util/operand.h"
#include "shared/host/util/rows.h"

#define LINE 64

/* Elements of a tile: at most LARGE, so that its values stay in the L2 cache; fewer, down to SMALL, if there would be fewer than
 * PARTS tiles for each thread. A tile has one row at least. */
#define LARGE 65536
#define SMALL 4096
#define PARTS 4

/* Number of buffers per thread that fit into the L1 cache together with the operands. */
#define FEW_BUFFERS 8

/* ---- Levels ---------------------------------------------------------------------------------- */

static int reduces(const row_plan *r, uint32_t value)
{
    return value >= r->first && row_method_has(collet_program_step(r->p, value - r->first)->op);
}

static uint32_t inputs_of(const collet_step *s)
{
    return row_method_has(s->op) ? 1 : (uint32_t)machine_traits(s->op) & MACHINE_INPUTS;
}

static void find_levels(row_plan *r)
{
    const collet_program *p = r->p;
    for (uint32_t i = 0; i < r->first; i++)
        r->shape[i] = i < p->n_in ? ROW_FULL : ROW_NUMBER;
    for (uint32_t v = r->first; v < r->first + p->n_steps; v++) {
        const collet_step *s = collet_program_step(p, v - r->first);
        uint8_t shape = ROW_NUMBER;
        for (uint32_t k = 0; k < inputs_of(s); k++)
            shape = r->shape[s->in[k]] > shape ? r->shape[s->in[k]] : shape;
        r->shape[v] = reduces(r, v) ? ROW_NARROW : shape;
        for (uint32_t k = 0; k < inputs_of(s); k++) {
            uint32_t of = s->in[k];
            if (of < r->first || r->shape[of] == ROW_NUMBER)
                continue;
            int next = reduces(r, of) || (!reduces(r, v) && r->shape[of] != r->shape[v]);
            uint32_t level = r->level[of] + (uint32_t)next;
            r->level[v] = level > r->level[v] ? level : r->level[v];
        }
        r->last = r->level[v] > r->last ? r->level[v] : r->last;
    }
}

static void find_stored(row_plan *r)
{
    const collet_program *p = r->p;
    for (uint32_t k = 0; k < p->n_out; k++)
        r->place[p->outs[k]].stored = 1;
    for (uint32_t v = r->first; v < r->first + p->n_steps; v++) {
        const collet_step *s = collet_program_step(p, v - r->first);
        r->place[v].stored |= (uint8_t)reduces(r, v);
        for (uint32_t k = 0; k < inputs_of(s); k++) {
            uint32_t of = s->in[k];
            if (of >= r->first && r->shape[of] != ROW_NUMBER)
                r->place[of].stored |= reduces(r, v) || r->level[v] > r->level[of] ||
                                       r->shape[v] != r->shape[of];
        }
    }
    for (uint32_t v = 0; v < r->first + p->n_steps; v++)
        r->place[v].size = (int64_t)cpu_dtype_size(collet_program_dtype(p, v));
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* Whether a step is one of the elementwise steps of this level and shape. A constant that is an output has the full
 * shape. */
static int belongs(const row_plan *r, uint32_t value, uint32_t level, int narrow)
{
    return value >= r->first && !reduces(r, value) && r->level[value] == level &&
           row_is_narrow(r, value) == narrow;
}

/* The number of a value in the stage's program. 0: the program would have too many inputs. Constants follow
 * COLLET_PROGRAM_INPUTS inputs, whose number is not known yet; renumber() closes the gap. */
static int add_value(const row_plan *r, row_stage *s, uint32_t value, uint32_t level)
{
    const collet_program *p = r->p;
    if (s->number[value] != UINT16_MAX)
        return 1;
    if (value >= p->n_in && value < r->first) {
        s->number[value] = (uint16_t)(COLLET_PROGRAM_INPUTS + value - p->n_in);
        return 1;
    }
    if (value >= r->first && (r->shape[value] == ROW_NUMBER || belongs(r, value, level, s->narrow))) {
        const collet_step *of = collet_program_step(p, value - r->first);
        collet_step step = *of;
        for (uint32_t k = 0; k < inputs_of(of); k++) {
            if (!add_value(r, s, of->in[k], level))
                return 0;
            step.in[k] = s->number[of->in[k]];
        }
        s->number[value] =
            (uint16_t)(COLLET_PROGRAM_INPUTS + p->n_constants + s->program.n_steps);
        s->steps[s->program.n_steps++] = step;
        return 1;
    }
    if (s->program.n_in == COLLET_PROGRAM_INPUTS)
        return 0;
    s->ins[s->program.n_in] = (uint16_t)value;
    s->number[value] = (uint16_t)s->program.n_in++;
    return 1;
}

static void renumber(const row_plan *r, row_stage *s)
{
    collet_program *q = &s->program;
    uint16_t gap = (uint16_t)(COLLET_PROGRAM_INPUTS - q->n_in);
    for (uint32_t k = 0; k < q->n_steps; k++)
        for (uint32_t i = 0; i < inputs_of(&s->steps[k]); i++)
            if (s->steps[k].in[i] >= COLLET_PROGRAM_INPUTS)
                s->steps[k].in[i] = (uint16_t)(s->steps[k].in[i] - gap);
    for (uint32_t k = 0; k < q->n_out; k++)
        s->results[k] = (uint16_t)(s->number[s->outs[k]] - gap);
    for (uint32_t i = 0; i < q->n_in; i++)
        s->dtypes[i] = collet_program_dtype(r->p, s->ins[i]);
    for (uint32_t i = 0; i < r->p->n_constants; i++)
        s->dtypes[q->n_in + i] = collet_program_dtype(r->p, r->p->n_in + i);
    q->struct_size = sizeof *q;
    q->n_constants = r->p->n_constants;
    q->step_size = sizeof *s->steps;
    q->constant_size = r->p->constant_size;
    q->dtypes = s->dtypes;
    q->steps = s->steps;
    q->outs = s->results;
}

static void begin_stage(row_stage *s, int narrow)
{
    s->op = 0;
    s->narrow = narrow;
    s->program = (collet_program){0};
    memset(s->number, 0xff, sizeof s->number);
}

static int is_reduction_at(const row_plan *r, uint32_t value, uint32_t level)
{
    return reduces(r, value) && r->level[value] == level;
}

/* Adds stored steps of the cursor's level and shape to the stage, up to COLLET_PROGRAM_OUTPUTS. 0: too many
 * inputs. */
static int fill_stage(const row_plan *r, row_cursor *c, row_stage *s)
{
    for (; c->next < r->p->n_steps && s->program.n_out < COLLET_PROGRAM_OUTPUTS; c->next++) {
        uint32_t value = r->first + c->next;
        if (!r->place[value].stored || !belongs(r, value, c->level, s->narrow))
            continue;
        if (!add_value(r, s, value, c->level))
            return 0;
        s->outs[s->program.n_out++] = (uint16_t)value;
    }
    return 1;
}

int row_plan_next(const row_plan *r, row_cursor *c, row_stage *s)
{
    while (c->level <= r->last) {
        begin_stage(s, c->phase == 1);
        while (c->phase == 2 && c->next < r->p->n_steps) {
            uint32_t value = r->first + c->next++;
            if (!is_reduction_at(r, value, c->level))
                continue;
            s->op = collet_program_step(r->p, value - r->first)->op;
            s->from = collet_program_step(r->p, value - r->first)->in[0];
            s->outs[0] = (uint16_t)value;
            return 1;
        }
        if (c->phase < 2 && !fill_stage(r, c, s))
            return -1;
        if (c->phase < 2 && s->program.n_out)
            return 1;
        c->next = 0;
        c->phase = (c->phase + 1) % 3;
        c->level += c->phase == 0;
    }
    return 0;
}

/* ---- Machines -------------------------------------------------------------------------------- */

/* A stored value as an operand of a stage. */
static collet_operand operand_at(const row_plan *r, const row_stage *s, uint32_t value, char *tile)
{
    const collet_operand *in = operand_of(r->call, r->call->n_out);
    const row_place *at = &r->place[value];
    return (collet_operand){.buffer = at->in_operand ? at->at : tile ? tile + at->offset : NULL,
                            .dtype = collet_program_dtype(r->p, value),
                            .ndim = s->narrow ? 1 : in->ndim,
                            .shape = s->narrow ? &r->rows : in->shape,
                            .strides = s->narrow            ? &r->one
                                       : row_is_narrow(r, value) ? r->narrow
                                                             : r->full};
}

/* Whether a later stage or the end of the tile reads an output of the stage. */
static int is_read_again(const row_plan *r, const row_stage *s)
{
    for (uint32_t k = 0; k < s->program.n_out; k++) {
        if (!r->place[s->outs[k]].in_operand)
            return 1;
        for (uint32_t v = r->first; v < r->first + r->p->n_steps; v++) {
            const collet_step *step = collet_program_step(r->p, v - r->first);
            for (uint32_t i = 0; i < inputs_of(step); i++)
                if (step->in[i] == s->outs[k] && !belongs(r, v, r->level[s->outs[k]], s->narrow))
                    return 1;
        }
    }
    return 0;
}

void row_plan_prepare(const row_plan *r, row_stage *s, machine_step *steps, char *tile)
{
    collet_operand operands[COLLET_PROGRAM_OUTPUTS + COLLET_PROGRAM_INPUTS];
    const collet_program *q = &s->program;
    if (s->op) {
        const collet_step *step = collet_program_step(r->p, s->outs[0] - r->first);
        double correction =
            step->in[1]
                ? collet_program_constant(r->p, r->constants, step->in[1] - r->p->n_in)->value.f64
                : 0.0;
        row_method_choose(&s->by, r->device, s->op, collet_program_dtype(r->p, s->from),
                          step->dtype, r->length, correction);
        return;
    }
    renumber(r, s);
    for (uint32_t k = 0; k < q->n_out; k++)
        operands[k] = operand_at(r, s, s->outs[k], tile);
    for (uint32_t i = 0; i < q->n_in; i++)
        operands[q->n_out + i] = s->ins[i] < r->p->n_in
                                     ? *operand_of(r->call, r->call->n_out + s->ins[i])
                                     : operand_at(r, s, s->ins[i], tile);
    const collet_kernel_call call = {.struct_size = sizeof call,
                                     .n_out = q->n_out,
                                     .n_in = q->n_in,
                                     .operand_size = sizeof *operands,
                                     .operands = operands};
    s->m = (machine){.device = r->device,
                     .program = q,
                     .constants = r->constants,
                     .few = FEW_BUFFERS,
                     .in_order = 1,
                     .read_soon = is_read_again(r, s)};
    machine_prepare(&s->m, &call, steps);
}

/* ---- The plan -------------------------------------------------------------------------------- */

/* Whether the elements of an operand are adjacent, in C order. */
static int is_linear(const collet_operand *o)
{
    int64_t step = 1;
    for (int32_t i = o->ndim - 1; i >= 0; i--) {
        if (o->strides[i] != step && o->shape[i] != 1)
            return 0;
        step *= o->shape[i];
    }
    return 1;
}

static void find_extents(row_plan *r)
{
    const collet_operand *in = operand_of(r->call, r->call->n_out);
    int32_t last = in->ndim - 1;
    int64_t rows = 1;
    r->length = in->shape[last];
    r->one = 1;
    r->narrow[last] = 0;
    r->full[last] = 1;
    for (int32_t i = last - 1; i >= 0; i--) {
        r->narrow[i] = rows;
        r->full[i] = rows * r->length;
        rows *= in->shape[i];
    }
    r->rows = rows;
}

static const char *refused(const collet_kernel_call *call)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *p = params->program;
    const collet_operand *in = operand_of(call, call->n_out);
    if (p->n_steps > ROW_STEPS || p->n_constants > ROW_CONSTANTS)
        return "more than 64 steps or constants";
    if (!in->shape[in->ndim - 1] || in->shape[in->ndim - 1] > ROW_LIMIT)
        return "rows without elements or of more than 65536";
    for (uint32_t k = 0; k < p->n_steps; k++) {
        const collet_step *s = collet_program_step(p, k);
        if (!row_method_has(s->op))
            continue;
        if (s->op == COLLET_OP_ARGMIN || s->op == COLLET_OP_ARGMAX ||
            cpu_dtype_is_complex(collet_program_dtype(p, s->in[0])))
            return "argmin, argmax or a reduction of complex numbers";
        if (s->in[0] < p->n_in && !is_linear(operand_of(call, call->n_out + s->in[0])))
            return "a reduction of an input whose elements are not adjacent";
    }
    for (uint32_t k = 0; k < p->n_out; k++)
        if (p->outs[k] < p->n_in + p->n_constants)
            return "an output that is a constant";
    return NULL;
}

/* Outputs whose elements are adjacent are computed in place. */
static void place_outputs(row_plan *r)
{
    for (uint32_t i = 0; i < r->p->n_in; i++) {
        r->place[i].in_operand = 1;
        r->place[i].at = cpu_at(operand_of(r->call, r->call->n_out + i));
    }
    for (uint32_t k = 0; k < r->p->n_out; k++) {
        row_place *at = &r->place[r->p->outs[k]];
        const collet_operand *out = operand_of(r->call, k);
        int own = r->shape[r->p->outs[k]] != ROW_NUMBER;
        if (at->in_operand || !is_linear(out) || !own)
            continue;
        at->in_operand = 1;
        at->at = cpu_at(out);
    }
}

/* Chooses the rows of a tile: whole rows of each machine's loop. */
static void place_tile(row_plan *r, int64_t unit)
{
    int64_t part = r->rows * r->length / (PARTS * (int64_t)r->device->threads), bytes;
    int64_t rows = (part > LARGE ? LARGE : part < SMALL ? SMALL : part) / r->length;
    rows = rows / unit * unit;
    r->tile_rows = rows > unit ? rows : unit;
    bytes = 3 * row_results(r);
    for (uint32_t v = r->first; v < r->first + r->p->n_steps; v++) {
        row_place *at = &r->place[v];
        if (!at->stored || at->in_operand)
            continue;
        at->offset = bytes;
        bytes += divide_up(r->tile_rows * (row_is_narrow(r, v) ? 1 : r->length) * at->size, LINE) * LINE;
    }
    r->tile_bytes = bytes;
    r->thread_bytes = divide_up(bytes + r->machine_bytes, LINE) * LINE;
}

const char *row_plan_make(row_plan *r, const collet_device *device, const collet_kernel_call *call,
                          row_stage *s)
{
    const collet_evaluate_params *params = call->params;
    const char *why = refused(call);
    row_cursor c = {0};
    int64_t unit = 1;
    int more;
    if (why)
        return why;
    r->device = device;
    r->call = call;
    r->p = params->program;
    r->constants = params->constants;
    r->first = r->p->n_in + r->p->n_constants;
    find_extents(r);
    find_levels(r);
    find_stored(r);
    while ((more = row_plan_next(r, &c, s)) > 0) {
        r->n_stages++;
        row_plan_prepare(r, s, NULL, NULL);
        if (s->op)
            continue;
        int64_t bytes = machine_memory(&s->m);
        int64_t rows = machine_unit(&s->m) / (s->narrow ? 1 : r->length);
        r->machine_bytes = bytes > r->machine_bytes ? bytes : r->machine_bytes;
        unit = rows > unit ? rows : unit;
    }
    place_outputs(r);
    place_tile(r, unit);
    return more ? "a part of the program with more than 8 inputs" : NULL;
}
