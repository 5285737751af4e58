/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_evaluate.c */
#include "program.h"

#include <collet/collet.h>
#include <string.h>

#include "elementwise.h"
#include "signature.h"
#include "util/struct.h"

/* The ops of the family array, except the elementwise functions. */
static const struct {
    const char *name, *rule, *sigs;
} array_ops[] = {
#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, ...) [id] = {#name, #rule, sigs},
#define COLLET_ELEMENTWISE(...)
#include <collet/ops/begin.def>
#include <collet/ops/array.def>

#include <collet/ops/end.def>
};

#define ARRAY_OPS (uint32_t)(sizeof array_ops / sizeof *array_ops)

int program_is_reduction(uint32_t id)
{
    return id < ARRAY_OPS && array_ops[id].rule && !strncmp(array_ops[id].rule, "reduce", 6);
}

int program_reduces_some(uint32_t id)
{
    return program_is_reduction(id) && !strcmp(array_ops[id].rule, "reduce_some");
}

int program_corrects(uint32_t id)
{
    return id == COLLET_OP_VAR || id == COLLET_OP_STD;
}

const char *program_reduction_name(uint32_t id)
{
    return array_ops[id].name;
}

uint32_t program_reduction(const char *name, size_t length)
{
    for (uint32_t id = 0; id < ARRAY_OPS; id++)
        if (program_is_reduction(id) && strlen(array_ops[id].name) == length &&
            !memcmp(array_ops[id].name, name, length))
            return id;
    return COLLET_NO_OP;
}

/* The dtype of output 0 of the first signature "o:i" that fits. */
static collet_dtype result_of(uint32_t id, collet_dtype in, collet_dtype given)
{
    for (const char *s = array_ops[id].sigs; *s; s += strspn(s, " ")) {
        collet_dtype out = given ? given : op_letter_dtype(*s) ? op_letter_dtype(*s) : in;
        if (op_letter_fits(s[0], out, out) && op_letter_fits(s[2], in, out))
            return out;
        s += strcspn(s, " ");
    }
    return COLLET_DTYPE_NONE;
}

collet_dtype program_reduced(uint32_t id, collet_dtype dtype, collet_dtype given)
{
    return program_is_reduction(id) ? result_of(id, dtype, given) : COLLET_DTYPE_NONE;
}

int program_converts(collet_dtype to, collet_dtype from)
{
    return result_of(COLLET_OP_COPY, from, to) != COLLET_DTYPE_NONE;
}

#define REFUSE(...) collet_fail(err, COLLET_INVALID, "evaluate: " __VA_ARGS__)

static collet_status check_head(const collet_program *p, collet_error *err)
{
    if (!p)
        return REFUSE("program is NULL");
    if (p->struct_size < sizeof *p)
        return REFUSE("struct_size of the program is %u; set it to %zu", p->struct_size, sizeof *p);
    if (p->n_in > COLLET_PROGRAM_INPUTS || !p->n_out || p->n_out > COLLET_PROGRAM_OUTPUTS ||
        p->n_constants > COLLET_PROGRAM_CONSTANTS || p->n_steps > COLLET_PROGRAM_STEPS)
        return REFUSE("the program has %u inputs, %u constants, %u steps and %u outputs; at most "
                      "%d, %d, %d and 1 to %d are supported",
                      p->n_in, p->n_constants, p->n_steps, p->n_out, COLLET_PROGRAM_INPUTS,
                      COLLET_PROGRAM_CONSTANTS, COLLET_PROGRAM_STEPS, COLLET_PROGRAM_OUTPUTS);
    if ((p->n_in + p->n_constants && !p->dtypes) || (p->n_steps && !p->steps) || !p->outs)
        return REFUSE("dtypes, steps or outs of the program is NULL");
    if (p->reduce && !program_is_reduction(p->reduce))
        return REFUSE("reduce of the program is %u, which is not a reduction", p->reduce);
    if (p->reserved)
        return REFUSE("reserved of the program is not 0");
    if (p->reduce && p->n_reductions)
        return REFUSE("the program has both `reduce` and %u steps that reduce", p->n_reductions);
    return COLLET_OK;
}

/* Checks a step that reduces; its operands exist. */
static collet_status check_reduction(const collet_program *p, const collet_step *s, uint32_t k,
                                     const uint8_t *dtypes, const uint8_t *shapes,
                                     collet_error *err)
{
    collet_dtype of = dtypes[s->in[0]];
    if (shapes[s->in[0]] != PROGRAM_FULL)
        return REFUSE("step %u reduces %s; it must reduce a value of the full shape", k,
                      shapes[s->in[0]] ? "a value with one element per row" : "a constant");
    if (program_corrects(s->op) &&
        (s->in[1] < p->n_in || s->in[1] >= p->n_in + p->n_constants || dtypes[s->in[1]] != COLLET_F64))
        return REFUSE("in[1] of step %u, the correction of %s, is not a constant of dtype f64", k,
                      program_reduction_name(s->op));
    return s->dtype && program_reduced(s->op, of, s->dtype) == s->dtype
               ? COLLET_OK
               : collet_fail(err, COLLET_DTYPE, "evaluate: step %u, %s of %s, cannot give %s", k,
                             program_reduction_name(s->op), collet_dtype_name(of),
                             collet_dtype_name(s->dtype));
}

