/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c, tests/core/test_expression_numbers.c */
#include "values.h"

#include <stdlib.h>
#include <string.h>

#include "op/program.h"

#define SEARCHED 64 /* number of latest steps that are searched for an equal step */

collet_status value_no_memory(compiler *c)
{
    return collet_fail(c->err, COLLET_NO_MEMORY, "out of memory for an expression");
}

/* Makes room for one more element. */
static int room(void **array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return 1;
    void *more = realloc(*array, (*capacity ? 2 * (size_t)*capacity : 32) * size);
    if (!more)
        return 0;
    *array = more;
    *capacity = *capacity ? 2 * *capacity : 32;
    return 1;
}

collet_status value_constant(compiler *c, const plan_constant *k, typed *out)
{
    plan *p = c->p;
    uint32_t i = 0;
    while (i < p->constant_count && memcmp(&p->constants[i], k, sizeof *k) != 0)
        i++;
    if (i == p->constant_count) {
        if (!room((void **)&p->constants, i, &p->constant_capacity, sizeof *p->constants))
            return value_no_memory(c);
        p->constants[p->constant_count++] = *k;
    }
    *out = (typed){.id = PLAN_CONSTANT | i, .dtype = k->dtype};
    return COLLET_OK;
}

uint8_t value_shape(const plan *p, uint32_t id)
{
    return PLAN_KIND(id) == PLAN_INPUT  ? PROGRAM_FULL
           : PLAN_KIND(id) == PLAN_STEP ? p->steps[PLAN_INDEX(id)].shape
                                        : PROGRAM_NUMBER;
}

static uint8_t shape_of(const plan *p, const plan_step *s)
{
    uint8_t shape = PROGRAM_NUMBER;
    if (program_is_reduction(s->op))
        return PROGRAM_NARROW;
    for (uint32_t i = 0; i < s->inputs; i++)
        if (value_shape(p, s->in[i]) > shape)
            shape = value_shape(p, s->in[i]);
    return shape;
}

collet_status value_own_step(compiler *c, const plan_step *s, typed *out)
{
    plan *p = c->p;
    if (!room((void **)&p->steps, p->step_count, &p->step_capacity, sizeof *p->steps))
        return value_no_memory(c);
    *out = (typed){.id = PLAN_STEP | p->step_count, .dtype = s->dtype};
    p->steps[p->step_count] = *s;
    p->steps[p->step_count++].shape = shape_of(p, s);
    p->reductions += (uint32_t)program_is_reduction(s->op);
    return COLLET_OK;
}

collet_status value_step(compiler *c, const plan_step *s, typed *out)
{
    const plan *p = c->p;
    for (uint32_t back = 1; back <= SEARCHED && back <= p->step_count; back++) {
        const plan_step *other = &p->steps[p->step_count - back];
        if (other->op == s->op && other->dtype == s->dtype &&
            !memcmp(other->in, s->in, sizeof s->in)) {
            *out = (typed){.id = PLAN_STEP | (p->step_count - back), .dtype = s->dtype};
            return COLLET_OK;
        }
    }
    return value_own_step(c, s, out);
}

collet_status value_range(compiler *c, const plan_range *r, uint32_t *number)
{
    plan *p = c->p;
    if (!room((void **)&p->ranges, p->range_count, &p->range_capacity, sizeof *p->ranges))
        return value_no_memory(c);
    *number = PLAN_STEP | p->range_count;
    p->ranges[p->range_count++] = *r;
    return COLLET_OK;
}

/* ---- Conversion -------------------------------------------------------------------------- */

static collet_status check_fits(compiler *c, uint32_t number, collet_dtype dtype)
{
    plan *p = c->p;
    if (!room((void **)&p->checks, p->check_count, &p->check_capacity, sizeof *p->checks))
        return value_no_memory(c);
    p->checks[p->check_count++] = (plan_check){PLAN_INDEX(number), dtype};
    return COLLET_OK;
}

static collet_status convert_ready(compiler *c, const typed *v, collet_dtype dtype, typed *out)
{
    *out = *v;
    out->weak = 0;
    if (v->dtype == dtype)
        return COLLET_OK;
    if (program_converts(dtype, v->dtype))
        return value_step(c, &(plan_step){COLLET_OP_COPY, 1, {v->id}, dtype, 0}, out);
    return collet_fail(c->err, COLLET_DTYPE, "%s cannot be converted to %s; take real() or imag()",
                       collet_dtype_name(v->dtype), collet_dtype_name(dtype));
}

/* Adds the steps of a TYPED_SELECTED value: converts its operands and applies its function. Functions other than
 * `where` are computed in i64, which must hold the result. */
static collet_status compute_selected(compiler *c, const typed *v, collet_dtype dtype, typed *out)
{
    const node *n = &c->g->nodes[v->node];
    int selects = n->op == COLLET_OP_WHERE;
    plan_step s = {.op = n->op, .inputs = n->count, .dtype = selects ? dtype : COLLET_I64};
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < n->count && status == COLLET_OK; i++) {
        typed in;
        status = value_convert(c, &c->values[n->in[i]], selects && !i ? COLLET_BOOL : s.dtype, &in);
        s.in[i] = in.id;
    }
    if (status == COLLET_OK && !selects)
        status = check_fits(c, v->number, COLLET_I64);
    if (status == COLLET_OK && !selects && literal_has_integers(dtype) && dtype != COLLET_I64)
        status = check_fits(c, v->number, dtype);
    if (status == COLLET_OK)
        status = value_step(c, &s, out);
    return status == COLLET_OK ? convert_ready(c, out, dtype, out) : status;
}

/* Keeps the value in i64 and in one other dtype; otherwise values of nested functions would be computed again and
 * again. */
static collet_status convert_selected(compiler *c, const typed *v, collet_dtype dtype, typed *out)
{
    typed *own = &c->values[v->node];
    uint32_t k = dtype != COLLET_I64;
    if (own->made[k].dtype == dtype) {
        *out = (typed){.id = own->made[k].id, .dtype = dtype};
        return COLLET_OK;
    }
    collet_status status = compute_selected(c, v, dtype, out);
    own->made[k].dtype = dtype;
    own->made[k].id = out->id;
    return status;
}

collet_status value_convert(compiler *c, const typed *v, collet_dtype dtype, typed *out)
{
    if (v->form == TYPED_NUMBER)
        return value_constant(c, &(plan_constant){v->number, dtype, COLLET_NO_OP, 0}, out);
    return v->form == TYPED_SELECTED ? convert_selected(c, v, dtype, out)
                                     : convert_ready(c, v, dtype, out);
}
