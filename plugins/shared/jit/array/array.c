/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/array.c, conformance/array/elementwise.c */
#include "array.h"

#include <string.h>

#include "shared/host/util/convert.h"
#include "shared/jit/runtime/view.h"
#include "reduce.h"
#include "row_program.h"
#include "steps.h"

static const jit_source source = {.name = "elementwise", .make = jit_steps_texts};

/* ---- Programs -------------------------------------------------------------------------------- */

/* A call without the operands that its program does not use. */
typedef struct packed_call {
    collet_kernel_call call;
    collet_operand operands[STEPS_OPERANDS];
    int flat;
} packed_call;

static void pack(packed_call *packed, const collet_kernel_call *call, const collet_program *p)
{
    packed->call = *call;
    packed->call.n_out = p->n_out;
    packed->call.n_in = p->n_in;
    packed->call.operands = packed->operands;
    packed->call.operand_size = sizeof *packed->operands;
    packed->flat = 1;
    for (uint32_t i = 0; i < p->n_out + p->n_in; i++) {
        uint32_t from = i < p->n_out ? i : call->n_out + i - p->n_out;
        packed->operands[i] = *operand_of(call, from);
        packed->flat = packed->flat && jit_contiguous(&packed->operands[i]);
    }
}

/* Runs a program. `constants` are the constants of the program, in its dtypes. */
static collet_status run(collet_device *device, collet_queue *queue, const collet_kernel_call *call,
                         const collet_program *p, const collet_scalar *constants)
{
    jit_sequence s = jit_sequence_of(device, queue, call);
    char options[STEPS_OPTIONS];
    uint32_t words[STEPS_WORDS];
    packed_call packed;
    jit_launch l;
    jit_view view;
    uint64_t groups;
    pack(&packed, call, p);
    jit_steps_options(options, p);
    jit_launch_begin(&l, &source, options, packed.flat ? "flat" : "strided");
    l.made_of = p;
    jit_pass_operands(&l, &packed.call, p->n_out + p->n_in);
    jit_steps_pass(&s, &l, p, constants, 0, words);
    if (packed.flat) {
        uint64_t n = (uint64_t)operand_count(packed.operands);
        uint32_t chunk = jit_steps_chunk(p), each = s.traits->per_item;
        groups = jit_ceiling(n, (uint64_t)s.traits->group * (chunk > each ? chunk : each));
        jit_pass_i64(&l, (int64_t)n);
    } else {
        groups = jit_view_of(&view, s.traits, &packed.call, p->n_out + p->n_in);
        jit_pass_view(&l, &view, p->n_out + p->n_in);
    }
    jit_sequence_enqueue(&s, &l, groups);
    return s.status;
}

/* ---- Ops of one or two steps ----------------------------------------------------------------- */

/* Converts as `copy` does. */
static collet_scalar converted(const collet_scalar *from, collet_dtype dtype)
{
    collet_scalar to = {.dtype = dtype};
    cpu_convert((char *)to.value.bytes, dtype, 0, (const char *)from->value.bytes, from->dtype, 0,
                1);
    return to;
}

JIT_KERNEL(elementwise)
{
    collet_dtype dtypes[3];
    collet_step step = {.op = call->op, .dtype = operand_of(call, 0)->dtype};
    for (uint16_t i = 0; i < call->n_in; i++) {
        dtypes[i] = operand_of(call, 1u + i)->dtype;
        step.in[i] = i;
    }
    const uint16_t out = (uint16_t)call->n_in;
    const collet_program p = {.n_in = call->n_in,
                              .n_steps = 1,
                              .n_out = 1,
                              .step_size = sizeof step,
                              .dtypes = dtypes,
                              .steps = &step,
                              .outs = &out};
    return run(device, queue, call, &p, NULL);
}

/* The product is rounded before it is added. */
JIT_KERNEL(axpy)
{
    const collet_axpy_params *params = call->params;
    const collet_dtype dtype = operand_of(call, 0)->dtype, dtypes[] = {dtype, dtype, dtype};
    const collet_step steps[] = {{.op = COLLET_OP_MUL, .dtype = dtype, .in = {2, 0}},
                                 {.op = COLLET_OP_ADD, .dtype = dtype, .in = {3, 1}}};
    const uint16_t out = 4;
    const collet_program p = {.n_in = 2,
                              .n_constants = 1,
                              .n_steps = 2,
                              .n_out = 1,
                              .step_size = sizeof *steps,
                              .constant_size = sizeof(collet_scalar),
                              .dtypes = dtypes,
                              .steps = steps,
                              .outs = &out};
    const collet_scalar alpha = converted(&params->alpha, dtype);
    return run(device, queue, call, &p, &alpha);
}

/* One program for all dtypes of a size. */
static collet_dtype moved(collet_dtype dtype)
{
    static const collet_dtype by_size[17] = {
        [1] = COLLET_U8, [2] = COLLET_U16, [4] = COLLET_U32, [8] = COLLET_U64, [16] = COLLET_C128};
    return by_size[cpu_dtype_size(dtype)];
}

JIT_KERNEL(fill)
{
    const collet_fill_params *params = call->params;
    const collet_dtype dtype = operand_of(call, 0)->dtype, bits = moved(dtype);
    const uint16_t out = 0;
    const collet_program p = {.n_constants = 1,
                              .n_out = 1,
                              .constant_size = sizeof(collet_scalar),
                              .dtypes = &bits,
                              .outs = &out};
    const collet_scalar value = converted(&params->value, dtype);
    return run(device, queue, call, &p, &value);
}

JIT_KERNEL(copy)
{
    const collet_dtype to = operand_of(call, 0)->dtype, from = operand_of(call, 1)->dtype;
    const collet_dtype dtype = to == from ? moved(from) : from;
    const collet_step step = {.op = COLLET_OP_COPY, .dtype = to};
    const uint16_t out = to != from;
    const collet_program p = {.n_in = 1,
                              .n_steps = out,
                              .n_out = 1,
                              .step_size = sizeof step,
                              .dtypes = &dtype,
                              .steps = &step,
                              .outs = &out};
    return run(device, queue, call, &p, NULL);
}

/* ---- evaluate -------------------------------------------------------------------------------- */

/* Bytes of the arguments of a kernel. */
static uint64_t argument_bytes(const collet_kernel_call *call, const collet_program *p)
{
    packed_call packed;
    uint32_t operands = p->n_out + p->n_in;
    pack(&packed, call, p);
    return 16 * operands + jit_steps_passed(p) +
           (packed.flat ? sizeof(int64_t) : jit_view_bytes(operands));
}

JIT_ACCEPTS(evaluate)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *p = params->program;
    const jit_traits *t = jit_traits_of(device);
    char why[STEPS_WHY];
    if (!jit_steps_offered(p, t, why))
        return jit_host(device)->fail(call->err, COLLET_REFUSED, "evaluate: %s", why);
    if (p->n_reductions)
        return jit_row_program_accepts(device, call, workspace_bytes);
    *workspace_bytes = p->reduce ? 0 : jit_steps_scratch(p);
    return p->reduce ? jit_reduce_program_accepts(device, call, workspace_bytes)
                     : jit_steps_fit(device, call, argument_bytes(call, p));
}

JIT_KERNEL(evaluate)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *p = params->program;
    return p->n_reductions ? jit_row_program(device, queue, call)
           : p->reduce     ? jit_reduce_program(device, queue, call)
                           : run(device, queue, call, p, params->constants);
}
