/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c, tests/core/test_expression_rules.c */
#include "evaluate.h"

#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "constants.h"
#include "context/context.h"
#include "cut.h"
#include "extent.h"
#include "memory/array.h"
#include "steps.h"
#include "util/shape.h"
#include "util/struct.h"
#include "util/text.h"

/* The dtype of an input that is a number, in the form that identifies a plan. COLLET_DTYPE_NONE: a number may not
 * have dtype d. */
static collet_dtype number_key(const graph *g, uint32_t i, collet_dtype d, collet_error *err)
{
    if (d == COLLET_I64 || d == COLLET_F64 || d == COLLET_C128 || d == COLLET_BOOL)
        return d | PLAN_NUMBER;
    if (d == COLLET_U64)
        return COLLET_I64 | PLAN_NUMBER;
    collet_fail(err, COLLET_DTYPE,
                "expression: input %u, %s is a number of the dtype %s; a number is bool, i64, u64, "
                "f64 or c128",
                i, g->names[i], collet_dtype_name(d));
    return COLLET_DTYPE_NONE;
}

/* ---- Calls ------------------------------------------------------------------------------- */

typedef struct evaluation {
    collet_context *cx;
    collet_error *err;
    const graph *g;
    plan *p;
    int by_steps, apart; /* apart: the reduction is a separate call */
    extent x;
    collet_array **outs;
    uint64_t made; /* bit k: outs[k] was NULL */
    const collet_array *const *ins;
    const collet_scalar *numbers;   /* inputs without an array; NULL: all inputs have arrays */
    const collet_scalar *constants; /* the plan's constants, computed with `numbers` */
    collet_array **steps;           /* the arrays of steps between pieces; outputs among them */
} evaluation;

static collet_evaluate_params params_of(const evaluation *v, const collet_program *program,
                                        const collet_scalar *constants)
{
    int reduces = program->reduce != COLLET_NO_OP;
    return (collet_evaluate_params){.struct_size = sizeof(collet_evaluate_params),
                                    .axes = reduces ? v->x.axes : 0,
                                    .keepdims = reduces ? (uint32_t)v->g->keepdims : 0,
                                    .correction = reduces ? v->g->correction : 0.0,
                                    .program = program,
                                    .constants = constants};
}

#define FEW 32 /* constants */

/* Runs a program on the first choice of backend. If this backend has no such kernel, runs single ops instead. Any
 * backend may compute these, and that is faster than the interpreter of another backend. But a program that reduces is
 * then REFUSED: the caller tries it without the reductions, because one kernel may still compute the values. */
static collet_status call_program(const evaluation *v, const collet_program *program,
                                  const collet_scalar *constants, collet_array *const *outs,
                                  const collet_array *const *ins)
{
    collet_array *out[COLLET_PROGRAM_OUTPUTS] = {NULL};
    const collet_array *in[COLLET_PROGRAM_INPUTS] = {NULL};
    collet_evaluate_params params = params_of(v, program, constants);
    if (v->by_steps)
        return steps_run(v->cx, outs, ins, &params);
    collet_error before = *v->err;
    int32_t fallback = v->cx->fallback;
    memcpy(out, outs, program->n_out * sizeof *out);
    memcpy(in, ins, program->n_in * sizeof *in);
    v->cx->fallback = 0;
    collet_status status = collet_call(v->cx, COLLET_OP_EVALUATE, out, in, &params);
    v->cx->fallback = fallback;
    if (status != COLLET_UNSUPPORTED && status != COLLET_REFUSED && status != COLLET_UNAVAILABLE)
        return status;
    *v->err = before;
    return program->reduce || program->n_reductions ? COLLET_REFUSED
                                                    : steps_run(v->cx, outs, ins, &params);
}

static collet_status call_piece(const evaluation *v, const collet_program *program,
                                const plan_piece *piece, collet_array *const *outs,
                                const collet_array *const *ins)
{
    collet_scalar few[FEW], *values = few;
    if (!v->numbers || !program->n_constants)
        return call_program(v, program, piece->values, outs, ins);
    if (program->n_constants > FEW)
        values = malloc(program->n_constants * sizeof *values);
    if (!values)
        return context_fail(v->cx, COLLET_NO_MEMORY, "out of memory for an expression");
    for (uint32_t i = 0; i < program->n_constants; i++)
        values[i] = v->constants[piece->constant[i]];
    collet_status status = call_program(v, program, values, outs, ins);
    if (values != few)
        free(values);
    return status;
}

