/* SPDX-License-Identifier: Apache-2.0 */
/* array: programs of elementwise functions.
 * Tests: tests/core/test_evaluate.c, tests/cpu_openmp/test_machine.c */
#include "machine.h"

#include <math.h>

#include "reduce.h"
#include "row_program.h"
#include "shared/host/util/counts.h"
#include "shared/host/util/operand.h"

#define LINE 64

/* Number of buffers per thread that fit into the L1 cache together with the operands. */
#define FEW_BUFFERS 8

/* No value. */
#define NONE UINT32_MAX

/* The operands that a program has, without absent operands. */
typedef struct packed_call {
    collet_operand operand[COLLET_PROGRAM_OUTPUTS + COLLET_PROGRAM_INPUTS];
    collet_kernel_call call;
} packed_call;

static void pack(packed_call *p, const collet_kernel_call *call, const collet_program *program)
{
    for (uint32_t k = 0; k < program->n_out; k++)
        p->operand[k] = *operand_of(call, k);
    for (uint32_t k = 0; k < program->n_in; k++)
        p->operand[program->n_out + k] = *operand_of(call, call->n_out + k);
    p->call = *call;
    p->call.operands = p->operand;
    p->call.operand_size = sizeof p->operand[0];
    p->call.n_out = program->n_out;
    p->call.n_in = program->n_in;
}

static int64_t steps_bytes(const collet_program *program)
{
    uint64_t most = MACHINE_STEPS(program->n_steps + program->n_constants);
    return divide_up((int64_t)(most * sizeof(machine_step)), LINE) * LINE;
}

static machine machine_of(const collet_device *device, const collet_evaluate_params *params)
{
    return (machine){.device = device,
                     .program = params->program,
                     .constants = params->constants,
                     .few = FEW_BUFFERS};
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* Outputs of a program that are computed only to be reduced. Each piece is reduced as soon as it is computed. */
typedef struct reduced_outputs {
    packed_call packed; /* a call of the program with only these outputs, in C order */
    collet_program program;
    machine m;
    collet_kernel_call call; /* the call of the reduction */
    collet_operand operand[COLLET_PROGRAM_OUTPUTS + 1];
    int computed; /* 0: there is one output, and it equals an input */
    int skip_nan; /* the output equals an input except for NaN, which the reduction ignores */
    collet_variance_params params;
    int64_t strides[COLLET_MAX_DIMS];
    int64_t thread_bytes;
} reduced_outputs;

static int is_reduced(const collet_program *p, uint32_t k)
{
    (void)k;
    return p->reduce != COLLET_OP_ARGMIN && p->reduce != COLLET_OP_ARGMAX && p->n_in > 0;
}

/* Whether value `index` is a constant that equals `number`. */
static int is_constant(const collet_evaluate_params *params, uint32_t index, double number)
{
    const collet_program *p = params->program;
    if (index < p->n_in || index >= p->n_in + p->n_constants)
        return 0;
    const collet_scalar *c = collet_program_constant(p, params->constants, index - p->n_in);
    return (c->dtype == COLLET_F64 && c->value.f64 == number) ||
           (c->dtype == COLLET_F32 && (double)c->value.f32 == number);
}

/* Returns x if `s` is where(isnan(x), c, x) and the program reduces by max or min, whose result for no elements is c;
 * otherwise returns NONE. */
static uint32_t without_nan(const collet_evaluate_params *params, const collet_step *s)
{
    const collet_program *p = params->program;
    uint32_t first_step = p->n_in + p->n_constants, x = s->in[2];
    double nothing = p->reduce == COLLET_OP_MAX ? -(double)INFINITY : (double)INFINITY;
    if ((p->reduce != COLLET_OP_MAX && p->reduce != COLLET_OP_MIN) || s->op != COLLET_OP_WHERE ||
        (s->dtype != COLLET_F32 && s->dtype != COLLET_F64) ||
        collet_program_dtype(p, x) != s->dtype || s->in[0] < first_step ||
        !is_constant(params, s->in[1], nothing))
        return NONE;
    const collet_step *test = collet_program_step(p, s->in[0] - first_step);
    return test->op == COLLET_OP_ISNAN && test->in[0] == x ? x : NONE;
}

/* The input that output k equals, if the input has these strides (C order). NULL: output k must be computed.
 * *skip_nan: as in reduced_outputs. */
static const collet_operand *copied_input(const collet_kernel_call *call, uint32_t k,
                                          const int64_t *strides, int *skip_nan)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *program = params->program;
    uint32_t value = program->outs[k], first_step = program->n_in + program->n_constants;
    *skip_nan = 0;
    if (value >= first_step) {
        const collet_step *s = collet_program_step(program, value - first_step);
        int copies = s->op == COLLET_OP_COPY && collet_program_dtype(program, s->in[0]) == s->dtype;
        value = copies ? s->in[0] : without_nan(params, s);
        *skip_nan = !copies;
    }
    if (value >= program->n_in)
        return NULL;
    const collet_operand *in = operand_of(call, call->n_out + value);
    for (int32_t i = 0; i < in->ndim; i++)
        if (in->strides[i] != strides[i] && in->shape[i] != 1)
            return NULL;
    return in;
}

