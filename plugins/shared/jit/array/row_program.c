/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression_rows.c, tests/cuda/cuda_ptx.sh */
#include "row_program.h"

#include <stdio.h>
#include <string.h>

#include "shared/jit/runtime/view.h"
#include "shared/jit/texts.h"
#include "reduce.h"
#include "steps.h"

#define MOST_SHARE 16  /* elements of a row that an item computes */
#define MOST_KEPT 512  /* bytes that an item keeps */
#define MOST_STEPS 512 /* the compiler gets each step once for each element of an item */
#define MOST_KINDS 8   /* reductions of different ops or dtypes */

/* ---- Stages ---------------------------------------------------------------------------------- */

enum { ONE /* a constant */, NARROW /* one number per row */, FULL };

typedef struct row_value {
    uint8_t shape;
    uint8_t kept; /* 1: items keep it, because a reduction or a later stage reads it */
    uint16_t
        stage; /* the stage that computes it; of a reduction, the first stage that can read it */
    uint32_t kind; /* of a reduction: index of `kinds` */
} row_value;

typedef struct row_stages {
    uint32_t given, count, last; /* inputs and constants; values; the last stage */
    uint32_t n_kinds;
    const char *kinds[MOST_KINDS + 1]; /* jit_reduce_kind */
    row_value values[COLLET_PROGRAM_INPUTS + COLLET_PROGRAM_CONSTANTS + COLLET_PROGRAM_STEPS];
} row_stages;

static const collet_step *step_of(const row_stages *r, const collet_program *p, uint32_t value)
{
    return value < r->given ? NULL : collet_program_step(p, value - r->given);
}

static int reduces(const row_stages *r, const collet_program *p, uint32_t value)
{
    return value >= r->given && !jit_steps_inputs(step_of(r, p, value)->op);
}

/* Stage `stage` reads a value. */
static void read_at(row_value *v, uint32_t stage, int by_reduction)
{
    if (v->shape == FULL && (by_reduction || stage > v->stage))
        v->kept = 1;
}

/* Calls read_at for all operands; or finds the first stage that reads each input. */
static void read_operands(row_stages *r, const collet_program *p, int inputs_only)
{
    for (uint32_t v = r->given; v < r->count; v++) {
        const collet_step *s = step_of(r, p, v);
        uint32_t inputs = jit_steps_inputs(s->op), stage = r->values[v].stage - (inputs ? 0u : 1u);
        for (uint32_t i = 0; i < (inputs ? inputs : 1); i++) {
            row_value *of = &r->values[s->in[i]];
            if (!inputs_only)
                read_at(of, stage, !inputs);
            else if (s->in[i] < p->n_in && stage < of->stage)
                of->stage = (uint16_t)stage;
        }
    }
}

/* The number of a reduction's kind. */
static uint32_t find_kind(row_stages *r, const collet_program *p, const collet_step *s)
{
    const char *kind = jit_reduce_kind(s->op, s->dtype, collet_program_dtype(p, s->in[0]));
    uint32_t k = 0;
    while (k < r->n_kinds && k < MOST_KINDS && r->kinds[k] != kind)
        k++;
    r->kinds[k] = kind;
    r->n_kinds += k == r->n_kinds; /* with too many kinds, MOST_KINDS + 1 */
    return k;
}

static void find_stages(row_stages *r, const collet_program *p)
{
    *r = (row_stages){.given = p->n_in + p->n_constants};
    r->count = r->given + p->n_steps;
    for (uint32_t i = 0; i < p->n_in; i++)
        r->values[i] = (row_value){.shape = FULL};
    for (uint32_t v = r->given; v < r->count; v++) {
        const collet_step *s = step_of(r, p, v);
        row_value *value = &r->values[v];
        uint32_t inputs = jit_steps_inputs(s->op);
        for (uint32_t i = 0; i < (inputs ? inputs : 1); i++) {
            const row_value *of = &r->values[s->in[i]];
            value->shape = of->shape > value->shape ? of->shape : value->shape;
            value->stage = of->stage > value->stage ? of->stage : value->stage;
        }
        if (!inputs)
            *value = (row_value){
                .shape = NARROW, .stage = (uint16_t)(value->stage + 1), .kind = find_kind(r, p, s)};
        r->last = value->stage > r->last ? value->stage : r->last;
    }
    for (uint32_t i = 0; i < p->n_in; i++)
        r->values[i].stage = UINT16_MAX;
    read_operands(r, p, 1);
    read_operands(r, p, 0);
    for (uint32_t k = 0; k < p->n_out; k++)
        read_at(&r->values[p->outs[k]], r->last, 0);
}

