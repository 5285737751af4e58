/* SPDX-License-Identifier: Apache-2.0 */
/* array: elementwise ops.
 * Tests: conformance/array/elementwise.c, tests/conformance/other_machine.c */
#include "cpu_openmp/runtime/device.h"

#include "shared/host/util/rows.h"
#include "machine.h"

/* Adjacent operands of at most this many bytes each are computed by the calling thread, without a plan.
 * SMALL_HEAVY_BYTES: for ops that cost much more than memory accesses. */
#define SMALL_BYTES (20 << 10)
#define SMALL_HEAVY_BYTES (5 << 10)

/* Programs of this file: at most two steps, of at most three inputs each. */
#define STEPS_MAX MACHINE_STEPS(6)

/* Calls the block kernel and returns 1 if the operands are small and adjacent. One input may be one repeated number
 * instead, if the kernel accepts that. Otherwise returns 0. */
static int run_small(const collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0), *last = operand_of(call, call->n_in);
    int64_t n = out->ndim == 1 ? out->shape[0] : 1;
    int64_t bytes = n * (int64_t)cpu_dtype_size(last->dtype);
    if (out->ndim > 1 || bytes > SMALL_BYTES || last->dtype == COLLET_F16 ||
        last->dtype == COLLET_BF16 ||
        (bytes > SMALL_HEAVY_BYTES && machine_traits(call->op) & MACHINE_HEAVY))
        return 0;
    const void *in[3];
    uint32_t repeated = 0;
    for (uint32_t k = 0; k <= call->n_in; k++) {
        const collet_operand *o = operand_of(call, k);
        if (k > 0)
            in[k - 1] = cpu_at(o);
        if (n == 1 || o->strides[0] == 1)
            continue;
        if (k == 0 || o->strides[0] != 0 || repeated ||
            !(machine_traits(call->op) & MACHINE_REPEATS))
            return 0;
        repeated = 1u << (k - 1);
    }
    machine_kernel(device->level, call->op, last->dtype)(cpu_at(out), in, repeated, n);
    return 1;
}

static void run(collet_device *device, const collet_kernel_call *call,
                const collet_program *program, const collet_scalar *constants)
{
    machine_step steps[STEPS_MAX];
    machine m = {
        .device = device, .program = program, .constants = constants, .few = MACHINE_ON_STACK};
    machine_prepare(&m, call, steps);
    machine_run(&m);
}

KERNEL(elementwise)
{
    if (run_small(device, call))
        return COLLET_OK;
    collet_dtype dtypes[3];
    for (uint32_t k = 0; k < call->n_in; k++)
        dtypes[k] = operand_of(call, k + 1)->dtype;
    collet_step step = {call->op, operand_of(call, 0)->dtype, {0, 1, 2}, 0};
    uint16_t out = (uint16_t)call->n_in;
    collet_program program = {.struct_size = sizeof program,
                              .n_in = call->n_in,
                              .n_steps = 1,
                              .n_out = 1,
                              .step_size = sizeof(collet_step),
                              .dtypes = dtypes,
                              .steps = &step,
                              .outs = &out};
    run(device, call, &program, NULL);
    return COLLET_OK;
}

void machine_convert(collet_device *device, const collet_kernel_call *call)
{
    const collet_step step = {COLLET_OP_COPY, operand_of(call, 0)->dtype, {0, 0, 0}, 0};
    static const uint16_t out = 1;
    const collet_program program = {.struct_size = sizeof program,
                                    .n_in = 1,
                                    .n_steps = 1,
                                    .n_out = 1,
                                    .step_size = sizeof step,
                                    .dtypes = &operand_of(call, 1)->dtype,
                                    .steps = &step,
                                    .outs = &out};
    run(device, call, &program, NULL);
}

#define AXPY_BYTES MACHINE_BLOCK

/* Calls the block kernels and returns 1 if all operands are adjacent and small; else returns 0. */
static int axpy_small(const collet_device *device, const collet_kernel_call *call,
                      const collet_scalar *alpha)
{
    _Alignas(64) char product[AXPY_BYTES];
    const collet_operand *out = operand_of(call, 0);
    collet_dtype dtype = alpha->dtype;
    int64_t n = out->ndim == 1 ? out->shape[0] : 1;
    if (out->ndim > 1 || n * (int64_t)cpu_dtype_size(dtype) > AXPY_BYTES || dtype == COLLET_F16 ||
        dtype == COLLET_BF16)
        return 0;
    for (uint32_t k = 0; k < 3; k++)
        if (n != 1 && operand_of(call, k)->strides[0] != 1)
            return 0;
    const void *scaled[3] = {alpha->value.bytes, cpu_at(operand_of(call, 1))};
    const void *added[3] = {product, cpu_at(operand_of(call, 2))};
    machine_kernel(device->level, COLLET_OP_MUL, dtype)(product, scaled, 1, n);
    machine_kernel(device->level, COLLET_OP_ADD, dtype)(cpu_at(out), added, 0, n);
    return 1;
}

/* Two steps: the rounded product alpha x, and the sum of this product and y. */
KERNEL(axpy)
{
    const collet_axpy_params *params = call->params;
    collet_dtype dtype = operand_of(call, 0)->dtype;
    collet_scalar alpha = {.dtype = dtype};
    cpu_convert((char *)alpha.value.bytes, dtype, 0, (const char *)params->alpha.value.bytes,
                params->alpha.dtype, 0, 1);
    if (axpy_small(device, call, &alpha))
        return COLLET_OK;
    const collet_dtype dtypes[3] = {dtype, dtype, dtype};
    const collet_step steps[2] = {{COLLET_OP_MUL, dtype, {2, 0, 0}, 0},
                                  {COLLET_OP_ADD, dtype, {3, 1, 0}, 0}};
    static const uint16_t out = 4;
    collet_program program = {.struct_size = sizeof program,
                              .n_in = 2,
                              .n_constants = 1,
                              .n_steps = 2,
                              .n_out = 1,
                              .step_size = sizeof *steps,
                              .constant_size = sizeof alpha,
                              .dtypes = dtypes,
                              .steps = steps,
                              .outs = &out};
    run(device, call, &program, &alpha);
    return COLLET_OK;
}