static int same_shape(const extent *x, int32_t ndim, const int64_t *shape)
{
    return x->ndim == ndim && !memcmp(x->shape, shape, (size_t)ndim * sizeof *shape);
}

/* The arrays that a piece reads, and their broadcast shape. */
static void gather(const evaluation *v, const plan_piece *piece, const collet_array **in,
                   int32_t *ndim, int64_t *shape)
{
    *ndim = 0;
    for (uint32_t i = 0; i < piece->program.n_in; i++) {
        uint32_t k = PLAN_INDEX(piece->in[i]);
        in[i] = PLAN_KIND(piece->in[i]) == PLAN_INPUT ? v->ins[k] : v->steps[k];
        (void)steps_broadcast(shape, ndim, in[i]->shape, in[i]->ndim);
    }
}

/* ---- Several pieces ---------------------------------------------------------------------- */

/* False: an output overlaps an input, so it must be written after the last read of the input. */
static int outputs_are_apart(const evaluation *v)
{
    for (uint32_t k = 0; k < v->g->output_count; k++)
        for (uint32_t i = 0; i < v->g->input_count; i++)
            if (v->ins[i] && array_overlaps(v->outs[k], v->ins[i]))
                return 0;
    return 1;
}

static int is_output(const evaluation *v, const collet_array *a)
{
    for (uint32_t k = 0; k < v->g->output_count; k++)
        if (v->outs[k] == a)
            return 1;
    return 0;
}

static void release_step(evaluation *v, uint32_t step)
{
    if (!is_output(v, v->steps[step]))
        collet_array_destroy(v->steps[step]);
    v->steps[step] = NULL;
}

/* The array for the value of a step: the output that has this value and shape, else a new array. */
static collet_status make_value(evaluation *v, uint32_t step, int32_t ndim, const int64_t *shape,
                                int direct)
{
    collet_status status = COLLET_OK;
    for (uint32_t k = 0; direct && !v->g->reduce && k < v->g->output_count; k++) {
        collet_array *out = v->outs[k];
        if (v->p->outs[k] == step && out->ndim == ndim &&
            !memcmp(out->shape, shape, (size_t)ndim * sizeof *shape))
            v->steps[step] = out;
    }
    if (!v->steps[step])
        status = collet_array_create(v->cx, &v->steps[step], v->p->steps[step].dtype, ndim, shape);
    return status;
}

/* Runs a piece that is a reduction of rows. */
static collet_status reduce_rows(evaluation *v, const plan_piece *piece, int direct)
{
    const plan_step *s = &v->p->steps[piece->first];
    const extent *x = &v->x;
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim, last = x->ndim - 1;
    collet_array *full = NULL;
    const collet_array *in;
    gather(v, piece, &in, &ndim, shape);
    collet_evaluate_params p = {.axes = 1u << (ndim ? ndim - 1 : 0), .keepdims = 1};
    if (s->inputs > 1)
        p.correction = v->numbers ? v->constants[piece->constant[0]].value.f64
                                  : piece->values[0].value.f64;
    collet_status status = COLLET_OK;
    if (!ndim || shape[ndim - 1] != x->shape[last]) {
        status = steps_expand(v->cx, &full, in, x->ndim, x->shape);
        in = full;
        ndim = x->ndim;
        memcpy(shape, x->shape, sizeof shape);
        p.axes = 1u << last;
    }
    shape[ndim - 1] = 1;
    if (status == COLLET_OK)
        status = make_value(v, piece->first, ndim, shape, direct);
    if (status == COLLET_OK)
        status = steps_reduce(v->cx, s->op, v->steps[piece->first], in, &p);
    collet_array_destroy(full);
    return status;
}