/* Bytes that an item keeps of each of its elements. */
static uint32_t kept_bytes(const row_stages *r, const collet_program *p)
{
    uint32_t bytes = 0;
    for (uint32_t v = 0; v < r->count; v++)
        if (r->values[v].kept)
            bytes += (uint32_t)cpu_dtype_size(collet_program_dtype(p, v));
    return bytes;
}

/* ---- The text --------------------------------------------------------------------------------- */

static void write_reductions(text *t, const row_stages *r)
{
    for (uint32_t k = 0; k < r->n_kinds; k++) {
        text_add(t, "#define REDUCTION %u\n", k);
        for (const char *option = r->kinds[k]; *option; option += strspn(option, " ")) {
            size_t length = strcspn(option, " "), name = strcspn(option, "=");
            text_add(t, "#define %.*s %.*s\n", (int)name - 2, option + 2, (int)(length - name) - 1,
                     option + name + 1);
            option += length;
        }
        text_add(t, "%s%s%s", jit_text_array_names, jit_text_array_accumulate, jit_text_array_row);
    }
}

/* Declares where an operand's row begins, or the item's first element in it, and the distance of the item's elements. */
static void write_place(text *t, char letter, uint32_t i, uint32_t operand, int full)
{
    text_add(t, "    const i64 %c%u_at = %c%u_first + view_offset(&v, %u, is_row ? row : 0)",
             letter, i, letter, i, operand);
    if (full)
        text_add(t,
                 " + r.member * v.operand[%u].step;\n    const i64 %c%u_next = next * "
                 "v.operand[%u].step",
                 operand, letter, i, operand);
    text_add(t, ";\n");
}

static void write_head(text *t, const row_stages *r, const collet_program *p)
{
    text_add(t, "KERNEL(rows)(BUFFERS CONSTANTS, jit_view v, i32 kept_bits)\n{\n"
                "    LOCAL b128 all[GROUP];\n"
                "    const role r = role_of(kept_bits, 0);\n"
                "    const i64 row = (GROUP_ID << kept_bits) + r.kept;\n"
                "    const i64 next = (i64)1 << v.column_bits, elements = v.columns;\n"
                "    const i32 is_row = row < v.rows, is_in = is_row && r.member < next && "
                "r.member < elements;\n"
                "    const i32 mine = is_in ? (i32)((elements - 1 - r.member) / next) + 1 : 0;\n");
    for (uint32_t i = 0; i < p->n_out; i++)
        write_place(t, 'o', i, i, r->values[p->outs[i]].shape != NARROW);
    for (uint32_t i = 0; i < p->n_in; i++)
        write_place(t, 'i', i, p->n_out + i, 1);
    jit_steps_constants(t, p, jit_steps_words(p));
}

/* Writes the declaration of a value that an elementwise step computes. */
static void write_value(text *t, const collet_program *p, const collet_step *s, uint32_t v)
{
    text_add(t, "    const %s v%u = ", jit_steps_type(p, v), v);
    jit_steps_write(t, p, s);
    text_add(t, ";\n");
}

/* Writes the steps of a stage that have another shape than rows. */
static void write_numbers(text *t, const row_stages *r, const collet_program *p, uint32_t stage)
{
    for (uint32_t v = r->given; v < r->count; v++)
        if (r->values[v].shape != FULL && r->values[v].stage == stage && !reduces(r, p, v))
            write_value(t, p, step_of(r, p, v), v);
}

