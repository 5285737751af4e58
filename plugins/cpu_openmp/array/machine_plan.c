/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of machines: how operands are read, and in which slots values are.
 * Tests: conformance/array/elementwise.c, tests/cpu_openmp/test_machine.c */
#include "machine.h"

#include <stdlib.h>

#include "shared/host/util/operand.h"

/* Shorter rows are walked several at a time. */
#define SHORT_ROW 128

/* No slot. */
#define NONE UINT16_MAX
/* The member `last` of a value that no step uses. */
#define UNUSED (UINT16_MAX - 1)

#define LINE 64

/* The number of elements of a block if nothing is kept in buffers. */
#define WHOLE (1 << 20)

/* A heavy function costs about as much as this many copies. */
#define HEAVY 4

int machine_traits(uint32_t op)
{
    switch (op) {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, ...)                        \
    case COLLET_OP_##NAME:                                                                         \
        return (inputs) | (BLOCK_REPEATS(inputs, ulp) ? MACHINE_REPEATS : 0) |                     \
               ((ulp) > 0 ? MACHINE_HEAVY : 0);
#include <collet/ops/elementwise.def>
    default:
        return 1;
    }
}

#define SINGLE 1
#define FILL 2

/* Where the values of a program are, while the program is planned. */
typedef struct values {
    uint32_t first_step; /* number of inputs and constants */
    uint32_t count;
    uint16_t last[MACHINE_VALUES];   /* the last step that uses the value; NONE for an output */
    uint16_t slot[MACHINE_VALUES];   /* NONE: no longer in a buffer */
    uint16_t filled[MACHINE_VALUES]; /* slot of a block that repeats a single value, or NONE */
    uint16_t spare[MACHINE_VALUES];  /* buffers */
    uint8_t flags[MACHINE_VALUES];   /* bits SINGLE, and FILL: a step needs the value as a block */
    uint32_t spares;
} values;

static int is_half(collet_dtype dtype)
{
    return dtype == COLLET_F16 || dtype == COLLET_BF16;
}