/* Makes r->call reduce output k and as many of the outputs after it as one run can reduce. */
static void set_call(reduced_outputs *r, const collet_device *device,
                     const collet_kernel_call *call, uint32_t k)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *program = params->program;
    const collet_operand *in = operand_of(call, call->n_out);
    collet_dtype dtype = collet_program_dtype(program, program->outs[k]);
    uint32_t count = 1;
    r->params = (collet_variance_params){.struct_size = sizeof r->params,
                                         .axes = params->axes,
                                         .keepdims = params->keepdims,
                                         .correction = params->correction};
    r->call = *call;
    r->call.op = program->reduce;
    r->call.n_in = 1;
    r->call.operands = r->operand;
    r->call.operand_size = sizeof r->operand[0];
    r->call.params = &r->params;
    while (k + count < program->n_out &&
           collet_program_dtype(program, program->outs[k + count]) == dtype)
        count++;
    int64_t step = 1;
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        r->strides[i] = step;
        step *= in->shape[i];
    }
    const collet_operand *copied = copied_input(call, k, r->strides, &r->skip_nan);
    r->computed = !copied;
    count = copied ? 1 : count;
    for (;; count = 1) {
        for (uint32_t i = 0; i < count; i++)
            r->operand[i] = *operand_of(call, k + i);
        r->operand[count] = (collet_operand){
            .dtype = dtype, .ndim = in->ndim, .shape = in->shape, .strides = r->strides};
        if (copied)
            r->operand[count] = *copied;
        r->call.n_out = count;
        if (count == 1 || reduce_together(device, &r->call))
            return;
    }
}

/* Prepares the reduction of outputs from k on; `at` is memory of the workspace, or NULL. */
static void reduced_outputs_init(reduced_outputs *r, const collet_device *device,
                                 const collet_kernel_call *call, uint32_t k, void *at)
{
    const collet_evaluate_params *params = call->params;
    set_call(r, device, call, k);
    if (!r->computed)
        return;
    r->program = *params->program;
    r->program.outs += k;
    r->program.n_out = r->call.n_out;
    pack(&r->packed, call, &r->program);
    for (uint32_t i = 0; i < r->call.n_out; i++) {
        r->packed.operand[i] = r->operand[r->call.n_out];
        r->packed.operand[i].buffer = at;
    }
    r->m = machine_of(device, params);
    r->m.program = &r->program;
    r->m.in_order = r->m.read_soon = 1;
    machine_prepare(&r->m, &r->packed.call, at);
    r->thread_bytes = machine_memory(&r->m) + r->call.n_out * (int64_t)MACHINE_STAGE;
}

static void compute(const void *context, int32_t thread, int64_t begin, int64_t end, char *out)
{
    const reduced_outputs *r = context;
    machine_range(&r->m, r->m.memory + thread * r->thread_bytes, begin, end, out, REDUCE_CAPACITY);
}

/* The workspace holds the steps, the machine's memory, the buffers of the reduction, and the workspace of the
 * reduction's call. */
static uint64_t reduced_bytes(const collet_device *device, const collet_kernel_call *call)
{
    const collet_evaluate_params *params = call->params;
    int64_t most = 0;
    reduced_outputs r;
    for (uint32_t k = 0; k < params->program->n_out; k += r.call.n_out) {
        reduced_outputs_init(&r, device, call, k, NULL);
        int64_t scratch = r.thread_bytes + r.call.n_out * (int64_t)REDUCE_CAPACITY;
        int64_t bytes =
            (r.computed ? device->threads * scratch : 0) + reduce_workspace(device, &r.call);
        most = bytes > most ? bytes : most;
    }
    return (uint64_t)(steps_bytes(params->program) + most);
}

static void reduce_outputs(collet_device *device, const collet_kernel_call *call)
{
    const collet_evaluate_params *params = call->params;
    reduced_outputs r;
    for (uint32_t k = 0; k < params->program->n_out; k += r.call.n_out) {
        reduced_outputs_init(&r, device, call, k, call->workspace);
        if (!r.computed) {
            r.call.workspace = call->workspace;
            reduce_run(device, &r.call, NULL, r.skip_nan);
            continue;
        }
        r.m.memory = (char *)call->workspace + steps_bytes(params->program);
        char *scratch = r.m.memory + device->threads * r.thread_bytes;
        const reduce_source source = {compute, &r, scratch};
        r.call.workspace = scratch + device->threads * (r.call.n_out * (int64_t)REDUCE_CAPACITY);
        reduce_run(device, &r.call, &source, 0);
    }
}

/* ---- The op ---------------------------------------------------------------------------------- */

ACCEPTS(evaluate)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *program = params->program;
    for (uint32_t k = 0; program->reduce && k < program->n_out; k++) {
        if (!is_reduced(program, k) || operand_count(operand_of(call, call->n_out)) == 1)
            return device->base.host->fail(call->err, COLLET_REFUSED,
                                           "evaluate: cpu_openmp does not reduce output %u in the "
                                           "same pass; call the reduction",
                                           k);
    }
    if (program->reduce) {
        *workspace_bytes = reduced_bytes(device, call);
        return COLLET_OK;
    }
    if (program->n_reductions) {
        const char *why = row_program_accepts(device, call, workspace_bytes);
        return why ? device->base.host->fail(call->err, COLLET_REFUSED,
                                             "evaluate: cpu_openmp does not reduce rows among other "
                                             "steps here (%s); call the ops",
                                             why)
                   : COLLET_OK;
    }
    packed_call packed;
    machine m = machine_of(device, params);
    pack(&packed, call, program);
    machine_prepare(&m, &packed.call, NULL);
    *workspace_bytes = (uint64_t)(steps_bytes(program) + device->threads * machine_memory(&m));
    return COLLET_OK;
}

KERNEL(evaluate)
{
    const collet_evaluate_params *params = call->params;
    if (params->program->reduce) {
        reduce_outputs(device, call);
        return COLLET_OK;
    }
    if (params->program->n_reductions) {
        row_program_run(device, call);
        return COLLET_OK;
    }
    packed_call packed;
    machine m = machine_of(device, params);
    pack(&packed, call, params->program);
    machine_prepare(&m, &packed.call, call->workspace);
    m.memory = (char *)call->workspace + steps_bytes(params->program);
    machine_run(&m);
    return COLLET_OK;
}