/* Writes the loop of a stage over the elements of an item. */
static void write_rows(text *t, const row_stages *r, const collet_program *p, uint32_t stage)
{
    for (uint32_t v = 0; v < r->count; v++)
        if (r->values[v].kept && r->values[v].stage == stage)
            text_add(t, "    %s a%u[SHARE];\n", jit_steps_type(p, v), v);
    text_add(t, "    UNROLL for (i32 c = 0; c < SHARE; c++) {\n    if (c < mine) {\n");
    for (uint32_t v = 0; v < r->count; v++) {
        const row_value *value = &r->values[v];
        const char *type = jit_steps_type(p, v);
        if (value->shape != FULL || value->stage > stage || (value->stage < stage && !value->kept))
            continue;
        if (value->stage < stage)
            text_add(t, "    const %s v%u = a%u[c];\n", type, v, v);
        else if (v < p->n_in)
            text_add(t, "    const %s v%u = i%u[i%u_at + c * i%u_next];\n", type, v, v, v, v);
        else
            write_value(t, p, step_of(r, p, v), v);
        if (value->stage == stage && value->kept)
            text_add(t, "    a%u[c] = v%u;\n", v, v);
    }
    for (uint32_t i = 0; i < p->n_out && stage == r->last; i++)
        if (r->values[p->outs[i]].shape != NARROW)
            text_add(t, "    o%u[o%u_at + c * o%u_next] = v%u;\n", i, i, i, p->outs[i]);
    text_add(t, "    }\n    }\n");
}

/* Writes the reductions whose results the next stage can read. */
static void write_results(text *t, const row_stages *r, const collet_program *p, uint32_t stage)
{
    for (uint32_t v = r->given; v < r->count; v++) {
        const row_value *value = &r->values[v];
        const collet_step *s = step_of(r, p, v);
        if (!reduces(r, p, v) || value->stage != stage + 1)
            continue;
        text_add(t,
                 "    const %s v%u = reduce_%u(a%u, mine, r.member, next, elements, %d, "
                 "(IN_LOCAL carried_%u *)all, r",
                 jit_steps_type(p, v), v, value->kind, s->in[0], s->op == COLLET_OP_MAX,
                 value->kind);
        if (s->op == COLLET_OP_VAR || s->op == COLLET_OP_STD)
            text_add(t, ", v%u, %d", s->in[1], s->op == COLLET_OP_STD);
        else if (jit_sums_floats(s->op, s->dtype))
            text_add(t, ", %d", s->op == COLLET_OP_MEAN);
        text_add(t, ");\n");
    }
}

static void write_program(text *t, const collet_program *p)
{
    row_stages r;
    find_stages(&r, p);
    write_reductions(t, &r);
    write_head(t, &r, p);
    for (uint32_t stage = 0; stage <= r.last; stage++) {
        write_numbers(t, &r, p, stage);
        write_rows(t, &r, p, stage);
        write_results(t, &r, p, stage);
    }
    text_add(t, "    if (is_row && r.member == 0) {\n");
    for (uint32_t i = 0; i < p->n_out; i++)
        if (r.values[p->outs[i]].shape == NARROW)
            text_add(t, "    o%u[o%u_at] = v%u;\n", i, i, p->outs[i]);
    text_add(t, "    }\n}\n");
}

/* ---- Calls ------------------------------------------------------------------------------------ */

static const char **make_texts(const void *program)
{
    static const char *const before[] = {jit_text_array_reduce_params, jit_text_array_keys,
                                         jit_text_array_members, NULL};
    return jit_steps_list(program, write_program, before, before + 3);
}

static const jit_source source = {.name = "rows", .make = make_texts};

/* A call whose operands all have the shape of the inputs; and its geometry. */
typedef struct row_call {
    collet_kernel_call call;
    collet_operand operands[STEPS_OPERANDS];
    jit_view view;
    int32_t kept_bits;
    uint64_t groups;
    int64_t share; /* elements of a row that an item computes, rounded up to a power of two */
} row_call;