static collet_status run_elementwise(evaluation *v, const plan_piece *piece, int direct)
{
    const collet_array *in[COLLET_PROGRAM_INPUTS];
    collet_array *out[COLLET_PROGRAM_OUTPUTS];
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim;
    gather(v, piece, in, &ndim, shape);
    int full = same_shape(&v->x, ndim, shape);
    collet_program program = piece->program;
    if (program.reduce && full && !v->apart) {
        collet_status status = call_piece(v, &program, piece, v->outs, in);
        if (status != COLLET_REFUSED)
            return status;
    }
    if (program.reduce) {
        program.reduce = COLLET_NO_OP;
        program.hash = plan_hash(&program);
    }
    for (uint32_t k = 0; k < program.n_out; k++) {
        collet_status status = make_value(v, piece->out[k], ndim, shape, direct);
        if (status != COLLET_OK)
            return status;
        out[k] = v->steps[piece->out[k]];
    }
    return call_piece(v, &program, piece, out, in);
}

static collet_status run_piece(evaluation *v, uint32_t i, int direct)
{
    const plan_piece *piece = &v->p->pieces[i];
    collet_status status = piece->program.n_reductions ? reduce_rows(v, piece, direct)
                                                       : run_elementwise(v, piece, direct);
    for (uint32_t k = 0; k < piece->program.n_in && status == COLLET_OK; k++)
        if (PLAN_KIND(piece->in[k]) == PLAN_STEP && v->p->last[PLAN_INDEX(piece->in[k])] == i)
            release_step(v, PLAN_INDEX(piece->in[k]));
    return status;
}

static collet_status finish_output(const evaluation *v, uint32_t k)
{
    collet_array *out = v->outs[k], *full = NULL;
    const collet_array *value = v->steps[v->p->outs[k]];
    collet_status status = COLLET_OK;
    if (!value || value == out)
        return COLLET_OK;
    if (!v->g->reduce)
        return collet_call(v->cx, COLLET_OP_COPY, &out, &value, NULL);
    if (!same_shape(&v->x, value->ndim, value->shape)) {
        status = steps_expand(v->cx, &full, value, v->x.ndim, v->x.shape);
        value = full;
    }
    collet_evaluate_params axes = {
        .axes = v->x.axes, .keepdims = (uint32_t)v->g->keepdims, .correction = v->g->correction};
    if (status == COLLET_OK)
        status = steps_reduce(v->cx, v->g->reduce, out, value, &axes);
    collet_array_destroy(full);
    return status;
}

static collet_status run_pieces(evaluation *v)
{
    int direct = outputs_are_apart(v);
    collet_status status = COLLET_OK;
    v->steps = calloc(v->p->step_count + 1u, sizeof *v->steps);
    if (!v->steps)
        return context_fail(v->cx, COLLET_NO_MEMORY, "out of memory for an expression");
    for (uint32_t i = 0; i < v->p->piece_count && status == COLLET_OK; i++)
        status = run_piece(v, i, direct);
    for (uint32_t k = 0; k < v->g->output_count && status == COLLET_OK; k++)
        status = finish_output(v, k);
    for (uint32_t k = 0; k < v->p->step_count; k++)
        if (v->steps[k])
            release_step(v, k);
    free(v->steps);
    return status;
}

/* ---- Evaluation -------------------------------------------------------------------------- */

static collet_status take_inputs(evaluation *v, collet_dtype *dtypes)
{
    for (uint32_t i = 0; i < v->g->input_count; i++) {
        const collet_array *a = v->ins[i];
        if (!a && v->numbers) {
            dtypes[i] = number_key(v->g, i, v->numbers[i].dtype, v->err);
            if (!dtypes[i])
                return COLLET_DTYPE;
            continue;
        }
        if (!a)
            return context_fail(v->cx, COLLET_INVALID, "expression: input %u, %s is NULL", i,
                                v->g->names[i]);
        if (a->storage->runtime != v->cx->runtime)
            return context_fail(v->cx, COLLET_INVALID,
                                "expression: input %u, %s belongs to another runtime", i,
                                v->g->names[i]);
        dtypes[i] = a->dtype;
        collet_status status = extent_add_input(&v->x, v->g, i, a->ndim, a->shape, v->err);
        if (status != COLLET_OK)
            return status;
    }
    return extent_reduce(&v->x, v->g, v->err);
}

