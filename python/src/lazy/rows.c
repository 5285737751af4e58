/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_lazy_rows.py */
#include "rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "src/array/array.h"

#include "src/base/error.h"
#include "src/base/runtime.h"
#include "src/calls/compute.h"
#include "function.h"

#define CAPSULE "collet.rows"
#define SLOTS (PROGRAM_NODES + COLLET_EXPRESSION_INPUTS)

/* Elements that each thread computes at a time. A group has three or four arrays of that size in the cache. */
#define GROUP (1 << 17)
#define MOST_THREADS 64

/* A value of a program has a slot: its step, or PROGRAM_NODES + i for the given value i. */
typedef struct stage {
    collet_expression *expression;
    uint32_t n_in, n_out;
    uint16_t in[COLLET_EXPRESSION_INPUTS], out[COLLET_EXPRESSION_OUTPUTS];
} stage;

typedef struct rows {
    uint32_t n_stages, n_steps;
    uint8_t stored[PROGRAM_NODES]; /* 1: a stage writes the value of the step to an array */
    uint8_t narrow[PROGRAM_NODES];
    collet_dtype dtype[PROGRAM_NODES];
    stage stages[];
} rows;

static uint32_t slot_of(uint16_t from)
{
    return from < STEP_GIVEN ? from : PROGRAM_NODES + (uint32_t)(from - STEP_GIVEN);
}

/* ---- Stages ------------------------------------------------------------------------------- */

typedef struct cutter {
    const program *p;
    rows *r;
    uint32_t level[PROGRAM_NODES], last; /* number of stages before the stage of each step; the largest */
    uint32_t users[PROGRAM_NODES];
    stage *s; /* the stage that is being built; its steps have the level `now` and the shape `narrow` */
    uint32_t now, narrow;
    uint32_t values[SLOTS];
    uint8_t known[SLOTS];
    collet_error err;
} cutter;

static int is_of_stage(const cutter *c, uint32_t i)
{
    return !c->p->steps[i].reduces && c->level[i] == c->now && c->p->steps[i].narrow == c->narrow;
}

/* var and std take two passes over their operand, so the operand is stored. */
static int has_two_passes(const step *s)
{
    return s->reduces == COLLET_OP_VAR || s->reduces == COLLET_OP_STD;
}

static void find_levels(cutter *c)
{
    const program *p = c->p;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const step *s = &p->steps[i];
        for (uint32_t k = 0; k < s->n_in; k++) {
            if (s->from[k] >= STEP_GIVEN)
                continue;
            const step *of = &p->steps[s->from[k]];
            uint32_t level =
                c->level[s->from[k]] + (of->reduces || (!s->reduces && of->narrow != s->narrow));
            c->level[i] = level > c->level[i] ? level : c->level[i];
            c->users[s->from[k]]++;
        }
        c->last = c->level[i] > c->last ? c->level[i] : c->last;
    }
}

static void find_stored(cutter *c)
{
    const program *p = c->p;
    for (uint32_t i = 0; i < p->n_outs; i++)
        c->r->stored[p->outs[i]] = 1;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const step *s = &p->steps[i];
        c->r->stored[i] |= s->reduces != 0;
        for (uint32_t k = 0; k < s->n_in; k++) {
            if (s->from[k] >= STEP_GIVEN)
                continue;
            const step *of = &p->steps[s->from[k]];
            int later = s->reduces ? c->users[s->from[k]] > 1 || has_two_passes(s)
                                   : c->level[i] > c->level[s->from[k]] || of->narrow != s->narrow;
            c->r->stored[s->from[k]] |= (uint8_t)later;
        }
    }
}

static collet_status add_input(cutter *c, uint32_t slot)
{
    if (c->s->n_in == COLLET_EXPRESSION_INPUTS)
        return COLLET_OVERFLOW;
    c->s->in[c->s->n_in++] = (uint16_t)slot;
    c->known[slot] = 1;
    return collet_expression_input(c->s->expression, &c->values[slot], NULL, COLLET_DTYPE_NONE,
                                   &c->err);
}

static collet_status add_step(cutter *c, uint32_t i);

static collet_status add_value(cutter *c, const step *s, uint32_t k, uint32_t *value)
{
    collet_scalar number;
    if (s->from[k] == STEP_CONSTANT)
        return evaluate_number(s->number, "a number", &number) < 0
                   ? COLLET_DTYPE
                   : collet_expression_literal(c->s->expression, value, &number, &c->err);
    uint32_t slot = slot_of(s->from[k]);
    collet_status status = COLLET_OK;
    if (!c->known[slot])
        status =
            slot < PROGRAM_NODES && is_of_stage(c, slot) ? add_step(c, slot) : add_input(c, slot);
    *value = c->values[slot];
    return status;
}