static void row_call_of(row_call *c, const jit_traits *t, const collet_kernel_call *call,
                        const collet_program *p)
{
    const collet_operand *full = operand_of(call, call->n_out);
    c->call = *call;
    c->call.operands = c->operands;
    c->call.operand_size = sizeof *c->operands;
    for (uint32_t i = 0; i < p->n_out + p->n_in; i++) {
        uint32_t from = i < p->n_out ? i : call->n_out + i - p->n_out;
        c->operands[i] = *operand_of(call, from);
        c->operands[i].shape = full->shape;
    }
    (void)jit_view_of(&c->view, t, &c->call, p->n_out + p->n_in);
    jit_reduce_rows(t, c->view.rows, c->view.columns, &c->kept_bits, &c->view.column_bits);
    c->groups = jit_ceiling((uint64_t)c->view.rows, (uint64_t)1 << c->kept_bits);
    int64_t share =
        (int64_t)jit_ceiling((uint64_t)c->view.columns, (uint64_t)1 << c->view.column_bits);
    for (c->share = 1; c->share < share && c->share <= MOST_SHARE;)
        c->share *= 2;
}

/* Whether adjacent rows are closer in memory than adjacent elements of a row; such rows are reduced in another order. */
static int is_transposed(const row_call *c, const collet_program *p)
{
    uint64_t along = 0, across = UINT64_MAX;
    for (int32_t axis = 0; axis <= c->view.outer; axis++) {
        uint64_t span = 0;
        for (uint32_t k = p->n_out; k < p->n_out + p->n_in; k++) {
            const view_operand *o = &c->view.operand[k];
            int64_t stride = axis < c->view.outer ? o->stride[axis] : o->step;
            span += stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
        }
        if (axis == c->view.outer)
            along = span;
        else if (c->view.extent[axis] > 1 && span < across)
            across = span;
    }
    return c->view.columns > 1 && across < along;
}

static const char *refusal(const jit_traits *t, const row_call *c, const collet_program *p)
{
    row_stages r;
    find_stages(&r, p);
    if (c->share > MOST_SHARE)
        return "the rows are too long for one kernel";
    if (is_transposed(c, p))
        return "adjacent rows are closer in memory than the elements of a row";
    if (kept_bytes(&r, p) * c->share > MOST_KEPT || p->n_steps * c->share > MOST_STEPS)
        return "the program is too large for rows of this length";
    if (r.n_kinds > MOST_KINDS || t->local_bytes < 16 * (uint64_t)t->group)
        return "the reductions are too many";
    for (uint32_t k = 0; k < r.n_kinds; k++)
        if (!r.kinds[k])
            return "a reduction is not supported";
    for (uint32_t v = r.given; v < r.count; v++) {
        const collet_step *s = step_of(&r, p, v);
        collet_dtype from = collet_program_dtype(p, s->in[0]);
        if (reduces(&r, p, v) && !jit_row_runs(t, s->op, COLLET_SIG(s->dtype, from)))
            return "a reduction is not supported";
    }
    return NULL;
}

JIT_ACCEPTS(row_program)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *p = params->program;
    const jit_traits *t = jit_traits_of(device);
    uint32_t operands = p->n_out + p->n_in;
    row_call c;
    row_call_of(&c, t, call, p);
    const char *why = refusal(t, &c, p);
    if (why)
        return jit_host(device)->fail(call->err, COLLET_REFUSED, "evaluate: %s; call the ops", why);
    *workspace_bytes = jit_steps_scratch(p);
    return jit_steps_fit(device, call,
                         16 * operands + jit_steps_passed(p) + jit_view_bytes(operands) + 4);
}

JIT_KERNEL(row_program)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *p = params->program;
    jit_sequence s = jit_sequence_of(device, queue, call);
    char options[STEPS_OPTIONS + 16];
    uint32_t words[STEPS_WORDS], operands = p->n_out + p->n_in;
    jit_launch l;
    row_call c;
    row_call_of(&c, s.traits, call, p);
    jit_steps_options(options, p);
    snprintf(options + strlen(options), 16, " -DSHARE=%d", (int)c.share);
    jit_launch_begin(&l, &source, options, "rows");
    l.made_of = p;
    jit_pass_operands(&l, &c.call, operands);
    jit_steps_pass(&s, &l, p, params->constants, 0, words);
    jit_pass_view(&l, &c.view, operands);
    jit_pass_i32(&l, c.kept_bits);
    jit_sequence_enqueue(&s, &l, c.groups);
    return s.status;
}