/* Makes the outputs that are not given; checks the dtypes and shapes of the others. */
static collet_status check_output_shapes(evaluation *v)
{
    for (uint32_t k = 0; k < v->g->output_count; k++) {
        const collet_array *a = v->outs[k];
        int64_t shape[COLLET_MAX_DIMS];
        int32_t ndim;
        extent_of_output(&v->x, v->p, k, &ndim, shape);
        if (!a) {
            collet_status status =
                collet_array_create(v->cx, &v->outs[k], v->p->out_dtypes[k], ndim, shape);
            if (status != COLLET_OK)
                return status;
            v->made |= (uint64_t)1 << k;
            continue;
        }
        if (a->storage->runtime != v->cx->runtime)
            return context_fail(v->cx, COLLET_INVALID,
                                "expression: output %u belongs to another runtime", k);
        if (a->dtype != v->p->out_dtypes[k])
            return context_fail(v->cx, COLLET_DTYPE, "expression: output %u is %s; it must be %s",
                                k, collet_dtype_name(a->dtype),
                                collet_dtype_name(v->p->out_dtypes[k]));
        if (a->ndim == ndim && !memcmp(a->shape, shape, (size_t)ndim * sizeof *shape))
            continue;
        text_buffer t;
        text_clear(&t);
        text_add_shape(&t, a->ndim, a->shape);
        text_add(&t, "; it must be ");
        text_add_shape(&t, ndim, shape);
        return context_fail(v->cx, COLLET_SHAPE, "expression: output %u is %s", k, t.bytes);
    }
    return COLLET_OK;
}

/* Makes the checks of collet_call for all programs before the first program writes. */
static collet_status check_arrays(evaluation *v)
{
    uint32_t i, k, outs = v->g->output_count;
    collet_status status = extent_check_rows(&v->x, v->p, v->err);
    if (status == COLLET_OK)
        status = check_output_shapes(v);
    if (status != COLLET_OK)
        return status;
    const char *why = array_refused_as_outputs((const collet_array *const *)v->outs, outs, &i, &k);
    if (why && i == k)
        return context_fail(v->cx, COLLET_INVALID, "expression: output %u %s", i, why);
    if (why)
        return context_fail(v->cx, COLLET_INVALID, "expression: outputs %u and %u %s", i, k, why);
    for (k = 0; k < outs + v->g->input_count && status == COLLET_OK; k++) {
        const collet_array *a = k < outs ? v->outs[k] : v->ins[k - outs];
        collet_error busy;
        if (a && a->size)
            status = storage_check_use(a->storage, k < outs ? COLLET_WRITE : COLLET_READ, &busy);
        if (status != COLLET_OK)
            status =
                context_fail(v->cx, status, "expression: %s %u: %s", k < outs ? "output" : "input",
                             k < outs ? k : k - outs, busy.text);
    }
    return status;
}

static collet_status run_plan(evaluation *v)
{
    const collet_array *in[COLLET_PROGRAM_INPUTS];
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim;
    const plan_piece *piece = v->p->rows             ? v->p->rows
                              : v->p->piece_count == 1 ? &v->p->pieces[0]
                                                       : NULL;
    if (piece && !(v->by_steps && piece->program.n_reductions)) {
        gather(v, piece, in, &ndim, shape);
        if (same_shape(&v->x, ndim, shape)) {
            collet_status status = call_piece(v, &piece->program, piece, v->outs, in);
            if ((!piece->program.reduce && !piece->program.n_reductions) || status != COLLET_REFUSED)
                return status;
            v->apart = 1;
        }
    }
    return run_pieces(v);
}

/* Runs the plan with its constants. *misses = 1: nothing was done, because elements are compared with a number that
 * does not fit their dtype. */