/* Adds an elementwise step of the stage, and the steps of the stage on which it depends. */
static collet_status add_step(cutter *c, uint32_t i)
{
    const step *s = &c->p->steps[i];
    uint32_t in[NODE_INPUTS];
    collet_status status = COLLET_OK;
    for (uint32_t k = 0; status == COLLET_OK && k < s->n_in; k++)
        status = add_value(c, s, k, &in[k]);
    if (status != COLLET_OK)
        return status;
    c->known[i] = 1;
    return s->function ? collet_expression_apply(c->s->expression, &c->values[i], s->function->id,
                                                 in, s->n_in, &c->err)
                       : collet_expression_convert(c->s->expression, &c->values[i], in[0], s->dtype,
                                                   &c->err);
}

static collet_status begin_stage(cutter *c, uint32_t level, uint32_t narrow)
{
    c->s = &c->r->stages[c->r->n_stages];
    c->now = level;
    c->narrow = narrow;
    memset(c->known, 0, sizeof c->known);
    collet_status status = collet_expression_create(&c->s->expression, &c->err);
    c->r->n_stages += status == COLLET_OK;
    return status;
}

static collet_status add_output(cutter *c, uint32_t i, uint32_t value)
{
    c->s->out[c->s->n_out++] = (uint16_t)i;
    return collet_expression_output(c->s->expression, value, &c->err);
}

/* Makes stages of the stored elementwise steps that have this level and shape. */
static collet_status cut_elementwise(cutter *c, uint32_t level, uint32_t narrow)
{
    collet_status status = COLLET_OK;
    c->s = NULL;
    for (uint32_t i = 0; status == COLLET_OK && i < c->p->n_nodes; i++) {
        const step *s = &c->p->steps[i];
        if (!c->r->stored[i] || s->reduces || c->level[i] != level || s->narrow != narrow)
            continue;
        if (!c->s || c->s->n_out == COLLET_EXPRESSION_OUTPUTS)
            status = begin_stage(c, level, narrow);
        if (status == COLLET_OK && !c->known[i])
            status = add_step(c, i);
        if (status == COLLET_OK)
            status = add_output(c, i, c->values[i]);
    }
    return status;
}

/* Makes a stage of a reduction of a step or a given value. If nothing else uses that step, the stage computes it. */
static collet_status cut_reduction(cutter *c, uint32_t i)
{
    static const int32_t last = -1;
    const step *s = &c->p->steps[i];
    uint32_t value = 0, of = slot_of(s->from[0]);
    collet_status status = begin_stage(c, c->level[i], 0);
    if (status == COLLET_OK)
        status =
            of < PROGRAM_NODES && c->r->stored[of] ? add_input(c, of) : add_value(c, s, 0, &value);
    if (status == COLLET_OK)
        status = add_output(c, i, c->values[of]);
    return status == COLLET_OK ? collet_expression_reduce(c->s->expression, s->reduces, &last, 1, 1,
                                                          s->correction, &c->err)
                               : status;
}

static collet_status cut(cutter *c)
{
    collet_status status = COLLET_OK;
    for (uint32_t level = 0; status == COLLET_OK && level <= c->last; level++) {
        for (uint32_t narrow = 0; status == COLLET_OK && narrow < 2; narrow++)
            status = cut_elementwise(c, level, narrow);
        for (uint32_t i = 0; status == COLLET_OK && i < c->p->n_nodes; i++)
            if (c->p->steps[i].reduces && c->level[i] == level)
                status = cut_reduction(c, i);
    }
    return status;
}

static void destroy(rows *r)
{
    for (uint32_t i = 0; i < r->n_stages; i++)
        collet_expression_destroy(r->stages[i].expression);
    free(r);
}

static void end_capsule(PyObject *capsule)
{
    destroy(PyCapsule_GetPointer(capsule, CAPSULE));
}

PyObject *rows_plan(const program *p)
{
    rows *r = calloc(1, sizeof *r + (2 * p->n_nodes + 2) * sizeof *r->stages);
    cutter *c = r ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        free(r);
        return PyErr_NoMemory();
    }
    c->p = p;
    c->r = r;
    r->n_steps = p->n_nodes;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        r->narrow[i] = p->steps[i].narrow;
        r->dtype[i] = p->steps[i].dtype;
    }
    find_levels(c);
    find_stored(c);
    collet_status status = cut(c);
    if (status != COLLET_OK)
        error_raise(status, c->err.text);
    free(c);
    PyObject *capsule = status == COLLET_OK ? PyCapsule_New(r, CAPSULE, end_capsule) : NULL;
    if (!capsule)
        destroy(r);
    return capsule;
}