static uint32_t inputs_of(const collet_step *s)
{
    const elementwise *e = elementwise_of(s->op);
    return e ? e->inputs : program_corrects(s->op) ? 2 : 1;
}

static collet_status check_step(const collet_program *p, uint32_t k, uint32_t values,
                                const uint8_t *dtypes, const uint8_t *shapes, collet_error *err)
{
    const collet_step *s = collet_program_step(p, k);
    const elementwise *e = elementwise_of(s->op);
    uint32_t inputs = inputs_of(s);
    if (!e && s->op != COLLET_OP_COPY && !(p->n_reductions && program_is_reduction(s->op)))
        return REFUSE("step %u has the op %u, which is neither elementwise nor copy%s", k, s->op,
                      program_is_reduction(s->op) ? "; n_reductions must count steps that reduce"
                                                  : "");
    if (s->reserved)
        return REFUSE("reserved of step %u is not 0", k);
    for (uint32_t i = 0; i < inputs; i++)
        if (s->in[i] >= values)
            return REFUSE("step %u uses the value %u; there are %u before it", k, s->in[i], values);
    for (uint32_t i = inputs; i < 3; i++)
        if (s->in[i])
            return REFUSE("in[%u] of step %u is %u, but its op takes %u operands; set it to 0", i,
                          k, s->in[i], inputs);
    if (program_is_reduction(s->op))
        return check_reduction(p, s, k, dtypes, shapes, err);
    collet_dtype last = dtypes[s->in[inputs - 1]];
    int fits = e ? elementwise_result(e, last) == s->dtype && s->dtype != COLLET_DTYPE_NONE
                 : collet_dtype_size(s->dtype) && program_converts(s->dtype, last);
    for (uint32_t i = 0; e && i < inputs; i++)
        fits &= dtypes[s->in[i]] == elementwise_operand(e, last, i);
    return fits ? COLLET_OK
                : collet_fail(err, COLLET_DTYPE,
                              "evaluate: step %u, %s of %s, cannot give %s or has operands of "
                              "other dtypes",
                              k, e ? e->name : "copy", collet_dtype_name(last),
                              collet_dtype_name(s->dtype));
}

static uint8_t shape_of(const collet_step *s, const uint8_t *shapes)
{
    uint8_t shape = PROGRAM_NUMBER;
    if (program_is_reduction(s->op))
        return PROGRAM_NARROW;
    for (uint32_t i = 0; i < inputs_of(s); i++)
        shape = shapes[s->in[i]] > shape ? shapes[s->in[i]] : shape;
    return shape;
}

collet_status program_check(const collet_program *p, uint8_t dtypes[PROGRAM_VALUES],
                            uint8_t shapes[PROGRAM_VALUES], collet_error *err)
{
    collet_status status = check_head(p, err);
    if (status == COLLET_OK)
        status = struct_elements(p->steps, p->n_steps, p->step_size, sizeof *p->steps,
                                 sizeof *p->steps, "evaluate: step_size", err);
    if (status != COLLET_OK)
        return status;
    uint32_t values = p->n_in + p->n_constants, reductions = 0;
    for (uint32_t i = 0; i < values; i++) {
        if (!collet_dtype_size(p->dtypes[i]))
            return REFUSE("dtype %u of the program is %d, which is not a dtype", i, p->dtypes[i]);
        dtypes[i] = (uint8_t)p->dtypes[i];
        shapes[i] = i < p->n_in ? PROGRAM_FULL : PROGRAM_NUMBER;
    }
    for (uint32_t k = 0; k < p->n_steps && status == COLLET_OK; k++) {
        const collet_step *s = collet_program_step(p, k);
        status = check_step(p, k, values, dtypes, shapes, err);
        if (status != COLLET_OK)
            return status;
        reductions += (uint32_t)program_is_reduction(s->op);
        shapes[values] = shape_of(s, shapes);
        dtypes[values++] = (uint8_t)s->dtype;
    }
    if (reductions != p->n_reductions)
        return REFUSE("n_reductions of the program is %u, but %u of its steps reduce",
                      p->n_reductions, reductions);
    for (uint32_t i = 0; i < p->n_out && status == COLLET_OK; i++)
        if (p->outs[i] < p->n_in)
            status = REFUSE("output %u is an input; add a step that copies it", i);
        else if (p->outs[i] >= values)
            status = REFUSE("output %u is the value %u; the program has %u", i, p->outs[i], values);
    return status;
}