static collet_status run(evaluation *v, int *misses)
{
    collet_scalar few[FEW], *values = few;
    *misses = v->p->misses;
    if (*misses || !v->numbers)
        return *misses ? COLLET_OK : run_plan(v);
    if (v->p->constant_count > FEW)
        values = malloc(v->p->constant_count * sizeof *values);
    if (!values)
        return context_fail(v->cx, COLLET_NO_MEMORY, "out of memory for an expression");
    collet_status status = constants_with(v->p, v->g, v->numbers, values, misses, v->err);
    v->constants = values;
    if (status == COLLET_OK && !*misses)
        status = run_plan(v);
    if (values != few)
        free(values);
    return status;
}

collet_status expression_evaluate(collet_context *cx, collet_expression *e,
                                  collet_array **outs, const collet_array *const *ins,
                                  const collet_scalar *numbers, int by_steps)
{
    collet_dtype dtypes[COLLET_EXPRESSION_INPUTS];
    collet_status status;
    evaluation v = {.cx = cx,
                    .err = context_error(cx),
                    .g = &e->graph,
                    .by_steps = by_steps,
                    .outs = outs,
                    .ins = ins,
                    .numbers = numbers};
    status = take_inputs(&v, dtypes);
    for (int beyond = 0, misses = 1; misses && status == COLLET_OK; beyond++) {
        status = expression_plan(e, &v.p, dtypes, beyond, v.err);
        if (status != COLLET_OK)
            break;
        status = check_arrays(&v);
        misses = 0;
        if (status == COLLET_OK)
            status = run(&v, &misses);
        expression_release(e, v.p);
    }
    for (uint32_t k = 0; status != COLLET_OK && k < v.g->output_count; k++)
        if (v.made >> k & 1) {
            collet_array_destroy(outs[k]);
            outs[k] = NULL;
        }
    return status;
}

/* ---- Names ------------------------------------------------------------------------------- */

/* Sets bound[i] to the argument of each input i. */
static collet_status bind(const graph *g, const collet_argument *arguments, uint32_t count,
                          const collet_argument **bound, collet_error *err)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        bound[i] = NULL;
    for (uint32_t k = 0; k < count; k++) {
        const collet_argument *a = &arguments[k];
        const char *name = a->name ? a->name : "";
        uint32_t i = *name ? graph_find(g, name, k) : k;
        if (*name && i == g->input_count)
            return expression_unknown(g, name, err);
        if (i >= g->input_count || (!*name && *g->names[i]))
            return collet_fail(err, COLLET_INVALID,
                               "expression: argument %u has no name, and no input without a name "
                               "has this number",
                               k);
        if (bound[i])
            return collet_fail(err, COLLET_INVALID, "expression: %s is given twice", name);
        if (a->reserved[0] || a->reserved[1])
            return collet_fail(err, COLLET_INVALID, "expression: reserved of argument %u is not 0",
                               k);
        if (!a->array && !a->spec && a->number.dtype == COLLET_DTYPE_NONE)
            return collet_fail(err, COLLET_INVALID,
                               "expression: argument %u, %s has neither an array nor a number", k,
                               name);
        bound[i] = a;
    }
    for (uint32_t i = 0; i < g->input_count; i++)
        if (!bound[i])
            return collet_fail(err, COLLET_INVALID, "expression: no argument for input %u%s%s", i,
                               *g->names[i] ? ", " : "", g->names[i]);
    return COLLET_OK;
}

/* Adds the shape of an input to the extent; sets *dtype, by which its plan is found. */
static collet_status infer_input(extent *x, const graph *g, uint32_t i, const collet_argument *a,
                                 size_t spec_size, collet_dtype *dtype, collet_error *err)
{
    int64_t size;
    const collet_array_spec *spec = a->array ? NULL : a->spec;
    if (!a->array && !spec) {
        *dtype = number_key(g, i, a->number.dtype, err);
        return *dtype ? COLLET_OK : COLLET_DTYPE;
    }
    *dtype = spec ? spec->dtype : a->array->dtype;
    if (!spec)
        return extent_add_input(x, g, i, a->array->ndim, a->array->shape, err);
    collet_status status = struct_elements(spec, 1, spec_size, sizeof *spec, sizeof *spec,
                                           "collet_expression_infer: spec_size", err);
    if (status == COLLET_OK)
        status = shape_check(spec->dtype, spec->ndim, spec->shape, &size, err);
    return status == COLLET_OK ? extent_add_input(x, g, i, spec->ndim, spec->shape, err) : status;
}