/* ---- Groups of rows ----------------------------------------------------------------------- */

/* What a call computes; stored as the parameters of the call. */
typedef struct request {
    const rows *r;
    collet_array_spec full;
    uint32_t n_outs;
    uint16_t outs[COLLET_EXPRESSION_OUTPUTS];
} request;

_Static_assert(sizeof(request) <= CALL_PARAMS, "a request is the parameters of a call");

/* Groups are `count` long along `axis`, and 1 along the axes before it. */
typedef struct groups {
    collet_context *context;
    const request *q;
    int32_t axis;
    int64_t count;
    int64_t start[COLLET_MAX_DIMS], extent[COLLET_MAX_DIMS]; /* the current group */
    collet_array *whole[SLOTS]; /* outputs and given arrays; arrays of one group for other steps */
    uint8_t own[SLOTS];         /* 1: an array of one group */
    collet_array *part[SLOTS];  /* the views of the current group */
    collet_scalar number[COLLET_EXPRESSION_INPUTS]; /* given numbers */
} groups;

static int64_t group_elements(void)
{
    int64_t threads = sysconf(_SC_NPROCESSORS_ONLN), limit = collet_thread_limit();
    threads = limit > 0 && limit < threads ? limit : threads;
    return GROUP * (threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads);
}

static void choose_groups(groups *g)
{
    const collet_array_spec *full = &g->q->full;
    int64_t most = group_elements(), inner = full->shape[full->ndim - 1], parts;
    g->axis = full->ndim > 1 ? full->ndim - 2 : 0;
    while (g->axis > 0 && inner * full->shape[g->axis] <= most)
        inner *= full->shape[g->axis--];
    g->count = full->ndim == 1 ? inner : most / inner > 0 ? most / inner : 1;
    parts = (full->shape[g->axis] + g->count - 1) / g->count;
    g->count = (full->shape[g->axis] + parts - 1) / parts; /* of nearly equal size */
    for (int32_t i = 0; i < full->ndim; i++)
        g->extent[i] = i < g->axis ? 1 : i == g->axis ? g->count : full->shape[i];
}

/* The next group; 0: there is none. */
static int next_group(groups *g)
{
    const int64_t *shape = g->q->full.shape;
    int64_t count = g->count;
    for (int32_t i = g->axis; i >= 0; i--, count = 1) {
        g->start[i] += count;
        if (g->start[i] < shape[i]) {
            if (i == g->axis)
                g->extent[i] = shape[i] - g->start[i] < count ? shape[i] - g->start[i] : count;
            return 1;
        }
        g->start[i] = 0;
        if (i == g->axis)
            g->extent[i] = g->count;
    }
    return 0;
}

/* Makes g->part[slot], a view of the current group. Axes of extent 1, and axes that an array does not have, are
 * broadcast. */
static collet_status take_part(groups *g, uint32_t slot)
{
    collet_array *of = g->whole[slot], *view = NULL;
    int32_t missing = g->q->full.ndim - collet_array_ndim(of);
    collet_status status = COLLET_OK;
    for (int32_t i = 0; status == COLLET_OK && i <= g->axis; i++) {
        int64_t extent = i < missing ? 1 : collet_array_shape(of)[i - missing];
        int64_t start = g->own[slot] ? 0 : g->start[i];
        if (i < missing || g->q->full.shape[i] == 1 || extent == 1 || extent == g->extent[i])
            continue;
        collet_array *from = view ? view : of;
        collet_array *next = NULL;
        status = collet_array_slice(g->context, from, &next, i - missing, start, g->extent[i], 1);
        collet_array_destroy(view);
        view = next;
    }
    g->part[slot] = view;
    return status;
}

static collet_array *current(const groups *g, uint32_t slot)
{
    return g->part[slot] ? g->part[slot] : g->whole[slot];
}