static uint32_t inputs_of(const collet_step *s)
{
    return (uint32_t)machine_traits(s->op) & MACHINE_INPUTS;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static int is_linear(const loop *l, int32_t k, int64_t size)
{
    for (int32_t i = l->ndim - 1; i >= 0; i--) {
        if (l->step[k][i] != size)
            return 0;
        size *= l->shape[i];
    }
    return 1;
}

static int is_single(const loop *l, int32_t k, int short_rows)
{
    int single = l->step[k][l->ndim - 1] == 0;
    for (int32_t i = 0; short_rows && i < l->ndim; i++)
        single &= l->step[k][i] == 0;
    return single;
}

/* Whether input `in` may be the same array as output `out`. */
static int is_same(const loop *l, int32_t out, int32_t in)
{
    return l->at[in] == l->at[out];
}

/* Non-temporal stores pay if output k is larger than the caches and is not written over an input. */
static int worth_streaming(const machine *m, int32_t k)
{
    const loop *l = &m->l;
    for (int32_t in = (int32_t)m->program->n_out; in < l->views; in++) {
        if (is_same(l, k, in))
            return 0;
    }
    return !m->read_soon && is_linear(l, k, m->view[k].size) &&
           l->count * m->view[k].size > m->device->cache_bytes;
}

static void find_views(machine *m, const collet_kernel_call *call)
{
    const loop *l = &m->l;
    int32_t inner = l->ndim - 1;
    int short_rows = l->count > 0 && inner > 0 && l->shape[inner] < SHORT_ROW;
    for (int32_t k = 0; k < l->views; k++) {
        machine_view *v = &m->view[k];
        v->dtype = operand_of(call, (uint32_t)k)->dtype;
        v->size = (int64_t)cpu_dtype_size(v->dtype);
        v->shift = __builtin_ctz((unsigned)v->size);
        int adjacent =
            l->count == 1 || (short_rows ? is_linear(l, k, v->size) : l->step[k][inner] == v->size);
        v->kind = adjacent                      ? MACHINE_ADJACENT
                  : is_single(l, k, short_rows) ? MACHINE_SINGLE
                                                : MACHINE_GATHERED;
        m->cost += v->size;
    }
    for (int32_t k = 0; k < (int32_t)m->program->n_out; k++)
        m->view[k].streamed = (uint8_t)worth_streaming(m, k);
    m->block_rows = short_rows;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static int is_far(const machine *m, int32_t k)
{
    return m->view[k].kind == MACHINE_GATHERED && llabs(m->l.step[k][m->l.ndim - 1]) >= LINE;
}

/* An axis along which a gathered input has a cache line of adjacent elements, or repeats them; -1: there is
 * none. */
static int32_t find_across(const machine *m)
{
    const loop *l = &m->l;
    int32_t repeated = -1;
    for (int32_t k = (int32_t)m->program->n_out; k < l->views; k++) {
        for (int32_t i = 0; i < l->ndim - 1 && is_far(m, k); i++) {
            if (l->step[k][i] == m->view[k].size && l->shape[i] >= LINE / m->view[k].size)
                return i;
            if (l->step[k][i] == 0)
                repeated = i;
        }
    }
    return repeated;
}

/* Makes axis i the last but one. The order of the other axes is kept. */
static void move_axis(loop *l, int32_t i)
{
    for (; i < l->ndim - 2; i++) {
        int64_t extent = l->shape[i];
        l->shape[i] = l->shape[i + 1];
        l->shape[i + 1] = extent;
        for (int32_t k = 0; k < l->views; k++) {
            int64_t step = l->step[k][i];
            l->step[k][i] = l->step[k][i + 1];
            l->step[k][i + 1] = step;
        }
    }
}

/* Chooses tiles that hold whole cache lines of the inputs that are transposed. There are no tiles if read_soon is
 * set: machine_range needs rows in order. */
static void find_tiles(machine *m)
{
    loop *l = &m->l;
    int32_t axis = m->block_rows || m->in_order ? -1 : find_across(m);
    if (axis < 0)
        return;
    int64_t smallest = LINE, bytes = 0, begin = 0;
    move_axis(l, axis);
    for (int32_t k = (int32_t)m->program->n_out; k < l->views; k++) {
        machine_view *v = &m->view[k];
        v->across = is_far(m, k) && l->step[k][l->ndim - 2] == v->size;
        bytes += v->across ? v->size : 0;
        smallest = v->across && v->size < smallest ? v->size : smallest;
    }
    int64_t rows = bytes ? LINE / smallest : LINE, columns = m->block;
    if (bytes && columns > MACHINE_PANEL / (bytes * rows))
        columns = MACHINE_PANEL / (bytes * rows);
    columns = columns / LINE * LINE;
    if (columns == 0)
        return;
    m->tile_rows = rows;
    m->tile_columns = columns;
    for (int32_t k = (int32_t)m->program->n_out; k < l->views; k++) {
        m->view[k].panel = begin;
        begin += m->view[k].across ? rows * columns * m->view[k].size : 0;
    }
}

/* The number of elements of a block. The widest value determines it. */
static void find_block(machine *m)
{
    const collet_program *p = m->program;
    uint32_t count = p->n_in + p->n_constants + p->n_steps;
    int64_t widest = 1;
    for (uint32_t i = 0; i < count; i++) {
        collet_dtype dtype = collet_program_dtype(p, i);
        int64_t size = is_half(dtype) ? 4 : (int64_t)cpu_dtype_size(dtype);
        widest = size > widest ? size : widest;
    }
    m->block_bytes = m->buffers > m->few ? MACHINE_SMALL_BLOCK : MACHINE_BLOCK;
    m->block = m->block_bytes / widest;
    if (m->block_rows) {
        int64_t rows = m->block / m->l.shape[m->l.ndim - 1];
        /* A multiple of 64 rows: blocks then begin at cache lines if the operands do. */
        m->block_rows = rows > 64 ? rows / 64 * 64 : rows;
    }
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Bit k: input k of the step is one number for all elements of a block. */
static uint32_t singles_of(const values *v, const collet_step *s, uint32_t inputs)
{
    uint32_t bits = 0;
    for (uint32_t k = 0; k < inputs; k++)
        bits |= (uint32_t)(v->flags[s->in[k]] & SINGLE) << k;
    return bits;
}

/* The single inputs that the kernel of the step accepts without gathering. */
static uint32_t repeated_of(const collet_step *s, uint32_t singles)
{
    int one = (singles & (singles - 1)) == 0;
    int limits = singles == 6 && s->op == COLLET_OP_CLIP &&
                 (s->dtype == COLLET_F32 || s->dtype == COLLET_F64 || is_half(s->dtype));
    return limits || (one && machine_traits(s->op) & MACHINE_REPEATS) ? singles : 0;
}

/* Finds the single values. Returns 1 if some step needs a single input as a block: the input is then
 * gathered. */
static int find_singles(machine *m, values *v)
{
    const collet_program *p = m->program;
    int changed = 0;
    for (uint32_t i = 0; i < v->first_step; i++) {
        v->flags[i] = i >= p->n_in || m->view[p->n_out + i].kind == MACHINE_SINGLE ? SINGLE : 0;
    }
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const collet_step *s = collet_program_step(p, i);
        uint32_t inputs = inputs_of(s), singles = singles_of(v, s, inputs);
        int single = singles == (1u << inputs) - 1;
        uint32_t fill = single ? 0 : singles & ~repeated_of(s, singles);
        v->flags[v->first_step + i] = single ? SINGLE : 0;
        for (uint32_t k = 0; k < inputs; k++) {
            if (!(fill >> k & 1))
                continue;
            v->flags[s->in[k]] |= FILL;
            if (s->in[k] < p->n_in) {
                m->view[p->n_out + s->in[k]].kind = MACHINE_GATHERED;
                changed = 1;
            }
        }
    }
    return changed;
}

/* Sets the last use of each value. Uses by steps that no output needs do not count. */
static void find_last_uses(const machine *m, values *v)
{
    const collet_program *p = m->program;
    for (uint32_t i = 0; i < v->count; i++)
        v->last[i] = UNUSED;
    for (uint32_t j = 0; j < p->n_out; j++)
        v->last[p->outs[j]] = NONE;
    for (uint32_t i = p->n_steps; i-- > 0;) {
        const collet_step *s = collet_program_step(p, i);
        for (uint32_t k = 0; k < inputs_of(s) && v->last[v->first_step + i] != UNUSED; k++) {
            if (v->last[s->in[k]] == UNUSED)
                v->last[s->in[k]] = (uint16_t)i;
        }
    }
}

static uint16_t take_buffer(machine *m, values *v)
{
    if (v->spares > 0)
        return v->spare[--v->spares];
    return (uint16_t)(m->first_buffer + m->buffers++);
}

static void release(values *v, uint16_t *slot, uint32_t first_buffer)
{
    if (*slot != NONE && *slot >= first_buffer)
        v->spare[v->spares++] = *slot;
    *slot = NONE;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static machine_step *next_step(machine *m)
{
    return m->steps ? &m->steps[m->n_steps++] : &m->uncounted;
}

static machine_step *add_step(machine *m, uint8_t kind, collet_dtype to, uint16_t out)
{
    machine_step *s = next_step(m);
    *s = (machine_step){
        .kind = kind, .from = to, .to = to, .out = out, .inputs = 1, .op = CHAIN_NONE};
    return s;
}

/* Adds a step that fills a block with a single value. */
static void add_fill(machine *m, values *v, uint32_t value)
{
    v->filled[value] = take_buffer(m, v);
    add_step(m, MACHINE_FILL, collet_program_dtype(m->program, value), v->filled[value])->in[0] =
        v->slot[value];
}

/* The output that step i may write without a buffer, or NONE. The output must be adjacent, and no later step may
 * read an input that is the same array. If step i is a conversion, step i itself may not read such an input either. */
static uint16_t direct_output(const machine *m, const values *v, uint32_t i)
{
    const collet_program *p = m->program;
    uint32_t value = v->first_step + i;
    for (uint32_t j = 0; j < p->n_out && !(v->flags[value] & SINGLE); j++) {
        int direct = p->outs[j] == value && m->view[j].kind == MACHINE_ADJACENT &&
                     !m->view[j].streamed && m->l.at[j];
        uint32_t last = collet_program_step(p, i)->op == COLLET_OP_COPY ? i : i + 1;
        for (uint32_t k = 0; direct && k < p->n_in; k++)
            direct = !is_same(&m->l, (int32_t)j, (int32_t)(p->n_out + k)) ||
                     (v->last[k] < last || v->last[k] == UNUSED);
        if (direct)
            return (uint16_t)j;
    }
    return NONE;
}

/* Frees the buffers of the inputs that step i is the last to use. `replaceable`: only values that the result of the
 * step may overwrite element by element. */
static void release_inputs(const machine *m, values *v, uint32_t i, int replaceable)
{
    const collet_step *s = collet_program_step(m->program, i);
    for (uint32_t k = 0; k < inputs_of(s); k++) {
        uint32_t value = s->in[k];
        int same = collet_program_dtype(m->program, value) == s->dtype && s->op != COLLET_OP_COPY &&
                   !((v->flags[value] ^ v->flags[v->first_step + i]) & SINGLE);
        if (v->last[value] != i || value < v->first_step || (replaceable && !same))
            continue;
        release(v, &v->slot[value], m->first_buffer);
        release(v, &v->filled[value], m->first_buffer);
    }
}

static uint8_t chained_op(uint32_t op)
{
    return op == COLLET_OP_ADD   ? CHAIN_ADD
           : op == COLLET_OP_SUB ? CHAIN_SUB
           : op == COLLET_OP_MUL ? CHAIN_MUL
                                 : CHAIN_NONE;
}

static void plan_step(machine *m, values *v, uint32_t i)
{
    const collet_program *p = m->program;
    const collet_step *s = collet_program_step(p, i);
    uint32_t value = v->first_step + i, inputs = inputs_of(s);
    uint32_t singles = singles_of(v, s, inputs);
    int single = v->flags[value] & SINGLE;
    uint32_t repeated = single ? 0 : repeated_of(s, singles);
    machine_step step = {.to = s->dtype,
                         .from = collet_program_dtype(p, s->in[inputs - 1]),
                         .inputs = (uint8_t)inputs,
                         .repeated = (uint8_t)repeated,
                         .single = (uint8_t)single};
    step.kind = s->op == COLLET_OP_COPY ? MACHINE_CONVERT
                : is_half(step.from)    ? MACHINE_HALF
                                        : MACHINE_RUN;
    int chained =
        step.kind == MACHINE_RUN && !single && m->device->level->blocks_real->chain[s->dtype];
    step.op = chained ? chained_op(s->op) : CHAIN_NONE;
    if (step.kind != MACHINE_CONVERT)
        step.run = machine_kernel(m->device->level, s->op, step.from);
    for (uint32_t k = 0; k < inputs; k++) {
        int fill = !step.single && (singles & ~repeated) >> k & 1;
        step.halves |= (uint8_t)(is_half(collet_program_dtype(p, s->in[k])) << k);
        step.in[k] = fill ? v->filled[s->in[k]] : v->slot[s->in[k]];
    }
    release_inputs(m, v, i, 1);
    uint16_t output = direct_output(m, v, i);
    if (output != NONE)
        m->view[output].direct = 1;
    v->slot[value] = step.out = output != NONE ? output : take_buffer(m, v);
    release_inputs(m, v, i, 0);
    *next_step(m) = step;
    if (v->flags[value] & FILL)
        add_fill(m, v, value);
    m->cost += machine_traits(s->op) & MACHINE_HEAVY
                   ? (HEAVY - 1) * (int64_t)(inputs + 1) * (int64_t)cpu_dtype_size(step.from)
               : p->n_steps > 1 ? (int64_t)cpu_dtype_size(step.from)
                                : 0;
}

/* Makes input k the value `a` of a chain's step, and the other input x. */
static void set_chained(machine_step *s, int k)
{
    uint16_t x = s->in[!k];
    s->in[0] = s->in[k];
    s->in[1] = x;
    s->repeated = (uint8_t)((s->repeated >> !k & 1) << 1);
    if (k && s->op == CHAIN_SUB)
        s->op = CHAIN_SUB_FROM;
}

/* If step i is the only user of the step before it, and both can be parts of a chain, joins them. A sum after a product
 * becomes one step, CHAIN_MUL_ADD. */
static void chain(machine *m, const values *v, uint32_t i)
{
    const collet_step *s = collet_program_step(m->program, i);
    if (!m->steps || m->n_steps < m->prologue + 2)
        return;
    machine_step *next = &m->steps[m->n_steps - 1], *before = next - 1;
    int k = next->in[1] == before->out;
    if (next->kind != MACHINE_RUN || before->op == CHAIN_NONE || next->op == CHAIN_NONE ||
        before->to != next->to || v->last[s->in[k]] != i || next->in[k] != before->out ||
        next->in[!k] == before->out)
        return;
    if (before->kind == MACHINE_RUN)
        set_chained(before, before->repeated & 1);
    machine_step *first = before - before->place;
    first->kind = MACHINE_CHAIN;
    set_chained(next, k);
    if (before->op == CHAIN_MUL && next->op == CHAIN_ADD) {
        before->op = CHAIN_MUL_ADD;
        before->in[2] = next->in[1];
        before->repeated |= (uint8_t)(next->repeated << 1);
        before->out = next->out;
        m->n_steps--;
    } else if (before->place + 1 < MACHINE_LINKS) {
        next->kind = MACHINE_CHAIN;
        next->place = (uint8_t)(before->place + 1);
        first->links++;
    }
}

/* Assigns slots to inputs and constants. */
static void place_operands(machine *m, values *v)
{
    const collet_program *p = m->program;
    m->first_buffer = p->n_out + p->n_in + p->n_constants;
    for (uint32_t i = 0; i < v->count; i++)
        v->filled[i] = NONE;
    for (uint32_t i = 0; i < p->n_in; i++) {
        machine_view *view = &m->view[p->n_out + i];
        v->slot[i] = (uint16_t)(p->n_out + i);
        view->slot = view->kind == MACHINE_GATHERED ? take_buffer(m, v) : NONE;
    }
    for (uint32_t i = p->n_in; i < v->first_step; i++) {
        v->slot[i] = (uint16_t)(p->n_out + i);
        if (v->flags[i] & FILL)
            add_fill(m, v, i);
    }
    m->prologue = m->n_steps;
}

static int has_halves(const machine *m)
{
    const collet_program *p = m->program;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const collet_step *s = collet_program_step(p, i);
        if (s->op != COLLET_OP_COPY && is_half(collet_program_dtype(p, s->in[inputs_of(s) - 1])))
            return 1;
    }
    return 0;
}

static void plan_steps(machine *m)
{
    const collet_program *p = m->program;
    values v;
    v.first_step = p->n_in + p->n_constants;
    v.count = v.first_step + p->n_steps;
    v.spares = 0;
    find_last_uses(m, &v);
    while (find_singles(m, &v))
        continue;
    place_operands(m, &v);
    if (has_halves(m)) {
        m->wide = m->first_buffer + m->buffers;
        m->buffers += 4;
    }
    for (uint32_t i = 0; i < p->n_steps; i++) {
        if (v.last[v.first_step + i] == UNUSED)
            continue;
        plan_step(m, &v, i);
        chain(m, &v, i);
    }
    for (uint32_t j = 0; j < p->n_out; j++) {
        m->view[j].slot = v.slot[p->outs[j]];
        m->view[j].single = v.flags[p->outs[j]] & SINGLE;
    }
}

void machine_prepare(machine *m, const collet_kernel_call *call, machine_step *steps)
{
    loop_init(&m->l, call, (int32_t)(call->n_out + call->n_in), NULL);
    for (int32_t k = 0; k < m->l.views && !steps; k++)
        m->l.at[k] = NULL;
    m->steps = steps;
    find_views(m, call);
    plan_steps(m);
    find_block(m);
    find_tiles(m);
    if (!m->buffers && !m->block_rows && !m->tile_rows)
        m->block = WHOLE;
}