/* INVALID if the program has destroyed one of the arrays. */
static collet_status arrays_exist(collet_array *const *outs, uint32_t out_count,
                                  const collet_argument *arguments, uint32_t count,
                                  collet_error *err)
{
    collet_status status = COLLET_OK;
    if (!programs_checked())
        return status;
    for (uint32_t k = 0; k < out_count && status == COLLET_OK; k++)
        status = programs_exists(err, outs[k]);
    for (uint32_t k = 0; k < count && status == COLLET_OK; k++)
        status = programs_exists(err, arguments[k].array);
    return status;
}

collet_status collet_expression_infer(collet_expression *e, collet_array_spec *outs,
                                      size_t spec_size, const collet_argument *arguments,
                                      uint32_t count, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    COLLET_FLOATING_SCOPE;
    const collet_argument *bound[COLLET_EXPRESSION_INPUTS];
    collet_dtype dtypes[COLLET_EXPRESSION_INPUTS];
    extent x = {0};
    plan *p;
    if (!e || !outs || (!arguments && count))
        return collet_fail(err, COLLET_INVALID,
                           "collet_expression_infer: the expression, outs or arguments is NULL");
    const graph *g = &e->graph;
    collet_status status = arrays_exist(NULL, 0, arguments, count, err);
    if (status == COLLET_OK)
        status = struct_elements(NULL, 0, spec_size, sizeof *outs, sizeof *outs,
                                 "collet_expression_infer: spec_size", err);
    if (status == COLLET_OK)
        status = bind(g, arguments, count, bound, err);
    for (uint32_t i = 0; i < g->input_count && status == COLLET_OK; i++)
        status = infer_input(&x, g, i, bound[i], spec_size, &dtypes[i], err);
    if (status == COLLET_OK)
        status = extent_reduce(&x, g, err);
    if (status == COLLET_OK)
        status = expression_plan(e, &p, dtypes, 0, err);
    if (status != COLLET_OK)
        return status;
    status = extent_check_rows(&x, p, err);
    for (uint32_t k = 0; k < g->output_count && status == COLLET_OK; k++) {
        int64_t size;
        status = shape_check(p->out_dtypes[k], x.out_ndim, x.out, &size, err);
    }
    for (uint32_t k = 0; k < g->output_count && status == COLLET_OK; k++) {
        collet_array_spec out = {.dtype = p->out_dtypes[k]};
        extent_of_output(&x, p, k, &out.ndim, out.shape);
        struct_element_out(outs, spec_size, k, &out, sizeof out);
    }
    expression_release(e, p);
    return status;
}

collet_status collet_expression_evaluate(collet_context *cx, collet_expression *e,
                                         collet_array **outs, const collet_argument *arguments,
                                         uint32_t count)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, e);
    COLLET_FLOATING_SCOPE;
    const collet_argument *bound[COLLET_EXPRESSION_INPUTS];
    const collet_array *ins[COLLET_EXPRESSION_INPUTS];
    collet_scalar numbers[COLLET_EXPRESSION_INPUTS];
    int any = 0;
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    if (!e || !outs || (!arguments && count))
        return context_fail(cx, COLLET_INVALID,
                            "collet_expression_evaluate: the expression, outs or arguments is NULL");
    status = arrays_exist(outs, e->graph.output_count, arguments, count, context_error(cx));
    if (status == COLLET_OK)
        status = bind(&e->graph, arguments, count, bound, context_error(cx));
    for (uint32_t i = 0; i < e->graph.input_count && status == COLLET_OK; i++) {
        ins[i] = bound[i]->array;
        if (!ins[i] && bound[i]->spec)
            status = context_fail(cx, COLLET_INVALID,
                                  "expression: input %u, %s is a spec, which has no elements", i,
                                  e->graph.names[i]);
        if (!ins[i])
            numbers[i] = bound[i]->number;
        any |= !ins[i];
    }
    return status == COLLET_OK ? expression_evaluate(cx, e, outs, ins, any ? numbers : NULL, 0)
                               : status;
}