static collet_status run_stage(groups *g, const stage *s)
{
    collet_array *outs[COLLET_EXPRESSION_OUTPUTS];
    collet_argument arguments[COLLET_EXPRESSION_INPUTS];
    for (uint32_t i = 0; i < s->n_out; i++)
        outs[i] = current(g, s->out[i]);
    for (uint32_t i = 0; i < s->n_in; i++) {
        arguments[i] = (collet_argument){.name = collet_expression_input_name(s->expression, i),
                                         .array = current(g, s->in[i])};
        if (!arguments[i].array)
            arguments[i].number = g->number[s->in[i] - PROGRAM_NODES];
    }
    return collet_expression_evaluate(g->context, s->expression, outs, arguments, s->n_in);
}

static collet_status run_group(groups *g)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; status == COLLET_OK && i < SLOTS; i++)
        if (g->whole[i])
            status = take_part(g, i);
    for (uint32_t i = 0; status == COLLET_OK && i < g->q->r->n_stages; i++)
        status = run_stage(g, &g->q->r->stages[i]);
    for (uint32_t i = 0; i < SLOTS; i++) {
        collet_array_destroy(g->part[i]);
        g->part[i] = NULL;
    }
    return status;
}

/* Makes arrays of one group for the stored steps that are no outputs. */
static collet_status make_own(groups *g)
{
    const rows *r = g->q->r;
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; status == COLLET_OK && i < r->n_steps; i++) {
        int64_t shape[COLLET_MAX_DIMS];
        if (!r->stored[i] || g->whole[i])
            continue;
        memcpy(shape, g->extent, sizeof shape);
        if (r->narrow[i])
            shape[g->q->full.ndim - 1] = 1;
        status = collet_array_create(g->context, &g->whole[i], r->dtype[i], g->q->full.ndim, shape);
        g->own[i] = 1;
    }
    return status;
}

static collet_status issue(const call *c, collet_array *const *outs, const collet_array *const *ins)
{
    groups *g = calloc(1, sizeof *g);
    if (!g)
        return COLLET_NO_MEMORY;
    g->context = c->context;
    g->q = (const request *)(const void *)c->params;
    for (uint32_t i = 0; i < c->n_out; i++)
        g->whole[g->q->outs[i]] = outs[i];
    for (uint32_t i = 0; i < c->n_in; i++) {
        const operand *o = &c->operands[c->n_out + i];
        g->whole[PROGRAM_NODES + i] = (collet_array *)(uintptr_t)ins[i]; /* is only read */
        g->number[i].dtype = o->view.spec.dtype;
        memcpy(&g->number[i].value, o->number, sizeof o->number);
    }
    choose_groups(g);
    collet_status status = make_own(g);
    do
        status = status == COLLET_OK ? run_group(g) : status;
    while (status == COLLET_OK && next_group(g));
    for (uint32_t i = 0; i < SLOTS; i++)
        if (g->own[i])
            collet_array_destroy(g->whole[i]);
    free(g);
    return status;
}

/* ---- The call ----------------------------------------------------------------------------- */

PyObject *rows_run(PyObject *plan, const program *p)
{
    operand operands[COLLET_EXPRESSION_OUTPUTS + COLLET_EXPRESSION_INPUTS];
    PyObject *made = NULL;
    call c = {.object = plan,
              .name = "evaluate",
              .issue = issue,
              .n_out = p->n_outs,
              .n_in = p->n_given,
              .params_size = sizeof(request),
              .device = 1,
              .operands = operands,
              .reads = &p->reads};
    request *q = (request *)(void *)c.params;
    q->r = PyCapsule_GetPointer(plan, CAPSULE);
    q->full = p->full;
    q->n_outs = p->n_outs;
    c.id = (uintptr_t)q->r;
    int failed = !(c.context = runtime_context());
    for (uint32_t i = 0; i < c.n_out; i++) {
        operand *o = &operands[i];
        operand_start(o);
        q->outs[i] = (uint16_t)p->outs[i];
        o->view.spec = p->full;
        o->view.spec.dtype = p->steps[p->outs[i]].dtype;
        if (p->steps[p->outs[i]].narrow)
            o->view.spec.shape[p->full.ndim - 1] = 1;
    }
    for (uint32_t i = 0; i < c.n_in; i++)
        operand_start(&operands[c.n_out + i]);
    for (uint32_t i = 0; i < c.n_in && !failed; i++)
        failed = evaluate_input(&operands[c.n_out + i], p->given[i], "an input");
    if (!failed) {
        int stale = call_compute(&c);
        if (stale >= 0)
            made = stale ? Py_NewRef(Py_NotImplemented) : call_results(&c);
    }
    for (uint32_t i = 0; i < c.n_out + c.n_in; i++)
        operand_clear(&operands[i]);
    return made;
}
